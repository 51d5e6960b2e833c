"""A search for words, best match first, that stays quick when a word stands in half of all items; and for what they mean.

bm25 costs about a microsecond per item and word, a hundred times what finding the item costs. So as few items as possible
are scored: first those that have every word of the search; only where these do not fill the page, those that have some.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from sqlite_utils import Database

from bot.models import Kind
from bot.store.rules.fusion import BY_WORDS, WIDENED, fuse
from bot.store.rules.nearest import NOTHING, Close, Ids
from bot.store.rules.search_terms import Words
from bot.store.sqlite.search.compile import ALL, Condition, Match, all_of, among, label_token, satisfying, to_where, way
from bot.store.sqlite.search.meaning import Meaning

MOST = 20_000  # items to score at once; of more, those that were stored last
# bm25 gives a phrase at most 2.2 times the logarithm of the number of items (FTS5's k1 is 1.2): for a million, 31.
_HIGHEST = 31.0
# Every item has one of these, and the column of labels weighs nothing.
_ANYTHING = Match(" OR ".join(f'"{label_token("kind", kind.value)}"' for kind in Kind))
_BELOW = -2.0  # every relevance of what is ordered by words alone, behind what is ordered by both: a cosine is -1 at least
_TINY = 1e-6

Scored = list[tuple[int, float]]  # id and relevance, larger for better


@dataclass(frozen=True, slots=True)
class Span:
    """Which entries of a list are asked for, and which items cannot be in it."""

    limit: int
    offset: int = 0
    last: int | None = None  # ids above it came later
    without: tuple[int, ...] = ()  # ids

    def bounds(self, name: str) -> tuple[list[str], list[int | str]]:
        """Return the conditions on a column of ids, and their values. A plus keeps SQLite from seeking each of the ids."""
        conditions: list[tuple[str, int | str]] = []
        if self.last is not None:
            conditions.append((f"{name} <= ?", self.last))
        if self.without:
            conditions.append((f"+{name} not in (select value from json_each(?))", json.dumps(self.without)))
        return [sql for sql, _ in conditions], [value for _, value in conditions]


class Found(NamedTuple):
    """What has all of the words, and what has some of them; each with its bm25, the best first."""

    whole: Scored
    some: Scored
    ceiling: float  # what no bm25 of the search exceeds


def find_best(db: Database, words: Words, condition: Condition, span: Span, most: int = MOST) -> Scored:
    """Return ids and relevance of items that satisfy the condition and have one of the words at least, the best first.

    The words are those of `split`. Items with all of them come before the others, and are ahead by their relevance too.
    However a list is cut into pages, they are pages of one list; it ends after `most` items of either sort.
    """
    found = find_both(db, words, condition, span, most)
    return [(number, found.ceiling + score) for number, score in found.whole] + found.some


def find_hybrid(db: Database, words: Words, condition: Condition, span: Span, meaning: Meaning) -> Scored:
    """Return ids and relevance of what satisfies the condition and has one of the words, or is close, the best first.

    However a list is cut into pages, they are pages of one list: first what both orders put together, then what has the
    words and was not among the best by them.
    """
    if not all(words):
        return []
    everything = Span(BY_WORDS, last=span.last)
    whole, some, _ = find_both(db, words, condition, everything)
    by_words = whole + some
    cosines = meaning.cosines(db, np.array([number for number, _ in by_words], np.int64))
    close = closest(db, condition, span.last, meaning)
    head = fuse(by_words, len(whole), cosines, close, partial(meaning.alike, db))
    ids = {number for number, _ in head}
    page = [pair for pair in head if pair[0] not in span.without][span.offset : span.offset + span.limit]
    if len(page) == span.limit or len(by_words) < BY_WORDS:
        return page
    offset = max(0, span.offset - len(ids.difference(span.without)))
    tail = replace(span, limit=span.limit - len(page), offset=offset, without=tuple({*span.without, *ids}))
    return page + [(number, _BELOW + _TINY * score) for number, score in find_best(db, words, condition, tail)]


def closest(db: Database, condition: Condition, last: int | None, meaning: Meaning) -> Close:
    """Return the closest of what satisfies the condition, as far as they are near enough; ids above `last` came later.

    A condition takes away: what is left stands as it does without it.
    """
    if not meaning.finds:
        return NOTHING
    if isinstance(condition, Match) and not condition.negated:
        return meaning.closest(db, WIDENED, _until(last, satisfying(db, condition)))
    near, complete = meaning.all_near(db)
    ids = _until(last, near.ids)
    kept = np.isin(near.ids, ids if condition == ALL else among(db, condition, ids))
    if complete or kept.sum() >= WIDENED:
        return Close(near.ids[kept][:WIDENED], near.cosines[kept][:WIDENED])
    return meaning.closest(db, WIDENED, _until(last, satisfying(db, condition)))


def _until(last: int | None, ids: Ids) -> Ids:
    return ids if last is None else ids[ids <= last]


def find_both(db: Database, words: Words, condition: Condition, span: Span, most: int = MOST) -> Found:
    """Return what `find_best` does, in its two parts and with what bm25 gives each."""
    if not all(words):
        return Found([], [], 0.0)
    limit, offset = span.limit, span.offset
    every = [_any(list(map(way, ways))) for ways in words]
    all_words = _all(every)
    full = _level(all_words, condition, span, most)
    ceiling = _HIGHEST * str(full.values[0]).count('"') / 2  # the condition's phrases are scored too
    rows = full.page(db, limit, offset)
    if len(rows) == limit or len(every) == 1:
        return Found(rows, [], ceiling)
    before = offset + len(rows) if rows else full.count(db)
    some = _level(_some(db, every, most), condition, span, most, all_words)
    return Found(rows, some.page(db, limit - len(rows), max(0, offset - before)), ceiling)


@dataclass(frozen=True, slots=True)
class _Level:
    """A condition on the search index, with its values."""

    sql: str
    values: list[object]
    most: int

    def page(self, db: Database, limit: int, offset: int) -> Scored:
        """Return a part of what it finds, the best first.

        The inner query scores and the outer one sorts: `order by rank` inside FTS5 sorts everything for any limit.
        """
        sql = f"select rowid as id, rank from words where {self.sql} order by rowid desc limit {self.most}"
        sql = f"select id, -rank from ({sql}) order by rank, id desc limit ? offset ?"
        return [*db.execute(sql, [*self.values, limit, offset]).fetchall()]

    def count(self, db: Database) -> int:
        """Return how many items all its pages have together."""
        sql = f"select count(*) from (select rowid from words where {self.sql} limit {self.most})"
        return int(db.execute(sql, self.values).fetchone()[0])


def _level(either: Match, condition: Condition, span: Span, most: int, without: Match | None = None) -> _Level:
    """Return what both find within the span's bounds and `without` does not.

    A plus keeps SQLite from asking FTS5 anew for every single id. What is left out stands apart from the
    expression: there its words would be scored now and then.
    """
    whole = all_of([either, condition])
    sql = "words match ?"
    values: list[object] = [whole.expression if isinstance(whole, Match) else either.expression]
    if not isinstance(whole, Match):
        inner, inside = to_where(condition).select("id")
        sql, values = f"{sql} and +rowid in ({inner})", [*values, *inside]
    if without is not None:
        sql, values = f"{sql} and +rowid not in (select rowid from words where words match ?)", [*values, without.expression]
    bounds, limits = span.bounds("rowid")
    return _Level(" and ".join([sql, *bounds]), [*values, *limits], most)


def _some(db: Database, words: Sequence[Match], most: int) -> Match:
    """Return the condition that an item has one of the rarer words; the other words count in its score alone.

    The rarer ones are the rarest and as many more as stand in no more than `most` items together. A common word tells
    little, and most of the items that have no other word of the search would be scored for nothing.
    """
    total = 0
    rarer: list[Match] = []
    others: list[Match] = []
    for number, word in sorted(((_frequency(db, word), word) for word in words), key=lambda pair: pair[0]):
        total += number
        (others if rarer and total > most else rarer).append(word)
    return _all([_any(rarer), _any([*others, _ANYTHING])]) if others else _any(rarer)


def _frequency(db: Database, word: Match) -> int:
    return int(db.execute("select count(*) from words where words match ?", [word.expression]).fetchone()[0])


def _any(parts: Sequence[Match]) -> Match:
    return Match(" OR ".join(f"({part.expression})" for part in parts), 1 + max(part.depth for part in parts))


def _all(parts: Sequence[Match]) -> Match:
    return Match(" AND ".join(f"({part.expression})" for part in parts), 1 + max(part.depth for part in parts))
