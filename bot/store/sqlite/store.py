"""The store in one SQLite file."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TypeVar

from sqlite_utils import Database

from bot.errors import StoreError
from bot.models import (
    Change,
    Digest,
    Feedback,
    Hit,
    Item,
    Near,
    Page,
    Posting,
    Preferences,
    Query,
    Reading,
    Saved,
    SourceState,
    Subscription,
    Summary,
    Topic,
    Tree,
)
from bot.store.records import items
from bot.store.records.items import micros
from bot.store.rules.pages import Lists
from bot.store.sqlite import digests, ingest, labels, maintenance, people, workspaces
from bot.store.sqlite.connections import Readers, Writer, told
from bot.store.sqlite.locks import service_lock
from bot.store.sqlite.network_disk import refuse_network
from bot.store.sqlite.schema import is_current, migrate
from bot.store.sqlite.search import index, similar
from bot.store.sqlite.search.best import Span
from bot.store.sqlite.sqlite_vectors import SqliteVectors

T = TypeVar("T")


class SqliteStore(SqliteVectors):
    """bot.ports.store.Store, bot.ports.ledger.Ledger and bot.ports.chats.Chats on one file.

    `exclusive` is for the service that collects and posts: it keeps every other such service out for its life. A store
    opened without it may read, and write a little, beside it.
    """

    def __init__(self, path: Path, *, exclusive: bool = False) -> None:
        super().__init__()
        self.path = path
        self._exclusive = exclusive
        self._lock = service_lock(path)
        self._running = False
        self._lists = Lists[int]()

    @property
    def sqlite_version(self) -> str:
        """The version of SQLite in use: "3.53.0"."""
        return sqlite3.sqlite_version

    async def open(self) -> None:
        """Take the lock, migrate, and make the search index anew where it was made by other rules."""
        if self._running:
            return
        with told(self.path):
            await asyncio.to_thread(self._enter)
        self._writer, self._readers = Writer(self.path), Readers(self.path)
        self._folder = ThreadPoolExecutor(1, thread_name_prefix="store-folder")
        self._running = True
        try:
            if not await self._is_ready():
                await self._writer.write(_make_ready)
        except BaseException:
            await self.close()
            raise

    def _enter(self) -> None:
        refuse_network(self.path)
        if self.path.is_dir():
            raise StoreError(f"The database {self.path} cannot be opened: it is a folder; name a file in it.")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._exclusive:
            if not self._lock.take():
                holder = self._lock.signature()
                raise StoreError(
                    f"Another Broadsheet{f' (process {holder})' if holder else ''} is already running on {self.path};"
                    " stop it first, or give this one a database of its own."
                )
            self._lock.sign()

    async def _is_ready(self) -> bool:
        """Look without writing, so that a file that only may be read can be searched."""
        if not await asyncio.to_thread(self.path.exists):
            return False
        return await self._read(lambda db: is_current(db) and _fact(db, "index") == ingest.INDEX_VERSION)

    async def close(self) -> None:
        """Finish what is being written and let go of everything."""
        if not self._running:
            return
        self._running = False
        await self._readers.close()
        await self._writer.close()
        self._folder.shutdown(wait=False)
        await asyncio.to_thread(self._lock.close)

    async def _read(self, job: Callable[[Database], T]) -> T:
        if not self._running:
            raise StoreError("The store is not open.")
        return await self._readers.read(job)

    async def _write(self, job: Callable[[Database], T]) -> T:
        if not self._running:
            raise StoreError("The store is not open.")
        return await self._writer.write(job)

    async def _write_shared(self, job: Callable[[Database], T]) -> T:
        if not self._running:
            raise StoreError("The store is not open.")
        return await self._writer.write_shared(job)

    # --- items

    async def find(self, keys: Collection[str]) -> Mapping[str, Item]:
        """Return the item known under each key or alias."""
        return await self._read(lambda db: index.named(db, keys)) if keys else {}

    async def add(
        self, items: Sequence[Item], now: datetime, *, retired: Collection[str] = (), state: SourceState | None = None
    ) -> None:
        """Insert or replace whole items; the readings of a retired key pass to the item that names it as an alias."""
        runs = ingest.chunks(items, now)
        heirs = {alias: item.key for run in runs for item in run for alias in item.aliases}
        gone = set(retired) - {item.key for item in items}

        def job(db: Database) -> None:
            # Looked up first: while another thread folds, each step of SQLite's waits its turn for the interpreter.
            known = ingest.known(db, [item.key for run in runs for item in run])
            parts = [self._folder.submit(ingest.make_ready, run) for run in runs]
            ingest.write(db, (part.result() for part in parts), known, now.astimezone(UTC).date())
            ingest.retire(db, gone, heirs)
            if state is not None:
                _save_state(db, state)

        await self._write(job)

    async def search(
        self, query: Query, now: datetime, *, limit: int = 10, offset: int = 0, mark: str = "", near: Near | None = None
    ) -> Page:
        """Return a page of what the query finds."""
        shown = self._lists.shown(query, mark) if mark else ()
        span, meaning = Span(limit, offset), self._meaning(near)
        page, found = await self._read(lambda db: index.search(db, query, now, span, mark, shown, meaning))
        self._lists.keep(query, page.mark, offset, found)
        return page

    async def similar(self, item: Item, now: datetime, *, limit: int = 10, near: Near | None = None) -> Sequence[Hit]:
        """Return the items whose texts are closest to the item's; it looks at no more than a few hundred of them."""
        return await self._read(lambda db: similar.similar(db, item, limit, self._meaning(near)))

    async def values(self, field: str, beginning: str, *, limit: int = 25) -> Sequence[tuple[str, int]]:
        """Return the values of a label field that begin so, with their counts; the commonest first."""
        return await self._read(lambda db: labels.values(db, field, beginning, limit))

    async def count(self, tree: Tree, now: datetime, *, since: datetime | None = None) -> int:
        """Count the items for which the tree holds."""
        return await self._read(lambda db: index.count(db, tree, now, since))

    async def matching(self, tree: Tree, now: datetime, *, since: datetime) -> Sequence[Item]:
        """Return the items first seen since for which the tree holds, newest first."""
        return await self._read(lambda db: index.matching(db, tree, now, since))

    async def items_since(self, since: datetime, until: datetime) -> Sequence[Item]:
        """Return the items first seen in the span, newest first."""
        sql = (
            "select data from items join records using (id) where seen >= ? and seen < ?"
            " order by seen desc, newest desc, key desc"
        )
        return await self._read(
            lambda db: [items.item_from_text(data) for (data,) in db.execute(sql, [micros(since), micros(until)])]
        )

    async def items_mark(self) -> str:
        """Return how often items or readings were changed."""
        return await self.get_fact("changes")

    async def readings(self, keys: Collection[str], since: date) -> Mapping[str, Sequence[Reading]]:
        """Return each item's readings, oldest first."""
        return await self._read(lambda db: _readings(db, keys, since))

    # --- sources

    async def source_state(self, name: str) -> SourceState:
        """Return what is remembered of the source."""
        row = await self._row("select data from source_states where name = ?", name)
        return items.state_from_text(row[0]) if row else SourceState(name=name)

    async def save_source_state(self, state: SourceState) -> None:
        """Remember it."""
        await self._write(lambda db: _save_state(db, state))

    # --- digests

    async def save_digest(self, workspace: str, channel: str, digest: Digest, now: datetime) -> None:
        """Keep the digest and what it posted."""
        await self._write(lambda db: digests.save(db, workspace, channel, digest, now))

    async def posted(self, workspace: str, channel: str) -> frozenset[str]:
        """Return the keys already posted to the channel."""
        return await self._read(lambda db: digests.posted(db, workspace, channel))

    async def last_digest(self, workspace: str, channel: str, topic: str) -> tuple[date, datetime] | None:
        """Return the day and the `until` of the channel's newest digest of the topic."""
        return await self._read(lambda db: digests.last(db, workspace, channel, topic))

    async def postings(self, workspace: str, channel: str, keys: Collection[str]) -> Sequence[Posting]:
        """Return when items of these keys were posted to the channel, the latest first."""
        return await self._read(lambda db: digests.postings(db, workspace, channel, keys))

    async def last_entries(self, workspace: str, channel: str) -> Sequence[str]:
        """Return the keys of the entries of the channel's newest digest that has any."""
        return await self._read(lambda db: digests.last_entries(db, workspace, channel))

    # --- what a workspace made

    async def topics(self, workspace: str) -> Mapping[str, Topic]:
        """Return the workspace's own topics by name."""
        return await self._read(lambda db: workspaces.topics(db, workspace))

    async def save_topic(self, workspace: str, topic: Topic, change: Change, *, replaces: int) -> Topic:
        """Keep the topic as the next revision."""
        return await self._write(lambda db: workspaces.save_topic(db, workspace, topic, change, replaces))

    async def delete_topic(
        self, workspace: str, name: str, change: Change, *, replaces: int, keep_uses: bool = False
    ) -> None:
        """Forget the topic, and unless they are to be kept its subscriptions and its feedback."""
        await self._write(lambda db: workspaces.delete_topic(db, workspace, name, change, replaces, keep_uses=keep_uses))

    async def subscriptions(self, workspace: str, *, channel: str = "", topic: str = "") -> Sequence[Subscription]:
        """Return the workspace's subscriptions, ordered by channel, then topic."""
        return await self._read(lambda db: workspaces.subscriptions(db, workspace, channel, topic))

    async def save_subscription(self, subscription: Subscription, change: Change, *, replaces: int) -> Subscription:
        """Keep the subscription as the next revision."""
        return await self._write(lambda db: workspaces.save_subscription(db, subscription, change, replaces))

    async def delete_subscription(self, subscription: Subscription, change: Change) -> None:
        """Forget the subscription."""
        await self._write(lambda db: workspaces.delete_subscription(db, subscription, change))

    async def feedback(self, workspace: str, topic: str) -> Sequence[Feedback]:
        """Return what was said for the topic, the oldest first."""
        return await self._read(lambda db: people.feedback(db, workspace, topic))

    async def save_feedback(self, feedback: Feedback, change: Change) -> None:
        """Keep a person's last word on an item for a topic."""
        await self._write(lambda db: people.save_feedback(db, feedback, change))

    async def drop_feedback(self, given: Collection[Feedback], change: Change) -> int:
        """Take back what was said, as far as it still stands so."""
        return await self._write(lambda db: people.drop_feedback(db, given, change))

    async def saved(self, workspace: str, person: str) -> Sequence[Saved]:
        """Return what the person put aside, the latest first."""
        return await self._read(lambda db: people.saved(db, workspace, person))

    async def save_item(self, workspace: str, person: str, saved: Saved) -> bool:
        """Put an item aside."""
        return await self._write(lambda db: people.save_item(db, workspace, person, saved))

    async def unsave_item(self, workspace: str, person: str, key: str) -> bool:
        """Take an item back from what the person put aside."""
        return await self._write(lambda db: people.unsave_item(db, workspace, person, key))

    async def preferences(self, workspace: str) -> Preferences:
        """Return what the workspace settled for itself."""
        return await self._read(lambda db: workspaces.preferences(db, workspace))

    async def save_preferences(
        self, workspace: str, preferences: Preferences, change: Change, *, replaces: Preferences | None = None
    ) -> None:
        """Keep it."""
        await self._write(lambda db: workspaces.save_preferences(db, workspace, preferences, change, replaces))

    async def changes(self, workspace: str, *, about: str = "", limit: int = 20) -> Sequence[Change]:
        """Return the latest changes, the newest first."""
        return await self._read(lambda db: workspaces.changes(db, workspace, about, limit))

    # --- summaries

    async def cached_summary(self, key: str, made_by: str, digest_of_text: str) -> Summary | None:
        """Return a kept summary."""
        row = await self._row(
            "select data from summaries where key = ? and made_by = ? and read = ?", key, made_by, digest_of_text
        )
        return items.summary_from_text(row[0]) if row else None

    async def save_summary(self, key: str, made_by: str, digest_of_text: str, summary: Summary, now: datetime) -> None:
        """Keep a summary."""
        values = [key, made_by, digest_of_text, micros(now), items.summary_to_text(summary)]
        await self._do("insert or replace into summaries (key, made_by, read, saved, data) values (?, ?, ?, ?, ?)", *values)

    async def spent(self, day: date) -> int:
        """Return how many tokens were used on the day."""
        row = await self._row("select tokens from spending where day = ?", day.isoformat())
        return int(row[0]) if row else 0

    async def spend(self, day: date, tokens: int) -> None:
        """Add to the day's tokens."""
        await self._do(
            "insert into spending (day, tokens) values (?, ?)"
            " on conflict (day) do update set tokens = tokens + excluded.tokens",
            *(day.isoformat(), tokens),
        )

    # --- small facts and maintenance

    async def get_fact(self, name: str) -> str:
        """Return a small remembered text."""
        return await self._read(lambda db: _fact(db, name))

    async def set_fact(self, name: str, value: str) -> None:
        """Remember a small text."""
        await self._do("insert or replace into facts (name, value) values (?, ?)", name, value)

    async def statistics(self) -> Mapping[str, int]:
        """Return row counts, and the bytes of the file."""
        return await self._read(maintenance.statistics)

    async def prune(self, *, items_before: datetime, readings_before: date, now: datetime) -> Mapping[str, int]:
        """Drop old items that nobody holds, and old readings."""
        return await self._write(lambda db: maintenance.prune(db, items_before, readings_before, now))

    async def check(self) -> list[str]:
        """Return a sentence per fault; a file so damaged that it cannot be looked through is one."""
        try:
            return await self._write(maintenance.check)
        except StoreError as error:
            return [str(error)]

    async def backup(self, path: Path) -> None:
        """Write a consistent copy while others read and write."""
        await self._read(lambda db: maintenance.backup(db, path))

    async def vacuum(self) -> int:
        """Give unused space back."""
        if not self._running:
            raise StoreError("The store is not open.")
        return await self._writer.bare(maintenance.vacuum)

    async def _row(self, sql: str, *values: object) -> tuple[str, int] | None:
        return await self._read(lambda db: db.execute(sql, list(values)).fetchone())

    async def _do(self, sql: str, *values: object) -> None:
        def job(db: Database) -> None:
            db.execute(sql, list(values))

        await self._write(job)


def _make_ready(db: Database) -> None:
    migrate(db)
    if _fact(db, "index") != ingest.INDEX_VERSION:
        ingest.rebuild(db)


def _readings(db: Database, keys: Collection[str], since: date) -> dict[str, list[Reading]]:
    sql = (
        "select key, day, readings.stars, readings.forks, readings.upvotes from readings join items on items.id = item"
        " where key in (select value from json_each(?)) and day >= ? order by key, day"
    )
    found: dict[str, list[Reading]] = {}
    for key, day, *counts in db.execute(sql, [json.dumps(list(keys)), since.isoformat()]).fetchall():
        found.setdefault(key, []).append(Reading(date.fromisoformat(day), *counts))
    return found


def _save_state(db: Database, state: SourceState) -> None:
    sql = "insert or replace into source_states (name, data) values (?, ?)"
    db.execute(sql, [state.name, items.state_to_text(state)])


def _fact(db: Database, name: str) -> str:
    row = db.execute("select value from facts where name = ?", [name]).fetchone()
    return str(row[0]) if row else ""
