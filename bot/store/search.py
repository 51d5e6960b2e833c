"""Searching: a query in, a page of whole items out."""

import json
from collections.abc import Sequence
from datetime import datetime

from sqlite_utils import Database

from bot.models import Hit, Item, Page, Query, Tree
from bot.store.best import Scored, Span, find_best
from bot.store.compile import ALL, Where, all_of, compile_tree, to_where
from bot.store.ingest import last_id
from bot.store.lists import Shown, read_mark
from bot.store.records import item_from_text, micros
from bot.store.words import split

_ORDERS = {
    "best": "newest desc, key desc",  # of a search without a bare word
    "new": "newest desc, key desc",
    "stars": "stars desc, newest desc, key desc",
    "upvotes": "upvotes desc, newest desc, key desc",
}


def search(
    db: Database, query: Query, now: datetime, span: Span, mark: str = "", shown: Shown[int] = ()
) -> tuple[Page, Scored]:
    """Return a page of what the query finds, and its items' ids with their relevance.

    `shown` is what earlier pages of the list with this mark held, from its first entry on. Raises UsageError for a mark
    that no page had.
    """
    newest = last_id(db)
    last = read_mark(mark, newest)
    found = list(shown[span.offset : span.offset + span.limit + 1])
    if len(found) <= span.limit:
        rest = Span(
            span.limit + 1 - len(found),
            max(0, span.offset - len(shown)),
            last if mark else None,
            tuple(number for number, _ in shown),
        )
        found += find(db, query, now, rest)
    page = found[: span.limit]
    items = hydrate(db, [number for number, _ in page])
    hits = tuple(Hit(items[number], relevance) for number, relevance in page if number in items)
    return Page(hits, more=len(found) > span.limit, mark=str(last)), page


def find(db: Database, query: Query, now: datetime, span: Span) -> Scored:
    """Return ids and relevance of what the query finds; relevance is 0 unless words are sought, best match first."""
    words, rest = split(query.tree) if query.sort == "best" else ((), query.tree)
    condition = compile_tree(rest, now)
    if words:
        return find_best(db, words, condition, span)
    bounds, limits = span.bounds("items.id")
    within = Where(" and ".join(bounds), tuple(limits)) if bounds else ALL
    sql, values = to_where(all_of([condition, within])).select("id, 0.0", f"{_ORDERS[query.sort]} limit ? offset ?")
    return [*db.execute(sql, [*values, span.limit, span.offset]).fetchall()]


def hydrate(db: Database, numbers: Sequence[int]) -> dict[int, Item]:
    """Return the items of these ids, without those that are gone."""
    rows = db.execute(
        "select records.id, data from json_each(?) join records on records.id = json_each.value", [json.dumps(list(numbers))]
    )
    return {number: item_from_text(data) for number, data in rows.fetchall()}


def count(db: Database, tree: Tree, now: datetime, since: datetime | None) -> int:
    """Count the items for which the tree holds."""
    sql, values = _young(tree, now, since).select("count(*)")
    return int(db.execute(sql, values).fetchone()[0])


def matching(db: Database, tree: Tree, now: datetime, since: datetime) -> list[Item]:
    """Return the items first seen since for which the tree holds, newest first."""
    sql, values = _young(tree, now, since).select("id", "seen desc, newest desc, key desc")
    numbers = [number for (number,) in db.execute(sql, values)]
    items = hydrate(db, numbers)
    return [items[number] for number in numbers]


def _young(tree: Tree, now: datetime, since: datetime | None) -> Where:
    young = [] if since is None else [Where("items.seen >= ?", (micros(since),))]
    return to_where(all_of([compile_tree(tree, now), *young]))
