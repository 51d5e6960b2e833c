from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any, cast

import pytest

from bot.delivery import Scheduler
from bot.delivery.schedule import AT_ONCE
from bot.errors import Delayed
from bot.models import Occurrence, OccurrenceState, Preferences, Schedule, Subscription
from tests.bot.deliveries import House, change, subscription
from tests.conftest import NOW
from tests.fakes.transcript import delivery
from tests.stores.memory import MemoryStore

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
TICK = timedelta(seconds=15)
NINE = Schedule(at=time(9))


@pytest.fixture
def house() -> House:
    return House()


async def subscribed(house: House, number: int = 1, **changes: Any) -> Subscription:
    made = subscription(number, **{"schedule": NINE, "made_at": house.clock(), **changes})
    return await house.store.save_subscription(made, change(), replaces=0)


async def changed(house: House, before: Subscription, **changes: Any) -> Subscription:
    after = replace(before, **changes)
    return await house.store.save_subscription(after, change(), replaces=before.revision)


async def ticks(house: House, span: timedelta, step: timedelta = TICK) -> None:
    """Let the service live for so long."""
    scheduler, deliverer, end = Scheduler(house.context()), house.deliverer(), house.clock() + span
    while house.clock() < end:
        await scheduler.tick(house.clock())
        await deliverer.tell_owed(house.clock)
        house.clock.advance(step)


async def happened(house: House) -> list[tuple[datetime, OccurrenceState, bool]]:
    found = await house.store.recent_occurrences("chat:T1", limit=100)
    return sorted((each.due, each.state, each.late) for each in found)


async def due(house: House) -> list[Occurrence]:
    return list(await house.store.occurrences(house.clock()))


async def test_each_due_date_is_noticed_once_however_often_and_by_whomever_the_clock_is_read(house: House) -> None:
    await subscribed(house)
    scheduler, other = Scheduler(house.context()), Scheduler(house.context())
    while house.clock() < NOW + 3 * DAY:
        await scheduler.tick(house.clock())
        await other.tick(house.clock())
        house.clock.advance(timedelta(minutes=7))

    nine = NOW.replace(hour=9)
    assert await happened(house) == [(nine + day * DAY, OccurrenceState.DUE, False) for day in range(3)]


async def test_subscribing_after_the_hour_waits_for_the_next_day(house: House) -> None:
    await ticks(house, 3 * HOUR, HOUR)
    await subscribed(house)
    await ticks(house, HOUR)
    assert await happened(house) == []


async def test_a_subscription_of_before_the_service_first_ran_has_missed_nothing(house: House) -> None:
    await subscribed(house, made_at=NOW - 9 * DAY)
    house.clock.advance(4 * HOUR)
    await ticks(house, HOUR)
    assert await happened(house) == []


@pytest.mark.parametrize(
    ("away", "expected"),
    [
        (timedelta(minutes=10), [(OccurrenceState.DUE, False)]),
        (timedelta(minutes=20), [(OccurrenceState.DUE, True)]),
        (12 * HOUR, [(OccurrenceState.DUE, True)]),
        (12 * HOUR + TICK, [(OccurrenceState.SKIPPED, True)]),
        (DAY + HOUR, [(OccurrenceState.SKIPPED, True), (OccurrenceState.DUE, True)]),
        (3 * DAY - HOUR, [(OccurrenceState.SKIPPED, True)] * 3),
        (3 * DAY + HOUR, [(OccurrenceState.SKIPPED, True)] * 3 + [(OccurrenceState.DUE, True)]),
    ],
)
async def test_of_what_was_missed_only_the_newest_within_the_window_is_posted_and_the_rest_is_said(
    house: House, away: timedelta, expected: list[tuple[OccurrenceState, bool]]
) -> None:
    await subscribed(house)
    await ticks(house, HOUR)
    house.clock.now = NOW.replace(hour=9) + away
    await ticks(house, TICK)

    found = await happened(house)
    assert [(state, late) for _, state, late in found] == expected
    skipped = await house.store.occurrences(house.clock(), state=OccurrenceState.SKIPPED)
    assert all("noticed too late" in each.reason or "overtaken" in each.reason for each in skipped)


async def test_what_is_noticed_too_late_is_told_where_alerts_are_wanted_and_what_another_digest_makes_up_for_is_not(
    house: House,
) -> None:
    await house.store.save_preferences("chat:T1", Preferences(alerts="C-admin"), change())
    await subscribed(house)
    await ticks(house, HOUR)
    house.clock.now = NOW.replace(hour=9) + DAY + HOUR
    await ticks(house, TICK)
    assert house.chat.announced == []
    house.clock.now = NOW.replace(hour=9) + 2 * DAY + 13 * HOUR
    await ticks(house, TICK)
    ((_, channel, text),) = house.chat.announced
    assert channel == "C-admin"
    assert text.startswith("The digest kv of 2026-04-03 for C1 is skipped: noticed too late: it was due at 2026-04-03 09:00")


async def test_what_was_due_while_nobody_looked_is_posted_after_quiet_hours_however_long_they_are(house: House) -> None:
    settled = Preferences(quiet_from=time(9, 30), quiet_until=time(23), zone="UTC")
    await house.store.save_preferences("chat:T1", settled, change())
    await subscribed(house)
    await ticks(house, HOUR)
    house.clock.now = NOW.replace(hour=22)
    await ticks(house, TICK)
    assert await happened(house) == [(NOW.replace(hour=9), OccurrenceState.DUE, True)]


async def test_what_waits_for_a_time_that_only_a_clock_ahead_has_shown_has_its_turn_when_it_is_set_back(
    house: House,
) -> None:
    scheduler = Scheduler(house.context())
    await scheduler.tick(NOW)
    await house.plant([delivery(now=NOW)])
    house.clock.advance(HOUR)
    await scheduler.tick(house.clock())
    house.chat.closed["C1"] = Delayed("Not now.", retry_after=timedelta(minutes=5))
    await house.deliverer().deliver_due(house.clock)
    house.clock.now = NOW + TICK
    assert await house.store.due_deliveries(NOW + TICK) == []
    await scheduler.tick(NOW + TICK)
    assert [each.id for each in await house.store.due_deliveries(NOW + TICK)] == ["d1p1"]


async def test_years_of_absence_are_not_told_day_by_day(house: House) -> None:
    await subscribed(house)
    await ticks(house, HOUR)
    house.clock.advance(900 * DAY)
    await ticks(house, TICK)
    assert len(await happened(house)) <= 36


async def test_a_change_in_the_last_moment_before_it_is_due_does_not_lose_the_day(house: House) -> None:
    made = await subscribed(house)
    await ticks(house, 2 * HOUR - timedelta(seconds=20))
    house.clock.now = NOW.replace(hour=9) - timedelta(seconds=1)
    await changed(house, made, entries=3)
    house.clock.now = NOW.replace(hour=9) + timedelta(seconds=9)
    await ticks(house, TICK)
    assert [each.due for each in await due(house)] == [NOW.replace(hour=9)]


@pytest.mark.parametrize("at", [time(8), time(9, 30), time(23, 59)])
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "America/Los_Angeles"])
async def test_a_day_that_was_posted_is_not_posted_again_at_another_time_or_in_another_zone(
    house: House, at: time, zone: str
) -> None:
    made = await subscribed(house)
    await ticks(house, 3 * HOUR, timedelta(minutes=5))
    await changed(house, made, schedule=Schedule(at=at, zone=zone))
    await ticks(house, 2 * DAY, timedelta(minutes=5))

    days = [each.day for each in await due(house)]
    assert len(days) == len(set(days))
    assert len(days) >= 2


async def test_what_falls_into_a_pause_is_not_made_up_for_when_it_ends(house: House) -> None:
    made = await subscribed(house)
    await ticks(house, HOUR, timedelta(minutes=5))
    end = NOW.replace(hour=9) + DAY + HOUR
    await changed(house, made, paused=True, paused_until=end)
    await ticks(house, 3 * DAY, timedelta(minutes=5))
    assert [each.due for each in await due(house)] == [NOW.replace(hour=9) + 2 * DAY]


async def test_what_falls_into_a_pause_is_not_even_said_to_be_missed_when_the_service_was_down(house: House) -> None:
    made = await subscribed(house)
    await ticks(house, HOUR, timedelta(minutes=5))
    await changed(house, made, paused=True, paused_until=NOW.replace(hour=9) + 2 * DAY)
    house.clock.advance(3 * DAY + 3 * HOUR)
    await ticks(house, TICK)
    nine = NOW.replace(hour=9)
    assert [each for each, _, _ in await happened(house)] == [nine + 2 * DAY, nine + 3 * DAY]


async def test_a_clock_that_had_run_ahead_does_not_lose_the_day_of_a_changed_subscription(house: House) -> None:
    made = await subscribed(house)
    house.clock.advance(9 * DAY)
    await ticks(house, TICK)
    house.clock.now = NOW.replace(hour=9) + DAY - TICK
    await changed(house, made, schedule=Schedule(at=NINE.at, zone="Africa/Abidjan"))
    await ticks(house, 2 * TICK)
    assert (NOW.replace(hour=9) + DAY) in [each for each, _, _ in await happened(house)]


async def test_a_clock_that_was_a_year_ahead_for_a_moment_does_not_silence_every_schedule_for_a_year(house: House) -> None:
    await subscribed(house)
    await ticks(house, TICK)
    house.clock.advance(365 * DAY)
    await ticks(house, TICK)
    house.clock.now = NOW + HOUR
    await ticks(house, 3 * DAY, timedelta(minutes=5))
    nine = NOW.replace(hour=9)
    assert [each for each, state, _ in await happened(house) if state is OccurrenceState.DUE][:3] == [
        nine + day * DAY for day in range(3)
    ]


async def test_a_resumed_subscription_goes_on_with_the_next_due_date(house: House) -> None:
    made = await subscribed(house)
    held = await changed(house, made, paused=True)
    await ticks(house, 4 * HOUR, timedelta(minutes=5))
    await changed(house, held, paused=False)
    await ticks(house, DAY, timedelta(minutes=5))
    assert [each.due for each in await due(house)] == [NOW.replace(hour=9) + DAY]


@pytest.mark.parametrize("jump", [HOUR, -HOUR, DAY, -DAY, 8 * HOUR])
async def test_whatever_the_clock_does_a_day_is_due_once_or_said_to_be_skipped(house: House, jump: timedelta) -> None:
    await subscribed(house)
    await ticks(house, HOUR, timedelta(minutes=5))
    house.clock.advance(jump)
    await ticks(house, HOUR, timedelta(minutes=5))
    house.clock.advance(-jump)
    await ticks(house, 3 * DAY, timedelta(minutes=5))

    days = [each.date() for each, _, _ in await happened(house)]
    assert days == sorted(set(days))
    assert {(NOW + day * DAY).date() for day in range(3)} <= set(days)


async def test_a_zone_that_is_gone_pauses_its_subscription_tells_the_owner_once_and_holds_up_nobody(house: House) -> None:
    broken = await subscribed(house, 1, schedule=Schedule(at=time(9), zone="Mars/Olympus"))
    await subscribed(house, 2)
    await ticks(house, 3 * HOUR, timedelta(minutes=5))

    (now_there,) = await house.store.subscriptions("chat:T1", channel="C1")
    assert now_there.paused
    assert "Mars/Olympus" in now_there.paused_because
    assert now_there.revision == broken.revision + 1
    assert [person for _, person, _ in house.chat.told] == ["U-ada"]
    assert [each.channel for each in await due(house)] == ["C2"]


async def test_a_damaged_schedule_keeps_nobody_elses_from_being_noticed(house: House) -> None:
    await subscribed(house, 1, schedule=Schedule(at=time(9), zone=cast(str, 5)))
    await subscribed(house, 2)
    await ticks(house, 3 * HOUR, timedelta(minutes=5))
    assert [each.channel for each in await due(house)] == ["C2"]


class Unreadable(MemoryStore):
    """A database that passes over a damaged subscription: each reading gives one less than was asked for."""

    async def subscriptions_due(self, now: datetime, *, limit: int = 500) -> Sequence[tuple[Subscription, datetime | None]]:
        return await super().subscriptions_due(now, limit=limit - 1)


async def test_behind_a_damaged_row_all_the_others_are_noticed_in_one_tick() -> None:
    house = House(store=Unreadable())
    for number in range(AT_ONCE + 3):
        await subscribed(house, number)
    scheduler = Scheduler(house.context())
    await scheduler.tick(NOW)
    assert await scheduler.tick(NOW.replace(hour=9)) == AT_ONCE + 3
