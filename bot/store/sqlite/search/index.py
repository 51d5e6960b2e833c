"""Searching: a query in, a page of whole items out."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, TypeVar

from sqlite_utils import Database

from bot.errors import StoreError
from bot.models import Hit, Item, Near, Page, Query, Tree, WordUse
from bot.ports.items import Making
from bot.query.fields import fold_label
from bot.query.match import matches
from bot.store.records import micros
from bot.store.rules.halves import Card, half_named, together
from bot.store.rules.pages import Shown, ShownLists, read_mark
from bot.store.rules.search_terms import split
from bot.store.sqlite.connections import Connections, Tables, reading, reading_long
from bot.store.sqlite.ingest import ids_of, last_change, last_id
from bot.store.sqlite.items import hydrate
from bot.store.sqlite.search.best import Answer, Scored, Span
from bot.store.sqlite.search.compile import Condition, Where, all_of, compile_tree, count_of, to_where
from bot.store.sqlite.search.cost import Costs
from bot.store.sqlite.search.effort import Effort, TooMuchEffort, affordable, bounded, too_wide
from bot.store.sqlite.search.find import find_within, months_of
from bot.store.sqlite.search.meaning import Meaning, VectorCopy
from bot.store.sqlite.search.similar import similar
from bot.store.sqlite.search.vocabulary import stands_for, use_of
from bot.store.sqlite.search.window import Window, window_of

if TYPE_CHECKING:  # the library is there where the settings ask for it
    from bot.store.index.follower import IndexFollower
    from bot.store.index.view import Condition as ViewCondition
    from bot.store.index.view import View

T = TypeVar("T")
_log = logging.getLogger(__name__)

EFFORT = Effort()
_HALVES = 3  # results that are looked for beyond those of a page, in case that some are the other halves of others
_Results = list[tuple[int, Card]]
_TEXTS = "json_extract(data, '$.title', '$.abstract')"  # a list as JSON: half a character alone is no text to SQLite
_MERGED = 2  # a count merges so many times more pages for beginnings: it cannot be made in part
_COUNTED = 2.5  # and reads so many times more of others


class SqliteIndex(Tables):
    """bot.ports.items.SearchIndex, in FTS5 and a copy of the vectors."""

    def __init__(
        self,
        connections: Connections,
        effort: Effort = EFFORT,
        follower: "IndexFollower | None" = None,
        vectors: VectorCopy | None = None,
    ) -> None:
        """`follower` is the index beside the database, which is asked first where there is one."""
        super().__init__(connections)
        self._effort, self._follower = effort, follower
        self._copy = vectors if vectors is not None else VectorCopy()
        self._making_file: asyncio.Task[None] | None = None
        self._lists = ShownLists[int]()

    async def search(
        self,
        query: Query,
        now: datetime,
        *,
        limit: int = 10,
        offset: int = 0,
        mark: str = "",
        near: Near | None = None,
        cards: bool = False,
    ) -> Page:
        """As in the port; what the list has shown is remembered."""
        space = near.space if near is not None else ""
        shown = self._lists.shown(query, mark, cards=cards, space=space) if mark else ()
        listing = Listing(query, now, Span(limit, offset), mark, shown, self._meaning(near), self._effort, cards)
        page, found = await self._asked(lambda db, view: replace(listing, view=view).page(db))
        if mark and page.total is None:
            total, about = self._lists.total(query, mark, cards=cards, space=space)
            page = replace(page, total=total, about=about)
        self._lists.keep(query, page.mark, offset, found, cards=cards, space=space, total=(page.total, page.about))
        self._keep_vectors()
        return page

    def _keep_vectors(self) -> None:
        """Have the file of vectors made in the background where too many of them are in memory."""
        if self._copy.is_due() and (self._making_file is None or self._making_file.done()):
            self._making_file = asyncio.create_task(self._make_file(), name="making the file of vectors")

    async def _make_file(self) -> None:
        try:
            await self.connections.read_long(self._copy.remake)
        except StoreError as error:
            _log.warning("the file of vectors stays as it is: %s", error)

    async def close(self) -> None:
        """End what goes on in the background."""
        self._copy.stop()
        if self._making_file is not None:
            await asyncio.wait([self._making_file])

    async def _asked(self, ask: Callable[[Database, "View | None"], T]) -> T:
        """Return what is answered by the index beside, or by FTS5 where that is behind, or fails."""
        view = await self._follower.view() if self._follower is not None else None
        if view is None:
            return await self.connections.read_long(lambda db: ask(db, None))
        try:
            return await self.connections.read_long(lambda db: ask(db, view if view.number == last_change(db) else None))
        except view.failures as error:
            _log.warning("the index beside the database could not answer, FTS5 does: %s", error)
            assert self._follower is not None  # noqa: S101 - it gave the view
            await self._follower.doubt()
            return await self.connections.read_long(lambda db: ask(db, None))

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
    def word_use(self, db: Database, words: Sequence[str]) -> Mapping[str, WordUse]:
        return {word: use_of(db, word) for word in words}

    @reading
    def stands_for(self, db: Database, spelt: Sequence[str]) -> Mapping[str, Sequence[tuple[str, int]]]:
        return stands_for(db, spelt)

    async def count(self, tree: Tree, now: datetime, *, since: datetime | None = None) -> int:
        """As in the port."""

        def ask(db: Database, view: "View | None") -> int:
            if view is not None:
                return view.count(_young_in(view, tree, now, since))
            window = window_of(db, tree, now, since)
            with self._whole(db, tree, window):
                return count_of(db, _young(tree, now, since), window)

        return await self._asked(ask)

    async def matching(self, tree: Tree, now: datetime, *, since: datetime) -> Sequence[Item]:
        """As in the port."""

        def ask(db: Database, view: "View | None") -> Sequence[Item]:
            if view is not None:
                window, young = None, Where(*_these(view.ids(_young_in(view, tree, now, since))))
            else:
                window = window_of(db, tree, now, since)
                young = to_where(_young(tree, now, since)).within(window)
            with self._whole(db, tree, window) if view is None else nullcontext():
                sql, values = young.select("id", "seen desc, newest desc, key desc")
                numbers = [number for (number,) in db.execute(sql, values)]
            items = hydrate(db, numbers)
            return [items[number] for number in numbers]

        return await self._asked(ask)

    @reading_long
    def months(self, db: Database, tree: Tree, now: datetime) -> Mapping[date, int]:
        window = window_of(db, tree, now)
        with self._whole(db, tree, window, 2.5):
            return months_of(db, compile_tree(tree, now), window)

    @reading_long
    def texts(self, db: Database, tree: Tree, now: datetime, *, limit: int) -> Sequence[tuple[str, str]]:
        window = window_of(db, tree, now)
        with self._whole(db, tree, window, 5):
            # The fingerprint is a hash of what the index holds of an item: an order that stays, and that nothing else has.
            inner, values = to_where(_young(tree, now, None)).within(window).select("id", "fingerprint, id limit ?")
            sql = f"select {_TEXTS} from records where id in ({inner})"
            return [(title, abstract or "") for title, abstract in _loaded(db.execute(sql, [*values, limit]))]

    async def making(self) -> Making | None:
        """As in the port; FTS5 is never behind."""
        return await self._follower.making() if self._follower is not None else None

    @contextmanager
    def _whole(self, db: Database, tree: Tree, window: Window | None, times: float = 1) -> Iterator[None]:
        """Raise UsageError where what is found of the tree inside, in the window, takes too much effort.

        `times` is how much more is done with what is found than to count it.
        """
        if affordable(db, tree, _MERGED * self._effort.pages) != tree:
            raise too_wide()
        if times * Costs(db).whole(tree, window) > _COUNTED * self._effort.reads:
            raise too_wide()
        try:
            with bounded(db, tree, self._effort):
                yield
        except TooMuchEffort as error:
            raise too_wide() from error


@dataclass(frozen=True, slots=True)
class Listing:
    """A page that is asked for.

    `shown` is what earlier pages of the list with this mark held, from its first entry on.
    """

    query: Query
    now: datetime
    span: Span
    mark: str = ""
    shown: Shown[int] = ()
    meaning: Meaning | None = None
    effort: Effort = EFFORT
    cards: bool = False
    view: "View | None" = None

    def page(self, db: Database) -> tuple[Page, Scored]:
        """Return the page, and what names its items with their relevance. Raises UsageError for a mark that no page had."""
        last = read_mark(self.mark, last_id(db))
        limit = self.span.limit
        begun = self.shown[self.span.offset : self.span.offset + limit + 1]
        further, answer, examined = self._further(db, limit + 1 - len(begun), last)
        results = [*self._results(db, begun[:limit], last, again=True), *further[: max(0, limit - len(begun))]]
        hits = tuple(Hit(card.lead, card.relevance, card.other) for _, card in results)
        more = len(begun) + len(further) > limit
        names = [*begun, *((name, card.relevance) for name, card in further)][:limit]
        return Page(hits, more, str(last), examined, answer.total, answer.about), names

    def _further(self, db: Database, wanted: int, last: int) -> tuple[list[tuple[int, Card]], Answer, int]:
        """Return so many results behind those that were shown."""
        if wanted <= 0:
            return [], Answer([]), 0
        number = wanted + (_HALVES if self.cards else 0)
        while True:
            rest = Span(
                number,
                max(0, self.span.offset - len(self.shown)),
                last if self.mark else None,
                tuple(name for name, _ in self.shown),
            )
            answer, examined = find_within(db, self.query, self.now, rest, self.effort, self.meaning, self.view)
            found = self._results(db, answer.scored, last)
            if len(found) >= wanted or len(answer.scored) < number:
                return found[:wanted], answer, examined
            number *= 2  # halves of others took their places

    def _results(self, db: Database, found: Sequence[tuple[int, float]], last: int, *, again: bool = False) -> _Results:
        """Return the results that these are, with their items; those that were shown before only where they are wanted."""
        items = hydrate(db, [number for number, _ in found])
        if not self.cards:
            return [(number, Card(items[number], relevance)) for number, relevance in found if number in items]
        named = ids_of(db, list(filter(None, map(half_named, items.values()))))
        halves = {key: number for key, number in named.items() if number <= last}
        missing = [number for number in halves.values() if number not in items]
        items |= hydrate(db, missing)
        conditions = split(self.query.tree)[1] if self.query.sort == "best" else self.query.tree
        before = () if again else {number for number, _ in self.shown}
        return together(found, items, halves, lambda item: matches(conditions, item, self.now), before)


def _loaded(rows: Iterable[tuple[str]]) -> Iterator[tuple[str, str | None]]:
    return (json.loads(text) for (text,) in rows)


def _young_in(view: "View", tree: Tree, now: datetime, since: datetime | None) -> "ViewCondition":
    """Return the condition in the index beside. Raises UsageError for a tree that takes too much effort."""
    if view.affordable(tree) != tree:
        raise too_wide()
    return view.condition(tree, now, since=None if since is None else micros(since))


def _these(ids: Sequence[int]) -> tuple[str, tuple[str]]:
    return "items.id in (select value from json_each(?))", (json.dumps(ids),)


def _young(tree: Tree, now: datetime, since: datetime | None) -> Condition:
    young = [] if since is None else [Where("items.seen >= ?", (micros(since),))]
    return all_of([compile_tree(tree, now), *young])
