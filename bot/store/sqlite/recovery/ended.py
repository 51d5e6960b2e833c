"""What people ended since a backup was made stays ended when the backup takes the database's place.

A token that was revoked would open feeds again, and who unsubscribed or complained would be written to. What the database
that is put aside knows of that is written into the copy before anybody opens it. Tokens of feeds that were revoked are not
there any more, and addresses stand there as hashes: of either that is done only where both databases have the same key for
hashes and links, so that an empty one that was begun meanwhile ends nothing.
"""

import contextlib
import logging
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.store.records import micros
from bot.store.sqlite.connections import connect
from bot.store.sqlite.recovery.wal import LogOwner, owner_of_log

log = logging.getLogger(__name__)

_KEY = "select value from facts where name = 'mail key'"
_READ = {  # by table; of tokens those that hold, of those for assistants all
    "feeds": "select hash from feeds",
    "suppressed": "select workspace, hash, reason, at from suppressed",
    "assistants": "select name, hash, revoked_at from assistants",
}
_OF_THE_KEY = ("feeds", "suppressed")
_UNREAD = "what was ended since the backup was made cannot be read in %s, so that revoked tokens may hold again: %s"

Rows = Sequence[tuple[Any, ...]]


def keep_ended(copy: Path, database: Path, now: datetime) -> None:
    """Carry over what was ended from the database into the copy that is to replace it; nobody has either open.

    Where the database is there and cannot be read, nothing is carried over, and that is logged. Raises sqlite3.Error where
    the copy cannot be written.
    """
    if not database.exists():
        return
    try:
        known, key = _read(database)
    except (sqlite3.Error, OSError) as error:
        log.warning(_UNREAD, database, error)
        return
    with contextlib.closing(connect(copy).conn) as db:
        db.execute("pragma journal_mode = memory")  # killed here, nothing lies beside the next copy
        db.execute("begin immediate")
        there = _tables(db)
        if not key or key != _key(db, there):
            known = {name: rows for name, rows in known.items() if name not in _OF_THE_KEY}
        for name, rows in known.items():
            if name in there:
                _WRITE[name](db, rows, now)
        db.execute("commit")
        db.execute("pragma journal_mode = delete")


def _read(database: Path) -> tuple[dict[str, Rows], str]:
    """Return what the database knows, by table, and its key, "" without one; raises sqlite3.Error and OSError."""
    owner = owner_of_log(database)
    if owner is LogOwner.UNKNOWN:
        raise OSError("nobody can say whether the log beside it is its own")
    mode = "mode=ro&immutable=1" if owner is LogOwner.ANOTHER else "mode=ro"
    with contextlib.closing(sqlite3.connect(f"{database.absolute().as_uri()}?{mode}", uri=True)) as db:
        there = _tables(db)
        return {name: db.execute(sql).fetchall() for name, sql in _READ.items() if name in there}, _key(db, there)


def _tables(db: sqlite3.Connection) -> set[str]:
    return {str(name) for (name,) in db.execute("select name from sqlite_master where type = 'table'")}


def _key(db: sqlite3.Connection, there: set[str]) -> str:
    row = db.execute(_KEY).fetchone() if "facts" in there else None
    return str(row[0]) if row else ""


def _end_feeds(db: sqlite3.Connection, held: Rows, _now: datetime) -> None:
    db.execute("create temp table held (hash text primary key)")
    db.executemany("insert into temp.held values (?)", held)
    db.execute("delete from feeds where hash not in (select hash from temp.held)")


def _end_assistants(db: sqlite3.Connection, known: Rows, now: datetime) -> None:
    """Revoke those that were, and those of which another has the name now: such a one was revoked before."""
    sql = "update assistants set revoked_at = ? where revoked_at is null and name = ? and (hash <> ? or ? is not null)"
    db.executemany(sql, [(micros(now), *each) for each in known])


def _suppress(db: sqlite3.Connection, suppressed: Rows, _now: datetime) -> None:
    db.executemany("insert or replace into suppressed (workspace, hash, reason, at) values (?, ?, ?, ?)", suppressed)


_WRITE = {"feeds": _end_feeds, "suppressed": _suppress, "assistants": _end_assistants}
