"""How common words are: at large, from a table that is shipped, and with the items of a day added to it."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import repeat

import numpy as np

from bot.rank.vectors import Floats
from bot.rank.weights import TABLE_COUNTS


class Background:
    """The rarity of words, and how much of each an ordinary paper has."""

    def __init__(self, having: Mapping[str, float], count: float, rarest: float = 0.0) -> None:
        """Take how many of `count` papers have each word; of words that are not named, `rarest` papers."""
        self._words = dict(zip(having, range(len(having)), strict=True))
        papers = np.fromiter(having.values(), float, len(having))
        # The last place is that of every word that is not named; the idf is that of bot.rank.vectors.
        self._idf: Floats = 1 + np.log((1 + count) / (1 + np.append(papers, rarest)))
        # The direction of the mean paper, as if every paper had each of its words once.
        mean = np.append(papers, 0.0) * self._idf
        self._ordinary: Floats = mean / max(float(np.linalg.norm(mean)), 1e-9)

    @property
    def words(self) -> Collection[str]:
        """The words that are named."""
        return self._words.keys()

    def idf(self, words: Sequence[str]) -> Floats:
        """Return the idf of each of the words."""
        return self._idf[self._places(words)]

    def ordinary(self, words: Sequence[str]) -> Floats:
        """Return how much of each of the words the direction of an ordinary paper has; all words together have length 1."""
        return self._ordinary[self._places(words)]

    def _places(self, words: Sequence[str]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        return np.fromiter(map(self._words.get, words, repeat(-1)), np.int64, len(words))


@cache
def at_large() -> Background:
    """Return what `common_words.txt` says."""
    listed = table()
    return Background(listed, TABLE_COUNTS, min(listed.values()) / 2)


def with_day(having: Mapping[str, int], count: int) -> Background:
    """Return the table and, added to it, a day of `count` items, of which `having` have each word."""
    listed = table()
    rarest = min(listed.values()) / 2
    both = {word: papers + having.get(word, 0) for word, papers in listed.items()}
    both |= {word: papers + rarest for word, papers in having.items() if word not in listed}
    return Background(both, TABLE_COUNTS + count, rarest)


@cache
def table() -> Mapping[str, float]:
    """Return how many of TABLE_COUNTS papers have each listed word; reads it once, in about 5 ms."""
    text = resources.files("bot.rank").joinpath("common_words.txt").read_text(encoding="ascii")
    total, *lines = [line for line in text.splitlines() if not line.startswith("#")]
    scale = TABLE_COUNTS / int(total)
    return {word: scale * int(number) for word, number in (line.split() for line in lines)}
