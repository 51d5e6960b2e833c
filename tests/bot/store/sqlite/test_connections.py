"""Jobs that share a transaction: each is done or undone by itself, and all are undone with it. And what memory is held."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from bot.errors import StoreError
from bot.query.parse import parse
from bot.store.sqlite import connections
from bot.store.sqlite.connections import Readers, Writer
from bot.store.sqlite.store import SqliteStore
from tests.contract.records import records


@pytest.fixture
async def writer(tmp_path: Path) -> AsyncIterator[Writer]:
    made = Writer(tmp_path / "some.db")
    await made.write(lambda db: db.conn.execute("create table t (n integer primary key)"))
    yield made
    await made.close()


def keep(number: int) -> Callable[[Database], int]:
    def job(db: Database) -> int:
        db.execute("insert into t (n) values (?)", [number])
        return number

    return job


async def kept(writer: Writer) -> list[int]:
    return await writer.write(lambda db: [number for (number,) in db.execute("select n from t order by n").fetchall()])


async def test_each_of_many_jobs_gets_its_own_answer_and_is_kept(writer: Writer) -> None:
    assert await asyncio.gather(*(writer.write_shared(keep(number)) for number in range(200))) == list(range(200))
    assert await kept(writer) == list(range(200))


async def test_a_job_that_fails_takes_none_of_the_others_with_it(writer: Writer) -> None:
    def half(db: Database) -> None:
        keep(7)(db)
        raise ValueError("half done")

    jobs = [writer.write_shared(each) for each in (keep(1), half, keep(1), keep(2))]
    answers = await asyncio.gather(*jobs, return_exceptions=True)
    assert [type(each) for each in answers] == [int, ValueError, StoreError, int]
    assert await kept(writer) == [1, 2]


async def test_what_was_undone_together_has_failed_for_each(writer: Writer) -> None:
    def disk_full(db: Database) -> None:
        db.conn.execute("rollback")  # as SQLite itself does then
        raise OSError(28, "No space left on device")

    blocked = threading.Event()
    waiting = asyncio.create_task(writer.write(lambda db: blocked.wait()))
    jobs = [asyncio.create_task(writer.write_shared(each)) for each in (keep(1), disk_full, keep(2))]
    await asyncio.sleep(0)  # all of them wait for the thread now
    blocked.set()
    answers = await asyncio.gather(*jobs, return_exceptions=True)
    assert await waiting
    assert [type(each) for each in answers] == [StoreError, StoreError, StoreError]
    assert await kept(writer) == []


async def test_connections_let_go_of_their_caches_from_time_to_time(writer: Writer, tmp_path: Path) -> None:
    readers = Readers(tmp_path / "some.db")
    said: list[str] = []

    def count(db: Database) -> int:
        db.conn.set_trace_callback(said.append)
        return int(db.execute("select count(*) from t").fetchone()[0])

    for do in (readers.read, writer.write):
        await do(count)
        said.clear()
        assert {await do(count) for _ in range(connections.TIDY)} == {0}
        assert said.count("pragma shrink_memory") == 1
    await readers.close()


# --- rows and long reads


@pytest.fixture
async def store(tmp_path: Path, now: datetime) -> AsyncIterator[SqliteStore]:
    made = SqliteStore(tmp_path / "some.db")
    await made.open()
    await made.items.add(records(), now)
    yield made
    await made.close()


async def test_a_row_is_read_while_searches_wait_for_each_other(store: SqliteStore, now: datetime) -> None:
    ended: list[str] = []

    async def noted(name: str, read: Coroutine[Any, Any, object]) -> None:
        await read
        ended.append(name)

    searches = [
        noted("search", store.index.search(parse(f"(a* OR b*) -x{number} sort:new"), now, limit=200)) for number in range(60)
    ]
    await asyncio.gather(*searches, noted("row", store.facts.get("some")))
    assert ended.index("row") < 30, "the row was asked for last, and would come last in a queue of all"


async def test_long_reads_that_never_end_hold_up_no_row(store: SqliteStore) -> None:
    blocked = threading.Event()
    long = [asyncio.create_task(store.connections.read_long(lambda db: blocked.wait())) for _ in range(20)]
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(60):
            assert await store.facts.get("some") == ""
    finally:
        blocked.set()
    assert all(await asyncio.gather(*long))
