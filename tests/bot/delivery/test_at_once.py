"""What is posted at once: after each collection what it brought, once, whoever dies in between; so many messages a day."""

from collections import Counter
from dataclasses import replace
from datetime import time, timedelta
from typing import Any

import pytest

from bot.delivery import Deliverer, DeliveryContext, Preparer, Scheduler
from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.models import (
    OVERTAKEN,
    DeliveryState,
    Limits,
    OccurrenceState,
    Preferences,
    Rhythm,
    Schedule,
    Subscription,
    Topic,
)
from bot.ports.facts import COLLECTED, OPENED_AT_ONCE, number_of_fact
from bot.query import parse
from bot.summarise.extractive import Extractive
from tests.bot.deliveries import ROUND, Harness, change, subscription
from tests.conftest import NOW, stride
from tests.fakes.transcript import BOTH, Crash, Steps
from tests.fakes.works import paper

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
TOPICS = {
    "kv": Topic(name="kv", title="KV cache", query=parse("cache"), min_score=0.0),
    "tea": Topic(name="tea", title="Tea", query=parse("tea"), min_score=0.0),
}
AT_ONCE = Schedule(weekdays=(), at_once=True)
WORKSPACE = "chat:T1"


async def follows(harness: Harness, topic: str = "kv", channel: str = "C1", **changes: Any) -> Subscription:
    given = {"id": f"{topic}-{channel}", "topic": topic, "channel": channel, "schedule": AT_ONCE, "baseline_arrival": 0}
    made = subscription(1, now=harness.clock(), **{**given, **changes})
    return await harness.store.workspaces.save_subscription(made, change(), replaces=0)


async def stored(harness: Harness, *numbers: int, word: str = "cache") -> None:
    """Store papers, as a collection does that goes on."""
    texts = {number: " ".join(f"{letter}{number}{letter}" for letter in "bcdfgh") for number in numbers}
    papers = [
        paper(f"2603.{number:05}", title=f"A {word} of {texts[number]}", abstract=texts[number], published=harness.clock())
        for number in numbers
    ]
    await harness.store.items.add(papers, harness.clock())


async def collected(harness: Harness, *numbers: int, word: str = "cache") -> None:
    """Store papers, and let the collection end."""
    await stored(harness, *numbers, word=word)
    await harness.store.facts.set(COLLECTED, str(await harness.store.items.last_arrival()))


class Service:
    """One process: what it does every few seconds."""

    def __init__(self, harness: Harness, steps: Steps | None = None, entries: int = 9) -> None:
        self.harness = harness
        self.context: DeliveryContext = harness.context(steps)
        store = self.context.store
        publisher = Publisher(store, Extractive(), {"arxiv": "arXiv"})
        self.scheduler = Scheduler(self.context)
        self.preparer = Preparer(self.context, publisher, RequestBuilder(store.workspaces, TOPICS, Limits(entries, entries)))
        self.deliverer = Deliverer(self.context, pause=harness.clock.pause)

    async def round(self) -> None:
        await self.scheduler.tick(self.harness.clock())
        await self.preparer.prepare_due(self.harness.clock())
        await self.deliverer.deliver_due(self.harness.clock)
        await self.deliverer.reconcile(self.harness.clock)
        self.harness.clock.advance(ROUND)

    async def rounds(self, count: int) -> None:
        for _ in range(count):
            await self.round()


async def shown(harness: Harness) -> list[list[str]]:
    """The papers of each message that stands in the channels, by their numbers."""
    rows = await harness.store.digests.past(WORKSPACE, "C1", with_entries=True, limit=1000)
    return [sorted(key.removeprefix("arxiv:2603.").lstrip("0") for key in each.entries) for each in reversed(rows)]


async def waiting(harness: Harness) -> list[tuple[int, str]]:
    found = await harness.store.ledger.occurrences(harness.clock() + 9 * DAY)
    return [(each.slot, each.reason) for each in found]


async def test_what_a_collection_brought_is_one_message_when_it_has_ended() -> None:
    harness = Harness()
    await follows(harness)
    service = Service(harness)
    await stored(harness, 1)
    await service.rounds(3)
    assert len(harness.chat.messages) == 0, "the collection goes on"

    await collected(harness, 2, 3)
    await stored(harness, 4)
    await service.rounds(3)
    assert await shown(harness) == [["1", "2", "3"]], "and not what the next one has begun to bring"
    assert len(harness.chat.messages) == 1

    await collected(harness, 5)
    await service.rounds(3)
    assert await shown(harness) == [["1", "2", "3"], ["4", "5"]]
    assert not any(each.late for each in (await harness.rows()).values())


async def test_a_window_with_nothing_in_it_posts_nothing_and_is_accounted_for() -> None:
    harness = Harness()
    made = await follows(harness, always=True)
    service = Service(harness)
    await collected(harness, 1, 2, word="milk")
    await service.rounds(3)
    assert not harness.chat.messages
    assert not await waiting(harness)
    assert await harness.store.ledger.recent_occurrences(WORKSPACE) == []
    (past,) = await harness.store.digests.past(WORKSPACE, "C1", topic="kv", rhythm=Rhythm.AT_ONCE)
    assert (past.seen, past.kept, past.dropped) == (2, 0, (("outside the topic", 2),))
    last = await harness.store.digests.last(WORKSPACE, "C1", "kv", made.rhythm)
    assert last is not None
    assert last[1].arrival == await harness.store.items.last_arrival()


async def test_nothing_happens_where_a_collection_brought_nothing() -> None:
    harness = Harness()
    await follows(harness)
    service = Service(harness)
    await collected(harness, 1)
    await service.rounds(2)
    await collected(harness)
    await service.rounds(2)
    assert len(await harness.store.digests.past(WORKSPACE, "C1")) == 1


async def test_in_quiet_hours_all_waits_and_comes_together_at_their_end() -> None:
    harness = Harness()
    await follows(harness)
    quiet = Preferences(quiet_from=time(6), quiet_until=time(9))
    await harness.store.workspaces.save_preferences(WORKSPACE, quiet, change())
    service = Service(harness)
    for number in (1, 2, 3):
        await collected(harness, number)
        await service.rounds(2)
        harness.clock.advance(20 * MINUTE)
    assert not harness.chat.messages
    assert [reason for _, reason in await waiting(harness)] == ["waits for the end of the quiet hours"]
    assert [each.reason for each in await harness.store.ledger.occurrences(NOW + DAY, state=OccurrenceState.SKIPPED)] == [
        OVERTAKEN,
        OVERTAKEN,
    ]
    harness.clock.advance(NOW.replace(hour=9) - harness.clock() + MINUTE)
    await service.rounds(3)
    assert await shown(harness) == [["1", "2", "3"]]


@pytest.mark.parametrize(("settled", "most"), [(None, 5), (2, 2)])
async def test_a_channel_gets_so_many_messages_a_day_and_the_rest_with_the_next_days_first(
    settled: int | None, most: int
) -> None:
    harness = Harness()
    await follows(harness)
    await follows(harness, "tea")
    await harness.store.workspaces.save_preferences(WORKSPACE, Preferences(at_once_daily=settled), change())
    service = Service(harness)
    for number in range(1, 9):
        await collected(harness, number, word="tea" if number % 2 else "cache")
        await service.rounds(3)
        harness.clock.advance(HOUR)
    assert len(harness.chat.messages) == most, "over all that is posted there at once"
    assert {reason for _, reason in await waiting(harness)} == {
        "waits for the next day: the channel had as much as it may have today"
    }

    harness.clock.advance(NOW.replace(hour=0) + DAY - harness.clock() + MINUTE)
    await service.rounds(5)
    assert len(harness.chat.messages) == min(2 * most, most + 2)
    assert Counter(number for each in await shown(harness) for number in each) == Counter(map(str, range(1, 9)))
    assert not await waiting(harness)


async def test_what_was_posted_while_the_clock_ran_ahead_is_no_message_of_today() -> None:
    harness = Harness()
    await follows(harness)
    await harness.store.workspaces.save_preferences(WORKSPACE, Preferences(at_once_daily=2), change())
    service = Service(harness)
    harness.clock.advance(9 * DAY)
    for number in (1, 2):
        await collected(harness, number)
        await service.rounds(3)
    harness.clock.advance(-9 * DAY)
    for number in (3, 4, 5):
        await collected(harness, number)
        await service.rounds(3)
    assert await shown(harness) == [["3"], ["4"], ["1"], ["2"]], "in the order of the times that they were saved"


async def test_the_daily_cap_of_entries_lets_what_comes_besides_wait_for_the_next_day() -> None:
    harness = Harness()
    await follows(harness)
    await harness.store.workspaces.save_preferences(WORKSPACE, Preferences(daily_entries=2), change())
    service = Service(harness)
    for number in (1, 2, 3):
        await collected(harness, number)
        await service.rounds(3)
    assert await shown(harness) == [["1"], ["2"]]
    harness.clock.advance(DAY)
    await service.rounds(3)
    assert await shown(harness) == [["1"], ["2"], ["3"]]


async def test_what_fell_to_the_cap_comes_after_the_next_collection() -> None:
    harness = Harness()
    await follows(harness)
    service = Service(harness, entries=2)
    await collected(harness, 1, 2, 3)
    await service.rounds(3)
    await collected(harness, 4, word="milk")
    await service.rounds(3)
    assert sorted(number for each in await shown(harness) for number in each) == ["1", "2", "3"]


async def test_what_was_posted_at_once_the_daily_digest_does_not_repeat() -> None:
    harness = Harness()
    await follows(harness)
    daily = await follows(harness, id="daily", schedule=Schedule(at=(NOW + 2 * HOUR).time()))
    assert daily.rhythm is Rhythm.DAILY
    service = Service(harness)
    await collected(harness, 1)
    await service.rounds(3)
    await stored(harness, 2)
    harness.clock.advance(2 * HOUR)
    await service.rounds(3)
    await collected(harness, 3)
    await service.rounds(3)
    assert await shown(harness) == [["1"], ["2"], ["3"]]


async def test_what_comes_in_during_a_pause_is_left_out_and_what_comes_after_is_not() -> None:
    harness = Harness()
    made = await follows(harness)
    service = Service(harness)
    paused = await harness.store.workspaces.save_subscription(
        made.held_back(None, harness.clock()), change(), replaces=made.revision
    )
    await collected(harness, 1)
    await service.rounds(3)
    last = await harness.store.items.last_arrival()
    await harness.store.workspaces.save_subscription(
        replace(paused.resumed(), baseline=harness.clock(), baseline_arrival=last), change(), replaces=paused.revision
    )
    await service.rounds(3)
    await collected(harness, 2)
    await service.rounds(3)
    assert await shown(harness) == [["2"]]


async def test_a_message_that_is_not_taken_leaves_what_it_showed_to_the_next() -> None:
    harness = Harness()
    made = await follows(harness)
    service = Service(harness)
    await collected(harness, 1)
    await service.scheduler.tick(harness.clock())
    await service.preparer.prepare_due(harness.clock())
    (row,) = (await harness.rows()).values()
    held = await harness.store.ledger.claim(row, harness.clock(), HOUR)
    assert held is not None
    await harness.store.ledger.record(replace(held, state=DeliveryState.FAILED, reason="No."), unposted=True)
    await collected(harness, 2)
    await service.rounds(3)
    assert await shown(harness) == [["1", "2"]]
    assert made.rhythm is Rhythm.AT_ONCE


async def test_an_unknown_zone_is_told_and_harms_nobody_else() -> None:
    harness = Harness()
    await follows(harness, schedule=replace(AT_ONCE, zone="Mars/Olympus"))
    await follows(harness, channel="C2", topic="kv")
    await collected(harness, 1)
    await Service(harness).rounds(4)
    paused, _ = await harness.store.workspaces.subscriptions(WORKSPACE)
    assert "Mars/Olympus" in paused.paused_because
    assert [each.channel for each in harness.chat.messages] == ["C2"]


async def story(*deaths: int) -> tuple[Harness, int]:
    """Live through three collections with processes that die after so many steps; return how many the last took."""
    harness = Harness(BOTH)
    await follows(harness)
    await follows(harness, "tea")
    lives = [*(Steps(last) for last in deaths), Steps()]
    collections: list[tuple[tuple[int, ...], str]] = [((1, 2), "cache"), ((3,), "tea"), ((4,), "milk"), ((5,), "cache")]
    service = Service(harness, lives.pop(0))
    done = 0
    while done < len(collections) + 12:
        if done < len(collections):
            await collected(harness, *collections[done][0], word=collections[done][1])
        try:
            await service.rounds(2)
        except Crash:
            harness.clock.advance(ROUND)
            service = Service(harness, lives.pop(0))
        done += 1
        harness.clock.advance(MINUTE)
    return harness, service.harness.chat.steps.taken


@pytest.mark.no_cover
async def test_whoever_dies_between_any_two_steps_nothing_comes_twice_and_nothing_is_lost() -> None:
    _, steps = await story()
    assert steps > 50
    for last in range(1, steps + 1, stride()):
        harness, _ = await story(last)
        assert Counter(number for each in await shown(harness) for number in each) == Counter("1235"), last
        rows = await harness.rows()
        assert {each.state for each in rows.values()} == {DeliveryState.DONE}, last
        assert all(harness.chat.posted(each.id) == 1 for each in rows.values()), last
        facts = harness.store.facts
        assert await number_of_fact(facts, OPENED_AT_ONCE) == await number_of_fact(facts, COLLECTED)
