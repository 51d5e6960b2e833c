"""Who labels what, and what is judged afterwards: the tasks of `benchmarks.feedback`. Every draw has a fixed seed.

gold standard
    I. Stelmakh and others, "A Gold Standard Dataset for the Reviewer Assignment Problem", 2023: 29 researchers, their own
    papers, and their ratings (1 to 5) of others'. Leave one out: every paper that a researcher rated 4 or more is held out
    in turn. Labels come, in three random orders, from the researcher's own papers (more) and the other rated ones (more from
    4 on, less up to 2.5); the first one is a more. Ranked are the held-out paper and all that the researcher neither wrote
    nor rated; only the held-out one is relevant. Where there are fewer labels than asked for, all are given.
screening
    Kitchenham 2010: labels alternate between relevant (more) and irrelevant (less) papers at random, in twenty draws; every
    paper but the draw's thirty is ranked.
simulated readers
    120 invented readers of Hugging Face Daily Papers. A reader's taste is two keywords at random out of those that 30 to 160
    papers carry (Hugging Face's own keywords, which no method sees). From a random day on they open every day that has a
    paper with one of them, and mark the most upvoted such paper more, and the most upvoted other one less, until thirty
    labels are given. Each of the next four weeks (of recorded days) is ranked as one list. A paper with one of the keywords
    is relevant, twice as much when its upvotes are not below the week's median.
"""

import gzip
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from bot.models import Item, Kind
from bot.query.fold import tokens
from bot.rank.corpus import Floats, Ints

SIZES = (1, 3, 10, 30)
Labels = list[tuple[int, int]]  # the paper's number, and 1 (more) or -1 (less)

_LIKED, _DISLIKED = 4.0, 2.5
_ORDERS, _DRAWS, _READERS = 3, 20, 120
_RARE, _COMMON = 30, 160
_WEEKS, _WEEK, _BEFORE = 4, 7, 53  # the weeks that are ranked, recorded days of one, and days before that a pool reaches


@dataclass(frozen=True, slots=True)
class Task:
    """One list to rank by some labels. `pool` are the papers that an unlabelled negative may be taken from."""

    who: str
    size: int
    labels: Labels
    candidates: Ints
    gains: Floats
    pool: Ints
    stated: str = ""  # a phrase that the topic states, when there is one


@dataclass(frozen=True, slots=True)
class World:
    """A collection of papers, and the tasks on it."""

    name: str
    items: Sequence[Item]
    tasks: Sequence[Task]


def worlds(folder: Path | None, daily: Path | None) -> Iterator[World]:
    """Yield what the folders hold."""
    if folder and (folder / "goldstandard.papers.jsonl.gz").exists():
        yield goldstandard(folder)
    for path in sorted(folder.glob("slr.*.jsonl.gz")) if folder else ():
        yield screening(path)
    if daily:
        yield readers(daily)


def goldstandard(folder: Path) -> World:
    """Return the researchers' tasks."""
    papers = _read(folder, "goldstandard.papers")
    numbers = {paper["id"]: number for number, paper in enumerate(papers)}
    own: defaultdict[str, set[int]] = defaultdict(set)
    for profile in _read(folder, "goldstandard.profiles"):
        own[profile["user"]] |= {numbers[paper] for paper in profile["profile"] if paper in numbers}
    rated: defaultdict[str, dict[int, float]] = defaultdict(dict)
    for rating in _read(folder, "goldstandard.ratings"):
        if rating["paper"] in numbers and numbers[rating["paper"]] not in own[rating["user"]]:
            rated[rating["user"]][numbers[rating["paper"]]] = rating["rating"]
    tasks = [task for who in sorted(own) for task in _researcher(who, own[who], rated[who], len(papers))]
    years = [datetime(paper["year"] or 1970, 1, 1, tzinfo=UTC) for paper in papers]
    items = [_item(str(number), paper, published=years[number]) for number, paper in enumerate(papers)]
    return World("gold standard", items, tasks)


def _researcher(who: str, own: set[int], rated: dict[int, float], count: int) -> Iterator[Task]:
    others = [number for number in range(count) if number not in own and number not in rated]
    for held in sorted(number for number, rating in rated.items() if rating >= _LIKED):
        chance = random.Random(f"{who}/{held}")  # a fixed draw, nothing secret
        labels = [(number, 1) for number in sorted(own)] + [
            (number, 1 if rating >= _LIKED else -1)
            for number, rating in sorted(rated.items())
            if number != held and not _DISLIKED < rating < _LIKED
        ]
        candidates = np.array(sorted([*others, held]))
        for _ in range(_ORDERS):
            chance.shuffle(labels)
            first = next(at for at, (_, label) in enumerate(labels) if label > 0)
            order = [labels[first], *labels[:first], *labels[first + 1 :]]
            for size in SIZES:
                yield Task(who, size, order[:size], candidates, (candidates == held).astype(float), np.arange(count))


def screening(path: Path) -> World:
    """Return the draws of a screening set."""
    papers = _read(path.parent, path.name.removesuffix(".jsonl.gz"))
    relevant = [number for number, paper in enumerate(papers) if paper["label"]]
    others = [number for number, paper in enumerate(papers) if not paper["label"]]
    tasks = []
    for draw in range(_DRAWS):
        chance = random.Random(draw)
        half = max(SIZES) // 2
        pairs = zip(chance.sample(relevant, half), chance.sample(others, half), strict=True)
        labels = [label for more, less in pairs for label in ((more, 1), (less, -1))]
        candidates = np.setdiff1d(np.arange(len(papers)), [number for number, _ in labels])
        gains = np.isin(candidates, relevant).astype(float)
        tasks += [Task(str(draw), size, labels[:size], candidates, gains, np.arange(len(papers))) for size in SIZES]
    return World(
        path.name.removesuffix(".jsonl.gz"), [_item(str(number), paper) for number, paper in enumerate(papers)], tasks
    )


# --- simulated readers ---------------------------------------------------------------------------------------------


def readers(daily: Path) -> World:
    """Return the tasks of simulated readers of the days in a folder of `YYYY-MM-DD.json.gz`."""
    papers = _daily(daily)
    days: defaultdict[str, list[int]] = defaultdict(list)
    for number, paper in enumerate(papers):
        days[paper["day"]].append(number)
    counts = Counter(word for paper in papers for word in paper["keywords"])
    words = sorted(word for word, count in counts.items() if _RARE <= count <= _COMMON)
    calendar = [days[day] for day in sorted(days)]
    tasks = [task for reader in range(_READERS) for task in _reader(reader, papers, calendar, words)]
    return World("simulated readers", [_item(paper["id"], paper, day=paper["day"]) for paper in papers], tasks)


def _reader(
    reader: int, papers: Sequence[dict[str, Any]], calendar: Sequence[list[int]], words: list[str]
) -> Iterator[Task]:
    chance = random.Random(f"reader {reader}")
    taste = chance.sample(words, 2)
    likes = np.array([not paper["keywords"].isdisjoint(taste) for paper in papers])
    votes = np.array([paper["upvotes"] for paper in papers])
    labels, end = _label(calendar, chance.randrange(len(calendar) // 3), likes, votes)
    before = [number for day in calendar[max(0, end - _BEFORE) : end] for number in day]
    for week in range(_WEEKS):
        begin = end + week * _WEEK
        candidates = np.array([number for day in calendar[begin : begin + _WEEK] for number in day], np.int64)
        if not len(candidates) or not likes[candidates].any():
            continue
        loud = votes[candidates] >= np.median(votes[candidates])
        gains = likes[candidates] * np.where(loud, 2.0, 1.0)
        pool = np.unique([*before, *candidates, *(number for number, _ in labels)])
        for size in SIZES:
            yield Task(str(reader), size, labels[:size], candidates, gains, pool, taste[0])


def _label(
    calendar: Sequence[list[int]], start: int, likes: "np.ndarray[Any, np.dtype[np.bool_]]", votes: Ints
) -> tuple[Labels, int]:
    """The first thirty labels, and the number of the first day behind them."""
    labels: Labels = []
    for at in range(start, len(calendar)):
        order = sorted(calendar[at], key=lambda number: (-votes[number], number))
        liked = [number for number in order if likes[number]]
        if liked:
            labels += [(liked[0], 1), *((number, -1) for number in order if not likes[number])][:2]
        if len(labels) >= max(SIZES):
            return labels[: max(SIZES)], at + 1
    return labels, len(calendar)


def _daily(folder: Path) -> list[dict[str, Any]]:
    """The papers that carry keywords, each on the first day that has it."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            papers = [entry["paper"] for entry in json.load(file)]
        for paper in papers:
            if paper.get("ai_keywords") and paper["id"] not in found:
                found[paper["id"]] = {
                    "id": paper["id"],
                    "title": paper["title"],
                    "abstract": paper.get("summary") or "",
                    "upvotes": paper.get("upvotes") or 0,
                    "day": path.name[:10],
                    "keywords": {" ".join(tokens(word)) for word in paper["ai_keywords"]},
                }
    return list(found.values())


def _item(key: str, paper: dict[str, Any], *, day: str = "", published: datetime | None = None) -> Item:
    appeared = datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None
    return Item(
        key=f"url:{key}",
        kind=Kind.PAPER,
        title=paper["title"] or "",
        abstract=paper["abstract"] or "",
        sources=("huggingface",) if day else (),
        published=published or appeared,
        appeared=appeared,
        upvotes=paper.get("upvotes"),
    )


def _read(folder: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
