"""The runner for one process: APScheduler as the heartbeat, with interval jobs in memory and nothing else."""

import asyncio
import gc
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.errors import BotError
from bot.ports.runner import Job, Watch
from bot.service.supervise import FIRST_WAIT, keep_going

log = logging.getLogger(__name__)

# How long a job that is running may go on after `stop`, where it does not say itself. What waits for an answer to be stored
# may end; Docker kills a container ten seconds after it asked it to end, unless it is told to wait for longer.
GRACE = timedelta(seconds=6)

# How often it is looked whether the clock was set back, and by how much a job may be further away than its interval.
LOOK, SLACK = timedelta(seconds=1), timedelta(seconds=1)


@contextmanager
def settled() -> Iterator[None]:
    """Take what is in memory by now for what stays, until the block ends: collections of garbage do not look at it.

    A full one stops every thread. Over the modules and tables of a service that has just begun it takes 70 ms.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class LocalRunner:
    """Runs jobs on the event loop of this process.

    Interval triggers only: APScheduler's cron trigger loses runs at clock changes. A job that is late runs late
    (`misfire_grace_time=None`) and once (`coalesce`), and never beside itself (`max_instances=1`).
    """

    def __init__(
        self,
        grace: timedelta = GRACE,
        *,
        first_wait: timedelta = FIRST_WAIT,
        chance: random.Random | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`grace` is how long the jobs that are running may go on after `stop`, `first_wait` that of a watch that failed.

        `clock` shows what APScheduler's shows, which is the system's.
        """
        self._stop = asyncio.Event()
        self._grace = grace
        self._first_wait = first_wait
        self._chance = chance or random.Random()
        self._clock = clock

    @property
    def stopping(self) -> asyncio.Event:
        """Set once it was asked to stop."""
        return self._stop

    async def run(self, jobs: Sequence[Job], watches: Sequence[Watch] = ()) -> None:
        """Run the jobs until `stop`; then let the ones that are running end, and cancel those that take too long."""
        scheduler = AsyncIOScheduler(timezone=UTC)
        running: dict[asyncio.Task[None], Job] = {}
        for job in jobs:
            scheduler.add_job(
                _supervised(job, running),
                "interval",
                seconds=job.every.total_seconds(),
                id=job.name,
                misfire_grace_time=None,
                coalesce=True,
                max_instances=1,
                next_run_time=self._clock() if job.at_once else self._clock() + job.every,
            )
        watching = [self._begun(watch) for watch in watches]
        watching.append(asyncio.create_task(self._keep_up(scheduler, jobs), name="minding the clock"))
        scheduler.start()
        try:
            await self._stop.wait()
        finally:
            scheduler.pause()
            _ask_to_stop(jobs)
            await self._ended(running)
            scheduler.shutdown(wait=False)
            await _cancelled(watching)

    def _begun(self, watch: Watch) -> asyncio.Task[None]:
        return asyncio.create_task(keep_going(watch, self._first_wait, self._chance), name=watch.name)

    async def _ended(self, running: dict[asyncio.Task[None], Job]) -> None:
        """Wait for each job as long as it may go on, all at the same time, and cancel it then."""

        async def one(task: asyncio.Task[None], grace: timedelta) -> None:
            await asyncio.wait([task], timeout=grace.total_seconds())
            await _cancelled([task])

        await asyncio.gather(*(one(task, self._grace if job.grace is None else job.grace) for task, job in running.items()))

    async def _keep_up(self, scheduler: AsyncIOScheduler, jobs: Sequence[Job]) -> None:
        """Run at once what a clock that was set back would let wait until it shows the job's next time again."""
        while True:
            await asyncio.sleep(LOOK.total_seconds())
            now = self._clock()
            waiting = [(scheduler.get_job(job.name), now + job.every + SLACK) for job in jobs]
            stuck = [job for job, latest in waiting if job is not None and job.next_run_time and job.next_run_time > latest]
            for job in stuck:
                job.modify(next_run_time=now)
            if stuck:
                log.warning("the clock was set back; %d jobs go on with the time that it shows now", len(stuck))

    def stop(self) -> None:
        """Make `run` return."""
        self._stop.set()


def _ask_to_stop(jobs: Iterable[Job]) -> None:
    for job in jobs:
        if job.stop is not None:
            job.stop()


async def _cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel what is still going on, and wait until it has cleaned up after itself."""
    late = [task for task in tasks if not task.done()]
    for task in late:
        task.cancel()
    if late:
        await asyncio.wait(late)


def _supervised(job: Job, running: dict[asyncio.Task[None], Job]) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        task = asyncio.current_task()
        if task is not None:
            running[task] = job
        try:
            await job.run()
        except asyncio.CancelledError:
            # Ours, at the end: not raised again, or APScheduler would log it as a failure.
            log.info("job %s was ended in the middle; what it had stored is kept", job.name)
        except BotError as error:
            log.error("job %s failed: %s", job.name, error)  # noqa: TRY400 - foreseen: the sentence says what to do
        except Exception:
            # A job must not end the service; it runs again at its next time.
            log.exception("job %s failed", job.name)
        finally:
            if task is not None:
                running.pop(task, None)

    return run
