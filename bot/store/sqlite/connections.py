"""How the database is reached: one thread that writes, some that read, and SQLite's errors in our words.

Who reads a few rows (ledger, facts, workspaces) never waits behind who reads long (searches, the items of a digest, a
backup): either has threads of its own.

Every write is a transaction of its own, begun IMMEDIATE: under a plain BEGIN a transaction that reads before it writes
fails at once with "database is locked" when another one was quicker, whatever the timeout.
"""

import asyncio
import contextlib
import functools
import sqlite3
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from sqlite_utils import Database

from bot.errors import StoreError
from bot.private_files import make_private
from bot.store.sqlite.locks import PATIENCE, FileLock, turn_lock
from bot.store.sqlite.recovery.wal import note_of, number_transaction

T = TypeVar("T")

_AT_ONCE = 64  # shared jobs in one transaction, each of about 0.2 ms
_READERS = 3  # threads of either sort; SQLite runs outside the interpreter's lock
_WRITER_CACHE = 32_000  # KiB
_LONG_CACHE = 16_000
_ROW_CACHE = 4_000
# After so many transactions a connection lets go of its cache: of all that was asked for once, it would fill up to its limit
# in weeks. What is needed is there again within milliseconds, as the system keeps the file's pages in a cache of its own.
TIDY = 250


def connect(path: Path, *, read_only: bool = False, cache: int = _LONG_CACHE) -> Database:
    """Open a connection with our settings; raises sqlite3.Error."""
    mode = "ro" if read_only else "rwc"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    if not read_only:
        # SQLite gives its logs the mode of the database. Where it cannot be made, SQLite says so in its own words.
        with contextlib.suppress(OSError):
            make_private(path)
    conn = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        conn.execute(f"pragma cache_size = -{cache}")
        conn.execute("pragma temp_store = memory")
        return Database(conn, recursive_triggers=False, execute_plugins=False)
    except BaseException:
        conn.close()
        raise


class Writer:
    """The one thread that writes, with its connection; jobs run in the order in which they were given."""

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        """Without `durable`, a power cut may take the last transactions, which nothing else is harmed by."""
        self._path = path
        self._synchronous = "full" if durable else "normal"
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self._turn: FileLock = turn_lock(path)
        self._db: Database | None = None
        self._done = 0  # transactions
        self._shared: deque[_Shared] = deque()  # appended on the event loop, taken in the thread

    async def write_shared(self, job: Callable[[Database], T]) -> T:
        """Do as `write`, in one transaction with the other shared jobs that wait by then: what takes longest is the disk.

        A job that raises is undone by itself. What this returns is on the disk, as after `write`.
        """
        shared: _Shared = _Shared(job)
        self._shared.append(shared)
        await self._in_thread(self._transact_shared)
        if shared.error is not None:
            with store_errors(self._path):
                raise shared.error
        return cast(T, shared.result)

    async def write(self, job: Callable[[Database], T]) -> T:
        """Run the job in a transaction and return what it returns; a job that raises leaves nothing behind."""
        return await self._in_thread(lambda: self._transact(job))

    async def bare(self, job: Callable[[Database], T]) -> T:
        """Run the job outside any transaction, for what SQLite allows there only (VACUUM)."""

        def run() -> T:
            with self._turn.turn():
                try:
                    return job(self._database())
                finally:
                    self._note()

        return await self._in_thread(run)

    async def close(self) -> None:
        """Finish what was given and close; harmless when nothing is open."""
        await self._in_thread(self._shut)
        self._thread.shutdown(wait=False)

    async def _in_thread(self, run: Callable[[], T]) -> T:
        with store_errors(self._path):
            return await asyncio.get_running_loop().run_in_executor(self._thread, run)

    def _transact(self, job: Callable[[Database], T]) -> T:
        with self._turn.turn():
            try:
                db = self._database()
                self._done = _tidied(db, self._done + 1)
                return _transaction(db, job)
            except sqlite3.OperationalError as error:
                # A connection that was opened while the file could not be written would stay so for ever.
                if self._db is not None and "readonly" in str(error):
                    self._db.close()
                    self._db = None
                raise
            finally:
                self._note()

    def _transact_shared(self) -> None:
        """Do the shared jobs that wait. Those whose own turn comes later are done by then."""
        taken: list[_Shared] = []
        while self._shared and len(taken) < _AT_ONCE:
            taken.append(self._shared.popleft())
        if not taken:
            return
        try:
            self._transact(lambda db: _do_all(db, taken))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever gave the job
            for each in taken:
                each.error = error

    def _database(self) -> Database:
        """Open on first use, and again when an earlier try failed."""
        if self._db is None:
            db = connect(self._path, cache=_WRITER_CACHE)
            try:
                db.conn.execute("pragma journal_mode = wal")
                # Full: what was committed stays after a power cut too.
                db.conn.execute(f"pragma synchronous = {self._synchronous}")
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db

    def _note(self) -> None:
        """Note how the files are now, where writing the log back changed them; the turn is ours.

        Where that fails nothing is said: what was committed is committed, and whoever heard of an error would do it again.
        """
        with contextlib.suppress(OSError):
            note = note_of(self._path)
            if note != self._turn.read():
                self._turn.write(note)

    def _shut(self) -> None:
        if self._db is not None:
            # Closing writes the log back, which is a writer's turn; if nobody lets us, the next one to close does it.
            with contextlib.suppress(StoreError), self._turn.turn():
                self._db.close()
                self._db = None
                self._note()
        self._turn.close()


@dataclass(slots=True)
class _Shared:
    """A shared job, and what came of it."""

    job: Callable[[Database], object]
    result: object = None
    error: BaseException | None = None


def _do_all(db: Database, taken: Sequence[_Shared]) -> None:
    for each in taken:
        _do(db, each)


def _do(db: Database, shared: _Shared) -> None:
    db.conn.execute("savepoint shared")
    try:
        shared.result = shared.job(db)
    except BaseException as error:
        if not db.conn.in_transaction:
            raise  # a full disk may have undone them all
        db.conn.execute("rollback to shared")
        shared.error = error
    finally:
        if db.conn.in_transaction:
            db.conn.execute("release shared")


def _transaction(db: Database, job: Callable[[Database], T]) -> T:
    db.conn.execute("begin immediate")
    changes = db.conn.total_changes
    try:
        result = job(db)
        if db.conn.total_changes != changes:
            number_transaction(db)
        db.conn.execute("commit")
    except BaseException:
        # A full disk may already have undone the transaction.
        if db.conn.in_transaction:
            db.conn.execute("rollback")
        raise
    return result


def _tidied(db: Database, done: int) -> int:
    """Let go of the connection's cache where so many transactions were done; return how many were done since."""
    if done < TIDY:
        return done
    db.conn.execute("pragma shrink_memory")
    return 0


class Readers:
    """A few threads that read, each time on the idle connection that was used last: its cache is the warmest."""

    def __init__(self, path: Path, cache: int = _LONG_CACHE) -> None:
        """`cache` is what each connection may keep of the file, in KiB."""
        self._path = path
        self._cache = cache
        self._threads = ThreadPoolExecutor(_READERS, thread_name_prefix="store-reader")
        # Taken from and given back to its end, by any of the threads; and how many jobs each has done.
        self._idle: list[tuple[Database, int]] = []

    async def read(self, job: Callable[[Database], T]) -> T:
        """Run the job on a consistent view of the database."""
        with store_errors(self._path):
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._view, job)

    async def close(self) -> None:
        """Wait for what is being read and close."""
        await asyncio.to_thread(self._shut)

    def _view(self, job: Callable[[Database], T]) -> T:
        db, done = self._take()
        try:
            db.conn.execute("begin")
            try:
                return job(db)
            finally:
                db.conn.execute("rollback")
                done = _tidied(db, done + 1)
        finally:
            self._idle.append((db, done))

    def _take(self) -> tuple[Database, int]:
        try:
            return self._idle.pop()
        except IndexError:
            return connect(self._path, read_only=True, cache=self._cache), 0

    def _shut(self) -> None:
        self._threads.shutdown(wait=True)
        while self._idle:
            self._idle.pop()[0].close()


class Connections:
    """The database while it is open: one thread that writes, some that read, and one to make ready what is written."""

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        """Without `durable`, a power cut may take the last transactions."""
        self.path = path
        self.is_open = False
        self._durable = durable

    def open(self) -> None:
        """Make the threads; each connects when it is first needed."""
        self._writer = Writer(self.path, durable=self._durable)
        self._rows, self._long = Readers(self.path, _ROW_CACHE), Readers(self.path)
        self.folder = ThreadPoolExecutor(1, thread_name_prefix="store-folder")
        self.is_open = True

    async def close(self) -> None:
        """Finish what is being written and read, and let go of the file."""
        self.is_open = False
        await self._rows.close()
        await self._long.close()
        await self._writer.close()
        self.folder.shutdown(wait=False)

    async def read(self, job: Callable[[Database], T]) -> T:
        """Run a job that reads a few rows on a consistent view of the database; raises StoreError where it is not open."""
        self._expect_open()
        return await self._rows.read(job)

    async def read_long(self, job: Callable[[Database], T]) -> T:
        """Do as `read` with a job that may take longer than some milliseconds: it holds up others of its kind alone."""
        self._expect_open()
        return await self._long.read(job)

    async def write(self, job: Callable[[Database], T]) -> T:
        """Run the job in a transaction of its own; raises StoreError where the database is not open."""
        self._expect_open()
        return await self._writer.write(job)

    async def write_shared(self, job: Callable[[Database], T]) -> T:
        """Run the job in one transaction with others that wait; raises StoreError where the database is not open."""
        self._expect_open()
        return await self._writer.write_shared(job)

    async def bare(self, job: Callable[[Database], T]) -> T:
        """Run the job on the writer outside any transaction; raises StoreError where the database is not open."""
        self._expect_open()
        return await self._writer.bare(job)

    def _expect_open(self) -> None:
        if not self.is_open:
            raise StoreError("The store is not open.")


class Tables:
    """Some of the tables, on connections that all share. Its methods are written with a database and called without."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections


S = TypeVar("S", bound=Tables)
P = ParamSpec("P")
Job = Callable[Concatenate[S, Database, P], T]
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


def reading(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that reads a few rows of the database that it is given."""

    @functools.wraps(job)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connections.read(lambda db: job(self, db, *args, **kwargs))

    return method


def reading_long(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that searches, or reads thousands of rows, of the database that it is given."""

    @functools.wraps(job)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connections.read_long(lambda db: job(self, db, *args, **kwargs))

    return method


def writing(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that writes, in a transaction of its own, begun IMMEDIATE."""

    @functools.wraps(job)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connections.write(lambda db: job(self, db, *args, **kwargs))

    return method


def writing_shared(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that writes a little and often, in one transaction with others that wait."""

    @functools.wraps(job)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connections.write_shared(lambda db: job(self, db, *args, **kwargs))

    return method


@contextlib.contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise inside the block into a StoreError that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_sentence(error, path)) from error
    except UnicodeEncodeError as error:
        raise StoreError(f"A text cannot be stored in {path}: it holds half of a character ({error.reason}).") from error
    except OSError as error:
        named = f" ({error.filename})" if error.filename and str(error.filename) != str(path) else ""
        raise StoreError(f"The database {path} cannot be used: {error.strerror or error}{named}.") from error


def _sentence(error: sqlite3.Error, path: Path) -> str:
    text = str(error)
    for sign, sentence in _SENTENCES:
        if sign in text:
            return sentence.format(path=path, folder=path.parent, patience=f"{PATIENCE:.0f}")
    return f"The database {path} failed: {text}."


_SENTENCES = (
    ("disk is full", "The disk with {path} is full; make room, nothing of what was being written is half there."),
    ("no such module: fts5", "This Python's SQLite has no full-text search (FTS5); use a Python built with it."),
    ("readonly", "The database {path} cannot be written; check the owner and the rights of the file and of its folder."),
    ("unable to open", "The database {path} cannot be opened; check that {folder} exists and may be read and written."),
    ("locked", "Another program has kept {path} locked for {patience} seconds; close it and try again."),
    ("not a database", "{path} is not a database; move it away, or restore a backup with `broadsheet db restore`."),
    ("vtable constructor failed", "The database {path} is damaged; stop the service and restore a backup."),
    ("malformed", "The database {path} is damaged; stop the service and restore a backup with `broadsheet db restore`."),
    ("disk I/O error", "The disk with {path} does not answer as it should; check it, then `broadsheet db check`."),
)
