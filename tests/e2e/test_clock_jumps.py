"""A few seconds of the real runner while the clock jumps, and while something blocks the event loop."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import apscheduler.schedulers.base
import pytest
from blockbuster import BlockBuster

from bot.models import OccurrenceState, Schedule
from bot.ports.runner import Job
from bot.service.runner import LocalRunner
from tests.e2e.month import Month
from tests.fakes.patience import PATIENCE
from tests.fakes.simulated import Clock
from tests.stores.memory import MemoryStore

OFTEN = timedelta(milliseconds=100)
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)


class Running(Clock):
    """The system's clock, which somebody sets."""

    def __init__(self) -> None:
        super().__init__(datetime.now(UTC))
        self._behind: timedelta | None = None  # None: it stands still

    def __call__(self) -> datetime:
        if self._behind is not None:
            self.true = datetime.now(UTC) - self._behind
        return super().__call__()

    def go(self) -> None:
        """Go on from where it stands: what came before may have taken any time."""
        self._behind = datetime.now(UTC) - self.true

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Running:
    running = Running()

    class Set(datetime):
        """The scheduling library asks the system by itself."""

        @classmethod
        def now(cls, tz: Any = None) -> "Set":
            return cls.fromtimestamp(running().timestamp(), tz)

    monkeypatch.setattr(apscheduler.schedulers.base, "datetime", Set)
    return running


@asynccontextmanager
async def served(clock: Running, *others: Job) -> AsyncIterator[Month]:
    """A service with the real runner, and a channel of which a digest is due in a moment, and then every day.

    The clock stands still until it is told to go.
    """
    store = MemoryStore()
    month = Month(lambda: store, clock, seed=1)
    await month.start()
    await month.service.scheduler.tick(clock())
    await subscribe(month)

    async def a_round() -> None:
        await month.service.scheduler.tick(clock())
        await month.post()
        month.happened["round"] += 1

    runner = LocalRunner(clock=clock)
    running = asyncio.create_task(runner.run([Job("round", OFTEN, a_round, at_once=True), *others]))
    try:
        yield month
    finally:
        runner.stop()
        await running


async def subscribe(month: Month, channel: str = "C1") -> None:
    soon = (month.clock() + SECOND).time()
    await month.subscribe("history:A", channel, "cache", Schedule(at=soon), always=True)


async def posted(month: Month, posts: int = 1) -> None:
    """Wait for so many posts; fail when there are none soon."""
    async with asyncio.timeout(PATIENCE):
        while len(month.platforms["history"].posted) < posts:  # noqa: ASYNC110 - looked at from outside, as people do
            await asyncio.sleep(0.05)


async def rounds(month: Month) -> None:
    """Wait for a round that began after this."""
    until = month.happened["round"] + 2
    async with asyncio.timeout(PATIENCE):
        while month.happened["round"] < until:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.05)


async def kept(month: Month) -> list[tuple[OccurrenceState, bool]]:
    """What became of each day that was due, and whether it was marked as late; posted once or not at all."""
    found = sorted(await month.all_occurrences(), key=lambda each: (each.channel, each.day))
    assert len({(each.channel, each.day) for each in found}) == len(found)
    assert not month.platforms["history"].wrong
    assert len(month.platforms["history"].posted) == sum(each.state is OccurrenceState.MADE for each in found)
    return [(each.state, each.late) for each in found]


ON_TIME, LATE, SKIPPED = (OccurrenceState.MADE, False), (OccurrenceState.MADE, True), (OccurrenceState.SKIPPED, True)


@pytest.mark.parametrize(
    ("jump", "outcome"),
    [(HOUR, [LATE]), (DAY, [SKIPPED, ON_TIME]), (-HOUR, [ON_TIME]), (-DAY, [ON_TIME, ON_TIME])],
    ids=["an hour ahead", "a day ahead", "an hour back", "a day back"],
)
async def test_a_clock_that_jumps_and_is_set_right_again_posts_each_day_once_and_says_what_is_late(
    clock: Running, jump: timedelta, outcome: list[tuple[OccurrenceState, bool]]
) -> None:
    async with served(clock) as month:
        clock.ahead += jump
        clock.go()
        await asyncio.sleep(1.3)
        if jump == -HOUR:
            await rounds(month)  # nothing is due in them
        else:
            await posted(month)
        clock.ahead -= jump
        await posted(month)
        await asyncio.sleep(1.5)  # the hour, or the day, comes again
        await rounds(month)
    assert await kept(month) == outcome


async def test_a_machine_that_slept_for_eight_hours_posts_what_it_missed_once_and_marks_it_as_late(clock: Running) -> None:
    async with served(clock) as month:
        clock.ahead += 8 * HOUR
        clock.go()
        await posted(month)
        await rounds(month)
    assert await kept(month) == [LATE]


@pytest.mark.parametrize("jump", [HOUR, DAY], ids=["an hour", "a day"])
async def test_after_a_clock_was_set_back_the_service_goes_on_at_once(clock: Running, jump: timedelta) -> None:
    async with served(clock) as month:
        clock.go()
        await posted(month)
        clock.ahead -= jump
        await subscribe(month, "C2")
        await posted(month, posts=2)
    assert await kept(month) == [ON_TIME, ON_TIME]


async def test_a_digest_that_is_due_while_something_blocks_the_loop_is_posted_once_when_it_goes_on(
    clock: Running, nothing_blocks_the_loop: BlockBuster
) -> None:
    blocked: list[float] = []

    async def block() -> None:
        begun = time.monotonic()
        time.sleep(5)  # noqa: ASYNC251 - that is what is tried here
        blocked.append(time.monotonic() - begun)

    nothing_blocks_the_loop.deactivate()
    async with served(clock, Job("blocking", DAY, block, at_once=True)) as month:
        clock.go()
        await posted(month)
        await rounds(month)
    assert len(blocked) == 1
    assert await kept(month) == [ON_TIME]
