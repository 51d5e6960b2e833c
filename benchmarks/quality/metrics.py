"""The measures themselves. Pure; arrays in, a number out."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

TOP = 10


def ndcg(gains: Sequence[float], ideal: Sequence[float], top: int = TOP) -> float:
    """Return nDCG at `top`: the gains in the order of the answer, over the best order of all gains (`ideal`).

    Gains as they stand, discounted by log2(rank + 1). K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR
    techniques", 2002. 0 where nothing is relevant.
    """
    discounts = 1 / np.log2(np.arange(2, top + 2))
    got = np.asarray(gains, float)[:top]
    best = -np.sort(-np.asarray(ideal, float))[:top]
    possible = float(best @ discounts[: len(best)])
    return float(got @ discounts[: len(got)]) / possible if possible else 0.0


def reciprocal_rank(found: Sequence[str], wanted: str, top: int = TOP) -> float:
    """Return 1 / rank of what was wanted, 0 when it is not among the first `top`."""
    place = next((place for place, key in enumerate(found[:top], 1) if key == wanted), 0)
    return 1 / place if place else 0.0


def average_precision(scores: Floats, relevant: Truths) -> float:
    """Return the mean, over what is relevant, of the precision at its rank; the higher score first, ties as they stand.

    0 where nothing is relevant.
    """
    ranks = np.flatnonzero(relevant[np.argsort(-scores, kind="stable")]) + 1
    return float((np.arange(1, len(ranks) + 1) / ranks).mean()) if len(ranks) else 0.0


def auc(scores: Floats, truths: Truths) -> float:
    """Return how often something true scores higher than something untrue; a tie counts half. nan without both kinds.

    The area under the ROC curve, by ranks (the Mann–Whitney statistic).
    """
    count = int(truths.sum())
    others = len(truths) - count
    if not count or not others:
        return float("nan")
    _, places, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(sizes) - (sizes - 1) / 2
    return float((ranks[places][truths].sum() - count * (count + 1) / 2) / (count * others))


def precision_at_recall(scores: Floats, truths: Truths, recall: float) -> float:
    """Return the precision of the shortest list of the highest scores that holds this share of what is true.

    What ties with the last of the list belongs to it. nan where nothing is true.
    """
    if not truths.any():
        return float("nan")
    needed = int(np.ceil(recall * truths.sum()))
    bar = np.sort(scores[truths])[::-1][needed - 1]
    return float(truths[scores >= bar].mean())


def macro_f1(confusion: Floats) -> Floats:
    """Return the mean F1 over classes that occur, of tables counting [..., gold, guessed]."""
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    gold, guessed = confusion.sum(axis=-1), confusion.sum(axis=-2)
    f1 = 2 * right / np.maximum(gold + guessed, 1e-9)
    there = gold > 0
    return np.asarray((f1 * there).sum(axis=-1) / np.maximum(there.sum(axis=-1), 1), float)


def accuracy(confusion: Floats) -> Floats:
    """Return the share of what was guessed right, of tables counting [..., gold, guessed]."""
    right = np.diagonal(confusion, axis1=-2, axis2=-1).sum(axis=-1)
    return np.asarray(right / confusion.sum(axis=(-2, -1)), float)


def calibration_error(confidences: Floats, right: Truths, bins: int = 10) -> float:
    """Return the expected calibration error: how far confidence is from accuracy, in bins of equal width, by their sizes.

    M. P. Naeini and others, "Obtaining Well Calibrated Probabilities Using Bayesian Binning", 2015.
    """
    places = np.minimum((confidences * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(places, weights=confidences - right, minlength=bins)
    return float(np.abs(gaps).sum() / len(confidences))


def misplaced(rated: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return what is wrong in the order of (score, rating) pairs, and what could be.

    Over all pairs that were rated differently, the difference of the ratings where the order is wrong, half of it on a tie;
    and the sum of all differences. I. Stelmakh and others, "A Gold Standard Dataset for the Reviewer Assignment Problem",
    2023.
    """
    wrong = possible = 0.0
    for at, (score, rating) in enumerate(rated):
        for other_score, other_rating in rated[:at]:
            difference = abs(rating - other_rating)
            product = (score - other_score) * (rating - other_rating)
            possible += difference
            wrong += difference * (1.0 if product < 0 else 0.5 if product == 0 else 0.0)
    return wrong, possible


def grid(rows: Sequence[Sequence[Any]]) -> Floats:
    """Return rows of numbers as an array."""
    return np.asarray(rows, float)
