"""The values behind a field's colon: numbers, dates, ages, and the ranges of each."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from bot.errors import UsageError
from bot.models import Number, When
from bot.query.fields import QueryField

_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}
# A month is 30 days and a year 365: an age is a rough measure, and one that must not depend on the calendar.
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}
_FIRST_YEAR, _LAST_YEAR = 1900, 2200  # beyond it is a slip of the finger

_AMOUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})([km]?)", re.IGNORECASE)
_AGE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,30})?)([hdwmy])", re.IGNORECASE)
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_COMPARED = re.compile(r"(>=|<=|>|<|=)?(.*)", re.DOTALL)

Read = TypeVar("Read")
Period = tuple[datetime, datetime]


def parse_number(field: QueryField, value: str, position: int) -> Number:
    """Read `>500`, `>=1.5k`, `<10`, `10..50`, `10..`, `..50`, `500` or `*` (any, if known); raises UsageError."""
    if value == "*":
        return Number(field.name, position=position)
    try:
        if ".." in value:
            low, high = _range(value, _amount)
            _check_order(low is None or high is None or low <= high)
            return Number(field.name, low, high, position=position)
        sign, amount = _compared(value, _amount)
    except ValueError as error:
        raise _wrong(field, value, position, "a number") from error
    if sign.startswith(">"):
        return Number(field.name, low=amount, above=sign == ">", position=position)
    if sign.startswith("<"):
        return Number(field.name, high=amount, below=sign == "<", position=position)
    return Number(field.name, amount, amount, position=position)


def parse_when(field: QueryField, value: str, position: int) -> When:
    """Read a date (`2026`, `2026-06`, `2026-06-01`), an age (`7d`), a range or a comparison of either; raises UsageError.

    A date is the whole of its day, month or year, in UTC: `>2026-06` begins in July. An age without a sign, or with `<`,
    is "at most so old", with `>` "at least so old".
    """
    if value == "*":
        return When(field.name, position=position)
    try:
        aged = any(_AGE.fullmatch(part) for part in value.lstrip("<>=").split(".."))
        return _by_age(field, value, position) if aged else _by_date(field, value, position)
    except ValueError as error:
        raise _wrong(field, value, position, "a date or an age") from error


def _by_age(field: QueryField, value: str, position: int) -> When:
    if ".." in value:
        one, other = _range(value, _age)
        if one is None or other is None:  # "from seven days ago on" or "older than seven days"? `7d` and `>7d` say which
            raise ValueError(value)
        young, old = sorted((one, other))
        return When(field.name, youngest=young, oldest=old, position=position)
    sign, age = _compared(value, _age)
    if sign.startswith(">"):
        return When(field.name, youngest=age, position=position)
    return When(field.name, oldest=age, position=position)


def _by_date(field: QueryField, value: str, position: int) -> When:
    if ".." in value:
        first, last = _range(value, _period)
        _check_order(first is None or last is None or first[0] < last[1])
        return When(field.name, first and first[0], last and last[1], position=position)
    sign, (start, end) = _compared(value, _period)
    if sign.startswith(">"):
        return When(field.name, after=end if sign == ">" else start, position=position)
    if sign.startswith("<"):
        return When(field.name, before=start if sign == "<" else end, position=position)
    return When(field.name, start, end, position=position)


def _range(value: str, read: Callable[[str], Read]) -> tuple[Read | None, Read | None]:
    """Read both ends of a range; an end that is empty or `*` is open, but not both."""
    texts = value.split("..")
    if len(texts) != 2 or all(text in ("", "*") for text in texts):
        raise ValueError(value)
    low, high = (None if text in ("", "*") else read(text) for text in texts)
    return low, high


def _compared(value: str, read: Callable[[str], Read]) -> tuple[str, Read]:
    """Read a value and the sign before it, "" when there is none."""
    found = _COMPARED.fullmatch(value)
    sign, rest = (found[1] or "", found[2]) if found else ("", value)
    return sign, read(rest)


def _amount(text: str) -> float:
    found = _matched(_AMOUNT, text)
    return float(found[1]) * _FACTORS[found[2].lower()]


def _age(text: str) -> float:
    found = _matched(_AGE, text)
    return float(found[1]) * _DAYS[found[2].lower()]


def _period(text: str) -> Period:
    """Return the first instant of a day, month or year, and the first after it."""
    year, month, day = _matched(_DATE, text).groups()
    if not _FIRST_YEAR <= int(year) <= _LAST_YEAR:
        raise ValueError(text)
    start = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    if day:
        return start, start + timedelta(days=1)
    later = start + timedelta(days=31 if month else 366)
    return start, later.replace(day=1) if month else later.replace(month=1, day=1)


def _matched(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    found = pattern.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return found


def _check_order(ordered: bool) -> None:
    if not ordered:
        raise ValueError("the range ends before it begins")


def _wrong(field: QueryField, value: str, position: int, wanted: str) -> UsageError:
    shown = value if len(value) <= 40 else value[:40] + "…"
    return UsageError(
        f"`{field.name}:{shown}` is not {wanted}: write for example `{field.example}`.",
        position=position,
        hint=field.example,
    )
