"""What the ledger makes of clocks and zones, from the schedule to the post: each day once, or said to be skipped."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.models import Occurrence, OccurrenceState, Schedule, Subscription
from tests.e2e.month import DAY, HOUR, Month
from tests.fakes.simulated import Clock
from tests.stores.memory import MemoryStore

MINUTE = timedelta(minutes=1)
MADE, SKIPPED = OccurrenceState.MADE, OccurrenceState.SKIPPED
NIGHT = [time(quarter // 4, quarter % 4 * 15) for quarter in range(20)]  # every quarter of an hour until 05:00


async def begun(at: str) -> Month:
    """A service that is running, in UTC; nothing is ever due on a second that ends in seven."""
    store = MemoryStore()
    month = Month(lambda: store, Clock(datetime.fromisoformat(at).replace(second=7, tzinfo=UTC)), seed=1)
    await month.start()
    await month.round()
    return month


async def subscribe(month: Month, schedule: Schedule, channel: str = "C1") -> Subscription:
    await month.subscribe("history:A", channel, "cache", schedule, always=True)
    (made,) = await month.store.workspaces.subscriptions("history:A", channel=channel)
    return made


async def told(month: Month) -> Sequence[Occurrence]:
    """Return what the ledger says, in order of the days, when nothing else is wrong."""
    await month.check()
    return sorted(await month.all_occurrences(), key=lambda each: (each.channel, each.day))


def days(found: Sequence[Occurrence]) -> list[tuple[int, OccurrenceState]]:
    return [(each.day.day, each.state) for each in found]


async def posts(month: Month) -> list[str]:
    """Return when something was posted, in UTC: to the minute, in order."""
    return sorted(f"{at:%d %H:%M}" for at in month.platforms["history"].posted.values())


async def test_a_time_that_does_not_exist_is_posted_once_when_the_gap_ends() -> None:
    month = await begun("2026-03-27 12:00")
    await subscribe(month, Schedule(at=time(2, 30), zone="Europe/Zurich"))
    await month.pass_time(3 * DAY, apart=MINUTE)

    assert await posts(month) == ["28 01:30", "29 01:00", "30 00:30"]
    assert [each.late for each in await told(month)] == [False, False, False]


async def test_a_time_that_comes_twice_is_posted_the_first_time() -> None:
    month = await begun("2026-10-23 12:00")
    await subscribe(month, Schedule(at=time(2, 30), zone="Europe/Zurich"))
    await month.pass_time(3 * DAY, apart=MINUTE)

    assert await posts(month) == ["24 00:30", "25 00:30", "26 01:30"]


@pytest.mark.parametrize(
    ("zone", "changes"),
    [
        ("Europe/Zurich", date(2026, 3, 29)),
        ("America/New_York", date(2026, 11, 1)),
        ("Australia/Lord_Howe", date(2026, 4, 5)),  # by half an hour
        ("Australia/Lord_Howe", date(2026, 10, 4)),
        ("America/Nuuk", date(2026, 3, 29)),  # on the evening before, local time
        ("Pacific/Chatham", date(2026, 9, 27)),  # at a quarter to three
        ("Africa/Casablanca", date(2026, 2, 15)),
        ("Africa/Cairo", date(2026, 4, 24)),  # at midnight
    ],
)
async def test_whatever_clocks_do_at_night_every_quarter_of_an_hour_is_posted_once_a_day(zone: str, changes: date) -> None:
    before = datetime.combine(changes - DAY, time(12), ZoneInfo(zone)).astimezone(UTC)
    month = await begun(f"{before:%Y-%m-%d %H:%M}")
    for at in NIGHT:
        await subscribe(month, Schedule(at=at, zone=zone), f"C {at:%H:%M}")
    await month.pass_time(2 * DAY - 2 * HOUR, apart=5 * MINUTE)

    found = await told(month)
    assert len(found) == 2 * len(NIGHT)
    assert {(each.state, each.late) for each in found} == {(MADE, False)}


@pytest.mark.parametrize("move", [time(6), time(11), time(21)], ids=["earlier", "a little later", "much later"])
async def test_a_day_that_was_posted_is_not_posted_again_when_its_time_is_changed(move: time) -> None:
    month = await begun("2026-06-10 08:00")
    made = await subscribe(month, Schedule(at=time(9)))
    await month.pass_time(2 * HOUR, apart=MINUTE)
    await month.edit(made, schedule=Schedule(at=move))
    await month.pass_time(36 * HOUR, apart=5 * MINUTE)

    assert days(await told(month)) == [(10, MADE), (11, MADE)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Pacific/Kiritimati", "Pacific/Pago_Pago", [10, 11]),  # the same day begins 25 hours later there
        ("Pacific/Pago_Pago", "Pacific/Kiritimati", [9, 11, 12]),  # there the 10th has passed at nine already
        ("Europe/Zurich", "America/New_York", [10, 11]),
        ("America/New_York", "Asia/Tokyo", [9, 10, 11, 12]),
    ],
)
async def test_a_zone_that_is_changed_never_posts_a_local_day_twice(before: str, after: str, expected: list[int]) -> None:
    month = await begun("2026-06-09 12:00")
    made = await subscribe(month, Schedule(at=time(9), zone=before))
    await month.pass_time(26 * HOUR, apart=10 * MINUTE)
    first = days(await told(month))
    await month.edit(made, schedule=Schedule(at=time(9), zone=after))
    await month.pass_time(34 * HOUR, apart=10 * MINUTE)

    found = days(await told(month))
    assert found[: len(first)] == first
    assert found == [(day, MADE) for day in expected]


@pytest.mark.parametrize("jump", [HOUR, -HOUR, DAY, -DAY], ids=["1 h ahead", "1 h back", "1 day ahead", "1 day back"])
@pytest.mark.parametrize("minutes", [-61, -30, -1, 1, 30, 61])
async def test_a_clock_that_jumps_around_a_due_date_posts_each_day_once_or_says_why_not(
    jump: timedelta, minutes: int
) -> None:
    month = await begun("2026-06-09 06:00")
    await subscribe(month, Schedule(at=time(9)))
    await month.pass_time(27 * HOUR + minutes * MINUTE - 36 * timedelta(seconds=1), apart=5 * MINUTE)
    await month.jump(jump)
    await month.pass_time(3 * DAY, apart=5 * MINUTE)

    found = await told(month)
    assert [each.day.day for each in found][:3] == [9, 10, 11]
    assert all(each.reason for each in found if each.state is SKIPPED)
    assert len(found) - len(month.platforms["history"].posted) == sum(each.state is SKIPPED for each in found) <= 1


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        (8, [(10, MADE, True)]),
        (12.5, [(10, SKIPPED, True)]),  # too late for yesterday's paper
        (33, [(10, SKIPPED, True), (11, MADE, True)]),  # of two the newer
        (48.1, [(10, SKIPPED, True), (11, SKIPPED, True), (12, MADE, False)]),
    ],
)
async def test_a_machine_that_slept_posts_the_newest_digest_marked_late_and_says_which_it_skipped(
    hours: float, expected: list[tuple[int, OccurrenceState, bool]]
) -> None:
    month = await begun("2026-06-10 08:59")
    await subscribe(month, Schedule(at=time(9)))
    await month.sleep(hours * HOUR)
    await month.pass_time(10 * MINUTE)

    assert [(each.day.day, each.state, each.late) for each in await told(month)] == expected


async def test_the_31st_is_the_last_day_of_each_month() -> None:
    month = await begun("2026-01-30 00:00")
    await subscribe(month, Schedule(weekdays=(), month_day=31, at=time(23, 45), zone="Pacific/Kiritimati"))
    await month.pass_time(95 * DAY, apart=2 * HOUR)

    found = sorted(await month.all_occurrences(), key=lambda each: each.day)
    assert [f"{each.day:%m-%d}" for each in found] == ["01-31", "02-28", "03-31", "04-30"]
    assert [each.state for each in found] == [MADE] * 4
