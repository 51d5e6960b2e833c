"""A test on each store within one run: for what compares their answers, and for laws, which cannot use the fixture."""

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from bot.store.postgres.store import PostgresStore
from bot.store.sqlite.store import SqliteStore
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore
from tests.stores.postgres_server import emptied_aside


async def with_both(test: Callable[[AnyStore], Awaitable[None]]) -> None:
    """Run the test on an empty store of every sort that needs no server."""
    with tempfile.TemporaryDirectory() as folder:
        await _with_each(test, MemoryStore(), SqliteStore(Path(folder) / "both.db"))


async def with_postgres(address: str, test: Callable[[AnyStore], Awaitable[None]]) -> None:
    """Run the test on an empty store in memory, and on one in the PostgreSQL database at the address."""
    with tempfile.TemporaryDirectory() as folder:
        await _with_each(test, MemoryStore(), PostgresStore(await emptied_aside(address), Path(folder), most=1))


async def _with_each(test: Callable[[AnyStore], Awaitable[None]], *stores: AnyStore) -> None:
    for store in stores:
        await store.open()
        await test(store)
        await store.close()
