"""Says what each sentence of an abstract is for: one linear model of all its clues, and a chain over the sentences.

The weights were learned from CSAbstruct (Cohan et al., 2019; Apache-2.0) by `training/roles.py`; docs/models.md says what
they reach.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bot.summarise.chain import Matrix, marginals, without
from bot.summarise.clues import clues

ROLES = ("background", "objective", "method", "result", "other")
RESULT = ROLES.index("result")

SHIPPED = Path(__file__).parent / "models" / "roles.npz"


class Model(NamedTuple):
    """What was learned: per clue and role a weight, and per role and the next a weight."""

    weights: npt.NDArray[np.float32]
    transitions: Matrix


def score(sentences: Sequence[str]) -> Matrix:
    """Return how likely each sentence has each role: one row per sentence, columns as in ROLES, rows sum to 1."""
    return probabilities(sentences, _model())


def reports_results(sentences: Sequence[str]) -> float:
    """Return how likely it is that any sentence reports a result."""
    if not sentences:
        return 0.0
    model = _model()
    return 1.0 - without(RESULT, _emissions(sentences, model), model.transitions)


def probabilities(sentences: Sequence[str], model: Model) -> Matrix:
    """Return what `score` returns, by another model."""
    if not sentences:
        return np.zeros((0, len(ROLES)))
    return marginals(_emissions(sentences, model), model.transitions)


def read(path: Path) -> Model:
    """Return the model that `training/roles.py` wrote to `path`: weights of 8 bits and the size of a step."""
    with np.load(path, allow_pickle=False) as arrays:
        weights = arrays["weights"].astype(np.float32) * arrays["step"]
        return Model(weights, arrays["transitions"].astype(np.float64))


@cache
def _model() -> Model:
    return read(SHIPPED)


def _emissions(sentences: Sequence[str], model: Model) -> Matrix:
    buckets, starts = clues(sentences)
    sums: Matrix = np.add.reduceat(model.weights[buckets], starts, axis=0).astype(np.float64)
    return sums
