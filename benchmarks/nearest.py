"""The closest of many vectors: how long it takes to be ready after a start, what memory that holds, milliseconds, recall.

    python -m benchmarks.nearest DATABASE … --corpus papers.jsonl.xz [--queries 150]

Each database has vectors of the shipped model's space, as those have that benchmarks.search makes. It is opened to be read,
and the file of its vectors is made beside it where there is none. Queries are runs of words of titles, encoded by the
transformer. A process of its own is ready for the first time (the file is made), then a second one (it is mapped), and a
third one keeps all vectors in memory. Processor time, the best of three; recall is against all exact products.
"""

import argparse
import multiprocessing
import re
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from benchmarks import corpus
from benchmarks.search import SPACE, queries
from bot.embed import shipped
from bot.models import Near
from bot.models.vectors import NEAR, pack, split, unpack
from bot.store.rules.nearest import Ids
from bot.store.sqlite.connections import connect
from bot.store.sqlite.search.meaning import VectorCopy

NUMBER = 200
RUNS = 3


def memory() -> str:
    """Return what this process holds of memory: its own, and of files that the system may drop; in MiB."""
    text = Path("/proc/self/smaps_rollup").read_text("ascii")
    rss, own = (int(re.findall(rf"^{name}: +(\d+)", text, re.MULTILINE)[0]) // 1024 for name in ("Rss", "Anonymous"))
    return f"{own} MiB and {rss - own} of files"


def opened(path: Path) -> Database:
    """Return a connection that reads, at one state of the database."""
    db = connect(path, read_only=True)
    db.execute("begin")
    db.execute("select count(*) from facts").fetchone()
    return db


def measure(path: Path, asked: Sequence[bytes], label: str, copy: VectorCopy) -> None:
    """Print one line: until ready, memory before and after, milliseconds of the closest and of all that are near."""
    db, near = opened(path), [Near(SPACE, vector, NEAR) for vector in asked]
    before, began, clock = memory(), time.process_time(), time.perf_counter()
    copy.follow(db, near[0])
    ready = f"{time.process_time() - began:.3f} s ({time.perf_counter() - clock:.3f} by the clock)"
    times = np.empty((2, RUNS, len(near)))
    for run in range(RUNS):
        for at, each in enumerate(near):
            begin = time.process_time()
            copy.closest(db, each, NUMBER)
            between = time.process_time()
            copy.near(db, each)
            times[:, run, at] = between - begin, time.process_time() - between
    cuts = np.percentile(times.min(axis=1) * 1000, (50, 95, 99), axis=1).T.round(2).tolist()
    print(
        f"{label:10} ready {ready}; {before}, then {memory()}; closest p50/p95/p99 {cuts[0]} ms, near {cuts[1]}", flush=True
    )


def recall(path: Path, asked: Sequence[bytes]) -> None:
    """Print which share of the closest 10, 100 and 200 is found."""
    db, vectors = opened(path), unpack(asked)
    copy, numbers = VectorCopy(path), (10, 100, NUMBER)
    best: list[tuple[Ids, np.ndarray[tuple[int], np.dtype[np.float32]]]] = [
        (np.empty(0, np.int64), np.empty(0, np.float32)) for _ in asked
    ]
    rows = db.execute("select item, vector from vectors where length(vector) = ?", [len(asked[0])])
    while some := rows.fetchmany(8192):
        ids = np.array([item for item, _ in some], np.int64)
        steps, scales = split([vector for _, vector in some])
        cosines = vectors @ steps.astype(np.float32).T * scales
        for at, (known, values) in enumerate(best):
            known, values = np.append(known, ids), np.append(values, cosines[at])
            kept = np.argsort(-values)[:NUMBER]
            best[at] = known[kept], values[kept]
    found = [copy.closest(db, Near(SPACE, vector, NEAR), NUMBER).ids for vector in asked]
    shares = [
        np.mean(
            [len(np.intersect1d(right[:number], ids[:number])) / number for (right, _), ids in zip(best, found, strict=True)]
        )
        for number in numbers
    ]
    print(f"{'recall':10} {', '.join(f'@{number} {share:.4f}' for number, share in zip(numbers, shares, strict=True))}")


def main() -> None:
    """Measure each database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("databases", nargs="+", type=Path)
    parser.add_argument("--corpus", required=True, type=Path)
    parser.add_argument("--queries", type=int, default=150)
    given = parser.parse_args()
    texts = queries([corpus.paper(row) for row in corpus.rows(given.corpus)], given.queries)
    asked = pack(shipped.minilm().encode(texts))
    fresh = multiprocessing.get_context("spawn")
    for path in given.databases:
        print(path.name, f"{len(asked)} queries", flush=True)
        for label in ("made", "mapped", "in memory"):
            process = fresh.Process(target=_measure, args=(path, asked, label))
            process.start()
            process.join()
        recall(path, asked)


def _measure(path: Path, asked: Sequence[bytes], label: str) -> None:
    measure(path, asked, label, VectorCopy() if label == "in memory" else VectorCopy(path))


if __name__ == "__main__":
    main()
