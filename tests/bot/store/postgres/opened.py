"""Two processes' stores on one database, and what a read of a store looks at."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from bot.store.postgres.connections import Connections, Db
from bot.store.postgres.store import PostgresStore
from tests.stores.postgres_server import emptied_aside

T = TypeVar("T")

_LOOKED_AT = """
    select coalesce(sum(pg_stat_get_xact_blocks_fetched(oid)), 0) from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'i')
"""
_WAITING = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


@contextlib.asynccontextmanager
async def two(address: str, folder: Path) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    """Open two stores, each with connections of its own, on one empty database."""
    first, second = PostgresStore(address, folder), PostgresStore(address, folder)
    await first.open()
    await emptied_aside(address)
    await second.open()
    try:
        yield first, second
    finally:
        await second.close()
        await first.close()


async def until_waiting(address: str, task: asyncio.Task[Any]) -> None:
    """Return once somebody waits for a lock that another transaction holds; fails where the task ends before."""
    async with await psycopg.AsyncConnection.connect(address, autocommit=True) as db:
        while True:
            row = await (await db.execute(_WAITING)).fetchone()
            if row and row[0]:
                return
            assert not task.done(), "it waited for nobody"
            await asyncio.sleep(0.01)


async def executed(address: str, *statements: str) -> None:
    """Do something to the database behind the back of the stores."""
    async with await psycopg.AsyncConnection.connect(address, autocommit=True) as db:
        for statement in statements:
            await db.execute(statement.encode())


class Counting(Connections):
    """Connections of which one counts the blocks of tables and indexes that the last read looked at."""

    looked_at = 0

    async def read(self, job: Callable[[Db], Awaitable[T]], *, view: bool = False) -> T:
        """Do so as usual, in a transaction; what the connection looked at before it is not counted."""

        async def counted(db: Db) -> T:
            before = await _looked_at(db)
            found = await job(db)
            self.looked_at = await _looked_at(db) - before
            return found

        return await super().read(counted, view=True)


async def _looked_at(db: Db) -> int:
    row = await (await db.execute(_LOOKED_AT)).fetchone()
    return int(row[0]) if row else 0
