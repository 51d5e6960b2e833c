"""Clauses of the query language held against all items of a day at once.

Whether a clause matches is what `bot.query.matches` says, item by item; phrases are looked up in the corpus, everything else
is asked there. How strongly it matches is a number in 0–1: a phrase by how often and where it occurs, anything else by 0 or
1; `and` is as strong as its weakest part, `or` as its strongest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from bot.models import And, Item, Label, Not, Or, Term, Tree
from bot.query.fields import spellings_of
from bot.query.match import Folded, matches
from bot.rank.corpus import FIELDS, Corpus, Ints, groups
from bot.rank.vectors import Floats
from bot.rank.weights import FIELD_WEIGHTS, K1, LONG_ABSTRACT

Claims = NDArray[np.bool_]
Leaf = Term | Label

_WEIGHTS = np.array([FIELD_WEIGHTS[field] for field in FIELDS])
_ABSTRACT = FIELDS.index("abstract")


@dataclass(frozen=True, slots=True)
class Mention:
    """A term or label of a clause, as it is told, and the items that have it with how often (a label: once)."""

    leaf: Leaf
    text: str
    counts: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause and the items for which it holds.

    `items` are their places, in order, and `strengths` how strongly it holds for each (above 0, up to 1); `by_item` is the
    same to look up. `mentions` are the terms and labels of which it asks for and that any item has.
    """

    tree: Tree
    items: Ints
    strengths: Floats
    by_item: Mapping[int, float]
    mentions: tuple[Mention, ...]


class Clauses:
    """Answers for every clause once: ten thousand topics ask about the same few words again and again."""

    def __init__(self, items: Sequence[Item], corpus: Corpus, now: datetime) -> None:
        self._items = items
        self._corpus = corpus
        self._now = now
        self._folded: dict[int, Folded] = {}
        self._found: dict[Term, tuple[Ints, Ints, Ints]] = {}
        self._asked: dict[Tree, Claims] = {}
        self._measured: dict[Term, tuple[Ints, Floats]] = {}
        self._mentions: dict[Leaf, Mention] = {}

    def matching(self, tree: Tree) -> Claims:
        """Return for every item whether the tree holds."""
        match tree:
            case Term():
                return self._having([tree])
            case Not():
                return ~self.matching(tree.part)
            case And():
                return self._join(tree.parts, np.logical_and, start=True)
            case Or():
                others = [part for part in tree.parts if not isinstance(part, Term)]
                claims = self._having([part for part in tree.parts if isinstance(part, Term)])
                return claims | self._join(others, np.logical_or, start=False) if others else claims
            case _:
                return self._ask(tree)

    def look_up(self, tree: Tree) -> Clause:
        """Return the clause with the items for which it holds."""
        items, strengths = self._measure(tree)
        by_item = dict(zip(items.tolist(), strengths.tolist(), strict=True))
        mentions = [mention for leaf in leaves_of(tree) if (mention := self._mention(leaf)).counts]
        return Clause(tree, items, strengths, by_item, tuple(mentions))

    # --- whether

    def _having(self, terms: Sequence[Term]) -> Claims:
        """Which items have any of the terms."""
        claims = np.zeros(len(self._items), bool)
        if terms:
            claims[np.concatenate([self._find(term)[0] for term in terms])] = True
        return claims

    def _join(self, parts: Sequence[Tree], join: np.ufunc, *, start: bool) -> Claims:
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

    def _find(self, term: Term) -> tuple[Ints, Ints, Ints]:
        """Where the term occurs: items, fields and how often there, in the order of items, then fields."""
        found = self._found.get(term)
        if found is None:
            slots, counts = self._corpus.find(spellings_of(term), term.field)
            ours = int(np.searchsorted(slots, len(self._items) * len(FIELDS)))
            items, fields = np.divmod(slots[:ours], len(FIELDS))
            found = self._found[term] = (items, fields, counts[:ours])
        return found

    # --- how strongly and how often

    def _measure(self, tree: Tree) -> tuple[Ints, Floats]:
        match tree:
            case Term():
                if tree not in self._measured:
                    self._measured[tree] = self._measure_term(tree)
                return self._measured[tree]
            case And() if tree.parts:
                return _sparse(np.minimum.reduce([self._dense(part) for part in tree.parts]))
            case Or():
                strongest = np.zeros(len(self._items))
                for items, strengths in map(self._measure, tree.parts):
                    strongest[items] = np.maximum(strongest[items], strengths)
                return _sparse(strongest)
            case _:
                return _sparse(self.matching(tree).astype(float))

    def _measure_term(self, term: Term) -> tuple[Ints, Floats]:
        items, fields, counts = self._find(term)
        if not len(items):
            return items, np.empty(0)
        begins = groups(items)
        places = items[begins]
        if term.field in ("author", "org"):  # a name is there or not: it is no subject that a text dwells on
            return places, np.ones(len(places))
        frequencies = counts * _WEIGHTS[fields] / self._stretch(items, fields)
        sums = np.add.reduceat(frequencies, begins)
        return places, sums / (sums + K1)

    def _stretch(self, items: Ints, fields: Ints) -> Floats:
        """By how much an abstract is longer than abstracts are."""
        long = np.maximum(self._corpus.lengths[items * len(FIELDS) + fields] / LONG_ABSTRACT, 1.0)
        return np.where(fields == _ABSTRACT, long, 1.0)

    def _dense(self, tree: Tree) -> Floats:
        items, strengths = self._measure(tree)
        dense = np.zeros(len(self._items))
        dense[items] = strengths
        return dense

    def _mention(self, leaf: Leaf) -> Mention:
        mention = self._mentions.get(leaf)
        if mention is None:
            mention = self._mentions[leaf] = Mention(leaf, _written(leaf), self._count(leaf))
        return mention

    def _count(self, leaf: Leaf) -> Mapping[int, int]:
        if isinstance(leaf, Label):
            return dict.fromkeys(np.flatnonzero(self._ask(leaf)).tolist(), 1)
        items, _, counts = self._find(leaf)
        begins = groups(items)
        sums = np.add.reduceat(counts, begins) if len(items) else counts
        return dict(zip(items[begins].tolist(), sums.tolist(), strict=True))


def leaves_of(tree: Tree) -> list[Leaf]:
    """Return the terms and labels of which a tree asks for, in their order, each once; not what it excludes."""
    match tree:
        case Term() | Label():
            return [tree]
        case And() | Or():
            return list(dict.fromkeys(leaf for part in tree.parts for leaf in leaves_of(part)))
        case _:
            return []


# How a label is told; any other is told with its field, as one would type it.
_LABELS = {"category": "{}", "has": "has {}", "kind": "a {}", "language": "in {}"}


def _written(leaf: Leaf) -> str:
    text = (leaf.text if isinstance(leaf, Term) else leaf.value) + ("*" if leaf.prefix else "")
    return text if isinstance(leaf, Term) else _LABELS.get(leaf.field, f"{leaf.field}:{{}}").format(text)


def _sparse(dense: Floats) -> tuple[Ints, Floats]:
    items = np.flatnonzero(dense)
    return items, dense[items]
