"""Each store, made empty: a test that asks for `store` runs once on every one of them."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.store.sqlite.store import SqliteStore
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore


def _memory(folder: Path) -> AnyStore:
    return MemoryStore()


def _sqlite(folder: Path) -> AnyStore:
    return SqliteStore(folder / "broadsheet.db")


@pytest.fixture(params=[_memory, _sqlite], ids=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[AnyStore]:
    make: Callable[[Path], AnyStore] = request.param
    made = make(tmp_path)
    await made.open()
    yield made
    await made.close()
