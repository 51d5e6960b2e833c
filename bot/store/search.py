"""Searching: a query in, a page of whole items out."""

import json
from collections.abc import Sequence
from datetime import datetime

from sqlite_utils import Database

from bot.models import Hit, Item, Page, Query, Tree
from bot.store.best import Scored, find_best
from bot.store.compile import Where, all_of, compile_tree, to_where
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
    found = find(db, query, now, limit + 1, offset)
    items = hydrate(db, [number for number, _ in found[:limit]])
    hits = tuple(Hit(item, relevance) for item, (_, relevance) in zip(items, found, strict=False))
    return Page(hits, more=len(found) > limit)


def find(db: Database, query: Query, now: datetime, limit: int, offset: int) -> Scored:
    """Return ids and relevance of what the query finds; relevance is 0 unless words are sought, best match first."""
    words, rest = split(query.tree) if query.sort == "best" else ((), query.tree)
    condition = compile_tree(rest, now)
    if words:
        return find_best(db, words, condition, limit, offset)
    sql, values = to_where(condition).select("id, 0.0", f"{_ORDERS[query.sort]} limit ? offset ?")
    return [*db.execute(sql, [*values, limit, offset]).fetchall()]


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
