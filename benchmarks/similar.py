"""How good the similar items are, through the store from end to end: CSFCube's mean average precision.

    python -m benchmarks.similar --folder FOLDER

The folder holds csfcube.corpus.jsonl.gz (id, title, sents) and csfcube.anns.jsonl.gz (q, cands, rel). All papers are stored;
the store is asked what is similar to each query paper, and the judged candidates are put into the order in which it answers.
"All" lets it measure every paper that shares a telling word; "of the closest 100" is what a person gets, where candidates
that do not come count as last of all. Plain TF-IDF, over the same candidates, is that of benchmarks.ranking_quality.
"""

import argparse
import asyncio
import gzip
import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ranking_quality import csfcube, plain
from bot.models import Item, Kind
from bot.store.similar import KEPT
from bot.store.sqlite import SqliteStore

NOW = datetime(2026, 4, 1, tzinfo=UTC)
RELEVANT = 2  # the grade from which on a candidate counts
DRAWS = 1000


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the records of a packed file of JSON lines."""
    return [json.loads(line) for line in gzip.decompress((folder / f"{name}.jsonl.gz").read_bytes()).splitlines()]


def precision(answer: Sequence[str], judged: dict[str, int]) -> float:
    """Return the average precision of the judged candidates in the order of the answer, those it lacks at the end."""
    places = {key: place for place, key in enumerate(answer)}
    found = sorted(judged, key=lambda key: (places.get(key, len(answer)), judged[key] >= RELEVANT))
    ranks = [rank for rank, key in enumerate(found, 1) if judged[key] >= RELEVANT]
    return sum(at / rank for at, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0


async def by_store(folder: Path, path: Path) -> dict[str, list[float]]:
    """Return each question's average precision, with all items measured and with those that a person gets."""
    papers = [
        Item(key=paper["id"], kind=Kind.PAPER, title=paper["title"] or "", abstract=" ".join(paper["sents"]))
        for paper in read(folder, "csfcube.corpus")
    ]
    known = {paper.key: paper for paper in papers}
    store = SqliteStore(path)
    await store.open()
    await store.add(papers, NOW)
    figures: dict[str, list[float]] = {"all": [], f"of the closest {KEPT}": []}
    for question in read(folder, "csfcube.anns"):
        judged = {key: grade for key, grade in zip(question["cands"], question["rel"], strict=True) if key in known}
        for name, limit in zip(figures, (len(papers), KEPT), strict=True):
            hits = await store.similar(known[question["q"]], NOW, limit=limit)
            figures[name].append(precision([hit.item.key for hit in hits], judged))
    await store.close()
    return figures


def interval(values: Sequence[float]) -> str:
    """Return the mean with its 95 % bootstrap interval over questions."""
    random = np.random.default_rng(14)
    draws = [np.mean(random.choice(values, len(values))) for _ in range(DRAWS)]
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{np.mean(values):.3f}  [{low:.3f}, {high:.3f}]"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    folder = parser.parse_args().folder
    if not (folder / "csfcube.anns.jsonl.gz").exists():
        print("CSFCube is not in this folder.")
        return
    with tempfile.TemporaryDirectory() as scratch:
        figures = asyncio.run(by_store(folder, Path(scratch) / "similar.db"))
    for name, values in figures.items():
        print(f"CSFCube, MAP, {name:24} {interval(values)}")
    mean, low, high = csfcube(folder, plain)
    print(f"CSFCube, MAP, {'plain TF-IDF':24} {mean:.3f}  [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    main()
