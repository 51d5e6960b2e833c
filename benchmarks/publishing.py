"""What people wait for when they ask about a digest: a preview, why an item is not in it, a filter tried on a week.

    python -m benchmarks.publishing --corpus FILE [--week 8000]

FILE is as `benchmarks.corpus` reads it. It is stored as if its last `--week` papers had been first seen in the week before
now, evenly, and all others long before. Every topic that comes with Broadsheet asks in turn, each through a publisher of its
own, so that nothing is kept from the one before: a digest that is published first makes the index, and all else is asked of
the same publisher, what is asked again half a minute later. The baseline is to read, index and rank the whole week.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks import corpus
from bot.digest.publisher import Publisher
from bot.models import DigestRequest, Item, Topic
from bot.query import parse
from bot.rank import ItemIndex, rank
from bot.settings.topic_packs import load_packs
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive

NOW = datetime(2026, 4, 1, 8, tzinfo=UTC)
WEEK, LATER = timedelta(days=7), NOW + timedelta(seconds=30)
FILTER = parse("-survey -title:benchmark (model* OR gpu)")


async def stored(path: Path, items: Sequence[Item], week: int) -> SqliteStore:
    """Return a store of the items, the last of them first seen evenly over the week before now."""
    store = SqliteStore(path)
    await store.open()
    old, young = items[:-week], items[-week:]
    step = WEEK / (week + 1)
    fresh = [replace(each, seen=NOW - WEEK + step * (at + 1), appeared=NOW - WEEK) for at, each in enumerate(young)]
    every = [*(replace(each, seen=NOW - 30 * WEEK) for each in old), *fresh]
    for at in range(0, len(every), 2000):
        await store.items.add(every[at : at + 2000], NOW)
    return store


async def ask(store: SqliteStore, topic: Topic, times: dict[str, list[float]]) -> None:
    """Let one topic ask for everything, and note the milliseconds of processor time."""
    publisher = Publisher(store, Extractive(), {"arxiv": "arXiv"})
    request = DigestRequest(topic, "local", "local", filter=FILTER)

    async def timed(name: str, question: Callable[[], Awaitable[object]]) -> None:
        start = time.process_time()
        await question()
        times.setdefault(name, []).append((time.process_time() - start) * 1000)

    week = await since(store, NOW - WEEK)
    lately, early = await since(store, NOW - request.window), week[-1]
    await timed("a digest published", lambda: publisher.publish([request], NOW))
    await timed("a preview", lambda: publisher.preview(request, NOW))
    await timed("a preview, again", lambda: publisher.preview(request, LATER))
    await timed("why, after the preview", lambda: publisher.explain(request, lately[0], LATER))
    await timed("why, of an earlier item", lambda: publisher.explain(request, early, LATER))
    await timed("a filter tried", lambda: publisher.try_filter(request, NOW - WEEK, NOW))
    await timed(
        "a filter tried, again", lambda: publisher.try_filter(replace(request, filter=parse("gpu")), NOW - WEEK, NOW)
    )
    await timed("the week read and indexed", lambda: whole(store, topic))


async def since(store: SqliteStore, time: datetime) -> list[Item]:
    """Return what came in since then, the newest first."""
    return [item for _, item in await store.items.arrived(await store.items.arrival_before(time, NOW))]


async def whole(store: SqliteStore, topic: Topic) -> None:
    """Read and index the week, and rank it."""
    items = await since(store, NOW - WEEK)
    rank(ItemIndex(items, {}, NOW), topic)


async def run(items: Sequence[Item], week: int, path: Path) -> None:
    """Store the items and let every topic ask."""
    store = await stored(path, items, week)
    times: dict[str, list[float]] = {}
    for topic in load_packs().values():
        await ask(store, topic, times)
    await store.close()
    topics = len(times["a preview"])
    print(f"{len(items):,} papers, {week:,} of the last week; {topics} topics, milliseconds of processor time")
    for name, some in times.items():
        print(f"{name:28}p50 {statistics.median(some):8.0f}   longest {max(some):8.0f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--week", type=int, default=8000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(corpus.papers(asked.corpus), asked.week, Path(folder) / "publishing.db"))


if __name__ == "__main__":
    main()
