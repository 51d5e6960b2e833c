"""Keeping a database sound: counting, checking, dropping what is old, copying it away and back."""

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TypeVar

from sqlite_utils import Database

from bot.atomic_file import in_place
from bot.errors import StoreError
from bot.models import Suppression
from bot.store.records import micros
from bot.store.sqlite import chats, digests, ledger, mail, outbox, vectors
from bot.store.sqlite.connections import Tables, reading_long, store_errors, writing
from bot.store.sqlite.ingest import drop, forget_changes, note_change
from bot.store.sqlite.items import counts
from bot.store.sqlite.locks import FileLock, presence_lock, service_lock, turn_lock
from bot.store.sqlite.recovery.opening import finish_interrupted, put_aside, settle_log
from bot.store.sqlite.recovery.restore import copy_to, restore

T = TypeVar("T")

AT_ONCE = 500  # rows that are dropped in one transaction: who posts meanwhile writes in between
_PATIENCE = 2.0  # seconds: a command that looks something up is done by then


class SqliteMaintenance(Tables):
    """bot.ports.maintenance.Maintenance, and putting a backup back."""

    taken: Sequence[str] = ()  # the library that takes the steps of a file names none

    @property
    def name(self) -> str:
        return str(self.connections.path)

    @reading_long
    def statistics(self, db: Database) -> Mapping[str, int]:
        return {
            **counts(db),
            "readings": _one(db, "select count(*) from readings"),
            "digests": _one(db, "select count(*) from digests"),
            **{table: _one(db, f"select count(*) from {table}") for table in ("topics", "subscriptions", "saved")},
            "vectors": _one(db, "select count(*) from vectors"),
            "bytes": _size(db),
        }

    async def prune(self, *, items_before: datetime, readings_before: date, now: datetime) -> Mapping[str, int]:
        """Forget first what the ledger settled, of which there is as much as there are channels: a part at a time."""
        await self._forget(ledger.settled, ledger.forget, now)
        await self._forget(digests.saying_nothing, digests.forget, now)
        return await self._prune(items_before, readings_before, now)

    async def _forget(
        self,
        find: Callable[[Database, datetime], Sequence[T]],
        forget: Callable[[Database, datetime, Sequence[T]], None],
        now: datetime,
    ) -> None:
        def part(start: int) -> Callable[[Database], None]:
            return lambda db: forget(db, now, old[start : start + AT_ONCE])

        old = await self.connections.read_long(lambda db: find(db, now))
        for start in range(0, len(old), AT_ONCE):
            await self.connections.write(part(start))

    @writing
    def _prune(self, db: Database, items_before: datetime, readings_before: date, now: datetime) -> Mapping[str, int]:
        digests.prune(db, now)
        outbox.prune(db, now)
        chats.prune(db, now)
        mail.prune(db, now)
        vectors.prune(db)
        forget_changes(db)
        before = _one(db, "select count(*) from readings")
        # What a clock stored that was far behind looks old and is not: it arrived after what is young.
        rows = db.execute(
            "select id, key from items where seen < ?1 and key not in (select key from held)"
            " and id < coalesce((select min(id) from items where seen between ?1 and ?2), 9e18)"
            " and id not in (select item from aliases where alias in (select key from held)"
            " and alias not in (select key from items))",
            [micros(items_before), micros(now)],
        ).fetchall()
        drop(db, [number for number, _ in rows])
        db.conn.executemany("delete from summaries where key = ?", [(key,) for _, key in rows])
        note_change(db)
        db.execute("delete from readings where day < ?", [readings_before.isoformat()])
        return {"items": len(rows), "readings": before - _one(db, "select count(*) from readings")}

    async def check(self) -> list[str]:
        """Return a sentence per fault; a file so damaged that it cannot be looked through is one."""
        try:
            return await self.connections.write(_faults)
        except StoreError as error:
            return [str(error)]

    @reading_long
    def backup(self, db: Database, path: Path) -> None:
        with store_errors(path), in_place(path) as partial:
            copy_to(db.conn, partial)

    async def vacuum(self) -> int:
        """Tidy the search index as well; as SQLite wants it, outside any transaction."""
        return await self.connections.bare(_vacuum)

    async def put_aside(self) -> list[str]:
        return [path.name for path in await asyncio.to_thread(put_aside, self.connections.path)]

    def restore(self, backup: Path, now: datetime) -> Path | None:
        """Put a backup in the place of the closed database; return where the old one was put aside, None if there was none.

        The backup is verified first. A restore that was killed is finished before. Raises StoreError when the backup is
        not sound, or when somebody has the database open.
        """
        with store_errors(self.connections.path), _alone(self.connections.path) as (target, _):
            if target.exists() and backup.exists() and target.samefile(backup):
                raise StoreError(f"{backup} is the database itself; name the backup that is to take its place.")
            finish_interrupted(target)
            return restore(backup, target, now)

    def settle_log(self, *, keep: bool) -> Path | None:
        """Decide of the closed database's log whether it belongs to it, where nobody else can; return where it was moved.

        Raises StoreError when somebody has the database open.
        """
        with store_errors(self.connections.path), _alone(self.connections.path) as (target, turn):
            return settle_log(target, turn, keep=keep)


@contextlib.contextmanager
def _alone(database: Path) -> Iterator[tuple[Path, FileLock]]:
    """Have the database to ourselves inside the block, given as the file itself and the lock of the writers' turns.

    Raises StoreError while somebody has it open.
    """
    service, presence, turn = service_lock(database), presence_lock(database), turn_lock(database)
    try:
        if not service.take():
            raise StoreError(f"A running service, or another restore, holds {database}; stop it first.")
        if not presence.take(_PATIENCE):
            raise StoreError(f"Another Broadsheet has {database} open; end it first.")
        presence.write("")  # whoever opens it next makes it ready first
        with turn.turn():  # older versions take no other lock
            pass
        yield Path(os.path.realpath(database)), turn
    finally:
        for lock in (turn, presence, service):
            lock.close()


def _size(db: Database) -> int:
    """Return the bytes of the database file, as far as it is written back from the log."""
    return _one(db, "pragma page_count") * _one(db, "pragma page_size")


def _faults(db: Database) -> list[str]:
    """Return a sentence per fault of the file, of the index, and between the two; run inside the writer's transaction."""
    faults = [f"SQLite finds a fault: {line}." for (line,) in db.execute("pragma integrity_check(20)").fetchall()]
    if faults == ["SQLite finds a fault: ok."]:
        faults = []
    try:
        db.execute("insert into words (words) values ('integrity-check')")
    except sqlite3.DatabaseError as error:
        faults.append(f"The search index is damaged: {error}.")
    for sentence, sql in _COUNTS:
        number = _one(db, sql)
        if number:
            faults.append(sentence.format(number))
    return faults


_OPEN = "state not in ('done', 'failed', 'expired')"
_REASONS = ", ".join(f"'{each}'" for each in Suppression)
_UNKNOWN = f"reason not in ({_REASONS}) or not exists (select 1 from facts where name = '{mail.KEY}')"
_COUNTS = (
    (
        "{} items are missing from the search index.",
        "select count(*) from items where id not in (select id from words_docsize)",
    ),
    (
        "{} entries of the search index belong to no item.",
        "select count(*) from words_docsize where id not in (select id from items)",
    ),
    ("{} items have lost their text.", "select count(*) from items where id not in (select id from records)"),
    ("{} items cannot be read.", "select count(*) from records where not json_valid(data)"),
    ("{} texts belong to no item.", "select count(*) from records where id not in (select id from items)"),
    ("{} aliases belong to no item.", "select count(*) from aliases where item not in (select id from items)"),
    ("{} readings belong to no item.", "select count(*) from readings where item not in (select id from items)"),
    ("{} vectors belong to no item.", "select count(*) from vectors where item not in (select id from items)"),
    (
        "{} vectors have not the size of their kind.",
        "select count(*) from vectors a where length(vector) <> (select length(vector) from vectors where space = a.space)",
    ),
    (
        "{} deliveries have lost what they say.",
        f"select count(*) from deliveries where {_OPEN} and number not in (select number from payloads)",
    ),
    (
        "{} messages that may be edited cannot be read.",
        "select count(*) from standing where not json_valid(data) or not json_valid(keys)",
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
        "select count(*) from opt_ins where length(hash) <> 64 or (holds and address = '')",
    ),
    (
        "{} addresses that are not to be written to cannot be recognised.",
        f"select count(*) from suppressed where length(hash) <> 64 or {_UNKNOWN}",
    ),
    *(
        (f"{{}} {table} cannot be read.", f"select count(*) from {table} where not json_valid(data)")
        for table in (
            "digests",
            "topics",
            "subscriptions",
            "preferences",
            "changes",
            "occurrences",
            "deliveries",
            "notices",
            "refusals",
        )
    ),
)


def _vacuum(db: Database) -> int:
    """Tidy the search index, give unused space back and return how many bytes that were; needs no open transaction."""
    before = _size(db)
    db.execute("insert into words (words) values ('optimize')")
    db.execute("vacuum")
    db.execute("pragma wal_checkpoint(truncate)")
    return max(0, before - _size(db))


def _one(db: Database, sql: str) -> int:
    return int(db.execute(sql).fetchone()[0])
