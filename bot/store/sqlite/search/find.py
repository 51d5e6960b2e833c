"""Which items a query finds, and in what order; of one that takes too much effort a part.

Where the query as it stands is too costly, its tree is tried on items one by one, those that a narrower and cheaper query
finds, in the order of the search. So what is shown is found by the query, and in its order, whatever was left out; but that
what was left out adds nothing to how well an item matches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from sqlite_utils import Database

from bot.models import And, Query, Term, Tree
from bot.models.queries import COUNTED
from bot.query.match import matches
from bot.store.records import micros, time_of
from bot.store.rules.search_terms import STOPWORDS, Words, is_bare, split
from bot.store.sqlite.ingest import last_id
from bot.store.sqlite.items import hydrate
from bot.store.sqlite.search.beside import find_beside
from bot.store.sqlite.search.best import Answer, Scored, Span, find_best
from bot.store.sqlite.search.compile import ALL, Condition, Match, compile_tree, published_between, satisfying
from bot.store.sqlite.search.cost import Costs
from bot.store.sqlite.search.effort import Effort, TooMuchEffort, affordable, beginnings, bounded, clauses, parts_of
from bot.store.sqlite.search.listed import Listed
from bot.store.sqlite.search.meaning import Meaning
from bot.store.sqlite.search.window import Window, window_of

if TYPE_CHECKING:  # the library is there where the settings ask for it
    from bot.store.index.view import View

EFFORT = Effort()
_EARLIEST = -(2**62)  # microseconds, before whatever can be stored
_READ = 50  # items that are read at a time to be tried one by one
_COLUMNS = {"stars": "stars", "upvotes": "upvotes"}
_ORDERS = {
    "best": "newest desc, key desc",  # of a search without a bare word
    "new": "newest desc, key desc",
    "stars": "stars desc, newest desc, key desc",
    "upvotes": "upvotes desc, newest desc, key desc",
}


def find_within(
    db: Database,
    query: Query,
    now: datetime,
    span: Span,
    effort: Effort,
    meaning: Meaning | None = None,
    view: "View | None" = None,
) -> tuple[Answer, int]:
    """Return what `find` does where it can be had with this effort; otherwise a part, and how many items it was taken from.

    Beginnings of words that are too costly to be looked up are tried on the items that satisfy the rest: mostly these
    fill the page, or are few, and the answer is whole. With `view`, the index beside the database is asked.
    """
    if meaning is not None:
        meaning.follow(db)  # once, and whatever it takes: every search needs it
    finder = Finder(db, effort, meaning, view)
    within: Tree | None = finder.affordable(query.tree)
    if within == query.tree:
        try:
            answer = finder.find(query, now, span)
        except TooMuchEffort:
            within = None
        else:
            return answer, answer.examined
    candidates, whole = _candidates(finder, query, now, replace(span, limit=effort.items, offset=0), within)
    tree = _beside_words(query) if whole else _with_words(query)
    found = _holding(db, candidates.scored, tree, now, span.offset + span.limit)
    full = len(found) == span.offset + span.limit
    whole = whole and not candidates.examined and (full or len(candidates.scored) < effort.items)
    return Answer(found[span.offset :]), 0 if whole else max(candidates.examined, len(candidates.scored))


@dataclass(frozen=True, slots=True)
class Finder:
    """What finds within an effort: the index beside the database where there is one, FTS5 otherwise."""

    db: Database
    effort: Effort
    meaning: Meaning | None = None
    view: "View | None" = None

    def find(self, query: Query, now: datetime, span: Span) -> Answer:
        """Return what `find` does; raises TooMuchEffort."""
        if self.view is not None:
            return find_beside(self.db, self.view, query, now, span, _ORDERS[query.sort], self.meaning)
        with bounded(self.db, query.tree, self.effort):
            return find(self.db, query, now, span, self.effort, self.meaning)

    def affordable(self, tree: Tree) -> Tree:
        """Return the tree without those of its parts whose beginnings of words cost too much."""
        if self.view is not None:
            return self.view.affordable(tree)
        return affordable(self.db, tree, self.effort.pages)


def _candidates(finder: Finder, query: Query, now: datetime, span: Span, within: Tree | None) -> tuple[Answer, bool]:
    """Return what is found of those of the query's conditions that can be afforded, in the order of the search.

    False where that order, by the words that are sought, costs too much itself: then it is the newest of all.
    """
    for tree in _narrower(finder, query, within):
        try:
            return finder.find(replace(query, tree=tree), now, span), True
        except TooMuchEffort:
            continue
    return find(finder.db, replace(query, tree=And(()), sort="new"), now, span), False


def _narrower(finder: Finder, query: Query, within: Tree | None) -> Iterator[Tree]:
    """Give trees of the query's conditions, the fewer the later: those within the effort, those that are no text, none."""
    if within is not None:
        yield within
    words = _words(query)
    no_text = (part for part in parts_of(query.tree) if not any(isinstance(clause, Term) for clause in clauses(part)))
    yield finder.affordable(And((*words, *no_text)))
    yield And(words)


def _words(query: Query) -> tuple[Tree, ...]:
    """Return the words of which a search for the best match takes any."""
    return tuple(filter(is_bare, parts_of(query.tree))) if query.sort == "best" else ()


def _beside_words(query: Query) -> Tree:
    words = _words(query)
    return And(tuple(part for part in parts_of(query.tree) if part not in words))


def _with_words(query: Query) -> Tree:
    """Return a tree that holds for nothing but what a search for the best match finds: it takes words by their stems too."""
    words = [part for part in _words(query) if isinstance(part, Term)]
    telling = tuple(word for word in words if word.text.casefold() not in STOPWORDS)
    return And((_beside_words(query), *(telling or words)))


def _holding(db: Database, candidates: Scored, tree: Tree, now: datetime, most: int) -> Scored:
    """Return the first of the candidates for which the tree holds, so many at most."""
    found: Scored = []
    for at in range(0, len(candidates), _READ):
        some: Sequence[tuple[int, float]] = candidates[at : at + _READ]
        items = hydrate(db, [number for number, _ in some])
        found += [pair for pair in some if pair[0] in items and matches(tree, items[pair[0]], now)]
        if len(found) >= most:
            break
    return found[:most]


def find(
    db: Database,
    query: Query,
    now: datetime,
    span: Span,
    effort: Effort = EFFORT,
    meaning: Meaning | None = None,
    counted: int = COUNTED,
) -> Answer:
    """Return ids and relevance of what the query finds; relevance is 0 unless words are sought, best match first."""
    words, rest = split(query.tree) if query.sort == "best" else ((), query.tree)
    condition = compile_tree(rest, now)
    if span.window is None:
        span = replace(span, window=window_of(db, rest, now))
    if words:
        return _best(db, words, rest, now, span, effort, meaning)
    costs = cache(lambda: Costs(db).whole(rest))
    once = any(True for _ in beginnings(rest))
    return Listed(db, condition, costs, _COLUMNS.get(query.sort, ""), span, effort, once, counted).answer()


def _best(
    db: Database, words: Words, rest: Tree, now: datetime, span: Span, effort: Effort, meaning: Meaning | None
) -> Answer:
    """Return what `find_best` does, of as many of the items stored last as can be looked through."""
    condition, items = compile_tree(rest, now), last_id(db)
    if items <= effort.few or not all(words):
        return find_best(db, words, condition, span, now, meaning)
    costs = Costs(db)
    every = (span.window or Window(0, items)).narrowed(None if span.last is None else Window(0, span.last))
    width, lists = every.last - every.after, [costs.of_ways(ways) for ways in words]
    cost = costs.of_words(words, rest) * width / items
    # To score, each list is gone through whole once more, those of a condition with them where FTS5 is asked for both.
    once_more = sum(lists) + (costs.of(rest) if isinstance(condition, Match) else 0)
    scored = tuple(_scored(lists, effort.reads / 2)) if 2 * max(once_more, cost) > effort.reads else ()
    if cost <= effort.reads:
        return find_best(db, words, condition, span, now, meaning, scored)
    part = max(1, int(width * effort.reads / cost))
    within = replace(span, window=Window(every.last - part, every.last))
    return find_best(db, words, condition, within, now, meaning, scored, part)


def _scored(costs: Sequence[float], most: float) -> Iterator[int]:
    """Give the places of the words that relevance is worked out of: for each, its whole list is gone through once more.

    Those that most items have tell least, and are left out first; one is left.
    """
    spent = 0.0
    for place in sorted(range(len(costs)), key=costs.__getitem__):
        spent += costs[place]
        if spent > most and spent > costs[place]:
            return
        yield place


def months_of(db: Database, condition: Condition, window: Window | None) -> dict[date, int]:
    """Return for how many items published in each month the condition holds, by its first day, in UTC; no month without."""
    every = condition == ALL
    held = np.zeros(last_id(db) + 1, bool)
    held[[] if every else satisfying(db, condition, window)] = True
    found: dict[date, int] = {}
    sql = "select min(published) from items where published is not null and published >= ?"
    begin: int | None = _EARLIEST
    while (begin := db.execute(sql, [begin]).fetchone()[0]) is not None:
        month = time_of(begin).date().replace(day=1)
        end = micros(_next_month(month)) if month < date.max.replace(day=1) else None
        ids = published_between(db, begin, end, window)
        number = len(ids) if every else int(held[ids].sum())
        found |= {month: number} if number else {}
        if end is None:
            break
        begin = end
    return found


def _next_month(month: date) -> datetime:
    """Return when the month after this one begins."""
    return datetime(month.year + month.month // 12, month.month % 12 + 1, 1, tzinfo=UTC)
