"""What a digest would have shown that was never posted comes in the next one, whatever was made meanwhile."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.delivery import Preparer
from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.errors import Delayed
from bot.models import Digest, DigestRequest, Limits, Subscription, Topic
from bot.query import parse
from bot.summarise.extractive import Extractive
from tests.bot.deliveries import House, change, occurrence, subscription
from tests.conftest import NOW
from tests.fakes.transcript import NEITHER
from tests.fakes.works import paper

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
TOPIC = Topic(name="kv", title="KV cache", query=parse("cache"), min_score=0.0)


class Paper:
    """A subscribed channel for which a digest is made whenever a test says so."""

    def __init__(self) -> None:
        self.house = House(NEITHER)
        self.deliverer = self.house.deliverer()
        self._numbers = iter(range(1, 100))
        self._made: Subscription | None = None

    async def prints(self, *titles: str) -> None:
        """Let papers appear, and a digest be made of them now."""
        house, now = self.house, self.house.clock()
        await house.store.add([paper(f"2603.{next(self._numbers):05}", title=title) for title in titles], now - HOUR)
        if self._made is None:
            self._made = await house.store.save_subscription(subscription(), change(), replaces=0)
        due = occurrence(self._made, day=NOW.date() + next(self._numbers) * DAY, due=now)
        await house.store.open_occurrences([due], self._made, now + DAY)
        publisher = Publisher(house.store, Extractive(), {"arxiv": "arXiv"})
        await Preparer(
            house.context(), publisher, RequestBuilder(house.store, {"kv": TOPIC}, Limits(entries=5))
        ).prepare_due(now)

    async def waits(self, span: timedelta) -> None:
        """Let the courier try again and again for so long."""
        ends = self.house.clock() + span
        while self.house.clock() < ends:
            await self.house.round(self.deliverer)
            self.house.clock.advance(timedelta(minutes=5))

    async def next(self, at: datetime) -> Digest:
        """Return the digest that would be made then."""
        publisher = Publisher(self.house.store, Extractive(), {"arxiv": "arXiv"})
        return await publisher.preview(DigestRequest(TOPIC, "chat:T1", "C1"), at)

    def closed(self) -> None:
        """Let the channel take nothing for the time being."""
        self.house.chat.closed["C1"] = Delayed("Down.")

    def opened(self) -> None:
        """Let it take messages again."""
        self.house.chat.closed.clear()


def titles(digest: Digest) -> Sequence[str]:
    return sorted(entry.ranked.item.title for entry in digest.entries)


async def overtaken() -> Paper:
    """A digest that ended unposted after a later one was made, which was posted."""
    paper = Paper()
    paper.closed()
    await paper.prints("Paging a cache")
    await paper.waits(6 * HOUR)
    await paper.prints("Sharding a cache")
    await paper.waits(7 * HOUR)
    paper.opened()
    await paper.waits(HOUR)
    assert len(paper.house.chat.messages) == 1
    return paper


async def test_papers_of_a_digest_that_ended_after_a_later_one_was_made_come_in_the_next_alone() -> None:
    paper = await overtaken()
    digest = await paper.next(NOW + DAY)
    assert titles(digest) == ["Paging a cache"]
    await paper.prints("Warm cache, cold start")
    await paper.waits(HOUR)
    assert len(paper.house.chat.messages) == 2
    assert titles(await paper.next(NOW + 2 * DAY)) == []
    assert (await paper.next(NOW + 2 * DAY)).since > digest.since + DAY


async def test_what_is_owed_is_owed_until_it_is_posted_through_one_digest_after_another() -> None:
    paper = await overtaken()
    begins = (await paper.next(NOW + DAY)).since
    paper.closed()
    further = ("A cache of beans", "Evicting rows fairly from a cache", "Warm cache, cold start")
    for day, title in enumerate(further, start=1):
        paper.house.clock.now = NOW + day * DAY
        await paper.prints(title)
        await paper.waits(13 * HOUR)
        assert (await paper.next(paper.house.clock())).since == begins
    paper.opened()
    assert titles(await paper.next(paper.house.clock())) == sorted([*further, "Paging a cache"])


async def test_a_digest_looks_no_farther_back_for_what_is_owed_than_news_goes() -> None:
    paper = Paper()
    await paper.prints("Paging a cache")
    paper.house.clock.advance(20 * DAY)  # in which nothing was posted
    await paper.prints("Sharding a cache")
    await paper.waits(HOUR)
    digest = await paper.next(NOW + 21 * DAY)
    assert digest.since == NOW + 21 * DAY - Limits().max_age
    assert digest.entries == ()
