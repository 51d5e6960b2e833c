"""Databases of some size, made once and kept: the papers of the corpus themselves, or others made from these."""

import asyncio
import json
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import corpus, resample
from benchmarks.growth.memory import alone, memory
from benchmarks.search import NOW, embed_all
from bot.models import Item, Near
from bot.query.parse import parse
from bot.store.index.documents import INDEX_VERSION
from bot.store.index.follower import IndexFollower
from bot.store.sqlite.store import SqliteStore, index_folder

SEED = 1
NAME = "papers.db"  # in its folder, with its index beside it
FIGURES = "made.json"  # what making it took
_BATCH = 2000  # items to a transaction, as a backfill gives them
Spent = tuple[float, float]  # seconds by the clock, and of a processor


class Watch:
    """What goes by from one reading to the next."""

    def __init__(self) -> None:
        self._at = (time.perf_counter(), time.process_time())

    def spent(self) -> Spent:
        """Return the seconds since the last reading, by the clock and of a processor."""
        before, self._at = self._at, (time.perf_counter(), time.process_time())
        return self._at[0] - before[0], self._at[1] - before[1]


def folder_of(folder: Path, size: int, real: int) -> Path:
    """Return where a database of this size is kept, by its size and seed, or as that of the real papers."""
    return folder / (f"papers-{size}-real" if size == real else f"papers-{size}-seed-{SEED}")


def make(folder: Path, path: Path, size: int, real: int, near: Near) -> dict[str, Any]:
    """Return what making the database took, now or then; what is not there, or not as today's code has it, is made.

    Each step has a process of its own, one of them a search for what is `near`, which prepares the vectors. Of a database
    that was put there by hand only the index is made anew.
    """
    place = folder_of(folder, size, real)
    if not place.exists():
        making = place.with_name(f"{place.name}.making")
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        _keep(making, alone(_stored, making / NAME, path, size, real))
        making.rename(place)
    figures = _kept(place)
    first = alone(_searched, place / NAME, near)
    if "first with vectors" not in figures:
        figures |= {"first with vectors": first}
        _keep(place, figures)
    if figures.get("index", {}).get("version") != INDEX_VERSION or not index_folder(place / NAME).exists():
        shutil.rmtree(index_folder(place / NAME), ignore_errors=True)
        figures |= {"index": alone(_indexed, place / NAME)}
        _keep(place, figures)
    return figures


def _kept(place: Path) -> dict[str, Any]:
    try:
        figures: dict[str, Any] = json.loads((place / FIGURES).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return figures


def _keep(place: Path, figures: Mapping[str, Any]) -> None:
    (place / FIGURES).write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def _stored(path: Path, papers: Path, size: int, real: int) -> dict[str, Any]:
    """Store the papers and a quick vector of each."""
    rows = corpus.rows(papers)
    items = map(corpus.paper, rows if size == real else resample.papers(rows, size, SEED))
    return asyncio.run(_store(path, items))


async def _store(path: Path, items: Iterable[Item]) -> dict[str, Any]:
    store = SqliteStore(path, exclusive=True)
    await store.open()
    number, clock, processor, watch = 0, 0.0, 0.0, Watch()
    for some in _batches(items):
        watch.spent()  # what making them takes is not counted
        await store.items.add(some, NOW)
        clock, processor = (sum(pair) for pair in zip((clock, processor), watch.spent(), strict=True))
        number += len(some)
    watch.spent()
    await embed_all(store)
    vectors = watch.spent()
    await store.close()
    return {"papers": number, "stored": (clock, processor), "vectors": vectors}


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    left = iter(items)
    while some := list(islice(left, _BATCH)):
        yield some


def _searched(path: Path, near: Near) -> Spent:
    """Let the store migrate what an earlier version made, and return what the first search takes."""

    async def run() -> Spent:
        store = SqliteStore(path, exclusive=True)
        await store.open()
        watch = Watch()
        await store.index.search(parse("words"), NOW, near=near)
        spent = watch.spent()
        await store.close()
        return spent

    return asyncio.run(run())


def _indexed(path: Path) -> dict[str, Any]:
    """Make the index of tantivy."""

    async def run() -> dict[str, Any]:
        store = SqliteStore(path, exclusive=True, follower=IndexFollower)
        before = memory()
        watch = Watch()
        await store.open()
        assert store.follower is not None
        await store.follower.built()
        spent = watch.spent()
        after = memory()
        await store.close()
        return {"version": INDEX_VERSION, "spent": spent, "before": before, "after": after}

    return asyncio.run(run())
