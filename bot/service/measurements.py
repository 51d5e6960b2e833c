"""What a running service knows of itself: when its jobs last went well, what it did since it began, how late its loop is."""

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import cast

from bot.models import Delivery, DeliveryState, Digest, Occurrence, OccurrenceState, Pace, Subscription
from bot.ports.ledger import Ledger, Planned
from bot.ports.runner import Job
from bot.ports.shared.processes import Budgets

log = logging.getLogger(__name__)

Timer = Callable[[], float]  # seconds of a clock that only goes on, whatever is done to the time of day

BEAT = timedelta(seconds=1)  # between two measurements of the loop
BLOCKED = timedelta(seconds=1)  # a loop that comes so late was held up by something that belongs into a thread
_KEPT = 60  # measurements that are looked back on: a minute's

# What is counted. A delivery that is put back or looked for again is counted each time.
POSTED, AMBIGUOUS, FAILED, EXPIRED, PUT_BACK = "posted", "ambiguous", "failed", "expired", "put_back"
MADE, EMPTY, SKIPPED, LATE = "made", "empty", "skipped", "late"

_OF_DELIVERIES = {
    DeliveryState.DONE: POSTED,
    DeliveryState.AMBIGUOUS: AMBIGUOUS,
    DeliveryState.FAILED: FAILED,
    DeliveryState.EXPIRED: EXPIRED,
    DeliveryState.PENDING: PUT_BACK,
}
_OF_OCCURRENCES = {OccurrenceState.MADE: MADE, OccurrenceState.EMPTY: EMPTY, OccurrenceState.SKIPPED: SKIPPED}


@dataclass(frozen=True, slots=True)
class JobRuns:
    """How a job has gone; times are the timer's."""

    ended: float | None = None  # the last run, however it went
    succeeded: float | None = None  # the last one without an error
    runs: int = 0
    failures: int = 0  # since the service began


class Measurements:
    """Kept in memory by the one process that runs the service."""

    def __init__(self, timer: Timer = time.monotonic) -> None:
        self.timer = timer
        self.started = timer()
        self.counts: Counter[str] = Counter()  # what is written into the ledger, by the words above
        self.source_errors: Counter[str] = Counter()  # by the source's name
        self.unreadable: Counter[str] = Counter()  # events that a chat's library could not read, by the platform's name
        self.untold: Counter[str] = Counter()  # answers to people that reached nobody, by the platform's name
        self.waited: Counter[str] = Counter()  # milliseconds for a turn among all processes, by the platform's name
        self._jobs: dict[str, JobRuns] = {}
        self._lags: deque[float] = deque(maxlen=_KEPT)
        self.blocked = 0  # how often the loop was held up

    @property
    def jobs(self) -> Mapping[str, JobRuns]:
        """How each job has gone, by its name; every job that is watched is there."""
        return self._jobs

    @property
    def lag(self) -> float:
        """The longest that the event loop was late within the last minute, in seconds."""
        return max(self._lags, default=0.0)

    def watched(self, job: Job) -> Job:
        """Return the job, noted each time that it ends."""
        self._jobs[job.name] = JobRuns()

        async def run() -> None:
            well = False
            try:
                await job.run()
                well = True
            finally:
                self._note(job.name, well=well)

        return replace(job, run=run)

    def source_failed(self, name: str) -> None:
        """Note that a source did not deliver."""
        self.source_errors[name] += 1

    def _note(self, name: str, *, well: bool) -> None:
        before, now = self._jobs[name], self.timer()
        self._jobs[name] = JobRuns(
            ended=now,
            succeeded=now if well else before.succeeded,
            runs=before.runs + 1,
            failures=before.failures + (not well),
        )

    async def measure(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Measure again and again how late the event loop is, and report when it was held up; never ends by itself."""
        while True:
            begun = self.timer()
            await sleep(BEAT.total_seconds())
            late = max(0.0, self.timer() - begun - BEAT.total_seconds())
            self._lags.append(late)
            if late >= BLOCKED.total_seconds():
                self.blocked += 1
                log.warning("the event loop was held up for %.1f s: for so long nothing was answered or posted", late)


def count_writes(ledger: Ledger, counts: Counter[str]) -> Ledger:
    """Return the same ledger; what is recorded through it is counted by the words above."""
    return cast("Ledger", _Counted(ledger, counts))


class _Counted:
    """Stands before the ledger; what is not written here goes straight to it."""

    def __init__(self, ledger: Ledger, counts: Counter[str]) -> None:
        self._ledger = ledger
        self._counts = counts

    def __getattr__(self, name: str) -> object:
        return getattr(self._ledger, name)

    async def open_occurrences(self, found: Sequence[Occurrence], subscription: Subscription, next_due: datetime) -> int:
        new = await self._ledger.open_occurrences(found, subscription, next_due)
        self._count_opened(found, new)
        return new

    async def open_planned(self, planned: Sequence[Planned]) -> Sequence[int]:
        news = await self._ledger.open_planned(planned)
        for each, new in zip(planned, news, strict=True):
            self._count_opened(each.found, new)
        return news

    def _count_opened(self, found: Sequence[Occurrence], new: int) -> None:
        # Of those that were not new it is not known which; they are the older ones, and so the skipped.
        self._counts[SKIPPED] += max(0, sum(each.state is OccurrenceState.SKIPPED for each in found) - (len(found) - new))

    async def close_occurrence(
        self, occurrence: Occurrence, now: datetime, *, digest: Digest | None = None, deliveries: Sequence[Delivery] = ()
    ) -> bool:
        closed = await self._ledger.close_occurrence(occurrence, now, digest=digest, deliveries=deliveries)
        if closed and occurrence.state in _OF_OCCURRENCES:
            self._counts[_OF_OCCURRENCES[occurrence.state]] += 1
            self._counts[LATE] += occurrence.state is OccurrenceState.MADE and occurrence.late
        return closed

    async def record(self, delivery: Delivery, *, unposted: bool = False, edited_until: datetime | None = None) -> bool:
        recorded = await self._ledger.record(delivery, unposted=unposted, edited_until=edited_until)
        if recorded and delivery.state in _OF_DELIVERIES:
            self._counts[_OF_DELIVERIES[delivery.state]] += 1
        return recorded


def count_waits(budgets: Budgets, waited: Counter[str]) -> Budgets:
    """Return the same budgets; for how long calls wait for their turn is counted, in milliseconds by platform."""
    return cast("Budgets", _Waited(budgets, waited))


class _Waited:
    """Stands before the budgets; what is not written here goes straight to them."""

    def __init__(self, budgets: Budgets, waited: Counter[str]) -> None:
        self._budgets = budgets
        self._waited = waited

    def __getattr__(self, name: str) -> object:
        return getattr(self._budgets, name)

    async def reserve(self, paces: Sequence[Pace], rests: Collection[str] = (), *, patience: timedelta) -> timedelta:
        wait = await self._budgets.reserve(paces, rests, patience=patience)
        if paces and wait <= patience:  # else nothing was counted, and nobody waits here
            # The first of its rests is the platform's, as in bot.delivery.rate_limits.
            platform = next(iter(rests), "").removeprefix("call ")
            self._waited[platform] += round(wait / timedelta(milliseconds=1))
        return wait
