"""Databases that cannot be written for a while: nothing is posted that is not claimed, and no restart is needed."""

import asyncio
import ctypes
import resource
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from benchmarks.soak import kills
from benchmarks.soak.judge import is_sound, judged
from benchmarks.soak.killed import NONCE, ORDINARY, REMEMBERED
from benchmarks.soak.plant import Crowd, ledger, plant
from benchmarks.soak.row import Row, Size
from benchmarks.soak.run import due_just_now
from tests.fakes.platform import Platform, running

Breaks = Callable[[Path, int], AbstractAsyncContextManager[None]]
_HOLDER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("begin immediate")
print(flush=True)
sys.stdin.read()
"""
_IN_FLIGHT = 1.0  # seconds after which what was being sent has arrived
_BROKEN = 4.0  # seconds; a lock is held for longer than a write waits
_LOCKED = 20.0
_RECOVERS = 60.0


async def broken(size: Size) -> Sequence[Row]:
    """Each kind of it."""
    return [
        await unwritable("the disk is full", full, _BROKEN, size),
        await unwritable("the database is read-only when the service starts", read_only, _BROKEN, size),
        await unwritable("another program locks the database", locked, _LOCKED, size),
    ]


async def unwritable(what: str, breaks: Breaks, seconds: float, size: Size) -> Row:
    """Let a worker post through such a trouble, which lasts for so long."""
    crowd = Crowd(size.deliveries // 8, due_just_now(), (1,))
    made = crowd.deliveries()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "broadsheet.db"
        await plant(database, crowd)
        async with running(replace(ORDINARY, remembers=REMEMBERED, seed=size.seed)) as platform:
            work = replace(NONCE, database=str(database), url=platform.url).of(crowd)
            early = breaks is read_only
            if early:
                database.chmod(0o444)
            process = await kills.started(work, _without_privilege if early else None)
            try:
                await kills.ready(process)
                meanwhile = await _through(platform, breaks(database, process.pid), seconds, 0 if early else len(made) // 3)
                ended = await _ended(process)
            finally:
                await kills.end(process)
        verdict = judged(made, platform.committed, await ledger(database, made), sound=is_sound(database))
    measured = f"{meanwhile} posted meanwhile; {verdict.figures()}; {'no restart' if ended == 0 else 'A RESTART IS NEEDED'}"
    kept = verdict.is_clean and not meanwhile and ended == 0
    target = "nothing posted without a claim, recovers without restart"
    return Row(f"{what} for {seconds:.0f} s", f"{len(made)} deliveries", target, measured, kept)


async def _ended(process: kills.Worker) -> int | None:
    """Return what a worker ends with, None when it does not recover in a minute."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_RECOVERS):
            return await process.wait()
    return None


async def _through(platform: Platform, trouble: AbstractAsyncContextManager[None], seconds: float, after: int) -> int:
    """Hold the trouble for so long once so many are posted; return how many were posted in it, but for those in flight."""
    while len(platform.committed) < after:  # noqa: ASYNC110 - what is counted is another's
        await asyncio.sleep(0.01)
    async with trouble:
        await asyncio.sleep(_IN_FLIGHT)
        before = len(platform.committed)
        await asyncio.sleep(seconds - _IN_FLIGHT)
        return len(platform.committed) - before


@asynccontextmanager
async def full(database: Path, process: int) -> AsyncIterator[None]:
    """Let no file of the worker grow, as on a full disk, and give no room in the log."""
    log = database.with_name(f"{database.name}-wal")
    kept = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (min(4096, log.stat().st_size), kept[1]))
    yield
    resource.prlimit(process, resource.RLIMIT_FSIZE, kept)


@asynccontextmanager
async def read_only(database: Path, process: int) -> AsyncIterator[None]:
    """Give the rights back at the end; they were taken before the worker began."""
    yield
    await asyncio.to_thread(database.chmod, 0o644)


@asynccontextmanager
async def locked(database: Path, process: int) -> AsyncIterator[None]:
    """Hold the write lock in another process."""
    other = await asyncio.create_subprocess_exec(sys.executable, "-c", _HOLDER, str(database), stdin=PIPE, stdout=PIPE)
    assert other.stdout is not None
    await other.stdout.readline()
    yield
    await kills.end(other)


def _without_privilege() -> None:
    """Let root, too, be held by the rights of files, in whatever it executes next."""
    dac_override, drop = 1, 24  # CAP_DAC_OVERRIDE and PR_CAPBSET_DROP, linux/capability.h and linux/prctl.h
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(drop, dac_override, 0, 0, 0)
