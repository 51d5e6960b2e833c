"""Searching: a query in, a page of whole items out."""

import json
from collections.abc import Sequence
from datetime import datetime

from sqlite_utils import Database

from bot.models import Hit, Item, Page, Query, Tree
from bot.store.compile import NONE, Condition, Match, Where, all_of, any_of, compile_tree, phrase, stem, to_where
from bot.store.records import item_from_text, micros
from bot.store.words import split

_ORDERS = {
    "best": "newest desc, key desc",  # of a search without a bare word
    "new": "newest desc, key desc",
    "stars": "stars desc, newest desc, key desc",
    "upvotes": "upvotes desc, newest desc, key desc",
}


def search(db: Database, query: Query, now: datetime, limit: int, offset: int) -> Page:
    """Return a page of what the query finds."""
    sql, values = statement(query, now, limit, offset)
    rows: list[tuple[int, float]] = db.execute(sql, values).fetchall()
    items = hydrate(db, [number for number, _ in rows[:limit]])
    hits = tuple(Hit(item, -rank) for item, (_, rank) in zip(items, rows, strict=False))
    return Page(hits, more=len(rows) > limit)


def statement(query: Query, now: datetime, limit: int, offset: int) -> tuple[str, list[object]]:
    """Return the SQL that finds ids and ranks (smaller is better), one row more than the page holds, and its values."""
    bare, rest = split(query.tree) if query.sort == "best" else ((), query.tree)
    condition = compile_tree(rest, now)
    if bare:
        return _ranked(any_of([_has(words) for words in bare]), condition, [limit + 1, offset])
    where = to_where(condition)
    order = _ORDERS[query.sort]
    return f"select id, 0.0 from items where {where.sql} order by {order} limit ? offset ?", [
        *where.values,
        limit + 1,
        offset,
    ]


def hydrate(db: Database, numbers: Sequence[int]) -> list[Item]:
    """Return the items of these ids, in this order."""
    rows = db.execute(
        "select data from json_each(?) join records on records.id = json_each.value order by json_each.key",
        [json.dumps(list(numbers))],
    )
    return [item_from_text(data) for (data,) in rows.fetchall()]


def count(db: Database, tree: Tree, now: datetime, since: datetime | None) -> int:
    """Count the items for which the tree holds."""
    young = [] if since is None else [Where("items.seen >= ?", (micros(since),))]
    sql, values = to_where(all_of([compile_tree(tree, now), *young])).select("count(*)")
    return int(db.execute(sql, values).fetchone()[0])


def _has(words: str) -> Condition:
    """Return the condition that the item has a stem, or a phrase, as `split` gives them."""
    return phrase(words) if " " in words else stem(words) if words else NONE


def _ranked(either: Condition, condition: Condition, span: list[int]) -> tuple[str, list[object]]:
    """Return the search for what matches `either`, best first, where the condition holds.

    `order by rank` alone lets FTS5 sort by itself; equal ranks then come in the order of their ids.
    """
    whole = all_of([either, condition])
    if isinstance(whole, Match):
        return "select rowid, rank from words where words match ? order by rank limit ? offset ?", [whole.expression, *span]
    if not isinstance(either, Match):
        return "select id, 0.0 from items where 0 limit ? offset ?", list(span)
    inner, values = to_where(condition).select("id")
    sql = f"select rowid, rank from words where words match ? and rowid in ({inner}) order by rank limit ? offset ?"
    return sql, [either.expression, *values, *span]
