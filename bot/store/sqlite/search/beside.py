"""Searching by an index that lies beside the database and has followed all changes: which items, and in what order."""

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from sqlite_utils import Database

from bot.models import Query
from bot.models.queries import COUNTED
from bot.store.records import time_of
from bot.store.rules.fusion import WIDENED
from bot.store.rules.nearest import NOTHING, Close
from bot.store.rules.search_terms import Words, split
from bot.store.rules.titles import lift
from bot.store.sqlite.ingest import last_id
from bot.store.sqlite.search.best import Answer, Scored, Span, appeared, put_together
from bot.store.sqlite.search.meaning import Meaning

if TYPE_CHECKING:  # the library is there where the settings ask for it
    from bot.store.index.view import SoughtInView, View


def find_beside(
    db: Database, view: "View", query: Query, now: datetime, span: Span, order: str, meaning: Meaning | None = None
) -> Answer:
    """Return what bot.store.sqlite.search.find.find does; `order` is that of the rows, for what is not sought by words."""
    words, rest = split(query.tree) if query.sort == "best" else ((), query.tree)
    if words:
        if not all(words):
            return Answer([], 0)
        sought = view.sought(words, rest, now, span.last, last_id(db) if span.last is None else span.last)
        return put_together(db, _Beside(db, sought, words), span, now, meaning)
    condition = view.condition(rest, now, span.last)
    ids, number = view.first(condition, query.sort, span.offset + span.limit + len(span.without))
    bounds, limits = span.bounds("items.id")
    where = " and ".join(["items.id in (select value from json_each(?))", *bounds])
    sql = f"select id, 0.0 from items where {where} order by {order} limit ? offset ?"
    found = db.execute(sql, [json.dumps(ids), *limits, span.limit, span.offset]).fetchall()
    return Answer(found, min(COUNTED + 1, number))


class _Beside:
    """bot.store.sqlite.search.best.Matching, by the index beside; titles and vectors are the database's."""

    def __init__(self, db: Database, sought: "SoughtInView", words: Words) -> None:
        self._db, self._sought, self._words = db, sought, words

    def whole(self, span: Span) -> Scored:
        return self._sought.whole(span.limit, span.offset, span.without)

    def some(self, number: int, fewer: bool) -> tuple[Scored, Scored]:
        return self._sought.some(number, fewer)

    def lifts(self, ids: Sequence[int]) -> list[float]:
        titled = json.dumps(list(set(ids).intersection(self._sought.titled(len(ids)))))
        sql = "select id, json_extract(data, '$.title', '$.key') from records where id in (select value from json_each(?))"
        titles = {number: json.loads(text)[0] for number, text in self._db.execute(sql, [titled])}
        return [lift(titles[number], self._words) if number in titles else 0.0 for number in ids]

    def appeared(self, ids: Sequence[int]) -> list[datetime]:
        known = self._sought.appeared(ids)
        others = [number for number in ids if number not in known]
        found = {number: time_of(micros) for number, micros in known.items()} | appeared(self._db, others)
        return [found[number] for number in ids]

    def total(self, among_best: Collection[int]) -> int:
        return self._sought.total(set(among_best))

    def closest(self, meaning: Meaning) -> Close:
        if not meaning.finds:
            return NOTHING
        near, complete = meaning.all_near(self._db)
        kept = self._sought.first_holding(near.ids, WIDENED)
        if complete or len(kept) == WIDENED:
            return Close(near.ids[kept], near.cosines[kept])
        return meaning.closest(self._db, WIDENED, self._sought.holding())
