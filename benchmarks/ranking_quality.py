"""How well closeness to examples ranks, on public judgements: ours beside a plain TF-IDF, with intervals.

    python -m benchmarks.ranking_quality --folder FOLDER

evaluates whichever of these it finds there, as gzipped JSON lines:

    goldstandard.{papers,profiles,ratings}   papers rated 1-5 by researchers, whose own papers are the examples: the loss of
        I. Stelmakh and others, "A Gold Standard Dataset for the Reviewer Assignment Problem", 2023: over all pairs that one
        researcher rated differently, the difference of the ratings where the order is wrong (half of it on a tie), divided
        by the sum of all differences; averaged over the sets of profiles. Lower is better.
    csfcube.{corpus,anns}                    one paper as the example, candidates graded 0-3 by facet: mean average
        precision, grades 2 and 3 being relevant. Higher is better.
    slr.*                                    a screening set: ten relevant papers as examples, average precision on the
        others, mean of twenty draws. Higher is better.

The baseline counts words as they stand (lower case, nothing left out): raw frequency times log(N / df), cosine. Both take
the mean of the three nearest examples. Intervals: 95 %, 1,000 bootstrap draws over researchers, queries or draws.
"""

import argparse
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from bot.models import Item, Kind
from bot.rank import Edition
from bot.rank.vectors import Floats
from bot.rank.weights import NEAREST

Record = dict[str, Any]
Closeness = Callable[[int], Floats]  # from one paper's number to its closeness to every paper
Maker = Callable[[Sequence[Record]], Closeness]
Figure = tuple[float, float, float]  # and its interval

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_SEED = 14
_DRAWS = 1000
_EXAMPLES = 10
_TRIES = 20
_RELEVANT = 2  # csfcube's grade from which on a candidate counts


def ours(papers: Sequence[Record]) -> Closeness:
    """Return closeness as the service measures it."""
    items = [
        Item(key=f"url:{number}", kind=Kind.PAPER, title=paper["title"] or "", abstract=paper["abstract"] or "")
        for number, paper in enumerate(papers)
    ]
    edition = Edition(items, {}, _NOW)
    return cache(lambda number: edition.closeness(items[number]))


def plain(papers: Sequence[Record]) -> Closeness:
    """Return the cosine of plain TF-IDF vectors."""
    bags = [Counter(re.findall(r"\w+", f"{paper['title']} {paper['abstract']}".lower())) for paper in papers]
    numbers = {word: number for number, word in enumerate(sorted({word for bag in bags for word in bag}))}
    table = np.zeros((len(bags), len(numbers)), np.float32)
    for row, bag in zip(table, bags, strict=True):
        row[[numbers[word] for word in bag]] = list(bag.values())
    table *= np.log(len(bags) / (table > 0).sum(axis=0))
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    return cache(lambda number: np.asarray(table @ table[number], float))


def nearest(closeness: Closeness, examples: Sequence[int]) -> Floats:
    """Return every paper's mean closeness to its nearest examples."""
    every = np.sort(np.stack([closeness(example) for example in examples]), axis=0)
    return np.asarray(every[-NEAREST:].mean(axis=0), float)


# --- gold standard -------------------------------------------------------------------------------------------------


def goldstandard(folder: Path, make: Maker) -> Figure:
    """Return the loss and its interval."""
    papers = _read(folder, "goldstandard.papers")
    numbers = {paper["id"]: number for number, paper in enumerate(papers)}
    closeness = make(papers)
    rated: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for rating in _read(folder, "goldstandard.ratings"):
        if rating["paper"] in numbers:
            rated[rating["user"]].append((numbers[rating["paper"]], rating["rating"]))
    sums: dict[int, dict[str, tuple[float, float]]] = defaultdict(dict)
    for profile in _read(folder, "goldstandard.profiles"):
        examples = [numbers[paper] for paper in profile["profile"] if paper in numbers]
        scores = nearest(closeness, examples)
        sums[profile["set"]][profile["user"]] = _misplaced(
            [(scores[paper], given) for paper, given in rated[profile["user"]]]
        )
    users = sorted({user for each in sums.values() for user in each})
    table = np.array([[each.get(user, (0.0, 0.0)) for user in users] for each in sums.values()])

    def loss(chosen: Sequence[int]) -> float:
        both = table[:, chosen].sum(axis=1)
        return float((both[:, 0] / both[:, 1]).mean())

    return _interval(loss, len(users))


def _misplaced(rated: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The sum of what is wrong, and of what could be."""
    wrong = possible = 0.0
    for at, (score, rating) in enumerate(rated):
        for other_score, other_rating in rated[:at]:
            difference = abs(rating - other_rating)
            product = (score - other_score) * (rating - other_rating)
            possible += difference
            wrong += difference * (1.0 if product < 0 else 0.5 if product == 0 else 0.0)
    return wrong, possible


# --- similar papers, screening -------------------------------------------------------------------------------------


def csfcube(folder: Path, make: Maker) -> Figure:
    """Return the mean average precision and its interval."""
    papers = [paper | {"abstract": " ".join(paper["sents"])} for paper in _read(folder, "csfcube.corpus")]
    numbers = {paper["id"]: number for number, paper in enumerate(papers)}
    closeness = make(papers)
    precisions = []
    for asked in _read(folder, "csfcube.anns"):
        found = [(numbers[each], grade) for each, grade in zip(asked["cands"], asked["rel"], strict=True) if each in numbers]
        scores = closeness(numbers[asked["q"]])[[number for number, _ in found]]
        precisions.append(_precision(scores, np.array([grade >= _RELEVANT for _, grade in found])))
    return _interval(lambda chosen: float(np.mean([precisions[each] for each in chosen])), len(precisions))


def screening(folder: Path, name: str, make: Maker) -> Figure:
    """Return the mean average precision with ten examples, and its interval over the draws."""
    papers = _read(folder, name)
    closeness = make(papers)
    relevant = np.array([bool(paper["label"]) for paper in papers])
    random = np.random.default_rng(_SEED)
    precisions = []
    for _ in range(_TRIES):
        examples = random.choice(np.flatnonzero(relevant), _EXAMPLES, replace=False)
        others = np.setdiff1d(np.arange(len(papers)), examples)
        scores = nearest(closeness, [int(example) for example in examples])
        precisions.append(_precision(scores[others], relevant[others]))
    return _interval(lambda chosen: float(np.mean([precisions[each] for each in chosen])), len(precisions))


def _precision(scores: Floats, relevant: np.ndarray[Any, np.dtype[np.bool_]]) -> float:
    """Average precision of the order of the scores."""
    hits = relevant[np.argsort(-scores, kind="stable")]
    ranks = np.flatnonzero(hits) + 1
    return float((np.arange(1, len(ranks) + 1) / ranks).mean()) if len(ranks) else 0.0


# --- the run -------------------------------------------------------------------------------------------------------


def _interval(figure: Callable[[Sequence[int]], float], count: int) -> Figure:
    random = np.random.default_rng(_SEED)
    draws = [figure(random.integers(count, size=count).tolist()) for _ in range(_DRAWS)]
    low, high = np.percentile(draws, [2.5, 97.5])
    return figure(range(count)), float(low), float(high)


def _read(folder: Path, name: str) -> list[Record]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _tasks(folder: Path) -> dict[str, Callable[[Maker], Figure]]:
    names = {path.name.removesuffix(".jsonl.gz") for path in folder.glob("*.jsonl.gz")}
    tasks: dict[str, Callable[[Maker], Figure]] = {}
    if {"goldstandard.papers", "goldstandard.profiles", "goldstandard.ratings"} <= names:
        tasks["gold standard, loss (lower is better)"] = partial(goldstandard, folder)
    if {"csfcube.corpus", "csfcube.anns"} <= names:
        tasks["CSFCube, MAP"] = partial(csfcube, folder)
    for name in sorted(each for each in names if each.startswith("slr.")):
        tasks[f"{name}, AP with {_EXAMPLES} examples"] = partial(screening, folder, name)
    return tasks


def main() -> None:
    """Print a line per known file that is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the files are")
    tasks = _tasks(parser.parse_args().folder)
    if not tasks:
        print("None of the known files is in this folder.")
    for name, task in tasks.items():
        for maker, make in (("ours", ours), ("plain TF-IDF", plain)):
            figure, low, high = task(make)
            print(f"{name:45} {maker:14} {figure:.3f}  [{low:.3f}, {high:.3f}]", flush=True)


if __name__ == "__main__":
    main()
