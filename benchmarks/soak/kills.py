"""Worker processes, killed with SIGKILL at random instants and started again until everything is settled."""

import asyncio
import atexit
import os
import random
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import monotonic

from benchmarks.soak.work import Work
from tests.fakes.forked import Forked, Forks

ROOT = Path(__file__).parents[2]
Worker = Process | Forked
LONGEST = 1800.0  # seconds that one test may take
_AT_START = 0.1  # of the kills, so many fall while the process starts
_MOST = 0.7
_SHORTEST = 1.0  # seconds: what was being sent when its worker was killed takes longer than that to be settled
_SPEED = 100.0  # deliveries a second, until it is known better


class Killer:
    """Runs a worker to its end through so many kills.

    The times between a worker's start and its kill are exponential. Their mean follows how many deliveries and kills are
    left, so that the kills are spread over the whole run on a quick machine as on a slow one.
    """

    def __init__(self, work: Work, kills: int, seed: int, left: Callable[[], int]) -> None:
        """`left` tells how many deliveries have not been posted yet."""
        self._work = work
        self._kills_left = kills
        self._dice = random.Random(seed)
        self._left = left
        self._whole = left()
        self._busy = 0.0  # seconds that workers have worked
        self._latest = 0.0  # deliveries a second of the latest worker
        self.kills = 0

    async def run(self) -> float:
        """Return how many seconds it took in all; raises RuntimeError when a worker fails by itself, TimeoutError."""
        start = monotonic()
        async with asyncio.timeout(LONGEST):
            while not await self._one():
                pass
        return monotonic() - start

    async def _one(self) -> bool:
        """Start a worker, and say whether it came to its end."""
        process = await started(self._work)
        try:
            await self._live(process)
        finally:
            await end(process)
        if process.returncode == -signal.SIGKILL:
            self._kills_left -= 1
            self.kills += 1
            return False
        if process.returncode != 0:
            raise RuntimeError(f"A worker ended with {process.returncode}.")
        return True

    async def _live(self, process: Worker) -> None:
        """Let the worker live until its end, or for as long as the dice say."""
        early = self._kills_left > 0 and self._dice.random() < _AT_START
        if not early:
            await ready(process)
        wait = self._dice.uniform(0.0, 1.0) if early else self._wait()
        begun, before = monotonic(), self._left()
        with suppress(TimeoutError):
            async with asyncio.timeout(wait if self._kills_left > 0 else None):
                await process.wait()
        if not early:
            lived = monotonic() - begun
            self._busy += lived
            self._latest = (before - self._left()) / lived

    def _wait(self) -> float:
        """Draw how long a worker lives, not longer than most of what is expected to be left of the run."""
        left = self._left()
        done = self._whole - left
        speed = done / self._busy if self._busy > 1 and done else _SPEED
        # Once all digests are made, those that are left are posted quicker than the first ones were.
        expected = max(_SHORTEST, left / max(speed, self._latest))
        return min(self._dice.expovariate(self._kills_left / expected), _MOST * expected) if self._kills_left else 0.0


@cache
def _forks() -> Forks:
    """Return what workers are forked from: the import of everything, by each of them, would be most of the work."""
    forks = Forks("benchmarks.soak.worker", os.environ)
    atexit.register(forks.close)
    return forks


async def started(work: Work, before: Callable[[], None] | None = None) -> Worker:
    """Start a worker; `before` runs first in a process that then executes it anew."""
    if before is None:
        return await _forks().start([work.text()], ROOT, os.environ)
    arguments = ("-m", "benchmarks.soak.worker", work.text())
    return await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, stdout=PIPE, preexec_fn=before)


async def end(process: Worker) -> None:
    """Kill the process unless it has ended, and let go of its pipe."""
    if process.returncode is None:
        process.kill()
    await process.communicate()


async def ready(process: Worker) -> None:
    """Wait until the worker has its database open; raises RuntimeError when it ends before."""
    assert process.stdout is not None
    if await process.stdout.readline() != b"ready\n":
        raise RuntimeError(f"A worker ended with {await process.wait()} before it was ready.")
