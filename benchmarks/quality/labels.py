"""Ranking by a few labels: a screening set, ten relevant papers known, the others to be put first; average precision.

Twenty draws of ten. The ten are once papers that were marked "more", once a topic's examples; all other papers are scored as
for a digest. Baselines, of plain TF-IDF: the centroid of the ten, the mean of the three nearest, and a linear SVM of the ten
against all others, as arxiv-sanity-lite trains one per topic.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from benchmarks.quality.baselines import Plain
from benchmarks.quality.figures import Figure, of_values
from benchmarks.quality.inputs import Inputs
from benchmarks.quality.metrics import Floats, Ints, Truths, average_precision
from benchmarks.quality.topic_scores import by_examples, by_marks, paper_of

_SEED, _DRAWS, _EXAMPLES = 14, 20, 10
_REACH = {"slr.kitchenham2010": 0.22}

Scorer = Callable[[Sequence[int]], Floats]


def measure(given: Inputs) -> Iterator[Figure]:
    """Yield both figures of every screening set."""
    for name in given.folder.screened():
        records = given.folder.records(name)
        relevant: Truths = np.array([bool(record["label"]) for record in records])
        if relevant.sum() <= _EXAMPLES:
            continue
        papers = [paper_of(number, record) for number, record in enumerate(records)]
        vectors = asyncio.run(given.embedding.packed(papers)) if given.embedding else {}
        plain = Plain([f"{record['title']} {record['abstract']}" for record in records])
        baselines: dict[str, Scorer] = {
            "TF-IDF centroid": plain.centroid,
            "TF-IDF, nearest three": plain.nearest,
            "SVM": partial(plain.svm, among=range(len(papers))),
        }
        beside = [of_values(method, _precisions(scorer, relevant)) for method, scorer in baselines.items()]
        for kind, make in (("marked more", by_marks), ("as examples", by_examples)):
            ours = {"ours": make(papers, vectors)} if vectors else {}
            ours["words alone"] = make(papers, {})
            results = [of_values(method, _precisions(scorer, relevant)) for method, scorer in ours.items()]
            figure = f"average precision, {_EXAMPLES} {kind}"
            reach = _REACH.get(name) if make is by_marks else None
            yield Figure(name.removeprefix("slr."), figure, results, beside, _DRAWS, "draws", reach)


def _precisions(scorer: Scorer, relevant: Truths) -> list[float]:
    draw = np.random.default_rng(_SEED)
    found = []
    for _ in range(_DRAWS):
        examples: Ints = draw.choice(np.flatnonzero(relevant), _EXAMPLES, replace=False)
        others = np.setdiff1d(np.arange(len(relevant)), examples)
        found.append(average_precision(scorer(examples.tolist())[others], relevant[others]))
    return found
