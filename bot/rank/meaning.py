"""The vectors of an index's items: how near texts are in meaning, on the scale of how near they are in words.

Closeness of two texts is a weighted sum of the cosine of their words and that of their vectors. It is then told as the
cosine of words that is as rare among papers that have nothing to do with each other: so every limit that holds for words
holds for it, and an item without a vector, which has its words alone, stands on the same scale.
docs/decisions/0029-ranking-by-meaning.md has the measurements.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bot.models.vectors import split
from bot.rank.corpus import Floats
from bot.rank.weights import ALIKE, ALIKE_A_TEXT, ALIKE_IN_WORDS, MEASURED_FROM, OF_WORDS, UNRELATED

Steps = NDArray[np.float32]
Vector = tuple[Steps, float]  # a packed vector's steps, and what to multiply them with

NO_VECTORS: Final[Mapping[str, bytes]] = MappingProxyType({})


class Embeddings:
    """The vector of every item of an index that has one, about 1.5 kB each.

    Steps are kept as they are packed: sums of their products are whole numbers below 2²⁴, so that a product is the same to
    the last bit however it is computed, and a score does not depend on what else was asked.
    """

    def __init__(self, keys: Sequence[str], packed: Mapping[str, bytes], *, measured: bool = False) -> None:
        """With `measured`, unrelated texts of the space are as near as these items are in the mean, not as ours are."""
        has = np.array([key in packed for key in keys], bool)
        steps, scales = split([packed[key] for key in keys if key in packed])
        self.known: NDArray[np.bool_] = has.copy()
        self.known[has] = scales > 0  # a text without words has no direction
        self._steps: Steps = np.zeros((len(keys), steps.shape[1]), np.float32)
        self._steps[has] = steps
        self._scales: Floats = np.zeros(len(keys))
        self._scales[has] = scales
        self._ordinary = self._mean_cosine() if measured else UNRELATED
        if self._ordinary is None:
            self.known[:] = False

    def beside(self, keys: Sequence[str], packed: Mapping[str, bytes]) -> "Embeddings":
        """Return those of other items of the same space."""
        other = Embeddings(keys, packed)
        other._ordinary = self._ordinary
        if self._ordinary is None:
            other.known[:] = False
        return other

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        return int(self._steps.shape[1])

    def of_item(self, number: int) -> Vector | None:
        """Return the vector of an item, None where it has none."""
        return (self._steps[number], float(self._scales[number])) if self.known[number] else None

    def read(self, packed: bytes) -> Vector | None:
        """Return a packed vector; None where it says nothing, or nothing here compares with it."""
        if not self.known.any():
            return None
        steps, scales = split([packed])
        return (steps[0].astype(np.float32), float(scales[0])) if steps.shape[1] == self.size and scales[0] > 0 else None

    def cosines(self, vectors: Sequence[Vector]) -> Floats:
        """Return the cosine of each vector with every item's, as it would be in the space that is shipped."""
        if not self.known.any():
            return np.zeros((len(vectors), len(self.known)))
        rows = np.stack([steps for steps, _ in vectors])
        scales = np.array([scale for _, scale in vectors])
        return self._usual((rows @ self._steps.T) * scales[:, None] * self._scales)

    def fused(self, words: Floats, vector: Vector, *, to_text: bool = False) -> Floats:
        """Return how near every item is, by the cosine of its words and its vector's; by words alone where it has none.

        `to_text` says that it is near to a text as a person writes one, not to an item.
        """
        (cosines,) = self.cosines([vector])
        sums = OF_WORDS * words + (1 - OF_WORDS) * cosines
        return np.where(self.known, np.interp(sums, ALIKE_A_TEXT if to_text else ALIKE, ALIKE_IN_WORDS), words)

    def _usual(self, cosines: Floats) -> Floats:
        """Shift a space in which unrelated texts are nearer, or farther, than in the one that is shipped; 1 stays 1."""
        if self._ordinary is None or self._ordinary == UNRELATED:
            return cosines
        return 1 - (1 - cosines) * ((1 - UNRELATED) / (1 - self._ordinary))

    def _mean_cosine(self) -> float | None:
        """The mean cosine of all pairs of items; None of too few, or where all are the same."""
        count = int(self.known.sum())
        if count < MEASURED_FROM:
            return None
        total = self._steps.T.astype(float) @ self._scales
        mean = (float(total @ total) - count) / (count * (count - 1))
        return mean if mean < 1 - 1e-6 else None


def products(vectors: Sequence[Vector]) -> Floats:
    """Return the cosine of every vector with every other."""
    rows = np.stack([steps for steps, _ in vectors])
    scales = np.array([scale for _, scale in vectors])
    return np.asarray((rows @ rows.T) * scales[:, None] * scales, float)
