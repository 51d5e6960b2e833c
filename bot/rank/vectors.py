"""TF-IDF vectors of a day's items, and how close they are to a text.

A token counts (1 + log tf) · idf with idf = 1 + log((1 + N) / (1 + df)), the vector has length 1, closeness is the cosine:
`ltc` of G. Salton, C. Buckley, "Term-weighting approaches in automatic text retrieval", 1988, with the idf smoothed so that
a day of one paper has one too. Single words only: pairs of words did not help on the gold standard and make the index ten
times as large.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import repeat
from math import log, sqrt
from threading import Lock
from typing import Final

import numpy as np

from bot.query.fold import BARRIER, indexed
from bot.rank.common_words import STOPWORDS
from bot.rank.corpus import FIELDS, Corpus, Floats, Ints, Places, spread
from bot.rank.weights import TITLE_TIMES

_SKIPPED = STOPWORDS | {BARRIER}

# How often a token counts that stands once in the field; who wrote it and where is not what it is about.
_TIMES = np.array([TITLE_TIMES, 1, 0, 0, 1])
assert len(_TIMES) == len(FIELDS)  # noqa: S101  # a fact about two constants, checked once


class Vocabulary:
    """The words of texts that topics are compared with, numbered: the same few tens of thousands on every day."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._numbers: dict[str, int] = {}

    def numbers(self, words: Sequence[str]) -> Places:
        """Return the numbers of the words; what was never asked for gets the next one."""
        for word in words:
            if word not in self._numbers:
                self._numbers[word] = len(self.words)
                self.words.append(word)
        return np.fromiter(map(self._numbers.__getitem__, words), np.int32, len(words))


class NumberedTexts:
    """Texts in numbered words, those that were asked for last; for any threads.

    Once there are too many words, it begins anew; what was numbered before stays, by the vocabulary that comes with it.
    """

    def __init__(self, most_words: int = 200_000) -> None:
        """200,000 words take about 30 MB; texts of fewer days have fewer."""
        self._most = most_words
        self._lock = Lock()
        self._vocabulary = Vocabulary()
        # A topic's examples are the same every day; about 2 kB each.
        self._numbered = lru_cache(maxsize=16_384)(self._number)

    def numbered(self, title: str, text: str) -> tuple[Vocabulary, Places, Floats]:
        """Return the vocabulary and the numbers in it of the words that `weighed` gives, and 1 + log tf of each."""
        with self._lock:
            return self._numbered(title, text)

    def _number(self, title: str, text: str) -> tuple[Vocabulary, Places, Floats]:
        words, tf = weighed(title, text)
        if len(self._vocabulary.words) > self._most:
            self._vocabulary = Vocabulary()
            self._numbered.cache_clear()
        return self._vocabulary, self._vocabulary.numbers(words), tf


_TEXTS: Final = NumberedTexts()


class TfidfVectors:
    """A vector for every item of a corpus, kept twice: by item and by token."""

    def __init__(self, corpus: Corpus, host: "TfidfVectors | None" = None, texts: NumberedTexts | None = None) -> None:
        """Take the words' rarity from the corpus, or from those of a `host`, as if its items were there too."""
        self._host = host
        self._texts = texts if texts is not None else _TEXTS
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
        # The vocabulary of the text that was asked for last, and the tokens of the first of its words.
        self._known: tuple[Vocabulary, Ints] = (Vocabulary(), np.empty(0, np.int64))
        self._token_starts: Ints = np.searchsorted(self._tokens[order], np.arange(len(corpus.words) + 1))

    @cached_property
    def _names(self) -> dict[int, str]:
        return {number: word for word, number in self._numbers.items()}

    def of_item(self, item: int) -> tuple[Places, Floats]:
        """Return the tokens of an item of the corpus and their weights."""
        part = slice(self._item_starts[item], self._item_starts[item + 1])
        return self._tokens[part], self._weights[part]

    def among(self, rows: Sequence[Ints]) -> "Among":
        """Return what measures how close the items of some rows are to texts."""
        lengths = [len(row) for row in rows]
        items = np.concatenate([np.empty(0, np.int64), *rows])
        starts = self._item_starts[items]
        sizes = self._item_starts[items + 1] - starts
        places = spread(starts, sizes)
        owners = np.arange(len(items)) - np.repeat(np.cumsum([0, *lengths])[:-1], lengths)
        edges = np.append(0, np.cumsum(sizes))[np.cumsum([0, *lengths])]
        return Among(
            owners=np.repeat(owners, sizes),
            tokens=self._tokens[places],
            weights=self._weights[places],
            lengths=lengths,
            edges=edges.tolist(),
            room=np.zeros(len(self._sizes) if len(items) else 0),
        )

    def of_text(self, title: str, text: str = "") -> tuple[Ints, Floats]:
        """Return the same of any text. Words that no item has make the vector longer, so that the rest weighs less."""
        vocabulary, numbered, tf = self._texts.numbered(title, text)
        numbers = self._tokens_of(vocabulary, numbered)
        order = numbers.argsort()  # as those of an item: then sums are the same to the last bit, however they are computed
        numbered, tf, numbers = numbered[order], tf[order], numbers[order]
        known = numbers >= 0
        tokens, strange = numbers[known], tf[~known] * self._rarity_of_strange(vocabulary, numbered[~known])
        weights: Floats = tf[known] * self._idf[tokens]
        length = sqrt(float(weights @ weights) + float(strange @ strange))
        return tokens, weights / length if length else weights

    def _tokens_of(self, vocabulary: Vocabulary, numbered: Places) -> Ints:
        """The tokens of words of a vocabulary, -1 of those that no item has; each word is looked up once."""
        of, known = self._known
        known = known if of is vocabulary else np.empty(0, np.int64)
        if len(known) < (count := len(vocabulary.words)):
            new = vocabulary.words[len(known) : count]
            known = np.append(known, np.fromiter(map(self._numbers.get, new, repeat(-1)), np.int64, len(new)))
            self._known = (vocabulary, known)
        return known[numbered]

    def _rarity_of_strange(self, vocabulary: Vocabulary, numbered: Places) -> Floats | float:
        if self._host is None:
            return 1 + log(1 + self._count)
        return self._host.rarity([vocabulary.words[number] for number in numbered.tolist()])

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
        sizes = self._sizes[tokens]
        places = spread(self._token_starts[tokens], sizes)
        items, cells = self._by_token
        # All places are within bounds; "clip" is the mode that takes them without a copy.
        shares = cells.take(places, mode="clip")
        shares *= np.repeat(weights, sizes)
        cosines = np.bincount(items.take(places, mode="clip"), weights=shares, minlength=self._count)
        return cosines.astype(float, copy=False).clip(max=1.0)  # rounding may go past 1 by a hair


@dataclass(frozen=True, slots=True, eq=False)
class Among:
    """The items of some rows: of each token of each item whose it is, as a place in the row, and how much of it there is."""

    owners: Ints
    tokens: Places
    weights: Floats
    lengths: Sequence[int]  # of the rows, in items
    edges: Sequence[int]  # where each row begins among the tokens, and the last one ends
    room: Floats  # for every token; 0 everywhere

    def closeness(self, row: int, vector: tuple[Ints | Places, Floats]) -> Floats:
        """Return the cosine, 0 to 1, of the vector with that of every item of the row; no token is twice in it."""
        if not self.lengths[row]:
            return np.empty(0)
        tokens, weights = vector
        here = slice(self.edges[row], self.edges[row + 1])
        self.room[tokens] = weights
        shares = self.room.take(self.tokens[here], mode="clip")
        self.room[tokens] = 0.0
        shares *= self.weights[here]
        found = np.bincount(self.owners[here], weights=shares, minlength=self.lengths[row])
        return found.astype(float, copy=False).clip(max=1.0)


@lru_cache(maxsize=1024)  # what people marked is the same every day; about 3 kB each
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
