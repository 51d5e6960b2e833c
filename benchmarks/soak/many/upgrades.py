"""A new version is rolled out while digests are posted.

It adds to the tables; the old one goes on beside it and is replaced, one process after the other. Then what only the old one
read is taken away, and no old one may begin any more.

The new version is this one with further steps of the tables, in a folder of its own.
"""

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from adapters.cli.exits import Exit
from benchmarks.soak.many.kills import settled
from benchmarks.soak.many.place import Place, Running, placed
from benchmarks.soak.plant import Crowd
from benchmarks.soak.row import Row
from benchmarks.soak.run import due_just_now
from benchmarks.soak.scoreboard import Ask
from bot.store.postgres.migrations import SCHEMA
from tests.fakes.forked import ROOT
from tests.fakes.platform import Behaviour

_WORKERS = 3
_LONGEST = 900.0  # seconds
_TURN = 20.0  # seconds that an old process has to hand over what it holds
_EXPAND = (
    f'Step({SCHEMA + 1}, "more of each delivery", {SCHEMA}, ('
    "\"alter table deliveries add column seen_by text not null default ''\","
    '"create index deliveries_seen on deliveries (seen_by)")),'
)
_CONTRACT = f'Step({SCHEMA + 2}, "less of each delivery", {SCHEMA + 1}, ("alter table deliveries drop column seen_by",)),'


async def rolled(ask: Ask) -> Row:
    """Roll out twice: what is added, and what is taken away."""
    crowd = Crowd(ask.size, due_just_now(), (1,), "slack", workspaces=min(20, ask.size))
    begun = monotonic()
    async with placed(crowd, Behaviour(seed=ask.seed, takes=(0.1, 0.5))) as place:
        added = await asyncio.to_thread(_version, place.folder / "added", [_EXPAND])
        taken = await asyncio.to_thread(_version, place.folder / "taken", [_EXPAND, _CONTRACT])
        old = [await place.start() for _ in range(_WORKERS)]
        await _after(place, 0.2)
        new, drains = await _replaced(place, old, added)
        await _after(place, 0.5)
        left = await place.start(root=ROOT)  # an old one that somebody forgot
        newest, more = await _replaced(place, new, taken)
        ended = await _ended_by_itself(left)
        refused = await _refused(place)
        await place.all_posted(_LONGEST)
        await settled(place)
        verdict, alive = await place.judge(), sum(each.is_alive for each in newest)
    drains += more
    measured = (
        f"{verdict.figures()}; processes handed over in {max(drains):.1f} s at most; an old one that was left"
        f" {'ended by itself' if ended else 'WENT ON'}, one that was started then {'was refused' if refused else 'BEGAN'};"
        f" {alive} of {_WORKERS} new ones at the end; {monotonic() - begun:.0f} s"
    )
    kept = verdict.is_clean and ended and refused and alive == _WORKERS and max(drains) < _TURN
    target = "nothing lost or doubled, both versions side by side, no old one past what was taken away"
    return Row("a rolling upgrade under load: expand, deploy, contract", f"{ask.size:,} deliveries", target, measured, kept)


def _version(folder: Path, steps: Sequence[str]) -> Path:
    """Write this version with further steps of the tables, and return the folder."""
    for each in ("bot", "adapters", "config"):
        shutil.copytree(ROOT / each, folder / each, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "bot/store/postgres/migrations/__init__.py"
    text = path.read_text(encoding="utf-8")
    assert text.count("\nSCHEMA = ") == 1
    path.write_text(text.replace("\nSCHEMA = ", f"\nSTEPS += ({' '.join(steps)})\nSCHEMA = "), encoding="utf-8")
    return folder


async def _after(place: Place, share: float) -> None:
    until = monotonic() + _LONGEST
    while place.posted < share * len(place.made) and monotonic() < until:  # noqa: ASYNC110 - another's count
        await asyncio.sleep(0.1)


async def _replaced(place: Place, old: Sequence[Running], root: Path) -> tuple[list[Running], list[float]]:
    """Start a process of the other version for each, and then end that; return them, and how long each took to end."""
    new, drains = [], []
    for each in old:
        new.append(await place.start(root=root))
        await place.ready(new[-1])
        drains.append(await each.stop())
        place.running.remove(each)
    return new, drains


async def _ended_by_itself(process: Running) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(_TURN):
            return await process.process.wait() == Exit.DATABASE
    return False


async def _refused(place: Place) -> bool:
    process = await place.start(root=ROOT)
    ended = await _ended_by_itself(process)
    _, said = await process.process.communicate() if ended else (b"", b"")
    return ended and b"upgraded by a newer Broadsheet" in said
