"""Connections that wait in a thread, for jobs that are written as if they waited on the event loop.

A statement that waits on the event loop costs twice the processor time of one that waits in a thread, where psycopg does it
in C, and three times as long by the clock; a job of several statements changes threads once. So a job is run from its
beginning to its end in one thread: what it awaits of the connection is there when it asks, and it may await nothing else.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.abc import Params
from psycopg.rows import TupleRow
from psycopg.sql import SQL, Composed

T = TypeVar("T")

Query = str | bytes | SQL | Composed


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

    @asynccontextmanager
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
    def __init__(self, block: AbstractContextManager[Any]) -> None:
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
