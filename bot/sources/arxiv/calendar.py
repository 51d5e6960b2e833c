"""When arXiv announces, and which submissions an announcement holds.

Announcements are made at 20:00 US Eastern time, Sunday to Thursday, and hold what was submitted up to 14:00
(info.arxiv.org/help/availability.html). The feeds are made again about midnight Eastern, so that an evening's announcement
stands in the feed of the day after it: "day" here is always that day of the feed, Monday to Friday.
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

EASTERN = ZoneInfo("America/New_York")
REBUILT = time(0, 30)  # recorded feeds of 2025 were made between 00:10 and 00:19
ANNOUNCED, DEADLINE = time(20), time(14)

_DAY = timedelta(days=1)
_FRIDAY, _SATURDAY, _SUNDAY = 4, 5, 6


def last_day(now: datetime) -> date:
    """Return the newest day whose feed should be there."""
    eastern = now.astimezone(EASTERN)
    day = eastern.date() if eastern.time() >= REBUILT else eastern.date() - _DAY
    return on_or_before(day)


def on_or_before(day: date) -> date:
    """Return the day itself, or the Friday before a weekend."""
    return day - _DAY * max(0, day.weekday() - _FRIDAY)


def days_between(after: date, until: date) -> tuple[date, ...]:
    """Return the days of announcements after `after` and up to `until`, oldest first. Holidays are not left out."""
    span = (until - after).days
    days = (after + _DAY * number for number in range(1, span + 1))
    return tuple(day for day in days if day.weekday() <= _FRIDAY)


def announced(day: date) -> datetime:
    """Return when the announcement in the feed of `day` was made: the evening before."""
    return datetime.combine(day - _DAY, ANNOUNCED, EASTERN).astimezone(UTC)


def rebuilt(day: date) -> datetime:
    """Return when the feed of `day` should be there."""
    return datetime.combine(day, REBUILT, EASTERN).astimezone(UTC)


def day_after(day: date) -> date:
    """Return the next day of announcements."""
    return day + _DAY * (1 if day.weekday() < _FRIDAY else 7 - day.weekday())


def window(day: date) -> tuple[datetime, datetime]:
    """Return the first and the last instant of the submissions that the feed of `day` holds, unless they were held back.

    arXiv's table: the feed of Monday (announced on Sunday) holds Thursday 14:00 to Friday 14:00, that of Tuesday holds
    Friday 14:00 to Monday 14:00, every other one the 24 hours before 14:00 of the evening before.
    """
    end = day - _DAY * (3 if day.weekday() == 0 else 1)
    start = end - _DAY * (3 if end.weekday() == 0 else 1)
    first, last = (datetime.combine(deadline, DEADLINE, EASTERN).astimezone(UTC) for deadline in (start, end))
    return first, last


def is_usual_holiday(day: date, holidays: frozenset[date] = frozenset()) -> bool:
    """Tell whether the feed of `day` may be empty for a holiday of the evening before.

    `holidays` are the evenings that arXiv lists for the year. Known without a list: the holidays that its lists of 2023 and
    2025 share (New Year, Martin Luther King Day, Juneteenth, Independence Day, Labor Day, Thanksgiving, Christmas).
    """
    evening = day - _DAY
    return evening in holidays or _is_federal(evening) or (evening.weekday() == _SUNDAY and _is_federal(evening - 2 * _DAY))


def _is_federal(day: date) -> bool:
    if (day.month, day.day) in {(1, 1), (6, 19), (7, 4), (12, 25)}:
        return True
    nth = (day.day - 1) // 7 + 1
    return (day.month, day.weekday(), nth) in {(1, 0, 3), (9, 0, 1), (11, 3, 4)}


def is_weekend(now: datetime) -> bool:
    """Tell whether it is Saturday or Sunday in US Eastern time."""
    return now.astimezone(EASTERN).weekday() >= _SATURDAY


def in_words(day: date) -> str:
    """Return the day as a reader writes it: "Tuesday, 31 March"."""
    return f"{day:%A}, {day.day} {day:%B}"
