"""R6, R12, R13, R16: other tests of the soak, or programs of their own, run as often or as long as is asked."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from benchmarks.soak import broken, restored
from benchmarks.soak.row import Row, Size
from benchmarks.soak.scoreboard import ROOT, Ask

T = TypeVar("T")
_TOGETHER = 5  # at a time: they mostly wait
_DELIVERIES = 400  # of a database that cannot be written; of a restored one twice as many


async def unwritable(ask: Ask) -> Row:
    """A disk that is full, a database that is read-only, one that is locked: each a third of the times."""
    kinds = (
        ("disk full", broken.full, 4.0),
        ("read-only", broken.read_only, 4.0),
        ("locked", broken.locked, 20.0),
    )
    found: dict[str, list[Row]] = {}
    for name, breaks, seconds in kinds:
        sizes = [Size(deliveries=_DELIVERIES, seed=ask.seed + number) for number in range(max(1, ask.size // len(kinds)))]
        found[name] = await _some_at_a_time([partial(broken.unwritable, name, breaks, seconds, size) for size in sizes])
    rows = [row for each in found.values() for row in each]
    measured = "; ".join(f"{name} {sum(bool(row.kept) for row in each)} of {len(each)}" for name, each in found.items())
    measured += "".join(f"; {row.test}: {row.measured}" for row in rows if not row.kept)
    target = "no post without a claim, 0 lost, 0 duplicate, recovers without restart"
    kept = all(row.kept for row in rows)
    return Row("disk full, database read-only, locked", f"{len(rows)} times", target, f"{measured} kept it", kept)


async def backups(ask: Ask) -> Row:
    """A backup of yesterday, put back in the middle of posting: with history, and with nonces alone, by turns."""
    sizes = [Size(deliveries=2 * _DELIVERIES, seed=ask.seed + number) for number in range(max(1, ask.size // 2))]
    pairs = await _some_at_a_time([partial(restored.restored, size) for size in sizes])
    rows = [row for pair in pairs for row in pair]
    wrong = [row for row in rows if not row.kept]
    measured = f"{len(rows) - len(wrong)} of {len(rows)} with 0 duplicate"
    measured += "".join(f"; {row.test}: {row.measured}" for row in wrong[:4])
    return Row("a backup of yesterday is restored", f"{len(rows)} restores", "0 duplicate", measured, not wrong)


async def zones(_: Ask) -> Row:
    """Every zone, every half hour of five years."""
    return await program("benchmarks.soak.zones")


async def thirty_days(ask: Ask) -> Row:
    """So many days, in months of at most thirty, against the model; beside them a service whose memory is looked at."""
    months = max(1, round(ask.size / 30))
    steps = 240 if ask.size >= 30 else 8 * ask.size
    sizes = ("--months", str(months), "--steps", str(steps), "--seed", str(ask.seed + 6))
    return await program("benchmarks.soak.thirty_days", *sizes)


async def program(module: str, *arguments: str) -> Row:
    """Return the row that a program prints as its last line."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", module, *arguments, cwd=ROOT, stdout=PIPE)
    said, _ = await process.communicate()
    cells = said.decode().splitlines()[-1].strip("| ").split(" | ")
    return Row(cells[0], cells[1], cells[2], cells[3], process.returncode == 0)


async def _some_at_a_time(tests: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    places = asyncio.Semaphore(_TOGETHER)

    async def one(test: Callable[[], Awaitable[T]]) -> T:
        async with places:
            return await test()

    return list(await asyncio.gather(*map(one, tests)))
