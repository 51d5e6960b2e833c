"""Storing a corpus through the store's real path, against sqlite-utils alone on the same rows.

    python -m benchmarks.ingest --corpus papers.jsonl.xz [--rounds 3]

Three ways, by turns, each in a child process of its own: (a) `insert_all` of plain rows; (b) the same with a full-text table
kept by triggers; and the store, which also keeps labels, aliases, a vocabulary and a narrow table for filters. Reading the
corpus is not counted. The target is at most twice (a).
"""

import argparse
import asyncio
import gc
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from benchmarks import corpus
from bot.models import Item
from bot.store.sqlite.store import SqliteStore

BATCH = 2000  # items to a transaction, as a backfill gives them
NOW = datetime(2026, 4, 1, tzinfo=UTC)


def plain_rows(path: Path, rows: Sequence[dict[str, Any]], _: Sequence[Item]) -> None:
    """Insert the rows with sqlite-utils."""
    Database(path).table("papers").insert_all(rows, pk="id")


def rows_and_triggers(path: Path, rows: Sequence[dict[str, Any]], _: Sequence[Item]) -> None:
    """Insert the rows with sqlite-utils, triggers filling a full-text table of title and abstract."""
    table = Database(path).table("papers")
    table.insert(rows[0], pk="id")
    table.enable_fts(["title", "abstract"], tokenize="porter", create_triggers=True)
    table.insert_all(rows[1:], pk="id")


def store(path: Path, _: Sequence[dict[str, Any]], items: Sequence[Item]) -> None:
    """Add the items to the store, batch by batch."""

    async def run() -> None:
        made = SqliteStore(path, exclusive=True)
        await made.open()
        for at in range(0, len(items), BATCH):
            await made.items.add(items[at : at + BATCH], NOW)
        await made.close()

    asyncio.run(run())


WAYS: dict[str, Callable[[Path, Sequence[dict[str, Any]], Sequence[Item]], None]] = {
    "(a) insert_all": plain_rows,
    "(b) insert_all, FTS by triggers": rows_and_triggers,
    "the store": store,
}


def measure(way: str, rows: Sequence[dict[str, Any]], items: Sequence[Item]) -> tuple[float, float, float]:
    """Return seconds, MiB of memory above the start, and MiB of file for one way, in a process forked for it."""
    parent, child = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_run, args=(way, rows, items, child))
    process.start()
    figures: tuple[float, float, float] = parent.recv()
    process.join()
    return figures


def _run(way: str, rows: Sequence[dict[str, Any]], items: Sequence[Item], answer: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        before = _resident()
        start = time.perf_counter()
        WAYS[way](path, rows, items)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        answer.send((seconds, peak - before, path.stat().st_size / 2**20))


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def main() -> None:
    """Measure and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=int)
    asked = parser.parse_args()
    rows, items = corpus.rows(asked.corpus, asked.limit), corpus.papers(asked.corpus, asked.limit)
    gc.freeze()  # else the children's collector copies the corpus, page by page, while they are timed
    figures: dict[str, list[tuple[float, float, float]]] = {way: [] for way in WAYS}
    for _ in range(asked.rounds):
        for way in WAYS:
            figures[way].append(measure(way, rows, items))
    medians = {way: [statistics.median(column) for column in zip(*runs, strict=True)] for way, runs in figures.items()}
    base, triggers = (medians[way][0] for way in list(WAYS)[:2])
    print(f"{len(items)} papers, medians of {asked.rounds} rounds")
    print(f"{'':34}{'s':>8}{'papers/s':>10}{'+MiB':>8}{'file MiB':>10}{'x (a)':>8}{'x (b)':>8}")
    for way, (seconds, memory, size) in medians.items():
        rate = len(items) / seconds
        print(f"{way:34}{seconds:8.2f}{rate:10.0f}{memory:8.0f}{size:10.0f}{seconds / base:8.2f}{seconds / triggers:8.2f}")


if __name__ == "__main__":
    main()
