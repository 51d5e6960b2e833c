"""How good the order of a search is: nDCG@10 on judged collections, beside FTS5 with its own stemmer.

    python -m benchmarks.search_quality --folder FOLDER

The folder holds, for each collection, NAME.corpus.jsonl.gz (id, title, and text or sents) and NAME.queries.jsonl.gz or
NAME.train.jsonl.gz (q, and rel or cited: the ids of what is relevant), such as SciFact, CACM and Cranfield. The baseline is
an FTS5 table of title and text with the `porter` tokeniser: the query's words quoted and joined by OR, bm25 with the title
twice.
"""

import argparse
import asyncio
import gzip
import json
import math
import re
import sqlite3
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.models import And, Item, Kind, Query, Term
from bot.store.sqlite import SqliteStore

NOW = datetime(2026, 4, 1, tzinfo=UTC)
TOP = 10


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records of a packed file of JSON lines."""
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def gain(found: Sequence[str], relevant: set[str]) -> float:
    """Return nDCG@10 with gains of 0 and 1 (Järvelin and Kekäläinen, 2002)."""
    got = sum(1 / math.log2(at + 2) for at, key in enumerate(found[:TOP]) if key in relevant)
    best = sum(1 / math.log2(at + 2) for at in range(min(TOP, len(relevant))))
    return got / best


async def by_store(documents: Sequence[dict[str, Any]], asked: Sequence[str], folder: Path) -> list[list[str]]:
    """Return the ids that the store finds for each question, every word of it a bare word."""
    store = SqliteStore(folder / "store.db")
    await store.open()
    await store.add(
        [Item(key=doc["id"], kind=Kind.PAPER, title=doc["title"], abstract=doc["text"]) for doc in documents], NOW
    )
    trees = [And(tuple(Term(word) for word in re.findall(r"[\w-]*\w", text))) for text in asked]
    pages = [await store.search(Query("", tree), NOW, limit=TOP) for tree in trees]
    await store.close()
    return [[hit.item.key for hit in page.hits] for page in pages]


def by_porter(documents: Sequence[dict[str, Any]], asked: Sequence[str]) -> list[list[str]]:
    """Return the ids that FTS5's own stemmer finds."""
    db = sqlite3.connect(":memory:")
    db.execute("create virtual table docs using fts5(key unindexed, title, body, tokenize='porter unicode61')")
    db.executemany("insert into docs values (?, ?, ?)", [(doc["id"], doc["title"], doc["text"]) for doc in documents])
    sql = "select key from docs where docs match ? order by bm25(docs, 0, 2.0, 1.0) limit 10"
    matches = [" OR ".join(f'"{word}"' for word in re.findall(r"\w+", text)) for text in asked]
    return [[key for (key,) in db.execute(sql, [match])] for match in matches]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    folder = parser.parse_args().folder
    print(f"{'nDCG@10':16}{'questions':>10}{'the store':>11}{'FTS5 porter':>13}")
    for corpus in sorted(folder.glob("*.corpus.jsonl.gz")):
        name = corpus.name.partition(".")[0]
        judged = [path for ending in ("queries", "test", "train") if (path := folder / f"{name}.{ending}.jsonl.gz").exists()]
        if judged:
            compare(name, read(corpus), read(judged[0]))


def compare(name: str, documents: Sequence[dict[str, Any]], questions: Sequence[dict[str, Any]]) -> None:
    """Print one collection's line."""
    for doc in documents:
        doc.setdefault("text", " ".join(doc.get("sents", ())))
        doc.setdefault("title", "")
    relevant = [(row["q"], set(row.get("cited") or row["rel"])) for row in questions if row.get("cited") or row.get("rel")]
    asked = [text for text, _ in relevant]
    with tempfile.TemporaryDirectory() as folder:
        ways = (asyncio.run(by_store(documents, asked, Path(folder))), by_porter(documents, asked))
    means = [sum(gain(found, right) for found, (_, right) in zip(way, relevant, strict=True)) / len(asked) for way in ways]
    print(f"{name:16}{len(asked):10}{means[0]:11.3f}{means[1]:13.3f}")


if __name__ == "__main__":
    main()
