from datetime import UTC, datetime, time, timedelta

import pytest

from bot.digest.resumption import last_due
from bot.errors import UsageError
from bot.handlers.subscriptions.times import count_due, in_zone, moment_in_words, timetable
from bot.models import Schedule

NOON = Schedule(at=time(12), zone="Europe/Zurich")


async def test_what_is_due_next_is_told_in_the_wall_time_of_its_zone(now: datetime) -> None:
    coming = await timetable(NOON, now)

    assert coming.words == "every day at 12:00 (Europe/Zurich)"
    assert moment_in_words(coming.next, now) == "Wednesday 1 April at 12:00, in 3 hours"


async def test_the_last_time_a_digest_was_due_may_be_this_very_moment() -> None:
    noon = datetime(2026, 3, 29, 10, tzinfo=UTC)  # the first day of summer time

    assert await last_due(NOON, noon) == noon
    assert await last_due(NOON, noon - timedelta(seconds=1)) == datetime(2026, 3, 28, 11, tzinfo=UTC)
    assert await last_due(Schedule(weekdays=(), month_day=31, zone="UTC"), datetime(2026, 3, 1, tzinfo=UTC)) == datetime(
        2026, 2, 28, 9, tzinfo=UTC
    )


async def test_what_is_due_as_a_span_ends_is_not_counted_in_it(now: datetime) -> None:
    assert await count_due(NOON, now, datetime(2026, 4, 3, 10, tzinfo=UTC)) == 2


async def test_a_zone_that_is_gone_is_said_to_be_so_and_an_instant_then_told_in_utc(now: datetime) -> None:
    with pytest.raises(UsageError, match='"Europe/Atlantis" is not known'):
        await timetable(Schedule(zone="Europe/Atlantis"), now)
    assert (await in_zone(now, "Europe/Atlantis")).tzinfo is UTC
