"""The day that people mean by "until …": a date, a day of the week, or how long from today. Pure."""

import calendar
import re
from datetime import date, timedelta

from bot.errors import UsageError
from bot.wording import DAYS, MONTHS

FURTHEST = timedelta(days=731)  # beyond it is a slip of the finger, or meant for good

_LENGTHS = {"d": 1, "day": 1, "w": 7, "week": 7, "fortnight": 14}
_AGO = re.compile(r"(?:in |for )?(\d{1,4}|an?|one|two|three) ?(d|w|m|days?|weeks?|months?|fortnights?)")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)? (?:of )?([a-z]{3,9})\.?(?:,? (\d{4}))?")
_MONTH_FIRST = re.compile(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?")
_HINT = "Write a date such as 2026-12-01, a day (*monday*, *tomorrow*), or how long: *3d*, *2w*."


def day_meant(text: str, today: date) -> date:
    """Return the day that is meant, always later than `today`.

    A day of the week is the next one, a date without a year the next of its kind. Raises UsageError for what is no day, is
    past, or lies more than two years ahead.
    """
    typed = " ".join(text.lower().strip(" .,!").split())[:60]
    try:
        day = _read(typed, today)
    except (ValueError, OverflowError):
        day = None
    if day is None:
        raise UsageError(f'"{" ".join(text.split())[:60]}" is no day that I can read.', hint=_HINT)
    if day <= today:
        raise UsageError(f"{day.isoformat()} is not ahead: today is {today.isoformat()}.", hint=_HINT)
    if day - today > FURTHEST:
        raise UsageError("That is more than two years ahead.", hint="Without *until* it stays paused until it is resumed.")
    return day


def _read(typed: str, today: date) -> date | None:
    if typed == "tomorrow":
        return today + timedelta(days=1)
    if found := _ISO.fullmatch(typed):
        return date(int(found[1]), int(found[2]), int(found[3]))
    if found := _AGO.fullmatch(typed):
        return _ahead(today, _NUMBERS.get(found[1]) or int(found[1]), found[2])
    return _weekday(typed.removeprefix("next ").removeprefix("on "), today) or _dated(typed.removeprefix("the "), today)


def _ahead(today: date, count: int, unit: str) -> date:
    unit = unit if len(unit) == 1 else unit.removesuffix("s")
    if unit not in ("m", "month"):
        return today + timedelta(days=count * _LENGTHS[unit])
    months = today.year * 12 + today.month - 1 + count
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(today.day, calendar.monthrange(year, month)[1]))


def _weekday(typed: str, today: date) -> date | None:
    """The next such day; a week begins on Monday, a month on its first."""
    if typed == "month":
        return _ahead(today.replace(day=1), 1, "month")
    wanted = 0 if typed == "week" else _beginning(DAYS, typed)
    if wanted is None:
        return None
    return today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1)


def _dated(typed: str, today: date) -> date | None:
    if found := _DAY_FIRST.fullmatch(typed):
        day, name, year = found.groups()
    elif found := _MONTH_FIRST.fullmatch(typed):
        name, day, year = found.groups()
    else:
        return None
    month = _beginning(MONTHS, name)
    if month is None:
        return None
    if year:
        return date(int(year), month + 1, int(day))
    this_year = date(today.year, month + 1, int(day))
    return this_year if this_year > today else date(today.year + 1, month + 1, int(day))


def _beginning(names: tuple[str, ...], typed: str) -> int | None:
    """The number of the one name that begins so, three letters at least; "sept" and "tues" are such."""
    found = [number for number, name in enumerate(names) if len(typed) >= 3 and name.lower().startswith(typed)]
    return found[0] if len(found) == 1 else None
