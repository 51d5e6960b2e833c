"""What the service does by itself, each job run by hand at times of a test's own."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.collect.collector import Collector
from bot.collect.polling import PollingSchedule
from bot.delivery import Deliverer, Preparer, Scheduler, SubscriptionResumer
from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.errors import SourceUnavailable, StoreError
from bot.models import Batch, DeliveryState, Limits, Topic
from bot.ports.runner import Job
from bot.query import parse
from bot.service.backups import Backups
from bot.service.heartbeat_file import read_alive, write_alive
from bot.service.jobs import DeliveryJobs, collecting, upkeep, write_heartbeat
from bot.sources.registry import AUTHORITY
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from tests.bot.deliveries import Harness, change, subscription
from tests.conftest import NOW
from tests.fakes.scripted import Scripted
from tests.fakes.transcript import Clock
from tests.fakes.works import paper
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore

DAY = timedelta(days=1)
KV = Topic(name="kv", title="KV cache", query=parse("cache"), min_score=0.0)


def named(jobs: Any) -> dict[str, Job]:
    return {job.name: job for job in jobs}


def pace() -> PollingSchedule:
    return PollingSchedule(timedelta(hours=1), random.Random(1))


# --- collecting


async def test_a_source_is_asked_when_it_is_due_and_not_in_between(now: datetime) -> None:
    store, clock, source = MemoryStore(), Clock(now), Scripted("arxiv", Batch(items=(paper("2603.00001"),)))
    (job,) = collecting(Collector(store, AUTHORITY), store.source_states, [source], pace(), clock)

    for minutes in (0, 1, 30, 59, 67, 68):
        clock.now = now + timedelta(minutes=minutes)
        await job.run()

    assert len(source.given) == 2
    assert await store.items.find(["arxiv:2603.00001"])


async def test_a_source_that_failed_is_told_of_and_asked_again_after_its_rest(now: datetime) -> None:
    store, clock, failed = MemoryStore(), Clock(now), list[str]()
    source = Scripted("arxiv", SourceUnavailable("503", retry_after=timedelta(minutes=7)))
    (job,) = collecting(Collector(store, AUTHORITY), store.source_states, [source], pace(), clock, failed.append)

    for minutes in (0, 6, 7, 8):
        clock.now = now + timedelta(minutes=minutes)
        await job.run()

    assert failed == ["arxiv", "arxiv"]


async def test_each_source_has_a_job_of_its_own(now: datetime) -> None:
    store = MemoryStore()
    jobs = collecting(
        Collector(store, AUTHORITY), store.source_states, [Scripted("arxiv"), Scripted("feed:lab")], pace(), Clock(now)
    )

    assert [job.name for job in jobs] == ["collect arxiv", "collect feed:lab"]


# --- looking after the data


async def test_what_is_old_is_dropped_once_a_day_also_over_restarts(now: datetime) -> None:
    clock = Clock(now)
    pruned: list[datetime] = []

    async def prune(**given: Any) -> dict[str, int]:
        pruned.append(given["now"])
        return {}

    store = MemoryStore()
    maintenance = instead(store.maintenance, prune=prune)
    for hours in (0, 1, 23, 24, 25, 49):
        clock.now = now + timedelta(hours=hours)
        await named(upkeep(store.facts, maintenance, 400 * DAY, 400 * DAY, None, clock))[
            "prune"
        ].run()  # a service begun anew each time
    assert pruned == [now, now + DAY, now + timedelta(hours=49)]

    clock.now = now - 30 * DAY  # the clock was set back: what stands is of a time that has not come
    await named(upkeep(store.facts, maintenance, 400 * DAY, 400 * DAY, None, clock))["prune"].run()
    assert pruned[-1] == clock.now


async def test_backups_are_made_where_a_folder_is_named(tmp_path: Path, now: datetime) -> None:
    store = SqliteStore(tmp_path / "b.sqlite3")
    await store.open()
    backups = Backups(tmp_path / "kept", DAY, 3)

    assert "backup" not in named(upkeep(store.facts, store.maintenance, DAY, DAY, None, Clock(now)))
    await named(upkeep(store.facts, store.maintenance, DAY, DAY, backups, Clock(now)))["backup"].run()
    await store.close()

    assert [at for at, _ in await asyncio.to_thread(backups.made)] == [now]


# --- delivering


class Service:
    """A subscription that is due at seven, and a service that keeps it."""

    def __init__(self, write: Callable[[datetime], Awaitable[None]], store: MemoryStore | None = None) -> None:
        self.harness = Harness(store=store)
        self.store, self.clock, self.chat = self.harness.store, self.harness.clock, self.harness.chat
        self.clock.now = NOW - timedelta(hours=2)
        context = self.harness.context()
        preparer = Preparer(
            context, Publisher(self.store, Extractive(), {}), RequestBuilder(self.store.workspaces, {"kv": KV}, Limits())
        )
        self.jobs = named(
            DeliveryJobs(Scheduler(context), preparer, Deliverer(context), SubscriptionResumer(context), write).jobs(
                self.clock
            )
        )

    async def subscribe(self) -> None:
        await self.store.workspaces.save_subscription(subscription(always=True), change(), replaces=0)

    async def round(self) -> None:
        for name in ("tick", "publish", "deliver", "settle", "tell"):
            await self.jobs[name].run()


async def shown(_: datetime) -> None:
    """A heartbeat that goes well."""


async def not_shown(_: datetime) -> None:
    raise StoreError("The disk is full.")


async def test_a_digest_is_posted_at_its_time_and_once() -> None:
    service = Service(shown)
    await service.subscribe()

    posted = []
    for minutes in (-120, -1, 0, 1, 60):
        service.clock.now = NOW + timedelta(minutes=minutes)
        for _ in range(2):
            await service.round()
        posted.append(len(service.chat.messages))

    assert posted == [0, 0, 1, 1, 1]


async def test_nothing_is_due_while_the_heartbeat_cannot_be_written() -> None:
    service = Service(not_shown)
    await service.subscribe()
    for minutes in (-120, 10):
        service.clock.now = NOW + timedelta(minutes=minutes)
        with pytest.raises(StoreError):
            await service.jobs["tick"].run()
        await service.jobs["publish"].run()
        await service.jobs["deliver"].run()

    assert not service.chat.messages
    assert (await service.store.ledger.counts())["due"] == 0


class Stuck(MemoryStore):
    """A database in which it takes long to find out what is due."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.goes_on = asyncio.Event(), asyncio.Event()
        self.kept, self.ledger = self.ledger, instead(self.ledger, subscriptions_due=self.subscriptions_due)

    async def subscriptions_due(self, now: datetime, *, limit: int = 500) -> Any:
        self.asked.set()
        await self.goes_on.wait()
        return await self.kept.subscriptions_due(now, limit=limit)


async def test_the_heart_beats_on_while_what_is_due_is_being_noticed() -> None:
    store, beats = Stuck(), list[datetime]()

    async def write(now: datetime) -> None:
        beats.append(now)

    service = Service(write, store)
    tick = asyncio.ensure_future(service.jobs["tick"].run())
    await store.asked.wait()
    for _ in range(3):
        service.clock.advance(timedelta(seconds=15))
        await service.jobs["beat"].run()
    assert beats[-1] == service.clock()
    store.goes_on.set()
    await tick


@pytest.mark.parametrize("order", [("tick", "beat"), ("beat", "tick")])
async def test_nothing_is_noticed_as_due_later_than_the_heartbeat_that_stands_and_heartbeats_never_overtake_each_other(
    order: Sequence[str],
) -> None:
    standing: list[datetime] = []
    writing = 0

    async def write(now: datetime) -> None:
        nonlocal writing
        writing += 1
        assert writing == 1  # two at once could leave the file later than the database, which then looks restored
        await asyncio.sleep(0)
        standing.append(now)
        writing -= 1

    service = Service(write)
    await service.subscribe()
    await service.jobs["tick"].run()
    service.clock.now = NOW
    running = [asyncio.ensure_future(service.jobs[name].run()) for name in order]
    while not all(each.done() for each in running):
        service.clock.advance(timedelta(seconds=1))
        await asyncio.sleep(0)
        found = await service.store.ledger.occurrences(service.clock())
        assert all(each.due <= standing[-1] for each in found)
    assert standing == sorted(standing)
    assert len(standing) == 3


async def test_once_asked_to_stop_nothing_is_sent_and_what_is_due_stays_claimable() -> None:
    service = Service(shown)
    await service.subscribe()
    await service.jobs["tick"].run()
    service.clock.now = NOW
    await service.jobs["tick"].run()
    await service.jobs["publish"].run()

    for job in service.jobs.values():
        if job.stop is not None:
            job.stop()
    await service.jobs["deliver"].run()

    assert not service.chat.messages
    assert [each.state for each in await service.store.ledger.due_deliveries(NOW)] == [DeliveryState.PENDING]


async def test_the_heartbeat_stands_in_the_database_and_then_beside_it(tmp_path: Path, now: datetime) -> None:
    store = SqliteStore(tmp_path / "b.sqlite3")
    await store.open()
    await write_heartbeat(store.facts, write_alive, tmp_path / "b.sqlite3", now)

    known = datetime.fromisoformat(await store.facts.get("heartbeat"))
    assert known == await asyncio.to_thread(read_alive, tmp_path / "b.sqlite3") == now
    await store.close()
