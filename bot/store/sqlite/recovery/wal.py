"""Whose a write-ahead log is: SQLite replays every sound log that lies beside a database, also that of the file before it.

Two signs tell. Each transaction of ours numbers itself in the first page of the file (`user_version`): a number that follows
from the one before it and has a random part. The log holds these pages, so a database belongs to it whose own number is the
one that the log's first number follows, or is one of the log's own (where it was written back in part). Each copy that we
make gets a number of its own.

A copy made by hand of the very file that the log goes on from has the same numbers. So the lock of the writers' turns holds
a note of both files as they were after the last transaction: of a file that was changed or replaced since, nobody can say
whether its log still belongs to it, unless writing the log back was what changed it.

Formats: https://sqlite.org/fileformat2.html, 1.3 and 4.1, https://sqlite.org/walformat.html, 2.1.
"""

import os
import secrets
import sqlite3
import struct
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from sqlite_utils import Database

LOG, INDEX = "-wal", "-shm"
_DATABASE = b"SQLite format 3\0"
_LOG = struct.Struct(">8I")  # magic number, version, size of a page, count, two salts, two sums
_FRAME = struct.Struct(">6I")  # number of the page, size of the database where a transaction ends, two salts, two sums
_MAGIC = (0x377F0682, 0x377F0683)
_JOURNAL = bytes.fromhex("d9d505f920a163d7")
_VERSION = slice(60, 64)  # where the first page has the user version
_FORMATS = slice(18, 20)  # what may write and read it: 2 for who knows of logs
_INDEX_HEAD, _DONE, _TRIED = 136, slice(96, 100), slice(128, 132)  # bytes; where nBackfill and nBackfillAttempted are
_RANDOM = 0xFF


class LogOwner(Enum):
    """Whose the log beside a database is."""

    NOBODY = "nobody"  # there is none, or nothing was committed in it
    DATABASE = "database"
    ANOTHER = "another"
    UNKNOWN = "unknown"


def log_of(database: Path) -> Path:
    """Return where SQLite has the log of a database."""
    return database.with_name(database.name + LOG)


def number_transaction(db: Database) -> None:
    """Give the open transaction its number."""
    db.conn.execute(f"pragma user_version = {_beginning(number_of(db)) | secrets.randbelow(_RANDOM) + 1}")


def number_of(db: Database) -> int:
    """Return the number of the last transaction that changed anything."""
    return int(db.conn.execute("pragma user_version").fetchone()[0])


def number_copy(copy: sqlite3.Connection) -> None:
    """Give a copy a number of its own: no log but one that begins with it belongs to it."""
    copy.execute(f"pragma user_version = {secrets.randbelow(2**31 - 1) + 1}")


def note_of(database: Path) -> str:
    """Return the two files as they are now, to be compared later; "" without a log."""
    real = Path(os.path.realpath(database))  # SQLite has the log beside the file itself, also where a link names it
    try:
        log, file = log_of(real).stat(), real.stat()
    except FileNotFoundError:
        return ""
    # A change of the mode or the owner counts as well: by nothing else does a copy with its times kept differ.
    return f"{log.st_ino} {file.st_ino} {file.st_size} {file.st_mtime_ns} {file.st_ctime_ns}"


_CONTENT = 4  # the numbers in a note but for the last: all that changes with what the file holds


def owner_of_log(database: Path, noted: str = "") -> LogOwner:
    """Say whose the log beside a database is that nobody has open; `noted` is the last note of both, "" for none.

    Raises OSError.
    """
    log = _read_log(log_of(database))
    if log is None:
        return LogOwner.NOBODY
    file = _read_database(database)
    if file is None:
        return LogOwner.UNKNOWN
    proof = _proof(file, log)
    if not file.may_have_log or log.page_size != file.page_size or proof is _Proof.AGAINST:
        return LogOwner.ANOTHER
    now = note_of(database)
    if now == noted:
        return LogOwner.DATABASE
    if noted and now.split()[0] == noted.split()[0]:
        is_same_file = now.split()[1] == noted.split()[1]
        is_written_back = proof is not _Proof.NONE and is_same_file and _is_written_back(database, file, log)
        is_untouched = now.split()[:_CONTENT] == noted.split()[:_CONTENT] and _has_new_rights(log_of(database))
        return LogOwner.DATABASE if is_written_back or is_untouched else LogOwner.UNKNOWN
    # No note of this log: both were copied here, or an earlier version wrote it.
    if proof is not _Proof.NONE or _is_older(database, log_of(database)):
        return LogOwner.DATABASE
    return LogOwner.UNKNOWN


def _is_written_back(database: Path, file: "_File", log: "_Log") -> bool:
    """Say whether writing the log back is what changed the file: to the log's end, or, beside a reader, a part.

    A part leaves the first page as it was, as every transaction changes that, and other pages newer; no copy of one moment
    has such pages. The log's index says up to which frame pages were to be written, the lowest first, and up to which all
    were.
    """
    if file.number == log.numbers[-1]:
        return True
    done, tried = _progress(database)
    last = {page: at for at, page in enumerate(log.pages, 1)}
    shown = max((at for at, number in log.first_pages if number == file.number), default=0)
    newer = [page for page, at in last.items() if shown < at <= tried]
    return bool(newer) and _holds(database, log, {page: at for page, at in last.items() if at <= done or page == min(newer)})


def _progress(database: Path) -> tuple[int, int]:
    """Return how many of the log's frames are in the file, and how many were to be; 0 where nobody knows."""
    try:
        with database.with_name(database.name + INDEX).open("rb") as file:
            head = file.read(_INDEX_HEAD)
    except FileNotFoundError:
        return 0, 0
    return int.from_bytes(head[_DONE], sys.byteorder), int.from_bytes(head[_TRIED], sys.byteorder)


def _holds(database: Path, log: "_Log", pages: Mapping[int, int]) -> bool:
    """Say whether the file has these pages as they are in these frames."""
    with database.open("rb") as file, log_of(database).open("rb") as written:
        for page, at in pages.items():
            file.seek((page - 1) * log.page_size)
            written.seek(_LOG.size + at * (_FRAME.size + log.page_size) - log.page_size)
            if file.read(log.page_size) != written.read(log.page_size):
                return False
    return True


def _has_new_rights(log: Path) -> bool:
    """Say whether the log's owner or mode was changed since it was written, as `chown -R` does with both files.

    Who puts a copy in the place of the database leaves the log alone.
    """
    found = log.stat()
    return found.st_ctime_ns != found.st_mtime_ns


def _is_older(file: Path, other: Path) -> bool:
    """Say whether nothing was done to the file since the other one was written."""
    return file.stat().st_ctime_ns <= other.stat().st_ctime_ns


def _beginning(before: int) -> int:
    """Return the part of a number by which it follows from the one before it; never negative, as SQLite keeps signs."""
    return zlib.crc32((before & 0xFFFFFFFF).to_bytes(4, "big")) & 0x7FFFFFFF & ~_RANDOM


def _follows(number: int, before: int) -> bool:
    return number & _RANDOM != 0 and number & ~_RANDOM == _beginning(before)


@dataclass(frozen=True, slots=True)
class _File:
    page_size: int
    number: int
    may_have_log: bool  # every database with a log says so, before it has one


@dataclass(frozen=True, slots=True)
class _Log:
    page_size: int
    pages: tuple[int, ...]  # of each frame, up to the last finished transaction
    first_pages: tuple[tuple[int, int], ...]  # of the first page: which frame, from 1, and the number in it

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the first page, in the order of the transactions."""
        return tuple(number for _, number in self.first_pages)


def is_own_journal(database: Path, journal: Path) -> bool:
    """Say whether a rollback journal may be the database's: the first page in it has the same number, as far as it has one.

    SQLite has one for a moment when it turns a copy into a database with a log. Raises OSError.
    """
    with journal.open("rb") as file:
        head = file.read(28)
        initial, sector, size = (int.from_bytes(head[at : at + 4], "big") for at in (16, 20, 24))
        if not head.startswith(_JOURNAL) or not size:
            return True  # SQLite takes no notice of it
        file.seek(sector)
        found = _read_database(database)
        while len(record := file.read(4 + size + 4)) == 4 + size + 4:
            if int.from_bytes(record[:4], "big") == 1:
                number = int.from_bytes(record[4:][_VERSION], "big", signed=True)
                return found is None or number == found.number
    return initial != 0 or database.stat().st_size <= size


class _Proof(Enum):
    """What the numbers say."""

    NONE = "none"  # an earlier version or another program wrote both, or the log has no first page
    FOLLOWS = "follows"
    WRITTEN_BACK = "written back"
    AGAINST = "against"


def _proof(file: _File, log: _Log) -> _Proof:
    if file.number and file.number in log.numbers:
        return _Proof.WRITTEN_BACK
    # Who numbers nothing leaves the number as it was.
    others = [number for number in log.numbers if number != file.number]
    if not others:
        return _Proof.NONE
    return _Proof.FOLLOWS if _follows(others[0], file.number) else _Proof.AGAINST


def _read_database(path: Path) -> _File | None:
    with path.open("rb") as file:
        head = file.read(100)
    if len(head) < 100 or not head.startswith(_DATABASE):
        return None
    size = int.from_bytes(head[16:18], "big")
    number = int.from_bytes(head[_VERSION], "big", signed=True)
    return _File(65536 if size == 1 else size, number, may_have_log=head[_FORMATS] == b"\2\2")


def _read_log(path: Path) -> _Log | None:
    """Read the log's first pages; None where there is no log, or nothing that a transaction finished."""
    try:
        with path.open("rb") as file:
            head = file.read(_LOG.size)
            if len(head) < _LOG.size:
                return None
            magic, _, size, _, *salts, _, _ = _LOG.unpack(head)
            frames = list(_frames(file, size, salts)) if magic in _MAGIC and size else []
    except FileNotFoundError:
        return None
    while frames and not frames[-1][1]:
        frames.pop()
    first = tuple((at, number) for at, (page, _, number) in enumerate(frames, 1) if page == 1)
    return _Log(size, tuple(page for page, _, _ in frames), first) if frames else None


def _frames(file: BinaryIO, size: int, salts: list[int]) -> Iterator[tuple[int, int, int]]:
    """Yield of each frame its page, the database's size where a transaction ends, and the number where the page has it.

    What is behind the first frame with other salts was left by an earlier round of the log.
    """
    while len(head := file.read(_FRAME.size)) == _FRAME.size:
        page, ends, *found, _, _ = _FRAME.unpack(head)
        if found != salts:
            return
        number = 0
        if page == 1:
            content = file.read(size)
            if len(content) < size:
                return
            number = int.from_bytes(content[_VERSION], "big", signed=True)
        else:
            file.seek(size, 1)
        yield page, ends, number
