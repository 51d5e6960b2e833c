"""A test on each store within one run: for what compares their answers, and for laws, which cannot use the fixture."""

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from bot.store.sqlite.store import SqliteStore
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore


async def with_both(test: Callable[[AnyStore], Awaitable[None]]) -> None:
    """Run the test on an empty store of every sort."""
    with tempfile.TemporaryDirectory() as folder:
        for store in (MemoryStore(), SqliteStore(Path(folder) / "both.db")):
            await store.open()
            await test(store)
            await store.close()
