"""Everything moves from one kind of store to the other and back, and is compared row by row."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.errors import StoreError, UsageError
from bot.models import And, Preferences, Query
from bot.ports.facts import Facts
from bot.ports.maintenance import COPYING, Row, Rows, Table
from bot.store.postgres.store import PostgresStore
from bot.store.sqlite.store import SqliteStore
from bot.store.transfer import Moved, Progress, compared, moved
from tests.bot.store.filled import filled
from tests.conftest import NOW
from tests.contract.made import change, paper
from tests.stores import postgres_server
from tests.stores.instead import instead

Movable = SqliteStore | PostgresStore


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "one.sqlite3")
    await store.open()
    await filled(store)
    yield store
    await store.close()


@pytest.fixture
async def postgres_store(postgres_address: str, worker_id: str, tmp_path: Path) -> AsyncIterator[PostgresStore]:
    name = f"broadsheet_transfer_{worker_id}"
    await asyncio.to_thread(postgres_server.dropped, postgres_address, name)
    store = PostgresStore(await asyncio.to_thread(postgres_server.database, postgres_address, name), tmp_path / "copy")
    await store.open()
    yield store
    await store.close()
    await asyncio.to_thread(postgres_server.dropped, postgres_address, name)


def sides(source: Movable, target: Movable) -> tuple[tuple[Rows, Facts], tuple[Rows, Facts]]:
    return (source.rows, source.facts), (target.rows, target.facts)


async def test_everything_moves_to_postgresql_and_back_and_is_the_same(
    sqlite: SqliteStore, postgres_store: PostgresStore, tmp_path: Path
) -> None:
    told: list[Progress] = []
    there = await moved(*sides(sqlite, postgres_store), told.append)
    assert (there.differences, there.written > 100, there.rows) == (0, True, there.written)
    assert [name for name, each in (await sqlite.rows.tables()).items() if not await sqlite.rows.count(each)] == []
    assert {each.table for each in told} == (await sqlite.rows.tables()).keys()
    assert [each for each in told if each.done > each.of] == []

    back = SqliteStore(tmp_path / "two.sqlite3")
    await back.open()
    assert await moved(*sides(postgres_store, back)) == there
    assert await compared(sqlite.rows, back.rows) == Moved(there.rows, 0)
    assert await back.maintenance.check() == []
    query = Query("", And(()))
    assert await back.index.search(query, NOW, limit=50) == await sqlite.index.search(query, NOW, limit=50)
    await back.close()


async def test_a_file_moves_to_another_file(sqlite: SqliteStore, tmp_path: Path) -> None:
    other = SqliteStore(tmp_path / "two.sqlite3")
    await other.open()
    there = await moved(*sides(sqlite, other))
    assert (there.differences, there.rows) == (0, there.written)
    assert await other.maintenance.check() == []
    await other.close()


async def test_what_is_stored_after_the_move_has_higher_numbers_than_what_was_moved(
    sqlite: SqliteStore, postgres_store: PostgresStore
) -> None:
    await moved(*sides(sqlite, postgres_store))
    before, number = await sqlite.items.last_arrival(), await sqlite.items.last_change()
    await postgres_store.items.add([paper(9999)], NOW)
    assert await postgres_store.items.last_arrival() > before
    assert await postgres_store.items.last_change() > number
    await postgres_store.workspaces.save_preferences("T9", Preferences(), change())


async def test_what_was_stopped_goes_on_where_it_was_and_writes_nothing_again(
    sqlite: SqliteStore, postgres_store: PostgresStore
) -> None:
    writes = Counter[str]()

    async def stopped(table: Table, columns: list[str], after: Row | None, rows: list[Row]) -> None:
        writes[table.name] += 1
        if len(writes) > 4:
            raise StoreError("The server went away.")
        await postgres_store.rows.replace(table, columns, after, rows)

    with pytest.raises(StoreError, match="went away"):
        await moved((sqlite.rows, sqlite.facts), (instead(postgres_store.rows, replace=stopped), postgres_store.facts))
    assert await postgres_store.facts.get(COPYING) == sqlite.rows.name
    stood = sum([await postgres_store.rows.count(each) for each in (await postgres_store.rows.tables()).values()])
    rest = await moved(*sides(sqlite, postgres_store))
    assert (rest.differences, rest.written) == (0, rest.rows - stood)
    assert await postgres_store.facts.get(COPYING) == ""


async def test_what_was_changed_meanwhile_is_moved_again_and_what_is_gone_goes(
    sqlite: SqliteStore, postgres_store: PostgresStore
) -> None:
    await moved(*sides(sqlite, postgres_store))
    await postgres_store.facts.set(COPYING, sqlite.rows.name)
    await sqlite.items.add([paper(1, title="Another title"), paper(9)], NOW, retired=[paper(2).key])
    assert (await compared(sqlite.rows, postgres_store.rows)).differences > 0
    assert (await moved(*sides(sqlite, postgres_store))).differences == 0
    assert await compared(sqlite.rows, postgres_store.rows) == await compared(postgres_store.rows, sqlite.rows)


async def test_a_database_that_holds_something_is_left_as_it_is(sqlite: SqliteStore, tmp_path: Path) -> None:
    other = SqliteStore(tmp_path / "two.sqlite3")
    await other.open()
    await other.items.add([paper(7)], NOW)
    with pytest.raises(UsageError, match="holds something already"):
        await moved(*sides(sqlite, other))
    assert await other.items.last_arrival() == 1
    await other.close()


async def test_databases_of_two_versions_are_told_apart(sqlite: SqliteStore, tmp_path: Path) -> None:
    async def tables() -> dict[str, Table]:
        return {name: each for name, each in (await sqlite.rows.tables()).items() if name != "items"}

    with pytest.raises(StoreError, match="only one of them has items"):
        await compared(sqlite.rows, instead(sqlite.rows, tables=tables))
