"""Makes digests and delivers them by lane, beside other processes: a job wakes whoever is free, the ledger says what waits.

A lane is worked on until nothing waits in it, or for a while; what is left then is asked for anew, behind the other lanes.
A sweeper finds what nobody is woken for: lanes with work, what a process had that is gone, processes that are silent.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.delivery import Deliverer, Preparer
from bot.errors import BotError, StoreError
from bot.ports.ledger import Ledger
from bot.ports.shared.lanes import DELIVER, MAKE, LaneJobs, Lanes
from bot.ports.shared.processes import Processes
from bot.service.supervise import Outage

log = logging.getLogger(__name__)

AT_ONCE = 4  # lanes that a process works on at the same time …
WORKERS = 8  # … with so many deliveries in flight of each: together as many as a process has that is alone
TURN = timedelta(seconds=20)  # for so long a lane is worked on in one go
AGAIN = timedelta(seconds=2)  # after a lost connection to the jobs, until it is tried again
SWEEP = timedelta(seconds=15)  # between two looks for what nobody is woken for
SILENT = timedelta(minutes=1)  # a process is gone that has shown no sign of life for so long

# What the sweeper counts, by what it found: a job whose worker is gone, a lane with work and no job, a silent process.
JOB, LANE, PROCESS = "job", "lane", "process"


@dataclass(frozen=True, slots=True)
class LaneParts:
    """What a process works on lanes with: the lanes, what wakes for them, and who makes and delivers by a ledger."""

    lanes: Lanes
    jobs: LaneJobs
    processes: Processes
    preparer: Callable[[Ledger], Preparer]
    deliverer: Callable[[Ledger], Deliverer]


@dataclass(frozen=True, slots=True)
class _Turn:
    """One go at a lane: what is done, and what makes it begin nothing further."""

    do: Callable[[], Awaitable[int]]
    stop: Callable[[], None]


class LaneWorker:
    """Works on lanes for the verbs of this process."""

    def __init__(
        self,
        parts: LaneParts,
        verbs: Sequence[str],
        clock: Callable[[], datetime],
        outage: Outage,
        *,
        process: str = "",
        turn: timedelta = TURN,
    ) -> None:
        """`process` is this process's id; `turn` is how long a lane is worked on in one go."""
        self._parts = parts
        self._verbs = verbs
        self._clock = clock
        self._outage = outage
        self._process = process
        self._length = turn
        self._stopping = asyncio.Event()
        self._in_flight: set[asyncio.Task[int]] = set()
        self._worker: asyncio.Task[None] | None = None
        self.rescues = Counter[str](dict.fromkeys((JOB, LANE, PROCESS), 0))

    @property
    def in_hand(self) -> int:
        """How many lanes are worked on here now."""
        return len(self._in_flight)

    async def run(self) -> None:
        """Work on lanes until this is cancelled; a connection that is lost is made anew."""
        while not self._stopping.is_set():
            self._worker = asyncio.ensure_future(self._parts.jobs.work(self._verbs, self._work, AT_ONCE))
            try:
                await asyncio.wait([self._worker])
            finally:
                self._worker.cancel()
                await asyncio.wait([self._worker])
            if not self._stopping.is_set():
                self._report(self._worker)
                await asyncio.sleep(AGAIN.total_seconds())
        await asyncio.Event().wait()

    def stop(self) -> None:
        """Begin nothing further, and hand back the lanes; what is in flight goes on, for `ended` to wait for."""
        self._stopping.set()
        if self._worker is not None:
            self._worker.cancel()

    async def ended(self, grace: timedelta) -> None:
        """Wait for what is in flight, and cancel what takes longer than that."""
        if self._in_flight:
            _, late = await asyncio.wait(self._in_flight, timeout=grace.total_seconds())
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def wake(self, than: timedelta = timedelta(0)) -> int:
        """Have worked on what waits and nobody is woken for; return how many lanes waited for longer than that.

        Raises StoreError.
        """
        now, jobs = self._clock(), self._parts.jobs
        waiting = await self._parts.lanes.waiting(now)
        known = {(each.verb, each.lane) for each in await jobs.jobs()} if waiting else set()
        lacking = [each for each in waiting if (each.verb, each.lane) not in known]
        woken = [each for each in lacking if await jobs.defer(each.verb, each.lane)]
        return sum(now - each.oldest > than for each in woken)

    async def sweep(self) -> None:
        """Find what nobody is woken for, and count what was found. Raises StoreError."""
        self.rescues[JOB] += len(await self._parts.jobs.rescue())
        self.rescues[LANE] += await self.wake(SWEEP)
        now = self._clock()
        for each in await self._parts.processes.every():
            if each.id != self._process and now - each.beat > SILENT:
                log.warning("the process %s has been silent for a minute; others do its work", each.id)
                await self._parts.processes.remove(each.id)
                self.rescues[PROCESS] += 1

    # --- one lane

    async def _work(self, verb: str, lane: str) -> None:
        """Work on a lane, and ask for it anew where something may be left; whatever goes wrong is told here."""
        self._outage.well("lanes")
        try:
            left = await self._go(verb, lane)
            if left:
                await self._parts.jobs.defer(verb, lane)
        except StoreError as error:
            self._outage.failed(f"{verb} {lane}", error)

    async def _go(self, verb: str, lane: str) -> bool:
        """Have one go at a lane; say whether something may be left."""
        if self._stopping.is_set():
            return True
        turn = self._turn(verb, lane)
        task = asyncio.ensure_future(self._safely(verb, lane, turn))
        self._in_flight.add(task)
        task.add_done_callback(self._in_flight.discard)
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait([task, stopping], timeout=self._length.total_seconds(), return_when=asyncio.FIRST_COMPLETED)
            left = not task.done()
            turn.stop()
            # What is in flight ends within the time of a call. Where the process is to end, another one may go on already.
            await asyncio.wait([task, stopping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        if verb == MAKE and (not task.done() or task.result()):
            await self._parts.jobs.defer(DELIVER, lane)
        return left

    def _turn(self, verb: str, lane: str) -> _Turn:
        ledger = self._parts.lanes.ledger(lane)
        if verb == MAKE:
            preparer = self._parts.preparer(ledger)
            return _Turn(lambda: preparer.prepare_due(self._clock()), preparer.stop)
        deliverer = self._parts.deliverer(ledger)

        async def deliver() -> int:
            # Beside each other, as in a process that is alone: what may have been posted waits for no backlog.
            return await _sum_of(deliverer.deliver_due(self._clock), deliverer.reconcile(self._clock))

        return _Turn(deliver, deliverer.stop)

    async def _safely(self, verb: str, lane: str, turn: _Turn) -> int:
        """Do it and return how much was done; what fails is told of, and has its turn again when it is asked for."""
        name = f"{verb} {lane}"
        try:
            done = await turn.do()
        except StoreError as error:
            self._outage.failed(name, error)
        except Exception:
            log.exception("working on %s failed", name)
        else:
            self._outage.well(name)
            if done:
                log.info("%s: %d %s", lane, done, "made" if verb == MAKE else "delivered, looked for or put off")
            return done
        return 0

    def _report(self, ended: "asyncio.Task[None]") -> None:
        error = None if ended.cancelled() else ended.exception()
        if isinstance(error, StoreError):
            self._outage.failed("lanes", error)
        elif isinstance(error, BotError):
            log.error("working on lanes failed: %s", error)
        elif error is not None:
            log.error("working on lanes failed", exc_info=error)


async def _sum_of(*counts: Awaitable[int]) -> int:
    """Wait for all of them, and return their sum; then the first error of any is raised."""
    ended = await asyncio.gather(*counts, return_exceptions=True)
    for failure in ended:
        if isinstance(failure, BaseException):
            raise failure
    return sum(done for done in ended if isinstance(done, int))
