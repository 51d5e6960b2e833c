"""A search for words, best match first, that stays quick when a word stands in half of all items; and for what they mean.

bm25 costs about a microsecond per item and word, a hundred times what finding the item costs. So as few items as possible
are scored: first those that have every word of the search; only where these are few, those that have enough of them.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from sqlite_utils import Database

from bot.models.queries import COUNTED
from bot.models.vectors import Floats
from bot.store.records import time_of
from bot.store.rules.answers import COMMON, QUARTER, SOME, answering, least, weights
from bot.store.rules.fusion import BY_WORDS, WIDENED, fuse
from bot.store.rules.nearest import NOTHING, Close, Ids
from bot.store.rules.search_terms import Words
from bot.store.rules.titles import has_every, lift
from bot.store.sqlite.ingest import last_id
from bot.store.sqlite.search.compile import ALL, Condition, Match, Where, all_of, among, count_of, satisfying, to_where, way
from bot.store.sqlite.search.meaning import Meaning
from bot.store.sqlite.search.window import Window

MOST = 20_000  # items to score at once; of more, those that were stored last
_SCORED = 10  # words that so many items are scored by: with more words it is fewer items
_FEWEST = 1_000  # items that are scored however many words there are
_WEIGHED = 2_000  # items with some of the words that are scored, those that have the most telling ones
_BELOW = -2.0  # every relevance of what is ordered by words alone, behind what is ordered by both: a cosine is -1 at least
_TINY = 1e-6
_SAMPLE = 2_000  # items stored last that show whether most satisfy a condition
_TITLES = 100_000  # items from which on it is quicker to read the titles of some than to look for the words in all
_TITLE = "{title title_stem}"

Scored = list[tuple[int, float]]  # id and relevance, larger for better


@dataclass(frozen=True, slots=True)
class Span:
    """Which entries of a list are asked for, and which items cannot be in it."""

    limit: int
    offset: int = 0
    last: int | None = None  # ids above it came later
    without: tuple[int, ...] = ()  # ids
    window: Window | None = None  # all that can be in it stand there

    def bounds(self, name: str) -> tuple[list[str], list[int | str]]:
        """Return the conditions on a column of ids, and their values. A plus keeps SQLite from seeking each of the ids."""
        conditions: list[tuple[str, int | str]] = []
        if self.last is not None:
            conditions.append((f"{name} <= ?", self.last))
        if self.without:
            conditions.append((f"+{name} not in (select value from json_each(?))", json.dumps(self.without)))
        within = [] if self.window is None else [self.window.of(name)]
        return [*within, *(sql for sql, _ in conditions)], [value for _, value in conditions]


class Answer(NamedTuple):
    """What is found, the best first, as a part of one list; and how many there are in all."""

    scored: Scored
    total: int | None = None  # None where it is not known, no more than COUNTED + 1
    about: bool = False
    examined: int = 0  # how many items were looked at where these are not all


def find_best(
    db: Database,
    words: Words,
    condition: Condition,
    span: Span,
    now: datetime,
    meaning: Meaning | None = None,
    scored: Collection[int] = (),
    part: int | None = None,
    most: int = MOST,
) -> Answer:
    """Return ids and relevance of what answers the words and satisfies the condition, the best first.

    The words are those of `split`. An answer has all of them, or enough as bot.store.rules.answers has it, or is close.
    However a list is cut into pages, they are pages of one list: first what all orders put together, then what has all
    words and was not among the best by them, of `most` that were stored last. `scored` are the places of the words
    that relevance is worked out of, all without any; with them what is found is found once, and scored then. `part` is how
    many items the span's window has where it leaves some out that might be found.
    """
    if not all(words):
        return Answer([], 0)
    sought = Sought(db, words, condition, span, most, scored)
    answer = put_together(db, sought, span, now, meaning)
    if part is None or sought.is_full():
        return answer
    return answer._replace(total=None, examined=part)


class Matching(Protocol):
    """The words of a search beside its condition, as an index finds them; what came later changes nothing."""

    def whole(self, span: Span) -> Scored:
        """Return a part of what has every word, by bm25, the best first."""
        ...

    def some(self, number: int, fewer: bool) -> tuple[Scored, Scored]:
        """Return so many of what has half of the words but not all; with `fewer`, of what has a quarter too; best first."""
        ...

    def lifts(self, ids: Sequence[int]) -> list[float]:
        """Return what each of these items is lifted by for its title."""
        ...

    def appeared(self, ids: Sequence[int]) -> list[datetime]:
        """Return when each item appeared, was published or first seen."""
        ...

    def total(self, among_best: Collection[int]) -> int:
        """Return how many there are beside what was found among the best: all that has every word, counted so far."""
        ...

    def closest(self, meaning: Meaning) -> Close:
        """Return the closest of what satisfies the condition, as far as they are near enough.

        A condition takes away: what is left stands as it does without it.
        """
        ...


def put_together(db: Database, sought: Matching, span: Span, now: datetime, meaning: Meaning | None = None) -> Answer:
    """Return ids and relevance of what answers, as `find_best` has it."""
    whole = sought.whole(replace(span, limit=BY_WORDS, offset=0, without=()))
    half, few = sought.some(SOME, meaning is not None) if len(whole) < BY_WORDS else ([], [])
    by_words = [*whole, *half, *few]
    cosines, close = np.full(len(by_words), np.nan, np.float32), NOTHING
    if meaning is not None:
        cosines = meaning.cosines(db, np.array([number for number, _ in by_words], np.int64))
        close = sought.closest(meaning)
        kept = answering(cosines, len(whole), len(few), meaning.near.enough)
        by_words, cosines = [pair for pair, good in zip(by_words, kept, strict=True) if good], cosines[kept]
    head = fuse(
        by_words,
        len(whole),
        cosines,
        close,
        partial(meaning.alike, db) if meaning is not None else _unlike,
        lambda ids: sought.appeared(ids.tolist()),
        now,
        sought.lifts([number for number, _ in by_words[: len(whole)]]),
    )
    ids = {number for number, _ in head}
    page = [pair for pair in head if pair[0] not in span.without][span.offset : span.offset + span.limit]
    total, about = sought.total(ids) if len(whole) == BY_WORDS else len(head), len(close.ids) >= WIDENED
    if len(page) == span.limit or len(whole) < BY_WORDS:
        return Answer(page, total, about)
    offset = max(0, span.offset - len(ids.difference(span.without)))
    tail = replace(span, limit=span.limit - len(page), offset=offset, without=tuple({*span.without, *ids}))
    return Answer(page + [(number, _BELOW + _TINY * score) for number, score in sought.whole(tail)], total, about)


def _unlike(_first: Ids, ids: Ids) -> Floats:
    return np.full(len(ids), np.nan, np.float32)


def appeared(db: Database, ids: Sequence[int]) -> dict[int, datetime]:
    """Return when each item appeared, was published or first seen."""
    rows = db.execute("select id, newest from items where id in (select value from json_each(?))", [json.dumps(ids)])
    return {number: time_of(micros) for number, micros in rows.fetchall()}


def _until(last: int | None, ids: Ids) -> Ids:
    return ids if last is None else ids[ids <= last]


class Sought:
    """Matching in FTS5; ids above the span's last came later, and change nothing."""

    def __init__(
        self,
        db: Database,
        words: Words,
        condition: Condition,
        span: Span,
        most: int = MOST,
        scored: Collection[int] = (),
    ) -> None:
        self._db, self._last, self._window = db, span.last, span.window
        self._sought, self._words = words, [_any(list(map(way, ways))) for ways in words]
        self._condition = condition
        self._all = _all(self._words)
        self._scored = _all([self._words[place] for place in sorted(scored)]) if scored else None
        self._found: list[int] | None = None
        self._most = min(most, max(_FEWEST, most * _SCORED // (len(scored) or len(words))))
        self._many = last_id(db) > _TITLES
        self._each = span.window is not None or _is_usual(db, condition)

    def whole(self, span: Span) -> Scored:
        """Return a part of what has every word, by bm25, the best first."""
        if self._scored is None:
            return self._level(span, self._most).page(self._db, span.limit, span.offset)
        ids = sorted(set(self._latest()).difference(span.without))
        if not ids:
            return []
        within = Span(0, window=Window(ids[0] - 1, ids[-1]))
        return _level(self._scored, ALL, within, self._most, ids=ids).page(self._db, span.limit, span.offset)

    def _latest(self) -> list[int]:
        """Return the ids of what has every word and satisfies the condition, so many as are scored; found once."""
        if self._found is None:
            self._found = self._level(Span(0, last=self._last, window=self._window), self._most).ids(self._db)
        return self._found

    def _level(self, span: Span, most: int) -> "_Level":
        """Return what has every word, so many at most."""
        return _level(self._all, self._condition, span, most, each=self._each)

    def is_full(self) -> bool:
        """Say whether there is as much in the window as is scored, so that what was stored before it changes nothing."""
        return len(self._latest()) == self._most

    def lifts(self, ids: Sequence[int]) -> list[float]:
        """Return what each of these items is lifted by for its title."""
        # A list as JSON: half a character, which a title may hold, is no text to SQLite by itself.
        sql = "select id, json_extract(data, '$.title', '$.key') from records where id in (select value from json_each(?))"
        read = self._db.execute(sql, [json.dumps(self._titled(ids))])
        titles = {number: title for number, text in read if self._may_title(title := json.loads(text)[0])}
        return [lift(titles[number], self._sought) if number in titles else 0.0 for number in ids]

    def appeared(self, ids: Sequence[int]) -> list[datetime]:
        """Return when each item appeared, was published or first seen."""
        known = appeared(self._db, ids)
        return [known[number] for number in ids]

    def _titled(self, ids: Sequence[int]) -> list[int]:
        """Return those of the ids whose titles have every word; all where FTS5 would read long lists for it."""
        if self._many:
            return list(ids)
        sql = "select rowid from words where words match ? and +rowid in (select value from json_each(?))"
        titled = f"{_TITLE} : ({self._all.expression})"
        return [number for (number,) in self._db.execute(sql, [titled, json.dumps(list(ids))])]

    def _may_title(self, title: str) -> bool:
        return not self._many or has_every(title, self._sought)

    def some(self, number: int, fewer: bool) -> tuple[Scored, Scored]:
        """Return so many of what has half of the words but not all; with `fewer`, of what has a quarter too; best first."""
        if len(self._words) < 2:
            return [], []
        number_stored = last_id(self._db) if self._last is None else self._last
        tell = weights([self._having(word) for word in self._words], number_stored)
        telling = [(word, weight) for word, weight in zip(self._words, tell, strict=True) if weight]
        if not telling:
            return [], []
        bars = least(tell), least(tell, QUARTER) if fewer else least(tell)
        half, few = self._enough(telling, bars, number_stored)
        within = Span(0, window=self._window)
        level = _level(_any([word for word, _ in telling]), ALL, within, self._most, self._all, [*half, *few])
        found = level.page(self._db, 2 * number, 0)
        rest = set(few)
        return (
            [pair for pair in found if pair[0] not in rest][:number],
            [pair for pair in found if pair[0] in rest][:number],
        )

    def closest(self, meaning: Meaning) -> Close:
        """As in the protocol."""
        if not meaning.finds:
            return NOTHING
        db, condition, last = self._db, self._condition, self._last
        if isinstance(condition, Match) and not condition.negated and not self._many:
            return meaning.closest(db, WIDENED, _until(last, satisfying(db, condition, self._window)))
        near, complete = meaning.all_near(db)
        ids = _until(last, near.ids)
        kept = np.isin(near.ids, ids if condition == ALL else among(db, condition, ids))
        if complete or kept.sum() >= WIDENED:
            return Close(near.ids[kept][:WIDENED], near.cosines[kept][:WIDENED])
        return meaning.closest(db, WIDENED, _until(last, satisfying(db, condition, self._window)))

    def _having(self, word: Match) -> int:
        """Return how many items have the word; of one that tells nothing, being so common, no more than that."""
        bounds, values = Span(0, last=self._last).bounds("rowid")
        sql = " and ".join(["select rowid from words where words match ?", *bounds])
        sql = f"select count(*) from ({sql} limit ?)"
        return int(self._db.execute(sql, [word.expression, *values, COMMON + 1]).fetchone()[0])

    def _enough(
        self, telling: Sequence[tuple[Match, float]], bars: tuple[float, float], last: int
    ) -> tuple[list[int], list[int]]:
        """Return the ids of what satisfies the condition and has words that tell enough, and of what passes the second bar.

        Of many they are the most telling.
        """
        points = np.zeros(last + 1)
        beside = self._condition if isinstance(self._condition, Match) else ALL
        for word, weight in telling:
            found = satisfying(self._db, all_of([word, beside]), self._window)
            points[found[found <= last]] += weight
        ids: Ids = np.flatnonzero((points >= bars[1]) & (points > 0)).astype(np.int64)
        if beside is ALL and self._condition != ALL:
            ids = among(self._db, self._condition, ids)
        ids = ids[np.lexsort((-ids, -points[ids]))][:_WEIGHED]
        half = points[ids] >= bars[0]
        return ids[half].tolist(), ids[~half].tolist()

    def total(self, among_best: Collection[int]) -> int:
        """Return how many there are beside what was found among the best: all that has every word, counted so far."""
        level = self._level(Span(0, last=self._last, window=self._window), COUNTED + 1)
        ids = level.ids(self._db) if self._scored is None else self._latest()
        return min(COUNTED + 1, len({*ids, *among_best}))


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

    def ids(self, db: Database) -> list[int]:
        """Return the ids of what it finds, those that were stored last."""
        sql = f"select rowid from words where {self.sql} order by rowid desc limit {self.most}"
        return [number for (number,) in db.execute(sql, self.values).fetchall()]


def _level(
    either: Match,
    condition: Condition,
    span: Span,
    most: int,
    without: Match | None = None,
    ids: Sequence[int] | None = None,
    each: bool = False,
) -> _Level:
    """Return what both find within the span's bounds, of these ids alone where they are given, and `without` does not.

    With `each` the condition is looked up of one item after the other until there are enough, otherwise found at first.

    A plus keeps SQLite from asking FTS5 anew for every single id. What is left out stands apart from the
    expression: there its words would be scored now and then.
    """
    joined = all_of([either, condition])
    sql = "words match ?"
    values: list[object] = [joined.expression if isinstance(joined, Match) else either.expression]
    if not isinstance(joined, Match):
        within = to_where(condition).within(span.window)
        inner, inside = within.select("id")
        held = f"exists ({inner} and items.id = words.rowid)" if each else f"+rowid in ({inner})"
        sql, values = f"{sql} and {held}", [*values, *inside]
    if ids is not None:
        sql, values = f"{sql} and +rowid in (select value from json_each(?))", [*values, json.dumps(list(ids))]
    if without is not None:
        sql, values = f"{sql} and +rowid not in (select rowid from words where words match ?)", [*values, without.expression]
    bounds, limits = span.bounds("rowid")
    return _Level(" and ".join([sql, *bounds]), [*values, *limits], most)


def _is_usual(db: Database, condition: Condition) -> bool:
    """Say whether most of the items that were stored last satisfy the condition, so that it is soon found of some."""
    last = last_id(db)
    return isinstance(condition, Where) and 2 * count_of(db, condition, Window(last - _SAMPLE, last)) > min(last, _SAMPLE)


def _any(parts: Sequence[Match]) -> Match:
    return Match(" OR ".join(f"({part.expression})" for part in parts), 1 + max(part.depth for part in parts))


def _all(parts: Sequence[Match]) -> Match:
    return Match(" AND ".join(f"({part.expression})" for part in parts), 1 + max(part.depth for part in parts))
