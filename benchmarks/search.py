"""Searching through the whole path, against FTS5 alone with the same SQL on the same file.

    python -m benchmarks.search --corpus papers.jsonl.xz [--corpus2 more.jsonl.xz] [--queries 200]

Measured with the first corpus stored, and again with the second one beside it. Queries are runs of one to four words of
papers' titles, as people type them; "as a command" is what the search command makes of them.
"The whole path" is text → parse → search → whole Items, on the event loop. "FTS5" runs the statements that the store runs
for the same words on a plain connection and reads ids and ranks; "and data" also reads the ten records' text, as the user
gets it, and leaves it text. All are warm and take turns query by query; of three runs each, the quickest counts. The target
is 1.3 times.

"With vectors" is the same search for what is meant too, its own vector given (what that takes is measured by the benchmark
of the embedder), beside the search by words alone in the same rounds; the target is twice its p95. The vectors are real:
the items have the quick ones of a backlog, the queries the transformer's. About twice as many items are near so as with the
transformer's own, so nothing is made easier. A second line gives the processor's milliseconds, which another program beside
it hardly changes.

benchmarks.growth asks the same queries of both engines as a collection grows.
"""

import argparse
import asyncio
import json
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from benchmarks import corpus
from bot.embed import shipped
from bot.embed.shipped import LocalEmbedder
from bot.handlers.search.query import read_search
from bot.models import Item, Near, Query
from bot.models.vectors import NEAR, pack, text_of_item
from bot.query.parse import parse
from bot.store.rules.search_terms import STOPWORDS
from bot.store.sqlite.search.best import Span
from bot.store.sqlite.search.find import find
from bot.store.sqlite.store import SqliteStore

NOW = datetime(2026, 4, 1, tzinfo=UTC)
LIMIT = 10
RUNS = 3
RECORDS = "select data from json_each(?) join records on records.id = json_each.value"
Read = Callable[[str], Query]
KINDS: dict[str, Read] = {
    "words": parse,
    "words sort:new": lambda text: parse(f"{text} sort:new"),
    "words category:cs.LG": lambda text: parse(f"{text} category:cs.LG"),
    "words, as a command": lambda text: read_search(text).query,
}
HYBRID = ("words", "words category:cs.LG")
SPACE = LocalEmbedder().space
Statement = tuple[str, list[object]]


def queries(items: Sequence[Item], number: int) -> list[str]:
    """Return runs of one to four words of titles, not beginning or ending in a function word."""
    chance = random.Random(7)
    found: list[str] = []
    while len(found) < number:
        words = [word for word in chance.choice(items).title.split() if word.isalnum()]
        length = chance.choice((1, 2, 2, 3, 3, 4))
        at = chance.randrange(max(1, len(words) - length + 1))
        run = words[at : at + length]
        if len(run) == length and not {run[0].lower(), run[-1].lower()} & STOPWORDS:
            found.append(" ".join(run))
    return found


Times = tuple[list[float], list[float], list[float]]


async def time_all(store: SqliteStore, read: Read, texts: Sequence[str]) -> Times:
    """Return milliseconds per query through the whole path, of FTS5 alone, and of FTS5 with the records' text."""
    plain = Database(sqlite3.connect(store.path))
    plain.execute("pragma cache_size = -16000")
    times: Times = ([], [], [])
    for text in texts:
        asked = statements(plain, read(text))
        # The first one of each warms the caches: that of the connection and that of the processor.
        whole = [await search_once(store, partial(read, text)) for _ in range(1 + RUNS)][1:]
        bases = [ask_once(plain, asked) for _ in range(1 + RUNS)][1:]
        for kept, each in zip(times, (whole, *zip(*bases, strict=True)), strict=True):
            kept.append(min(each))
    plain.close()
    return times


async def search_once(store: SqliteStore, query: Callable[[], Query], near: Near | None = None) -> float:
    """Return the milliseconds of the whole path."""
    begin = time.perf_counter()
    await store.index.search(query(), NOW, limit=LIMIT, near=near)
    return 1000 * (time.perf_counter() - begin)


async def embed_all(store: SqliteStore) -> None:
    """Give every item its vector."""
    while items := await store.vectors.lacking(SPACE, limit=2000):
        rows = shipped.table().encode([text_of_item(item) for item in items])
        await store.vectors.save(SPACE, items, pack(rows), quick=True)


async def time_hybrid(store: SqliteStore, read: Read, asked: Mapping[str, Near]) -> NDArray[np.float64]:
    """Return milliseconds per query with vectors, and by words alone; by the clock, and of the processor."""
    times = []
    for text, near in asked.items():
        runs = [[await time_once(store, partial(read, text), each) for each in (near, None)] for _ in range(1 + RUNS)]
        times.append(np.array(runs[1:]).min(axis=0))
    return np.stack(times, axis=-1).transpose(1, 0, 2)


async def time_once(store: SqliteStore, query: Callable[[], Query], near: Near | None) -> tuple[float, float]:
    """Return the milliseconds of the whole path, and those of the processor, in whatever thread."""
    begin = time.process_time()
    clock = await search_once(store, query, near)
    return clock, 1000 * (time.process_time() - begin)


def ask_once(plain: Database, asked: Sequence[Statement]) -> tuple[float, float]:
    """Return the milliseconds of the statements alone, and with reading what they found."""
    begin = time.perf_counter()
    *_, found = [plain.execute(sql, values).fetchall() for sql, values in asked]
    matched = time.perf_counter()
    plain.execute(RECORDS, [json.dumps([number for number, *_ in found[:LIMIT]])]).fetchall()
    return 1000 * (matched - begin), 1000 * (time.perf_counter() - begin)


def statements(db: Database, query: Query) -> list[Statement]:
    """Return the statements that find ids and ranks for a query, with their values."""
    seen: list[Statement] = []

    class Recorded(Database):
        def execute(self, sql: str, parameters: Any = None) -> sqlite3.Cursor:
            seen.append((sql, parameters))
            return super().execute(sql, parameters)

    find(Recorded(db.conn), query, NOW, Span(LIMIT + 1))
    return seen


def report(label: str, whole: Sequence[float], *bases: Sequence[float]) -> None:
    """Print the median, the 95th and the 99th percentile of all, and the ratios of the first two to either base."""
    cuts = [[statistics.quantiles(times, n=100)[at - 1] for at in (50, 95, 99)] for times in (whole, *bases)]
    ratios = [ours / base for cut in cuts[1:] for ours, base in zip(cuts[0][:2], cut, strict=False)]
    cells = "".join(f"{value:8.2f}" for cut in cuts for value in cut)
    print(f"{label:24}{cells}   {''.join(f'{ratio:7.2f}' for ratio in ratios)}", flush=True)


async def run(corpora: Sequence[Sequence[Item]], number: int, path: Path) -> None:
    """Store one corpus after the other, and each time measure every kind of query."""
    store = SqliteStore(path)
    await store.open()
    texts = queries(corpora[0], number)
    vectors = pack(shipped.minilm().encode(texts))
    asked = {text: Near(SPACE, vector, NEAR) for text, vector in zip(texts, vectors, strict=True)}
    for items in corpora:
        await corpus.store_all(store, items, NOW)
        print(f"{await store.index.count(parse('').tree, NOW)} papers, {number} queries of each kind, milliseconds")
        print(f"{'':24}{'whole':>8}{'':16}{'FTS5':>8}{'':16}{'and data':>8}{'':16}    whole/FTS5   and data")
        print(" " * 24 + f"{'p50':>8}{'p95':>8}{'p99':>8}" * 3 + "   " + f"{'p50':>7}{'p95':>7}" * 2)
        for name, read in KINDS.items():
            report(name, *await time_all(store, read, texts))
        await embed_all(store)
        print(f"{'':24}{'with vectors':>16}{'':8}{'by words alone':>16}{'':10}ratio")
        for name in HYBRID:
            clock, processor = await time_hybrid(store, KINDS[name], asked)
            report(name, *clock)
            report("  processor", *processor)
    await store.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--corpus2", type=Path)
    parser.add_argument("--queries", type=int, default=200)
    asked = parser.parse_args()
    corpora = [corpus.papers(path) for path in (asked.corpus, asked.corpus2) if path is not None]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(corpora, asked.queries, Path(folder) / "search.db"))


if __name__ == "__main__":
    main()
