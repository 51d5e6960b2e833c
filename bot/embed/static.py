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
    """Per piece a row of 8-bit steps and what to multiply it with; `turn` takes the sum into the space."""

    words: WordPieces
    rows: NDArray[np.int8]
    scales: Floats
    turn: Floats

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return a row of length 1 per text; one without a word gets zeros."""
        return (
            unit(np.stack([self._sum(text) for text in texts]) @ self.turn)
            if texts
            else np.zeros((0, self.turn.shape[1]), np.float32)
        )

    def _sum(self, text: str) -> Floats:
        which, counts = np.unique(np.asarray(self.words.numbers(text)[_MARKS], np.int64), return_counts=True)
        weights = self.scales[which] * weight(counts)
        total: Floats = weights @ self.rows[which].astype(np.float32)
        return total


def weight(counts: NDArray[np.int64]) -> Floats:
    """Return what a piece counts that stands so often in a text: its root, since the tenth time says little."""
    return np.sqrt(counts.astype(np.float32))
