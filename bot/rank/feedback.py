"""What a topic learns from the items that people marked more or less: a weight for every word, and why.

Ridge regression of what was said (more: 1, less: -LESS, both: in between) on the words of the marked items, solved in its
dual form: every marked item gets one number a, and a word's weight is the sum of a times how much the item has of the word.
So each weight can be told by who taught it. C. Saunders, A. Gammerman, V. Vovk, "Ridge Regression Learning Algorithm in Dual
Variables", 1998; each answer counts as often as people gave it.

What every paper has says nothing about taste, and with few labels it would weigh most: the direction of an ordinary paper is
taken out of the marked items first. It and the rarity of words come from a table that is shipped (`bot.rank.common_words`),
so the weights depend on the labels alone: not on the day, not on the order, not on what was learned before. A label that is
taken back leaves no trace. docs/decisions/0015-feedback.md has the measurements.

"More" fills a share of what an item's relevance lacks, "less" takes a share of the score it has: an item that is near to
nothing that was marked keeps its score, no label can lift a score above 1 or bring it to 0, and however many there are, none
can lift an item past what full relevance gives. So a `min_score` goes on meaning what it meant.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nlargest
from itertools import chain

import numpy as np

from bot.models import Feedback, Item
from bot.rank import reasons
from bot.rank.common_words import Background, at_large
from bot.rank.corpus import Floats, Ints
from bot.rank.item_index import ItemIndex
from bot.rank.meaning import NO_VECTORS, products
from bot.rank.spelling import spelled, spellings_in
from bot.rank.vectors import weighed
from bot.rank.weights import BY_MEANING, DIGITS, FEW, LESS, LOWER, NEAREST, POWER, RAISE, RELEVANCE, RIDGE, SURE


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
    """The marked items that count, one each, in the order of their keys, and the weight of every word in them."""

    marked: tuple[MarkedItem, ...]
    weights: Mapping[str, float]  # by folded word


def learn(marked: Sequence[MarkedItem], background: Background) -> Learned:
    """Return what the marks teach; marks on the same item are added up, and without any nothing is learned.

    Thirty take about 5 ms, three hundred a third of a second; it grows with the square of their number.
    """
    counted = _merged(marked)
    if not counted:
        return Learned((), {})
    texts = _read([each.item for each in counted], background)
    ordinary = background.ordinary(texts.words)
    shares = texts.times(ordinary)
    likeness = _products(texts) - np.outer(shares, shares)
    answers = answered(counted)
    penalties = np.array([RIDGE / (each.more + each.less) for each in counted])
    found = np.linalg.solve(likeness + np.diag(penalties), answers)
    weights = _sums(texts.columns, texts.values * found[texts.rows], len(texts.words))
    rounded = np.round(weights - float(found @ shares) * ordinary, DIGITS).tolist()
    return Learned(counted, dict(zip(texts.words, rounded, strict=True)))


def profile(marked: Sequence[MarkedItem]) -> tuple[LearnedTerm, ...]:
    """Return the words that were learned, strongest first, with their weights; these are what the ranking adds up."""
    learned = learn(marked, at_large())
    written = spellings_in([each.item for each in learned.marked])
    counts: dict[str, list[int]] = {word: [0, 0] for word in learned.weights}
    for mark in learned.marked:
        for word in _words(mark.item)[0]:
            counts[word][0] += mark.more
            counts[word][1] += mark.less
    terms = [
        LearnedTerm(written.get(word, word), weight, *counts[word]) for word, weight in learned.weights.items() if weight
    ]
    return tuple(sorted(terms, key=lambda each: (-abs(each.weight), each.term)))


def _merged(marked: Sequence[MarkedItem]) -> tuple[MarkedItem, ...]:
    """One mark per item, in an order that does not depend on the given one."""
    found: dict[str, MarkedItem] = {}
    told = (each for each in marked if each.more + each.less > 0)
    for each in sorted(told, key=lambda each: (each.item.key, each.item.title, each.item.abstract, each.item.keywords)):
        before = found.get(each.item.key)
        item, more, less = (before.item, before.more, before.less) if before else (each.item, 0, 0)
        found[each.item.key] = MarkedItem(item, more + each.more, less + each.less)
    return tuple(found.values())


def answered(marked: Sequence[MarkedItem]) -> Floats:
    """Return what was said of each item, as one number."""
    return np.array([_answer(each) for each in marked])


def _answer(mark: MarkedItem) -> float:
    """Between 1, when all want more, and -LESS, when all want less; 0 when they are split."""
    net = (mark.more - mark.less) / (mark.more + mark.less)
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


def marked_items(given: Sequence[Feedback], known: Mapping[str, Item]) -> list[MarkedItem]:
    """Return every item that somebody spoke of: how many people want more like it, and how many less.

    `given` is the oldest first, `known` the items by the keys that it names. What was said of an item under an older key
    of it counts for the item, and a person's last word alone; an item that is not known any more teaches nothing.
    """
    last = {(known[each.key].key, each.person): each.more for each in given if each.key in known}
    counts = Counter((key, more) for (key, _), more in last.items())
    items = {known[each.key].key: known[each.key] for each in given if each.key in known}
    return [MarkedItem(item, counts[key, True], counts[key, False]) for key, item in items.items()]


_WORDS = 3  # that a reason names, and
_SAID = 0.03  # the least that a part adds or takes before anything is said


@dataclass(frozen=True)
class FeedbackEffect:
    """What was learned, and what it says for every item of the index, above 0, or against it."""

    index: ItemIndex
    learned: Learned
    found: Floats
    vectors: Mapping[str, bytes] = field(default_factory=dict)  # of the marked items

    @cached_property
    def effect(self) -> Floats:
        """How every item leans: 1 at most for it, -1 at most against it."""
        return np.where(self.found > 0, self.found / SURE, self.found / (LESS * SURE)).clip(-1.0, 1.0)

    def part(self, admitted: Ints, relevance: Floats, total: Floats) -> Floats:
        """Return what is added to, or taken from, the scores of the admitted items."""
        effect = self.effect[admitted]
        raised = RAISE * effect * (RELEVANCE - relevance.clip(0.0, RELEVANCE))
        return np.round(np.where(effect > 0, raised, LOWER * effect * total), DIGITS).astype(float, copy=False)

    def reason(self, number: int, value: float) -> str:
        """Say what the item at this place has in common with what was marked, when that changed its score by `value`."""
        if abs(value) < _SAID:
            return ""
        item, liked = self.index.items[number], value > 0
        names = {item.key, *item.aliases}
        if any(each.item.key in names and _agrees(each, liked=liked) for each in self.learned.marked):
            return reasons.of_feedback([], [], liked=liked, itself=True)
        near = self._near(number, liked=liked)
        words = [] if near else spelled(self._words(number, liked=liked), item)
        return reasons.of_feedback(near, words, liked=liked)

    @cached_property
    def _cosines(self) -> Floats:
        """Of every marked item with every item; made for the first reason."""
        return np.stack([self.index.closeness(each.item, self.vectors.get(each.item.key)) for each in self.learned.marked])

    @cached_property
    def _reason_thresholds(self) -> Floats:
        """From which of these on an item is told to be close."""
        return np.stack(
            [self.index.reason_threshold(each.item, self.vectors.get(each.item.key)) for each in self.learned.marked]
        )

    @cached_property
    def _shares(self) -> Callable[[int], list[tuple[float, str]]]:
        return self.index.shares(self.learned.weights)

    def _near(self, number: int, *, liked: bool) -> list[Item]:
        """The marked items of one side that the item is close to, the closest first."""
        cosines, least = self._cosines[:, number], self._reason_thresholds[:, number]
        order = (int(place) for place in np.argsort(-cosines, kind="stable") if cosines[place] >= least[place])
        marked = (self.learned.marked[place] for place in order)
        return [each.item for each in marked if _agrees(each, liked=liked)][:NEAREST]

    def _words(self, number: int, *, liked: bool) -> list[str]:
        """The words of the item that speak most for it, or against it."""
        sign = 1.0 if liked else -1.0
        strongest = nlargest(_WORDS, ((sign * share, word) for share, word in self._shares(number)))
        return [word for share, word in strongest if share > 0]


def feedback_effect(
    index: ItemIndex, marked: Sequence[MarkedItem], vectors: Mapping[str, bytes] = NO_VECTORS
) -> FeedbackEffect | None:
    """Return what the marks do to the scores of the index; None when they teach nothing.

    `vectors` are those of marked items that the index does not have, by key.
    """
    learned = learn(marked, index.background)
    if not learned.marked:
        return None
    by_words = index.weigh(learned.weights)
    return FeedbackEffect(index, learned, _with_meaning(index, learned.marked, vectors, by_words), vectors)


def _with_meaning(index: ItemIndex, marked: Sequence[MarkedItem], vectors: Mapping[str, bytes], by_words: Floats) -> Floats:
    """What is learned of words, and of vectors for the items that have one.

    It is the same regression with a power of the cosine for the product of two vectors. An item without a vector, and all of
    them when no marked item has one, keep what their words say.
    """
    read = [(each, index.vector(each.item, vectors.get(each.item.key))) for each in marked]
    seen = [(each, vector) for each, vector in read if vector is not None]
    if not seen:
        return by_words
    rows = [vector for _, vector in seen]
    penalties = np.array([RIDGE / (each.more + each.less) for each, _ in seen])
    found = np.linalg.solve(products(rows) ** POWER + np.diag(penalties), answered([each for each, _ in seen]))
    cosines, known = index.cosines(rows)
    share = BY_MEANING * min(1.0, FEW / len(marked)) * len(seen) / len(marked) * known
    return by_words * (1 - share) + (found @ cosines**POWER) * share


def _agrees(mark: MarkedItem, *, liked: bool) -> bool:
    return mark.more > mark.less if liked else mark.less > mark.more
