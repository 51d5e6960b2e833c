"""What one process does at a time, whichever it is: jobs that run while this process holds the lease of their name."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from bot.errors import StoreError
from bot.models import Lease
from bot.ports.runner import Job
from bot.ports.shared.processes import Leases

log = logging.getLogger(__name__)

SPAN = timedelta(seconds=30)  # for so long a lease holds, unless it is prolonged
RENEWED = 3  # times within its span
_EARLY = 0.9  # of a span is relied on: the clock that counts here, and the way to the database's, may be off


class WorkLease:
    """A lease that this process holds while it works, and after that as long as it lasts: so who has work keeps it.

    Any number of jobs may run under it. While one does the lease is prolonged; when it is lost, or cannot be prolonged in
    time, they are cancelled at once: somebody else may be doing the same.
    """

    def __init__(self, leases: Leases, name: str, holder: str, span: timedelta = SPAN) -> None:
        """`holder` is the process's id."""
        self.name = name
        self._leases, self._holder, self._span = leases, holder, span
        self._lease: Lease | None = None
        self._until = 0.0  # of the monotonic clock, in seconds: until when it is surely ours
        self._running: set[asyncio.Task[None]] = set()
        self._prolonging: asyncio.Task[None] | None = None
        self._ends = False

    @property
    def is_held(self) -> bool:
        """Whether it is surely this process's now."""
        return self._lease is not None and time.monotonic() < self._until

    async def run(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Do the work where the lease can be had, else nothing; return whether it was done to its end. Raises StoreError."""
        if self._ends or not await self._take():
            return False
        task = asyncio.ensure_future(_as_coroutine(work))
        self._running.add(task)
        if self._prolonging is None:
            self._prolonging = asyncio.create_task(self._prolong(), name=f"prolonging the lease {self.name}")
        try:
            await asyncio.wait([task])
        finally:
            await self._ended(task)
        if task.cancelled():
            return False
        task.result()
        return True

    async def end(self) -> None:
        """Begin nothing more, and give the lease back as soon as nothing runs under it; at once where nothing does."""
        self._ends = True
        if not self._running:
            await self._give_back()

    async def _ended(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not task.done():  # whoever waited for it was cancelled
            task.cancel()
            await asyncio.wait([task])
        if self._running:
            return
        if self._prolonging is not None:
            self._prolonging.cancel()
            self._prolonging = None
        if self._ends:
            await self._give_back()

    async def _take(self) -> bool:
        """Take or prolong it; False while another one holds it."""
        begun = time.monotonic()
        self._lease = await self._leases.take(self.name, self._holder, self._span)
        if self._lease is not None:
            self._until = begun + self._span.total_seconds() * _EARLY
        return self._lease is not None

    async def _prolong(self) -> None:
        """Prolong it again and again; where that is not possible, stop what runs under it, and return."""
        pause = self._span.total_seconds() / RENEWED
        while True:
            await asyncio.sleep(min(pause, max(self._until - time.monotonic(), 0.0)))
            try:
                async with asyncio.timeout(max(self._until - time.monotonic(), 0.0)):
                    if await self._take():
                        continue
            except (StoreError, TimeoutError):
                if self.is_held:
                    continue
            break
        log.warning("the lease %s was lost; what ran under it is stopped", self.name)
        self._prolonging = None
        for task in self._running:
            task.cancel()

    async def _give_back(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            with suppress(StoreError):  # then it runs out by itself
                await self._leases.give_back(lease)


def under_lease(job: Job, lease: WorkLease) -> Job:
    """Return the job, which runs where this process has the lease or can have it, and is else nothing to do."""

    async def run() -> None:
        await lease.run(job.run)

    return replace(job, run=run)


async def _as_coroutine(work: Callable[[], Awaitable[None]]) -> None:
    await work()
