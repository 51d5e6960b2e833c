"""What wakes a worker for a lane, by procrastinate on a real server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from bot.errors import StoreError
from bot.ports.shared.lanes import DELIVER, MAKE, LaneJob
from bot.store.postgres.connections import Connections
from bot.store.postgres.jobs import PostgresLaneJobs, due_steps, prepare_jobs
from tests.fakes.patience import PATIENCE
from tests.stores import postgres_server

LANE = "slack:3"


@asynccontextmanager
async def opened(address: str, **times: timedelta) -> AsyncIterator[PostgresLaneJobs]:
    """One process's connections, and its jobs."""
    connections = Connections(address)
    await connections.open()
    jobs = PostgresLaneJobs(connections, **times)
    try:
        await connections.bare(prepare_jobs)
        await jobs.open()
        yield jobs
    finally:
        await jobs.close()
        await connections.close()


@pytest.fixture
async def jobs(postgres: str) -> AsyncIterator[PostgresLaneJobs]:
    async with opened(postgres) as found:
        await postgres_server.emptied_aside(postgres)
        yield found


class Desk:
    """Somebody who works on lanes, and is told by a test when each is done."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, str]] = []
        self.done = asyncio.Event()

    async def work(self, verb: str, lane: str) -> None:
        self.begun.append((verb, lane))
        await self.done.wait()


async def until(happened: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not happened():  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.01)


async def cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task], timeout=PATIENCE)


async def test_of_a_lane_one_job_waits_and_one_runs(jobs: PostgresLaneJobs) -> None:
    desk = Desk()
    assert await jobs.defer(MAKE, LANE)
    assert not await jobs.defer(MAKE, LANE)
    working = asyncio.create_task(jobs.work([MAKE], desk.work, 4))
    await until(lambda: desk.begun)

    assert await jobs.defer(MAKE, LANE)
    assert not await jobs.defer(MAKE, LANE)
    assert await jobs.defer(MAKE, "slack:4")
    await until(lambda: len(desk.begun) == 2)

    assert desk.begun == [(MAKE, LANE), (MAKE, "slack:4")]
    assert set(await jobs.jobs()) == {
        LaneJob(MAKE, LANE, True),
        LaneJob(MAKE, LANE, False),
        LaneJob(MAKE, "slack:4", True),
    }
    desk.done.set()
    await until(lambda: len(desk.begun) == 3)
    await cancelled(working)
    assert await jobs.jobs() == []


async def test_a_worker_takes_the_verbs_that_are_its_own(jobs: PostgresLaneJobs) -> None:
    desk = Desk()
    desk.done.set()
    await jobs.defer(DELIVER, LANE)
    await jobs.defer(MAKE, LANE)
    working = asyncio.create_task(jobs.work([MAKE], desk.work, 4))
    await until(lambda: desk.begun)
    await cancelled(working)

    assert desk.begun == [(MAKE, LANE)]
    assert await jobs.jobs() == [LaneJob(DELIVER, LANE, False)]


async def test_a_worker_that_is_to_end_takes_no_further_lane_and_ends_the_one_it_has(jobs: PostgresLaneJobs) -> None:
    desk = Desk()
    await jobs.defer(MAKE, LANE)
    working = asyncio.create_task(jobs.work([MAKE], desk.work, 1))
    await until(lambda: desk.begun)
    await jobs.defer(MAKE, LANE)
    working.cancel()
    await asyncio.sleep(0)
    assert not working.done()

    desk.done.set()
    await asyncio.wait([working], timeout=PATIENCE)
    assert desk.begun == [(MAKE, LANE)]
    assert await jobs.jobs() == [LaneJob(MAKE, LANE, False)]


async def test_what_fails_is_gone_and_can_be_asked_for_again(jobs: PostgresLaneJobs) -> None:
    tried: list[str] = []

    async def fail(verb: str, lane: str) -> None:
        tried.append(lane)
        raise ValueError("no")

    await jobs.defer(MAKE, LANE)
    working = asyncio.create_task(jobs.work([MAKE], fail, 1))
    await until(lambda: tried)
    await jobs.defer(MAKE, LANE)
    await until(lambda: len(tried) == 2)
    await cancelled(working)
    assert await jobs.jobs() == []


async def test_what_a_worker_had_that_is_gone_is_worked_on_by_another_one(postgres: str, jobs: PostgresLaneJobs) -> None:
    first, second, short = Desk(), Desk(), timedelta(seconds=0.5)
    # One that gives no sign of life: to the others it is as one that was killed.
    async with opened(postgres, beat=timedelta(hours=1), silent=short) as gone, opened(postgres, silent=short) as here:
        await gone.defer(DELIVER, LANE)
        held = asyncio.create_task(gone.work([DELIVER], first.work, 1))
        await until(lambda: first.begun)
        assert await here.rescue() == []
        rescued = list[LaneJob]()
        async with asyncio.timeout(PATIENCE):
            while not rescued:
                await asyncio.sleep(0.1)
                rescued += await here.rescue()
        assert rescued == [LaneJob(DELIVER, LANE, True)]

        working = asyncio.create_task(here.work([DELIVER], second.work, 1))
        await until(lambda: second.begun)
        first.done.set()
        second.done.set()
        await cancelled(held)
        await cancelled(working)
        assert await here.jobs() == []


async def test_who_stood_still_and_was_taken_for_gone_is_told_so_in_words(postgres: str, jobs: PostgresLaneJobs) -> None:
    desk = Desk()
    working = asyncio.create_task(jobs.work([DELIVER], desk.work, 1))
    connections = Connections(postgres)
    await connections.open()
    async with asyncio.timeout(PATIENCE):
        while not await connections.write(  # noqa: ASYNC110 - looked at from outside
            lambda db: _rows(db, "delete from procrastinate.procrastinate_workers returning 1")
        ):
            await asyncio.sleep(0.05)
    await connections.close()
    await jobs.defer(DELIVER, LANE)
    with pytest.raises(StoreError, match=r"stood still .* begins anew by itself"):
        await asyncio.wait_for(working, PATIENCE)
    assert not desk.begun

    again = asyncio.create_task(jobs.work([DELIVER], desk.work, 1))
    await until(lambda: desk.begun)
    desk.done.set()
    await cancelled(again)


async def test_nothing_that_it_says_of_a_server_that_is_away_holds_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.store.postgres.jobs._PATIENCE", timedelta(seconds=1))
    connections = Connections("postgresql://anna:secret@127.0.0.1:1/papers?connect_timeout=1")
    jobs = PostgresLaneJobs(connections)
    with pytest.raises(StoreError) as raised:
        await jobs.defer(MAKE, LANE)
    assert "secret" not in str(raised.value)


async def test_its_tables_are_made_once_and_stand_aside(postgres: str) -> None:
    connections = Connections(postgres)
    await connections.open()
    try:
        await connections.bare(prepare_jobs)
        await connections.bare(prepare_jobs)
        rows = await connections.read(
            lambda db: _rows(db, "select schemaname from pg_tables where tablename like 'procrastinate%'")
        )
    finally:
        await connections.close()
    assert set(rows) == {("procrastinate",)}


async def _rows(db: object, query: str) -> list[tuple[object, ...]]:
    cursor = await db.execute(query)  # type: ignore[attr-defined]
    return list(await cursor.fetchall())


def test_what_a_step_takes_away_waits_for_the_version_after_it() -> None:
    names = ["03.03.00_01_pre_a", "03.04.00_01_pre_b", "03.04.00_50_post_b"]
    taken = frozenset({"03.03.00_01_pre_a"})

    assert due_steps(names, taken) == ["03.04.00_01_pre_b"]
    assert due_steps([*names, "03.05.00_01_pre_c"], taken | {"03.04.00_01_pre_b"}) == [
        "03.04.00_50_post_b",
        "03.05.00_01_pre_c",
    ]
