"""What a digest would have shown that was never posted comes in the next one, whatever was made meanwhile."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.delivery import Deliverer, Preparer
from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.errors import Delayed, Rejected
from bot.models import ON_REQUEST, Delivery, DeliveryState, Digest, DigestRequest, Limits, Method, Subscription, Topic
from bot.query import parse
from bot.summarise.extractive import Extractive
from tests.bot.deliveries import Harness, change, occurrence, subscription
from tests.conftest import NOW
from tests.fakes.transcript import NEITHER, Transcript
from tests.fakes.works import paper

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
TOPIC = Topic(name="kv", title="KV cache", query=parse("cache"), min_score=0.0)


class DigestChannel:
    """A subscribed channel for which a digest is made whenever a test says so."""

    def __init__(self) -> None:
        self.harness = Harness(NEITHER)
        self.deliverer = self.harness.deliverer()
        self._numbers = iter(range(1, 100))
        self._made: Subscription | None = None

    async def make_digest(self, *titles: str) -> None:
        """Let papers appear, and a digest be made of them now."""
        harness, now = self.harness, self.harness.clock()
        await harness.store.items.add([paper(f"2603.{next(self._numbers):05}", title=title) for title in titles], now - HOUR)
        if self._made is None:
            self._made = await harness.store.workspaces.save_subscription(subscription(), change(), replaces=0)
        due = occurrence(self._made, day=NOW.date() + next(self._numbers) * DAY, due=now)
        await harness.store.ledger.open_occurrences([due], self._made, now + DAY)
        await self.prepare()

    async def prepare(self) -> None:
        """Make what is due."""
        harness = self.harness
        publisher = Publisher(harness.store, Extractive(), {"arxiv": "arXiv"})
        await Preparer(
            harness.context(), publisher, RequestBuilder(harness.store.workspaces, {"kv": TOPIC}, Limits(entries=5))
        ).prepare_due(harness.clock())

    async def deliver_for(self, span: timedelta) -> None:
        """Let the deliverer try again and again for so long."""
        ends = self.harness.clock() + span
        while self.harness.clock() < ends:
            await self.harness.round(self.deliverer)
            self.harness.clock.advance(timedelta(minutes=5))

    async def next(self, at: datetime) -> Digest:
        """Return the digest that would be made then."""
        publisher = Publisher(self.harness.store, Extractive(), {"arxiv": "arXiv"})
        return await publisher.preview(DigestRequest(TOPIC, "chat:T1", "C1"), at)

    def close(self) -> None:
        """Let the channel take nothing for the time being."""
        self.harness.chat.closed["C1"] = Delayed("Down.")

    def open(self) -> None:
        """Let it take messages again."""
        self.harness.chat.closed.clear()


def titles(digest: Digest) -> Sequence[str]:
    return sorted(entry.ranked.item.title for entry in digest.entries)


async def overtaken() -> DigestChannel:
    """A digest that ended unposted after a later one was made, which was posted."""
    channel = DigestChannel()
    channel.close()
    await channel.make_digest("Paging a cache")
    await channel.deliver_for(6 * HOUR)
    await channel.make_digest("Sharding a cache")
    await channel.deliver_for(7 * HOUR)
    channel.open()
    await channel.deliver_for(HOUR)
    assert len(channel.harness.chat.messages) == 1
    return channel


async def test_papers_of_a_digest_that_ended_after_a_later_one_was_made_come_in_the_next_alone() -> None:
    channel = await overtaken()
    digest = await channel.next(NOW + DAY)
    assert titles(digest) == ["Paging a cache"]
    await channel.make_digest("Warm cache, cold start")
    await channel.deliver_for(HOUR)
    assert len(channel.harness.chat.messages) == 2
    assert titles(await channel.next(NOW + 2 * DAY)) == []
    assert (await channel.next(NOW + 2 * DAY)).since > digest.since + DAY


async def test_what_is_owed_is_owed_until_it_is_posted_through_one_digest_after_another() -> None:
    channel = await overtaken()
    begins = (await channel.next(NOW + DAY)).since
    channel.close()
    further = ("A cache of beans", "Evicting rows fairly from a cache", "Warm cache, cold start")
    for day, title in enumerate(further, start=1):
        channel.harness.clock.now = NOW + day * DAY
        await channel.make_digest(title)
        await channel.deliver_for(13 * HOUR)
        assert (await channel.next(channel.harness.clock())).since == begins
    channel.open()
    assert titles(await channel.next(channel.harness.clock())) == sorted([*further, "Paging a cache"])


async def test_what_is_owed_for_so_long_that_it_is_no_news_any_more_is_dropped_with_that_reason() -> None:
    channel = DigestChannel()
    await channel.make_digest("Paging a cache")
    channel.harness.clock.advance(20 * DAY)  # in which nothing was posted
    await channel.make_digest("Sharding a cache")
    await channel.deliver_for(HOUR)
    digest = await channel.next(NOW + 21 * DAY)
    assert digest.entries == ()
    assert digest.coverage.dropped == (("too old", 2),)


async def test_a_digest_that_is_dropped_takes_none_with_it_that_was_made_in_the_same_round() -> None:
    channel = DigestChannel()
    harness, now = channel.harness, channel.harness.clock()
    await harness.store.items.add([paper("2603.00001", title="Paging a cache")], now)
    made = await harness.store.workspaces.save_subscription(subscription(always=True), change(), replaces=0)
    both = [occurrence(made, due=now, slot=slot) for slot in (ON_REQUEST, 0)]
    await harness.store.ledger.open_occurrences(both, made, now + DAY)
    await channel.prepare()
    first, second = await harness.store.ledger.due_deliveries(now)
    held = await harness.store.ledger.claim(second, now, HOUR)
    assert held is not None
    assert await harness.store.ledger.record(replace(held, state=DeliveryState.EXPIRED), unposted=True)

    assert await harness.store.digests.posted("chat:T1", "C1") == {"arxiv:2603.00001"}
    assert titles(await channel.next(now + DAY)) == []
    assert first.occurrence[2] == ON_REQUEST


class Squeamish(Transcript):
    """A platform that takes no message about this paper."""

    poison = "arxiv:2603.00001"
    of_message = True

    async def send(self, delivery: Delivery) -> str:
        if self.poison in delivery.payload:
            raise Rejected("It was not taken (code 99).", failure="code 99", of_message=self.of_message)
        return await super().send(delivery)


async def poisoned(*, of_message: bool, beside: bool = False) -> tuple[DigestChannel, list[Delivery]]:
    """Make a digest on each of three days, with a paper on the first that is not taken; return what became of them.

    `beside`: another channel is refused so all the time.
    """
    channel = DigestChannel()
    channel.harness.chat = chat = Squeamish(channel.harness.clock)
    chat.of_message = of_message
    context = channel.harness.context()
    channel.deliverer = Deliverer(context, pause=channel.harness.clock.pause)
    ended = []
    for title in ("Paging a cache", "A cache for tables", "The cache of tomorrow"):
        await channel.make_digest(title)
        for _ in range(3 * 13):
            if beside:
                error = Rejected("It was not taken (code 99).", failure="code 99", of_message=of_message)
                context.rejections.note(context.call(Method.POST, "chat:T1", "C9"), "d9", error, channel.harness.clock())
            await channel.deliver_for(HOUR / 3)
        ended.append(max((await channel.harness.rows()).values(), key=lambda each: each.due))
        channel.harness.clock.advance(DAY / 2)
    return channel, ended


@pytest.mark.parametrize(("beside", "state"), [(False, DeliveryState.FAILED), (True, DeliveryState.EXPIRED)])
async def test_a_paper_that_the_platform_does_not_take_comes_again_once_and_then_silences_nothing(
    beside: bool, state: DeliveryState
) -> None:
    channel, ended = await poisoned(of_message=True, beside=beside)
    assert [each.state for each in ended] == [state, state, DeliveryState.DONE]
    assert ended[1].reason == f"{ended[0].reason} So was the digest before; its papers do not come again."
    (posted,) = channel.harness.chat.messages
    assert "arxiv:2603.00005" in posted.payload


@pytest.mark.parametrize("beside", [False, True])
async def test_what_is_not_taken_for_a_reason_that_nobody_knows_comes_again_as_long_as_it_is_news(beside: bool) -> None:
    channel, ended = await poisoned(of_message=False, beside=beside)
    assert all(each.state in (DeliveryState.FAILED, DeliveryState.EXPIRED) for each in ended)
    assert titles(await channel.next(channel.harness.clock())) == sorted(
        ("Paging a cache", "A cache for tables", "The cache of tomorrow")
    )
