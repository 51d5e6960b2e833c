"""What a digest looks at: everything stored since the one before it, whatever clocks and collections do meanwhile."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.collect.collector import Collector
from bot.digest.publisher import Publisher
from bot.models import (
    Batch,
    DeliveryState,
    Digest,
    DigestRequest,
    Interest,
    Item,
    Occurrence,
    OccurrenceState,
    SourceState,
    Topic,
)
from bot.query import parse
from bot.sources.registry import AUTHORITY
from bot.summarise.extractive import Extractive
from tests.bot.handlers.askers import Asker, asker
from tests.contract.test_ledger import LEASE, part
from tests.fakes.scripted import Scripted
from tests.fakes.works import paper
from tests.stores.memory import MemoryStore

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
TOPIC = Topic(name="kv", title="KV cache", query=parse("cache"), interests=(Interest("KV cache", 2.0),))


class Slow(Scripted):
    """A source that gives its second batch when it is told to."""

    def __init__(self, *batches: Batch) -> None:
        super().__init__("arxiv", *batches)
        self.half_way, self.goes_on = asyncio.Event(), asyncio.Event()

    async def collect(self, state: SourceState, now: datetime) -> AsyncGenerator[Batch, None]:
        first, *others = (step for step in self.steps if isinstance(step, Batch))
        yield first
        self.half_way.set()
        await self.goes_on.wait()
        for each in others:
            yield each


class Collecting:
    """A collection that stands half-way inside the block, and has ended after it."""

    def __init__(self, store: MemoryStore, now: datetime, *titles: str) -> None:
        batches = [Batch(items=(about(number, title),)) for number, title in enumerate(titles, start=1)]
        self._source = Slow(*batches)
        self._going = asyncio.ensure_future(Collector(store, AUTHORITY).collect([self._source], now))

    async def __aenter__(self) -> None:
        await self._source.half_way.wait()

    async def __aexit__(self, *_: object) -> None:
        self._source.goes_on.set()
        await self._going


def about(number: int, title: str) -> Item:
    return paper(f"2603.{number:05}", title=title, abstract=f"{title}. We measure it on GPUs.")


def titles(digest: Digest) -> Sequence[str]:
    return sorted(entry.ranked.item.title for entry in digest.entries)


def publisher_of(store: MemoryStore) -> Publisher:
    return Publisher(store, Extractive(), {"arxiv": "arXiv"})


REQUEST = DigestRequest(TOPIC, "local", "local")


@pytest.fixture
async def ada(now: datetime) -> Asker:
    """Ada, in a workspace where nothing was collected yet."""
    return asker(MemoryStore(), now)


async def first_digest(ada: Asker, now: datetime) -> Digest:
    (subscription,) = await ada.here()
    request = await ada.context.request(ada.actor, TOPIC, subscription)
    return await ada.context.previewer.preview(request, now)


async def test_what_a_collection_stores_after_somebody_subscribed_is_in_the_first_digest(ada: Asker) -> None:
    store = ada.context.store
    assert isinstance(store, MemoryStore)
    async with Collecting(store, ada.now, "Paging the KV cache", "Sharding a cache"):
        await ada.at(ada.now + MINUTE).ask("subscribe kv daily at 12:00")

    digest = await first_digest(ada, ada.now + 5 * HOUR)

    assert (titles(digest), digest.coverage.seen) == (["Sharding a cache"], 1)


async def test_what_a_collection_stores_after_a_digest_was_made_is_in_the_next(now: datetime) -> None:
    store = MemoryStore()
    publisher = publisher_of(store)
    async with Collecting(store, now, "Paging the KV cache", "Sharding a cache"):
        (first,) = await publisher.publish([REQUEST], now + MINUTE, record=True)

    (second,) = await publisher.publish([REQUEST], now + DAY, record=True)

    assert [titles(first), titles(second)] == [["Paging the KV cache"], ["Sharding a cache"]]
    assert [first.coverage.seen, second.coverage.seen] == [1, 1]


@pytest.mark.parametrize("off", [-300 * DAY, -HOUR, HOUR, 300 * DAY], ids=["far behind", "behind", "ahead", "far ahead"])
async def test_no_clock_hides_what_was_stored_by_it(now: datetime, off: timedelta) -> None:
    store = MemoryStore()
    publisher = publisher_of(store)
    await publisher.publish([REQUEST], now, record=True)
    await store.items.add([about(1, "Paging the KV cache")], now + off)

    (digest,) = await publisher.publish([REQUEST], now + DAY, record=True)
    (after,) = await publisher.publish([REQUEST], now + 2 * DAY, record=True)

    assert (titles(digest), digest.coverage.seen, after.coverage.seen) == (["Paging the KV cache"], 1, 0)


async def test_the_first_digest_of_a_week_looks_at_the_whole_week(now: datetime) -> None:
    store = MemoryStore()
    asked = replace(REQUEST, baseline=now)
    await store.items.add([about(1, "Paging the KV cache")], now + HOUR)

    digest = await publisher_of(store).preview(asked, now + 7 * DAY)

    assert (titles(digest), digest.since) == (["Paging the KV cache"], now)


# --- pauses


async def posted(ada: Asker, now: datetime, ends: DeliveryState = DeliveryState.DONE) -> Sequence[str]:
    """Return the titles of the digest that is made then; its message ends so."""
    (made,) = await ada.here()
    ledger = ada.context.store.ledger
    due = Occurrence(
        subscription=made.id, workspace=made.workspace, channel=made.channel, topic="kv", day=now.date(), due=now
    )
    await ledger.open_occurrences([due], made, now)
    digest = replace(await first_digest(ada, now), day=due.day)
    pending = replace(part(due), made_at=now)
    closed = replace(due, state=OccurrenceState.MADE)
    assert await ledger.close_occurrence(closed, now, digest=digest, deliveries=[pending])
    held = await ledger.claim(pending, now, LEASE)
    assert held is not None
    message = "m" if ends is DeliveryState.DONE else ""
    assert await ledger.record(replace(held, state=ends, message=message), unposted=not message)
    return titles(digest)


async def test_a_pause_in_which_nothing_was_due_leaves_out_nothing_that_was_stored_late(ada: Asker) -> None:
    store, noon = ada.context.store, ada.now.replace(hour=12, minute=0)
    assert isinstance(store, MemoryStore)
    await ada.ask("subscribe kv daily at 12:00")
    async with Collecting(store, noon - MINUTE, "Paging the KV cache", "Sharding a cache"):
        assert await posted(ada, noon) == ["Paging the KV cache"]
    await ada.at(noon + HOUR).ask("pause kv")
    await ada.at(noon + 2 * HOUR).ask("resume kv")

    assert await posted(ada, noon + DAY) == ["Sharding a cache"]


@pytest.mark.parametrize(
    ("pause", "resumed"), [("pause kv", HOUR), ("pause kv", DAY + HOUR), ("pause kv until 2d", 0 * DAY)]
)
async def test_a_pause_leaves_out_nothing_of_a_digest_that_was_dropped_before(
    ada: Asker, pause: str, resumed: timedelta
) -> None:
    store, noon = ada.context.store, ada.now.replace(hour=12, minute=0)
    await ada.ask("subscribe kv daily at 12:00")
    await store.items.add([about(1, "Paging the KV cache")], ada.now)
    assert await posted(ada, noon, DeliveryState.FAILED) == ["Paging the KV cache"]
    await ada.at(noon + MINUTE).ask(pause)
    if resumed:
        await ada.at(noon + resumed).ask("resume kv")

    assert await posted(ada, noon + 2 * DAY) == ["Paging the KV cache"]
    assert await posted(ada, noon + 3 * DAY) == []


@pytest.mark.parametrize("pause", ["pause kv", "pause kv until 2d"])
async def test_a_pause_in_which_nothing_was_due_leaves_out_nothing_of_a_digest_that_was_skipped(
    ada: Asker, pause: str
) -> None:
    noon = ada.now.replace(hour=12, minute=0)
    await ada.ask("subscribe kv daily at 12:00")
    assert await posted(ada, noon) == []
    await ada.context.store.items.add([about(1, "Paging the KV cache")], noon + HOUR)
    await ada.at(noon + DAY + HOUR).ask(pause)  # nothing was posted at noon, as where a channel has had its entries
    await ada.at(noon + DAY + 2 * HOUR).ask("resume kv")

    assert await posted(ada, noon + 2 * DAY) == ["Paging the KV cache"]


async def test_a_pause_leaves_out_nothing_of_a_digest_of_which_only_later_is_known_that_it_was_not_posted(
    ada: Asker,
) -> None:
    store, noon = ada.context.store, ada.now.replace(hour=12, minute=0)
    await ada.ask("subscribe kv daily at 12:00")
    await store.items.add([about(1, "Paging the KV cache")], ada.now)
    assert await posted(ada, noon, DeliveryState.AMBIGUOUS) == ["Paging the KV cache"]
    await ada.at(noon + 23 * HOUR).ask("pause kv")
    await ada.at(noon + 25 * HOUR).ask("resume kv")
    (row,) = await store.ledger.deliveries(ada.actor.workspace)
    held = await store.ledger.claim(row, noon + 26 * HOUR, LEASE)
    assert held is not None
    assert await store.ledger.record(replace(held, state=DeliveryState.EXPIRED), unposted=True)

    assert await posted(ada, noon + 2 * DAY) == ["Paging the KV cache"]
