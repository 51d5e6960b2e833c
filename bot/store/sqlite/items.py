"""The items in SQL. What is folded and indexed of them stands in bot.store.sqlite.ingest.

An item's id is its arrival: one transaction after another gives it, each id higher than any before, and none twice.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime

from sqlite_utils import Database

from bot.models import Item, Reading, SourceState
from bot.ports.items import NOTHING_READ, ItemChange
from bot.store.records import item_from_text, item_to_text, micros
from bot.store.sqlite import ingest
from bot.store.sqlite.connections import Tables, reading, reading_long
from bot.store.sqlite.key_values import fact, save_state

_FEW = 100  # keys; their items are read in some milliseconds


class SqliteItems(Tables):
    """bot.ports.items.Items. `followed` is waited for after every `add`: what is to have the change by then."""

    followed: Callable[[], Awaitable[None]] | None = None

    async def find(self, keys: Collection[str]) -> Mapping[str, Item]:
        """As in the port; without a key nothing is read."""
        read = self.connections.read if len(keys) <= _FEW else self.connections.read_long
        return await read(lambda db: named(db, keys)) if keys else {}

    async def add(
        self,
        items: Sequence[Item],
        now: datetime,
        *,
        retired: Collection[str] = (),
        state: SourceState | None = None,
        known: Mapping[str, Item | None] = NOTHING_READ,
        happened: bool = False,
    ) -> bool:
        """As in the port; what was read is encoded before the writer's turn, to be compared as it is stored."""
        read = await asyncio.to_thread(_as_stored, known)

        def write(db: Database) -> bool:
            if not _stand(db, read):
                return False
            self._write(db, items, now, retired, state)
            if happened:
                ingest.give_arrival(db)
            return True

        written = await self.connections.write(write)
        if written and self.followed is not None:
            await self.followed()
        return written

    def _write(
        self, db: Database, items: Sequence[Item], now: datetime, retired: Collection[str], state: SourceState | None
    ) -> None:
        runs = ingest.chunks(items, now)
        # Looked up first: while another thread folds, each step of SQLite's waits its turn for the interpreter.
        known = ingest.known(db, [item.key for run in runs for item in run])
        parts = [self.connections.folder.submit(ingest.make_ready, run) for run in runs]
        ingest.write(db, (part.result() for part in parts), known, now.astimezone(UTC).date())
        # The readings of a retired key pass to the item that names it as an alias.
        heirs = {alias: item.key for run in runs for item in run for alias in item.aliases}
        ingest.retire(db, set(retired) - {item.key for item in items}, heirs)
        if state is not None:
            save_state(db, state)

    @reading
    def last_arrival(self, db: Database) -> int:
        return ingest.last_id(db)

    @reading_long
    def arrived(self, db: Database, after: int, through: int | None = None) -> Sequence[tuple[int, Item]]:
        sql = (
            "select items.id, data from items join records using (id) where items.id > ? and items.id <= ?"
            " order by seen desc, newest desc, key desc"
        )
        last = ingest.last_id(db) if through is None else through
        return [(number, item_from_text(data)) for number, data in db.execute(sql, [after, last])]

    @reading_long
    def repositories(self, db: Database, pushed: datetime, through: int) -> Sequence[tuple[int, Item]]:
        sql = (
            "select items.id, data from items join records using (id)"
            " where kind = 'repo' and updated >= ? and items.id <= ? order by items.id desc"
        )
        return [(number, item_from_text(data)) for number, data in db.execute(sql, [micros(pushed), through])]

    @reading
    def arrival_before(self, db: Database, since: datetime, until: datetime) -> int:
        sql = "select min(id) from items where seen between ? and ?"
        first = db.execute(sql, [micros(since), micros(until)]).fetchone()[0]
        return ingest.last_id(db) if first is None else first - 1

    @reading
    def mark(self, db: Database) -> str:
        return fact(db, "changes")

    @reading
    def last_change(self, db: Database) -> int:
        return ingest.last_change(db)

    @reading_long
    def changes(self, db: Database, after: int, *, limit: int) -> Sequence[ItemChange] | None:
        if not ingest.is_known(db, after):
            return None
        sql = "select number, item from item_changes where number > ? order by number limit ?"
        rows = db.execute(sql, [after, limit]).fetchall()
        items = hydrate(db, list({item for _, item in rows}))
        return [ItemChange(number, item, items.get(item)) for number, item in rows]

    @reading_long
    def counts(self, db: Database) -> Mapping[str, int]:
        return counts(db)

    @reading_long
    def readings(self, db: Database, keys: Collection[str], since: date) -> Mapping[str, Sequence[Reading]]:
        sql = (
            "select key, day, readings.stars, readings.forks, readings.upvotes from readings join items on items.id = item"
            " where key in (select value from json_each(?)) and day >= ? order by key, day"
        )
        found: dict[str, list[Reading]] = {}
        for key, day, *counts in db.execute(sql, [json.dumps(list(keys)), since.isoformat()]).fetchall():
            found.setdefault(key, []).append(Reading(date.fromisoformat(day), *counts))
        return found


_Read = Mapping[str, tuple[Item, str] | None]  # by name: an item, and its text as we would store it


def _as_stored(known: Mapping[str, Item | None]) -> _Read:
    texts = {item.key: (item, item_to_text(item)) for item in known.values() if item is not None}
    return {name: None if item is None else texts[item.key] for name, item in known.items()}


def _stand(db: Database, read: _Read) -> bool:
    """Say whether the same items are found under the names, with the same texts."""
    if not read:
        return True
    sql = (
        "with wanted as (select value as name from json_each(?))"
        " select name, item from wanted join aliases on alias = name"
        " union all select name, id from wanted join items on key = name"
    )
    numbers = dict(db.execute(sql, [json.dumps(list(read))]).fetchall())  # keys come after aliases and so win over them
    if numbers.keys() != {name for name, was in read.items() if was is not None}:
        return False
    rows = db.execute(
        "select id, data from records where id in (select value from json_each(?))",
        [json.dumps(list(set(numbers.values())))],
    )
    texts = dict(rows.fetchall())
    return all(_is_same(texts.get(number), read[name]) for name, number in numbers.items())


def _is_same(text: str | None, was: tuple[Item, str] | None) -> bool:
    """Compare the texts; those that an earlier version wrote may be spelt otherwise, and are read."""
    if text is None or was is None:
        return False
    item, spelt = was
    return text == spelt or item_from_text(text) == item


def named(db: Database, keys: Collection[str]) -> dict[str, Item]:
    """Return the item known under each key or alias."""
    sql = (
        "with wanted as (select value as name from json_each(?))"
        " select name, data from wanted join aliases on alias = name join records on records.id = item"
        " union all select name, data from wanted join items on key = name join records using (id)"
    )
    # Keys come after aliases and so win over them.
    return {name: item_from_text(data) for name, data in db.execute(sql, [json.dumps(list(keys))]).fetchall()}


def counts(db: Database) -> Mapping[str, int]:
    """Return how many items there are, in all and of each kind."""
    # Papers are nearly all there is: they are what is left, as the pages of an index say it without a look at any row.
    others = "select kind, count(*) from items indexed by items_others where kind <> 'paper' group by kind"
    ((items,),) = db.execute("select count(*) from items").fetchall()
    kinds = dict(db.execute(others).fetchall())
    return {
        "items": items,
        "papers": items - sum(kinds.values()),
        **{f"{kind}s": kinds.get(kind, 0) for kind in ("repo", "post")},
    }


def hydrate(db: Database, numbers: Sequence[int]) -> dict[int, Item]:
    """Return the items of these ids, without those that are gone."""
    rows = db.execute(
        "select records.id, data from json_each(?) join records on records.id = json_each.value", [json.dumps(list(numbers))]
    )
    return {number: item_from_text(data) for number, data in rows.fetchall()}
