from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any, cast

import pytest

from bot.delivery import Deliverer, Scheduler
from bot.delivery.schedule import AT_ONCE
from bot.errors import Delayed
from bot.models import Occurrence, OccurrenceState, Preferences, Schedule, Subscription
from tests.bot.deliveries import Harness, change, subscription
from tests.conftest import NOW
from tests.fakes.transcript import delivery
from tests.stores.counted import counted
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
TICK = timedelta(seconds=15)
NINE = Schedule(at=time(9))


@pytest.fixture
def harness() -> Harness:
    return Harness()


async def subscribed(harness: Harness, number: int = 1, **changes: Any) -> Subscription:
    made = subscription(number, **{"schedule": NINE, "made_at": harness.clock(), **changes})
    return await harness.store.workspaces.save_subscription(made, change(), replaces=0)


async def changed(harness: Harness, before: Subscription, **changes: Any) -> Subscription:
    after = replace(before, **changes)
    return await harness.store.workspaces.save_subscription(after, change(), replaces=before.revision)


async def ticks(harness: Harness, span: timedelta, step: timedelta = TICK) -> None:
    """Let the service live for so long."""
    scheduler, deliverer, end = Scheduler(harness.context()), harness.deliverer(), harness.clock() + span
    while harness.clock() < end:
        await scheduler.tick(harness.clock())
        await deliverer.send_notices(harness.clock)
        harness.clock.advance(step)


async def happened(harness: Harness) -> list[tuple[datetime, OccurrenceState, bool]]:
    found = await harness.store.ledger.recent_occurrences("chat:T1", limit=100)
    return sorted((each.due, each.state, each.late) for each in found)


async def due(harness: Harness) -> list[Occurrence]:
    return list(await harness.store.ledger.occurrences(harness.clock()))


async def test_each_due_date_is_noticed_once_however_often_and_by_whomever_the_clock_is_read(harness: Harness) -> None:
    await subscribed(harness)
    scheduler, other = Scheduler(harness.context()), Scheduler(harness.context())
    while harness.clock() < NOW + 3 * DAY:
        await scheduler.tick(harness.clock())
        await other.tick(harness.clock())
        harness.clock.advance(timedelta(minutes=7))

    nine = NOW.replace(hour=9)
    assert await happened(harness) == [(nine + day * DAY, OccurrenceState.DUE, False) for day in range(3)]


async def test_subscribing_after_the_hour_waits_for_the_next_day(harness: Harness) -> None:
    await ticks(harness, 3 * HOUR, HOUR)
    await subscribed(harness)
    await ticks(harness, HOUR)
    assert await happened(harness) == []


async def test_a_subscription_of_before_the_service_first_ran_has_missed_nothing(harness: Harness) -> None:
    await subscribed(harness, made_at=NOW - 9 * DAY)
    harness.clock.advance(4 * HOUR)
    await ticks(harness, HOUR)
    assert await happened(harness) == []


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
    harness: Harness, away: timedelta, expected: list[tuple[OccurrenceState, bool]]
) -> None:
    await subscribed(harness)
    await ticks(harness, HOUR)
    harness.clock.now = NOW.replace(hour=9) + away
    await ticks(harness, TICK)

    found = await happened(harness)
    assert [(state, late) for _, state, late in found] == expected
    skipped = await harness.store.ledger.occurrences(harness.clock(), state=OccurrenceState.SKIPPED)
    assert all("noticed too late" in each.reason or "overtaken" in each.reason for each in skipped)


async def test_what_is_noticed_too_late_is_told_where_alerts_are_wanted_and_what_another_digest_makes_up_for_is_not(
    harness: Harness,
) -> None:
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(alerts="C-admin"), change())
    await subscribed(harness)
    await ticks(harness, HOUR)
    harness.clock.now = NOW.replace(hour=9) + DAY + HOUR
    await ticks(harness, TICK)
    assert harness.chat.announced == []
    harness.clock.now = NOW.replace(hour=9) + 2 * DAY + 13 * HOUR
    await ticks(harness, TICK)
    ((_, channel, text),) = harness.chat.announced
    assert channel == "C-admin"
    assert text.startswith("The digest kv of 2026-04-03 for C1 is skipped: noticed too late: it was due at 2026-04-03 09:00")


async def test_what_was_due_while_nobody_looked_is_posted_after_quiet_hours_however_long_they_are(harness: Harness) -> None:
    settled = Preferences(quiet_from=time(9, 30), quiet_until=time(23), zone="UTC")
    await harness.store.workspaces.save_preferences("chat:T1", settled, change())
    await subscribed(harness)
    await ticks(harness, HOUR)
    harness.clock.now = NOW.replace(hour=22)
    await ticks(harness, TICK)
    assert await happened(harness) == [(NOW.replace(hour=9), OccurrenceState.DUE, True)]


async def test_what_waits_for_a_time_that_only_a_clock_ahead_has_shown_has_its_turn_when_it_is_set_back(
    harness: Harness,
) -> None:
    scheduler = Scheduler(harness.context())
    await scheduler.tick(NOW)
    await harness.plant([delivery(now=NOW)])
    harness.clock.advance(HOUR)
    await scheduler.tick(harness.clock())
    harness.chat.closed["C1"] = Delayed("Not now.", retry_after=timedelta(minutes=5))
    await harness.deliverer().deliver_due(harness.clock)
    harness.clock.now = NOW + TICK
    assert await harness.store.ledger.due_deliveries(NOW + TICK) == []
    await scheduler.tick(NOW + TICK)
    assert [each.id for each in await harness.store.ledger.due_deliveries(NOW + TICK)] == ["d1p1"]


async def test_what_a_clock_showed_between_two_ticks_alone_is_waited_for_by_nobody(harness: Harness) -> None:
    context = harness.context()
    scheduler = Scheduler(context)
    await scheduler.tick(NOW)
    await harness.plant([delivery(now=NOW)])
    harness.clock.advance(HOUR)
    harness.chat.closed["C1"] = Delayed("Not now.", retry_after=timedelta(minutes=5))
    await Deliverer(context, pause=harness.clock.pause).deliver_due(harness.clock)
    harness.clock.now = NOW + TICK
    assert await harness.store.ledger.due_deliveries(NOW + TICK) == []
    await scheduler.tick(NOW + TICK)
    assert [each.id for each in await harness.store.ledger.due_deliveries(NOW + TICK)] == ["d1p1"]


async def test_years_of_absence_are_not_told_day_by_day(harness: Harness) -> None:
    await subscribed(harness)
    await ticks(harness, HOUR)
    harness.clock.advance(900 * DAY)
    await ticks(harness, TICK)
    assert len(await happened(harness)) <= 36


async def test_a_change_in_the_last_moment_before_it_is_due_does_not_lose_the_day(harness: Harness) -> None:
    made = await subscribed(harness)
    await ticks(harness, 2 * HOUR - timedelta(seconds=20))
    harness.clock.now = NOW.replace(hour=9) - timedelta(seconds=1)
    await changed(harness, made, entries=3)
    harness.clock.now = NOW.replace(hour=9) + timedelta(seconds=9)
    await ticks(harness, TICK)
    assert [each.due for each in await due(harness)] == [NOW.replace(hour=9)]


@pytest.mark.parametrize("at", [time(8), time(9, 30), time(23, 59)])
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "America/Los_Angeles"])
async def test_a_day_that_was_posted_is_not_posted_again_at_another_time_or_in_another_zone(
    harness: Harness, at: time, zone: str
) -> None:
    made = await subscribed(harness)
    await ticks(harness, 3 * HOUR, timedelta(minutes=5))
    await changed(harness, made, schedule=Schedule(at=at, zone=zone))
    await ticks(harness, 2 * DAY, timedelta(minutes=5))

    days = [each.day for each in await due(harness)]
    assert len(days) == len(set(days))
    assert len(days) >= 2


async def test_what_falls_into_a_pause_is_not_made_up_for_when_it_ends(harness: Harness) -> None:
    made = await subscribed(harness)
    await ticks(harness, HOUR, timedelta(minutes=5))
    end = NOW.replace(hour=9) + DAY + HOUR
    await changed(harness, made, paused=True, paused_until=end)
    await ticks(harness, 3 * DAY, timedelta(minutes=5))
    assert [each.due for each in await due(harness)] == [NOW.replace(hour=9) + 2 * DAY]


async def test_what_falls_into_a_pause_is_not_even_said_to_be_missed_when_the_service_was_down(harness: Harness) -> None:
    made = await subscribed(harness)
    await ticks(harness, HOUR, timedelta(minutes=5))
    await changed(harness, made, paused=True, paused_until=NOW.replace(hour=9) + 2 * DAY)
    harness.clock.advance(3 * DAY + 3 * HOUR)
    await ticks(harness, TICK)
    nine = NOW.replace(hour=9)
    assert [each for each, _, _ in await happened(harness)] == [nine + 2 * DAY, nine + 3 * DAY]


async def test_a_clock_that_had_run_ahead_does_not_lose_the_day_of_a_changed_subscription(harness: Harness) -> None:
    made = await subscribed(harness)
    harness.clock.advance(9 * DAY)
    await ticks(harness, TICK)
    harness.clock.now = NOW.replace(hour=9) + DAY - TICK
    await changed(harness, made, schedule=Schedule(at=NINE.at, zone="Africa/Abidjan"))
    await ticks(harness, 2 * TICK)
    assert (NOW.replace(hour=9) + DAY) in [each for each, _, _ in await happened(harness)]


async def test_a_clock_that_was_a_year_ahead_for_a_moment_does_not_silence_every_schedule_for_a_year(
    harness: Harness,
) -> None:
    await subscribed(harness)
    await ticks(harness, TICK)
    harness.clock.advance(365 * DAY)
    await ticks(harness, TICK)
    harness.clock.now = NOW + HOUR
    await ticks(harness, 3 * DAY, timedelta(minutes=5))
    nine = NOW.replace(hour=9)
    assert [each for each, state, _ in await happened(harness) if state is OccurrenceState.DUE][:3] == [
        nine + day * DAY for day in range(3)
    ]


async def test_a_resumed_subscription_goes_on_with_the_next_due_date(harness: Harness) -> None:
    made = await subscribed(harness)
    held = await changed(harness, made, paused=True)
    await ticks(harness, 4 * HOUR, timedelta(minutes=5))
    await changed(harness, held, paused=False)
    await ticks(harness, DAY, timedelta(minutes=5))
    assert [each.due for each in await due(harness)] == [NOW.replace(hour=9) + DAY]


@pytest.mark.parametrize("jump", [HOUR, -HOUR, DAY, -DAY, 8 * HOUR])
async def test_whatever_the_clock_does_a_day_is_due_once_or_said_to_be_skipped(harness: Harness, jump: timedelta) -> None:
    await subscribed(harness)
    await ticks(harness, HOUR, timedelta(minutes=5))
    harness.clock.advance(jump)
    await ticks(harness, HOUR, timedelta(minutes=5))
    harness.clock.advance(-jump)
    await ticks(harness, 3 * DAY, timedelta(minutes=5))

    days = [each.date() for each, _, _ in await happened(harness)]
    assert days == sorted(set(days))
    assert {(NOW + day * DAY).date() for day in range(3)} <= set(days)


async def test_a_zone_that_is_gone_pauses_its_subscription_tells_the_owner_once_and_holds_up_nobody(
    harness: Harness,
) -> None:
    broken = await subscribed(harness, 1, schedule=Schedule(at=time(9), zone="Mars/Olympus"))
    await subscribed(harness, 2)
    await ticks(harness, 3 * HOUR, timedelta(minutes=5))

    (now_there,) = await harness.store.workspaces.subscriptions("chat:T1", channel="C1")
    assert now_there.paused
    assert "Mars/Olympus" in now_there.paused_because
    assert now_there.revision == broken.revision + 1
    assert [person for _, person, _ in harness.chat.told] == ["U-ada"]
    assert [each.channel for each in await due(harness)] == ["C2"]


async def test_a_damaged_schedule_keeps_nobody_elses_from_being_noticed(harness: Harness) -> None:
    await subscribed(harness, 1, schedule=Schedule(at=time(9), zone=cast(str, 5)))
    await subscribed(harness, 2)
    await ticks(harness, 3 * HOUR, timedelta(minutes=5))
    assert [each.channel for each in await due(harness)] == ["C2"]


class Unreadable(MemoryStore):
    """A database that passes over a damaged subscription: each reading gives one less than was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.kept_ledger, self.ledger = self.ledger, instead(self.ledger, subscriptions_due=self.subscriptions_due)

    async def subscriptions_due(self, now: datetime, *, limit: int = 500) -> Sequence[tuple[Subscription, datetime | None]]:
        return await self.kept_ledger.subscriptions_due(now, limit=limit - 1)


async def test_behind_a_damaged_row_all_the_others_are_noticed_in_one_tick() -> None:
    harness = Harness(store=Unreadable())
    for number in range(AT_ONCE + 3):
        await subscribed(harness, number)
    scheduler = Scheduler(harness.context())
    await scheduler.tick(NOW)
    assert await scheduler.tick(NOW.replace(hour=9)) == AT_ONCE + 3


async def many_due(harness: Harness, count: int, workspaces: int) -> None:
    """Subscriptions of so many workspaces that are due tomorrow at nine, each workspace with quiet hours and alerts."""
    settled = Preferences(quiet_from=time(23), quiet_until=time(5), zone="UTC", alerts="C-admin")
    for number in range(workspaces):
        await harness.store.workspaces.save_preferences(f"chat:T{number}", settled, change(f"chat:T{number}"))
    for number in range(count):
        await subscribed(harness, number, workspace=f"chat:T{number % workspaces}")
    await Scheduler(harness.context()).tick(harness.clock())


async def calls_of_tick(harness: Harness, now: datetime) -> tuple[int, int]:
    """Return how many were new, and how often the store was asked for anything."""
    calls: Counter[str] = Counter()
    plain = harness.context()
    context = replace(plain, store=counted(plain.store, calls), ledger=counted(plain.ledger, calls))
    return await Scheduler(context).tick(now), calls.total()


@pytest.mark.parametrize("late", [timedelta(0), 13 * HOUR], ids=["in time", "too late"])
async def test_what_is_due_at_once_is_written_down_in_few_transactions_however_many_and_whosever_it_is(
    harness: Harness, late: timedelta
) -> None:
    await many_due(harness, 2 * AT_ONCE, workspaces=200)
    new, asked = await calls_of_tick(harness, NOW.replace(hour=9) + late)
    assert new == 2 * AT_ONCE
    assert asked <= 20


async def test_of_thousands_noticed_too_late_each_workspaces_alerts_are_told_once(harness: Harness) -> None:
    await many_due(harness, 100, workspaces=5)
    harness.clock.now = NOW.replace(hour=9) + 13 * HOUR
    await ticks(harness, timedelta(minutes=1))
    assert sorted(workspace for workspace, *_ in harness.chat.announced) == [f"chat:T{number}" for number in range(5)]
