"""Which occurrences a schedule has between two instants. Pure, but for time-zone files, which are read when first used.

A schedule is wall time and a zone. It is due at the first instant at which the zone's clock shows that time of that day, or
a later one: a time that is skipped when clocks go forward is due at once after the gap, one that comes twice is due the
first time only.
"""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.errors import UsageError
from bot.models import EVERY_DAY, FOREVER, Schedule
from bot.wording import DAYS, listed, ordinal

_WEEKDAYS = EVERY_DAY[:5]
_WEEKEND = EVERY_DAY[5:]
_SECOND = timedelta(seconds=1)
LONGEST = timedelta(days=35)  # two occurrences of a schedule are never further apart: a month and a bit
# A local day begins less than a day before or after the same day in UTC, and a skipped day may delay by one more.
_MARGIN = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class DueDate:
    """One due date of a schedule: the day in its zone, and the instant in UTC."""

    day: date
    at: datetime
    slot: int = 0  # which of the day's times; there is one


def occurrences(schedule: Schedule, after: datetime, until: datetime) -> Iterator[DueDate]:
    """Yield what is due later than `after` and not later than `until`, in order; raises UsageError for an unknown zone."""
    zone = zone_named(schedule.zone)
    day, last = (after.astimezone(zone) - _MARGIN).date(), (until.astimezone(zone) + _MARGIN).date()
    while day <= last:
        if _falls_on(schedule, day):
            at = instant(day, schedule.at, zone)
            if after < at <= until:
                yield DueDate(day, at)
        day += timedelta(days=1)


def next_after(schedule: Schedule, now: datetime) -> datetime:
    """Return the first instant later than `now` at which the schedule is due, in UTC.

    FOREVER for what is posted at once. Raises UsageError for an unknown zone, and for a schedule that no day fits.
    """
    if schedule.at_once:
        zone_named(schedule.zone)
        return FOREVER
    following = next(occurrences(schedule, now, now + LONGEST), None)
    if following is None:
        raise UsageError("No day fits this schedule.", hint="Subscribe anew with days and a time: *weekdays at 09:00*.")
    return following.at


def instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    """Return the first instant, in UTC, at which the zone's clock shows this time of this day or a later one."""
    wall = datetime.combine(day, at)
    before, after = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if after >= before:  # once, or the first of two times
        return before
    # Within a gap: the clock jumps somewhere in between, where the offset becomes that of afterwards.
    low, high = after, before
    target = high.astimezone(zone).utcoffset()
    while high - low > _SECOND:
        middle = low + ((high - low) / 2 // _SECOND) * _SECOND
        low, high = (low, middle) if middle.astimezone(zone).utcoffset() == target else (middle, high)
    return high


def zone_named(name: str) -> ZoneInfo:
    """Return the zone of an IANA name; raises UsageError when it is not, or not any more, in the zone database."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(
            f'The time zone "{name}" is not known.', hint="Name a place, such as Europe/Zurich or New York."
        ) from error


def describe(schedule: Schedule) -> str:
    """Return the schedule in words: "on weekdays at 09:00 (Europe/Zurich)"."""
    if schedule.at_once:
        return "at once, after each collection"
    return f"{_days(schedule)} at {schedule.at:%H:%M} ({schedule.zone})"


def _days(schedule: Schedule) -> str:
    if schedule.month_day:
        last = ", or its last day," if schedule.month_day > 28 else ""
        return f"on the {ordinal(schedule.month_day)} of each month{last}"
    known = {EVERY_DAY: "every day", _WEEKDAYS: "on weekdays", _WEEKEND: "on weekends"}
    return known.get(schedule.weekdays) or f"on {listed([f'{DAYS[day]}s' for day in schedule.weekdays])}"


def _falls_on(schedule: Schedule, day: date) -> bool:
    if schedule.month_day:
        return day.day == min(schedule.month_day, calendar.monthrange(day.year, day.month)[1])
    return day.weekday() in schedule.weekdays
