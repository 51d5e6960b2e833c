"""The connections to a PostgreSQL server: some that are kept open, errors as StoreError, transactions that are tried again.

A job is written as if it waited on the event loop, and runs from its beginning to its end in a thread: what it awaits of
its connection is there when it asks, and it may await nothing else. A statement that waits on the event loop costs twice the
processor time of one that waits in a thread, where psycopg does it in C, and three times as long by the clock; a job of
several statements changes threads once.

What SQLite's one writer gives for nothing has to be asked for here: whoever reads to decide and then writes locks what was
read, by `select … for update` where it is a row, by `locked` where it may be none yet.
"""

import asyncio
import contextlib
import functools
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg import Connection
from psycopg.abc import Params
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow
from psycopg.sql import SQL, Composed
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from bot.errors import SettingsError, StoreError

T = TypeVar("T")

Query = str | bytes | SQL | Composed

PATIENCE = timedelta(seconds=10)  # for a connection, and for a lock that another process holds
_LONGEST = timedelta(seconds=60)  # that one statement may take
_BARE, _TRANSACTION, _VIEW = "bare", "transaction", "view"  # how a job is run
_BUSY = "The database {name} does not answer, or all connections to it are busy; is the server up?"
_UNREADABLE = (
    "The address of the database cannot be read; it is like postgresql://broadsheet:PASSWORD@db.lab.example/broadsheet, and"
    " in a password / is written as %2F, @ as %40, ? as %3F, # as %23 and % as %25."
)
_TRIES = 6  # of a transaction that another one came in the way of
# A server that is gone without a word is noticed in about 15 seconds: what is sent and not acknowledged, and what is silent.
_NETWORK = {
    "connect_timeout": "5",
    "tcp_user_timeout": "15000",
    "keepalives_idle": "5",
    "keepalives_interval": "5",
    "keepalives_count": "2",
}


class Cursor:
    """What a statement gave."""

    __slots__ = ("_cursor",)

    def __init__(self, cursor: "psycopg.Cursor[TupleRow]") -> None:
        self._cursor = cursor

    async def __aenter__(self) -> "Cursor":
        return self

    async def __aexit__(self, *raised: object) -> None:
        self._cursor.close()

    @property
    def rowcount(self) -> int:
        """How many rows the statement gave or changed."""
        return self._cursor.rowcount

    async def fetchone(self) -> TupleRow | None:
        """Return the next row, None after the last."""
        return self._cursor.fetchone()

    async def fetchall(self) -> list[TupleRow]:
        """Return the rows that are left."""
        return self._cursor.fetchall()

    async def executemany(self, query: Query, rows: Iterable[Params]) -> None:
        """Run the statement for each of these."""
        self._cursor.executemany(query, rows)

    @contextlib.asynccontextmanager
    async def copy(self, query: Query) -> "AsyncIterator[Copy]":
        """Run a COPY; what is written inside the block is sent."""
        with self._cursor.copy(query) as copy:
            yield Copy(copy)


class Copy:
    """A COPY that goes on."""

    __slots__ = ("_copy",)

    def __init__(self, copy: "psycopg.Copy") -> None:
        self._copy = copy

    async def write_row(self, row: Sequence[Any]) -> None:
        """Send a row."""
        self._copy.write_row(row)


class Db:
    """A connection inside a job."""

    __slots__ = ("_connection",)

    def __init__(self, connection: "psycopg.Connection[TupleRow]") -> None:
        self._connection = connection

    @property
    def info(self) -> psycopg.ConnectionInfo:
        """What is known of the connection and its server."""
        return self._connection.info

    async def execute(self, query: Query, params: Params | None = None, *, binary: bool = False) -> Cursor:
        """Run a statement, whose answer comes as text or in binary; raises psycopg.Error."""
        return Cursor(self._connection.execute(query, params, binary=binary))

    def transaction(self) -> "_Entered":
        """Return a transaction for `async with`, or a part of the one that goes on which may be undone by itself."""
        return _Entered(self._connection.transaction())

    def pipeline(self) -> "_Entered":
        """Return a block for `async with` whose statements are sent without waiting for each."""
        return _Entered(self._connection.pipeline())

    def cursor(self) -> Cursor:
        """Return a cursor; `async with` closes it."""
        return Cursor(self._connection.cursor())


class _Entered:
    def __init__(self, block: contextlib.AbstractContextManager[Any]) -> None:
        self._block = block

    async def __aenter__(self) -> None:
        self._block.__enter__()

    async def __aexit__(self, *raised: Any) -> bool | None:
        return self._block.__exit__(*raised)


def driven(job: Awaitable[T]) -> T:
    """Return what the job returns, run to its end here and now.

    Raises RuntimeError where it awaits what takes time: in a thread there is no event loop that would go on with it.
    """
    try:
        next(job.__await__())
    except StopIteration as ended:
        value: T = ended.value
        return value
    raise RuntimeError("a job of the store awaits something other than its connection")


async def aside(work: Callable[[], T]) -> T:
    """Do what computes for long beside the event loop: in a thread, or here where a job runs in one already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    return await asyncio.to_thread(work)


class Connections:
    """The server while it is open: as many connections as are needed at the same time, up to a bound."""

    def __init__(self, address: str, *, most: int = 8) -> None:
        """`address` is a URL or a connection string as libpq takes it; several hosts may stand in it."""
        self._address = address
        self._most = most
        self._pool: ConnectionPool[Connection[TupleRow]] | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is open."""
        return self._pool is not None

    @property
    def name(self) -> str:
        """The server and the database, for people: never a user or a password."""
        return named(self._address)

    async def open(self) -> None:
        """Connect; raises StoreError where the server does not answer."""
        pool: ConnectionPool[Connection[TupleRow]] = ConnectionPool(
            self.conninfo(),
            min_size=1,
            max_size=self._most,
            timeout=PATIENCE.total_seconds(),
            kwargs={"autocommit": True},
            reconnect_timeout=5.0,
            open=False,
        )
        # It warns of every try, each second while a server is away; whoever asks for a connection is told.
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
        self._threads = ThreadPoolExecutor(self._most, thread_name_prefix="store-postgres")
        self._free = asyncio.Semaphore(self._most)
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._connect, pool)
        except BaseException:
            await asyncio.to_thread(pool.close)
            self._threads.shutdown(wait=False)
            raise
        self._pool = pool

    def _connect(self, pool: "ConnectionPool[Connection[TupleRow]]") -> None:
        with self.errors():
            # By itself first: a pool does not say why it has no connection.
            Connection.connect(self.conninfo(), autocommit=True).close()
            pool.open(wait=True, timeout=PATIENCE.total_seconds())

    def conninfo(self) -> str:
        """Return how libpq is to connect, with a password where one stands in the address; raises SettingsError."""
        given = _parts(self._address)
        if given is None:
            raise SettingsError(_UNREADABLE)
        limits = (
            f"-c statement_timeout={_LONGEST // timedelta(milliseconds=1)}"
            f" -c lock_timeout={PATIENCE // timedelta(milliseconds=1)} -c idle_in_transaction_session_timeout=60000"
            # Who waited for a lock has to see what its holder wrote, whatever the role's or the database's own default is.
            r" -c default_transaction_isolation=read\ committed"
            # Of short questions most of the time would go to starting workers, or to compiling.
            " -c max_parallel_workers_per_gather=0 -c jit=off"
        )
        options = f"{given.pop('options', '')} {limits}".strip()
        ours = {"application_name": "broadsheet", "target_session_attrs": "read-write", **_NETWORK, "options": options}
        return make_conninfo(**{**ours, **given, "client_encoding": "UTF8"})

    async def close(self) -> None:
        """Let go of every connection; what is being done is waited for."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.to_thread(self._threads.shutdown)
            await asyncio.to_thread(pool.close, PATIENCE.total_seconds())

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Have it open inside the block. Raises StoreError."""
        await self.open()
        try:
            yield
        finally:
            await self.close()

    async def read(self, job: Callable[[Db], Awaitable[T]], *, view: bool = False) -> T:
        """Run a job that reads; with `view`, all of its statements see the same state of the database.

        Where the connection turns out to be dead it is tried once more on another one.
        """
        try:
            return await self._in_thread(job, _VIEW if view else _BARE)
        except _DeadError:
            return await self._in_thread(job, _VIEW if view else _BARE)

    async def write(self, job: Callable[[Db], Awaitable[T]]) -> T:
        """Run a job in one transaction (READ COMMITTED), again from the beginning where another one came in its way.

        A StoreError may mean that it was committed all the same: the connection broke before the answer came.
        """
        for attempt in range(_TRIES):
            try:
                return await self._in_thread(job, _TRANSACTION)
            except _InTheWayError:
                if attempt == _TRIES - 1:
                    raise
                await asyncio.sleep(random.uniform(0, 0.01 * 2**attempt))
        raise AssertionError

    async def bare(self, job: Callable[[Db], Awaitable[T]]) -> T:
        """Run a job outside any transaction, for what PostgreSQL allows there only (VACUUM)."""
        return await self._in_thread(job, _BARE)

    async def _in_thread(self, job: Callable[[Db], Awaitable[T]], how: str) -> T:
        """Run the job on a connection that is free. Who waits for it may be cancelled; the job then goes on to its end."""
        pool = self._pool
        if pool is None:
            raise StoreError("The store is not open.")
        if self._free.locked():
            try:
                async with asyncio.timeout(PATIENCE.total_seconds()):
                    await self._free.acquire()
            except TimeoutError as error:
                raise StoreError(_BUSY.format(name=self.name)) from error
        else:
            await self._free.acquire()
        running = asyncio.get_running_loop().run_in_executor(self._threads, self._run, pool, job, how)
        running.add_done_callback(self._ended)
        return await asyncio.shield(running)

    def _ended(self, running: "asyncio.Future[Any]") -> None:
        self._free.release()
        if not running.cancelled():
            running.exception()  # is known, also where nobody waits for it any more

    def _run(self, pool: "ConnectionPool[Connection[TupleRow]]", job: Callable[[Db], Awaitable[T]], how: str) -> T:
        with self.errors():
            connection = pool.getconn()
            try:
                if how == _BARE:
                    return driven(job(Db(connection)))
                with connection.transaction():
                    if how == _VIEW:
                        connection.execute("set transaction isolation level repeatable read, read only")
                    return driven(job(Db(connection)))
            finally:
                pool.putconn(connection)

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what psycopg raises inside the block into a StoreError that says what to do, and holds no secret."""
        try:
            yield
        except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected) as error:
            raise _InTheWayError(f"Other processes keep changing the same rows of {self.name}.") from error
        except psycopg.Error as error:
            kind = _DeadError if _is_dead(error) else StoreError
            raise kind(_sentence(error, self.name)) from error
        except UnicodeEncodeError as error:
            raise StoreError(
                f"A text cannot be stored in {self.name}: it holds half of a character ({error.reason})."
            ) from error
        except OSError as error:
            raise StoreError(f"The database {self.name} cannot be reached: {error.strerror or error}.") from error


class _InTheWayError(StoreError):
    """Another transaction came in the way of this one, which left nothing behind."""


class _DeadError(StoreError):
    """The connection is gone."""


def _parts(address: str) -> dict[str, str] | None:
    """Return what libpq reads in an address; None where it cannot, or takes a part of the password for the server's name."""
    try:
        given = {name: str(value) for name, value in conninfo_to_dict(address).items() if value is not None}
    except psycopg.Error:
        return None
    is_torn = any("@" in given.get(name, "") for name in ("host", "port", "dbname"))
    return None if is_torn or not set(given.get("port", "")) <= set("0123456789,") else given


def named(address: str) -> str:
    """Return the server and the database of an address, for people: never a user or a password."""
    given = _parts(address)
    if given is None:
        return "PostgreSQL"
    host, port = given.get("host") or given.get("hostaddr") or "localhost", given.get("port")
    return f"{host}{f':{port}' if port else ''}/{given.get('dbname') or ''}"


async def locked(db: Db, *names: object) -> None:
    """Wait until no other transaction holds the lock of this name, and hold it until this one ends.

    Every name is of the form ("ledger", workspace, …). Who takes several takes them in the same order everywhere.
    """
    name = "\x1f".join(map(str, names)).encode("utf-8", "surrogatepass")
    await db.execute("select pg_advisory_xact_lock(hashtextextended(encode(%s, 'hex'), 0))", [name])


class Tables:
    """Some of the tables, on connections that all share. Its methods are written with a connection and called without."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections


S = TypeVar("S", bound=Tables)
P = ParamSpec("P")
Job = Callable[Concatenate[S, Db, P], Awaitable[T]]
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


def reading(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that reads, a statement or several that need not see the same state."""

    @functools.wraps(job)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connections.read(lambda db: job(self, db, *args, **kwargs))

    return method


def reading_view(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that reads in several statements, all of which see the same state."""

    @functools.wraps(job)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connections.read(lambda db: job(self, db, *args, **kwargs), view=True)

    return method


def writing(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that writes, in a transaction of its own; it may be run several times until one is committed."""

    @functools.wraps(job)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connections.write(lambda db: job(self, db, *args, **kwargs))

    return method


def _is_dead(error: psycopg.Error) -> bool:
    if isinstance(error, PoolTimeout | PoolClosed):
        return False
    lost = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
    return lost or (error.sqlstate or "").startswith("57P") or (error.sqlstate or "").startswith("08")


def _sentence(error: psycopg.Error, name: str) -> str:
    if isinstance(error, PoolTimeout):
        return _BUSY.format(name=name)
    sentences = dict(_SENTENCES)
    for each, sentence in sentences.items():
        if isinstance(error, each):
            return sentence.format(name=name)
    if str(error).startswith(("connection", "failed to resolve")):  # none was made, and libpq says why in words alone
        found = (sentences[kind] for words, kind in _AT_CONNECTING if words in str(error))
        return next(found, "The database {name} cannot be reached; is the server up?").format(name=name)
    if _is_dead(error):
        return f"The connection to the database {name} was lost; it is made anew by itself."
    if isinstance(error, psycopg.DataError) and error.sqlstate is None:
        return f"A text cannot be stored in {name}: it holds a character that PostgreSQL has no room for (0)."
    # Of psycopg's own errors without a state the text may hold how it was to connect.
    said = error.diag.message_primary or type(error).__name__
    return f"The database {name} failed: {said.rstrip('.')}."


_AT_CONNECTING: tuple[tuple[str, type[psycopg.Error]], ...] = (
    ("authentication failed", psycopg.errors.InvalidPassword),
    ("no password supplied", psycopg.errors.InvalidPassword),
    ("no pg_hba.conf entry", psycopg.errors.InvalidPassword),
    ("does not exist", psycopg.errors.InvalidCatalogName),
    ("too many clients", psycopg.errors.TooManyConnections),
    ("connection slots", psycopg.errors.TooManyConnections),
    ("read-only", psycopg.errors.ReadOnlySqlTransaction),
)
_SENTENCES: tuple[tuple[type[psycopg.Error], str], ...] = (
    (
        psycopg.errors.DiskFull,
        "The disk of the database {name} is full; make room, nothing that was being written is half there.",
    ),
    (
        psycopg.errors.ReadOnlySqlTransaction,
        "The database {name} may only be read: is it a standby? Name its primary, or both.",
    ),
    (
        psycopg.errors.InsufficientPrivilege,
        "The user of the database {name} may not do that; it must own the database's tables.",
    ),
    (psycopg.errors.InvalidPassword, "The database {name} does not take the user or the password."),
    (
        psycopg.errors.InvalidCatalogName,
        "The database {name} or its user does not exist; make them with `createuser` and `createdb`.",
    ),
    (
        psycopg.errors.TooManyConnections,
        "The server of {name} takes no more connections; raise max_connections, or lower `connections`.",
    ),
    (
        psycopg.errors.LockNotAvailable,
        "Another process has held what is to be changed in {name} for ten seconds; it is tried again.",
    ),
    (
        psycopg.errors.ProgramLimitExceeded,
        "A text cannot be stored in {name}: it is a name that is too long, of more than about 2,700 bytes.",
    ),
    (psycopg.errors.QueryCanceled, "The database {name} took longer than a minute for one statement."),
    (psycopg.errors.UndefinedTable, "The database {name} lacks tables; run `broadsheet db migrate`."),
)
