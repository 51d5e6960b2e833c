"""What is an answer to a search for the best match: what has enough of the words. Pure, and shared by every store.

An item that has every word is one. One that has some must have those that tell most: half of what all of them tell
together, each counted by how few items have it (Sparck Jones's inverse document frequency, 1972), so that a word which
half of all items have makes nothing an answer. Where its meaning is known, that may not be far from what was asked
either; and where it is nearly close enough to be found by that alone, a quarter of the words is enough. Measured in
docs/decisions/0064-best-first.md.
"""

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from bot.models.vectors import Floats

HALF, QUARTER = 0.5, 0.25  # of what all words tell together
# Of the cosine from which on meaning alone finds: no further off is what has half of the words, or a quarter.
LOOSELY, NEARLY = 0.7, 0.88
SOME = 200  # items with some of the words that are answers, the best
COMMON = 20_000  # items: a word that more of them have tells nothing beside others
_ROUNDING = 1e-9


def weights(having: Sequence[int], number: int) -> list[float]:
    """Return what each word tells: of `number` items that were ever stored, so many have it."""
    return [log(1 + number / (1 + count)) if count <= COMMON else 0.0 for count in having]


def least(weights: Sequence[float], share: float = HALF) -> float:
    """Return how much the words of an item must tell together. An item must have one of them as well."""
    return share * sum(weights) - _ROUNDING


def answering(cosines: Floats, whole: int, few: int, enough: float) -> NDArray[np.bool_]:
    """Return which of some items are answers: the first `whole` have all words, the last `few` less than half of them.

    Their cosines with what was asked are nan where they are not known; `enough` finds by itself, above 1 in a space whose
    cosines say nothing about that.
    """
    known = np.nan_to_num(cosines, nan=LOOSELY * enough)
    answers: NDArray[np.bool_] = known >= LOOSELY * enough if enough <= 1 else np.ones(len(cosines), bool)
    last = len(cosines) - few
    answers[last:] = (cosines[last:] >= NEARLY * enough) if enough <= 1 else False
    answers[:whole] = True
    return answers
