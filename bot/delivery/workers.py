"""Hands deliveries out to a few workers: in the order in which the ledger gives them, each as soon as the rate limits allow.

The ledger lets the workspaces take turns, and is read again every second: with W workspaces waiting, the first delivery of
one that comes is sent after those that are in flight and at most one of each of the others. What must wait for its budget
lets the next one pass, and so does what is for a platform that has as many in flight as it takes at once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from bot.delivery.context import Clock, DeliveryContext
from bot.delivery.rate_limits import Pause, PlatformCall
from bot.errors import StoreError
from bot.models import Delivery, Method

log = logging.getLogger(__name__)

T = TypeVar("T")

_Key = tuple[str, str, int]  # workspace, id, token: a delivery between two claims

FRESH = timedelta(seconds=1)  # for so long a reading of the ledger is worked off
PATIENCE = timedelta(seconds=5)  # what must wait longer for its budget is left to the next round
_FURTHER = 4  # times as many are read at most, where those are for a platform that takes no more at once
FAILURES = 20  # in a row that are not a platform's, as when the disk is full, after which the round ends


async def each_in_order(
    waiting: Iterable[Sequence[T]], do: Callable[[T], Awaitable[int]], stopped: Callable[[], bool], *, at_once: int
) -> int:
    """Do it with each of a row, one after another until it is stopped, and with so many rows at the same time.

    Return the sum of what it returned. Every row has its turn, then the first error of any is raised.
    """
    gate = asyncio.Semaphore(at_once)

    async def row(found: Sequence[T]) -> int:
        done = 0
        async with gate:
            for each in found:
                if stopped():
                    break
                done += await do(each)
        return done

    ended = await asyncio.gather(*map(row, waiting), return_exceptions=True)
    for failure in ended:
        if isinstance(failure, BaseException):
            raise failure
    return sum(done for done in ended if isinstance(done, int))


async def in_readings(
    read: Callable[[], Awaitable[Sequence[T]]],
    work: Callable[[Sequence[T]], Awaitable[int]],
    ended: Callable[[], bool],
    *,
    most: int,
) -> int:
    """Read at most so many and work on them, again as long as that many were read and some of them had their turn.

    Return how many had. Who had it is not read again for a while: so many that must wait keep nobody else waiting.
    """
    had = 0
    while not ended():
        found = await read()
        done = await work(found)
        had += done
        if len(found) < most or not done:
            break
    return had


class FairOrder:
    """The turns of one round.

    The ledger gives what waits by its turn: the oldest of each workspace has the one after those that its workspace has had.
    Who comes late has one turn at once, and then goes on beside the others: what was missed is not made up for.
    """

    def __init__(self) -> None:
        self.had: dict[str, int] = {}  # by workspace
        self._latest = 0

    def take(self, workspace: str) -> None:
        """Count the workspace's next turn as had."""
        turn = self.had.get(workspace, 0) + 1
        self._latest = max(self._latest, turn)
        self.had[workspace] = self._latest


class ReadWaiting(Protocol):
    """One of the ledger's two lists of deliveries that wait."""

    async def __call__(
        self, now: datetime, *, limit: int, had: Mapping[str, int], without: Collection[str]
    ) -> Sequence[Delivery]:
        """Return at most so many of them, in turns."""
        ...


@dataclass(frozen=True, slots=True)
class DeliveryTask:
    """What is done with each delivery of a list."""

    read: ReadWaiting
    do: Callable[[Delivery], Coroutine[None, None, None]]
    method: Callable[[Delivery], Method]  # what it asks of the platform first
    methods: Collection[Method]  # all that this may be


class Workers:
    """Workers for any number of rounds."""

    def __init__(self, context: DeliveryContext, pause: Pause = asyncio.sleep) -> None:
        """`pause` waits for so many seconds of the clock that the rounds are given."""
        self._context = context
        self._workers = context.settings.workers
        self._pause = pause
        self._stopped = False

    def stop(self) -> None:
        """Hand out nothing more; what is in flight ends."""
        self._stopped = True

    async def work(self, task: DeliveryTask, clock: Clock) -> int:
        """Do everything that the list gives and the rate limits allow within five seconds; return how many were handed out.

        Raises what went wrong with one, as StoreError, after the others had their turn.
        """
        round_ = _Round(task, clock, self._context, 4 * self._workers)
        try:
            while not self._stopped and not round_.broken:
                if len(round_.running) >= self._workers:
                    await round_.one_ends()
                elif not (await round_.refill() and (round_.hand_out() or await self._wait(round_))):
                    break
            await round_.all_end()
        finally:
            await round_.cancel_all()
        round_.raise_failure()
        return round_.handed_out

    async def _wait(self, round_: "_Round") -> bool:
        """Wait until something may be handed out; False when the clock does not move, and waiting is of no use."""
        now = round_.clock()
        free = (round_.earliest(each, now) for each in round_.waiting if not round_.is_full(each))
        soonest = min(free, default=now + FRESH)
        seconds = min(soonest - now, FRESH).total_seconds()
        if round_.running:
            await round_.one_ends(seconds)
            return True
        await self._pause(max(seconds, 0.001))
        return round_.clock() > now


class _Round:
    """One round: what was read and waits, what runs, and what had its turn."""

    def __init__(self, task: DeliveryTask, clock: Clock, context: DeliveryContext, limit: int) -> None:
        self.clock = clock
        self.waiting: list[Delivery] = []
        self.running: dict[asyncio.Task[None], str] = {}  # with the platform that each is for
        self.handed_out = 0
        self.broken = False
        self._task = task
        self._context = context
        self._limit = limit
        self._furthest = _FURTHER * limit  # is read of what waits for a platform that is full
        self._is_all = False  # whether nothing waits but what was read
        self._had: set[_Key] = set()
        self._resting: set[str] = set()  # workspaces and platforms that nothing more is read of in this round
        self._fair_order = FairOrder()
        self._read_at: datetime | None = None
        self._failures: list[Exception] = []
        self._in_a_row = 0

    async def refill(self) -> bool:
        """Have something that waits, read a moment ago; False when there is nothing more, and nothing runs."""
        while not self.waiting or not self._is_fresh():
            self._read_at = self.clock()
            found = await self._task.read(self._read_at, limit=self._limit, had=self._fair_order.had, without=self._resting)
            self.waiting = [each for each in found if _key(each) not in self._had]
            self._is_all = len(found) < self._limit
            if self.waiting:
                return True
            if len(found) >= self._limit:
                self._limit *= 4  # all of these had their turn, or must wait for long: look further
            elif self.running:
                await self.one_ends(FRESH.total_seconds())  # the next part of what was sent may be due then
            else:
                return False
        return True

    def _is_fresh(self) -> bool:
        return self._read_at is not None and timedelta(0) <= self.clock() - self._read_at < FRESH

    def _call(self, each: Delivery) -> PlatformCall:
        return self._context.call(self._task.method(each), each.workspace, each.channel)

    def earliest(self, each: Delivery, now: datetime) -> datetime:
        """Return the earliest moment at which it may have its turn."""
        return self._context.rate_limits.earliest(self._call(each), now)

    def hand_out(self) -> bool:
        """Start the first that may be sent now; leave to the next round those that must wait for long.

        Says whether anything was done.
        """
        now, gone, chosen = self.clock(), 0, None
        keep: list[Delivery] = []
        for place, each in enumerate(self.waiting):
            free = self.earliest(each, now)
            if free - now > PATIENCE:
                self._had.add(_key(each))
                self._leave_out(each, now)
                gone += 1
            elif free <= now and not self.is_full(each):
                chosen = each
                keep += self.waiting[place + 1 :]
                break
            else:
                keep.append(each)
        self.waiting = keep
        if chosen is not None:
            self._had.add(_key(chosen))
            self._fair_order.take(chosen.workspace)
            self._context.rate_limits.take(self._call(chosen), now)
            self.running[asyncio.ensure_future(self._task.do(chosen))] = self._call(chosen).platform
            self.handed_out += 1
        return chosen is not None or gone > 0 or self._looks_further()

    def is_full(self, each: Delivery) -> bool:
        """Say whether its platform has as many in flight here as it takes at once."""
        call = self._call(each)
        return call.able.at_once is not None and list(self.running.values()).count(call.platform) >= call.able.at_once

    def _looks_further(self) -> bool:
        """Have more read, where all that was read is for platforms that are full; say whether that is so."""
        if self._is_all or self._limit >= self._furthest or not all(map(self.is_full, self.waiting)):
            return False
        self._limit, self._read_at = 4 * self._limit, None
        return True

    def _leave_out(self, each: Delivery, now: datetime) -> None:
        """Read no more of its platform or workspace in this round, where that must wait as a whole, whatever is asked."""
        for place in (f"{each.workspace.partition(':')[0]}:", each.workspace):
            calls = [self._context.call(method, place, "") for method in self._task.methods]
            if all(self._context.rate_limits.earliest(call, now) - now > PATIENCE for call in calls):
                self._resting.add(place)
                break

    async def one_ends(self, seconds: float | None = None) -> None:
        """Wait until one of those that run ends, or for so many seconds."""
        ended, _ = await asyncio.wait(self.running, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            del self.running[task]
        for error in [task.exception() for task in ended]:
            self._note(error)

    def _note(self, error: BaseException | None) -> None:
        if error is None:
            self._in_a_row = 0
        elif isinstance(error, Exception):
            if not isinstance(error, StoreError):
                log.error("a delivery failed in a way that nobody foresaw", exc_info=error)
            self._failures.append(error)
            self._in_a_row += 1
            self.broken = self.broken or self._in_a_row >= FAILURES
        else:
            raise error

    async def all_end(self) -> None:
        """Wait for all that run."""
        while self.running:
            await self.one_ends()

    async def cancel_all(self) -> None:
        """Cancel what still runs, when the round itself was cancelled: its deliveries' leases run out."""
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)

    def raise_failure(self) -> None:
        """Raise the first error that is not a platform's."""
        if self._failures:
            raise self._failures[0]


def _key(delivery: Delivery) -> _Key:
    return delivery.workspace, delivery.id, delivery.token
