"""The real runner on a clock that somebody sets, and a channel of which a digest is due in a moment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

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


async def kept(month: Month, given_up: int = 0) -> list[tuple[OccurrenceState, bool]]:
    """What became of each day that was due, and whether it was marked as late; posted once or not at all.

    So many were made, and then given up with a reason.
    """
    found = sorted(await month.all_occurrences(), key=lambda each: (each.channel, each.day))
    assert len({(each.channel, each.day) for each in found}) == len(found)
    assert not month.platforms["history"].wrong
    assert len(month.platforms["history"].posted) + given_up == sum(each.state is OccurrenceState.MADE for each in found)
    return [(each.state, each.late) for each in found]
