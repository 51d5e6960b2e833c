"""Keeping a database in PostgreSQL sound: counting, checking, dropping what is old; copying it away, and back."""

import contextlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.errors import StoreError
from bot.models import DeliveryState, OccurrenceState, Rhythm, Suppression
from bot.ports.chats import TEXTS_KEPT
from bot.ports.mail import ASKED_KEPT
from bot.store.postgres import mail, vectors
from bot.store.postgres.connections import Db, Tables, reading, reading_view
from bot.store.postgres.items import LAST_ID, counts, drop, forget_changes, note_change
from bot.store.postgres.processes import forget_past
from bot.store.postgres.recovery.programs import dump, programs_for
from bot.store.postgres.recovery.restoring import restore, schemas_aside
from bot.store.postgres.vectors import LAST_CHANGE, lock_items
from bot.store.records import micros
from bot.store.rules.transitions import KEPT, KEPT_AT_ONCE

AT_ONCE = 500  # rows that are dropped in one transaction: who posts meanwhile writes in between
_READINGS_AT_ONCE = 10_000


class PostgresMaintenance(Tables):
    """bot.ports.maintenance.Maintenance."""

    taken: Sequence[str] = ()  # the steps of the tables that were taken when it was opened

    @property
    def name(self) -> str:
        return self.connections.name

    @reading
    async def statistics(self, db: Db) -> Mapping[str, int]:
        tables = ("readings", "digests", "topics", "subscriptions", "saved", "vectors")
        rows = {table: await _one(db, f"select count(*) from {table}") for table in tables}
        size = await _one(db, "select pg_database_size(current_database())")
        return {**await counts(db), **rows, "bytes": size}

    async def prune(self, *, items_before: datetime, readings_before: date, now: datetime) -> Mapping[str, int]:
        """Drop a part at a time, each in a transaction of its own; several processes may do so at the same time."""
        await self._forget_settled(now)
        await self._forget_saying_nothing(now)
        for sql, before in _OLD:
            await self.connections.write(_execution(sql, [] if before is None else [micros(now - before)]))
        await self.connections.write(vectors.prune)
        await self.connections.write(forget_changes)
        await self.connections.write(forget_past)
        items, theirs = await self._drop_items(items_before, now)
        return {"items": items, "readings": theirs + await self._drop_readings(readings_before)}

    async def _forget_settled(self, now: datetime) -> None:
        given = {"settled": micros(now - KEPT), "at_once": micros(now - KEPT_AT_ONCE)}
        rows = await self.connections.read(_query(f"select {_PLACE} from occurrences where {_SETTLED}", given))
        for some in _parts(rows):
            columns = zip(("workspaces", "subscriptions", "days", "slots"), zip(*some, strict=True), strict=True)
            await self.connections.write(_execution(_FORGET_SETTLED, {**given, **{name: [*all_] for name, all_ in columns}}))

    async def _forget_saying_nothing(self, now: datetime) -> None:
        given = {"before": micros(now - KEPT_AT_ONCE)}
        rows = await self.connections.read(_query(f"select id from digests where {_SAYS_NOTHING}", given))
        for some in _parts(rows):
            sql = f"delete from digests where id = any(%(ids)s) and {_SAYS_NOTHING}"
            await self.connections.write(_execution(sql, {**given, "ids": [number for (number,) in some]}))

    async def _drop_items(self, before: datetime, now: datetime) -> tuple[int, int]:
        """Drop the old items that nobody holds; return how many, and how many readings of theirs."""
        given = {"before": micros(before), "now": micros(now)}
        old = await self.connections.read(_query(_OLD_ITEMS, given))
        dropped = [
            await self.connections.write(_dropping([number for (number,) in some], micros(before))) for some in _parts(old)
        ]
        return sum(items for items, _ in dropped), sum(readings for _, readings in dropped)

    async def _drop_readings(self, before: date) -> int:
        """Drop the readings of earlier days; return how many."""
        dropped = 0
        while some := await self.connections.write(lambda db: _drop_some_readings(db, before)):
            dropped += some
        return dropped

    async def check(self) -> list[str]:
        """Return a sentence per fault; a database that cannot be looked through is one."""
        try:
            return await self._faults()
        except StoreError as error:
            return [str(error)]

    @reading_view
    async def _faults(self, db: Db) -> list[str]:
        # All rows are looked at, however long that takes.
        await db.execute("set local statement_timeout = 0")
        found = [(sentence, await _one(db, sql)) for sentence, sql in (*_COUNTS, *unreadable(db.info.server_version))]
        damaged = len(await vectors.damaged(db))
        found.append(("{} vectors have not the size of their kind.", damaged))
        return [sentence.format(number) for sentence, number in found if number]

    async def backup(self, path: Path) -> None:
        """Write what `pg_dump` makes of the database, in its custom format, which `pg_restore` reads.

        Raises StoreError also where there is no pg_dump, or one that is older than the server.
        """
        programs = await self.connections.read(programs_for)
        await dump(programs, self.connections.conninfo(), path)

    @reading
    async def put_aside(self, db: Db) -> Sequence[str]:
        return [f"schema {name}" for name in await schemas_aside(db)]

    async def restore(self, path: Path) -> str | None:
        """Put a backup in the place of what there is; return the schema that has the old data, None where there was none.

        The store is closed, and no process works on the database. Raises StoreError where the backup is not sound or
        cannot be put there; nothing has changed then.
        """
        async with self.connections.opened():
            return await restore(self.connections, path)

    async def vacuum(self) -> int:
        """Let the server use again what is unused, and look anew how its tables are filled; return the bytes saved."""
        return await self.connections.bare(_vacuum)


async def _one(db: Db, sql: str) -> int:
    row = await (await db.execute(sql.encode())).fetchone()
    return int(row[0]) if row else 0


_Given = Mapping[str, object] | Sequence[object]


def _query(sql: str, given: _Given) -> Callable[[Db], Awaitable[list[tuple[Any, ...]]]]:
    async def run(db: Db) -> list[tuple[Any, ...]]:
        return await (await db.execute(sql.encode(), given)).fetchall()

    return run


def _execution(sql: str, given: _Given) -> Callable[[Db], Awaitable[None]]:
    async def run(db: Db) -> None:
        await db.execute(sql.encode(), given)

    return run


def _parts(rows: Sequence[tuple[Any, ...]]) -> list[Sequence[tuple[Any, ...]]]:
    return [rows[at : at + AT_ONCE] for at in range(0, len(rows), AT_ONCE)]


# --- what is forgotten

_PLACE = "workspace, subscription, day, slot"
# No row is needed any more to keep its occurrence from being posted twice.
_SETTLED = (
    f"state <> '{OccurrenceState.DUE}' and (due < %(settled)s or due < %(at_once)s and came_to_nothing)"
    f" and not exists (select from deliveries d where (d.workspace, d.subscription, d.day, d.slot) ="
    f" (occurrences.workspace, occurrences.subscription, occurrences.day, occurrences.slot)"
    f" and d.state in ('{DeliveryState.PENDING}', '{DeliveryState.SENDING}'))"
)
# Those of the places that still are as they were found, and that nobody is just working at: they are there the next time.
_FORGET_SETTLED = f"""
    with old as (
        select {_PLACE} from occurrences where ({_PLACE}) in (
            select * from unnest(%(workspaces)s::text[], %(subscriptions)s::text[], %(days)s::text[], %(slots)s::bigint[])
        ) and {_SETTLED} for update skip locked
    ), gone as (
        delete from deliveries where ({_PLACE}) in (select {_PLACE} from old) returning number
    ), said as (
        delete from payloads where number in (select number from gone)
    ) delete from occurrences where ({_PLACE}) in (select {_PLACE} from old)"""
_LATER = (
    "select from digests later where (later.workspace, later.channel, later.topic, later.rhythm)"
    " = (digests.workspace, digests.channel, digests.topic, digests.rhythm) and later.through > digests.through"
)
# There is one for each collection. The one that looked furthest is not among them.
_SAYS_NOTHING = f"rhythm = '{Rhythm.AT_ONCE}' and saved < %(before)s and says_nothing and exists ({_LATER})"
_STANDING = (
    "select from subscriptions s"
    " where (s.workspace, s.channel, s.topic) = (unposted.workspace, unposted.channel, unposted.topic)"
)
_DELIVERED = "select from deliveries d where (d.workspace, d.id) = (p.workspace, p.id)"
# Statements, and how long ago it is what they take; None where they ask for no time.
_OLD = (
    (f"delete from unposted where at < %s and not exists ({_STANDING})", KEPT),
    ("delete from archive where not exists (select from digests where id = digest)", None),
    ("delete from standing where until <= %s", timedelta(0)),
    (f"delete from publications p where not exists ({_DELIVERED})", None),
    ("delete from met where until <= %s", timedelta(0)),
    ("delete from texts where given <= %s", TEXTS_KEPT),
    ("delete from opt_ins where asked_at < %s", ASKED_KEPT),
)

# What a clock stored that was far behind looks old and is not: it arrived after what is young.
_OLD_ITEMS = """
    with young as materialized (select id from items where seen between %(before)s and %(now)s)
    select id from items
    where seen < %(before)s and id < coalesce((select min(id) from young), 9223372036854775807) order by id"""


def _dropping(ids: Sequence[int], before: int) -> Callable[[Db], Awaitable[tuple[int, int]]]:
    return lambda db: _drop_unheld(db, ids, before)


async def _drop_unheld(db: Db, ids: Sequence[int], before: int) -> tuple[int, int]:
    """Drop those of the items that are still old and that nobody holds; return how many, and how many readings of theirs.

    An item that gets to be held while this goes on may go all the same: what holds it has its own copy of what it shows.
    """
    await lock_items(db)
    rows = await (await db.execute(_WITH_NAMES, [ids, before])).fetchall()
    held = await _held(db, {name for _, key, aliases in rows for name in (key, *aliases)})
    gone = {number: key for number, key, aliases in rows if held.isdisjoint((key, *aliases))}
    readings = await drop(db, list(gone))
    await db.execute("delete from summaries where key = any(%s)", [list(gone.values())])
    return len(gone), readings


# An alias that is another item's key leads to that one.
_WITH_NAMES = """
    select id, key, array(
        select alias from aliases where item = items.id and not exists (select from items other where other.key = alias)
    ) from items where id = any(%s) and seen < %s"""


async def _held(db: Db, names: Collection[str]) -> set[str]:
    """Return those of the names that a digest, a person or a topic holds."""
    sql = (
        "select key from posted where key = any(%(names)s) union select key from saved where key = any(%(names)s)"
        " union select key from feedback where key = any(%(names)s)"
    )
    rows = await (await db.execute(sql, {"names": list(names)})).fetchall()
    # Read here: PostgreSQL reads no JSON that holds half of a character.
    topics = await (await db.execute("select data from topics where strpos(data, '\"examples\"') > 0")).fetchall()
    examples = {key for (data,) in topics for key in _examples(data)}
    return {key for (key,) in rows} | examples.intersection(names)


def _examples(data: str) -> list[str]:
    """Return the keys of a topic's examples; none of one that is damaged, which `check` counts."""
    with contextlib.suppress(ValueError, AttributeError, TypeError):
        return [key for key in json.loads(data).get("examples", ()) if isinstance(key, str)]
    return []


async def _drop_some_readings(db: Db, before: date) -> int:
    await lock_items(db)
    sql = "delete from readings where ctid = any(array(select ctid from readings where day < %s limit %s))"
    gone = (await db.execute(sql, [before.isoformat(), _READINGS_AT_ONCE])).rowcount
    await note_change(db)
    return gone


# --- what is checked

_OPEN = "state not in ('done', 'failed', 'expired')"
_SAID = "select from payloads where payloads.number = deliveries.number"
_REASONS = ", ".join(f"'{each}'" for each in Suppression)
_UNKNOWN = f"reason not in ({_REASONS}) or not exists (select from facts where name = '{mail.KEY}')"
_COUNTS = (
    (
        "{} items have lost their text.",
        "select count(*) from items where not exists (select from records where records.id = items.id)",
    ),
    (
        "{} texts belong to no item.",
        "select count(*) from records where not exists (select from items where items.id = records.id)",
    ),
    *(
        (
            f"{{}} {table} belong to no item.",
            f"select count(*) from {table} where not exists (select from items where items.id = {table}.item)",
        )
        for table in ("aliases", "readings", "vectors")
    ),
    ("{} changes are numbered of items that never arrived.", f"select count(*) from item_changes where item > {LAST_ID}"),
    (
        "{} vectors were written later than the last numbered write.",
        f"select count(*) from vectors where change > {LAST_CHANGE}",
    ),
    (
        "{} vectors are of a space without a name.",
        "select count(*) from vectors where space not in (select number from vector_spaces)",
    ),
    (
        "{} vectors are there and gone at once.",
        "select count(*) from gone_vectors where exists (select from vectors where vectors.item = gone_vectors.item)",
    ),
    (
        "{} deliveries have lost what they say.",
        f"select count(*) from deliveries where {_OPEN} and not exists ({_SAID})",
    ),
    (
        "{} deliveries are being sent and nobody's lease on them ends.",
        f"select count(*) from deliveries where state = '{DeliveryState.SENDING}' and lease_until is null",
    ),
    (
        "{} recipients of mail cannot be found by their address.",
        "select count(*) from recipients where lower(address) <> folded or channel not like 'mail:%'",
    ),
    (
        "{} subscriptions by e-mail have no recipient: nothing is sent for them.",
        "select count(*) from subscriptions where channel like 'mail:%' and channel not in (select channel from recipients)",
    ),
    (
        "{} codes that were sent by mail cannot be read.",
        "select count(*) from opt_ins where length(hash) <> 64 or (holds <> 0 and address = '')",
    ),
    (
        "{} addresses that are not to be written to cannot be recognised.",
        f"select count(*) from suppressed where length(hash) <> 64 or {_UNKNOWN}",
    ),
)
_JSON = (
    "digests",
    "topics",
    "subscriptions",
    "preferences",
    "changes",
    "occurrences",
    "deliveries",
    "notices",
    "refusals",
    "source_states",
    "summaries",
)


def unreadable(server: int) -> list[tuple[str, str]]:
    """Return the counts of records that are no JSON; before PostgreSQL 16, of those that do not begin and end like it."""
    wrong = "{0} is not json" if server >= 160000 else "left({0}, 1) || right({0}, 1) not in ('{{}}', '[]')"
    data = wrong.format("data")
    return [
        ("{} items cannot be read.", f"select count(*) from records where {data}"),
        (
            "{} messages that may be edited cannot be read.",
            f"select count(*) from standing where {data} or {wrong.format('keys')}",
        ),
        *((f"{{}} {table} cannot be read.", f"select count(*) from {table} where {data}") for table in _JSON),
    ]


# --- tidying


async def _vacuum(db: Db) -> int:
    size = "select pg_database_size(current_database())"
    before = await _one(db, size)
    await db.execute("set statement_timeout = 0")  # large tables take many minutes
    try:
        await db.execute("vacuum (analyze)")
    finally:
        await db.execute("reset statement_timeout")
    return max(0, before - await _one(db, size))
