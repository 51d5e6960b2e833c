"""What is an answer to a search for the best match: what has enough of the words. Pure, and shared by every store.

An item that has every word is one. One that has some must have those that tell most: half of what all of them tell
together, each counted by how few items have it (Sparck Jones's inverse document frequency, 1972), so that a word which
half of all items have makes nothing an answer. Where its meaning is known, that may not be far from what was asked
either. Measured in docs/decisions/0064-best-first.md.
"""

from collections.abc import Sequence
from math import log

ENOUGH_WORDS = 0.5  # of what all words tell together
LOOSELY = 0.7  # of the cosine from which on meaning alone finds: what has some of the words is no further off
SOME = 200  # items with some of the words that are answers, the best
COMMON = 20_000  # items: a word that more of them have tells nothing beside others
_ROUNDING = 1e-9


def weights(having: Sequence[int], number: int) -> list[float]:
    """Return what each word tells: of `number` items that were ever stored, so many have it."""
    return [log(1 + number / (1 + count)) if count <= COMMON else 0.0 for count in having]


def least(weights: Sequence[float]) -> float:
    """Return how much the words of an item must tell together. An item must have one of them as well."""
    return ENOUGH_WORDS * sum(weights) - _ROUNDING


def loosely(enough: float) -> float:
    """Return the cosine that an item with some of the words needs; -1, where cosines of this space say nothing of it."""
    return LOOSELY * enough if enough <= 1 else -1.0
