"""Jobs that share a transaction: each is done or undone by itself, and all are undone with it. And what memory is held."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from sqlite_utils import Database

from bot.errors import StoreError
from bot.store.sqlite import connections
from bot.store.sqlite.connections import Readers, Writer


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
