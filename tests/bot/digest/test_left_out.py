"""What a digest leaves out is recorded; what fell to the cap is carried on for three days, and posted once at most."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.digest import selection
from bot.digest.left_out import came_close, how_many, still_candidates
from bot.digest.publisher import Publisher
from bot.digest.recent_items import STEP
from bot.errors import Conflict
from bot.models import (
    DeliveryState,
    Digest,
    DigestRequest,
    Interest,
    Item,
    LeftOut,
    Limits,
    Occurrence,
    OccurrenceState,
    PastDigest,
    Topic,
)
from bot.query import parse
from bot.summarise.extractive import Extractive
from tests.conftest import NOW, tries
from tests.contract.test_ledger import LEASE, part, subscribed
from tests.fakes.works import paper, repo
from tests.stores.memory import MemoryStore

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
TOPIC = Topic(name="kv", title="KV cache", query=parse("cache"), interests=(Interest("fast", 2.0),))


def about(number: int, *, fits: int = 0) -> Item:
    """A paper that nobody takes for a twin of another; the more often it says what the topic asks for, the better."""
    said = " ".join(f"{letter}{number}{letter}" for letter in "bcdfgh")
    return paper(f"2603.{number:05}", title=f"A cache of {said}", abstract=f"{said}. {'fast ' * fits}")


def asked(entries: int = 1, **given: object) -> DigestRequest:
    made = DigestRequest(TOPIC, "local", "local", limits=Limits(entries=entries))
    return replace(made, **given)  # type: ignore[arg-type]


def publisher_of(store: MemoryStore) -> Publisher:
    return Publisher(store, Extractive(), {"arxiv": "arXiv"})


async def published(store: MemoryStore, at: datetime, request: DigestRequest | None = None) -> Digest:
    (digest,) = await publisher_of(store).publish([request or asked()], at, record=True)
    return digest


def shown(digest: Digest) -> list[str]:
    return [entry.ranked.item.key[-2:] for entry in digest.entries]


def told(left: Sequence[LeftOut]) -> list[tuple[str, str, int]]:
    return [(each.key[-2:], each.reason, each.place) for each in left]


def adds_up(digest: Digest) -> bool:
    return digest.coverage.seen == digest.coverage.kept + sum(count for _, count in digest.coverage.dropped)


@pytest.fixture
async def store() -> MemoryStore:
    return MemoryStore()


# --- what is recorded


async def test_what_is_on_topic_and_has_no_place_is_recorded_the_best_first(store: MemoryStore, now: datetime) -> None:
    twin = replace(about(4, fits=4), key="arxiv:2603.00014")
    tea = paper("2603.00009", title="A pot of tea", abstract="Tea.")
    await store.items.add([about(1, fits=1), about(2, fits=2), about(3, fits=3), about(4, fits=4), twin, tea], now)

    digest = await published(store, now)

    assert shown(digest) == ["04"] or shown(digest) == ["14"]
    over = [("03", selection.CAP, 3), ("02", selection.CAP, 4), ("01", selection.CAP, 5)]
    ((_, reason, place), *rest) = told(digest.left_out)
    assert (reason, place, rest) == (selection.TWIN, 2, over)
    assert (digest.above, digest.cap, adds_up(digest)) == (5, 1, True)
    assert [each.since for each in digest.left_out] == [None, now, now, now]
    scores = [each.score for each in digest.left_out]
    assert scores == sorted(scores, reverse=True)
    (past,) = await store.digests.past("local", "local")
    assert (past.left_out, past.above, past.cap) == (digest.left_out, 5, 1)


async def test_all_that_is_on_topic_is_counted_and_the_best_hundred_are_listed(store: MemoryStore, now: datetime) -> None:
    await store.items.add([about(number, fits=1) for number in range(1, 107)], now)

    digest = await published(store, now)

    assert (len(digest.left_out), digest.others, digest.above) == (100, 105, 106)
    (past,) = await store.digests.past("local", "local")
    assert (past.others, how_many(past), how_many(digest)) == (105, "105", "105")


async def test_what_came_close_to_the_score_is_recorded_and_what_did_not_is_not(store: MemoryStore, now: datetime) -> None:
    await store.items.add([about(1), about(2, fits=2), about(3, fits=9)], now)
    (free,) = await publisher_of(store).publish([asked(3)], now)
    best, middle, worst = sorted((entry.ranked.score for entry in free.entries), reverse=True)
    assert not came_close(worst, middle + 0.01)

    digest = await published(store, now, asked(3, min_score=middle + 0.01))

    assert (shown(digest), told(digest.left_out)) == (["03"], [("02", selection.SCORE, 2)])
    assert (digest.min_score, digest.above, digest.left_out[0].score) == (middle + 0.01, 1, middle)
    assert best > middle > worst


def test_what_has_three_quarters_of_what_is_asked_for_came_close() -> None:
    assert not came_close(0.2, 0.3)
    assert came_close(0.23, 0.3)
    assert came_close(0.0, 0.0)


async def test_a_card_that_finds_no_place_is_recorded_once_with_its_other_half(store: MemoryStore, now: datetime) -> None:
    joined = replace(about(1, fits=1), repo="github:lab/quick")
    await store.items.add([joined, repo("lab/quick", abstract="A cache.", paper=joined.key), about(2, fits=9)], now)

    digest = await published(store, now)

    (left,) = digest.left_out
    assert {left.key, left.other} == {joined.key, "github:lab/quick"}
    assert adds_up(digest)


# --- what is carried on


async def test_what_fell_to_the_cap_is_in_the_next_digest_and_is_counted_there(store: MemoryStore, now: datetime) -> None:
    await store.items.add([about(1, fits=1), about(2, fits=2), about(3, fits=3)], now)
    first = await published(store, now)
    await store.items.add([about(4, fits=2)], now + HOUR)

    preview = await publisher_of(store).preview(asked(2), now + DAY)
    second = await published(store, now + DAY, asked(2))

    assert (shown(first), shown(second)) == (["03"], shown(preview))
    assert set(shown(second)) == {"02", "04"}
    assert (second.coverage.seen, adds_up(second)) == (3, True)
    assert {each.key[-2:] for each in second.carried} == {"01", "02"}
    assert told(second.left_out) == [("01", selection.CAP, 3)]
    assert second.left_out[0].since == now
    third = await published(store, now + 2 * DAY)
    assert (shown(third), third.left_out, third.coverage.seen) == (["01"], (), 1)


async def test_it_is_carried_on_for_three_days_and_friday_reaches_monday(store: MemoryStore, now: datetime) -> None:
    await store.items.add([about(number, fits=number) for number in range(1, 9)], now)
    await published(store, now)

    days = [shown(await published(store, now + days * DAY + HOUR)) for days in (1, 2, 3, 4, 5)]

    assert days == [["07"], ["06"], ["05"], [], []]
    (monday, *_) = await store.digests.past("local", "local", with_entries=True)
    assert {each.since for each in monday.left_out} == {now}


async def test_what_was_carried_on_and_posted_for_another_topic_is_not_posted_again(
    store: MemoryStore, now: datetime
) -> None:
    other = replace(TOPIC, name="other", title="Other")
    await store.items.add([about(1, fits=1), about(2, fits=2)], now)
    await published(store, now)
    await published(store, now + HOUR, asked(topic=other))

    digest = await published(store, now + DAY)

    assert (shown(digest), digest.coverage.seen) == ([], 0)


async def test_what_gave_way_to_a_near_twin_comes_no_more(store: MemoryStore, now: datetime) -> None:
    await store.items.add([about(1, fits=1), about(2, fits=9)], now)
    await published(store, now)
    await store.items.add([replace(about(1, fits=3), key="arxiv:2603.00011")], now + HOUR)

    second, third = await published(store, now + DAY, asked(3)), await published(store, now + 2 * DAY, asked(3))

    assert (shown(second), told(second.left_out)) == (["11"], [("01", selection.TWIN, 2)])
    assert shown(third) == []


async def test_it_is_found_under_the_key_that_it_has_since(store: MemoryStore, now: datetime) -> None:
    await store.items.add([about(1, fits=1), about(2, fits=2)], now)
    await published(store, now)
    fresh = replace(about(1, fits=1), key="arxiv:2604.00001", aliases=("arxiv:2603.00001",))
    await store.items.add([fresh], now + HOUR, retired=["arxiv:2603.00001"])

    digest = await published(store, now + DAY)

    assert ([entry.ranked.item.key for entry in digest.entries], digest.coverage.seen) == (["arxiv:2604.00001"], 1)


async def test_it_is_found_in_an_item_that_was_stored_long_before_it(store: MemoryStore, now: datetime) -> None:
    await store.items.add([replace(about(1), key="url:https://lab.example/1", abstract="")], now - 9 * DAY)
    teas = [paper(f"2602.{number:05}", title="Tea") for number in range(STEP)]  # so that an index need not reach back to it
    await store.items.add(teas, now - 8 * DAY)
    await store.items.add([about(1, fits=1), about(2, fits=2)], now)
    await published(store, now)
    merged = replace(about(1, fits=1), key="url:https://lab.example/1", aliases=("arxiv:2603.00001",), seen=now - 9 * DAY)
    await store.items.add([merged], now + HOUR, retired=["arxiv:2603.00001"])

    digest = await published(store, now + DAY)

    assert ([entry.ranked.item.key for entry in digest.entries], adds_up(digest)) == (["url:https://lab.example/1"], True)


async def test_what_a_weekly_digest_left_out_is_carried_on_though_it_came_in_long_ago(
    store: MemoryStore, now: datetime
) -> None:
    await store.items.add([about(1, fits=1), about(2, fits=2)], now - 9 * DAY)
    await published(store, now, asked(window=10 * DAY))

    digest = await published(store, now + DAY, asked(window=10 * DAY))

    assert (shown(digest), digest.window.after) == (["01"], 2)


async def test_what_a_pause_leaves_out_and_what_was_left_before_subscribing_anew_stays_out(
    store: MemoryStore, now: datetime
) -> None:
    await store.items.add([about(1, fits=1), about(2, fits=2)], now)
    await published(store, now)

    begun_since = asked(baseline=now + HOUR, baseline_arrival=2)
    begun_before = asked(baseline=now - HOUR, baseline_arrival=0)

    assert (await publisher_of(store).preview(begun_since, now + DAY)).entries == ()
    assert shown(await publisher_of(store).preview(begun_before, now + DAY)) == ["01"]
    assert (await publisher_of(store).preview(asked(since_last=False, window=HOUR), now + DAY)).entries == ()


async def test_a_dropped_digest_leaves_what_it_carried_on_to_the_next(store: MemoryStore, now: datetime) -> None:
    ours = await subscribed(store)
    request = replace(asked(), workspace=ours.workspace, channel=ours.channel)
    await store.items.add([about(1, fits=1), about(2, fits=2)], now)
    await published(store, now, request)
    digest = await publisher_of(store).preview(request, now + DAY)
    due = Occurrence(subscription=ours.id, workspace="T1", channel=ours.channel, topic="kv", day=digest.day, due=now + DAY)
    await store.ledger.open_occurrences([due], ours, now + 9 * DAY)
    pending = part(due, made_at=now + DAY)
    closed = replace(due, state=OccurrenceState.MADE)
    assert await store.ledger.close_occurrence(closed, now + DAY, digest=digest, deliveries=[pending])
    assert (await publisher_of(store).preview(request, now + 2 * DAY)).entries == ()

    held = await store.ledger.claim(pending, now + DAY, LEASE)
    assert held is not None
    assert await store.ledger.record(replace(held, state=DeliveryState.FAILED, reason="No."), unposted=True)

    assert shown(await publisher_of(store).preview(request, now + 2 * DAY)) == ["01"]


async def test_of_two_digests_that_carry_the_same_on_the_later_one_is_made_anew(store: MemoryStore, now: datetime) -> None:
    ours = await subscribed(store)
    request = replace(asked(), workspace=ours.workspace, channel=ours.channel)
    await store.items.add([about(1, fits=1), about(2, fits=2)], now)
    await published(store, now, request)
    both = [await publisher_of(store).preview(request, now + DAY) for _ in range(2)]
    dues = [
        Occurrence(
            subscription=ours.id, workspace="T1", channel=ours.channel, topic="kv", day=now.date(), slot=slot, due=now
        )
        for slot in (0, 1)
    ]
    await store.ledger.open_occurrences(dues, ours, now + 9 * DAY)

    async def closed(which: int) -> bool:
        done = replace(dues[which], state=OccurrenceState.MADE)
        return await store.ledger.close_occurrence(done, now + DAY, digest=both[which], deliveries=[part(dues[which])])

    assert await closed(0)
    with pytest.raises(Conflict, match="posted what this one was to show"):
        await closed(1)


def test_a_clock_that_ran_ahead_carries_nothing_on_for_longer() -> None:
    over = LeftOut("arxiv:1", selection.CAP, 2, 0.5, since=NOW + 300 * DAY)
    past = [PastDigest("kv", "KV", NOW.date(), NOW, (), (over,))]

    assert still_candidates(past, None, NOW) == {}
    assert still_candidates(past, None, NOW + 301 * DAY) == {"arxiv:1": over}


# --- the law

steps = st.lists(
    st.tuples(
        st.sampled_from((HOUR, 6 * HOUR, DAY, DAY, 3 * DAY, 4 * DAY)),
        st.integers(0, 4),  # papers that come in before the digest
        st.integers(1, 3),  # entries that it may hold
    ),
    min_size=1,
    max_size=10,
)


@given(steps=steps)
@settings(deadline=None, max_examples=tries(40))
async def test_what_is_over_the_cap_is_posted_within_three_days_or_dropped_with_a_recorded_reason_and_never_posted_twice(
    steps: list[tuple[timedelta, int, int]],
) -> None:
    store, at, count = MemoryStore(), NOW, 0
    first: dict[str, datetime] = {}  # when each was first over the cap
    posted: dict[str, datetime] = {}
    for later, papers, entries in steps:
        at += later
        fresh = [
            replace(about(count + number, fits=(count + number) * 7 % 5), published=at, appeared=at)
            for number in range(1, papers + 1)
        ]
        count += papers
        await store.items.add(fresh, at - timedelta(minutes=5))
        digest = await published(store, at, asked(entries))

        assert adds_up(digest)
        keys = {entry.ranked.item.key for entry in digest.entries}
        assert not keys & posted.keys()
        posted |= dict.fromkeys(keys, at)
        left = {each.key: each for each in digest.left_out if each.reason == selection.CAP}
        for key in left:
            first.setdefault(key, at)
            assert left[key].since == first[key]
        assert all(at - first[key] <= 3.5 * DAY for key in keys & first.keys())
        within = {key for key, since in first.items() if since < at <= since + 3 * DAY and posted.get(key, at) == at}
        assert within == {key for key in (*keys, *left) if first.get(key, at) < at and at - first[key] <= 3 * DAY}
        seen = {*keys, *left}
        assert len(seen) == digest.coverage.seen
