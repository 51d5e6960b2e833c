"""Ranking for a researcher by the papers they wrote: the gold standard's loss.

I. Stelmakh and others, "A Gold Standard Dataset for the Reviewer Assignment Problem", 2023: researchers' own papers are a
topic's examples, and others' papers, which they rated 1 to 5, are scored for the topic. Over all pairs of one researcher's
ratings that differ, the difference where the order is wrong (half of it on a tie), over the sum of all differences;
averaged over the ten sets of profiles. Baseline: plain TF-IDF, the mean of the three nearest examples, and the centroid.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from benchmarks.quality.baselines import Plain
from benchmarks.quality.figures import Figure, Result, of_sums
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.metrics import Floats, misplaced
from benchmarks.quality.records import Folder
from benchmarks.quality.topic_scores import by_examples, paper_of

_REACH = 0.19

Scorer = Callable[[Sequence[int]], Floats]  # from the numbers of the examples to a score for every paper


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield the loss."""
    if not given.folder.has("goldstandard.papers", "goldstandard.profiles", "goldstandard.ratings"):
        return
    records = given.folder.records("goldstandard.papers")
    papers = [paper_of(number, record) for number, record in enumerate(records)]
    numbers = {record["id"]: number for number, record in enumerate(records)}
    plain = Plain([f"{record['title']} {record['abstract']}" for record in records])
    vectors = asyncio.run(given.embedding.packed(papers)) if given.embedding else {}
    ours = {"ours": by_examples(papers, vectors)} if vectors else {}
    ours["words alone"] = by_examples(papers, {})
    results = [_loss(method, given.folder, numbers, scorer) for method, scorer in ours.items()]
    baselines = [
        _loss(method, given.folder, numbers, scorer)
        for method, scorer in (("TF-IDF", plain.nearest), ("TF-IDF centroid", plain.centroid))
    ]
    people = len({each["user"] for each in given.folder.records("goldstandard.profiles")})
    yield Figure("gold standard", "loss", results, baselines, people, "researchers", _REACH, lower=True)


def _loss(method: str, folder: Folder, numbers: Mapping[str, int], scorer: Scorer) -> Result:
    rated: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for each in folder.records("goldstandard.ratings"):
        if each["paper"] in numbers:
            rated[each["user"]].append((numbers[each["paper"]], each["rating"]))
    sums: defaultdict[int, dict[str, tuple[float, float]]] = defaultdict(dict)
    for profile in folder.records("goldstandard.profiles"):
        scores = scorer([numbers[paper] for paper in profile["profile"] if paper in numbers])
        pairs = [(float(scores[paper]), rating) for paper, rating in rated[profile["user"]]]
        sums[profile["set"]][profile["user"]] = misplaced(pairs)
    people = sorted({person for each in sums.values() for person in each})
    table = np.array([[each.get(person, (0.0, 0.0)) for each in sums.values()] for person in people])
    return of_sums(method, table, lambda found: np.asarray((found[..., 0] / found[..., 1]).mean(axis=-1), float))
