"""Keeping a watch going: begun again when it ends or fails, after a while that grows. Telling once that a store is away."""

import asyncio
import logging
import random
import time
from dataclasses import replace
from datetime import timedelta

from bot.errors import BotError, StoreError
from bot.ports.runner import Job, Watch

log = logging.getLogger(__name__)

# How long a watch that failed is left alone: doubled with every failure in a row; one that has lasted begins anew. The
# longest leaves time to notice a fall and to connect: however often a connection falls, people are heard again in a minute.
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=1), timedelta(seconds=45)
LASTED = timedelta(minutes=5)


async def keep_going(watch: Watch, first_wait: timedelta = FIRST_WAIT, chance: random.Random | None = None) -> None:
    """Run the watch until this is cancelled."""
    chance = chance or random.Random()
    failures = 0
    while True:
        begun = time.monotonic()
        try:
            await watch.run()
            log.error("%s has ended, and is begun again", watch.name)
        except BotError as error:
            log.error("%s failed: %s", watch.name, error)  # noqa: TRY400 - foreseen: the sentence says what to do
        except Exception:
            log.exception("%s failed", watch.name)
        failures = 1 if time.monotonic() - begun >= LASTED.total_seconds() else failures + 1
        await asyncio.sleep(_wait(first_wait, failures, chance).total_seconds())


def _wait(first: timedelta, failures: int, chance: random.Random) -> timedelta:
    """Return the wait after so many failures, up to half of it left out by chance."""
    return min(first * (1 << min(failures - 1, 20)), LONGEST_WAIT) * chance.uniform(0.5, 1.0)


class Outage:
    """What fails for want of the store, in one process: each reason is told once, and then that it is over."""

    def __init__(self) -> None:
        self._failing: set[str] = set()
        self._said: set[str] = set()

    def failed(self, name: str, error: StoreError) -> None:
        """Note that what has this name failed."""
        self._failing.add(name)
        if (said := str(error)) not in self._said:
            self._said.add(said)
            log.error("%s failed: %s It is tried again by itself.", name, said)

    def well(self, name: str) -> None:
        """Note that it went well. Where it had failed, the store is there again, for what else had failed too."""
        if name in self._failing:
            self._failing.clear()
            self._said.clear()
            log.info("the database does its work again")

    def told(self, job: Job) -> Job:
        """Return the job, whose failures for want of the store are told here."""

        async def run() -> None:
            try:
                await job.run()
            except StoreError as error:
                self.failed(f"job {job.name}", error)
            else:
                self.well(f"job {job.name}")

        return replace(job, run=run)
