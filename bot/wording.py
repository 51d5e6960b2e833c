"""What sentences are made of: numbers, lists, days and spans in English words, and texts cut short. Pure.

The names of days and months stand here because strftime would follow whatever locale the process was given.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def counted(count: int, thing: str) -> str:
    """Return "1 entry", "2 entries", "2 days", "1,204 items"."""
    plural = f"{thing}es" if thing[-1] in "sx" else f"{thing}s"
    many = f"{thing[:-1]}ies" if thing.endswith("y") and thing[-2] not in "aeiou" else plural
    return f"{count:,} {thing if count == 1 else many}"


def ordinal(number: int) -> str:
    """Return "1st", "2nd", "11th", "23rd"."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def listed(words: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"; "" for nothing."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def some(words: Sequence[str], most: int = 10, between: str = ", ") -> str:
    """Return "a, b, c"; of more than `most` the first of them, as in "a, b and 3 more"."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return between.join(words[:most]) + more


def shortened(text: str, most: int) -> str:
    """Return the text on one line, with "…" at its end where it has more than `most` characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def long_day(day: date) -> str:
    """Return "Wednesday 1 April 2026"."""
    return f"{DAYS[day.weekday()]} {dated(day)}"


def dated(day: date) -> str:
    """Return "1 April 2026"."""
    return f"{day_of_year(day)} {day.year}"


def day_in_words(day: date, now: date) -> str:
    """Return "Thursday 2 April", with the year when it is not that of `now`."""
    return long_day(day) if day.year != now.year else f"{DAYS[day.weekday()]} {day_of_year(day)}"


def short_day(day: date, now: date) -> str:
    """Return "31 March", with the year when it is not that of `now`."""
    return dated(day) if day.year != now.year else day_of_year(day)


def day_of_year(day: date) -> str:
    """Return "31 March"."""
    return f"{day.day} {MONTHS[day.month - 1]}"


def time_in_words(moment: datetime, now: date) -> str:
    """Return "Thursday 2 April at 09:00"; the wall time is the moment's own."""
    return f"{day_in_words(moment, now)} at {moment:%H:%M}"


def span_in_words(span: timedelta) -> str:
    """Return a span in its two largest units: "2 days 3 hours", "5 minutes"; "less than a minute"."""
    minutes = int(span.total_seconds()) // 60
    units = (("day", minutes // 1440), ("hour", minutes // 60 % 24), ("minute", minutes % 60))
    said = [counted(count, name) for name, count in units if count]
    return " ".join(said[:2]) or "less than a minute"
