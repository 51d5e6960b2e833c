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
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg import Connection
from psycopg.abc import Params
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow
from psycopg.sql import SQL, Composed
from psycopg_pool import ConnectionPool, PoolTimeout

from bot.errors import SettingsError, StoreError
from bot.store.postgres.server.gathering import Gathering
from bot.store.postgres.server.sentences import (
    BUSY,
    IN_THE_WAY,
    BusyError,
    DeadError,
    InTheWayError,
    is_dead,
    named,
    parts,
    sentence,
)

T = TypeVar("T")

Query = str | bytes | SQL | Composed

PATIENCE = timedelta(seconds=10)  # for a connection, and for a lock that another process holds
_LONGEST = timedelta(seconds=60)  # that one statement may take
_VIEW = "set transaction isolation level repeatable read, read only"
_UNREADABLE = (
    "The address of the database cannot be read; it is like postgresql://broadsheet:PASSWORD@db.lab.example/broadsheet, and"
    " in a password / is written as %2F, @ as %40, ? as %3F, # as %23 and % as %25."
)
ONCE, ONE_GO, PIPED = "once", "one go", "piped"  # how a job may be run that writes
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


class _Given(Cursor):
    """What a statement gave, for each of those who asked it."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Sequence[TupleRow]) -> None:
        self._rows = iter(rows)

    async def fetchone(self) -> TupleRow | None:
        return next(self._rows, None)

    async def fetchall(self) -> list[TupleRow]:
        return list(self._rows)


@dataclass(frozen=True, slots=True)
class _Question:
    """A statement that a job asks beside other jobs; whoever runs these is given it, and gives back what it gave."""

    query: Query
    params: Params | None
    binary: bool

    def __await__(self) -> "Generator[_Question, Cursor, Cursor]":
        return (yield self)


class _Beside(Db):
    """The connection inside a job that runs beside others: it takes statements that give rows, and nothing else."""

    __slots__ = ()

    async def execute(self, query: Query, params: Params | None = None, *, binary: bool = False) -> Cursor:
        return await _Question(query, params, binary)


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


def _by_itself(job: Callable[[Db], Awaitable[T]]) -> "Callable[[Connection[TupleRow]], T]":
    """Return what runs the job outside any transaction, so that each statement is one by itself."""
    return lambda connection: driven(job(Db(connection)))


def _in_transaction(job: Callable[[Db], Awaitable[T]], begin: str = "") -> "Callable[[Connection[TupleRow]], T]":
    """Return what runs the job in a transaction, with what that begins with."""

    def run(connection: "Connection[TupleRow]") -> T:
        with connection.transaction():
            if begin:
                connection.execute(begin.encode())
            return driven(job(Db(connection)))

    return run


@contextlib.contextmanager
def _dropped_if_it_fails(connection: "Connection[TupleRow]") -> Iterator[None]:
    """Close the connection where the block fails: of what was sent behind that, psycopg may believe that it is prepared."""
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _in_one_go(job: Callable[[Db], Awaitable[T]]) -> "Callable[[Connection[TupleRow]], T]":
    """Return what runs the job so that its statements are one transaction, which ends with the last of them."""

    def run(connection: "Connection[TupleRow]") -> T:
        with _dropped_if_it_fails(connection), connection.pipeline():
            return driven(job(Db(connection)))

    return run


def _in_pipeline(job: Callable[[Db], Awaitable[T]]) -> "Callable[[Connection[TupleRow]], T]":
    """Return what runs the job in a transaction without waiting for answers that it does not ask for."""
    run = _in_transaction(job)

    def piped(connection: "Connection[TupleRow]") -> T:
        with connection.pipeline():
            return run(connection)

    return piped


def _driven_together(
    jobs: Sequence[Callable[[Db], Awaitable[Any]]], connection: "Connection[TupleRow]", *, shared: bool
) -> list[Any]:
    """Return what each of the jobs returns, or the error that it raised: their statements go to the server together.

    `shared`: what several ask in the same words is asked once; what is not may write, and is one transaction. Raises
    psycopg.Error where a statement fails, whosever it is.
    """
    with _dropped_if_it_fails(connection), contextlib.ExitStack() as stack:
        if not shared:
            stack.enter_context(connection.pipeline())
            stack.enter_context(connection.transaction())
        return _in_step(jobs, connection, shared=shared)


def _in_step(
    jobs: Sequence[Callable[[Db], Awaitable[Any]]], connection: "Connection[TupleRow]", *, shared: bool
) -> list[Any]:
    """Return what each of the jobs returns, or the error that it raised; all go on by one statement at a time."""
    db = _Beside(connection)
    running = [job(db).__await__() for job in jobs]
    ended: list[Any] = [None] * len(jobs)
    given: dict[int, Cursor | None] = dict.fromkeys(range(len(jobs)))
    while given:
        asked: dict[int, _Question] = {}
        for number, rows in given.items():
            try:
                asked[number] = running[number].send(rows)
            except StopIteration as end:
                ended[number] = end.value
            except Exception as error:  # noqa: BLE001 - whoever asked is told
                ended[number] = error
        # Parameters may be lists: they are alike where they are written alike.
        words = {
            number: (each.query, repr(each.params), each.binary) if shared else number for number, each in asked.items()
        }
        cursors: dict[Any, psycopg.Cursor[TupleRow]] = {}
        with connection.pipeline():
            for number, said in words.items():
                if said not in cursors:
                    each = asked[number]
                    cursors[said] = connection.execute(each.query, each.params, binary=each.binary)
        answers = {said: cursor.fetchall() for said, cursor in cursors.items()}
        given = {number: _Given(answers[said]) for number, said in words.items()}
    return ended


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
        self._questions = Gathering(partial(self._together, shared=True), self.read, is_reading=True)
        self._changes = Gathering(partial(self._together, shared=False), self.bare, is_reading=False)

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
        # They warn of every try while a server is away, and of each block that it leaves half done; whoever asks is told.
        for name in ("psycopg", "psycopg.pool"):
            logging.getLogger(name).setLevel(logging.ERROR)
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
        given = parts(self._address)
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
        run = _in_transaction(job, _VIEW) if view else _by_itself(job)
        try:
            return await self._in_thread(run)
        except DeadError:
            return await self._in_thread(run)

    async def ask(self, job: Callable[[Db], Awaitable[T]]) -> T:
        """Run a job that reads little and at once, together with others that are asked at the same time."""
        return await self._questions.run(job)

    async def tell(self, job: Callable[[Db], Awaitable[T]]) -> T:
        """Run a job of one statement that writes one row of its own, together with others that come at the same time.

        They are one transaction. Where that fails each is run by itself; a StoreError is as one of `write`.
        """
        return await self._changes.run(job)

    async def _together(self, jobs: Sequence[Callable[[Db], Awaitable[Any]]], *, shared: bool) -> Sequence[Any]:
        return await self._in_thread(partial(_driven_together, jobs, shared=shared))

    async def write(self, job: Callable[[Db], Awaitable[T]], *, how: str = "") -> T:
        """Run a job in one transaction (READ COMMITTED), again from the beginning where another one came in its way.

        ONCE: it is of one statement, which is a transaction by itself. ONE_GO: of several, sent at once, which are one; it
        raises nothing itself, which would undo nothing. PIPED: its statements go without waiting for answers that the job
        does not ask for; where one fails, that is raised with the next answer, or at the end.
        A StoreError may mean that it was committed all the same: the connection broke before the answer came.
        """
        run = {ONCE: _by_itself, ONE_GO: _in_one_go, PIPED: _in_pipeline}.get(how, _in_transaction)(job)
        for attempt in range(_TRIES):
            try:
                return await self._in_thread(run)
            except InTheWayError:
                if attempt == _TRIES - 1:
                    raise
                await asyncio.sleep(random.uniform(0, 0.01 * 2**attempt))
        raise AssertionError

    async def bare(self, job: Callable[[Db], Awaitable[T]]) -> T:
        """Run a job outside any transaction, for what PostgreSQL allows there only (VACUUM)."""
        return await self._in_thread(_by_itself(job))

    async def _in_thread(self, run: "Callable[[Connection[TupleRow]], T]") -> T:
        """Run it on a connection that is free. Who waits for it may be cancelled; it then goes on to its end."""
        pool = self._pool
        if pool is None:
            raise StoreError("The store is not open.")
        if self._free.locked():
            try:
                async with asyncio.timeout(PATIENCE.total_seconds()):
                    await self._free.acquire()
            except TimeoutError as error:
                raise BusyError(BUSY.format(name=self.name)) from error
        else:
            await self._free.acquire()
        running = asyncio.get_running_loop().run_in_executor(self._threads, self._run, pool, run)
        running.add_done_callback(self._ended)
        return await asyncio.shield(running)

    def _ended(self, running: "asyncio.Future[Any]") -> None:
        self._free.release()
        if not running.cancelled():
            running.exception()  # is known, also where nobody waits for it any more

    def _run(self, pool: "ConnectionPool[Connection[TupleRow]]", run: "Callable[[Connection[TupleRow]], T]") -> T:
        with self.errors():
            connection = pool.getconn()
            try:
                return run(connection)
            finally:
                pool.putconn(connection)

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what psycopg raises inside the block into a StoreError that says what to do, and holds no secret."""
        try:
            yield
        except IN_THE_WAY as error:
            raise InTheWayError(f"Other processes keep changing the same rows of {self.name}.") from error
        except psycopg.Error as error:
            kind = BusyError if isinstance(error, PoolTimeout) else DeadError if is_dead(error) else StoreError
            raise kind(sentence(error, self.name)) from error
        except UnicodeEncodeError as error:
            raise StoreError(
                f"A text cannot be stored in {self.name}: it holds half of a character ({error.reason})."
            ) from error
        except OSError as error:
            raise StoreError(f"The database {self.name} cannot be reached: {error.strerror or error}.") from error


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


def asking(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that reads little and at once, by keys: what is asked at the same time is asked in one go."""

    @functools.wraps(job)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connections.ask(lambda db: job(self, db, *args, **kwargs))

    return method


def reading_view(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that reads in several statements, all of which see the same state."""

    @functools.wraps(job)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connections.read(lambda db: job(self, db, *args, **kwargs), view=True)

    return method


def writing(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that writes, in a transaction of its own; it may be run several times until one is committed."""
    return _writing(job, "")


def writing_once(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that writes by one statement, which is a transaction by itself."""
    return _writing(job, ONCE)


def writing_piped(job: Job[S, P, T]) -> Method[S, P, T]:
    """Make a method of one that writes as `writing`, in statements most of whose answers it does not wait for."""
    return _writing(job, PIPED)


def _writing(job: Job[S, P, T], how: str) -> Method[S, P, T]:
    @functools.wraps(job)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connections.write(lambda db: job(self, db, *args, **kwargs), how=how)

    return method
