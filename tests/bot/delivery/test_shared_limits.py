"""What a platform takes, shared by several processes on one PostgreSQL database; each has a ledger of its own in memory."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.delivery import Deliverer, DeliveryContext, SubscriptionResumer
from bot.delivery.pausing import SubscriptionPauser
from bot.delivery.rate_limits import PlatformCall, RateLimits, SharedLimits, takes_moment
from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected
from bot.models import Abilities, Delivery, DeliveryState, Method, Rate, Refusal
from bot.store.postgres.processes import PostgresBudgets
from bot.store.postgres.store import PostgresStore
from tests.bot.deliveries import Harness
from tests.conftest import NOW
from tests.fakes.transcript import Clock, Fault, Transcript, delivery
from tests.stores.postgres_server import emptied_aside

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
PROCESSES = 4
LIKE_DISCORD = Abilities(nonce_window=timedelta(minutes=2), finds=True, per_second=50.0, per_channel_second=1.0)
ASKED = Delayed("It asked for a pause.", retry_after=MINUTE)
SLOW = Abilities(per_channel_second=0.5)  # calls are 2.2 seconds apart


@pytest.fixture
async def budgets(postgres: str, tmp_path: Path) -> AsyncIterator[Sequence[PostgresBudgets]]:
    """Give the budgets of four processes, each on connections of its own."""
    stores = [PostgresStore(await emptied_aside(postgres), tmp_path, most=4) for _ in range(PROCESSES)]
    async with AsyncExitStack() as stack:
        for store in stores:
            await store.open()
            stack.push_async_callback(store.close)
        yield [store.budgets for store in stores]


class RealClock(Clock):
    """The time of day, as the limits of a database are by its own clock."""

    def __call__(self) -> datetime:
        return datetime.now(UTC)

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Timed(Transcript):
    """A platform that notes when each request comes, by a clock that nobody sets."""

    came: list[float]

    async def send(self, delivery: Delivery) -> str:
        self.came.append(time.monotonic())
        return await super().send(delivery)


class Process:
    """One of the processes: its ledger in memory, its view of the platform, and the budgets that it shares."""

    def __init__(self, budgets: PostgresBudgets, abilities: Abilities, clock: Clock, came: list[float]) -> None:
        self.harness = Harness(abilities)
        self.harness.clock = clock
        self.harness.chat = self.chat = Timed(clock, abilities)
        self.chat.came = came
        self.context: DeliveryContext = replace(self.harness.context(), budgets=budgets)
        self.deliverer = Deliverer(self.context, pause=clock.pause)
        self.clock = clock

    async def rows(self) -> Sequence[Delivery]:
        return list((await self.harness.rows()).values())


def processes(budgets: Sequence[PostgresBudgets], abilities: Abilities) -> list[Process]:
    came: list[float] = []
    return [Process(each, abilities, RealClock(NOW), came) for each in budgets]


async def test_four_processes_together_ask_a_platform_for_no_more_than_it_takes(
    budgets: Sequence[PostgresBudgets],
) -> None:
    many, now = processes(budgets, LIKE_DISCORD), datetime.now(UTC)
    for number, each in enumerate(many):
        await each.harness.plant([delivery(at, now=now) for at in range(100 * number + 1, 100 * number + 46)])

    async with asyncio.timeout(60):
        await asyncio.gather(*(each.deliverer.deliver_due(each.clock) for each in many))

    came = sorted(many[0].chat.came)
    assert len(came) == PROCESSES * 45
    assert all(later - before > 1.0 for before, later in zip(came, came[50:], strict=False))
    states = {row.state for each in many for row in await each.rows()}
    assert states == {DeliveryState.DONE}


async def test_what_asked_one_process_to_wait_is_asked_by_no_other(budgets: Sequence[PostgresBudgets]) -> None:
    first, second, third, _ = processes(budgets, LIKE_DISCORD)
    now = datetime.now(UTC)
    for each in (first, second, third):
        await each.harness.plant([delivery(1, now=now)])
    first.chat.faults = [Fault.RETRY_AFTER]
    await first.deliverer.deliver_due(first.clock)
    assert len(first.chat.came) == 1

    await second.deliverer.deliver_due(second.clock)  # without having learnt of it: it finds out in the database
    (row,) = await second.rows()
    assert len(first.chat.came) == 1
    assert (row.state, row.attempts) == (DeliveryState.PENDING, 0)
    assert row.next_at > now + 25 * SECOND

    await third.deliverer.refresh_limits(third.clock)  # with that it does not even claim it
    await third.deliverer.deliver_due(third.clock)
    (row,) = await third.rows()
    assert len(first.chat.came) == 1
    assert row.token == 0


@dataclass
class Alone:
    """The shared limits of one process, by a clock that only waiting moves."""

    budgets: PostgresBudgets
    late: timedelta = timedelta(0)
    late_for: int = 0  # pauses that take so much longer

    def __post_init__(self) -> None:
        self.clock = Clock(NOW)
        self.limits = SharedLimits(self.budgets, RateLimits())
        self.pauses: list[float] = []
        self.meanwhile: Any = None

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await self.clock.pause(seconds)
        if self.late_for:
            self.late_for -= 1
            self.clock.advance(self.late)
        if self.meanwhile:
            await self.meanwhile()

    async def wait(self, call: PlatformCall, patience: timedelta = MINUTE) -> datetime | None:
        return await self.limits.wait(call, self.clock, self.pause, patience)


def call(channel: str = "C1", able: Abilities = SLOW, method: Method = Method.POST) -> PlatformCall:
    return PlatformCall(method, "chat:T1", channel, able)


async def test_who_has_the_patience_waits_for_its_moment_and_others_are_told_when(
    budgets: Sequence[PostgresBudgets],
) -> None:
    first, second, third = (Alone(each) for each in budgets[:3])
    assert await first.wait(call()) is None
    assert await second.wait(call()) is None
    later = await third.wait(call(), SECOND)
    assert (first.pauses, third.pauses) == ([], [])
    assert 1.5 < second.pauses[0] < 2.3
    assert later is not None
    assert NOW + 3 * SECOND < later < NOW + 4.6 * SECOND


async def test_who_was_held_up_after_its_moment_takes_another_one(budgets: Sequence[PostgresBudgets]) -> None:
    first, second = Alone(budgets[0]), Alone(budgets[1], late=SECOND, late_for=1)
    assert await first.wait(call()) is None
    assert await second.wait(call()) is None
    assert len(second.pauses) == 2


async def test_who_is_late_each_time_takes_three_moments_and_goes(budgets: Sequence[PostgresBudgets]) -> None:
    first, second = Alone(budgets[0]), Alone(budgets[1], late=SECOND, late_for=9)
    assert await first.wait(call()) is None
    assert await second.wait(call()) is None
    assert len(second.pauses) == 3


async def test_who_waits_for_its_moment_while_another_is_asked_to_wait_asks_nothing(
    budgets: Sequence[PostgresBudgets],
) -> None:
    first, second = Alone(budgets[0]), Alone(budgets[1])
    assert await first.wait(call()) is None

    async def asked_to_wait() -> None:
        await first.limits.rest(call(), Reach.WORKSPACE, NOW + MINUTE, NOW, ASKED)

    second.meanwhile = asked_to_wait
    later = await second.wait(call())
    assert later is not None
    assert later > second.clock() + 50 * SECOND


@pytest.mark.parametrize("reach", Reach)
async def test_a_rest_reaches_as_far_in_every_process(budgets: Sequence[PostgresBudgets], reach: Reach) -> None:
    first, second = Alone(budgets[0]), Alone(budgets[1])
    await first.limits.rest(call(), reach, NOW + MINUTE, NOW, ASKED)
    now = datetime.now(UTC)  # what is kept is by the database's clock
    await second.limits.refresh(now)
    places = [("C1", Method.POST), ("C2", Method.POST), ("C1", Method.TELL)]
    calls = [PlatformCall(method, "chat:T1", channel, SLOW) for channel, method in places]
    calls.append(PlatformCall(Method.POST, "chat:T2", "C1", SLOW))
    held = [first.limits.rate_limits.rested(each, NOW) > NOW for each in calls]
    assert [second.limits.rate_limits.rested(each, now) > now for each in calls] == held
    assert held == [True, reach is not Reach.CHANNEL, False, reach is Reach.PLATFORM]


@pytest.mark.parametrize(
    "error",
    [
        Delayed("It cannot be reached from here.", reach=Reach.PLATFORM),
        Delayed("This process sent too much.", reach=Reach.PLATFORM, retry_after=MINUTE, here=True),
        Refused("The token is not good.", reach=Reach.PLATFORM),
        Rejected("It does not take the message.", failure="status 400"),
    ],
)
async def test_what_only_this_process_may_not_do_stops_no_other(
    budgets: Sequence[PostgresBudgets], error: DeliveryError
) -> None:
    alone = Alone(budgets[0])
    await alone.limits.rest(call(), error.reach, NOW + MINUTE, NOW, error)
    assert alone.limits.rate_limits.rested(call(), NOW) == NOW + MINUTE
    assert await budgets[1].rests() == []


async def test_a_channel_that_is_refused_is_left_alone_by_all(budgets: Sequence[PostgresBudgets]) -> None:
    await Alone(budgets[0]).limits.rest(call(), Reach.CHANNEL, NOW + MINUTE, NOW, Refused("It is archived."))
    (rest,) = await budgets[1].rests()
    assert rest.reason == "It is archived."


async def test_a_moment_is_that_of_one_request(budgets: Sequence[PostgresBudgets]) -> None:
    alone = Alone(budgets[0])
    assert not takes_moment()
    assert await alone.wait(call()) is None
    both = await asyncio.gather(*(asyncio.to_thread(takes_moment) for _ in range(2)))
    assert sorted(both) == [False, True]
    assert not takes_moment()


async def test_a_rest_that_a_process_knows_to_be_longer_is_not_shortened(budgets: Sequence[PostgresBudgets]) -> None:
    first, second = Alone(budgets[0]), Alone(budgets[1])
    now = datetime.now(UTC)
    second.limits.rate_limits.rest(call(), Reach.CHANNEL, now + MINUTE, now)
    await first.limits.rest(call(), Reach.CHANNEL, now + SECOND, now, ASKED)
    await second.limits.refresh(now)
    assert second.limits.rate_limits.rested(call(), now) == now + MINUTE


async def test_where_the_database_is_gone_the_process_rests_alone(budgets: Sequence[PostgresBudgets]) -> None:
    alone = Alone(budgets[0])
    await budgets[0].connections.close()
    await alone.limits.rest(call(), Reach.CHANNEL, NOW + MINUTE, NOW, ASKED)
    assert alone.limits.rate_limits.rested(call(), NOW) == NOW + MINUTE


async def test_edits_notices_and_looks_are_counted_over_all_processes_too(budgets: Sequence[PostgresBudgets]) -> None:
    rate = Rate(per_workspace_minute=1.0)
    able = replace(SLOW, find=rate, tell=rate, edit=rate, publish=rate, announce=rate)
    for method in Method:
        if method is not Method.POST:
            assert await Alone(budgets[0]).wait(call("C1", able, method)) is None
            assert await Alone(budgets[1]).wait(call("C2", able, method), SECOND) is not None


async def test_without_other_processes_nothing_is_counted() -> None:
    clock = Clock(NOW)
    limits = SharedLimits(None, RateLimits())
    for _ in range(3):
        assert await limits.wait(call(), clock, clock.pause, MINUTE) is None
    await limits.rest(call(), Reach.CHANNEL, NOW + MINUTE, NOW)
    await limits.refresh(NOW)
    assert limits.rate_limits.rested(call(), NOW) == NOW + MINUTE


async def test_what_is_paused_is_asked_about_in_its_turn_among_all_requests(budgets: Sequence[PostgresBudgets]) -> None:
    first, second = [Process(each, Abilities(per_second=1 / 60), Clock(NOW), []) for each in budgets[:2]]
    asked = []
    for each in (first, second):
        await each.harness.plant([delivery(1, now=NOW)])
        each.chat.closed["C1"] = Refused("The channel is archived.")
        await SubscriptionPauser(each.context).pause(Refusal("chat:T1", "C1", Reach.CHANNEL, "It is archived."), NOW)
        before = len(each.chat.examined)
        each.clock.advance(MINUTE)
        await SubscriptionResumer(each.context, pause=each.clock.pause).resume_due(each.clock)
        asked.append(len(each.chat.examined) - before)
    assert asked == [1, 0]
