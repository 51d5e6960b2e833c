"""TF-IDF vectors of a day's items, and how close they are to a text.

A token counts (1 + log tf) · idf with idf = 1 + log((1 + N) / (1 + df)), the vector has length 1, closeness is the cosine:
`ltc` of G. Salton, C. Buckley, "Term-weighting approaches in automatic text retrieval", 1988, with the idf smoothed so that
a day of one paper has one too. Single words only: pairs of words did not help on the gold standard and make the index ten
times as large.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import repeat
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from bot.query.fold import BARRIER, indexed
from bot.rank.common_words import STOPWORDS
from bot.rank.corpus import FIELDS, Corpus, Floats, Ints, Places
from bot.rank.weights import TITLE_TIMES

_SKIPPED = STOPWORDS | {BARRIER}

# How often a token counts that stands once in the field; who wrote it and where is not what it is about.
_TIMES = np.array([TITLE_TIMES, 1, 0, 0, 1])
assert len(_TIMES) == len(FIELDS)  # noqa: S101  # a fact about two constants, checked once


class TfidfVectors:
    """A vector for every item of a corpus, kept twice: by item and by token."""

    def __init__(self, corpus: Corpus, host: "TfidfVectors | None" = None) -> None:
        """Take the words' rarity from the corpus, or from those of a `host`, as if its items were there too."""
        self._host = host
        self._count = len(corpus.lengths) // len(FIELDS)
        self._numbers = {word: number for word, number in corpus.numbers.items() if _means(word)}
        meant = np.zeros(len(corpus.words), bool)
        meant[list(self._numbers.values())] = True
        times = _TIMES[corpus.slots % len(FIELDS)] * meant[corpus.row]
        cells = (corpus.slots // len(FIELDS)).astype(np.int64) * len(corpus.words) + corpus.row
        kept = times > 0
        cells, where = np.unique(cells[kept], return_inverse=True)
        tf = np.bincount(where, weights=times[kept], minlength=len(cells))
        self._tokens: Places = (cells % max(len(corpus.words), 1)).astype(np.int32)
        items: Places = (cells // max(len(corpus.words), 1)).astype(np.int32)
        df = np.bincount(self._tokens, minlength=len(corpus.words))
        self._idf: Floats = host.rarity(corpus.words) if host else 1 + np.log((1 + self._count) / (1 + df))
        weights = (1 + np.log(tf)) * self._idf[self._tokens]
        lengths = np.sqrt(np.bincount(items, weights=weights**2, minlength=self._count))
        self._weights: Floats = weights / lengths[items]
        self._item_starts: Ints = np.searchsorted(items, np.arange(self._count + 1))
        order = np.argsort(self._tokens, kind="stable")
        self._by_token = (items[order], self._weights[order])
        self._sizes: Ints = df
        self._token_starts: Ints = np.searchsorted(self._tokens[order], np.arange(len(corpus.words) + 1))
        self._steps: Places = np.arange(len(items), dtype=np.int32)

    @cached_property
    def _names(self) -> dict[int, str]:
        return {number: word for word, number in self._numbers.items()}

    def of_item(self, item: int) -> tuple[Places, Floats]:
        """Return the tokens of an item of the corpus and their weights."""
        part = slice(self._item_starts[item], self._item_starts[item + 1])
        return self._tokens[part], self._weights[part]

    def of_text(self, title: str, text: str = "") -> tuple[Ints, Floats]:
        """Return the same of any text. Words that no item has make the vector longer, so that the rest weighs less."""
        words, tf = weighed(title, text)
        numbers = np.fromiter(map(self._numbers.get, words, repeat(-1)), np.int64, len(words))
        known = numbers >= 0
        tokens, strange = numbers[known], tf[~known] * self._rarity_of_strange(words, known)
        weights: Floats = tf[known] * self._idf[tokens]
        length = sqrt(float(weights @ weights) + float(strange @ strange))
        return tokens, weights / length if length else weights

    def _rarity_of_strange(self, words: Sequence[str], known: NDArray[np.bool_]) -> Floats | float:
        if self._host is None:
            return 1 + log(1 + self._count)
        return self._host.rarity([word for word, is_known in zip(words, known.tolist(), strict=True) if not is_known])

    def rarity(self, words: Sequence[str]) -> Floats:
        """Return the idf of each of the words, whether an item has it or not."""
        numbers = np.fromiter(map(self._numbers.get, words, repeat(-1)), np.int64, len(words))
        return np.append(self._idf, 1 + log(1 + self._count))[numbers]

    def of_weights(self, weights: Mapping[str, float]) -> tuple[Ints, Floats]:
        """Return a direction that is given word by word; words that no item has are left out."""
        numbers = np.fromiter(map(self._numbers.get, weights, repeat(-1)), np.int64, len(weights))
        known = numbers >= 0
        return numbers[known], np.fromiter(weights.values(), float, len(weights))[known]

    def dense(self, weights: Mapping[str, float]) -> Floats:
        """Return the same with a place for every token, for `shares`."""
        dense = np.zeros(len(self._sizes))
        tokens, values = self.of_weights(weights)
        dense[tokens] = values
        return dense

    def shares(self, item: int, direction: Floats) -> list[tuple[float, str]]:
        """Return what each word of the item adds to its product with a direction that has a place for every token."""
        tokens, weights = self.of_item(item)
        return list(zip((direction[tokens] * weights).tolist(), map(self._names.__getitem__, tokens.tolist()), strict=True))

    def counts(self) -> dict[str, int]:
        """Return how many items have each word."""
        return {word: number for word, token in self._numbers.items() if (number := int(self._sizes[token]))}

    def closeness(self, vector: tuple[Ints | Places, Floats]) -> Floats:
        """Return the cosine, 0 to 1, of the vector with every item's; no token is twice in it."""
        tokens, weights = vector
        starts, sizes = self._token_starts[tokens], self._sizes[tokens]
        places = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
        places += self._steps[: len(places)]
        items, cells = self._by_token
        # All places are within bounds; "clip" is the mode that takes them without a copy.
        shares = cells.take(places, mode="clip")
        shares *= np.repeat(weights, sizes)
        cosines = np.bincount(items.take(places, mode="clip"), weights=shares, minlength=self._count)
        return cosines.astype(float, copy=False).clip(max=1.0)  # rounding may go past 1 by a hair


@lru_cache(maxsize=16_384)  # a topic's examples are the same every day; about 3 kB each
def weighed(title: str, text: str) -> tuple[tuple[str, ...], Floats]:
    """The words of a text that say something, each once, and 1 + log tf of each; in the title it counts more."""
    counts = Counter(word for word in indexed(text).split() if _means(word))
    for word in indexed(title).split():
        if _means(word):
            counts[word] += TITLE_TIMES
    return tuple(counts), 1 + np.log(np.fromiter(counts.values(), float, len(counts)))


def _means(word: str) -> bool:
    """Say whether a token says something about a text's subject."""
    return word not in _SKIPPED and not word.isdigit()
