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
        self.courier = self.house.courier()
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
        await Preparer(house.office(), publisher, RequestBuilder(house.store, {"kv": TOPIC}, Limits(entries=5))).publish_due(
            now
        )

    async def waits(self, span: timedelta) -> None:
        """Let the courier try again and again for so long."""
        ends = self.house.clock() + span
        while self.house.clock() < ends:
            await self.house.round(self.courier)
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
    press = Paper()
    press.closed()
    await press.prints("Paging a cache")
    await press.waits(6 * HOUR)
    await press.prints("Sharding a cache")
    await press.waits(7 * HOUR)
    press.opened()
    await press.waits(HOUR)
    assert len(press.house.chat.messages) == 1
    return press


async def test_papers_of_a_digest_that_ended_after_a_later_one_was_made_come_in_the_next_alone() -> None:
    press = await overtaken()
    digest = await press.next(NOW + DAY)
    assert titles(digest) == ["Paging a cache"]
    await press.prints("Warm cache, cold start")
    await press.waits(HOUR)
    assert len(press.house.chat.messages) == 2
    assert titles(await press.next(NOW + 2 * DAY)) == []
    assert (await press.next(NOW + 2 * DAY)).since > digest.since + DAY


async def test_what_is_owed_is_owed_until_it_is_posted_through_one_digest_after_another() -> None:
    press = await overtaken()
    begins = (await press.next(NOW + DAY)).since
    press.closed()
    further = ("A cache of beans", "Evicting rows fairly from a cache", "Warm cache, cold start")
    for day, title in enumerate(further, start=1):
        press.house.clock.now = NOW + day * DAY
        await press.prints(title)
        await press.waits(13 * HOUR)
        assert (await press.next(press.house.clock())).since == begins
    press.opened()
    assert titles(await press.next(press.house.clock())) == sorted([*further, "Paging a cache"])


async def test_a_digest_looks_no_farther_back_for_what_is_owed_than_news_goes() -> None:
    press = Paper()
    await press.prints("Paging a cache")
    press.house.clock.advance(20 * DAY)  # in which nothing was posted
    await press.prints("Sharding a cache")
    await press.waits(HOUR)
    digest = await press.next(NOW + 21 * DAY)
    assert digest.since == NOW + 21 * DAY - Limits().max_age
    assert digest.entries == ()
