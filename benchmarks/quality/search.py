"""Search on judged collections, through the real store: nDCG@10 of SciFact, CACM and Cranfield.

Every word of a question is a bare word, sorted best first. Gains are 1 for what was judged relevant and 0 for the rest.
Baseline: FTS5 with its own stemmer, title twice, the words as alternatives.
"""

import asyncio
from collections.abc import Iterator, Sequence

from benchmarks.quality.baselines import Porter
from benchmarks.quality.figures import Figure, Result, of_values
from benchmarks.quality.filled_store import both_ways, paper_of
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.metrics import TOP, ndcg
from benchmarks.quality.records import SEARCHED, Record
from bot.models import Item

_TITLES = {"scifact": "SciFact", "cacm": "CACM", "cranfield": "Cranfield"}
_REACH = {"scifact": 0.755, "cacm": 0.53, "cranfield": 0.44}


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield a figure per file of questions."""
    for name in SEARCHED:
        questions = [each for each in given.folder.parts(name) if not each.endswith(".corpus")]
        if given.folder.has(f"{name}.corpus") and questions:
            papers = [paper_of(record) for record in given.folder.records(f"{name}.corpus")]
            for each in questions:
                yield _figure(given, name, each, papers)


def _figure(given: Inputs, name: str, file: str, papers: Sequence[Item]) -> Figure:
    relevant = [(row["q"], found) for row in given.folder.records(file) if (found := judged(row))]
    asked = [question for question, _ in relevant]
    ways = asyncio.run(both_ways(papers, asked, given.embedding))
    ours = [_result(way, answers, relevant) for way, answers in ways.items()]
    part = file.partition(".")[2].removeprefix("queries")
    title = f"{_TITLES[name]} {part}".strip()
    beside = [_result("FTS5", porter(papers, asked), relevant)]
    return Figure(title, "nDCG@10", ours, beside, len(asked), "questions", _REACH[name])


def porter(papers: Sequence[Item], asked: Sequence[str]) -> list[list[str]]:
    """Return the ten that FTS5's own stemmer finds for each question."""
    index = Porter([(each.key, each.title, each.abstract) for each in papers])
    found = [index.search(question, TOP) for question in asked]
    index.close()
    return found


def judged(row: Record) -> frozenset[str]:
    """Return the keys of what was judged relevant to a question."""
    relevant = row.get("cited") or row.get("rel") or ()
    if isinstance(relevant, dict):
        return frozenset(key for key, grade in relevant.items() if grade > 0)
    return frozenset(str(key) for key in relevant)


def _result(way: str, answers: Sequence[Sequence[str]], relevant: Sequence[tuple[str, frozenset[str]]]) -> Result:
    pairs = zip(answers, relevant, strict=True)
    return of_values(way, [ndcg([float(key in right) for key in keys], [1.0] * len(right)) for keys, (_, right) in pairs])
