"""Learns the role model that `bot.summarise.roles` reads: a conditional random field over the sentences of CSAbstruct.

Trained on both published parts for development (Cohan et al., 2019; Apache-2.0; 1,963 abstracts, 13,359 sentences).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bot.summarise.chain import Matrix
from bot.summarise.clues import BUCKETS, clues
from bot.summarise.roles import ROLES, Model, probabilities
from training.lbfgs import Vector, least

Record = Mapping[str, Any]  # of CSAbstruct: `sents`, `labels`
Places = npt.NDArray[np.int64]

_PENALTY = 16.0  # of squared weights; 8 to 16 were alike in cross-validation, less was worse
_PENALTY_CHAIN = 0.1
_STEPS = 50
_LARGEST = 127  # of 8 bits
_SEED = 7


class _Batch:
    """All abstracts as rows of places, the shorter ones filled up, and what is learned from them."""

    def __init__(self, records: Sequence[Record]) -> None:
        read = [clues(record["sents"]) for record in records]
        lengths = np.array([len(starts) for _, starts in read])
        self.buckets = np.concatenate([buckets for buckets, _ in read])
        shifts = np.cumsum([0] + [len(buckets) for buckets, _ in read[:-1]])
        self.starts = np.concatenate([starts + shift for (_, starts), shift in zip(read, shifts, strict=True)])
        self.sizes = np.diff(self.starts, append=len(self.buckets))
        self.known, self.columns = np.unique(self.buckets, return_inverse=True)
        labels = np.array([ROLES.index(label) for record in records for label in record["labels"]])
        self.targets: Matrix = np.eye(len(ROLES))[labels]
        first = np.cumsum(lengths) - lengths
        steps = np.arange(lengths.max())
        self.there = steps < lengths[:, None]
        self.places = np.where(self.there, first[:, None] + steps, 0)
        joined = np.ones(len(labels), dtype=np.bool_)
        joined[first] = False
        self.pairs: Matrix = self.targets[:-1].T @ (self.targets[1:] * joined[1:, None])


def build(sources: Any, target: Path) -> None:
    """Learn from the quality folder of `sources` and write the model to `target`."""
    records = [record for name in ("csabstruct.train", "csabstruct.dev") for record in sources.quality(name)]
    write(learned(records), target)


def learned(records: Sequence[Record]) -> Model:
    """Return the model that explains the labels of `records` best, small weights preferred, its weights as shipped."""
    batch = _Batch(records)
    roles = len(ROLES)
    size = len(batch.known) * roles

    def loss(point: Vector) -> tuple[float, Vector]:
        weights, chain = point[:size].reshape(-1, roles), point[size:].reshape(roles, roles)
        emissions = np.add.reduceat(weights[batch.columns], batch.starts, axis=0)
        likely, pairs, total = _expected(emissions[batch.places], chain, batch.there)
        off = np.empty_like(emissions)
        off[batch.places[batch.there]] = likely[batch.there]
        off -= batch.targets
        value = total - float((batch.targets * emissions).sum()) - float((batch.pairs * chain).sum())
        value += _PENALTY / 2 * float((weights * weights).sum()) + _PENALTY_CHAIN / 2 * float((chain * chain).sum())
        gradient = [_gathered(batch, off) + _PENALTY * weights, pairs - batch.pairs + _PENALTY_CHAIN * chain]
        return value, np.concatenate([part.ravel() for part in gradient])

    point = least(loss, np.zeros(size + roles * roles), _STEPS)
    weights = np.zeros((BUCKETS, roles))
    weights[batch.known] = point[:size].reshape(-1, roles)
    quantised, step = _rounded(weights)
    return Model(
        quantised.astype(np.float32) * step, point[size:].reshape(roles, roles).astype(np.float32).astype(np.float64)
    )


def write(model: Model, target: Path) -> None:
    """Write `model` so that `bot.summarise.roles.read` reads it back as it is."""
    quantised, step = _rounded(model.weights.astype(np.float64))
    np.savez_compressed(target, weights=quantised, step=step, transitions=model.transitions.astype(np.float32))


def cross_validated(records: Sequence[Record], folds: int = 5) -> list[Matrix]:
    """Return per record the probabilities of its sentences' roles by a model that learned from the other folds alone."""
    order = np.random.default_rng(_SEED).permutation(len(records))
    found: list[Matrix] = [np.zeros((0, len(ROLES)))] * len(records)
    for fold in range(folds):
        held = frozenset(order[fold::folds].tolist())
        model = learned([record for at, record in enumerate(records) if at not in held])
        for at in held:
            found[at] = probabilities(records[at]["sents"], model)
    return found


def _gathered(batch: _Batch, off: Matrix) -> Matrix:
    """Per clue, how far off the sentences that show it are."""
    spread = np.repeat(off, batch.sizes, axis=0)
    columns = [np.bincount(batch.columns, weights=column, minlength=len(batch.known)) for column in spread.T]
    return np.stack(columns, axis=1)


def _expected(emissions: Matrix, chain: Matrix, there: npt.NDArray[np.bool_]) -> tuple[Matrix, Matrix, float]:
    """What the chain expects of all abstracts at once: roles, neighbours, and the logarithm of the sum over all chains."""
    largest = emissions.max(axis=2, keepdims=True)
    here = np.where(there[:, :, None], np.exp(emissions - largest), 1.0)
    follows = np.exp(chain)
    ahead, behind, size = np.empty_like(here), np.ones_like(here), np.ones(there.shape)
    for at in range(there.shape[1]):
        now = here[:, at] * (ahead[:, at - 1] @ follows if at else 1.0)
        size[:, at] = np.where(there[:, at], now.sum(axis=1), 1.0)
        ahead[:, at] = np.where(there[:, at, None], now / size[:, at, None], ahead[:, at - 1])
    pairs = np.zeros_like(chain)
    for at in range(there.shape[1] - 1, 0, -1):
        after = np.where(there[:, at, None], here[:, at] * behind[:, at] / size[:, at, None], 0.0)
        pairs += ahead[:, at - 1].T @ after * follows
        behind[:, at - 1] = np.where(there[:, at, None], after @ follows.T, 1.0)
    total = float(np.log(size).sum() + largest[:, :, 0][there].sum())
    return ahead * behind, pairs, total


def _rounded(weights: Matrix) -> tuple[npt.NDArray[np.int8], np.float32]:
    step = np.float32(np.abs(weights).max() / _LARGEST)
    return np.rint(weights / step).astype(np.int8), step
