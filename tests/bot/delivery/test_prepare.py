"""What becomes of an occurrence: a digest in the words of its subscription, nothing, or a reason."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from itertools import groupby
from typing import Any, cast

import pytest

from bot.delivery import DeliveryContext, Preparer, Scheduler, delivery_id, notice_restored, sealed
from bot.delivery.prepare import BATCH
from bot.digest.publisher import Publisher
from bot.digest.request import Layouts, RequestBuilder
from bot.errors import StoreError
from bot.models import (
    FOREVER,
    ON_REQUEST,
    DeliveryState,
    Digest,
    DigestRequest,
    Layout,
    Limits,
    Occurrence,
    OccurrenceState,
    Position,
    Preferences,
    Rhythm,
    Schedule,
    Subscription,
    Topic,
)
from bot.ports.ledger import Ledger
from bot.query import parse
from bot.summarise.extractive import Extractive
from tests.bot.deliveries import Harness, change, occurrence, subscription
from tests.conftest import NOW
from tests.fakes.transcript import HISTORY, NEITHER, Transcript
from tests.fakes.works import paper
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore

HOUR = timedelta(hours=1)
TOPICS = {
    "kv": Topic(name="kv", title="KV cache", query=parse("cache"), min_score=0.0),
    "gpu": Topic(name="gpu", title="GPUs", query=parse("cache OR gpu"), min_score=0.0),
    "tea": Topic(name="tea", title="Tea", query=parse("tea"), min_score=0.0),
}


async def furnished(store: MemoryStore | None = None, **told: Any) -> Harness:
    """Return a house with five papers about caches."""
    harness = Harness(store=store, **told)
    titles = ("Paging a cache", "Sharding a cache", "A cache of tables", "A cache of beans", "Warm cache, cold start")
    papers = [paper(f"2603.{number:05}", title=title) for number, title in enumerate(titles, start=1)]
    await harness.store.items.add(papers, NOW - HOUR)
    return harness


def preparer(harness: Harness, packs: Mapping[str, Topic] = TOPICS) -> Preparer:
    publisher = Publisher(harness.store, Extractive(), {"arxiv": "arXiv"})
    return Preparer(harness.context(), publisher, RequestBuilder(harness.store.workspaces, packs, Limits(entries=3)))


async def due(harness: Harness, *, at: datetime = NOW, number: int = 1, **changes: Any) -> Subscription:
    """Subscribe, and let the subscription be due."""
    fresh = subscription(number, now=at, **changes)
    made = await harness.store.workspaces.save_subscription(fresh, change(fresh.workspace), replaces=0)
    await harness.store.ledger.open_occurrences([occurrence(made, now=at)], made, at + timedelta(days=1))
    return made


async def told(harness: Harness) -> list[tuple[OccurrenceState, str]]:
    found = await harness.store.ledger.recent_occurrences("chat:T1")
    return [(each.state, each.reason) for each in found]


async def test_a_digest_that_is_due_becomes_messages_that_wait_and_counts_as_posted() -> None:
    harness = await furnished(parts=2)
    made = await due(harness)
    assert await preparer(harness).prepare_due(NOW) == 1

    rows = sorted((await harness.rows()).values(), key=lambda each: each.part)
    assert [each.part for each in rows] == [1, 2]
    assert [each.id for each in rows] == [delivery_id(made.id, NOW.date(), 0, part) for part in (1, 2)]
    assert all(each.seal == sealed(each.payload, each.if_late) and each.state is DeliveryState.PENDING for each in rows)
    assert "(late)" not in rows[0].payload
    assert "(late)" in rows[0].if_late
    assert all(each.parts == 2 and each.due == NOW for each in rows)
    assert [each.next_at for each in rows] == [NOW, FOREVER]
    assert rows[0].payload.startswith("KV cache of 2026-04-01: arxiv:")
    assert len(await harness.store.digests.posted("chat:T1", "C1")) == 3
    assert await told(harness) == [(OccurrenceState.MADE, "")]
    assert await preparer(harness).prepare_due(NOW) == 0


@pytest.mark.parametrize(
    ("payload", "shows"),
    [
        ('{"keys": [["arxiv:1", "github:a/b"]]}', ("arxiv:1", "github:a/b")),
        ('{"keys": [["arxiv:1"], ["arxiv:2"]]}', ()),
        ('{"keys": []}', ()),
        ("{}", ()),
        ("[]", ()),
        ("no JSON", ()),
    ],
)
async def test_what_a_message_shows_is_known_where_it_shows_one_entry(payload: str, shows: tuple[str, ...]) -> None:
    harness = await furnished()
    harness.chat = Saying(harness.clock)
    harness.chat.payload = payload
    await due(harness)
    await preparer(harness).prepare_due(NOW)
    assert [each.shows for each in (await harness.rows()).values()] == [shows]


class Saying(Transcript):
    """A platform whose every digest is this message."""

    payload = ""

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> list[str]:
        return [self.payload]


async def test_a_weekly_digest_beside_a_daily_one_shows_what_that_left_out_since_it_looked_last_itself() -> None:
    harness = await furnished()
    weekly = Schedule(weekdays=(NOW.weekday(),))
    daily, beside = await due(harness, id="a", entries=1), await due(harness, id="b", schedule=weekly, entries=5)
    await preparer(harness).prepare_due(NOW)
    tomorrow = NOW + timedelta(days=1)
    await harness.store.items.add([paper("2604.00009", title="A cache for tomorrow")], tomorrow - HOUR)
    await harness.store.ledger.open_occurrences([occurrence(daily, now=tomorrow)], daily, tomorrow + timedelta(days=1))
    await preparer(harness).prepare_due(tomorrow)

    rows = sorted((await harness.rows()).values(), key=lambda each: (each.due, each.occurrence[0]))
    shown = [each.payload.split(": ")[1].split(", ")[:-1] for each in rows]
    assert [(each.occurrence[0], len(names)) for each, names in zip(rows, shown, strict=True)] == [
        ("a", 1),
        ("b", 4),
        ("a", 1),
    ]
    assert [each.occurrence[0] for each in rows] == ["a", "b", "a"]
    assert [len(names) for names in shown] == [1, 4, 1]
    assert len({name for names in shown for name in names}) == 6
    place = (beside.workspace, beside.channel, "kv")
    last = [await harness.store.digests.last(*place, each) for each in (Rhythm.WEEKLY, Rhythm.DAILY)]
    assert [each and each[0] for each in last] == [NOW.date(), tomorrow.date()]


async def test_two_topics_of_one_channel_do_not_show_the_same_item_twice() -> None:
    harness = await furnished()
    await due(harness, id="a", topic="kv", entries=3)
    await due(harness, id="b", topic="gpu", entries=3)
    await preparer(harness).prepare_due(NOW)
    shown = [name for each in (await harness.rows()).values() for name in each.payload.split(": ")[1].split(", ")[:-1]]
    assert len(shown) == len(set(shown)) == 5


@pytest.mark.parametrize(("always", "state", "rows"), [(False, OccurrenceState.EMPTY, 0), (True, OccurrenceState.MADE, 1)])
async def test_an_empty_digest_is_posted_only_where_that_is_wanted(always: bool, state: OccurrenceState, rows: int) -> None:
    harness = await furnished()
    await due(harness, topic="tea", always=always)
    await preparer(harness).prepare_due(NOW)
    assert [each for each, _ in await told(harness)] == [state]
    assert len(await harness.rows()) == rows
    # Either way the next digest begins where this one ended.
    assert await harness.store.digests.last("chat:T1", "C1", "tea") == (
        NOW.date(),
        Position(await harness.store.items.last_arrival(), NOW),
    )


@pytest.mark.parametrize(("after", "late"), [(timedelta(minutes=15), False), (timedelta(minutes=16), True)])
async def test_what_is_late_says_so(after: timedelta, late: bool) -> None:
    harness = await furnished()
    await due(harness, layout=Layout.FULL)
    await preparer(harness).prepare_due(NOW + after)
    ((row),) = (await harness.rows()).values()
    assert ("(late)" in row.payload) is late
    assert ("(late)" in row.if_late) is not late
    assert "(full)" in row.payload


NEWS = "Digests are short now: *subscribe kv full* brings the full cards back."


async def next_payload(harness: Harness, made: Subscription, hours: int, packs: Mapping[str, Topic] = TOPICS) -> str:
    """Let the subscription be due so many hours later, and return what is posted then; 0: what is due already."""
    then = NOW + hours * HOUR
    await harness.store.items.add([paper(f"2604.{hours:05}", title=f"The cache of hour {hours}")], then - HOUR / 2)
    at = replace(occurrence(made, now=then), day=NOW.date() + timedelta(days=hours))
    await harness.store.ledger.open_occurrences([at], made, then + timedelta(days=1))
    await preparer(harness, packs).prepare_due(then)
    return next(each.payload for each in (await harness.rows()).values() if each.occurrence[1] == at.day)


async def test_a_subscription_of_before_is_told_once_that_digests_are_short_now() -> None:
    harness = await furnished()
    made = await due(harness, is_new_to_brief=True)
    said = [await next_payload(harness, made, hours) for hours in (0, 1, 2)]
    assert [NEWS in each for each in said] == [True, False, False]


async def test_who_changed_a_pack_is_told_once_that_it_lacks_what_came_since() -> None:
    harness = await furnished()
    made = await due(harness, is_new_to_brief=True)
    copy = replace(TOPICS["kv"], title="Caches")
    await harness.store.workspaces.save_topic("chat:T1", copy, change(), replaces=0)
    packs = {"kv": replace(TOPICS["kv"], min_score=0.2, categories=("cs.AR",))}
    said = [await next_payload(harness, made, hours, packs) for hours in (0, 1)]
    assert ["*topic show kv* says what." in each for each in said] == [True, False]


async def test_who_has_full_digests_or_subscribed_since_is_told_nothing() -> None:
    harness = await furnished()
    every: list[dict[str, Any]] = [{"layout": Layout.FULL, "is_new_to_brief": True}, {}]
    for number, changes in enumerate(every, start=1):
        made = await due(harness, id=f"s-{number}", number=number, channel=f"C{number}", **changes)
        assert "short now" not in await next_payload(harness, made, 0)
    stored = await harness.store.workspaces.subscriptions("chat:T1", channel="C1")
    assert [each.is_new_to_brief for each in stored] == [True]  # until it is brief


@pytest.mark.parametrize(
    ("own", "settled", "layout"),
    [
        (None, None, Layout.THREAD),
        (None, Layout.FULL, Layout.FULL),
        (Layout.BRIEF, Layout.FULL, Layout.BRIEF),
    ],
)
async def test_a_layout_is_the_subscriptions_else_the_workspaces_else_the_operators(
    own: Layout | None, settled: Layout | None, layout: Layout
) -> None:
    harness = await furnished()
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(layout=settled), change())
    await due(harness, layout=own)
    publisher = Publisher(harness.store, Extractive(), {"arxiv": "arXiv"})
    layouts = Layouts(Layout.BRIEF, {"chat": Layout.THREAD})
    requests = RequestBuilder(harness.store.workspaces, TOPICS, Limits(entries=3), layouts=layouts)
    await Preparer(harness.context(), publisher, requests).prepare_due(NOW)
    ((row),) = (await harness.rows()).values()
    assert [f"({each})" in row.payload for each in (Layout.THREAD, Layout.FULL)] == [
        layout is each for each in (Layout.THREAD, Layout.FULL)
    ]


async def test_what_is_too_late_is_skipped_and_said() -> None:
    harness = await furnished()
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(alerts="C-admin"), change())
    await due(harness)
    await preparer(harness).prepare_due(NOW + 12 * HOUR + timedelta(seconds=1))
    assert await told(harness) == [(OccurrenceState.SKIPPED, "it is too late to post it.")]
    await harness.deliverer().send_notices(harness.clock)
    assert [channel for _, channel, _ in harness.chat.announced] == ["C-admin"]


async def test_nothing_is_made_in_quiet_hours_and_what_waits_for_their_end_is_not_late() -> None:
    harness = await furnished()
    settled = Preferences(quiet_from=time(22), quiet_until=time(9, 30), zone="Europe/Zurich")
    await harness.store.workspaces.save_preferences("chat:T1", settled, change())
    await due(harness)  # at 09:00 in Zurich
    assert await preparer(harness).prepare_due(NOW) == 1
    assert await preparer(harness).prepare_due(NOW + timedelta(minutes=29)) == 0
    await preparer(harness).prepare_due(NOW + timedelta(minutes=30))
    ((row),) = (await harness.rows()).values()
    assert "(late)" not in row.payload


async def test_what_was_due_before_long_quiet_hours_and_could_not_be_made_is_posted_after_them_marked_late() -> None:
    harness = await furnished()
    settled = Preferences(quiet_from=time(7, 30), quiet_until=time(21), zone="UTC")
    await harness.store.workspaces.save_preferences("chat:T1", settled, change())
    await due(harness)
    assert await preparer(harness).prepare_due(NOW + timedelta(minutes=45)) == 1
    assert await preparer(harness).prepare_due(NOW + 14 * HOUR) == 1
    ((row),) = (await harness.rows()).values()
    assert "(late)" in row.payload


async def test_what_fails_once_after_long_quiet_hours_is_tried_again() -> None:
    harness = await furnished()
    settled = Preferences(quiet_from=time(6), quiet_until=time(21), zone="UTC")
    await harness.store.workspaces.save_preferences("chat:T1", settled, change())
    await due(harness)
    maker = Stumbling(Publisher(harness.store, Extractive(), {"arxiv": "arXiv"}), "kv", times=1)
    made = Preparer(harness.context(), maker, RequestBuilder(harness.store.workspaces, TOPICS))
    for minute in range(14 * 60, 14 * 60 + 10):
        await made.prepare_due(NOW + timedelta(minutes=minute))
    assert await told(harness) == [(OccurrenceState.MADE, "")]


async def test_a_channel_gets_no_more_entries_a_day_than_were_settled_over_all_its_digests() -> None:
    harness = await furnished()
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(daily_entries=4), change())
    await due(harness, id="a", topic="kv")
    await due(harness, id="b", topic="gpu")
    await due(harness, id="c", topic="tea", always=True)
    await preparer(harness).prepare_due(NOW)
    assert len(await harness.store.digests.posted("chat:T1", "C1")) == 4
    assert sorted(await told(harness)) == [
        (OccurrenceState.MADE, ""),
        (OccurrenceState.MADE, ""),
        (OccurrenceState.SKIPPED, "the channel was posted 4 entries today."),
    ]
    # Tomorrow counts anew.
    tomorrow = NOW + 24 * HOUR
    await harness.store.items.add([paper("2604.00009", title="A new cache")], tomorrow - HOUR)
    (made,) = await harness.store.workspaces.subscriptions("chat:T1", topic="kv")
    await harness.store.ledger.open_occurrences([occurrence(made, now=tomorrow)], made, tomorrow + 24 * HOUR)
    await preparer(harness).prepare_due(tomorrow)
    assert "arxiv:2604.00009" in (posted := await harness.store.digests.posted("chat:T1", "C1"))
    assert len(posted) == 6  # the new one, and the one that found no place today: each was posted once


async def test_nothing_from_before_the_subscription_is_posted() -> None:
    harness = await furnished()
    await due(harness, baseline=NOW - timedelta(minutes=30), baseline_arrival=await harness.store.items.last_arrival())
    await preparer(harness).prepare_due(NOW)
    assert [each for each, _ in await told(harness)] == [OccurrenceState.EMPTY]


async def test_what_somebody_asked_for_is_the_best_of_the_last_days_and_the_regular_digest_goes_on_from_there() -> None:
    harness = await furnished()
    last = await harness.store.items.last_arrival()
    made = await due(harness, at=NOW + HOUR, baseline=NOW, baseline_arrival=last, made_arrival=last)
    asked = occurrence(made, slot=ON_REQUEST)
    await harness.store.ledger.open_occurrences([asked], made, NOW + timedelta(days=1))
    await preparer(harness).prepare_due(NOW)
    ((row),) = (await harness.rows()).values()
    assert row.id == delivery_id(made.id, NOW.date(), ON_REQUEST, 1)
    assert row.payload.count("arxiv:") == 3
    await preparer(harness).prepare_due(NOW + HOUR)
    assert sorted(state for state, _ in await told(harness)) == [OccurrenceState.EMPTY, OccurrenceState.MADE]


async def test_what_is_paused_gone_or_without_a_topic_is_skipped_with_its_reason() -> None:
    harness = await furnished()
    held = await due(harness, id="a", channel="C1")
    await harness.store.workspaces.save_subscription(
        replace(held, paused=True, paused_because="Holidays."), change(), replaces=1
    )
    await due(harness, id="b", channel="C2", topic="lost")
    await preparer(harness).prepare_due(NOW)
    assert sorted(reason for _, reason in await told(harness)) == ["its topic is not there any more.", "paused. Holidays."]
    assert await harness.rows() == {}


async def test_after_a_restore_a_channel_that_nobody_can_look_into_is_left_out_and_one_that_can_is_made() -> None:
    for abilities, state in ((NEITHER, OccurrenceState.SKIPPED), (HISTORY, OccurrenceState.MADE)):
        harness = await furnished(None, abilities=abilities)
        await due(harness)
        await notice_restored(harness.store.facts, NOW, harness.clock())
        await preparer(harness).prepare_due(NOW)
        assert [each for each, _ in await told(harness)] == [state]


class Stumbling:
    """A maker that cannot make one topic's digests, or not the first so many times."""

    def __init__(self, maker: Publisher, topic: str = "gpu", times: int = 1000) -> None:
        self._maker = maker
        self._topic = topic
        self._times = times
        self.tried = 0

    async def make(self, order: DigestRequest, now: datetime) -> Digest:
        if order.topic.name == self._topic and self.tried < self._times:
            self.tried += 1
            raise ZeroDivisionError("oh")
        return await self._maker.make(order, now)


async def test_a_digest_that_cannot_be_made_is_tried_again_less_and_less_often_and_given_up_holding_up_nobody() -> None:
    harness = await furnished()
    await due(harness, id="a", channel="C1", topic="gpu")
    await due(harness, id="b", channel="C2", topic="kv")
    maker = Stumbling(Publisher(harness.store, Extractive(), {"arxiv": "arXiv"}))
    made = Preparer(harness.context(), maker, RequestBuilder(harness.store.workspaces, TOPICS))
    now = NOW
    while now < NOW + 13 * HOUR:
        await made.prepare_due(now)
        now += timedelta(minutes=1)
    assert [each.channel for each in (await harness.rows()).values()] == ["C2"]
    (given_up,) = await harness.store.ledger.occurrences(now, state=OccurrenceState.SKIPPED)
    assert given_up.channel == "C1"
    assert given_up.reason.startswith("it is too late to post it. An unexpected")
    assert "ZeroDivisionError" in given_up.reason
    assert 20 < maker.tried < 70


class Late:
    """A maker that sees another workspace's digest become due while it makes its tenth."""

    def __init__(self, harness: Harness, maker: Publisher) -> None:
        self._house = harness
        self._maker = maker
        self.made: list[str] = []

    async def make(self, order: DigestRequest, now: datetime) -> Digest:
        self.made.append(order.workspace)
        if len(self.made) == 10:
            await due(self._house, id="late", workspace="chat:T2", channel="C1")
        return await self._maker.make(order, now)


async def test_a_workspace_whose_hundreds_of_digests_are_being_made_does_not_delay_anothers_one() -> None:
    harness = await furnished()
    for number in range(1, 121):
        await due(harness, number=number)
    maker = Late(harness, Publisher(harness.store, Extractive(), {"arxiv": "arXiv"}))
    await Preparer(harness.context(), maker, RequestBuilder(harness.store.workspaces, TOPICS)).prepare_due(NOW)
    assert len(maker.made) == 121
    assert maker.made.index("chat:T2") <= 10 + BATCH


class Full(MemoryStore):
    """A database that takes no writing."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = instead(self.ledger, close_occurrence=self.close_occurrence)

    async def close_occurrence(
        self, occurrence: Occurrence, now: datetime, *, digest: Digest | None = None, deliveries: object = ()
    ) -> bool:
        raise StoreError("The disk is full.")


async def test_a_database_that_takes_no_writing_ends_the_round() -> None:
    harness = await furnished(Full())
    await due(harness)
    with pytest.raises(StoreError, match="full"):
        await preparer(harness).prepare_due(NOW)
    assert harness.chat.messages == []


async def test_two_that_print_at_once_make_one_digest() -> None:
    harness = await furnished()
    await due(harness)
    one, other = preparer(harness), preparer(harness)
    await one.prepare_due(NOW)
    await other.prepare_due(NOW)
    assert len(await harness.rows()) == 1


async def test_a_platform_that_is_not_connected_is_waited_for() -> None:
    harness = await furnished()
    await due(harness)
    nobody = DeliveryContext(harness.store, harness.store.ledger, {}, harness.settings, random.Random(0))
    publisher = Publisher(harness.store, Extractive(), {"arxiv": "arXiv"})
    await Preparer(nobody, publisher, RequestBuilder(harness.store.workspaces, TOPICS)).prepare_due(NOW)
    assert await harness.rows() == {}
    await preparer(harness).prepare_due(NOW + timedelta(minutes=5))
    assert len(await harness.rows()) == 1


def test_identifiers_are_short_and_plain_and_the_same_wherever_they_are_made() -> None:
    made = {
        delivery_id(number, NOW.date() + timedelta(days=day), slot, part)
        for number in ("s1", "s2", "s1\n2026", "\ud800")
        for day in range(20)
        for slot in range(2)
        for part in range(1, 4)
    }
    assert len(made) == 4 * 20 * 2 * 3
    assert all(len(each) == 24 and each.isascii() and each.isalnum() and each == each.lower() for each in made)
    assert delivery_id("s1", NOW.date(), 0, 1) == "hnr1vwgjy9xn0sxvqs5gt0sk"


# --- at the edges


async def test_whoever_was_stopped_makes_no_further_digest() -> None:
    harness = await furnished()
    await due(harness)
    stopped = preparer(harness)
    stopped.stop()
    assert await stopped.prepare_due(NOW) == 0
    assert await told(harness) == [(OccurrenceState.DUE, "")]


MOMENT = timedelta(microseconds=1)
LATE, CATCH_UP = timedelta(minutes=15), 12 * HOUR


@pytest.mark.parametrize(("after", "late"), [(LATE, False), (LATE + MOMENT, True)])
async def test_a_digest_is_late_from_a_moment_after_the_quarter_of_an_hour_on(after: timedelta, late: bool) -> None:
    harness = await furnished()
    await due(harness)
    await preparer(harness).prepare_due(NOW + after)
    (row,) = (await harness.rows()).values()
    assert ("(late)" in row.payload) is late
    (found,) = await harness.store.ledger.recent_occurrences("chat:T1")
    assert found.late is late


@pytest.mark.parametrize(
    ("after", "state"), [(CATCH_UP, OccurrenceState.MADE), (CATCH_UP + MOMENT, OccurrenceState.SKIPPED)]
)
async def test_a_digest_is_made_up_to_the_end_of_the_catch_up_window(after: timedelta, state: OccurrenceState) -> None:
    harness = await furnished()
    await due(harness)
    await preparer(harness).prepare_due(NOW + after)
    assert [each for each, _ in await told(harness)] == [state]


class ReadTurns:
    """A ledger that notes which turns it was told of."""

    def __init__(self, ledger: Any) -> None:
        self._ledger = ledger
        self.had: list[dict[str, int]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    async def occurrences(self, now: datetime, *, limit: int, had: Mapping[str, int]) -> Sequence[Occurrence]:
        """Return what is due."""
        self.had.append(dict(had))
        found: Sequence[Occurrence] = await self._ledger.occurrences(now, limit=limit, had=had)
        return found


async def test_each_reading_of_the_ledger_says_how_many_turns_every_workspace_has_had() -> None:
    harness = await furnished()
    for number in range(BATCH + 4):
        await due(harness, number=number)
    ledger = ReadTurns(harness.store.ledger)
    context = replace(harness.context(), ledger=cast(Ledger, ledger))
    publisher = Publisher(harness.store, Extractive(), {"arxiv": "arXiv"})
    requests = RequestBuilder(harness.store.workspaces, TOPICS, Limits(entries=3))

    assert await Preparer(context, publisher, requests).prepare_due(NOW) == BATCH + 4
    assert ledger.had == [{}, {"chat:T1": BATCH}, {"chat:T1": BATCH + 4}]


async def test_few_readings_look_at_every_workspace_however_many_wait() -> None:
    harness = await furnished()
    for number in range(20 * BATCH):
        await due(harness, number=number, workspace=f"chat:T{number}")
    ledger = ReadTurns(harness.store.ledger)
    context = replace(harness.context(), ledger=cast(Ledger, ledger))
    publisher = Publisher(harness.store, Extractive(), {"arxiv": "arXiv"})
    prepare = Preparer(context, publisher, RequestBuilder(harness.store.workspaces, TOPICS))
    assert await prepare.prepare_due(NOW) == 20 * BATCH
    assert [len(had) for had in ledger.had] == [0, BATCH, 3 * BATCH, 7 * BATCH, 15 * BATCH, 20 * BATCH]


class Missed(Late):
    """A maker that sees what another workspace missed become due after each of the others had its twentieth."""

    async def make(self, order: DigestRequest, now: datetime) -> Digest:
        self.made.append(order.workspace)
        if len(self.made) == 20 * 20:
            for number in range(2 * BATCH):
                await due(self._house, id=f"missed-{number}", workspace="chat:late", channel=f"C{number}")
        return await self._maker.make(order, now)


async def test_who_comes_with_all_it_missed_delays_the_others_by_a_batch_at_most() -> None:
    harness = await furnished()
    for number in range(20 * 23):
        await due(harness, number=number, workspace=f"chat:T{number % 20}")
    maker = Missed(harness, Publisher(harness.store, Extractive(), {"arxiv": "arXiv"}))
    await Preparer(harness.context(), maker, RequestBuilder(harness.store.workspaces, TOPICS)).prepare_due(NOW)
    runs = [(workspace, len(list(run))) for workspace, run in groupby(maker.made)]
    late = [many for at, (workspace, many) in enumerate(runs) if workspace == "chat:late" and at < len(runs) - 1]
    assert (late[0], max(late)) == (BATCH, BATCH)


async def test_what_nobody_needs_to_mend_is_no_alert() -> None:
    harness = await furnished()
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(alerts="C-admin"), change())
    await due(harness, paused=True)
    await preparer(harness).prepare_due(NOW)
    assert await told(harness) == [(OccurrenceState.SKIPPED, "paused.")]
    await harness.deliverer().send_notices(harness.clock)
    assert harness.chat.announced == []


async def test_a_digest_made_while_the_clock_showed_a_later_time_waits_for_that_time_no_longer_than_to_the_next_tick() -> (
    None
):
    harness = await furnished()
    await due(harness)
    context = harness.context()
    scheduler = Scheduler(context)
    await scheduler.tick(NOW)
    publisher = Publisher(harness.store, Extractive(), {"arxiv": "arXiv"})
    maker = Preparer(context, publisher, RequestBuilder(harness.store.workspaces, TOPICS, Limits(entries=3)))
    await maker.prepare_due(NOW + HOUR)
    later = NOW + timedelta(seconds=15)
    assert await harness.store.ledger.due_deliveries(later) == []
    await scheduler.tick(later)
    assert await harness.store.ledger.due_deliveries(later)
