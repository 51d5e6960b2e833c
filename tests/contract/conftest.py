"""Each store, made empty: a test that asks for `store` runs once on every one of them."""

import contextlib
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.store.index.follower import IndexFollower
from bot.store.postgres.store import PostgresStore
from bot.store.sqlite.store import SqliteStore
from tests.stores import AnyStore
from tests.stores.copied import CopiedStore, followed
from tests.stores.memory import MemoryStore
from tests.stores.postgres_server import NoServerError, emptied_aside, programs


def _memory(folder: Path) -> AnyStore:
    return MemoryStore()


def _sqlite(folder: Path) -> AnyStore:
    return SqliteStore(folder / "broadsheet.db")


def _tantivy(folder: Path) -> AnyStore:
    return SqliteStore(folder / "broadsheet.db", follower=IndexFollower)


def _copied(folder: Path) -> AnyStore:
    return CopiedStore(folder / "broadsheet.db")


def _postgres(folder: Path) -> AnyStore:
    raise AssertionError("made on the server of the tests")


# What finds items is asked on both search engines, all else on one store of each sort.
_SEARCHING = ("test_searching", "test_meaning", "test_months")
_IN_A_COPY = (*_SEARCHING, "test_similar", "test_pages", "test_values")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "store" in metafunc.fixturenames:
        made = {"memory": _memory, "sqlite": _sqlite, "postgres": _postgres}
        if metafunc.module.__name__.rpartition(".")[2] in _SEARCHING:
            made["tantivy"] = _tantivy
        if metafunc.module.__name__.rpartition(".")[2] in _IN_A_COPY:
            made["copied"] = _copied
        metafunc.parametrize("store", made.values(), ids=made, indirect=True)


@pytest.fixture
async def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AnyStore]:
    make: Callable[[Path], AnyStore] = request.param
    made: AnyStore
    if make is _postgres:
        with contextlib.suppress(NoServerError):  # the pg_dump of a server that was given is on the path
            monkeypatch.setenv("PATH", str(programs()), prepend=os.pathsep)
        made = PostgresStore(await emptied_aside(request.getfixturevalue("postgres")), tmp_path, most=4)
        made.index = followed(made.index)  # type: ignore[assignment]
    else:
        made = make(tmp_path)
    await made.open()
    if isinstance(made, SqliteStore) and made.follower is not None:
        await made.follower.built()
    yield made
    if isinstance(made, SqliteStore) and made.follower is not None:
        assert made.follower.answered == made.follower.asked  # and not FTS5 in its place
        assert not made.follower.doubted
    await made.close()
