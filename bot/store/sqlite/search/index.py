"""Searching: a query in, a page of whole items out."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from sqlite_utils import Database

from bot.models import Hit, Item, Near, Page, Query, Tree
from bot.query.fields import fold_label
from bot.store.records import micros
from bot.store.rules.pages import Shown, ShownLists, read_mark
from bot.store.sqlite.connections import Connections, Tables, reading, reading_long
from bot.store.sqlite.ingest import last_id
from bot.store.sqlite.items import hydrate
from bot.store.sqlite.search.best import Scored, Span
from bot.store.sqlite.search.compile import Where, all_of, compile_tree, to_where
from bot.store.sqlite.search.effort import Effort, TooMuchEffort, affordable, bounded, too_wide
from bot.store.sqlite.search.find import find_within
from bot.store.sqlite.search.meaning import Meaning, VectorCopy
from bot.store.sqlite.search.similar import similar

EFFORT = Effort()
_COUNTED = 4  # a count reads so many times more pages for beginnings: it cannot be made in part


class SqliteIndex(Tables):
    """bot.ports.items.SearchIndex, in FTS5 and a copy of the vectors in memory."""

    def __init__(self, connections: Connections, effort: Effort = EFFORT) -> None:
        super().__init__(connections)
        self._effort = effort
        self._copy = VectorCopy()
        self._lists = ShownLists[int]()

    async def search(
        self, query: Query, now: datetime, *, limit: int = 10, offset: int = 0, mark: str = "", near: Near | None = None
    ) -> Page:
        """As in the port; what the list has shown is remembered."""
        shown = self._lists.shown(query, mark) if mark else ()
        span, meaning = Span(limit, offset), self._meaning(near)
        page, found = await self.connections.read_long(
            lambda db: page_of(db, query, now, span, mark, shown, meaning, self._effort)
        )
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
        with self._whole(db, tree):
            sql, values = _young(tree, now, since).select("count(*)")
            return int(db.execute(sql, values).fetchone()[0])

    @reading_long
    def matching(self, db: Database, tree: Tree, now: datetime, *, since: datetime) -> Sequence[Item]:
        with self._whole(db, tree):
            sql, values = _young(tree, now, since).select("id", "seen desc, newest desc, key desc")
            numbers = [number for (number,) in db.execute(sql, values)]
        items = hydrate(db, numbers)
        return [items[number] for number in numbers]

    @contextmanager
    def _whole(self, db: Database, tree: Tree) -> Iterator[None]:
        """Raise UsageError where what is found of the tree inside takes too much effort."""
        if affordable(db, tree, _COUNTED * self._effort.pages) != tree:
            raise too_wide()
        try:
            with bounded(db, tree, self._effort):
                yield
        except TooMuchEffort as error:
            raise too_wide() from error


def page_of(
    db: Database,
    query: Query,
    now: datetime,
    span: Span,
    mark: str = "",
    shown: Shown[int] = (),
    meaning: Meaning | None = None,
    effort: Effort = EFFORT,
) -> tuple[Page, Scored]:
    """Return a page of what the query finds, and its items' ids with their relevance.

    `shown` is what earlier pages of the list with this mark held, from its first entry on. Raises UsageError for a mark
    that no page had.
    """
    newest = last_id(db)
    last = read_mark(mark, newest)
    found, examined = list(shown[span.offset : span.offset + span.limit + 1]), 0
    if len(found) <= span.limit:
        rest = Span(
            span.limit + 1 - len(found),
            max(0, span.offset - len(shown)),
            last if mark else None,
            tuple(number for number, _ in shown),
        )
        further, examined = find_within(db, query, now, rest, effort, meaning)
        found += further
    page = found[: span.limit]
    items = hydrate(db, [number for number, _ in page])
    hits = tuple(Hit(items[number], relevance) for number, relevance in page if number in items)
    return Page(hits, more=len(found) > span.limit, mark=str(last), examined=examined), page


def _young(tree: Tree, now: datetime, since: datetime | None) -> Where:
    young = [] if since is None else [Where("items.seen >= ?", (micros(since),))]
    return to_where(all_of([compile_tree(tree, now), *young]))
