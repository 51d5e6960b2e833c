"""What the index finds, as it is at one moment."""

import contextlib
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from math import log
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tantivy import DocAddress, Index, Query

from bot.models import And, Kind, Tree
from bot.models.queries import COUNTED
from bot.store.index.compile import Compiler, all_of, any_of, beside
from bot.store.index.documents import BEST, BY, LABEL
from bot.store.index.effort import MOST, Effort
from bot.store.rules.answers import COMMON, QUARTER, least, weights
from bot.store.rules.labels import label_token
from bot.store.rules.nearest import Ids
from bot.store.rules.search_terms import Words

_WEIGHED = 2_000  # items with some of the words that are scored, those that have the most telling ones
_EXACT = 1 << 14  # parts of one: weights in these add up exactly in the 24 bits of tantivy's scores
_DEEPER = 5  # times as many of the best are looked at as are wanted of some ids, before these are looked up one by one
_LIST, _LOOK_UP = 0.3, 2.5  # microseconds to list an item of a condition, and to look one up by its id
_TINY = 1e-6  # what FTS5 has for the weight of a word that tells nothing
_TIES = 50  # items beyond those that are asked for, among which the last one's equals mostly end

Condition: TypeAlias = Query
Scored = list[tuple[int, float]]  # id and relevance, larger for better


class Found(NamedTuple):
    """Ids and scores, where each of them lies in the index, and how many there are in all where they were counted."""

    scored: Scored
    addresses: list[DocAddress]
    number: int | None


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

    def __init__(self, index: Index, number: int = 0) -> None:
        """`number` is that of the last change which is in it."""
        self.index, self.number = index, number
        self._searcher = index.searcher()
        self.compiler = Compiler(index.schema)
        self._effort = Effort(self._searcher)

    @property
    def number_of_items(self) -> int:
        """How many items are in it."""
        return int(self._searcher.num_docs)

    @cached_property
    def _gone(self) -> int:
        """How many items are still in its lists that are in it no more."""
        every = sum(self._searcher.doc_freq(LABEL, label_token("kind", kind)) for kind in Kind)
        return max(0, every - int(self._searcher.num_docs))

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

    def rarity(self, token: str) -> float:
        """Return how much more a word counts in FTS5's bm25 than in tantivy's, which has another logarithm for common ones.

        Both have the number of all items beside that of those with the word: log((all - having + .5) / (having + .5)) in
        FTS5, where what more than half of the items have counts nothing; of tantivy's there is one more in the logarithm.
        """
        with index_errors():
            every, having = self.number_of_items, int(self._searcher.doc_freq(BEST, token))
        odds = max(0.0, every - having + 0.5) / (having + 0.5)
        return max(log(odds), _TINY) / log(1 + odds) if odds > 1 else _TINY

    def at_least(self, field: str, token: str) -> int:
        """Return how many items surely have the token in the field: all, or fewer by some that are in it no more."""
        with index_errors():
            return max(0, int(self._searcher.doc_freq(field, token)) - self._gone)

    def ids(self, query: Query, limit: int | None = None) -> list[int]:
        """Return the ids of what it finds, the highest first."""
        limit = self.count(query) if limit is None else limit
        if not limit:
            return []
        return [number for number, _ in self._hits(query, limit, "id")]

    def scored(self, query: Query, limit: int, counted: bool = False) -> "Found":
        """Return so many of what it finds, those that match best first; with `counted` how many there are, too."""
        if limit < 1:
            return Found([], [], None)
        with index_errors():
            found: Any = self._searcher.search(query, limit, count=counted)
        addresses = [address for _, address in found.hits]
        scored = list(zip(self._values("id", addresses), [score for score, _ in found.hits], strict=True))
        return Found(scored, addresses, found.count)

    def appeared(self, addresses: list[DocAddress]) -> list[int]:
        """Return when the items at these places appeared, in microseconds since 1970."""
        return self._values("newest", addresses)

    def first(self, query: Query, sort: str, number: int) -> tuple[list[int], int]:
        """Return ids among which are so many of the first in this order, and how many there are in all.

        The ids are in no order, and are all where there are fewer.
        """
        field = BY[sort]
        with index_errors():
            found: Any = self._searcher.search(query, number + _TIES, order_by_field=field)
        hits = found.hits
        if len(hits) == number + _TIES and hits[-1][0] == (edge := hits[number - 1][0]):
            above = [address for value, address in hits if value != edge]
            equals = self.ids(all_of([query, self.compiler.between(field, edge, edge)]))
            return [*self._values("id", above), *equals], found.count
        return self._values("id", [address for _, address in hits]), found.count

    def _hits(self, query: Query, limit: int, field: str) -> list[tuple[Any, DocAddress]]:
        with index_errors():
            return self._searcher.search(query, limit, count=False, order_by_field=field).hits

    def _values(self, field: str, addresses: list[DocAddress]) -> list[int]:
        with index_errors():
            return [int(number or 0) for number in self._searcher.fast_field_values(field, addresses)]

    def affordable(self, tree: Tree, most: float = MOST) -> Tree:
        """Return the tree without parts of it that would take too much effort, so many microseconds of a processor."""
        with index_errors():
            return self._effort.affordable(tree, most)


class SoughtInView:
    """The words of a search beside its condition, in the index; ids above `last` came later, and change nothing."""

    def __init__(self, view: View, words: Words, condition: Tree, now: datetime, last: int | None, stored: int) -> None:
        compiler = view.compiler
        self._view, self._ways, self._stored = view, words, stored
        self._words = [any_of(self._weighed(way) for way in ways) for ways in words]
        self._condition = [] if condition == And(()) else [compiler.tree(condition, now)]
        self._until = view.until(last)
        self._beside = [beside(each) for each in (*self._condition, *self._until)]
        self._number: int | None = None  # of what has every word, once it was counted
        self._appeared: dict[int, int] = {}  # by id, of what was found

    def _weighed(self, way: str) -> Query:
        """Return the query for the way of a word, which counts as much as it does in FTS5's bm25."""
        query = self._view.compiler.way(way)
        return query if " " in way else Query.boost_query(query, self._view.rarity(way))

    def whole(self, limit: int, offset: int = 0, without: Sequence[int] = ()) -> Scored:
        """Return a part of what has every word, by bm25, the best first."""
        left_out = set(without)
        # To count what has one word alone would cost more than finding the best of it.
        counted = self._number is None and len(self._words) + len(self._beside) > 1
        found, number = self._best(all_of([*self._words, *self._beside]), limit + offset + len(left_out), counted)
        self._number = self._number if number is None else number
        return [pair for pair in found if pair[0] not in left_out][offset : offset + limit]

    def some(self, number: int, fewer: bool) -> tuple[Scored, Scored]:
        """Return so many of what has half of the words but not all; with `fewer`, of what has a quarter too; best first."""
        if len(self._words) < 2:
            return [], []
        having = [self._having(at) for at in range(len(self._words))]
        tell = [round(weight * _EXACT) / _EXACT for weight in weights(having, self._stored)]
        telling = [(word, weight) for word, weight in zip(self._words, tell, strict=True) if weight]
        if not telling:
            return [], []
        half = least(tell)
        bar = least(tell, QUARTER) if fewer else half
        points = any_of(Query.const_score_query(word, weight) for word, weight in telling)
        sought = all_of([points, *self._beside], [all_of(self._words)])
        enough = {each: point for each, point in self._view.scored(sought, _WEIGHED).scored if point >= bar}
        found = self._best_of(enough, any_of(word for word, _ in telling), 2 * number)
        return (
            [pair for pair in found if enough[pair[0]] >= half][:number],
            [pair for pair in found if enough[pair[0]] < half][:number],
        )

    def titled(self, number: int) -> list[int]:
        """Return ids whose titles may be what is sought, those among so many of the best that `whole` gives and others.

        Such a title has every word. One word it has as several, of which the first is how that word begins.
        """
        compiler = self._view.compiler
        every = [beside(any_of(map(compiler.titled, ways))) for ways in self._ways]
        if len(self._ways) == 1 and not any(" " in way for way in self._ways[0]):
            begun = {way[:length] for way in self._ways[0] for length in range(1, len(way))}
            every.append(beside(any_of(map(compiler.in_title, begun))))
        # Scored as in `whole`: what is among the best of all is among as many of the best of these.
        return [each for each, _ in self._view.scored(all_of([*self._words, *self._beside, *every]), number).scored]

    def appeared(self, ids: Sequence[int]) -> dict[int, int]:
        """Return when each appeared of the items that were found so far, in microseconds since 1970."""
        return {each: self._appeared[each] for each in ids if each in self._appeared}

    def total(self, among_best: set[int]) -> int:
        """Return how many there are beside what was found among the best: all that has every word, counted so far."""
        if not self._beside and len(self._ways) == 1 and self._surely(0) > COUNTED:
            return COUNTED + 1
        query = all_of([*self._words, *self._condition, *self._until])
        if self._number is None:
            self._number = self._view.count(query)
        if self._number > COUNTED:
            return COUNTED + 1
        return min(COUNTED + 1, len(among_best.union(self._view.ids(query, self._number))))

    def holding(self) -> Ids:
        """Return the ids for which the condition holds, the highest first."""
        return np.array(self._view.ids(all_of([*self._condition, *self._until])), np.int64)

    def first_holding(self, among: Ids, number: int) -> NDArray[np.intp]:
        """Return the places of the first of these ids for which the condition holds, so many at most."""
        if not self._condition and not self._until:
            return np.arange(min(number, len(among)))
        condition = all_of([*self._condition, *self._until])
        having = self._view.count(condition)
        share = having / max(1, self._view.number_of_items)
        looked_at = min(len(among), number / share if share else len(among))
        if having * _LIST < looked_at * _LOOK_UP:
            return np.flatnonzero(np.isin(among, np.array(self._view.ids(condition, having), np.int64)))[:number]
        places = np.empty(0, np.intp)
        for at in range(0, len(among), 2 * number):
            some = among[at : at + 2 * number]
            found = self._view.ids(all_of([condition, self._view.compiler.ids(some.tolist())]), len(some))
            places = np.concatenate([places, at + np.flatnonzero(np.isin(some, found))])
            if len(places) >= number:
                break
        return places[:number]

    def _best(self, query: Query, limit: int, counted: bool = False) -> tuple[Scored, int | None]:
        """Return ids and scores of so many of what it finds, of equals those stored last first; and how many there are."""
        found = self._view.scored(query, limit, counted)
        appeared = self._view.appeared(found.addresses)
        self._appeared.update(zip((each for each, _ in found.scored), appeared, strict=True))
        return sorted(found.scored, key=lambda pair: (-pair[1], -pair[0])), found.number

    def _best_of(self, ids: Collection[int], query: Query, number: int) -> Scored:
        """Return so many of these that the query finds, the best first."""
        if len(ids) > number:
            found, _ = self._best(all_of([query, *self._beside]), _DEEPER * number)
            some = [pair for pair in found if pair[0] in ids]
            if len(some) >= number or len(found) < _DEEPER * number:
                return some[:number]
        return self._best(all_of([query, beside(self._view.compiler.ids(list(ids)))]), number)[0] if ids else []

    def _surely(self, at: int) -> int:
        """Return how many items surely have this word, 0 where that is not known without looking."""
        (first, *others) = self._ways[at]
        return 0 if others or " " in first else self._view.at_least(BEST, first)

    def _having(self, at: int) -> int:
        """Return how many items have this word; of one that is too common to tell anything any number that is."""
        surely = 0 if self._until else self._surely(at)
        return surely if surely > COMMON else self._view.count(all_of([self._words[at], *self._until]))
