"""The ways to rank by labels that `benchmarks.feedback` compares; each gives a score for every candidate of a task."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.feedback_tasks import Task, World
from benchmarks.quality import baselines
from bot.rank import ItemIndex, MarkedItem
from bot.rank.corpus import Floats, Ints
from bot.rank.feedback import feedback_effect, learn
from bot.rank.weights import LESS, NEAREST, RIDGE


@dataclass(frozen=True, slots=True)
class Known:
    """A collection with its index, the cosine of every paper's words with every other's, and its vectors by key, if any."""

    world: World
    index: ItemIndex
    cosines: Floats
    vectors: Mapping[str, bytes] = field(default_factory=dict)


Method = Callable[[Known, Task], Floats]


def centroid(known: Known, task: Task) -> Floats:
    """Return the cosines with 0.75 of the mean liked paper less 0.25 of the mean disliked one.

    J. Rocchio, "Relevance feedback in information retrieval", 1971, with the customary weights of later work.
    """
    liked, disliked = _sides(known, task)
    return np.asarray(0.75 * liked.mean(axis=1) - (0.25 * disliked.mean(axis=1) if disliked.size else 0.0), float)


def nearest(known: Known, task: Task) -> Floats:
    """Return the mean cosine with the three nearest liked papers, less half of that with the three nearest disliked."""
    liked, disliked = (np.sort(side, axis=1)[:, -NEAREST:] for side in _sides(known, task))
    return np.asarray(liked.mean(axis=1) - (0.5 * disliked.mean(axis=1) if disliked.size else 0.0), float)


def ridge(known: Known, task: Task, power: float = 1.0) -> Floats:
    """Return ours without the background taken out; with a `power`, of cosines raised to it (no weight per word then)."""
    numbers = np.array([number for number, _ in task.labels])
    answers = np.array([1.0 if label > 0 else -LESS for _, label in task.labels])
    inner = known.cosines[np.ix_(numbers, numbers)] ** power
    found = np.linalg.solve(inner + RIDGE * np.eye(len(numbers)), answers)
    return np.asarray(known.cosines[np.ix_(task.candidates, numbers)] ** power @ found, float)


def squared(known: Known, task: Task) -> Floats:
    """Return the ridge on squared cosines: the nearer a paper, the more its label counts."""
    return ridge(known, task, 2.0)


def ours(known: Known, task: Task) -> Floats:
    """Return what the service learns."""
    found = feedback_effect(known.index, marked(known, task))
    return np.zeros(len(task.candidates)) if found is None else found.found[task.candidates]


def words_alone(known: Known, task: Task) -> Floats:
    """Return what the service learns without vectors."""
    return known.index.weigh(learn(marked(known, task), known.index.background).weights)[task.candidates]


def mistaken(known: Known, task: Task) -> Floats:
    """Return what the service learns when one label in ten says the opposite; the first one never does."""
    wrong = random.Random(f"mistakes of {task.who}")  # a fixed draw, nothing secret
    labels = [(number, -label if wrong.random() < 0.1 and at else label) for at, (number, label) in enumerate(task.labels)]
    return ours(known, replace(task, labels=labels))


def marked(known: Known, task: Task) -> list[MarkedItem]:
    """Return the labels as one person gave them."""
    return [MarkedItem(known.world.items[number], int(label > 0), int(label < 0)) for number, label in task.labels]


def svm(known: Known, task: Task, cost: float = 0.01) -> Floats:
    """Return a linear SVM's decision as arxiv-sanity-lite makes it: what was liked against everything else in the pool.

    Its `C` is 0.01 in the server and 0.1 in the e-mails; the words here are those of the other methods, its own are pairs of
    words too. How it is solved, benchmarks.quality.baselines says.
    """
    numbers = np.unique(np.concatenate([task.pool, [number for number, _ in task.labels]]))
    liked = np.isin(numbers, [number for number, label in task.labels if label > 0])
    found = baselines.svm(known.cosines[np.ix_(numbers, numbers)], liked, cost)
    return np.asarray((known.cosines[np.ix_(task.candidates, numbers)] + 1.0) @ found, float)


def _sides(known: Known, task: Task) -> tuple[Floats, Floats]:
    """The cosines of the candidates with what was liked, and with what was not."""
    liked: Ints = np.array([number for number, label in task.labels if label > 0], np.int64)
    disliked: Ints = np.array([number for number, label in task.labels if label < 0], np.int64)
    return known.cosines[np.ix_(task.candidates, liked)], known.cosines[np.ix_(task.candidates, disliked)]
