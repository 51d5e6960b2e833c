"""Keeping a database sound: counting, checking, dropping what is old, copying it away and back."""

import contextlib
import sqlite3
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path

from sqlite_utils import Database

from bot.atomic_file import in_place
from bot.errors import StoreError
from bot.store.records import micros
from bot.store.sqlite import chats, ledger, vectors
from bot.store.sqlite.connections import Tables, connect, reading_long, store_errors, writing
from bot.store.sqlite.ingest import drop, note_change
from bot.store.sqlite.items import counts
from bot.store.sqlite.locks import service_lock, turn_lock
from bot.store.sqlite.migrations import refuse_strangers


class SqliteMaintenance(Tables):
    """bot.ports.maintenance.Maintenance, and putting a backup back."""

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

    @writing
    def prune(self, db: Database, *, items_before: datetime, readings_before: date, now: datetime) -> Mapping[str, int]:
        ledger.prune(db, now)
        chats.prune(db, now)
        vectors.prune(db)
        before = _one(db, "select count(*) from readings")
        rows = db.execute(
            "select id, key from items where seen < ? and key not in (select key from held)"
            " and id not in (select item from aliases where alias in (select key from held)"
            " and alias not in (select key from items))",
            [micros(items_before)],
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
            _copy(db.conn, partial)

    async def vacuum(self) -> int:
        """Tidy the search index as well; as SQLite wants it, outside any transaction."""
        return await self.connections.bare(_vacuum)

    def restore(self, backup: Path, now: datetime) -> Path | None:
        """Put a backup in the place of the closed database; return where the old one was put aside, None if there was none.

        The backup is verified first. Raises StoreError when it is not sound, or when a service holds the database.
        """
        target = self.connections.path
        lock, turn = service_lock(target), turn_lock(target)
        with store_errors(target):
            try:
                if not lock.take():
                    raise StoreError(f"A running service holds {target}; stop it, then restore.")
                with turn.turn():
                    return _restore(backup, target, now)
            finally:
                lock.close()
                turn.close()


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
        "select count(*) from deliveries where number not in (select number from payloads)",
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


def _copy(source: sqlite3.Connection, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as target:
        source.backup(target)
        target.execute("pragma journal_mode = delete")  # one file, without a log beside it


def _restore(backup_file: Path, target: Path, now: datetime) -> Path | None:
    with in_place(target) as fresh:
        with store_errors(backup_file), contextlib.closing(connect(backup_file, read_only=True)) as db:
            _verify(db, backup_file)
            _copy(db.conn, fresh)
        return _put_aside(target, now)


def _verify(db: Database, path: Path) -> None:
    refuse_strangers(db)
    if "items" not in db.table_names():
        raise StoreError(f"{path} is empty; it is no backup of a Broadsheet database.")
    fault = db.execute("pragma integrity_check(1)").fetchone()[0]
    if fault != "ok":
        raise StoreError(f"The backup {path} is damaged ({fault}); choose another one.")


def _put_aside(target: Path, now: datetime) -> Path | None:
    """Move the database away together with its log, in which its last transactions may still stand."""
    if not target.exists():
        return None
    aside = target.with_name(f"{target.name}.before-{now:%Y%m%dT%H%M%S}")
    for ending in ("", "-wal", "-shm"):
        part = target.with_name(target.name + ending)
        if part.exists():
            part.rename(aside.with_name(aside.name + ending))
    return aside


def _one(db: Database, sql: str) -> int:
    return int(db.execute(sql).fetchone()[0])
