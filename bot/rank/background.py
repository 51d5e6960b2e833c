"""How common words are in papers at large; what a topic learns must not change with the papers of one day."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import repeat
from math import log, sqrt

import numpy as np

from bot.rank.vectors import Floats


@dataclass(frozen=True, slots=True)
class Background:
    """The rarity of every listed word, and how much of it an ordinary paper has."""

    idf: dict[str, float]  # 1 + log((1 + N) / (1 + df)), as in bot.rank.vectors
    rarest: float  # of words that are not listed
    ordinary: dict[str, float]  # the direction of the mean paper, of length 1; words that are not listed have 0

    def idf_of(self, words: Sequence[str]) -> Floats:
        """Return the idf of each of the words."""
        return np.fromiter(map(self.idf.get, words, repeat(self.rarest)), float, len(words))

    def ordinary_of(self, words: Sequence[str]) -> Floats:
        """Return how much of each of the words an ordinary paper has."""
        return np.fromiter(map(self.ordinary.get, words, repeat(0.0)), float, len(words))


@cache
def background() -> Background:
    """Return what `common_words.txt` says; reads it once, in about 5 ms."""
    text = resources.files("bot.rank").joinpath("common_words.txt").read_text(encoding="ascii")
    total, *lines = [line for line in text.splitlines() if not line.startswith("#")]
    count = int(total)
    having = {word: int(number) for word, number in (line.split() for line in lines)}
    idf = {word: 1 + log((1 + count) / (1 + number)) for word, number in having.items()}
    # The mean vector without the lengths of texts: a word's idf in every paper that has it.
    mean = {word: idf[word] * number / count for word, number in having.items()}
    length = sqrt(sum(value**2 for value in mean.values()))
    return Background(idf, max(idf.values()), {word: value / length for word, value in mean.items()})
