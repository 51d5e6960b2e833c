"""Days, times and hours in words: `mon,wed`, `weekdays`, `every monday`, `monthly on the 15th`, `at 9am`, `22 to 7`."""

import re
from datetime import time
from typing import NamedTuple

from bot.commands.words import Word, Words, clean, nearest, plain, shown
from bot.errors import UsageError

NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SPELT = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS = {form: day for day, name in enumerate(_SPELT) for form in (name, name + "s", name[:3], name[:3] + "s")}
_DAYS |= {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
WEEK = tuple(range(7))
SETS = {"daily": WEEK, "weekdays": WEEK[:5], "weekends": WEEK[5:]}
_SETS = SETS | {"everyday": WEEK, "weekday": WEEK[:5], "workdays": WEEK[:5], "weekend": WEEK[5:]}
_STARTS = frozenset(name[:2] for name in (*_DAYS, *_SETS))
_EVERY = ("every", "each")
_UNITS = {"day": "daily", "week": "weekly", "month": "monthly"}
_TO = ("to", "through", "thru", "till", "until", "-")
_AND = ("and", "&", "+", ",")

_TIME = re.compile(r"(\d{1,2})(?:[:.h]?(\d{2}))?(h|am|pm)?", re.ASCII)
_CLOCK = re.compile(r"\d{1,2}(?::\d{2}(?:am|pm)?|am|pm|h\d{2})", re.ASCII)  # a time also without `at`
_NAMED = {"noon": time(12), "midday": time(12), "midnight": time(0)}
_NUMBER = re.compile(r"(\d+)(?:st|nd|rd|th)?", re.ASCII)


class Days(NamedTuple):
    """Either days of the week, 0 is Monday, in order and each once, or one day of the month."""

    weekdays: tuple[int, ...] | None = None
    month_day: int | None = None


# --- days


def begins_days(word: Word) -> bool:
    """Say whether the word begins a part about days."""
    return word.option in (*_EVERY, "on", "weekly", "monthly") or bool(_days(word.option))


def read_days(words: Words) -> Days:
    """Read the part about days that begins here; raises UsageError."""
    first = words.take(*_EVERY, "on", "weekly", "monthly")
    key = first.option if first else ""
    if key in _EVERY:
        unit = words.take(*_UNITS)
        key = _UNITS[unit.option] if unit else key
    if key == "daily":
        return Days(WEEK)
    if key == "monthly":
        return Days(month_day=_month_day(words))
    if key == "weekly" and words.take("on", "every", "each") is None:
        return Days(_listed(words) or WEEK[:1])
    found = _listed(words)
    if not found:
        raise _no_day(words)
    return Days(found)


def _listed(words: Words) -> tuple[int, ...]:
    """Read `mon,wed`, `mon wed and fri`, `mon-fri`, `monday to friday`, `weekends`; () when no day stands here."""
    found: set[int] = set()
    while (word := words.peek()) is not None and (days := _days(word.option)):
        words.next()
        if len(days) == 1 and words.take(*_TO):
            end = words.next()
            last = _days(end.option) if end else ()
            if len(last) != 1:
                raise words.fault(f'"{shown(word.text)} to" needs a day to end with, such as *mon to fri*.', end or word)
            days = _range(days[0], last[0])
        found.update(days)
        at = words.at
        if words.take(*_AND) is None and word.option in _SETS:
            break
        following = words.peek()
        if following is None or not _days(following.option):
            words.at = at
    return tuple(sorted(found))


def _days(key: str) -> tuple[int, ...]:
    """Return the days of one word: `mon`, `weekdays`, `mon,wed`, `fri-sun`; () when it is no day's."""
    if key in _DAYS:
        return (_DAYS[key],)
    if key[:2] not in _STARTS:
        return ()
    found: list[int] = []
    for piece in filter(None, re.split("[,/&+]", key)):
        first, dash, last = piece.partition("-")
        if dash and first in _DAYS and last in _DAYS:
            found += _range(_DAYS[first], _DAYS[last])
        elif piece in _SETS:
            found += _SETS[piece]
        elif piece in _DAYS:
            found.append(_DAYS[piece])
        else:
            return ()
    return tuple(sorted(set(found)))


def _range(first: int, last: int) -> tuple[int, ...]:
    """Return the days from the first to the last, over the week's end where they lie so."""
    return tuple(sorted((first + step) % 7 for step in range((last - first) % 7 + 1)))


def _month_day(words: Words) -> int:
    said = words.take("on", "the") is not None
    words.take("the")
    word = words.peek()
    number = _NUMBER.fullmatch(word.key) if word else None
    if number is not None and not 1 <= int(number[1][:5]) <= 31:
        raise words.fault("A month has days from 1 to 31: write for example *monthly on 15*.", word)
    if words.take("last"):
        day = 31  # a month that lacks it takes its last day
        words.take("day")
    elif number is not None:
        words.next()
        day = int(number[1])
    elif said:
        raise words.fault("*monthly on* takes a day of the month from 1 to 31: write for example *monthly on 15*.", word)
    else:
        return 1
    if words.take("of"):
        words.take("the", *_EVERY)
        words.take("month")
    return day


def _no_day(words: Words) -> UsageError:
    word = words.peek()
    if word is None:
        return words.fault("A day is missing: write for example *mon,wed,fri* or *weekdays*.")
    if _NUMBER.fullmatch(word.key):
        return words.fault("For a day of the month write *monthly on 15*; for days of the week *mon,wed,fri*.", word)
    near = nearest(word.option, (*_DAYS, *_SETS))
    hint = f"Did you mean *{near}*?" if near else ""
    return words.fault(f'"{shown(word.text)}" is no day: write for example *mon,wed,fri* or *weekdays*.', word, hint)


# --- times


def is_time(word: Word) -> bool:
    """Say whether the word can only be a time of day."""
    key = _clock_key(word)
    return key in _NAMED or _CLOCK.fullmatch(key) is not None


def read_time(words: Words) -> time:
    """Read the time that stands here; raises UsageError that says what is allowed."""
    word = words.next()
    if word is None:
        raise words.fault("*at* needs a time: write for example *at 09:00*.")
    key = _clock_key(word)
    if key in _NAMED:
        return _NAMED[key]
    match = _TIME.fullmatch(key)
    half = match[3] if match else None
    if match and half is None and (apart := words.take("am", "pm", "a.m", "p.m", "h", "o'clock", "uhr")) is not None:
        half = apart.key.replace(".", "")
    hour, minute = (int(match[1]), int(match[2] or 0)) if match else (24, 0)
    if half in ("am", "pm"):
        hour = hour % 12 + 12 * (half == "pm") if 1 <= hour <= 12 else 24
    if hour > 23 or minute > 59:
        allowed = "write an hour and minutes from 00:00 to 23:59, such as *at 09:00* or *at 9am*."
        raise words.fault(f'There is no time "{shown(word.text)}": {allowed}', word)
    return time(hour, minute)


def _clock_key(word: Word) -> str:
    return word.key.lstrip("@").replace("a.m", "am").replace("p.m", "pm")


# --- from one time of the day to another: `22:00-07:00`, `22 to 7`, `from 10pm until 7am`

_HYPHENS = re.compile("-+")
_FROM = ("from", "between")
_UP_TO = ("-", "to", "till", "until", "through", "thru", "and")
_HINT = "Write both times, such as *22:00-07:00* or *from 10pm until 7am*."


def read_hours(text: str) -> tuple[time, time]:
    """Return when the hours begin and when they end, which may be on the next day.

    Raises UsageError for what is no two times, and for two that are the same: they are no hours, or all of them.
    """
    words = Words(clean(_HYPHENS.sub(" - ", plain(text))))
    try:
        begin, end = _hours(words)
    except UsageError as error:
        raise UsageError(str(error), hint=_HINT) from error  # its position is one in this text, not in the command
    if begin == end:
        raise UsageError(f"Hours that begin and end at {begin:%H:%M} are none, or all of them.", hint=_HINT)
    return begin, end


def _hours(words: Words) -> tuple[time, time]:
    words.take(*_FROM)
    if words.peek() is None:
        raise words.fault("When the hours begin and end is missing.")
    begin = read_time(words)
    if words.take(*_UP_TO) is None or words.peek() is None:
        raise words.fault("When the hours end is missing.")
    end = read_time(words)
    if (over := words.peek()) is not None:
        raise words.fault(f'"{shown(over.text)}" is not understood after the hours.', over)
    return begin, end
