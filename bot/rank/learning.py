"""What a topic learns from the items that people marked more or less: a weight for every word, and why.

Ridge regression of what was said (more: 1, less: -LESS, both: in between) on the words of the marked items, solved in its
dual form: every marked item gets one number a, and a word's weight is the sum of a times how much the item has of the word.
So each weight can be told by who taught it. C. Saunders, A. Gammerman, V. Vovk, "Ridge Regression Learning Algorithm in Dual
Variables", 1998; each answer counts as often as people gave it.

What every paper has says nothing about taste, and with few labels it would weigh most: the direction of an ordinary paper is
taken out of the marked items first. It and the rarity of words come from a table that is shipped (`bot.rank.background`), so
the weights depend on the labels alone: not on the day, not on the order, not on what was learned before. A label that is
taken back leaves no trace. docs/decisions/0015-feedback.md has the measurements.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from bot.models import Item
from bot.rank.background import Background, at_large
from bot.rank.corpus import Ints
from bot.rank.spelling import spellings_in
from bot.rank.vectors import Floats, weighed
from bot.rank.weights import DIGITS, LESS, RIDGE


@dataclass(frozen=True, slots=True)
class MarkedItem:
    """One item, and how many people want more and less like it."""

    item: Item
    more: int
    less: int


@dataclass(frozen=True, slots=True)
class LearnedTerm:
    """A word, as the marked items write it, and its weight; below 0 it speaks against an item.

    `more` and `less` are how many of those marks were given to items that have the word.
    """

    term: str
    weight: float
    more: int
    less: int


@dataclass(frozen=True, slots=True)
class _Texts:
    """The vectors of some items, of length 1, laid out in one row: whose, which word, how much of it."""

    count: int
    words: list[str]
    rows: Ints
    columns: Ints
    values: Floats

    def times(self, direction: Floats) -> Floats:
        """Return the product of every item's vector with a direction."""
        return _sums(self.rows, self.values * direction[self.columns], self.count)


@dataclass(frozen=True, slots=True)
class Learned:
    """The lessons that count, one per item, in the order of their keys, and the weight of every word in them."""

    lessons: tuple[MarkedItem, ...]
    weights: Mapping[str, float]  # by folded word


def learn(lessons: Sequence[MarkedItem], background: Background) -> Learned:
    """Return what the lessons teach; lessons on the same item are added up, and without any nothing is learned.

    Thirty take about 5 ms, three hundred a third of a second; it grows with the square of their number.
    """
    counted = _merged(lessons)
    if not counted:
        return Learned((), {})
    texts = _read([each.item for each in counted], background)
    ordinary = background.ordinary(texts.words)
    shares = texts.times(ordinary)
    likeness = _products(texts) - np.outer(shares, shares)
    answers = answered(counted)
    doubt = np.array([RIDGE / (each.more + each.less) for each in counted])
    found = np.linalg.solve(likeness + np.diag(doubt), answers)
    weights = _sums(texts.columns, texts.values * found[texts.rows], len(texts.words))
    rounded = np.round(weights - float(found @ shares) * ordinary, DIGITS).tolist()
    return Learned(counted, dict(zip(texts.words, rounded, strict=True)))


def profile(lessons: Sequence[MarkedItem]) -> tuple[LearnedTerm, ...]:
    """Return the words that were learned, strongest first, with their weights; these are what the ranking adds up."""
    learned = learn(lessons, at_large())
    written = spellings_in([each.item for each in learned.lessons])
    taught: dict[str, list[int]] = {word: [0, 0] for word in learned.weights}
    for lesson in learned.lessons:
        for word in _words(lesson.item)[0]:
            taught[word][0] += lesson.more
            taught[word][1] += lesson.less
    terms = [
        LearnedTerm(written.get(word, word), weight, *taught[word]) for word, weight in learned.weights.items() if weight
    ]
    return tuple(sorted(terms, key=lambda each: (-abs(each.weight), each.term)))


def _merged(lessons: Sequence[MarkedItem]) -> tuple[MarkedItem, ...]:
    """One lesson per item, in an order that does not depend on the given one."""
    found: dict[str, MarkedItem] = {}
    told = (each for each in lessons if each.more + each.less > 0)
    for each in sorted(told, key=lambda each: (each.item.key, each.item.title, each.item.abstract, each.item.keywords)):
        before = found.get(each.item.key)
        item, more, less = (before.item, before.more, before.less) if before else (each.item, 0, 0)
        found[each.item.key] = MarkedItem(item, more + each.more, less + each.less)
    return tuple(found.values())


def answered(lessons: Sequence[MarkedItem]) -> Floats:
    """Return what was said of each item, as one number."""
    return np.array([_answer(each) for each in lessons])


def _answer(lesson: MarkedItem) -> float:
    """Between 1, when all want more, and -LESS, when all want less; 0 when they are split."""
    net = (lesson.more - lesson.less) / (lesson.more + lesson.less)
    return net if net > 0 else LESS * net


def _words(item: Item) -> tuple[tuple[str, ...], Floats]:
    return weighed(item.title, " ".join((item.abstract, *item.keywords)))


def _vector(item: Item, background: Background) -> dict[str, float]:
    """How much the item has of each of its words; of length 1."""
    words, tf = _words(item)
    weights = tf * background.idf(words)
    return dict(zip(words, (weights / max(float(np.linalg.norm(weights)), 1e-9)).tolist(), strict=True))


def _read(items: Sequence[Item], background: Background) -> _Texts:
    vectors = [_vector(item, background) for item in items]
    numbers = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(vectors)))}
    columns = np.fromiter((numbers[word] for vector in vectors for word in vector), np.int64)
    values = np.fromiter(chain.from_iterable(vector.values() for vector in vectors), float)
    rows = np.repeat(np.arange(len(items)), [len(each) for each in vectors])
    return _Texts(len(items), list(numbers), rows, columns, values)


def _sums(places: Ints, values: Floats, count: int) -> Floats:
    """Add up the values that belong to each place."""
    return np.bincount(places, weights=values, minlength=count).astype(float, copy=False)


def _products(texts: _Texts) -> Floats:
    """The product of every item's vector with every other's."""
    products = np.empty((texts.count, texts.count))
    for row in range(texts.count):
        mine = texts.rows == row
        dense = np.zeros(len(texts.words))
        dense[texts.columns[mine]] = texts.values[mine]
        products[row] = texts.times(dense)
    return products
