"""Storing what is new and what changed in a database of some size, with its index and without, and catching up."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.growth.made import Spent, Watch
from benchmarks.growth.memory import memory
from benchmarks.search import NOW
from bot.models import Item
from bot.query.parse import parse
from bot.store.index.follower import IndexFollower
from bot.store.sqlite.store import SqliteStore

CHANGED = 200
_TIMES = 3


def write(path: Path, some: Sequence[Item], others: Sequence[Item]) -> dict[str, Any]:
    """Return what storing takes: some new papers by FTS5 alone, catching up with them, and others with the index in step."""
    return asyncio.run(_write(path, some, others))


async def _write(path: Path, some: Sequence[Item], others: Sequence[Item]) -> dict[str, Any]:
    plain = SqliteStore(path, exclusive=True)
    await plain.open()
    found: dict[str, Any] = {"new": {"FTS5": await _add(plain, some)}, "changed": {"FTS5": await _change(plain, some, 1)}}
    await plain.close()
    indexed = SqliteStore(path, exclusive=True, follower=IndexFollower)
    watch = Watch()
    await indexed.open()
    await indexed.index.search(parse("words"), NOW)
    follower = indexed.follower
    assert follower is not None
    found["caught up"] = {"spent": watch.spent(), "in step": follower.answered == 1, "memory": memory()}
    await follower.built()
    found["new"]["tantivy"] = await _add(indexed, others)
    found["changed"]["tantivy"] = await _change(indexed, others, 11)
    found["memory"] = memory()
    await indexed.close()
    return found


async def _add(store: SqliteStore, items: Sequence[Item]) -> Spent:
    watch = Watch()
    await store.items.add(items, NOW)
    return watch.spent()


async def _change(store: SqliteStore, items: Sequence[Item], upvotes: int) -> Spent:
    """Return the medians of storing some items with other counts."""
    spent = []
    for at in range(_TIMES):
        changed = [replace(item, upvotes=upvotes + at) for item in items[:CHANGED]]
        watch = Watch()
        await store.items.add(changed, NOW)
        spent.append(watch.spent())
    clock, processor = zip(*spent, strict=True)
    return median(clock), median(processor)
