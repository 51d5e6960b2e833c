"""Working on lanes beside other processes: woken by jobs on a real server, on a ledger in memory."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.delivery import Deliverer, DeliveryContext, Preparer
from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.errors import StoreError
from bot.models import Delivery, DeliveryState, Limits, OccurrenceState, ProcessState, Topic, lane_of
from bot.ports.shared.lanes import DELIVER, MAKE, LaneJob
from bot.query import parse
from bot.service.lanes import JOB, LANE, PROCESS, LaneParts, LaneWorker
from bot.service.supervise import Outage
from bot.store.postgres.connections import Connections
from bot.store.postgres.jobs import PostgresLaneJobs, prepare_jobs
from bot.summarise.extractive import Extractive
from tests.bot.deliveries import Harness, change, occurrence, subscription
from tests.conftest import NOW
from tests.fakes.patience import PATIENCE
from tests.fakes.transcript import delivery
from tests.fakes.works import paper
from tests.stores import postgres_server
from tests.stores.instead import instead
from tests.stores.memory_lanes import MemoryLanes

KV = Topic(name="kv", title="KV cache", query=parse("cache"), min_score=0.0)
LANE_OF_CHAT = lane_of("chat:T1")
MINUTE = timedelta(minutes=1)


@asynccontextmanager
async def opened(address: str) -> AsyncIterator[PostgresLaneJobs]:
    connections = Connections(address)
    await connections.open()
    jobs = PostgresLaneJobs(connections)
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


class Process:
    """One that works on lanes for some verbs."""

    def __init__(
        self, harness: Harness, jobs: PostgresLaneJobs, *verbs: str, send: Callable[[Delivery], Awaitable[str]] | None = None
    ) -> None:
        store = harness.store
        chat = instead(harness.chat, **({"send": send} if send else {}))
        context = DeliveryContext(store, store.ledger, {"chat": chat}, harness.settings)
        publisher = Publisher(store, Extractive(), {})
        requests = RequestBuilder(store.workspaces, {"kv": KV}, Limits())
        parts = LaneParts(
            MemoryLanes(store.ledger),
            jobs,
            store.processes,
            lambda ledger: Preparer(replace(context, ledger=ledger), publisher, requests),
            lambda ledger: Deliverer(replace(context, ledger=ledger), pause=harness.clock.pause),
        )
        self.worker = LaneWorker(parts, verbs, harness.clock, Outage(), process="here")
        self.task = asyncio.ensure_future(self.worker.run())

    async def end(self) -> None:
        self.worker.stop()
        self.task.cancel()
        await asyncio.wait([self.task])
        await self.worker.ended(timedelta(seconds=PATIENCE))


@asynccontextmanager
async def ending(*processes: Process) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await asyncio.gather(*(each.end() for each in processes))


async def until(happened: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await happened():  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.02)


async def states(harness: Harness) -> Sequence[DeliveryState]:
    return sorted(each.state for each in (await harness.rows()).values())


async def test_what_is_due_is_made_by_one_process_and_posted_by_another_once(jobs: PostgresLaneJobs) -> None:
    harness = Harness()
    store = harness.store
    await store.items.add([paper("2603.00001", title="A cache")], NOW - MINUTE)
    made = await store.workspaces.save_subscription(subscription(always=True), change(), replaces=0)
    await store.ledger.open_occurrences([occurrence(made)], made, NOW + timedelta(days=1))
    makes, delivers = Process(harness, jobs, MAKE), Process(harness, jobs, DELIVER)
    async with ending(makes, delivers):
        await makes.worker.wake()
        await until(lambda: _is_all(harness, DeliveryState.DONE))

    (row,) = (await harness.rows()).values()
    assert harness.chat.posted(row.id) == 1
    assert [each.state for each in await store.ledger.recent_occurrences("chat:T1")] == [OccurrenceState.MADE]


async def _is_all(harness: Harness, state: DeliveryState) -> bool:
    return set(await states(harness)) == {state}


class Held:
    """A platform of which one call is under way until a test lets it end."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()

    async def send(self, given: Delivery) -> str:
        if not self.begun.is_set():
            self.begun.set()
            await self.may_end.wait()
        return await self._harness.chat.send(given)


async def test_who_ends_hands_its_lane_back_at_once_and_ends_what_is_in_flight(
    postgres: str, jobs: PostgresLaneJobs
) -> None:
    harness = Harness()
    held = Held(harness)
    await harness.plant([delivery(1, now=NOW)])
    first = Process(harness, jobs, DELIVER, send=held.send)
    async with opened(postgres) as others:
        second = Process(harness, others, DELIVER)
        await second.end()  # not yet: nobody else is there while the first one begins
        async with ending(first):
            await first.worker.wake()
            await asyncio.wait_for(held.begun.wait(), PATIENCE)
            await harness.plant([delivery(number, now=NOW) for number in range(2, 6)])
            first.worker.stop()
            await until(lambda: _waits(jobs))
            assert first.worker.in_hand == 1

            second = Process(harness, others, DELIVER)
            async with ending(second):
                await until(lambda: _are_done(harness, 4))
                assert await states(harness) == [*[DeliveryState.DONE] * 4, DeliveryState.SENDING]
                held.may_end.set()
                await until(lambda: _is_all(harness, DeliveryState.DONE))

    assert [harness.chat.posted(each) for each in await harness.rows()] == [1] * 5


async def _waits(jobs: PostgresLaneJobs) -> bool:
    return await jobs.jobs() == [LaneJob(DELIVER, LANE_OF_CHAT, False)]


async def _are_done(harness: Harness, many: int) -> bool:
    return (await states(harness)).count(DeliveryState.DONE) == many


async def test_what_may_have_been_posted_is_settled_while_others_of_its_lane_are_posted(jobs: PostgresLaneJobs) -> None:
    harness = Harness()
    held = Held(harness)
    harness.clock.now = NOW - 5 * MINUTE
    await harness.plant([delivery(1, now=harness.clock.now)])
    claimed = await harness.store.ledger.claim((await harness.rows())["d1p1"], harness.clock.now, MINUTE)
    assert claimed is not None
    await harness.store.ledger.record(replace(claimed, state=DeliveryState.AMBIGUOUS, next_at=NOW))
    harness.clock.now = NOW
    await harness.plant([delivery(2, now=NOW)])
    worker = Process(harness, jobs, DELIVER, send=held.send)
    async with ending(worker):
        await worker.worker.wake()
        await asyncio.wait_for(held.begun.wait(), PATIENCE)
        try:
            await until(lambda: _are_done(harness, 1))
            assert await states(harness) == [DeliveryState.DONE, DeliveryState.SENDING]
        finally:
            held.may_end.set()


async def test_the_sweeper_finds_a_lane_that_nobody_is_woken_for(jobs: PostgresLaneJobs) -> None:
    harness = Harness()
    await harness.plant([delivery(1, now=NOW - MINUTE)])
    worker = Process(harness, jobs, DELIVER)
    async with ending(worker):
        await worker.worker.sweep()
        await until(lambda: _is_all(harness, DeliveryState.DONE))

    assert worker.worker.rescues == {LANE: 1, JOB: 0, PROCESS: 0}


async def test_a_process_that_is_silent_is_forgotten_and_its_leases_are_free(jobs: PostgresLaneJobs) -> None:
    harness = Harness()
    harness.clock.now = NOW
    store = harness.store
    gone = ProcessState("gone", ("clock",), "1", 1, "host", NOW, NOW)
    await store.processes.beat(gone)
    await store.leases.take("clock", "gone", timedelta(hours=1))
    (known,) = await store.processes.every()
    worker = Process(harness, jobs, DELIVER)
    async with ending(worker):
        harness.clock.now = known.beat + MINUTE
        await worker.worker.sweep()
        assert await store.processes.every()
        harness.clock.now = known.beat + 2 * MINUTE
        await worker.worker.sweep()

    assert await store.processes.every() == []
    assert await store.leases.held() == []
    assert worker.worker.rescues[PROCESS] == 1


async def test_what_fails_for_want_of_the_store_is_told_once_and_goes_on_by_itself(
    jobs: PostgresLaneJobs, caplog: pytest.LogCaptureFixture
) -> None:
    harness, away = Harness(), asyncio.Event()
    away.set()
    await harness.plant([delivery(1, now=NOW)])
    inner = harness.store.ledger.due_deliveries
    tries: list[int] = []

    async def due(*given: Any, **more: Any) -> Any:
        tries.append(1)
        if away.is_set():
            raise StoreError("The database is away.")
        return await inner(*given, **more)

    harness.store.ledger = instead(harness.store.ledger, due_deliveries=due)
    worker = Process(harness, jobs, DELIVER)
    caplog.set_level("INFO")
    async with ending(worker):
        for tried in (1, 2, 3):
            await jobs.defer(DELIVER, LANE_OF_CHAT)
            await until(lambda tried=tried: _reached(tries, tried))  # type: ignore[misc]
        away.clear()
        await until(lambda: _woken(worker, harness))

    assert caplog.text.count("The database is away.") == 1
    assert caplog.text.count("the database does its work again") == 1


async def _woken(worker: Process, harness: Harness) -> bool:
    """Say whether all is posted; else it is looked for anew, as it is every few seconds: the last try may just be ending."""
    await worker.worker.wake()
    return await _is_all(harness, DeliveryState.DONE)


async def _reached(tries: list[int], many: int) -> bool:
    return len(tries) >= many
