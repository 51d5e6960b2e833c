"""When a schedule is due."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.digest import due
from bot.errors import UsageError
from bot.models import Schedule
from tests.conftest import tries

QUARTER = timedelta(minutes=15)
DAY = timedelta(days=1)
HALF_HOURS = [time(minutes // 60, minutes % 60) for minutes in range(0, 24 * 60, 30)]
ZURICH = "Europe/Zurich"
BEGIN, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)


def at(day: str, clock: str, zone: str = ZURICH) -> datetime:
    return due.instant(date.fromisoformat(day), time.fromisoformat(clock), ZoneInfo(zone))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_an_ordinary_time_is_itself() -> None:
    assert at("2026-07-01", "09:00") == utc("2026-07-01 07:00")
    assert at("2026-12-01", "09:00") == utc("2026-12-01 08:00")


def test_a_time_that_clocks_skip_is_due_at_once_after_the_gap() -> None:
    assert at("2026-03-29", "02:30") == utc("2026-03-29 01:00")
    assert at("2026-03-29", "02:00") == utc("2026-03-29 01:00")
    assert at("2026-03-29", "03:00") == utc("2026-03-29 01:00")
    assert at("2026-03-29", "01:59") == utc("2026-03-29 00:59")


def test_a_time_that_comes_twice_is_due_the_first_time() -> None:
    assert at("2026-10-25", "02:30") == utc("2026-10-25 00:30")
    assert at("2026-10-25", "03:00") == utc("2026-10-25 02:00")


def test_half_an_hour_and_a_whole_day_may_be_skipped_too() -> None:
    assert at("2026-10-04", "02:15", "Australia/Lord_Howe") == utc("2026-10-03 15:30")
    assert at("2011-12-30", "09:00", "Pacific/Apia") == utc("2011-12-30 10:00")  # the island left that day out


def changes(zone: ZoneInfo) -> list[date]:
    """The days of 2026 to 2030 on which the zone's offset differs from the day before."""
    noons = [BEGIN + n * DAY for n in range((END - BEGIN).days)]
    return [b.date() for a, b in pairwise(noons) if a.astimezone(zone).utcoffset() != b.astimezone(zone).utcoffset()]


def first_instants(zone: ZoneInfo, around: date) -> dict[tuple[date, time], datetime]:
    """By looking at the clock every quarter of an hour: when it first shows each half hour of these days, or later."""
    begin = datetime.combine(around, time(0), UTC) - 3 * DAY
    ticks = [begin + n * QUARTER for n in range(6 * 96)]
    walls = [tick.astimezone(zone).replace(tzinfo=None) for tick in ticks]
    days = [around + n * DAY for n in (-1, 0, 1)]
    wanted = iter(sorted((day, half) for day in days for half in HALF_HOURS))
    found: dict[tuple[date, time], datetime] = {}
    target = next(wanted, None)
    for tick, wall in zip(ticks, walls, strict=True):
        while target is not None and wall >= datetime.combine(*target):
            found[target] = tick
            target = next(wanted, None)
    return found


def test_in_every_zone_each_half_hour_around_every_change_is_due_when_the_clock_first_shows_it() -> None:
    """All zones, all changes of 2026 to 2030; zones with the same rules are looked at once."""
    seen = set()
    for name in sorted(available_timezones()):
        zone = ZoneInfo(name)
        days = changes(zone)
        rules = (tuple(days), BEGIN.astimezone(zone).utcoffset())
        if rules in seen:
            continue
        seen.add(rules)
        for day in days:
            for (wanted, half), tick in first_instants(zone, day).items():
                assert due.instant(wanted, half, zone) == tick, (name, wanted, half)
    assert len(seen) > 50


@settings(max_examples=tries(60), deadline=None)
@given(
    zone=st.sampled_from(sorted(available_timezones())),
    clock=st.times().map(lambda clock: clock.replace(second=0, microsecond=0, fold=0)),
    begin=st.integers(0, 1700 * 24 * 60).map(lambda minutes: BEGIN + timedelta(minutes=minutes)),
    cuts=st.lists(st.integers(0, 60 * 24 * 60), max_size=8),
)
def test_however_time_is_cut_into_spans_each_day_is_due_once(
    zone: str, clock: time, begin: datetime, cuts: list[int]
) -> None:
    schedule = Schedule(at=clock, zone=zone)
    edges = [begin, *(begin + timedelta(minutes=cut) for cut in sorted(cuts)), begin + 61 * DAY]
    pieces = [each for low, high in pairwise(edges) for each in due.occurrences(schedule, low, high)]
    assert pieces == list(due.occurrences(schedule, begin, edges[-1]))
    days = [each.day for each in pieces]
    assert days == [days[0] + n * DAY for n in range(len(days))]
    assert 60 <= len(days) <= 62


def days_of(schedule: Schedule, begin: str, end: str) -> list[str]:
    return [each.day.isoformat() for each in due.occurrences(schedule, utc(begin), utc(end))]


def test_only_the_days_of_the_week_that_were_chosen_are_due() -> None:
    schedule = Schedule(weekdays=(0, 2, 4), zone=ZURICH)
    assert days_of(schedule, "2026-11-20 00:00", "2026-11-28 00:00") == [
        "2026-11-20",
        "2026-11-23",
        "2026-11-25",
        "2026-11-27",
    ]


def test_a_day_that_a_month_lacks_is_its_last() -> None:
    schedule = Schedule(weekdays=(), month_day=31, zone=ZURICH)
    assert days_of(schedule, "2027-01-01 00:00", "2027-05-01 00:00") == [
        "2027-01-31",
        "2027-02-28",
        "2027-03-31",
        "2027-04-30",
    ]


def test_the_next_is_later_than_now_even_on_the_minute() -> None:
    schedule = Schedule(at=time(9), zone=ZURICH)
    assert due.next_after(schedule, utc("2026-11-20 07:59")) == utc("2026-11-20 08:00")
    assert due.next_after(schedule, utc("2026-11-20 08:00")) == utc("2026-11-21 08:00")
    monthly = Schedule(weekdays=(), month_day=31, at=time(0), zone="Pacific/Kiritimati")
    assert due.next_after(monthly, utc("2026-12-30 12:00")) == utc("2027-01-30 10:00")


def test_the_day_is_the_one_of_the_zone() -> None:
    schedule = Schedule(weekdays=(0,), at=time(8), zone="Pacific/Auckland")
    (each,) = due.occurrences(schedule, utc("2026-11-21 00:00"), utc("2026-11-24 00:00"))
    assert (each.day, each.at) == (date(2026, 11, 23), utc("2026-11-22 19:00"))


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "x" * 300, "Europe"])
def test_a_zone_that_is_not_there_is_said(zone: str) -> None:
    with pytest.raises(UsageError, match="is not known") as caught:
        due.next_after(Schedule(zone=zone), BEGIN)
    assert "Europe/Zurich" in caught.value.hint


def test_a_schedule_that_no_day_fits_is_said_to_be_one() -> None:
    with pytest.raises(UsageError, match="No day fits"):
        due.next_after(Schedule(weekdays=()), BEGIN)


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (Schedule(), "every day at 09:00 (UTC)"),
        (Schedule(weekdays=(0, 1, 2, 3, 4), zone=ZURICH), "on weekdays at 09:00 (Europe/Zurich)"),
        (Schedule(weekdays=(5, 6), at=time(10, 30)), "on weekends at 10:30 (UTC)"),
        (Schedule(weekdays=(0,)), "on Mondays at 09:00 (UTC)"),
        (Schedule(weekdays=(0, 2, 4)), "on Mondays, Wednesdays and Fridays at 09:00 (UTC)"),
        (Schedule(weekdays=(), month_day=1), "on the 1st of each month at 09:00 (UTC)"),
        (Schedule(weekdays=(), month_day=22), "on the 22nd of each month at 09:00 (UTC)"),
        (Schedule(weekdays=(), month_day=31), "on the 31st of each month, or its last day, at 09:00 (UTC)"),
    ],
)
def test_a_schedule_is_told_in_words(schedule: Schedule, words: str) -> None:
    assert due.describe(schedule) == words
