"""How well a topic learns from more and less: nDCG@10 and recall@10 after 1, 3, 10 and 30 labels, beside other methods.

    python -m benchmarks.feedback --folder FOLDER --hf FOLDER_OF_DAILY_JSON [--embeddings on|fast|off] [--cache FOLDER]

`benchmarks.feedback_tasks` says who labels what and what is ranked, `benchmarks.feedback_methods` what is compared. All
methods read the same words, and ours the vectors of the embedder too; the cache keeps these from one run to the next. The
first rows of each collection hold what was learned alone. The last ones, of the simulated
readers, hold the whole score of a topic: once when the topic states nothing, once when it states one of the reader's two
keywords as an interest. Means over people (of each person's lists), with 95 % intervals of 1,000 bootstrap draws over
people; "ours less linear SVM" is the difference, person by person.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from benchmarks.feedback_methods import (
    Known,
    Method,
    centroid,
    marked,
    mistaken,
    nearest,
    ours,
    ridge,
    squared,
    svm,
    words_alone,
)
from benchmarks.feedback_tasks import SIZES, Task, World, worlds
from benchmarks.quality.embedding import Embedding, as_set
from bot.models import Interest, Topic
from bot.rank import ItemIndex, rank
from bot.rank.corpus import Floats, Ints

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_AT = 10
_SEED, _DRAWS = 15, 1000


def newest(known: Known, task: Task) -> Floats:
    """Return the order without learning where there is no topic: the newest first, at random where no dates are known."""
    times = np.array([item.published.timestamp() if item.published else 0.0 for item in known.world.items])
    drawn = np.random.default_rng(_SEED).permutation(len(times)) / len(times)
    return (times + drawn)[task.candidates]


def whole(known: Known, task: Task, *, taught: bool, stated: bool) -> Floats:
    """Return the scores that the service would give, on the day after the last of the candidates."""
    items = tuple(known.world.items[number] for number in task.candidates)
    interests = (Interest(f'"{task.stated}"'),) if stated else ()
    topic = Topic(name="topic", title="Topic", interests=interests)
    index = _index(known, task.candidates)
    ranked = rank(index, topic, marked=marked(known, task) if taught else (), vectors=known.vectors, top=_AT)
    scores = {each.item.key: each.score for each in ranked}  # those below the first ten need no order
    return np.array([scores.get(item.key, -1.0) for item in items])


_indexes: dict[bytes, ItemIndex] = {}  # a week's, for every reader of it


def _index(known: Known, candidates: Ints) -> ItemIndex:
    items = known.world.items
    week = candidates.tobytes()
    if week not in _indexes:
        last = max(when for number in candidates if (when := items[number].published))
        week_of = [items[number] for number in candidates]
        _indexes[week] = ItemIndex(week_of, {}, last + timedelta(days=1), vectors=known.vectors)
    return _indexes[week]


METHODS: Mapping[str, Method] = {
    "no learning": newest,
    "centroid": centroid,
    "nearest three": nearest,
    "linear SVM": svm,
    "ridge": ridge,
    "ridge, squared cosines": squared,
    "ours, words alone": words_alone,
    "ours": ours,
    "ours, one label in ten wrong": mistaken,
}
WHOLE: Mapping[str, Method] = {
    "nothing stated, no learning": lambda known, task: whole(known, task, taught=False, stated=False),
    "nothing stated, ours": lambda known, task: whole(known, task, taught=True, stated=False),
    "half stated, no learning": lambda known, task: whole(known, task, taught=False, stated=True),
    "half stated, ours": lambda known, task: whole(known, task, taught=True, stated=True),
}


def measure(known: Known, method: Method) -> Floats:
    """Return nDCG@10 and recall@10 of every person at every number of labels, as means over their lists."""
    found: defaultdict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    for task in known.world.tasks:
        found[task.who, task.size].append(_figures(method(known, task), task.gains))
    people = sorted({who for who, _ in found})
    return np.array([[np.mean(found[who, size], axis=0) for size in SIZES] for who in people])


def _figures(scores: Floats, gains: Floats) -> tuple[float, float]:
    """nDCG@10 with gains as they stand, and the share of what is relevant that is among the first ten."""
    discounts = 1 / np.log2(np.arange(2, _AT + 2))
    top = gains[np.argsort(-scores, kind="stable")][:_AT]
    best = np.sort(gains)[::-1][:_AT]
    return float(top @ discounts[: len(top)] / (best @ discounts[: len(best)])), float((top > 0).sum() / (gains > 0).sum())


def _show(name: str, figures: Floats) -> None:
    """Print a row: at each number of labels nDCG@10 with its interval, and recall@10."""
    random = np.random.default_rng(_SEED)
    draws = figures[random.integers(len(figures), size=(_DRAWS, len(figures)))].mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5], axis=0)
    cells = [
        f"{mean[0]:.3f} [{below[0]:.3f}, {above[0]:.3f}] {mean[1]:.3f}"
        for mean, below, above in zip(figures.mean(axis=0), low, high, strict=True)
    ]
    print(f"{name:30} | {' | '.join(cells)}", flush=True)


def report(world: World, embedding: Embedding | None) -> None:
    """Print a collection's tables."""
    vectors = asyncio.run(embedding.packed(world.items)) if embedding else {}
    index = ItemIndex(world.items, {}, _NOW)
    cosines = np.stack([index.closeness(item) for item in world.items])
    np.fill_diagonal(cosines, 1.0)  # an example is never close to itself, a text is
    known = Known(world, index.with_vectors(vectors), cosines, vectors)
    people = len({task.who for task in world.tasks})
    print(
        f"\n{world.name}: {people} people, {len(world.tasks) // len(SIZES)} lists of {_mean_length(world.tasks):.0f} papers"
    )
    print(f"{'nDCG@10 [95 %] recall@10':30} | {' | '.join(f'{size} labels'.ljust(26) for size in SIZES)}")
    found = {name: measure(known, method) for name, method in METHODS.items()}
    for name, figures in found.items():
        _show(name, figures)
    _show("ours less linear SVM", found["ours"] - found["linear SVM"])
    _show("ours less words alone", found["ours"] - found["ours, words alone"])
    if any(task.stated for task in world.tasks):
        for name, method in WHOLE.items():
            _show(name, measure(known, method))


def _mean_length(tasks: Sequence[Task]) -> float:
    return float(np.mean([len(task.candidates) for task in tasks]))


def main() -> None:
    """Print the tables of whatever is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="judged data sets")
    parser.add_argument("--hf", type=Path, help="days of Hugging Face Daily Papers, YYYY-MM-DD.json.gz")
    parser.add_argument("--embeddings", choices=("on", "fast", "off"), default="on")
    parser.add_argument("--cache", type=Path, help="where vectors are kept")
    given = parser.parse_args()
    embedder = as_set(given.embeddings)
    for world in worlds(given.folder, given.hf):
        report(world, Embedding(embedder, given.cache) if embedder else None)


if __name__ == "__main__":
    main()
