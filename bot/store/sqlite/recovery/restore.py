"""Puts a backup in the database's place, so that whoever is killed in it, whoever comes next can end it.

1. The backup is copied to a file beside the database, verified, told what people ended since, and written to the disk.
   Whatever stops here leaves the database as it was; the copy is swept at the next opening.
2. A journal is written (`.restoring`): from here on the restore is decided.
3. The log is put aside, then the database, then the copy takes its place, then the journal goes. Each step looks at what is
   there, so that they can be done again from the beginning.

Whoever opens or restores the database next does step 3 where the journal stands. All of it needs `presence_lock` alone.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sqlite_utils import Database

from bot.atomic_file import sync, write_whole
from bot.errors import StoreError
from bot.private_files import make_private
from bot.store.sqlite.connections import connect, store_errors
from bot.store.sqlite.migrations import refuse_strangers
from bot.store.sqlite.recovery.ended import keep_ended
from bot.store.sqlite.recovery.wal import INDEX, LOG, LogOwner, number_copy, owner_of_log

BEFORE = ".before-"
_PARTS = (LOG, "-journal", "")


def journal_of(database: Path) -> Path:
    """Return where the journal of a restore lies while it is done."""
    return database.with_name(f"{database.name}.restoring")


def copy_to(source: sqlite3.Connection, path: Path) -> None:
    """Copy what the connection sees to the file, as a database of its own with no log beside it; raises sqlite3.Error."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as target:
        source.backup(target)
        target.execute("pragma journal_mode = delete")
        number_copy(target)


def restore(backup: Path, database: Path, now: datetime) -> Path | None:
    """Put the backup in the place of the database that nobody has open; return where the old one is, None if there was none.

    Raises StoreError where the backup is not sound, OSError.
    """
    fresh = _fresh(database)
    try:
        fresh.unlink(missing_ok=True)
        make_private(fresh)
        _give_to_owner(fresh, database)
        _fill(fresh, backup)
        with _full_disk_named(fresh.parent):
            keep_ended(fresh, database, now)
        sync(fresh)
        write_whole(journal_of(database), json.dumps({"aside": unused(database, "", now).name}))
    except BaseException:
        journal_of(database).unlink(missing_ok=True)
        for ending in ("", *_PARTS[:2]):
            fresh.with_name(fresh.name + ending).unlink(missing_ok=True)
        raise
    return finish(database)


def finish(database: Path) -> Path | None:
    """Do what is left of a restore where its journal stands; return where it put the old database, None if there was none.

    Raises StoreError where the journal cannot be read, OSError.
    """
    journal, fresh = journal_of(database), _fresh(database)
    aside = _read(journal)
    if aside is None:
        return None
    if fresh.exists():
        _put_aside(database, aside)
        sync(database.parent)  # on the disk before the old name is given away
        fresh.replace(database)
    elif not database.exists():
        _bring_back(database, aside)
    sync(database.parent)
    journal.unlink()
    sync(database.parent)
    return aside if aside.exists() else None


def unused(database: Path, ending: str, now: datetime) -> Path:
    """Return a name to put the database, or what lies beside it under this ending, aside as; nothing has it yet."""
    name = f"{database.name}{ending}{BEFORE}{now:%Y%m%dT%H%M%S}"
    numbered = (database.with_name(f"{name}-{number}" if number else name) for number in range(10_000))
    return next(path for path in numbered if not any(path.with_name(path.name + part).exists() for part in _PARTS))


def _fresh(database: Path) -> Path:
    return database.with_name(f".{database.name}.restored.partial")


def _give_to_owner(fresh: Path, database: Path) -> None:
    """Give the file to whom the database belongs that it is to replace, as root alone can: its service is to open it."""
    if os.geteuid() == 0 and database.exists():
        owner = database.stat()
        os.chown(fresh, owner.st_uid, owner.st_gid)


def _fill(fresh: Path, backup: Path) -> None:
    whose = owner_of_log(backup)
    if whose is LogOwner.UNKNOWN:
        raise StoreError(
            f"Nobody can say whether {backup}{LOG} belongs to {backup}: where it does not, move it away and try again;"
            f" where it does, copy both to a folder of their own, {backup.name} first, and restore that copy."
        )
    with store_errors(backup), contextlib.closing(_source(backup, without_log=whose is LogOwner.ANOTHER)) as source:
        with _full_disk_named(fresh.parent):
            copy_to(source, fresh)
        with contextlib.closing(connect(fresh)) as db:
            _verify(db, backup)


@contextlib.contextmanager
def _full_disk_named(folder: Path) -> Iterator[None]:
    """Say which disk is full: the database's, which may be another than the backup's."""
    try:
        yield
    except sqlite3.Error as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
            raise
        with store_errors(folder):
            raise


def _source(backup: Path, *, without_log: bool) -> sqlite3.Connection:
    if without_log:
        return sqlite3.connect(f"{backup.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    return connect(backup, read_only=True).conn


def _verify(db: Database, path: Path) -> None:
    refuse_strangers(db)
    if "items" not in db.table_names():
        raise StoreError(f"{path} is empty; it is no backup of a Broadsheet database.")
    fault = db.execute("pragma integrity_check(1)").fetchone()[0]
    if fault != "ok":
        raise StoreError(f"The backup {path} is damaged ({fault}); choose another one.")


def _read(journal: Path) -> Path | None:
    try:
        return journal.with_name(json.loads(journal.read_text("utf-8"))["aside"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{journal} should tell how far a restore came and cannot be read; remove it, then restore a backup with"
            " `broadsheet db restore FILE`."
        ) from error


def _put_aside(database: Path, aside: Path) -> None:
    """Move the database away together with its log, in which its last transactions may still stand: the log first.

    A log without a database is deleted by SQLite, a database without its log is only older.
    """
    database.with_name(database.name + INDEX).unlink(missing_ok=True)  # SQLite makes it from the log
    for ending in _PARTS:
        part, place = database.with_name(database.name + ending), aside.with_name(aside.name + ending)
        if ending and part.exists() and not part.stat().st_size:
            part.unlink()
        elif part.exists():
            # Where the restore was killed and a file was put here by hand since, that one gets another name.
            part.rename(
                place if not place.exists() else unused(database, ending, datetime.fromtimestamp(part.stat().st_mtime, UTC))
            )


def _bring_back(database: Path, aside: Path) -> None:
    """Undo: the copy that should have taken the place is gone."""
    for ending in _PARTS:
        place = aside.with_name(aside.name + ending)
        if place.exists():
            place.rename(database.with_name(database.name + ending))
