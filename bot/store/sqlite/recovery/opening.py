"""What is looked at before a database is opened that nobody has open: whoever had it last may have been killed."""

import contextlib
import errno
import logging
import os
import time
from datetime import UTC, datetime
from pathlib import Path

from bot.atomic_file import drop_partials
from bot.errors import StoreError
from bot.private_files import files_of, is_open_to_others, tighten
from bot.store.sqlite.connections import connect, store_errors
from bot.store.sqlite.locks import PATIENCE, FileLock, turn_lock
from bot.store.sqlite.recovery.restore import BEFORE, finish, journal_of, unused
from bot.store.sqlite.recovery.wal import INDEX, LogOwner, is_own_journal, log_of, note_of, owner_of_log

log = logging.getLogger(__name__)

_READY = "ready"
_STEP = 0.005
_PATIENCE = 2.0  # seconds
_ONE_PAGE = 4096  # bytes of a database with no table: so a first start leaves it that is killed at once


def enter(database: Path, presence: FileLock) -> None:
    """Hold `presence` from now on, and make the database ready where nobody else has it open.

    Raises StoreError where a person must decide, or another process is at it for too long; OSError.
    """
    end = time.monotonic() + PATIENCE
    while not _is_entered(database, presence):
        if time.monotonic() >= end:
            raise StoreError(f"Another process is restoring {database} or making it ready; try again when it is done.")
        time.sleep(_STEP)


def _is_entered(database: Path, presence: FileLock) -> bool:
    """Try once. The word in the lock's file says that who had the database alone last left it ready."""
    try:
        is_alone = presence.take()
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            _refuse_without_lock(Path(os.path.realpath(database)), error)
            return True  # who may only read here can make nothing ready, and harms nobody
        raise
    if is_alone:
        presence.write("")
        recover(Path(os.path.realpath(database)), turn_lock(database), database)
        presence.write(_READY)
    if not presence.take(shared=True):  # one that was ours alone may be another's for a moment meanwhile
        return False
    if presence.read() == _READY:
        return True
    presence.release()
    return False


def _refuse_without_lock(database: Path, error: OSError) -> None:
    """Raise StoreError where the database can be written and its lock cannot be opened: another account made that."""
    if os.access(database.parent, os.W_OK) and (os.access(database, os.W_OK) or not database.exists()):
        raise StoreError(
            f"{error.filename} cannot be opened ({error.strerror}), and without it {database} is not safe: run this as the"
            " account that the database belongs to, or give that file to it with `chown`."
        ) from error


def recover(database: Path, turn: FileLock, named: Path) -> None:
    """Finish or undo what a killed process left; raises StoreError where a person must decide, OSError.

    `named` is what the database was asked for as, which may be a link to it.
    """
    finish_interrupted(database)
    _refuse_to_begin_anew(database, named)
    settle_log(database, turn)
    _roll_back(database)
    drop_partials(database.parent, f"{database.name}.")


def _roll_back(database: Path) -> None:
    """Undo what a process was killed in that wrote into the file itself, which who only reads could not; raises OSError."""
    journal = database.with_name(f"{database.name}-journal")
    if not database.exists() or not journal.exists():
        return
    if not is_own_journal(database, journal):
        _move_away(database, journal)
    with store_errors(database), contextlib.closing(connect(database)) as db:
        db.execute("select count(*) from sqlite_master").fetchone()


def finish_interrupted(database: Path) -> None:
    """Finish or undo a restore that was killed, and log of it; raises StoreError, OSError."""
    if not journal_of(database).exists():
        return
    aside = finish(database)
    told = f"; the database from before it is {aside}" if aside else ""
    log.warning("a restore of %s had been interrupted and is now done%s", database, told)


def settle_log(database: Path, turn: FileLock, *, keep: bool | None = None) -> Path | None:
    """Put a log aside that is another database's; return where, None where it stays. `keep` decides what nobody can say.

    Raises StoreError where a person must decide, OSError.
    """
    try:
        with turn.turn():
            whose = owner_of_log(database, turn.read()) if database.exists() else LogOwner.NOBODY
            if whose is LogOwner.UNKNOWN and keep is None:
                raise StoreError(_UNKNOWN.format(database=database, log=log_of(database).name))
            is_foreign = whose is LogOwner.ANOTHER or (whose is not LogOwner.NOBODY and keep is False)
            aside = _put_log_aside(database) if is_foreign else None
            turn.write(note_of(database) if whose is not LogOwner.NOBODY else "")
            return aside
    finally:
        turn.close()


_UNKNOWN = (
    "{database} was changed or replaced after its write-ahead log, {log}, was last written: nobody knows whether that still"
    " belongs to it. Where you put a copy in the database's place, run `broadsheet db wal aside`: the log is moved away and"
    " the copy is opened. Where it is the database of before, run `broadsheet db wal keep`: what the log holds is used."
)


def _put_log_aside(database: Path) -> Path:
    database.with_name(database.name + INDEX).unlink(missing_ok=True)  # SQLite makes it from the log
    return _move_away(database, log_of(database))


def _move_away(database: Path, found: Path) -> Path:
    aside = unused(database, found.name.removeprefix(database.name), datetime.now(UTC))
    found.rename(aside)
    log.error(
        "%s was put where another database had been, whose log still lay there: it is opened without that log,"
        " which is now %s; remove it when the database is as you expect it",
        database,
        aside,
    )
    return aside


def tighten_all(database: Path) -> None:
    """Take from others what they may do with the database's files; what is noted of these holds afterwards as before."""
    files = [path for path in files_of(database) if is_open_to_others(path)]
    if not files:
        return
    turn = turn_lock(database)
    with contextlib.closing(turn), contextlib.suppress(OSError):
        is_ours = turn.take(_PATIENCE)  # else somebody holds it who may only read it, and can no more once this is done
        is_noted = is_ours and turn.read() == note_of(database)
        tighten(files)
        if is_noted:
            turn.write(note_of(database))


def put_aside(database: Path) -> list[Path]:
    """Return what restores and foreign logs left beside the database, without the logs of old databases."""
    database = Path(os.path.realpath(database))
    beside = (*_named(database, BEFORE), *_named(database, f"-wal{BEFORE}"), *_named(database, f"-journal{BEFORE}"))
    return sorted(path for path in beside if not path.name.endswith(("-wal", "-journal")))


def _refuse_to_begin_anew(database: Path, named: Path) -> None:
    """Raise StoreError where no database is, but something tells that there was one."""
    try:
        size = database.stat().st_size
    except FileNotFoundError:
        size = 0
    if size > _ONE_PAGE:
        return
    alive = {each.with_name(f"{each.name}.alive"): None for each in (database, named)}
    traces = [*(path for path in alive if path.exists()), *_named(database, BEFORE)]
    if log_of(database).exists() and log_of(database).stat().st_size:
        if size:
            return  # a new database that was killed has all it holds in its log
        traces.append(log_of(database))
    if traces:
        names = ", ".join(path.name for path in traces)
        raise StoreError(
            f"There is no database in {database}, but {names} beside it: there was one. Put it back with"
            f" `broadsheet db restore FILE`, from a backup or from what was put aside; or move {names} away to begin anew."
        )


def _named(database: Path, ending: str) -> list[Path]:
    """Return the files beside the database whose names begin as it is named, with this ending."""
    try:
        return sorted(path for path in database.parent.iterdir() if path.name.startswith(database.name + ending))
    except FileNotFoundError:
        return []
