"""Similar items, through the real store: CSFCube's mean average precision.

A query paper and graded candidates per facet; grades 2 and 3 are relevant. The store is asked what is similar to the paper,
and the judged candidates are put into the order in which it answers: once of all that it measures, once of the closest
hundred, which is all that a person gets; candidates that do not come are last. Baseline: plain TF-IDF.
"""

import asyncio
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.quality.baselines import Plain
from benchmarks.quality.embedding import Embedding
from benchmarks.quality.figures import Figure, of_values
from benchmarks.quality.filled_store import NOW, filled_store, near, paper_of
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.metrics import average_precision
from benchmarks.quality.records import Record
from bot.models import Item, Near
from bot.models.vectors import text_of_item
from bot.store.sqlite.search.similar import KEPT
from bot.store.sqlite.store import SqliteStore

RELEVANT = 2
_REACH = 0.41

Judged = tuple[str, dict[str, int]]  # the query paper's key, and the candidates' grades


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield the figure for all that is measured, and that for what a person gets."""
    if not given.folder.has("csfcube.corpus", "csfcube.anns"):
        return
    papers = [paper_of(record) for record in given.folder.records("csfcube.corpus")]
    questions = judgements(given.folder.records("csfcube.anns"), papers)
    plain = Plain([f"{paper.title} {paper.abstract}" for paper in papers])
    numbers = {paper.key: number for number, paper in enumerate(papers)}
    ordered = [_by_closeness(plain, asked, numbers) for asked, _ in questions]
    baseline = of_values("TF-IDF", _precisions(ordered, questions))
    found = asyncio.run(
        _by_store(given.embedding, papers, questions, {"MAP": len(papers), "MAP, of the closest hundred": KEPT})
    )
    for kind, ways in found.items():
        ours = [of_values(way, _precisions(answers, questions)) for way, answers in ways.items()]
        yield Figure("CSFCube", kind, ours, [baseline], len(questions), "questions", _REACH if kind == "MAP" else None)


def judgements(records: Sequence[Record], papers: Sequence[Item]) -> list[Judged]:
    """Return who was asked about, and what the candidates that are known were given."""
    known = {paper.key for paper in papers}
    return [
        (record["q"], {key: grade for key, grade in zip(record["cands"], record["rel"], strict=True) if key in known})
        for record in records
    ]


def _by_closeness(plain: Plain, asked: str, numbers: dict[str, int]) -> list[str]:
    keys = list(numbers)
    return [keys[at] for at in np.argsort(-plain.closeness(numbers[asked]), kind="stable")]


async def _by_store(
    embedding: Embedding | None, papers: Sequence[Item], questions: Sequence[Judged], limits: dict[str, int]
) -> dict[str, dict[str, list[list[str]]]]:
    """Return what each way answers, for each number of answers."""
    known = {paper.key: paper for paper in papers}
    asked = [known[key] for key, _ in questions]
    ways: dict[str, list[Near | None]] = {"words alone": [None] * len(asked)}
    if embedding:
        ways = {"ours": await near(embedding, [text_of_item(paper) for paper in asked]), **ways}
    async with filled_store(papers, embedding) as store:
        return {
            kind: {way: await _answers(store, asked, where, limit) for way, where in ways.items()}
            for kind, limit in limits.items()
        }


async def _answers(store: SqliteStore, asked: Sequence[Item], where: Sequence[Near | None], limit: int) -> list[list[str]]:
    pairs = zip(asked, where, strict=True)
    hits = [await store.index.similar(paper, NOW, limit=limit, near=close) for paper, close in pairs]
    return [[hit.item.key for hit in each] for each in hits]


def _precisions(found: Sequence[Sequence[str]], questions: Sequence[Judged]) -> list[float]:
    return [precision(answer, grades) for answer, (_, grades) in zip(found, questions, strict=True)]


def precision(answer: Sequence[str], grades: dict[str, int]) -> float:
    """Return the average precision of what was judged, in the answer's order; what it lacks comes last."""
    places = {key: place for place, key in enumerate(answer)}
    keys = sorted(grades, key=lambda key: grades[key] >= RELEVANT)
    scores = np.array([-places.get(key, len(answer)) for key in keys], float)
    return average_precision(scores, np.array([grades[key] >= RELEVANT for key in keys]))
