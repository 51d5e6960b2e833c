"""Clauses of the query language held against all items of a day at once.

Whether a clause matches is what `bot.query.matches` says, item by item; phrases are looked up in the corpus, everything else
is asked there. How strongly it matches is a number in 0–1: a phrase by how often and where it occurs, anything else by 0 or
1; `and` is as strong as its weakest part, `or` as its strongest.

What a topic weighs is the sum of such strengths, each times its clause's weight.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bot.models import And, Item, Label, Not, Number, Or, Term, Tree, When
from bot.query.fields import spellings_of
from bot.query.fold import Spelling
from bot.query.match import Folded, matches
from bot.rank.corpus import FIELDS, Corpus, Floats, Ints, Places, groups
from bot.rank.weights import FIELD_WEIGHTS, K1, LONG_ABSTRACT

Claims = NDArray[np.bool_]
Leaf = Term | Label

_WEIGHTS = np.array([FIELD_WEIGHTS[field] for field in FIELDS])
_STRETCHED = np.array([field == "abstract" for field in FIELDS])
_LEAST = 100  # numbers that an answer takes as much room as, were it empty


@dataclass(frozen=True, eq=False)
class Mention:
    """A term or label of a clause, as it is told, and the items that have it, in order, with how often (a label: once)."""

    leaf: Leaf
    text: str
    lower: str  # the same in lower case
    items: Ints | Places
    times: Ints | Places

    @cached_property
    def counts(self) -> Mapping[int, int]:
        """How often, by item; made for the first reason that is told."""
        return dict(zip(self.items.tolist(), self.times.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """The items for which a clause holds.

    `items` are their places, in order, and `strengths` how strongly it holds for each (above 0, up to 1). `mentions` are the
    terms and labels of which it asks for and that any item has, each once.
    """

    tree: Tree
    items: Ints | Places
    strengths: Floats
    mentions: tuple[Mention, ...]


@lru_cache(maxsize=1 << 15)
def _spellings(term: Term) -> tuple[Spelling, ...]:
    """Topics ask for the same of every day: each term is spelt once, in the life of the service; 10 MB at most."""
    return spellings_of(term)


class _Measured(NamedTuple):
    """What a `Clause` holds, of a part of one; a mention may be there twice."""

    items: Ints | Places
    strengths: Floats
    mentions: tuple[Mention, ...] = ()


class Clauses:
    """Answers for every clause once: ten thousand topics ask about the same few words again and again.

    `size` is how many numbers it remembers for that; who keeps it for long makes it anew in time.
    """

    def __init__(self, items: Sequence[Item], corpus: Corpus, now: datetime) -> None:
        self._items = items
        self._corpus = corpus
        self._now = now
        fields = np.arange(len(corpus.lengths)) % len(FIELDS)
        self._weights: Floats = _WEIGHTS[fields]
        # By how much an abstract is longer than abstracts are; 1 for any other text.
        self._stretch: Floats = np.where(_STRETCHED[fields], np.maximum(corpus.lengths / LONG_ABSTRACT, 1.0), 1.0)
        self.size = 0
        self._folded: dict[int, Folded] = {}
        self._found: dict[Term, tuple[Places, Places, Places]] = {}
        self._asked: dict[Tree, Claims] = {}
        self._measured: dict[Leaf, _Measured] = {}

    def at(self, now: datetime) -> "Clauses":
        """Return the same at another time; what depends on none is not worked out again."""
        other = copy(self)
        other._now = now
        other._folded, other._found, other._measured = self._folded.copy(), self._found.copy(), self._measured.copy()
        other._asked = {tree: claims for tree, claims in self._asked.copy().items() if not isinstance(tree, When)}
        return other

    def matching(self, tree: Tree, scores: Floats | None = None) -> Claims:
        """Return for every item whether the tree holds; `score:` asks about `scores`, nan where an item has none."""
        match tree:
            case Term():
                return self._having([tree])
            case Not():
                return ~self.matching(tree.part, scores)
            case And():
                return self._join(tree.parts, np.logical_and, scores, start=True)
            case Or():
                others = [part for part in tree.parts if not isinstance(part, Term)]
                claims = self._having([part for part in tree.parts if isinstance(part, Term)])
                return claims | self._join(others, np.logical_or, scores, start=False) if others else claims
            case Number(field="score") if scores is not None:
                return _within(tree, scores)
            case _:
                return self._ask(tree)

    def look_up(self, tree: Tree) -> Clause:
        """Return the items for which the clause holds."""
        items, strengths, mentions = self._measure(tree)
        return Clause(tree, items, strengths, tuple(dict.fromkeys(mentions)))

    # --- whether

    def _having(self, terms: Sequence[Term]) -> Claims:
        """Which items have any of the terms."""
        claims = np.zeros(len(self._items), bool)
        if terms:
            claims[np.concatenate([self._find(term)[0] for term in terms])] = True
        return claims

    def _join(self, parts: Sequence[Tree], join: np.ufunc, scores: Floats | None, *, start: bool) -> Claims:
        claims = np.full(len(self._items), start)
        for part in parts:
            join(claims, self.matching(part, scores), out=claims)
        return claims

    def _ask(self, tree: Tree) -> Claims:
        claims = self._asked.get(tree)
        if claims is None:
            answers = (matches(tree, self._fold_item(item), self._now) for item in range(len(self._items)))
            claims = self._asked[tree] = np.fromiter(answers, bool, len(self._items))
            self.size += len(claims) // 8
        return claims

    def _fold_item(self, item: int) -> Folded:
        if item not in self._folded:
            self._folded[item] = Folded(self._items[item])
        return self._folded[item]

    def _find(self, term: Term) -> tuple[Places, Places, Places]:
        """Where the term occurs: items, slots of the corpus and how often there, in the order of slots."""
        found = self._found.get(term)
        if found is None:
            slots, counts = self._corpus.find(_spellings(term), term.field)
            ours = int(slots.searchsorted(len(self._items) * len(FIELDS)))
            found = self._found[term] = (slots[:ours] // len(FIELDS), slots[:ours], counts[:ours])
            self.size += 2 * ours + _LEAST
        return found

    # --- how strongly and how often

    def _measure(self, tree: Tree) -> _Measured:
        match tree:
            case Term() | Label():
                measured = self._measured.get(tree)
                if measured is None:
                    measured = self._measured[tree] = self._measure_leaf(tree)
                    self.size += 2 * len(measured.items) + _LEAST
                return measured
            case And() if tree.parts:
                return self._weakest([self._measure(part) for part in tree.parts])
            case Or():
                return self._strongest([self._measure(part) for part in tree.parts])
            case _:
                return _Measured(*_sparse(self.matching(tree).astype(float)))

    def _weakest(self, parts: Sequence[_Measured]) -> _Measured:
        dense = np.zeros((len(parts), len(self._items)))
        for row, part in zip(dense, parts, strict=True):
            row[part.items] = part.strengths
        return _Measured(*_sparse(dense.min(axis=0)), _mentions(parts))

    def _strongest(self, parts: Sequence[_Measured]) -> _Measured:
        dense = np.zeros(len(self._items))
        for part in parts:
            dense[part.items] = np.maximum(dense[part.items], part.strengths)
        return _Measured(*_sparse(dense), _mentions(parts))

    def _measure_leaf(self, leaf: Leaf) -> _Measured:
        if isinstance(leaf, Label):
            labelled = self._ask(leaf).nonzero()[0]
            return _measured(leaf, labelled, np.ones(len(labelled)), np.ones(len(labelled), np.int32))
        items, slots, counts = self._find(leaf)
        if not len(items):
            return _Measured(items, np.empty(0))
        begins = groups(items)
        places, sums = items[begins], np.add.reduceat(counts, begins)
        if leaf.field in ("author", "org"):  # a name is there or not: it is no subject that a text dwells on
            return _measured(leaf, places, np.ones(len(places)), sums)
        frequencies = np.add.reduceat(counts * self._weights[slots] / self._stretch[slots], begins)
        return _measured(leaf, places, frequencies / (frequencies + K1), sums)


def _measured(leaf: Leaf, items: Ints | Places, strengths: Floats, counts: Ints | Places) -> _Measured:
    text = _written(leaf)
    return _Measured(items, strengths, (Mention(leaf, text, text.lower(), items, counts),) if len(items) else ())


def _within(asked: Number, values: Floats) -> Claims:
    """Which of the values lie within what is asked for; nan does not. The same as bot.query.match says of one."""
    low, high = asked.low, asked.high
    above = ~np.isnan(values) if low is None else values > low if asked.above else values >= low
    return above if high is None else above & (values < high if asked.below else values <= high)


def _mentions(parts: Sequence[_Measured]) -> tuple[Mention, ...]:
    return tuple(mention for part in parts for mention in part.mentions)


def leaves_of(tree: Tree) -> list[Leaf]:
    """Return the terms and labels of which a tree asks for, in their order, each once; not what it excludes."""
    match tree:
        case Term() | Label():
            return [tree]
        case And() | Or():
            return list(dict.fromkeys(leaf for part in tree.parts for leaf in leaves_of(part)))
        case _:
            return []


def in_words(tree: Tree) -> Tree | None:
    """Return what a clause asks for in words: without the labels, numbers and dates beside which words would do as well.

    `CUDA OR has:code` asks for CUDA; `CUDA has:code` stays as it is; `has:code` asks for nothing in words: None.
    """
    match tree:
        case Term():
            return tree
        case And() if any(in_words(part) for part in tree.parts):
            return And(tuple(in_words(part) or part for part in tree.parts))
        case Or():
            parts = tuple(part for part in map(in_words, tree.parts) if part)
            return Or(parts) if len(parts) > 1 else parts[0] if parts else None
        case _:
            return None


_EVERYTHING = And(())


def besides_words(tree: Tree) -> Tree:
    """Return what a query asks for besides words on a subject: names, labels, numbers, dates, and what it excludes."""
    match tree:
        case Term() if tree.field not in ("author", "org"):
            return _EVERYTHING
        case And():
            return And(tuple(part for part in map(besides_words, tree.parts) if part != _EVERYTHING))
        case Or():
            parts = tuple(map(besides_words, tree.parts))
            return _EVERYTHING if _EVERYTHING in parts else Or(parts)
        case _:
            return tree


# How a label is told; any other is told with its field, as one would type it.
_LABELS = {"category": "{}", "has": "has {}", "kind": "a {}", "language": "in {}"}


def _written(leaf: Leaf) -> str:
    text = (leaf.text if isinstance(leaf, Term) else leaf.value) + ("*" if leaf.prefix else "")
    return text if isinstance(leaf, Term) else _LABELS.get(leaf.field, f"{leaf.field}:{{}}").format(text)


def _sparse(dense: Floats) -> tuple[Ints, Floats]:
    items = (dense != 0).nonzero()[0]
    return items, dense[items]


@dataclass(frozen=True, slots=True)
class WeightedClause:
    """One clause that a topic weighs; `text` is it as the person wrote it."""

    clause: Clause
    weight: float
    text: str


Held = list[tuple[float, WeightedClause]]  # those that hold for an item, each with its weighted strength


class WeightedMatches:
    """The weighted strengths of all of a topic's clauses in one row: clause by clause, each in the order of its items."""

    def __init__(self, weighted_clauses: Sequence[WeightedClause], count: int) -> None:
        """`count` is how many items there are."""
        self._weighted_clauses = weighted_clauses
        self._count = count
        clauses = [weighted.clause for weighted in weighted_clauses]
        weights = np.array([weighted.weight for weighted in weighted_clauses], float)
        self._which: Ints = np.repeat(np.arange(len(weighted_clauses)), [len(clause.items) for clause in clauses])
        self._items: Ints = np.concatenate([np.empty(0, np.int64), *(clause.items for clause in clauses)])
        strengths = np.concatenate([np.empty(0), *(clause.strengths for clause in clauses)])
        self._values: Floats = weights[self._which] * strengths

    def sums(self) -> Floats:
        """Return the sum for every item."""
        return np.bincount(self._items, weights=self._values, minlength=self._count).astype(float, copy=False)

    def held(self, numbers: Sequence[int]) -> list[Held]:
        """Return for each of these items, all different, the clauses that hold, in their order."""
        found: list[Held] = [[] for _ in numbers]
        places = np.full(self._count, -1)
        places[numbers] = np.arange(len(numbers))
        here = places[self._items]
        asked = (here >= 0).nonzero()[0]
        rows = zip(here[asked].tolist(), self._which[asked].tolist(), self._values[asked].tolist(), strict=True)
        for place, weighted, value in rows:
            found[place].append((value, self._weighted_clauses[weighted]))
        return found
