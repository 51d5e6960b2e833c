"""Clauses of the query language held against all items of a day at once.

Whether a clause matches is what `bot.query.matches` says, item by item; phrases are looked up in the corpus, everything else
is asked there. How strongly it matches is a number in 0–1: a phrase by how often and where it occurs, anything else by 0 or
1; `and` is as strong as its weakest part, `or` as its strongest.

What a topic weighs is the sum of such strengths, each times its clause's weight.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_MAKERS = ("author", "org")
_LEAST = 100  # numbers that an answer takes as much room as, were it empty


@dataclass(frozen=True, slots=True, eq=False)
class Phrase:
    """A term or label as it is looked up and told, whatever the day; of one leaf there is one as a rule."""

    leaf: Leaf
    text: str
    lower: str  # the same in lower case
    spellings: tuple[Spelling, ...]


@lru_cache(maxsize=1 << 16)
def phrase_of(leaf: Leaf) -> Phrase:
    """Return the phrase; topics ask for the same of every day: each is spelt once, in the life of the service."""
    text = _written(leaf)
    return Phrase(leaf, text, text.lower(), spellings_of(leaf) if isinstance(leaf, Term) else ())


@dataclass(frozen=True, eq=False)
class Mention:
    """A phrase, and the items that have it, in order, with how often (a label: once)."""

    phrase: Phrase
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


class _Measured(NamedTuple):
    """What a `Clause` holds, of a part of one; a mention may be there twice."""

    items: Ints | Places
    strengths: Floats
    mentions: tuple[Mention, ...] = ()


_NOTHING = _Measured(np.empty(0, np.int32), np.empty(0))


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
        self._asked: dict[Tree, Claims] = {}
        self._measured: dict[Phrase | Tree, _Measured] = {}  # of phrases

    def at(self, now: datetime) -> "Clauses":
        """Return the same at another time; what depends on none is not worked out again."""
        other = copy(self)
        other._now = now
        other._folded, other._measured = self._folded.copy(), self._measured.copy()
        other._asked = {tree: claims for tree, claims in self._asked.copy().items() if not isinstance(tree, When)}
        return other

    def matching(self, tree: Tree, scores: Floats | None = None) -> Claims:
        """Return for every item whether the tree holds; `score:` asks about `scores`, nan where an item has none."""
        match tree:
            case Term():
                return self.having([phrase_of(tree)])
            case Not():
                return ~self.matching(tree.part, scores)
            case And():
                return self._join(tree.parts, np.logical_and, scores, start=True)
            case Or():
                others = [part for part in tree.parts if not isinstance(part, Term)]
                claims = self.having([phrase_of(part) for part in tree.parts if isinstance(part, Term)])
                return claims | self._join(others, np.logical_or, scores, start=False) if others else claims
            case Number(field="score") if scores is not None:
                return _within(tree, scores)
            case _:
                return self._ask(tree)

    def look_up(self, tree: Tree) -> Clause:
        """Return the items for which the clause holds."""
        items, strengths, mentions = self.measure(tree)
        return Clause(tree, items, strengths, tuple(dict.fromkeys(mentions)))

    # --- whether

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

    # --- how strongly and how often

    def look_up_phrases(self, phrases: Iterable[Phrase]) -> None:
        """Look up all of these together that were not asked about before: a tenth of what one after another takes."""
        new = [phrase for phrase in dict.fromkeys(phrases) if phrase not in self._measured]
        terms = [(phrase, phrase.leaf.field) for phrase in new if isinstance(phrase.leaf, Term)]
        if terms:
            self._measure_terms(terms)
        for phrase in new:
            if isinstance(phrase.leaf, Label):
                labelled = self._ask(phrase.leaf).nonzero()[0]
                ones = np.ones(len(labelled), np.int32)
                self._remember(phrase, labelled, ones.astype(float), ones)

    def measured(self, phrase: Phrase) -> _Measured:
        """Return the items that have the phrase, how strongly, and how often."""
        if phrase not in self._measured:
            self.look_up_phrases([phrase])
        return self._measured[phrase]

    def parts(self, row: "ClauseRow") -> list[_Measured]:
        """Return what the parts of the row are measured as."""
        known = self._measured.get
        return [
            known(part) or (self.measured(part) if isinstance(part, Phrase) else self.measure(part)) for part in row.parts
        ]

    def mentions(self, clause: "WeightedClause") -> tuple[Mention, ...]:
        """Return the terms and labels of which the clause asks for and that any item has, each once."""
        parts = map(self.measured, clause.phrases) if clause.phrases else [self.measure(clause.tree)]
        return tuple(dict.fromkeys(mention for part in parts for mention in part.mentions))

    def having(self, phrases: Sequence[Phrase]) -> Claims:
        """Return for every item whether it has any of the phrases."""
        claims = np.zeros(len(self._items), bool)
        if phrases:
            claims[np.concatenate([(self._measured.get(each) or self.measured(each)).items for each in phrases])] = True
        return claims

    def _measure_terms(self, terms: Sequence[tuple[Phrase, str]]) -> None:
        numbers, slots, counts = self._corpus.find([(phrase.spellings, field) for phrase, field in terms])
        ours = slots < len(self._items) * len(FIELDS)
        numbers, slots, counts = numbers[ours], slots[ours], counts[ours]
        items = slots // len(FIELDS)
        begins = groups(numbers * len(self._items) + items)
        edges = np.searchsorted(numbers[begins], np.arange(len(terms) + 1)).tolist()
        places, strengths = items[begins], np.empty(0)
        if len(begins):
            weighed = counts * self._weights[slots] / self._stretch[slots]
            counts, frequencies = np.add.reduceat(counts, begins), np.add.reduceat(weighed, begins)
            strengths = frequencies / (frequencies + K1)
        for (phrase, field), start, end in zip(terms, edges, edges[1:], strict=False):
            if start == end:
                self._remember(phrase, places[:0], np.empty(0), counts[:0])
            elif field in _MAKERS:  # a name is there or not: it is no subject that a text dwells on
                self._remember(phrase, places[start:end], np.ones(end - start), counts[start:end])
            else:
                self._remember(phrase, places[start:end], strengths[start:end], counts[start:end])

    def _remember(self, phrase: Phrase, items: Ints | Places, strengths: Floats, counts: Ints | Places) -> None:
        if not len(items):
            self._measured[phrase] = _NOTHING
            self.size += _LEAST // 8
            return
        self._measured[phrase] = _Measured(items, strengths, (Mention(phrase, items, counts),))
        self.size += 2 * len(items) + _LEAST

    def measure(self, tree: Tree) -> _Measured:
        """Return the same, a mention perhaps twice."""
        match tree:
            case Term() | Label():
                return self.measured(phrase_of(tree))
            case And() if tree.parts:
                return self._weakest([self.measure(part) for part in tree.parts])
            case Or():
                return self._strongest([self.measure(part) for part in tree.parts])
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


@dataclass(frozen=True, slots=True, eq=False)
class WeightedClause:
    """One clause that a topic weighs, whatever the day; `text` is it as the person wrote it.

    Where it is as strong as the strongest of some phrases, they are in `phrases`; otherwise there are none.
    """

    tree: Tree
    weight: float
    text: str
    phrases: tuple[Phrase, ...]


def weighted(tree: Tree, weight: float, text: str) -> WeightedClause:
    """Return the clause, read for all days."""
    leaves = tree.parts if isinstance(tree, Or) else (tree,)
    phrases = [phrase_of(leaf) for leaf in leaves if isinstance(leaf, Term | Label)]
    return WeightedClause(tree, weight, text, tuple(dict.fromkeys(phrases)) if len(phrases) == len(leaves) else ())


@dataclass(frozen=True, slots=True, eq=False)
class ClauseRow:
    """The clauses that one topic weighs, and what they are made of, in one row.

    Each part is a phrase, or a clause that is none and no choice of phrases; `owners` are the numbers of the parts' clauses.
    """

    clauses: tuple[WeightedClause, ...]
    parts: tuple[Phrase | Tree, ...]
    owners: Ints


def clause_row(clauses: Sequence[WeightedClause]) -> ClauseRow:
    """Return the row of these clauses."""
    parts = [(number, part) for number, each in enumerate(clauses) for part in each.phrases or (each.tree,)]
    return ClauseRow(tuple(clauses), tuple(part for _, part in parts), np.array([number for number, _ in parts], np.int64))


def phrases_in(tree: Tree) -> Iterator[Phrase]:
    """Return every term of a tree, of what it excludes too."""
    match tree:
        case Term():
            yield phrase_of(tree)
        case Not():
            yield from phrases_in(tree.part)
        case And() | Or():
            for part in tree.parts:
                yield from phrases_in(part)


class HeldClause(NamedTuple):
    """A clause that holds for an item."""

    value: float  # its strength there, times its weight
    clause: WeightedClause
    mentions: tuple[Mention, ...]  # of what it asks for


class WeightedMatches:
    """The weighted strengths of the clauses of some topics: topic by topic, clause by clause, each in the order of items.

    Each row of the clauses is one topic's. All topics are added up at once, each as it would be alone, to the last bit.
    """

    def __init__(self, rows: Sequence[ClauseRow], clauses: Clauses, count: int) -> None:
        """`count` is how many items there are."""
        self._clauses, self._count, self._rows = clauses, count, len(rows)
        self._weighted = [each for row in rows for each in row.clauses]
        ends = np.cumsum([0, *(len(row.clauses) for row in rows)])
        parts = [part for row in rows for part in clauses.parts(row)]
        sizes = np.array([len(part.items) for part in parts], np.int64)
        owners = np.concatenate([np.empty(0, np.int64), *(row.owners for row in rows)])
        owners += np.repeat(ends[:-1], [len(row.owners) for row in rows])
        which: Ints = np.repeat(owners, sizes)
        items: Ints = np.concatenate([np.empty(0, np.int64), *[part.items for part in parts]])
        strengths = np.concatenate([np.empty(0), *[part.strengths for part in parts]])
        self._which, self._items, strengths = _strongest(which, items, strengths, count)
        weights = np.array([each.weight for each in self._weighted], float)
        self._values: Floats = weights[self._which] * strengths
        self._starts: list[int] = self._which.searchsorted(ends).tolist()  # of each row among what was found

    def sums(self) -> Floats:
        """Return the sum for every item, a row for each topic."""
        rows = np.repeat(np.arange(self._rows) * self._count, np.diff(self._starts))
        found = np.bincount(rows + self._items, weights=self._values, minlength=self._rows * self._count)
        return found.astype(float, copy=False).reshape(self._rows, self._count)

    def held(self, row: int, numbers: Sequence[int]) -> list[list[HeldClause]]:
        """Return for each of these items, all different, the clauses of the topic that hold, in their order."""
        found: list[list[HeldClause]] = [[] for _ in numbers]
        here = slice(self._starts[row], self._starts[row + 1])
        places = np.full(self._count, -1)
        places[numbers] = np.arange(len(numbers))
        asked = places[self._items[here]]
        kept = (asked >= 0).nonzero()[0]
        each = (asked[kept].tolist(), self._which[here][kept].tolist(), self._values[here][kept].tolist())
        told: dict[int, tuple[Mention, ...]] = {}
        for place, number, value in zip(*each, strict=True):
            clause = self._weighted[number]
            if number not in told:
                told[number] = self._clauses.mentions(clause)
            found[place].append(HeldClause(value, clause, told[number]))
        return found


def _strongest(which: Ints, items: Ints, strengths: Floats, count: int) -> tuple[Ints, Ints, Floats]:
    """Each item once for each clause, in their order, with the largest of its strengths."""
    keys = which * count + items
    if not len(keys):
        return which, items, strengths
    order = np.argsort(keys, kind="stable")
    begins = groups(keys[order])
    first = order[begins]
    return which[first], items[first], np.maximum.reduceat(strengths[order], begins)
