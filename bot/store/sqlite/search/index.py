"""Searching: a query in, a page of whole items out."""

from collections.abc import Sequence
from datetime import datetime

from sqlite_utils import Database

from bot.models import And, Hit, Item, Near, Number, Page, Query, Tree, When
from bot.query.fields import fold_label
from bot.store.records import micros
from bot.store.rules.pages import Shown, ShownLists, read_mark
from bot.store.rules.search_terms import split
from bot.store.sqlite.connections import Connections, Tables, reading, reading_long
from bot.store.sqlite.ingest import last_id
from bot.store.sqlite.items import hydrate
from bot.store.sqlite.search.best import Scored, Span, find_best, find_hybrid
from bot.store.sqlite.search.compile import ALL, Match, Where, all_of, compile_tree, to_where
from bot.store.sqlite.search.meaning import Meaning, VectorCopy
from bot.store.sqlite.search.similar import similar

COMMON = 5000  # items from which on going back in time is quicker, at 54,000 papers as at 151,000
_ORDERS = {
    "best": "newest desc, key desc",  # of a search without a bare word
    "new": "newest desc, key desc",
    "stars": "stars desc, newest desc, key desc",
    "upvotes": "upvotes desc, newest desc, key desc",
}


class SqliteIndex(Tables):
    """bot.ports.items.SearchIndex, in FTS5 and a copy of the vectors in memory."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._copy = VectorCopy()
        self._lists = ShownLists[int]()

    async def search(
        self, query: Query, now: datetime, *, limit: int = 10, offset: int = 0, mark: str = "", near: Near | None = None
    ) -> Page:
        """As in the port; what the list has shown is remembered."""
        shown = self._lists.shown(query, mark) if mark else ()
        span, meaning = Span(limit, offset), self._meaning(near)
        page, found = await self.connections.read_long(lambda db: page_of(db, query, now, span, mark, shown, meaning))
        self._lists.keep(query, page.mark, offset, found)
        return page

    def _meaning(self, near: Near | None) -> Meaning | None:
        return Meaning(self._copy, near) if near is not None else None

    @reading_long
    def similar(
        self, db: Database, item: Item, now: datetime, *, limit: int = 10, near: Near | None = None
    ) -> Sequence[Hit]:
        return similar(db, item, limit, self._meaning(near))

    @reading
    def values(self, db: Database, field: str, beginning: str, *, limit: int = 25) -> Sequence[tuple[str, int]]:
        start = fold_label(beginning)
        if not start:
            sql = "select value, items from labels where field = ? order by items desc, value limit ?"
            return [*db.execute(sql, [field, max(0, limit)]).fetchall()]
        if not start.isprintable():
            return []
        # No value holds the highest character of all, which is not printable.
        sql = (
            "select value, items from labels where field = ? and value >= ? and value < ? order by items desc, value limit ?"
        )
        return [*db.execute(sql, [field, start, f"{start}\U0010ffff", max(0, limit)]).fetchall()]

    @reading_long
    def count(self, db: Database, tree: Tree, now: datetime, *, since: datetime | None = None) -> int:
        sql, values = _young(tree, now, since).select("count(*)")
        return int(db.execute(sql, values).fetchone()[0])

    @reading_long
    def matching(self, db: Database, tree: Tree, now: datetime, *, since: datetime) -> Sequence[Item]:
        sql, values = _young(tree, now, since).select("id", "seen desc, newest desc, key desc")
        numbers = [number for (number,) in db.execute(sql, values)]
        items = hydrate(db, numbers)
        return [items[number] for number in numbers]


def page_of(
    db: Database,
    query: Query,
    now: datetime,
    span: Span,
    mark: str = "",
    shown: Shown[int] = (),
    meaning: Meaning | None = None,
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
        found += find(db, query, now, rest, meaning=meaning)
    page = found[: span.limit]
    items = hydrate(db, [number for number, _ in page])
    hits = tuple(Hit(items[number], relevance) for number, relevance in page if number in items)
    return Page(hits, more=len(found) > span.limit, mark=str(last)), page


def find(
    db: Database, query: Query, now: datetime, span: Span, common: int = COMMON, meaning: Meaning | None = None
) -> Scored:
    """Return ids and relevance of what the query finds; relevance is 0 unless words are sought, best match first."""
    words, rest = split(query.tree) if query.sort == "best" else ((), query.tree)
    condition = compile_tree(rest, now)
    if words and meaning is not None:
        return find_hybrid(db, words, condition, span, meaning)
    if words:
        return find_best(db, words, condition, span)
    bounds, limits = span.bounds("items.id")
    within = Where(" and ".join(bounds), tuple(limits)) if bounds else ALL
    order = _ORDERS[query.sort]
    along = "items_newest" if order.startswith("newest") and _is_common(db, rest, now, common) else ""
    sql, values = to_where(all_of([condition, within])).select("id, 0.0", f"{order} limit ? offset ?", along)
    return [*db.execute(sql, [*values, span.limit, span.offset]).fetchall()]


def _is_common(db: Database, tree: Tree, now: datetime, common: int) -> bool:
    """Say whether so many items have the words and labels of the tree that the newest are found soon by going back in time.

    Otherwise all that have them are found first, and sorted. SQLite does not know how many that will be. Where numbers or
    old dates are asked for, going back could take long before it finds any.
    """
    parts = tree.parts if isinstance(tree, And) else (tree,)
    if any(isinstance(part, Number) or (isinstance(part, When) and _ends(part)) for part in parts):
        return False
    words = all_of([match for part in parts if isinstance(match := compile_tree(part, now), Match)])
    if not isinstance(words, Match) or words.negated:
        return False
    sql = "select count(*) from (select rowid from words where words match ? limit ?)"
    return bool(db.execute(sql, [words.expression, common]).fetchone()[0] >= common)


def _ends(part: When) -> bool:
    return part.before is not None or part.youngest is not None


def _young(tree: Tree, now: datetime, since: datetime | None) -> Where:
    young = [] if since is None else [Where("items.seen >= ?", (micros(since),))]
    return to_where(all_of([compile_tree(tree, now), *young]))
