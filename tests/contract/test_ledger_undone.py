"""A digest of which nothing was posted leaves no trace; and what waits is let go when what it waits for is not true."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.errors import Conflict
from bot.models import (
    FOREVER,
    Delivery,
    DeliveryState,
    OccurrenceState,
    Position,
    Rhythm,
    Schedule,
    Subscription,
    Unposted,
    Window,
)
from tests.conftest import NOW
from tests.contract.made import change, digest, paper
from tests.contract.test_ledger import DAY, LEASE, MINUTE, TODAY, made, occurrence, part, subscribed, taken
from tests.stores import AnyStore

HOUR = timedelta(hours=1)
FIRST = {paper(1).key, paper(2).key}
EVERYTHING = Window()
ENDED = [DeliveryState.FAILED, DeliveryState.EXPIRED]


async def printed(
    store: AnyStore,
    of: Subscription,
    *,
    slot: int = 0,
    first: int = 1,
    parts: int = 2,
    at: datetime | None = None,
    since: datetime = NOW - DAY,
    window: Window = EVERYTHING,
    news: str = "",
    rhythm: str = "",
) -> list[Delivery]:
    """Return the messages of a digest that shows two papers from this number on; one a minute, by their slots."""
    due, at = occurrence(of, slot=slot), at or NOW + slot * MINUTE
    await store.ledger.open_occurrences([due], of, NOW + DAY)
    pending = [part(due, number, parts, made_at=at) for number in range(1, parts + 1)]
    shown = replace(digest(0.5, 0.25, first=first), since=since, until=at, window=window, news=news)
    shown = replace(shown, subscription=of.id, rhythm=rhythm)
    assert await store.ledger.close_occurrence(
        replace(due, state=OccurrenceState.MADE), at, digest=shown, deliveries=pending
    )
    return pending


@pytest.mark.parametrize("state", ENDED)
async def test_a_digest_that_surely_never_appeared_posted_nothing(store: AnyStore, state: DeliveryState) -> None:
    ours = await subscribed(store)
    first, _ = await printed(store, ours)
    claimed = await taken(store, first)
    assert await store.ledger.record(replace(claimed, state=state, reason="Closed."), unposted=True)
    assert await store.digests.posted("T1", ours.channel) == frozenset()
    assert await store.digests.postings("T1", ours.channel, FIRST) == []
    assert await store.digests.last("T1", ours.channel, "kv") is None
    assert await store.digests.past("T1", ours.channel) == []
    assert {each.state for each in await store.ledger.deliveries("T1")} == {state, DeliveryState.EXPIRED}
    await printed(store, ours, slot=1)
    assert await store.digests.posted("T1", ours.channel) == FIRST
    assert await store.maintenance.check() == []


@pytest.mark.parametrize("state", ENDED)
async def test_what_may_have_appeared_counts_as_posted(store: AnyStore, state: DeliveryState) -> None:
    ours = await subscribed(store)
    first, _ = await printed(store, ours)
    assert await store.ledger.record(replace(await taken(store, first), state=state, reason="Perhaps."))
    assert await store.digests.posted("T1", ours.channel) == FIRST


async def test_a_later_part_that_fails_takes_nothing_back_of_what_the_first_has_shown(store: AnyStore) -> None:
    ours = await subscribed(store)
    first, second = await printed(store, ours)
    await store.ledger.record(replace(await taken(store, first), state=DeliveryState.DONE, message="m"))
    held = await taken(store, replace(second, thread="m"))
    assert await store.ledger.record(replace(held, state=DeliveryState.FAILED, reason="Closed."), unposted=True)
    assert await store.digests.posted("T1", ours.channel) == FIRST


async def test_only_its_own_digest_goes_though_another_of_the_day_shows_the_same(store: AnyStore) -> None:
    ours = await subscribed(store)
    (kept,) = await printed(store, ours, parts=1)
    (gone,) = await printed(store, ours, slot=1, first=2, parts=1)
    await store.ledger.record(replace(await taken(store, kept), state=DeliveryState.DONE, message="m"))
    await store.ledger.record(
        replace(await taken(store, gone), state=DeliveryState.EXPIRED, reason="Too late."), unposted=True
    )
    assert await store.digests.posted("T1", ours.channel) == FIRST
    assert await store.digests.last("T1", ours.channel, "kv") == (TODAY, Position(0, NOW))


async def test_a_digest_of_another_topic_made_since_left_out_what_the_dropped_one_showed_and_is_owed_too(
    store: AnyStore,
) -> None:
    ours = await subscribed(store)
    await store.digests.save("T1", ours.channel, replace(digest(topic="before"), window=Window(0, 4)), NOW - HOUR)
    (gone,) = await printed(store, ours, parts=1, window=Window(3, 7))
    await saved(store, ours, Window(5, 7), topic="other")
    await saved(store, ours, Window(7, 9), topic="other")
    await ends(store, gone, NOW + DAY)
    assert (await owed(store, ours), await owed(store, ours, "other"), await owed(store, ours, "before")) == (3, 5, None)
    await saved(store, ours, Window(5, 9, makes_up=2), topic="other")
    assert (await owed(store, ours), await owed(store, ours, "other")) == (3, None)


async def test_of_two_digests_that_take_the_same_over_from_earlier_ones_the_later_is_made_anew(store: AnyStore) -> None:
    ours = await subscribed(store)
    (gone,) = await printed(store, ours, parts=1, window=Window(3, 7))
    await store.digests.save("T1", ours.channel, replace(digest(), window=Window(7, 7)), NOW + HOUR)
    await ends(store, gone, NOW + DAY)
    again = Window(3, 7, follows=7, makes_up=1)
    await printed(store, ours, slot=1, parts=1, window=again)
    with pytest.raises(Conflict, match="posted what this one was to show"):
        await printed(store, ours, slot=2, parts=1, window=again)


async def test_who_holds_it_no_more_takes_nothing_back(store: AnyStore) -> None:
    ours = await subscribed(store)
    first, _ = await printed(store, ours)
    stale = await taken(store, first)
    await store.ledger.claim(stale, NOW + HOUR, LEASE)
    assert not await store.ledger.record(replace(stale, state=DeliveryState.FAILED), unposted=True)
    assert await store.digests.posted("T1", ours.channel) == FIRST


# --- what the next digest owes


async def ends(store: AnyStore, delivery: Delivery, at: datetime, state: DeliveryState = DeliveryState.EXPIRED) -> None:
    """Let the delivery end at a time, nothing of it having been posted."""
    held = await taken(store, delivery, at)
    assert await store.ledger.record(replace(held, state=state, reason="Too late."), unposted=True)


async def saved(store: AnyStore, of: Subscription, window: Window, topic: str = "kv") -> None:
    """Keep a digest of nothing."""
    empty = replace(digest(topic=topic), window=window)
    await store.digests.save("T1", of.channel, empty, NOW + HOUR)


async def owed(store: AnyStore, of: Subscription, topic: str = "kv") -> int | None:
    """Return after which arrival the next digest begins because of those that were dropped."""
    found = await store.digests.unposted("T1", of.channel, topic)
    return found.begins.arrival if found else None


async def dropped(store: AnyStore, of: Subscription) -> int:
    """Return the number of the last that was dropped."""
    found = await store.digests.unposted("T1", of.channel, "kv")
    return found.number if found else 0


@pytest.mark.parametrize("state", ENDED)
async def test_a_digest_that_ends_unposted_after_a_later_one_was_made_leaves_its_arrivals_to_the_next(
    store: AnyStore, state: DeliveryState
) -> None:
    ours = await subscribed(store)
    (gone,) = await printed(store, ours, parts=1, window=Window(3, 7))
    await saved(store, ours, Window(7, 9))
    assert await owed(store, ours) is None
    await ends(store, gone, NOW + DAY + 2 * HOUR, state)
    assert await store.digests.unposted("T1", ours.channel, "kv") == Unposted(Position(3, NOW - DAY), 1)
    assert await store.digests.last("T1", ours.channel, "kv") == (TODAY, Position(9, NOW))
    assert await store.digests.unposted("T1", ours.channel, "other") is None
    assert await store.digests.unposted("T1", "C9", "kv") is None
    assert await store.digests.unposted("T9", ours.channel, "kv") is None
    await saved(store, ours, Window(0, 12, makes_up=1), topic="other")
    assert await owed(store, ours) == 3
    await saved(store, ours, Window(3, 12, makes_up=1))
    assert await owed(store, ours) is None


async def test_the_earliest_of_those_that_were_dropped_is_where_the_next_begins(store: AnyStore) -> None:
    ours = await subscribed(store)
    windows = (Window(5, 8), Window(4, 9, follows=8), Window(9, 10, follows=9))
    pending = [(await printed(store, ours, slot=slot, parts=1, window=each))[0] for slot, each in enumerate(windows)]
    for each in pending:
        await ends(store, each, NOW + HOUR)
    assert await store.digests.unposted("T1", ours.channel, "kv") == Unposted(Position(4, NOW - DAY), 3)


async def test_one_that_took_it_over_and_is_dropped_too_leaves_it_again(store: AnyStore) -> None:
    ours = await subscribed(store)
    (first,) = await printed(store, ours, parts=1, window=Window(2, 5))
    await ends(store, first, NOW + 5 * HOUR)
    again = Window(2, 8, makes_up=await dropped(store, ours))
    (second,) = await printed(store, ours, slot=1, parts=1, at=NOW + DAY, window=again)
    assert await owed(store, ours) is None
    await saved(store, ours, Window(8, 9))
    await ends(store, second, NOW + 3 * DAY)
    assert await owed(store, ours) == 2
    assert await store.maintenance.check() == []


async def test_what_is_posted_leaves_nothing(store: AnyStore) -> None:
    ours = await subscribed(store)
    (sent,) = await printed(store, ours, parts=1)
    (perhaps,) = await printed(store, ours, slot=1, first=3, parts=1)
    await store.ledger.record(replace(await taken(store, sent), state=DeliveryState.DONE, message="m"))
    await store.ledger.record(replace(await taken(store, perhaps), state=DeliveryState.EXPIRED, reason="Perhaps."))
    assert await owed(store, ours) is None


async def test_a_digest_that_was_being_made_while_another_was_dropped_does_not_make_up_for_it(store: AnyStore) -> None:
    ours = await subscribed(store)
    (first,) = await printed(store, ours, parts=1, window=Window(1, 2))
    (second,) = await printed(store, ours, slot=1, parts=1, window=Window(2, 3, follows=2))
    await ends(store, first, NOW + HOUR)
    knew = await dropped(store, ours)
    await ends(store, second, NOW + HOUR)
    await saved(store, ours, Window(1, 9, makes_up=knew))
    assert await owed(store, ours) == 2
    (third,) = await printed(
        store, ours, slot=2, parts=1, window=Window(2, 9, follows=9, makes_up=await dropped(store, ours))
    )
    assert await owed(store, ours) is None
    await ends(store, third, NOW + 2 * HOUR)
    assert await dropped(store, ours) > knew + 1


async def test_of_two_digests_of_a_topic_that_were_made_at_once_the_second_is_refused(store: AnyStore) -> None:
    ours = await subscribed(store)
    (first,) = await printed(store, ours, parts=1, window=Window(0, 5))
    with pytest.raises(Conflict, match="made anew"):
        await printed(store, ours, slot=1, first=3, parts=1, window=Window(0, 6))
    assert await store.digests.posted("T1", ours.channel) == FIRST
    assert [each.slot for each in await store.ledger.occurrences(NOW + HOUR)] == [1]
    assert [each.id for each in await store.ledger.deliveries("T1")] == [first.id]
    await ends(store, first, NOW + HOUR)
    with pytest.raises(Conflict, match="made anew"):  # nor one that knew of the first, which is no more
        await printed(store, ours, slot=2, parts=1, window=Window(5, 6, follows=5))


async def test_unsubscribing_leaves_the_arrivals_of_what_was_not_posted(store: AnyStore) -> None:
    ours = await subscribed(store)
    await printed(store, ours, parts=1, window=Window(4, 6))
    await saved(store, ours, Window(6, 8))
    await store.workspaces.delete_subscription(ours, change())
    assert await owed(store, ours) == 4


async def test_what_nobody_makes_up_for_is_forgotten_with_the_rest_once_nothing_is_subscribed(store: AnyStore) -> None:
    ours = await subscribed(store)
    (gone,) = await printed(store, ours, parts=1, window=Window(4, 6))
    await ends(store, gone, NOW + HOUR)
    late = NOW + 40 * DAY + 2 * HOUR
    await store.maintenance.prune(items_before=NOW, readings_before=TODAY, now=late)
    assert await owed(store, ours) == 4
    await store.workspaces.delete_subscription(ours, change())
    await store.maintenance.prune(items_before=NOW, readings_before=TODAY, now=late - 2 * HOUR)
    assert await owed(store, ours) == 4
    await store.maintenance.prune(items_before=NOW, readings_before=TODAY, now=late)
    assert await owed(store, ours) is None


async def test_unsubscribing_takes_back_what_was_not_posted_yet(store: AnyStore) -> None:
    ours = await subscribed(store)
    (waiting,) = await printed(store, ours, parts=1)
    (held,) = await printed(store, ours, slot=1, first=3, parts=1)
    (sent,) = await printed(store, ours, slot=2, first=5, parts=1)
    claimed = [await taken(store, each) for each in (held, sent)]
    await store.workspaces.delete_subscription(ours, change())
    assert waiting.id in {each.id for each in await store.ledger.deliveries("T1", states=[DeliveryState.EXPIRED])}
    assert await store.ledger.record(replace(claimed[0], state=DeliveryState.PENDING, reason="Slow down."))
    assert await store.ledger.record(replace(claimed[1], state=DeliveryState.DONE, message="m"))
    assert await store.digests.posted("T1", ours.channel) == {paper(5).key, paper(6).key}


# --- let go


async def test_what_waits_for_a_later_time_has_its_turn_at_once_when_it_is_released(store: AnyStore) -> None:
    ours = await subscribed(store)
    pending, unclear, unknown, sent = [(await made(store, ours, slot=slot))[0] for slot in range(4)]
    later = NOW + DAY
    await store.ledger.record(
        replace(await taken(store, pending), state=DeliveryState.PENDING, next_at=later, reason="Quiet.")
    )
    await store.ledger.record(
        replace(await taken(store, unclear), state=DeliveryState.AMBIGUOUS, next_at=later, reason="Lost.")
    )
    await store.ledger.record(
        replace(await taken(store, unknown), state=DeliveryState.AMBIGUOUS, next_at=FOREVER, reason="unknown: no.")
    )
    await store.ledger.claim(sent, later, LEASE)  # by a clock that ran ahead
    due = occurrence(ours, slot=9)
    await store.ledger.open_occurrences([due], ours, NOW + DAY)
    await store.ledger.close_occurrence(replace(due, next_at=later, reason="Quiet."), NOW)
    assert (
        await store.ledger.due_deliveries(NOW),
        await store.ledger.unsettled_deliveries(NOW),
        await store.ledger.occurrences(NOW),
    ) == (
        [],
        [],
        [],
    )

    assert await store.ledger.release(NOW) == 4

    assert [each.id for each in await store.ledger.due_deliveries(NOW)] == [pending.id]
    assert {each.id for each in await store.ledger.unsettled_deliveries(NOW)} == {unclear.id, sent.id}
    assert [(each.slot, each.reason) for each in await store.ledger.occurrences(NOW)] == [(9, "Quiet.")]
    assert await store.ledger.release(NOW) == 0


async def test_what_is_held_by_somebody_who_lives_is_not_released(store: AnyStore) -> None:
    (pending,) = await made(store, await subscribed(store))
    await taken(store, pending)
    assert await store.ledger.release(NOW) == 0
    assert await store.ledger.unsettled_deliveries(NOW + LEASE / 2) == []


async def test_one_workspace_is_released_and_no_other(store: AnyStore) -> None:
    for workspace in ("T1", "T10"):
        ours = await subscribed(store, workspace=workspace)
        (pending,) = await made(store, ours)
        await store.ledger.record(replace(await taken(store, pending), state=DeliveryState.PENDING, next_at=NOW + DAY))
        due = occurrence(ours, slot=9)
        await store.ledger.open_occurrences([due], ours, NOW + DAY)
        await store.ledger.close_occurrence(replace(due, next_at=NOW + DAY), NOW)
    assert await store.ledger.release(NOW, workspace="T1") == 2
    assert [each.workspace for each in await store.ledger.due_deliveries(NOW)] == ["T1"]
    assert [each.workspace for each in await store.ledger.occurrences(NOW)] == ["T1"]


async def test_what_is_told_once_counts_as_told_unless_its_digest_never_appeared(
    store: AnyStore,
) -> None:
    ours = await subscribed(store, is_new_to_brief=True)

    async def stands() -> Subscription:
        (found,) = await store.workspaces.subscriptions("T1")
        return found

    await printed(store, ours)
    assert await stands() == ours
    first, _ = await printed(store, ours, slot=1, news="Digests are short now.")
    told = replace(ours, is_new_to_brief=False, revision=ours.revision + 1)
    assert await stands() == told
    with pytest.raises(Conflict):  # who had read it before does not bring the mark back
        await store.workspaces.save_subscription(ours, change(), replaces=ours.revision)
    ((due, at),) = await store.ledger.subscriptions_due(NOW + 2 * DAY)
    assert (due, at) == (told, NOW + DAY)
    claimed = await taken(store, first)
    assert await store.ledger.record(replace(claimed, state=DeliveryState.FAILED, reason="Closed."), unposted=True)
    assert await stands() == replace(told, is_new_to_brief=True, revision=told.revision + 1)
    second, _ = await printed(store, await stands(), slot=2, news="Digests are short now.")
    await store.workspaces.delete_subscription(await stands(), change())
    assert await store.workspaces.subscriptions("T1") == []
    assert second.part == 1


async def beside(store: AnyStore) -> tuple[Subscription, Subscription]:
    """Return a daily and a weekly subscription of one channel to one topic."""
    daily = await subscribed(store)
    fresh = replace(daily, id="s-weekly", schedule=Schedule(weekdays=(0,)), revision=0)
    return daily, await store.workspaces.save_subscription(fresh, change(), replaces=0)


async def test_each_rhythm_has_windows_of_its_own(store: AnyStore) -> None:
    daily, weekly = await beside(store)
    (first,) = await printed(store, daily, parts=1, window=Window(3, 7), rhythm="daily")
    place = ("T1", daily.channel, "kv")
    assert await store.digests.last(*place, Rhythm.WEEKLY) is None
    assert await store.digests.last(*place) == await store.digests.last(*place, Rhythm.DAILY) == (TODAY, Position(7, NOW))
    (second,) = await printed(store, weekly, first=3, parts=1, window=Window(0, 9), rhythm="weekly")
    assert await store.digests.last(*place, Rhythm.DAILY) == (TODAY, Position(7, NOW))
    assert await store.digests.last(*place, Rhythm.WEEKLY) == (TODAY, Position(9, NOW))
    assert len(await store.digests.past(*place[:2], topic="kv", rhythm=Rhythm.WEEKLY)) == 1
    assert len(await store.digests.past(*place[:2], topic="kv")) == 2
    # Made in one moment, and on one day: what is dropped of one leaves the other as it is, but for what it left out.
    await ends(store, first, NOW + HOUR)
    assert await store.digests.last(*place, Rhythm.DAILY) is None
    assert await store.digests.last(*place, Rhythm.WEEKLY) == (TODAY, Position(9, NOW))
    found = [await store.digests.unposted(*place, each) for each in (Rhythm.DAILY, Rhythm.WEEKLY)]
    assert [each and each.begins.arrival for each in found] == [3, 0]
    assert await store.digests.posted("T1", daily.channel) == {paper(3).key, paper(4).key}
    await printed(store, daily, slot=1, first=5, parts=1, window=Window(3, 9, makes_up=2), rhythm="daily")
    assert await store.digests.unposted(*place, Rhythm.DAILY) is None
    assert await store.digests.unposted(*place, Rhythm.WEEKLY) == found[1]
    assert second.part == 1


async def test_what_a_digest_of_another_rhythm_posted_meanwhile_is_not_posted_again(store: AnyStore) -> None:
    daily, weekly = await beside(store)
    await printed(store, daily, parts=1, rhythm="daily")
    with pytest.raises(Conflict, match="posted what this one was to show"):
        await printed(store, weekly, parts=1, rhythm="weekly")
