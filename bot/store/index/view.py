"""What the index finds, as it is at one moment."""

import contextlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from tantivy import DocAddress, Query, Schema, Searcher

from bot.models import And, Label, Not, Or, Term, Tree
from bot.models.queries import COUNTED
from bot.query.fields import TEXT, spellings_of
from bot.store.index.compile import Compiler, all_of, any_of, beside
from bot.store.index.documents import BY, LABEL
from bot.store.rules.answers import QUARTER, least, weights
from bot.store.rules.labels import label_token
from bot.store.rules.nearest import Ids
from bot.store.rules.search_terms import Words

WIDEST = 20_000  # words of the index that the beginnings of a query may stand for; some 50 ms
_LISTED = 100  # items in the lists of words that cost as much as a word
_WEIGHED = 2_000  # items with some of the words that are scored, those that have the most telling ones
_EXACT = 1 << 14  # parts of one: weights in these add up exactly in the 24 bits of tantivy's scores
_TIES = 50  # items beyond those that are asked for, among which the last one's equals mostly end

Condition: TypeAlias = Query
Scored = list[tuple[int, float]]  # id and relevance, larger for better


class IndexFailed(Exception):  # noqa: N818 - what happened, as the other errors are named
    """The index cannot be used as it is."""


@contextlib.contextmanager
def index_errors() -> Iterator[None]:
    """Turn what tantivy and the file system raise inside the block into IndexFailed.

    A panic of tantivy's is no Exception in Python, and would end the service.
    """
    try:
        yield
    except (ValueError, OSError, OverflowError, TypeError) as error:
        raise IndexFailed(str(error)) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise IndexFailed(str(error)) from error
        raise


class View:
    """The index at one moment; for any threads."""

    failures = (IndexFailed,)  # what any question may raise

    def __init__(self, searcher: Searcher, schema: Schema, number: int = 0) -> None:
        """`number` is that of the last change which is in it."""
        self._searcher, self.number = searcher, number
        self.compiler = Compiler(schema)

    @cached_property
    def last(self) -> int:
        """The highest id in it."""
        return next(iter(self.ids(Query.all_query(), 1)), 0)

    def until(self, last: int | None) -> list[Query]:
        """Return the condition that ids are not above `last`, none where all are."""
        return [] if last is None or last >= self.last else [self.compiler.between("id", None, last)]

    def condition(self, tree: Tree, now: datetime, last: int | None = None, since: int | None = None) -> Condition:
        """Return the query for what the tree holds for at `now`, of what did not come after `last`.

        With `since`, in microseconds since 1970, of what was first seen then or later.
        """
        young = [] if since is None else [self.compiler.between("seen", since)]
        with index_errors():
            return all_of([self.compiler.tree(tree, now), *self.until(last), *young])

    def sought(self, words: Words, rest: Tree, now: datetime, last: int | None, stored: int) -> "SoughtInView":
        """Return the words of a search beside the rest of its tree; `stored` is how many items there ever were."""
        return SoughtInView(self, words, rest, now, last, stored)

    def count(self, query: Query) -> int:
        """Return how many items it finds."""
        with index_errors():
            return int(self._searcher.search(query, limit=1).count)  # type: ignore[attr-defined] # its type is not published

    def ids(self, query: Query, limit: int | None = None) -> list[int]:
        """Return the ids of what it finds, the highest first."""
        limit = self.count(query) if limit is None else limit
        if not limit:
            return []
        return [number for number, _ in self._hits(query, limit, "id")]

    def best(self, query: Query, limit: int) -> Scored:
        """Return ids and scores of so many of what it finds, those that match best first, of equals those stored last."""
        return sorted(self.scored(query, limit), key=lambda pair: (-pair[1], -pair[0]))

    def scored(self, query: Query, limit: int) -> Scored:
        """Return ids and scores of so many of what it finds, those that match best first."""
        if limit < 1:
            return []
        hits = self._hits(query, limit)
        ids = self._ids([address for _, address in hits])
        return [(number, score) for (score, _), number in zip(hits, ids, strict=True)]

    def first(self, query: Query, sort: str, number: int) -> list[int]:
        """Return ids among which are so many of the first in this order, as far as there are so many; in no order."""
        field = BY[sort]
        hits = self._hits(query, number + _TIES, field)
        if len(hits) == number + _TIES and hits[-1][0] == (edge := hits[number - 1][0]):
            above = [address for value, address in hits if value != edge]
            equals = self.ids(all_of([query, self.compiler.between(field, edge, edge)]))
            return [*self._ids(above), *equals]
        return self._ids([address for _, address in hits])

    def _hits(self, query: Query, limit: int, field: str | None = None) -> list[tuple[Any, DocAddress]]:
        with index_errors():
            return self._searcher.search(query, limit, count=False, order_by_field=field).hits

    def _ids(self, addresses: list[DocAddress]) -> list[int]:
        with index_errors():
            return [int(number or 0) for number in self._searcher.fast_field_values("id", addresses)]

    def affordable(self, tree: Tree, widest: int = WIDEST) -> Tree:
        """Return the tree without parts of it whose beginnings of words stand for more words, the widest left out first."""
        parts = tree.parts if isinstance(tree, And) else (tree,)
        widths = {part: sum(self._width(*each, widest) for each in set(_beginnings(part))) for part in parts}
        total, left_out = sum(widths.values()), set[Tree]()
        for part in sorted(widths, key=lambda part: -widths[part]):
            if total <= widest:
                break
            left_out.add(part)
            total -= widths[part]
        return And(tuple(part for part in parts if part not in left_out)) if left_out else tree

    def _width(self, field: str, beginning: str, widest: int) -> int:
        """Return how many words begin so, and what all of their lists cost; beyond the widest no more than that."""
        with index_errors():
            words = self._searcher.terms_with_prefix(field, beginning, limit=widest + 1)
        return len(words) + sum(items for _, items in words) // _LISTED


def _beginnings(tree: Tree) -> set[tuple[str, str]]:
    """Return field and beginning of all that the tree asks for by its beginning."""
    match tree:
        case Label(prefix=True):
            return {(LABEL, label_token(tree.field, tree.value))}
        case Term():
            fields = (tree.field,) if tree.field else TEXT
            ends = {way.tokens[-1] for way in spellings_of(tree) if way.prefix and way.tokens}
            return {(field, end) for field in fields for end in ends}
        case Not(part):
            return _beginnings(part)
        case And(parts) | Or(parts):
            return set[tuple[str, str]]().union(*map(_beginnings, parts))
        case _:
            return set()


class SoughtInView:
    """The words of a search beside its condition, in the index; ids above `last` came later, and change nothing."""

    def __init__(self, view: View, words: Words, condition: Tree, now: datetime, last: int | None, stored: int) -> None:
        compiler = view.compiler
        self._view, self._ways, self._stored = view, words, stored
        self._words = [any_of(map(compiler.way, ways)) for ways in words]
        self._condition = [] if condition == And(()) else [compiler.tree(condition, now)]
        self._until = view.until(last)
        self._beside = [beside(each) for each in (*self._condition, *self._until)]

    def whole(self, limit: int, offset: int = 0, without: Sequence[int] = ()) -> Scored:
        """Return a part of what has every word, by bm25, the best first."""
        left_out = set(without)
        found = self._view.best(all_of([*self._words, *self._beside]), limit + offset + len(left_out))
        return [pair for pair in found if pair[0] not in left_out][offset : offset + limit]

    def some(self, number: int, fewer: bool) -> tuple[Scored, Scored]:
        """Return so many of what has half of the words but not all; with `fewer`, of what has a quarter too; best first."""
        if len(self._words) < 2:
            return [], []
        having = [self._view.count(all_of([word, *self._until])) for word in self._words]
        tell = [round(weight * _EXACT) / _EXACT for weight in weights(having, self._stored)]
        telling = [(word, weight) for word, weight in zip(self._words, tell, strict=True) if weight]
        if not telling:
            return [], []
        half = least(tell)
        bar = least(tell, QUARTER) if fewer else half
        points = any_of(Query.const_score_query(word, weight) for word, weight in telling)
        sought = all_of([points, *self._beside], [all_of(self._words)])
        enough = {each: point for each, point in self._view.scored(sought, _WEIGHED) if point >= bar}
        if not enough:
            return [], []
        by_words = any_of(word for word, _ in telling)
        found = self._view.best(all_of([by_words, beside(self._view.compiler.ids(list(enough)))]), 2 * number)
        return (
            [pair for pair in found if enough[pair[0]] >= half][:number],
            [pair for pair in found if enough[pair[0]] < half][:number],
        )

    def titled(self, ids: Sequence[int]) -> list[int]:
        """Return those of the items whose title has every word."""
        if not ids:
            return []
        compiler = self._view.compiler
        every = [any_of(map(compiler.titled, ways)) for ways in self._ways]
        return self._view.ids(all_of([*every, compiler.ids(ids)]), len(ids))

    def total(self, among_best: set[int]) -> int:
        """Return how many there are beside what was found among the best: all that has every word, counted so far."""
        query = all_of([*self._words, *self._condition, *self._until])
        number = self._view.count(query)
        if number > COUNTED:
            return COUNTED + 1
        return min(COUNTED + 1, len(among_best.union(self._view.ids(query, number))))

    def holding(self, among: Ids | None = None) -> Ids:
        """Return the ids for which the condition holds, of some alone in their order where they are given."""
        if among is not None and not self._condition and not self._until:
            return among
        within = [] if among is None else [self._view.compiler.ids(among.tolist())]
        if among is not None and not len(among):
            return among
        found = np.array(self._view.ids(all_of([*within, *self._condition, *self._until])), np.int64)
        return found if among is None else among[np.isin(among, found)]
