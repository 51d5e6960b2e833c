"""Searching by FTS5 and by the index of tantivy beside the database, the same queries on the same items in the same run.

    python -m benchmarks.engines --corpus papers.jsonl.xz [--corpus2 more.jsonl.xz] [--queries 100]

Queries are runs of one to four words of titles, as in benchmarks.search, asked in ten ways through the whole path: text,
parse, search, ten whole items. The quickest of three runs counts; both engines take turns query by query. A line has the
50th, the 95th and the 99th percentile by the clock and of the processor, in milliseconds, of either engine; on how many of
the queries both show the same page; and how much of FTS5's page is on the other's. In orders other than the best match all
pages must be the same. Before stand what storing took, what making the index took, and how large both are; behind, what
storing 200 changed items takes with and without the index.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import corpus
from benchmarks.search import NOW, SPACE, embed_all, queries
from bot.embed import shipped
from bot.models import Item, Near, Query
from bot.models.vectors import NEAR, pack
from bot.query.parse import parse
from bot.store.index.follower import IndexFollower
from bot.store.sqlite.store import SqliteStore, index_folder

KINDS: Mapping[str, str] = {
    "words": "{0}",
    "words cat:cs.LG": "{0} category:cs.LG",
    "words sort:new": "{0} sort:new",
    "phrase": '"{0}"',
    "words published:90d": "{0} published:90d",
    "prefix sort:new": "{1}* sort:new",
    "alternatives": "{2}",
    "(a* OR b*) dated": "(a* OR b*) cat:cs.CR published:7d",
    "with vectors": "{0}",
    "with vectors, 90d": "{0} published:90d",
}
CUTS = (50, 95, 99)
RUNS = 3
CHANGED = 200
Times = tuple[float, float]


async def once(store: SqliteStore, query: Query, near: Near | None) -> tuple[Times, list[str]]:
    """Return the milliseconds of a search by the clock and of the processor, and the keys of what it shows."""
    clock, processor = time.perf_counter(), time.process_time()
    page = await store.index.search(query, NOW, near=near)
    spent = 1000 * (time.perf_counter() - clock), 1000 * (time.process_time() - processor)
    return spent, [hit.item.key for hit in page.hits]


async def compare(stores: Sequence[SqliteStore], name: str, asked: Mapping[str, Near]) -> None:
    """Measure one kind of query on all stores, and print its line."""
    times: list[list[Times]] = [[] for _ in stores]
    same, shown, common = 0, 0, 0
    for text, near in asked.items():
        query = parse(KINDS[name].format(text, text[:3], " OR ".join([*text.split(), "model"])))
        pages = []
        for store, kept in zip(stores, times, strict=True):
            runs = [await once(store, query, near if "vectors" in name else None) for _ in range(RUNS)]
            kept.append((min(spent[0] for spent, _ in runs), min(spent[1] for spent, _ in runs)))
            pages.append(runs[0][1])
        same += pages[0] == pages[1]
        shown += len(pages[0])
        common += len(set(pages[0]) & set(pages[1]))
    cells = "".join(f"  {cuts([time[which] for time in kept])}" for which in (0, 1) for kept in times)
    print(f"{name:20}{cells}   {same:4} of {len(asked)}  {common / max(1, shown):.3f}", flush=True)


def cuts(times: Sequence[float]) -> str:
    """Return the percentiles as text."""
    found = statistics.quantiles(times, n=100)
    return "".join(f"{found[at - 1]:8.2f}" for at in CUTS)


def sizes(path: Path) -> str:
    """Return how large database and index are."""
    index = sum(file.stat().st_size for file in index_folder(path).iterdir())
    return f"the database {path.stat().st_size / 1e6:.0f} MB, with vectors; the index {index / 1e6:.0f} MB"


async def timed(what: str, work: Callable[[], Awaitable[object]]) -> None:
    """Print what some awaitable work takes, in seconds by the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    await work()
    print(f"{what}: {time.perf_counter() - clock:.2f} s, of a processor {time.process_time() - processor:.2f} s", flush=True)


async def run(items: Sequence[Item], number: int, path: Path) -> None:
    """Store the items, make the index, and measure every kind of query."""
    plain, beside = SqliteStore(path), SqliteStore(path, follower=IndexFollower)
    await plain.open()
    await timed(f"storing {len(items)} papers", lambda: corpus.store_all(plain, items, NOW))
    await embed_all(plain)
    follower = beside.follower
    assert follower is not None
    await beside.open()
    await timed("making the index", follower.built)
    print(await asyncio.to_thread(sizes, path))
    texts = queries(items, number)
    vectors = pack(shipped.minilm().encode(texts))
    asked = {text: Near(SPACE, vector, NEAR) for text, vector in zip(texts, vectors, strict=True)}
    print("by the clock: FTS5, tantivy; processor: FTS5, tantivy")
    for name in KINDS:
        await compare((plain, beside), name, dict(list(asked.items())[:10]) if "a*" in name else asked)
    print(f"asked of the index {follower.asked}, answered by it {follower.answered}")
    for what, store in (("without the index", plain), ("with it", beside)):
        for upvotes in range(3):
            changed = [replace(item, upvotes=upvotes + 10 * (store is plain)) for item in items[:CHANGED]]
            await timed(f"storing {CHANGED} changed items {what}", lambda: store.items.add(changed, NOW))  # noqa: B023 - awaited at once
    await beside.close()
    await plain.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--corpus2", type=Path)
    parser.add_argument("--queries", type=int, default=100)
    given = parser.parse_args()
    items = [item for path in (given.corpus, given.corpus2) if path is not None for item in corpus.papers(path)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asyncio.run(run(items, given.queries, Path(folder) / "engines.db"))


if __name__ == "__main__":
    main()
