"""What readers of Daily Papers upvoted: each day's arXiv papers of the corpus, ranked without knowing any upvotes.

The days are spread evenly over those that have a hundred papers, five of which were on Hugging Face, and 28 recorded days
before them. Gains are log2(1 + the most upvotes that any day's file has), 0 for what was never on Hugging Face; nDCG@10 per
day.

"What was upvoted before" is a topic that states nothing and has, of the 28 days before, the thirty papers with most upvotes
marked more, and thirty drawn of those that were not on Hugging Face marked less, as far as the files of days before the one
that is ranked say it. Baselines know the same: plain TF-IDF's centroid of the thirty, the mean of the three nearest, and a
linear SVM of the thirty against the rest.

"The shipped topics" ranks for each pack what its query admits of the day, where that is more than ten papers of which one at
least was upvoted; a day's figure is the mean over packs. Baselines: FTS5 for the pack's title and description, plain TF-IDF
with its examples, and any order.
"""

import asyncio
import gzip
import json
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np

from benchmarks.corpus import papers
from benchmarks.quality.baselines import Plain, Porter
from benchmarks.quality.embedding import Embedding
from benchmarks.quality.figures import Figure, of_values
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.metrics import TOP, Floats, ndcg
from benchmarks.quality.topic_scores import BLANK, scores
from bot.models import Item, Topic
from bot.models.vectors import pack as packed
from bot.rank import ItemIndex, MarkedItem
from bot.settings.topic_packs import read_pack

_BEFORE, _MARKED = 28, 30
_PAPERS, _UPVOTED = 100, 5
_SEED = 5
_PACKS = Path(__file__).parents[2] / "config" / "topics"

Way = tuple[str, Floats]  # and its scores for the candidates
Upvotes = Mapping[str, Sequence[tuple[date, int]]]  # of each paper's key, what each day's file has


@dataclass(frozen=True, slots=True)
class Day:
    """The candidates of a day with their gains, and what was marked before it."""

    items: tuple[Item, ...]
    gains: Floats
    more: tuple[Item, ...]
    less: tuple[Item, ...]
    now: datetime


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield both figures; they need the corpus and the days of Hugging Face."""
    if given.corpus is None or given.hf is None:
        return
    chosen = days(papers(given.corpus), upvotes(given.hf), given.days)
    if not chosen:
        return
    packs = [read_pack(path.read_text(encoding="utf-8"), path.name) for path in sorted(_PACKS.glob("*.toml"))]
    vectors = asyncio.run(_vectors(given.embedding, chosen, packs))
    for name, ways in (
        ("what was upvoted before", [_readers(*each) for each in zip(chosen, vectors, strict=True)]),
        ("the shipped topics", [_topics(*each, packs) for each in zip(chosen, vectors, strict=True)]),
    ):
        values = {way: [day[way] for day in ways if day] for way in ways[0]}
        ours = [of_values(way, found) for way, found in values.items() if way in {"ours", "words alone"}]
        beside = [of_values(way, found) for way, found in values.items() if way not in {"ours", "words alone"}]
        yield Figure("Daily Papers", f"nDCG@10, {name}", ours, beside, len(chosen), "days")


async def _vectors(embedding: Embedding | None, chosen: Sequence[Day], packs: Sequence[Topic]) -> list[Mapping[str, bytes]]:
    """Of each day those of its items, by key, and of the packs' examples, by text."""
    if embedding is None:
        return [{}] * len(chosen)
    texts = [text for pack in packs for text in pack.examples]
    told = dict(zip(texts, packed(await embedding.texts(texts)), strict=True))
    return [told | await embedding.packed([*day.items, *day.more, *day.less]) for day in chosen]


# --- the days ------------------------------------------------------------------------------------------------------


def upvotes(folder: Path) -> Upvotes:
    """Return of each paper's key the days whose files have it, and its upvotes there."""
    found: defaultdict[str, list[tuple[date, int]]] = defaultdict(list)
    for path in sorted(folder.glob("*.json.gz")):
        day = date.fromisoformat(path.name[:10])
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for paper in (entry["paper"] for entry in json.load(file)):
                found[f"arxiv:{paper['id']}"].append((day, paper.get("upvotes") or 0))
    return found


def most(voted: Upvotes, before: date = date.max) -> dict[str, int]:
    """Return of each paper that a file before this day has the most upvotes that such a file has."""
    known = {key: [count for day, count in counts if day < before] for key, counts in voted.items()}
    return {key: max(counts) for key, counts in known.items() if counts}


def days(corpus: Sequence[Item], voted: Upvotes, count: int) -> list[Day]:
    """Return so many days, spread evenly over those that have enough."""
    by_day: defaultdict[date, list[Item]] = defaultdict(list)
    for item in corpus:
        if item.seen:
            by_day[item.seen.date()].append(item)
    recorded = sorted(by_day)
    fit = [
        day
        for day in recorded[_BEFORE:]
        if len(by_day[day]) >= _PAPERS and sum(item.key in voted for item in by_day[day]) >= _UPVOTED
    ]
    picked = [fit[int(at)] for at in np.linspace(0, len(fit) - 1, min(count, len(fit)))]
    return [_day(day, by_day, recorded, voted) for day in picked]


def _day(day: date, by_day: Mapping[date, list[Item]], recorded: Sequence[date], voted: Upvotes) -> Day:
    at = recorded.index(day)
    earlier = [item for before in recorded[at - _BEFORE : at] for item in by_day[before]]
    # What a later file has was not known yet: neither who would be upvoted, nor who would not.
    known, whole = most(voted, day), most(voted)
    liked = sorted((item for item in earlier if item.key in known), key=lambda item: (-known[item.key], item.key))
    others = [item for item in earlier if item.key not in known]
    less = random.Random(f"{_SEED} {day}").sample(others, min(_MARKED, len(others)))
    items = tuple(by_day[day])
    gains = np.array([math.log2(1 + whole.get(item.key, 0)) for item in items])
    now = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    return Day(items, gains, tuple(liked[:_MARKED]), tuple(less), now)


# --- the ways ------------------------------------------------------------------------------------------------------


def _readers(day: Day, vectors: Mapping[str, bytes]) -> dict[str, float]:
    marked = [*(MarkedItem(item, 1, 0) for item in day.more), *(MarkedItem(item, 0, 1) for item in day.less)]
    ways: list[Way] = [
        (way, scores(ItemIndex(day.items, {}, day.now, (*day.more, *day.less), vectors=known), BLANK, marked=marked))
        for way, known in _known(vectors)
    ]
    every = (*day.items, *day.more, *day.less)
    plain = Plain([f"{item.title} {item.abstract}" for item in every])
    count, liked = len(day.items), range(len(day.items), len(day.items) + len(day.more))
    ways += [
        ("TF-IDF centroid", plain.centroid(liked)[:count]),
        ("TF-IDF, nearest three", plain.nearest(liked)[:count]),
        ("SVM", plain.svm(liked, range(len(every)))[:count]),
    ]
    return {**{way: _gain(found, day.gains) for way, found in ways}, "any order": any_order(day.gains)}


def _known(vectors: Mapping[str, bytes]) -> list[tuple[str, Mapping[str, bytes]]]:
    nothing: Mapping[str, bytes] = {}
    return [("ours", vectors), ("words alone", nothing)] if vectors else [("words alone", nothing)]


def _topics(day: Day, vectors: Mapping[str, bytes], packs: Sequence[Topic]) -> dict[str, float]:
    indexes = [(way, ItemIndex(day.items, {}, day.now, vectors=known), known) for way, known in _known(vectors)]
    index = Porter([(str(at), item.title, item.abstract) for at, item in enumerate(day.items)])
    examples = [text for pack in packs for text in pack.examples]
    plain = Plain([*(f"{item.title} {item.abstract}" for item in day.items), *examples])
    found: list[dict[str, float]] = []
    begin = len(day.items)
    for pack in packs:
        own = range(begin, begin + len(pack.examples))
        begin += len(pack.examples)
        ways = [(way, scores(index, pack, examples=pack.examples, vectors=known)) for way, index, known in indexes]
        admitted = ways[0][1] >= 0
        gains = day.gains[admitted]
        if len(gains) > TOP and gains.any():
            ways += [("FTS5", _ranks(index, f"{pack.title} {pack.description}", len(day.items)))]
            ways += [("TF-IDF", plain.nearest(own)[: len(day.items)])] if len(own) else []
            found.append({**{way: _gain(each[admitted], gains) for way, each in ways}, "any order": any_order(gains)})
    index.close()
    shared = [way for way in found[0] if all(way in each for each in found)] if found else []
    return {way: float(np.mean([each[way] for each in found])) for way in shared}


def _ranks(index: Porter, query: str, count: int) -> Floats:
    table = np.zeros(count)
    for rank, key in enumerate(index.search(query, count), 1):
        table[int(key)] = 1 / rank
    return table


def _gain(found: Floats, gains: Floats) -> float:
    return ndcg(gains[np.argsort(-found, kind="stable")].tolist(), gains.tolist())


def any_order(gains: Floats) -> float:
    """Return what nDCG@10 is to be expected of an order drawn at random."""
    return ndcg([float(gains.mean())] * min(TOP, len(gains)), gains.tolist())
