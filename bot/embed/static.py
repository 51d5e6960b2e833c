"""The small table: a text's vector is the sum of its pieces' own, turned into the transformer's space.

The table was fitted to the transformer's vectors (training/static.py), so both lie in one space: Tulkens and van Dongen,
"Model2Vec", 2024, and Wieting et al. (arXiv:1511.08198) on averages that hold their own against deeper models.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.embed.minilm import Floats, unit
from bot.embed.wordpiece import WordPieces

_MARKS = slice(1, -1)  # the pieces between those of the start and the end


@dataclass(frozen=True, slots=True)
class Table:
    """Per piece a row of steps and what to multiply it with; `turn` takes the sum into the space, from `centre` on."""

    words: WordPieces
    rows: NDArray[np.int8]
    scales: Floats
    turn: Floats
    centre: Floats

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return a row of length 1 per text; one without a word gets zeros."""
        made = np.zeros((len(texts), len(self.centre)), np.float32)
        for at, text in enumerate(texts):
            pieces = self.words.numbers(text)[_MARKS]
            if pieces:
                made[at] = self._sum(pieces) @ self.turn + self.centre
        return unit(made)

    def _sum(self, pieces: Sequence[int]) -> Floats:
        which, weights = weighted(pieces)
        total: Floats = (weights * self.scales[which]) @ self.rows[which].astype(np.float32)
        return total


def weighted(pieces: Sequence[int]) -> tuple[NDArray[np.int64], Floats]:
    """Return each piece once, and what it counts: the root of how often it stands there, over the root of all."""
    which, counts = np.unique(np.asarray(pieces, np.int64), return_counts=True)
    return which, np.sqrt(counts.astype(np.float32) / np.float32(max(len(pieces), 1)))
