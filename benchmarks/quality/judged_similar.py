"""Similar items as people would judge them: forty papers, each with what several systems said is similar to it.

Asked is the store that holds the papers that were judged for any of the forty, with their vectors. What comes that was not
judged for the asked one is passed over (condensed lists: T. Sakai, "Alternatives to bpref", 2007). Grade 2 is worth it:
similar_judged/README.md has the rules, and which half is for choosing.
"""

import asyncio
import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import corpus
from benchmarks.quality.embedding import Embedding
from benchmarks.quality.figures import Figure, of_values
from benchmarks.quality.filled_store import NOW, filled_store, near
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.metrics import TOP, ndcg
from bot.models import Item, Near
from bot.models.vectors import text_of_item

FILE = Path(__file__).parent / "similar_judged" / "grades.tsv"
WORTH = 2
_REACH = 200  # answers that are asked for, so that ten of them were judged

Grades = Mapping[str, Mapping[str, int]]  # by asked paper, then by candidate


def grades(half: str, path: Path = FILE) -> Grades:
    """Return the judgements of a half, `development` or `aside`, by the papers' keys."""
    found: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["half"] == half:
                found.setdefault(f"arxiv:{row['asked']}", {})[f"arxiv:{row['id']}"] = int(row["grade"])
    return found


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield what the first five and ten are worth, for each half; needs the corpus that the papers come from."""
    if given.corpus is None:
        return
    halves = {half: grades(half) for half in ("development", "aside")}
    wanted = {key for judged in halves.values() for asked, others in judged.items() for key in (asked, *others)}
    papers = [paper for paper in corpus.papers(given.corpus) if paper.key in wanted]
    answers = asyncio.run(_answers(given.embedding, papers, [asked for judged in halves.values() for asked in judged]))
    for half, judged in halves.items():
        for kind in ("P@5", f"P@{TOP}", f"nDCG@{TOP}"):
            ours = [
                of_values(way, [worth(kind, found[asked], judged[asked]) for asked in judged])
                for way, found in answers.items()
            ]
            yield Figure(f"similar, judged ({half})", kind, ours, [], len(judged), "papers")


async def _answers(
    embedding: Embedding | None, papers: Sequence[Item], asked: Sequence[str]
) -> dict[str, dict[str, list[str]]]:
    known = {paper.key: paper for paper in papers}
    items = [known[key] for key in asked]
    found: dict[str, dict[str, list[str]]] = {}
    async with filled_store(papers, embedding) as store:
        meant = await near(embedding, [text_of_item(item) for item in items])
        ways: dict[str, list[Near | None]] = {"ours": meant, "words alone": [None] * len(items)}
        for way, where in ways.items():
            hits = [
                await store.index.similar(item, NOW, limit=_REACH, near=close)
                for item, close in zip(items, where, strict=True)
            ]
            found[way] = {item.key: [hit.item.key for hit in each] for item, each in zip(items, hits, strict=True)}
    return found


def worth(kind: str, answer: Sequence[str], judged: Mapping[str, int]) -> float:
    """Return one figure of an answer, what was not judged passed over; a place that stays empty is worth nothing."""
    got = [judged[key] for key in answer if key in judged][:TOP]
    if kind.startswith("P@"):
        top = int(kind.removeprefix("P@"))
        return sum(grade >= WORTH for grade in got[:top]) / top
    return ndcg([2.0**grade - 1 for grade in got], [2.0**grade - 1 for grade in judged.values()])
