"""Searching through the whole path, against FTS5 alone with the same SQL on the same file.

    python -m benchmarks.search --corpus papers.jsonl.xz [--corpus2 more.jsonl.xz] [--queries 200]

Measured with the first corpus stored, and again with the second one beside it. Queries are runs of one to four words of
papers' titles, as people type them. "The whole path" is text → parse → search → whole Items, on the event loop; "FTS5 alone"
runs the statements that the store runs for the same words on a plain connection and reads ids and ranks. Both are warm and
take turns query by query. The target is 1.3 times.
"""

import argparse
import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from benchmarks import corpus
from bot.models import Item
from bot.query.parse import parse
from bot.store.best import Span
from bot.store.search import find
from bot.store.sqlite import SqliteStore
from bot.store.words import STOPWORDS

NOW = datetime(2026, 4, 1, tzinfo=UTC)
SUFFIXES = ("", " sort:new", " category:cs.LG")


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


async def time_both(store: SqliteStore, texts: Sequence[str]) -> tuple[list[float], list[float]]:
    """Return milliseconds per query through the whole path, and of FTS5 alone."""
    plain = Database(sqlite3.connect(store.path))
    plain.execute("pragma cache_size = -16000")
    whole: list[float] = []
    alone: list[float] = []
    for text in texts:
        asked = statements(plain, text)
        for times in ([], whole):  # the first run warms the cache
            start = time.perf_counter()
            await store.search(parse(text), NOW, limit=10)
            times.append((time.perf_counter() - start) * 1000)
        for times in ([], alone):
            start = time.perf_counter()
            for sql, values in asked:
                plain.execute(sql, values).fetchall()
            times.append((time.perf_counter() - start) * 1000)
    plain.close()
    return whole, alone


def statements(db: Database, text: str) -> list[tuple[str, list[object]]]:
    """Return the statements that find ids and ranks for a query, with their values."""
    seen: list[tuple[str, list[object]]] = []

    class Recorded(Database):
        def execute(self, sql: str, parameters: Any = None) -> sqlite3.Cursor:
            seen.append((sql, parameters))
            return super().execute(sql, parameters)

    find(Recorded(db.conn), parse(text), NOW, Span(11))
    return seen


def report(label: str, whole: list[float], alone: list[float]) -> None:
    """Print the median and the 95th percentile of both, and their ratio."""
    cuts = [(statistics.median(times), statistics.quantiles(times, n=20)[18]) for times in (whole, alone)]
    (p50, p95), (base50, base95) = cuts
    print(f"{label:24}{p50:9.2f}{p95:9.2f}{base50:12.2f}{base95:9.2f}{p50 / base50:10.2f}{p95 / base95:7.2f}")


async def run(corpora: Sequence[Sequence[Item]], number: int, path: Path) -> None:
    """Store one corpus after the other, and each time measure every kind of query."""
    store = SqliteStore(path)
    await store.open()
    texts = queries(corpora[0], number)
    for items in corpora:
        for at in range(0, len(items), 2000):
            await store.add(items[at : at + 2000], NOW)
        print(f"{await store.count(parse('').tree, NOW)} papers, {number} queries of each kind, milliseconds")
        print(f"{'':24}{'p50':>9}{'p95':>9}{'FTS5 p50':>12}{'p95':>9}{'ratio p50':>10}{'p95':>7}")
        for suffix in SUFFIXES:
            report(f"words{suffix}", *await time_both(store, [text + suffix for text in texts]))
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
