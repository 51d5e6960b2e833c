"""The runner for one process: APScheduler as the heartbeat, with interval jobs in memory and nothing else."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.errors import BotError
from bot.ports import Job

log = logging.getLogger(__name__)

# How long a job that is running may go on after `stop`; Docker kills a container ten seconds after it asked it to end.
GRACE = timedelta(seconds=6)


class LocalRunner:
    """Runs jobs on the event loop of this process.

    Interval triggers only: APScheduler's cron trigger loses runs at clock changes. A job that is late runs late
    (`misfire_grace_time=None`) and once (`coalesce`), and never beside itself (`max_instances=1`).
    """

    def __init__(self, grace: timedelta = GRACE) -> None:
        """`grace` is how long the jobs that are running may go on after `stop`."""
        self._stop = asyncio.Event()
        self._grace = grace

    async def run(self, jobs: Sequence[Job]) -> None:
        """Run the jobs until `stop`; then let the ones that are running end, and cancel those that take too long."""
        scheduler = AsyncIOScheduler(timezone=UTC)
        running: set[asyncio.Task[None]] = set()
        for job in jobs:
            scheduler.add_job(
                _supervised(job, running),
                "interval",
                seconds=job.every.total_seconds(),
                id=job.name,
                misfire_grace_time=None,
                coalesce=True,
                max_instances=1,
                next_run_time=datetime.now(UTC) if job.at_once else datetime.now(UTC) + job.every,
            )
        scheduler.start()
        try:
            await self._stop.wait()
        finally:
            scheduler.pause()
            await self._ended(running)
            scheduler.shutdown(wait=False)

    async def _ended(self, running: set[asyncio.Task[None]]) -> None:
        if not running:
            return
        _, late = await asyncio.wait(running, timeout=self._grace.total_seconds())
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    def stop(self) -> None:
        """Make `run` return."""
        self._stop.set()


def _supervised(job: Job, running: set[asyncio.Task[None]]) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        task = asyncio.current_task()
        if task is not None:
            running.add(task)
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
                running.discard(task)

    return run
