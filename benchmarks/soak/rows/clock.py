"""R7: clocks that jump while the real runner works.

Each case is a service of its own with APScheduler, its own clock, a simulated platform and a channel of which a digest is
due in a moment: the clock jumps an hour or a day, ahead or back, at an instant drawn by the seed, and is set right again;
or the machine sleeps for eight hours; or something blocks the event loop for five seconds. Afterwards each day's digest
must have been posted once, or said to be late or skipped. Many cases share one event loop, each with its own time; those
that block it share another.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import apscheduler.schedulers.base

from benchmarks.soak.row import Row
from benchmarks.soak.scoreboard import Ask
from bot.models import DeliveryState, OccurrenceState
from tests.e2e.clock_jumps import DAY, HOUR, Running, kept, posted, rounds, served
from tests.e2e.month import Month
from tests.fakes.patience import PATIENCE

_JUMPS = {
    "an hour ahead": HOUR,
    "a day ahead": DAY,
    "an hour back": -HOUR,
    "a day back": -DAY,
    "asleep for eight hours": 8 * HOUR,
}
_BLOCKED = "blocked for five seconds"
_AT_ONCE = 25
_clock: ContextVar[Running] = ContextVar("the case's clock")


class _Shown(datetime):
    """The scheduling library asks the system by itself: it is shown the clock of the case whose timer rang."""

    @classmethod
    def now(cls, tz: Any = None) -> "_Shown":
        return cls.fromtimestamp(_clock.get()().timestamp(), tz)


@dataclass(frozen=True, slots=True)
class Case:
    """What happens, and when: seconds after the service began."""

    name: str
    wait: float
    hold: float  # for so long the clock is wrong


async def jumping(ask: Ask) -> Row:
    """Try so many."""
    chance = random.Random(ask.seed)
    names = [*_JUMPS, _BLOCKED]
    cases = [Case(names[at % len(names)], chance.uniform(0, 1.5), chance.uniform(1.3, 3.0)) for at in range(ask.size)]
    usual, apscheduler.schedulers.base.datetime = apscheduler.schedulers.base.datetime, _Shown
    try:
        wrong = [
            *await _all([each for each in cases if each.name != _BLOCKED], _one, _AT_ONCE),
            *await _all([each for each in cases if each.name == _BLOCKED], _blocked_one, ask.size),
        ]
    finally:
        apscheduler.schedulers.base.datetime = usual
    measured = f"{len(cases) - len(wrong)} of {len(cases)} right" + "".join(f"; {each}" for each in wrong[:3])
    what = "the clock jumps ±1 h, ±1 day, sleeps for 8 h; the loop is blocked for 5 s"
    return Row(what, f"{len(cases)} times", "each occurrence once, or reported late", measured, not wrong)


async def _all(cases: Sequence[Case], one: Callable[[Case], Any], at_once: int) -> list[str]:
    """Return what went wrong in these, so many at a time."""
    places = asyncio.Semaphore(max(1, at_once))

    async def placed(case: Case) -> str:
        async with places:
            try:
                await one(case)
            except (AssertionError, TimeoutError) as error:
                return f"{case.name} after {case.wait:.2f} s: {type(error).__name__} {error}"[:300]
        return ""

    found = await asyncio.gather(*(asyncio.create_task(placed(each)) for each in cases))
    return [each for each in found if each]


async def _one(case: Case) -> None:
    clock = Running()
    _clock.set(clock)
    async with served(clock) as month:
        clock.go()
        await asyncio.sleep(case.wait)
        before = _number(month)
        clock.ahead += _JUMPS[case.name]
        await asyncio.sleep(case.hold)
        if case.name != "asleep for eight hours":
            clock.ahead -= _JUMPS[case.name]
        await _settled(month, before)
        await asyncio.sleep(1.5)
        await rounds(month)
    assert await kept(month, await _given_up(month))  # it also holds what was posted against the ledger


async def _settled(month: Month, before: int) -> None:
    """Wait until a digest was posted, or was skipped and said to be: so many had been before the clock jumped."""
    ledger = month.store.ledger
    async with asyncio.timeout(PATIENCE):
        while True:
            known = await ledger.recent_occurrences("history:A")
            states = Counter(each.state for each in known)
            made = _number(month) + await _given_up(month)
            ended = made + states[OccurrenceState.SKIPPED] >= max(1, before)
            if ended and not states[OccurrenceState.DUE] and states[OccurrenceState.MADE] == made:
                return
            await asyncio.sleep(0.05)


async def _given_up(month: Month) -> int:
    """Return how many messages were given up, and said to be, since the clock showed that it was too late for them."""
    return len(await month.store.ledger.deliveries("history:A", states=[DeliveryState.EXPIRED]))


async def _blocked_one(case: Case) -> None:
    clock = Running()
    _clock.set(clock)
    async with served(clock) as month:
        clock.go()
        await asyncio.sleep(case.wait)
        _block()
        await posted(month)
        await rounds(month)
    outcome = await kept(month)
    assert len(outcome) == 1, outcome


_blocked_until = 0.0


def _block() -> None:
    """Keep the loop, which all these cases share, for five seconds; who comes to it meanwhile has been blocked as well."""
    global _blocked_until
    if time.monotonic() > _blocked_until + timedelta(seconds=1).total_seconds():
        time.sleep(5)
        _blocked_until = time.monotonic()


def _number(month: Month) -> int:
    return len(month.platforms["history"].posted)
