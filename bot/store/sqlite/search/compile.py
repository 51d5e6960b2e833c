"""The query tree as SQL.

The law: for every tree and every set of items the condition holds for exactly the items that bot.query.match accepts.
tests/contract/test_query_agreement.py holds the two against each other.

Words and labels become one expression of FTS5's own language where they stand together, because FTS5 intersects its lists
faster than SQL joins them. Only tokens of [a-z0-9_] in quotes enter that expression, never a person's text.
"""

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from sqlite_utils import Database

from bot.models import And, Kind, Label, Not, Number, Or, Term, Tree, When
from bot.query.fields import TEXT, spellings_of
from bot.query.match import bounds
from bot.store.records import micros
from bot.store.rules.labels import label_token
from bot.store.rules.nearest import Ids
from bot.store.sqlite.ingest import last_id
from bot.store.sqlite.search.window import Window

# The parsers of SQLite and of FTS5 have a stack of 100 entries each (YYSTACKDEPTH), and a level of brackets takes three.
_DEEPEST = 24
_FOUND = "select rowid from words where words match ? and "
_ANYWHERE = "rowid > 0"  # where a window takes its place
_EVERY = " OR ".join(f'"{label_token("kind", kind)}"' for kind in Kind)  # each item is of one
_DEARER = 1_000  # how much more it takes to ask FTS5 for an id by itself
_TEXTS = f"{{{' '.join(TEXT)}}}"  # and not the stems, which are spelt as words are


@dataclass(frozen=True, slots=True)
class Match:
    """Items that an FTS5 expression finds; with `negated` those that it does not."""

    expression: str
    depth: int = 1
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Where:
    """Items for which a condition on `items` holds; it is never NULL.

    `parts` are the inner conditions that were taken out as tables of their own, each with its values, the innermost first.
    """

    sql: str
    values: tuple[float | int | str, ...] = ()
    depth: int = 1
    parts: tuple[tuple[str, tuple[float | int | str, ...]], ...] = ()

    def select(self, what: str, order: str = "", index: str = "") -> tuple[str, list[object]]:
        """Return the query for `what` of the items, with its values; with `index`, along that index of the table."""
        tables = f"with {', '.join(table for table, _ in self.parts)} " if self.parts else ""
        values = [value for _, inner in self.parts for value in inner]
        source = f"items indexed by {index}" if index else "items"
        sql = f"{tables}select {what} from {source} where {self.sql}{order and f' order by {order}'}"
        return sql, [*values, *self.values]

    def within(self, window: Window | None) -> "Where":
        """Return the condition for the items whose ids are in the window; the index is asked for no others."""
        if window is None:
            return self
        rows, items = window.of("rowid"), window.of("items.id")
        parts = tuple((f"{table[:-1].replace(_ANYWHERE, rows)} and {items})", values) for table, values in self.parts)
        return replace(self, sql=f"({self.sql.replace(_ANYWHERE, rows)}) and {items}", depth=self.depth + 1, parts=parts)


Condition = Match | Where
ALL = Where("1")
NONE = Where("0")


def compile_tree(tree: Tree, now: datetime) -> Condition:
    """Return the condition for which the tree holds at `now`."""
    match tree:
        case Term():
            return any_of([phrase(" ".join(way.tokens), tree.field, prefix=way.prefix) for way in spellings_of(tree)])
        case Label():
            return Match(f'"{label_token(tree.field, tree.value)}"{"*" if tree.prefix else ""}')
        case Number():
            return _number(tree)
        case When():
            return _when(tree, now)
        case Not():
            return negate(compile_tree(tree.part, now))
        case And():
            return all_of([compile_tree(part, now) for part in tree.parts])
        case Or():
            return any_of([compile_tree(part, now) for part in tree.parts])


def phrase(tokens: str, field: str = "", *, prefix: bool = False) -> Condition:
    """Return the condition that these tokens follow one another, in any text or in one; no tokens are nowhere."""
    if not tokens:
        return NONE
    return Match(f'{field or _TEXTS} : "{tokens}"{"*" if prefix else ""}')


def way(words: str) -> Match:
    """Return the condition that an item has the stem, as a word of its texts or as the stem of one; or else the phrase."""
    return Match(f'{_TEXTS} : "{words}"' if " " in words else f'"{words}"')


def negate(condition: Condition) -> Condition:
    """Return the condition that holds where this one does not."""
    if isinstance(condition, Match):
        return Match(condition.expression, condition.depth, not condition.negated)
    if condition in (ALL, NONE):
        return NONE if condition == ALL else ALL
    return _shallow(replace(condition, sql=f"not ({condition.sql})", depth=condition.depth + 1))


def all_of(conditions: Sequence[Condition]) -> Condition:
    """Return the condition that all of these hold, its FTS5 parts made one expression."""
    if NONE in conditions:
        return NONE
    return _joined(conditions, ALL, " and ", _both)


def any_of(conditions: Sequence[Condition]) -> Condition:
    """Return the condition that at least one of these holds, its FTS5 parts made one expression."""
    if ALL in conditions:
        return ALL
    return _joined(conditions, NONE, " or ", _either)


def to_where(condition: Condition) -> Where:
    """Return the condition as SQL on `items`."""
    if isinstance(condition, Where):
        return condition
    inside = "not in" if condition.negated else "in"
    return Where(f"items.id {inside} ({_FOUND}{_ANYWHERE})", (condition.expression,))


def _joined(
    conditions: Sequence[Condition], neutral: Where, word: str, merge: Callable[[Sequence[Match]], Match | None]
) -> Condition:
    matches = [part for part in conditions if isinstance(part, Match)]
    merged = merge([part for part in matches if part.depth < _DEEPEST])
    deep = [part for part in matches if part.depth >= _DEEPEST]
    wheres = [part for part in conditions if isinstance(part, Where) and part != neutral]
    every: list[Condition] = [*([merged] if merged else []), *deep, *wheres]
    if len(every) < 2:
        return every[0] if every else neutral
    sides = [to_where(part) for part in every]
    return _shallow(
        Where(
            word.join(f"({side.sql})" for side in sides),
            tuple(value for side in sides for value in side.values),
            1 + max(side.depth for side in sides),
            tuple(part for side in sides for part in side.parts),
        )
    )


def _shallow(where: Where) -> Where:
    """Take a condition that is nested too deep for SQLite's parser out into a table of its own."""
    if where.depth < _DEEPEST:
        return where
    name = f"part{next(_numbers)}"
    table = f"{name} (id) as materialized (select id from items where ({where.sql}))"
    return Where(f"items.id in (select id from {name})", (), 1, (*where.parts, (table, where.values)))


_numbers = itertools.count()


def _both(matches: Sequence[Match]) -> Match | None:
    matches = list(dict.fromkeys(matches))  # what is said twice is looked for once
    if len(matches) < 2:
        return matches[0] if matches else None
    depth = 1 + max(match.depth for match in matches)
    wanted = " AND ".join(f"({match.expression})" for match in matches if not match.negated)
    unwanted = " OR ".join(f"({match.expression})" for match in matches if match.negated)
    if not wanted:
        return Match(unwanted, depth, negated=True)
    return Match(f"({wanted}) NOT ({unwanted})" if unwanted else wanted, depth + bool(unwanted))


def _either(matches: Sequence[Match]) -> Match | None:
    none = _both([replace(match, negated=not match.negated) for match in matches])
    return none and replace(none, negated=not none.negated)


def _number(tree: Number) -> Condition:
    if tree.field == "score":  # no item has a score of its own; ranking gives it one
        return NONE
    low = (f"items.{tree.field} {'>' if tree.above else '>='} ?", tree.low)
    high = (f"items.{tree.field} {'<' if tree.below else '<='} ?", tree.high)
    bounds = [(sql, value) for sql, value in (low, high) if value is not None]
    return _known(tree.field, [sql for sql, _ in bounds], tuple(value for _, value in bounds))


def _when(tree: When, now: datetime) -> Condition:
    first, before, last = bounds(tree, now)
    limits = [(sql, time) for sql, time in ((">=", first), ("<", before), ("<=", last)) if time is not None]
    tests = [f"items.{tree.field} {sql} ?" for sql, _ in limits]
    return _known(tree.field, tests, tuple(micros(time) for _, time in limits))


def _known(field: str, bounds: list[str], values: tuple[float | int, ...]) -> Where:
    """Return the condition that the field is known and within the bounds; without the first part it could be NULL."""
    return Where(" and ".join([f"items.{field} is not null", *bounds]), values)


# --- the ids of the items for which a condition holds
# SQLite writes them as one text: a row for each would take three times as long, all of it under the interpreter's lock.


def satisfying(db: Database, condition: Condition, window: Window | None = None) -> Ids:
    """Return the ids of the items for which the condition holds, of those in the window."""
    if isinstance(condition, Match):
        return having(db, _whole(condition), window)
    return _ids(db, *to_where(condition).within(window).select("group_concat(items.id)"))


def published_between(db: Database, begin: int, end: int | None, window: Window | None = None) -> Ids:
    """Return the ids of what was published from one time on and before another, in microseconds."""
    until = "" if end is None else f" and published < {end:d}"
    dated = f"published is not null and published >= ?{until}"
    within = window.of("id") if window is not None else _ANYWHERE
    return _ids(db, f"select group_concat(id) from items indexed by items_published where {dated} and {within}", [begin])


def count_of(db: Database, condition: Condition, window: Window | None = None) -> int:
    """Return for how many items of the window the condition holds."""
    if isinstance(condition, Match):
        rows = window.of("rowid") if window is not None else _ANYWHERE
        sql, values = f"select count(*) from words where words match ? and {rows}", [_whole(condition)]
        return int(db.execute(sql, values).fetchone()[0])
    if condition == ALL and window is None:  # the pages of an index say it
        return int(db.execute("select count(*) from items").fetchone()[0])
    return int(db.execute(*to_where(condition).within(window).select("count(*)")).fetchone()[0])


def _whole(condition: Match) -> str:
    """Return an expression that finds what the condition holds for, negated or not."""
    return f"({_EVERY}) NOT ({condition.expression})" if condition.negated else condition.expression


def each_of(db: Database, condition: Condition, ids: Ids) -> Ids:
    """Return those ids for whose items the condition holds, each asked for by itself: 30 µs for each of a few lists."""
    where = to_where(condition)
    sql = where.sql.replace(f"items.id in ({_FOUND}{_ANYWHERE})", f"exists ({_FOUND}rowid = items.id)")
    sql = sql.replace(f"items.id not in ({_FOUND}{_ANYWHERE})", f"not exists ({_FOUND}rowid = items.id)")
    one = f"items.id = json_each.value and ({sql})"
    select, values = replace(where, sql=one).select("group_concat(items.id)")
    select = select.replace(
        " from items where items.id = json_each", " from json_each(?) cross join items where items.id = json_each"
    )
    before = sum(len(inner) for _, inner in where.parts)
    return _ids(db, select, [*values[:before], json.dumps(ids.tolist()), *values[before:]])


def having(db: Database, expression: str, window: Window | None = None) -> Ids:
    """Return the ids of the items that an FTS5 expression finds, in the window: a tenth of a microsecond each."""
    rows = window.of("rowid") if window is not None else _ANYWHERE
    return _ids(db, f"select group_concat(rowid) from words where words match ? and {rows}", [expression])


def among(db: Database, condition: Condition, ids: Ids) -> Ids:
    """Return those ids, in their order, for whose items the condition holds."""
    if isinstance(condition, Match):
        if len(ids) * _DEARER < last_id(db):
            return ids[np.isin(ids, each_of(db, condition, ids))]
        # Asked for these ids alone, FTS5 would take a thousand times as long for each, or look through its list as well.
        return ids[np.isin(ids, having(db, condition.expression), invert=condition.negated)]
    some = Where("items.id in (select value from json_each(?))", (json.dumps(ids.tolist()),))
    return ids[np.isin(ids, satisfying(db, all_of([some, condition])))]


def _ids(db: Database, sql: str, values: list[object]) -> Ids:
    text = db.execute(sql, values).fetchone()[0]
    return np.fromstring(text, np.int64, sep=",") if text else np.empty(0, np.int64)
