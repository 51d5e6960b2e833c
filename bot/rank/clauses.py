"""A clause of the query language held against all items of a day at once.

Whether it matches is what `bot.query.matches` says, item by item; phrases are looked up in the corpus, everything else is
asked there. How strongly it matches is a number in 0–1: a phrase by how often and where it occurs, anything else by 0 or 1;
`and` is as strong as its weakest part, `or` as its strongest.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bot.models import And, Item, Not, Or, Term, Tree
from bot.query.fields import spellings_of
from bot.query.match import Folded, matches
from bot.rank.corpus import FIELDS, Corpus, Ints
from bot.rank.vectors import Floats
from bot.rank.weights import FIELD_WEIGHTS, K1, LONG_ABSTRACT

Claims = NDArray[np.bool_]

_WEIGHTS = np.array([FIELD_WEIGHTS[field] for field in FIELDS])
_ABSTRACT = FIELDS.index("abstract")


class Hit(NamedTuple):
    """How a clause holds for an item: how strongly (0–1), and how many times its phrase occurs (1 for what is no phrase)."""

    strength: float
    times: int


class Clauses:
    """Answers for every clause once: ten thousand topics ask about the same few words again and again."""

    def __init__(self, items: Sequence[Item], corpus: Corpus, now: datetime) -> None:
        self._items = items
        self._corpus = corpus
        self._now = now
        self._folded: dict[int, Folded] = {}
        self._found: dict[Term, tuple[Ints, Ints]] = {}
        self._strengths: dict[Tree, tuple[Ints, Floats]] = {}
        self._hits: dict[Tree, dict[int, Hit]] = {}
        self._asked: dict[Tree, Claims] = {}

    def matching(self, tree: Tree) -> Claims:
        """Return for every item whether the tree holds."""
        match tree:
            case Term():
                claims = np.zeros(len(self._items), bool)
                claims[self._find(tree)[0] // len(FIELDS)] = True
                return claims
            case Not():
                return ~self.matching(tree.part)
            case And():
                return self._fold(tree.parts, np.logical_and, start=True)
            case Or():
                return self._fold(tree.parts, np.logical_or, start=False)
            case _:
                return self._ask(tree)

    def strength(self, tree: Tree) -> tuple[Ints, Floats]:
        """Return the items for which the tree holds, in their order, and how strongly it does for each, above 0."""
        found = self._strengths.get(tree)
        if found is None:
            found = self._strengths[tree] = self._measure(tree)
        return found

    def hits(self, tree: Tree) -> Mapping[int, Hit]:
        """Return, for every item for which the tree holds, how strongly and how often."""
        hits = self._hits.get(tree)
        if hits is None:
            items, strengths = self.strength(tree)
            counts = self._count(tree, items)
            hits = self._hits[tree] = dict(zip(items.tolist(), map(Hit, strengths.tolist(), counts.tolist()), strict=True))
        return hits

    def _fold(self, parts: Sequence[Tree], join: np.ufunc, *, start: bool) -> Claims:
        claims = np.full(len(self._items), start)
        for part in parts:
            join(claims, self.matching(part), out=claims)
        return claims

    def _ask(self, tree: Tree) -> Claims:
        claims = self._asked.get(tree)
        if claims is None:
            answers = (matches(tree, self._fold_item(item), self._now) for item in range(len(self._items)))
            claims = self._asked[tree] = np.fromiter(answers, bool, len(self._items))
        return claims

    def _fold_item(self, item: int) -> Folded:
        if item not in self._folded:
            self._folded[item] = Folded(self._items[item])
        return self._folded[item]

    def _find(self, term: Term) -> tuple[Ints, Ints]:
        found = self._found.get(term)
        if found is None:
            slots, counts = self._corpus.find(spellings_of(term), term.field)
            ours = int(np.searchsorted(slots, len(self._items) * len(FIELDS)))
            found = self._found[term] = (slots[:ours], counts[:ours])
        return found

    def _count(self, tree: Tree, items: Ints) -> Ints:
        """How often a phrase occurs in the items that have it; anything else is there once."""
        if not isinstance(tree, Term):
            return np.ones(len(items), np.int64)
        slots, counts = self._find(tree)
        return np.add.reduceat(counts, np.searchsorted(slots, items * len(FIELDS))) if len(items) else counts

    def _measure(self, tree: Tree) -> tuple[Ints, Floats]:
        match tree:
            case Term():
                return self._measure_term(tree)
            case And() if tree.parts:
                return _sparse(np.minimum.reduce([self._dense(part) for part in tree.parts]))
            case Or() if tree.parts:
                return _sparse(np.maximum.reduce([self._dense(part) for part in tree.parts]))
            case _:
                return _sparse(self.matching(tree).astype(float))

    def _measure_term(self, term: Term) -> tuple[Ints, Floats]:
        slots, counts = self._find(term)
        if not len(slots):
            return slots, np.empty(0)
        fields = slots % len(FIELDS)
        if term.field in ("author", "org"):
            frequencies = np.full(len(slots), np.inf)  # a name is there or not; it is no subject that a text dwells on
        else:
            frequencies = counts * _WEIGHTS[fields] / self._stretch(slots, fields)
        items, where = np.unique(slots // len(FIELDS), return_inverse=True)
        sums = np.bincount(where, weights=frequencies)
        return items, np.where(np.isinf(sums), 1.0, 1 - K1 / (sums + K1))

    def _stretch(self, slots: Ints, fields: Ints) -> Floats:
        """By how much an abstract is longer than abstracts are."""
        long = np.maximum(self._corpus.lengths[slots] / LONG_ABSTRACT, 1.0)
        return np.where(fields == _ABSTRACT, long, 1.0)

    def _dense(self, tree: Tree) -> Floats:
        items, strengths = self.strength(tree)
        dense = np.zeros(len(self._items))
        dense[items] = strengths
        return dense


def _sparse(dense: Floats) -> tuple[Ints, Floats]:
    items = np.flatnonzero(dense)
    return items, dense[items]
