"""The items in PostgreSQL. What is found in them stands in each process's own search copy, which follows their changes.

An item's id is its arrival. Whoever writes items holds one lock (bot.store.postgres.vectors.lock_items): so arrivals and the
numbers of changes are given in the order of commits, and who has read up to one of them has missed nothing before it.
"""

import asyncio
import itertools
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from bot.models import Item, Reading, SourceState
from bot.models.vectors import text_digest
from bot.ports.items import NOTHING_READ, ItemChange
from bot.query.fields import date_of
from bot.store.postgres import vectors
from bot.store.postgres.connections import Db, Tables, asking, reading
from bot.store.postgres.key_values import save_state, set_fact
from bot.store.postgres.vectors import items_of, lock_items, storable
from bot.store.records import item_from_text, item_to_text, micros, newness

_LONGEST_ALIAS = 2600  # bytes; an index has no room for more than 2,704, and no address is so long (bot.keys.MAX_URL)
CHUNK = 1000  # items to a statement, some megabytes
# So far apart are the numbers of two writes, by chance: where a backup is put back, what is written then has other numbers
# than what was written since the backup, and who had followed that sees that it is on another way.
_GAP = 1 << 32
KEPT_CHANGES = 100_000  # who is further behind reads all items anew, in about the time that so many changes take
_FIRST = 1  # the number that a store has before its first change, though no row says so
_LAST_CHANGE = f"coalesce((select max(number) from item_changes), {_FIRST})"
# The highest id that an item ever had: none is given twice, so ids tell what came later.
LAST_ID = (
    "greatest(coalesce((select max(id) from items), 0),"
    " coalesce((select value from facts where name = 'last id'), '0')::bigint)"
)

_FEW = 50  # items that are found at once


class PostgresItems(Tables):
    """bot.ports.items.Items. `followed` is waited for after every `add`: what is to have the change by then."""

    followed: Callable[[], Awaitable[None]] | None = None

    async def find(self, keys: Collection[str]) -> Mapping[str, Item]:
        """As in the port; what is asked of few is asked beside other questions."""
        names = storable(keys)

        async def found(db: Db) -> Mapping[str, Item]:
            rows = await (await db.execute(_NAMED.encode(), {"names": names})).fetchall()
            items = await items_of([data for _, data in rows])
            # Keys come after aliases and so win over them.
            return {name: item for (name, _), item in zip(rows, items, strict=True)}

        if not names:
            return {}
        return await (self.connections.ask if len(names) <= _FEW else self.connections.read)(found)

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
        """As in the port; all is encoded before the lock is taken."""
        read = await asyncio.to_thread(_as_stored, known)
        fresh = await asyncio.to_thread(_made_ready, items, now)
        going = set(retired) - {item.key for item in fresh}

        async def write(db: Db) -> bool:
            # What was read is compared behind the lock: until the commit nobody else changes it.
            await lock_items(db)
            if read and not await _stand(db, read):
                return False
            if fresh:
                await _write(db, fresh, now.astimezone(UTC).date())
            if going:
                await _retire(db, going, {alias: item.key for item in fresh for alias in item.aliases})
            if happened:
                await set_fact(db, "last id", str(await _number(db, LAST_ID) + 1))
            if state is not None:
                await save_state(db, state)
            return True

        written = await self.connections.write(write)
        if written and self.followed is not None:
            await self.followed()
        return written

    @asking
    async def last_arrival(self, db: Db) -> int:
        return await _number(db, LAST_ID)

    @reading
    async def arrived(self, db: Db, after: int, through: int | None = None) -> Sequence[tuple[int, Item]]:
        sql = (
            "select items.id, data from items join records using (id) where items.id > %s"
            f" and items.id <= coalesce(%s::bigint, {LAST_ID}) order by seen desc, newest desc, key desc"
        )
        return await _numbered(db, sql, [after, through])

    @reading
    async def repositories(self, db: Db, pushed: datetime, through: int) -> Sequence[tuple[int, Item]]:
        sql = (
            "select items.id, data from items join records using (id)"
            " where kind = 'repo' and updated >= %s and items.id <= %s order by items.id desc"
        )
        return await _numbered(db, sql, [micros(pushed), through])

    @asking
    async def arrival_before(self, db: Db, since: datetime, until: datetime) -> int:
        # Left to itself, the server may go through all items by their ids until one was seen then.
        first = "with seen as materialized (select id from items where seen between %s and %s)"
        sql = f"{first} select coalesce(min(id) - 1, {LAST_ID}) from seen"
        return await _number(db, sql, [micros(since), micros(until)])

    @asking
    async def mark(self, db: Db) -> str:
        """Return what was counted and the last number: of what was written since a backup was put back it is another one."""
        sql = f"select concat((select value from facts where name = 'changes'), ' ', {_LAST_CHANGE})"
        row = await (await db.execute(sql.encode())).fetchone()
        return str(row[0]) if row else ""

    @asking
    async def last_change(self, db: Db) -> int:
        return await _number(db, _LAST_CHANGE)

    @reading
    async def changes(self, db: Db, after: int, *, limit: int) -> Sequence[ItemChange] | None:
        """Ask in one statement: what is known, what has changed and how it is now are then of the same moment."""
        rows = await (await db.execute(_CHANGES.encode(), {"after": after, "limit": limit})).fetchall()
        if not rows[0][0]:
            return None
        texts = {number: data for _, _, number, data in rows if data is not None}
        items = dict(zip(texts, await items_of(list(texts.values())), strict=True))
        return [ItemChange(number, item, items.get(item)) for _, number, item, _ in rows if number is not None]

    @reading
    async def counts(self, db: Db) -> Mapping[str, int]:
        return await counts(db)

    @reading
    async def readings(self, db: Db, keys: Collection[str], since: date) -> Mapping[str, Sequence[Reading]]:
        sql = (
            "select key, day, readings.stars, readings.forks, readings.upvotes from items join readings on item = id"
            " where key = any(%s) and day >= %s order by key, day"
        )
        found: dict[str, list[Reading]] = {}
        for key, day, *numbers in await (await db.execute(sql, [storable(keys), since.isoformat()])).fetchall():
            found.setdefault(key, []).append(Reading(date.fromisoformat(day), *numbers))
        return found


# Each found by itself: left to itself, the server begins workers of its own for some hundred names, which takes longer.
_NAMED = """
    with aliased as materialized (select alias as name, item as id, 0 as place from aliases where alias = any(%(names)s)),
        keyed as materialized (select key as name, id, 1 as place from items where key = any(%(names)s)),
        named as (select * from aliased union all select * from keyed)
    select name, data from named join records using (id) order by place"""
_CHANGES = f"""
    with known as (
        select exists (select from item_changes where number = %(after)s)
            or (%(after)s = {_FIRST} and not exists (select from item_changes)) as known
    ), changed as (
        select number, item from item_changes where number > %(after)s order by number limit %(limit)s
    ) select known, number, item, data
    from known left join changed on known left join records on id = item order by number"""


async def _number(db: Db, sql: str, given: Sequence[object] = ()) -> int:
    """Return the number that an expression, or a whole statement, gives."""
    statement = sql if sql.startswith(("select", "with")) else f"select {sql}"
    row = await (await db.execute(statement.encode(), given)).fetchone()
    return int(row[0]) if row else 0


async def _numbered(db: Db, sql: str, given: Sequence[object]) -> list[tuple[int, Item]]:
    rows = await (await db.execute(sql.encode(), given)).fetchall()
    items = await items_of([data for _, data in rows])
    return [(number, item) for (number, _), item in zip(rows, items, strict=True)]


async def counts(db: Db) -> Mapping[str, int]:
    """Return how many items there are, in all and of each kind."""
    # Papers are nearly all there is: they are what is left, as the pages of an index say it without a look at any row.
    sql = "select null, count(*) from items union all select kind, count(*) from items where kind <> 'paper' group by kind"
    kinds: dict[str | None, int] = dict(await (await db.execute(sql)).fetchall())
    whole = kinds.pop(None)
    others = {f"{kind}s": kinds.get(kind, 0) for kind in ("repo", "post")}
    return {"items": whole, "papers": whole - sum(kinds.values()), **others}


# --- whether what was read is still so


_Read = Mapping[str, tuple[Item, str] | None]  # by name: an item, and its text as we would store it


def _as_stored(known: Mapping[str, Item | None]) -> _Read:
    texts = {item.key: (item, item_to_text(item)) for item in known.values() if item is not None}
    return {name: None if item is None else texts[item.key] for name, item in known.items()}


async def _stand(db: Db, read: _Read) -> bool:
    """Say whether the same items are found under the names, with the same texts."""
    rows = await (await db.execute(_NAMED.encode(), {"names": storable(read)})).fetchall()
    texts: dict[str, str] = dict(rows)  # keys come after aliases and so win over them
    if texts.keys() != {name for name, was in read.items() if was is not None}:
        return False
    return all(_is_same(text, read[name]) for name, text in texts.items())


def _is_same(text: str, was: tuple[Item, str] | None) -> bool:
    """Compare the texts; those that an earlier version wrote may be spelt otherwise, and are read."""
    if was is None:
        return False
    item, spelt = was
    return text == spelt or item_from_text(text) == item


# --- writing; all of it under the lock


@dataclass(frozen=True, slots=True)
class _Ready:
    """An item as it will be written."""

    key: str
    row: tuple[object, ...]  # the columns of `items` after the id, without the fingerprint
    data: str
    aliases: tuple[str, ...]  # those by which it is found
    read: int  # the digest of the text that its vector is made of


@dataclass(frozen=True, slots=True)
class _Last:
    """The numbers that a transaction goes on from."""

    id: int
    change: int
    vector_change: int


def _made_ready(items: Sequence[Item], now: datetime) -> list[_Ready]:
    """Encode items as they will be stored, the last of each key."""
    return [_ready(item if item.seen else replace(item, seen=now)) for item in {item.key: item for item in items}.values()]


def _ready(item: Item) -> _Ready:
    dates = (item.seen, newness(item)[0], date_of(item, "published"), date_of(item, "updated"))
    times = [None if time is None else micros(time) for time in dates]
    row = (item.key, str(item.kind), *times, item.stars, item.forks, item.upvotes)
    aliases = tuple(alias for alias in storable(item.aliases) if len(alias.encode()) <= _LONGEST_ALIAS)
    return _Ready(item.key, row, item_to_text(item), aliases, text_digest(item))


_LAST = f"select {LAST_ID}, {_LAST_CHANGE}, {vectors.LAST_CHANGE}"


async def _begin(db: Db, keys: Sequence[str]) -> tuple[_Last, dict[str, int]]:
    """Return the last numbers, and the id of each key that is an item's own."""
    async with db.pipeline():
        numbers = await db.execute(_LAST.encode())
        ids = await db.execute("select key, id from items where key = any(%s)", [list(keys)])
    ((*last,),) = await numbers.fetchall()
    return _Last(*last), dict(await ids.fetchall())


async def _write(db: Db, items: Sequence[_Ready], day: date) -> None:
    """Insert or replace items with what belongs to them."""
    last, known = await _begin(db, [item.key for item in items])
    following = itertools.count(last.id + 1)
    pairs = [(known[item.key] if item.key in known else next(following), item) for item in items]
    vector_change = vectors.next_change(last.vector_change)
    async with db.pipeline():
        if pairs:
            await _note_changes(db, [number for number, _ in pairs], last.change)
        for at in range(0, len(pairs), CHUNK):
            await _write_rows(db, pairs[at : at + CHUNK], day, vector_change)


async def _write_rows(db: Db, pairs: Sequence[tuple[int, _Ready]], day: date, vector_change: int) -> None:
    ids = [number for number, _ in pairs]
    await db.execute(_PUT_ITEMS, _columns([(number, *item.row) for number, item in pairs], 10))
    await db.execute(_PUT_RECORDS, [ids, [item.data for _, item in pairs]])
    await db.execute("delete from aliases where item = any(%s)", [ids])
    aliases = {alias: number for number, item in pairs for alias in item.aliases}
    await db.execute(_PUT_ALIASES, [list(aliases), list(aliases.values())])
    # The last three columns of a row are what is counted.
    readings = [(number, *item.row[-3:]) for number, item in pairs if item.row[-3:] != (None, None, None)]
    await db.execute(_PUT_READINGS, [day.isoformat(), *_columns(readings, 4)])
    await vectors.forget_changed(db, ids, [item.read for _, item in pairs], vector_change)


def _columns(rows: Sequence[Sequence[object]], number: int) -> list[list[object]]:
    return [[row[at] for row in rows] for at in range(number)]


_PUT_ITEMS = """
    insert into items (id, key, kind, seen, newest, published, updated, stars, forks, upvotes)
    select * from unnest(%s::bigint[], %s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[],
        %s::bigint[], %s::bigint[], %s::bigint[])
    on conflict (id) do update set kind = excluded.kind, seen = excluded.seen, newest = excluded.newest,
        published = excluded.published, updated = excluded.updated, stars = excluded.stars, forks = excluded.forks,
        upvotes = excluded.upvotes"""
_PUT_RECORDS = """
    insert into records (id, data) select * from unnest(%s::bigint[], %s::text[])
    on conflict (id) do update set data = excluded.data"""
_PUT_ALIASES = """
    insert into aliases (alias, item) select * from unnest(%s::text[], %s::bigint[])
    on conflict (alias) do update set item = excluded.item"""
_PUT_READINGS = """
    insert into readings (day, item, stars, forks, upvotes)
    select %s, given.* from unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[]) given
    on conflict (item, day) do update set stars = excluded.stars, forks = excluded.forks, upvotes = excluded.upvotes"""


async def _retire(db: Db, keys: Collection[str], heirs: Mapping[str, str]) -> None:
    """Drop items; the readings of one that another names as its alias pass to that one. The heirs must be written."""
    gone = await ids_of(db, keys)
    if not gone:
        return
    inherits = await ids_of(db, [heirs[key] for key in gone if key in heirs])
    pairs = [(gone[key], inherits[heirs[key]]) for key in sorted(gone) if heirs.get(key) in inherits]
    if pairs:
        await db.execute(_INHERIT, _columns(pairs, 2))
    await drop(db, list(gone.values()))


_INHERIT = """
    insert into readings (item, day, stars, forks, upvotes)
    select heir, day, stars, forks, upvotes
    from unnest(%s::bigint[], %s::bigint[]) with ordinality as given (gone, heir, place) join readings on item = gone
    order by place on conflict do nothing"""


async def ids_of(db: Db, keys: Collection[str]) -> dict[str, int]:
    """Return the id of each key that is an item's own."""
    return dict(await (await db.execute("select key, id from items where key = any(%s)", [storable(keys)])).fetchall())


async def note_change(db: Db) -> None:
    """Count that items or readings are about to change."""
    await db.execute(
        "insert into facts (name, value) values ('changes', '1')"
        " on conflict (name) do update set value = facts.value::bigint + 1"
    )


async def _note_changes(db: Db, ids: Sequence[int], last: int) -> None:
    """Count that items are about to change, and give each of their changes a number after the last one."""
    await note_change(db)
    await db.execute(_NUMBER_CHANGES.encode(), {"first": last + 1 + secrets.randbelow(_GAP), "ids": list(ids)})


_NUMBER_CHANGES = f"""
    insert into item_changes (number, item) select {_FIRST}, 0 where not exists (select from item_changes)
    union all select %(first)s - 1 + place, id from unnest(%(ids)s::bigint[]) with ordinality as given (id, place)"""


async def drop(db: Db, ids: Sequence[int]) -> int:
    """Drop the items of these ids with all that belongs to them; return how many readings that were."""
    if not ids:
        return 0
    last, _ = await _begin(db, ())
    async with db.pipeline():
        await _note_changes(db, ids, last.change)
        await set_fact(db, "last id", str(last.id))
        await vectors.forget(db, ids, vectors.next_change(last.vector_change))
        readings = await db.execute("delete from readings where item = any(%s)", [list(ids)])
        for table, column in (("items", "id"), ("records", "id"), ("aliases", "item")):
            await db.execute(f"delete from {table} where {column} = any(%s)".encode(), [list(ids)])
    return readings.rowcount


async def forget_changes(db: Db, kept: int = KEPT_CHANGES) -> None:
    """Forget all changes but the last one and so many before it; it waits for the lock of the items."""
    await lock_items(db)
    sql = "delete from item_changes where number < (select number from item_changes order by number desc limit 1 offset %s)"
    await db.execute(sql, [kept])
