"""A digest of which nothing was posted leaves no trace; and what waits is let go when what it waits for is not true."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.models import FOREVER, Delivery, DeliveryState, OccurrenceState, Subscription
from tests.conftest import NOW
from tests.contract.made import change, digest, paper
from tests.contract.test_ledger import DAY, LEASE, MINUTE, TODAY, made, occurrence, part, subscribed, taken
from tests.stores import AnyStore

HOUR = timedelta(hours=1)
FIRST = {paper(1).key, paper(2).key}
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
) -> list[Delivery]:
    """Return the messages of a digest that shows two papers from this number on; one a minute, by their slots."""
    due, at = occurrence(of, slot=slot), at or NOW + slot * MINUTE
    await store.ledger.open_occurrences([due], of, NOW + DAY)
    pending = [part(due, number, parts, made_at=at) for number in range(1, parts + 1)]
    shown = replace(digest(0.5, 0.25, first=first), since=since, until=at)
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
    assert await store.digests.last_entries("T1", ours.channel) == []
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
    assert await store.digests.last("T1", ours.channel, "kv") == (TODAY, NOW)


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


async def saved(store: AnyStore, of: Subscription, since: datetime, until: datetime, topic: str = "kv") -> None:
    """Keep a digest of nothing."""
    empty = replace(digest(topic=topic, day=until.date()), since=since, until=until)
    await store.digests.save("T1", of.channel, empty, until)


async def owed(store: AnyStore, of: Subscription, topic: str = "kv") -> datetime | None:
    return await store.digests.unposted_since("T1", of.channel, topic)


@pytest.mark.parametrize("state", ENDED)
async def test_a_digest_that_ends_unposted_after_a_later_one_was_made_leaves_its_time_to_the_next(
    store: AnyStore, state: DeliveryState
) -> None:
    ours = await subscribed(store)
    (gone,) = await printed(store, ours, parts=1)
    await saved(store, ours, NOW, NOW + DAY)
    assert await owed(store, ours) is None
    await ends(store, gone, NOW + DAY + 2 * HOUR, state)
    assert await owed(store, ours) == NOW - DAY
    assert await store.digests.last("T1", ours.channel, "kv") == (TODAY + DAY, NOW + DAY)
    assert await store.digests.unposted_since("T1", ours.channel, "other") is None
    assert await store.digests.unposted_since("T1", "C9", "kv") is None
    assert await store.digests.unposted_since("T9", ours.channel, "kv") is None
    await saved(store, ours, NOW, NOW + 2 * DAY, topic="other")
    assert await owed(store, ours) == NOW - DAY
    await saved(store, ours, NOW - DAY, NOW + 2 * DAY)
    assert await owed(store, ours) is None


async def test_the_earliest_of_those_that_were_dropped_is_where_the_next_begins(store: AnyStore) -> None:
    ours = await subscribed(store)
    begins = (NOW - 2 * DAY, NOW - 3 * DAY, NOW - DAY)
    pending = [(await printed(store, ours, slot=slot, parts=1, since=since))[0] for slot, since in enumerate(begins)]
    for each in pending:
        await ends(store, each, NOW + HOUR)
    assert await owed(store, ours) == NOW - 3 * DAY


async def test_one_that_took_it_over_and_is_dropped_too_leaves_it_again(store: AnyStore) -> None:
    ours = await subscribed(store)
    (first,) = await printed(store, ours, parts=1)
    await ends(store, first, NOW + 5 * HOUR)
    (second,) = await printed(store, ours, slot=1, parts=1, at=NOW + DAY, since=NOW - DAY)
    assert await owed(store, ours) is None
    await saved(store, ours, NOW + DAY, NOW + 2 * DAY)
    await ends(store, second, NOW + 3 * DAY)
    assert await owed(store, ours) == NOW - DAY
    assert await store.maintenance.check() == []


async def test_what_is_posted_leaves_nothing(store: AnyStore) -> None:
    ours = await subscribed(store)
    (sent,) = await printed(store, ours, parts=1)
    (perhaps,) = await printed(store, ours, slot=1, first=3, parts=1)
    await store.ledger.record(replace(await taken(store, sent), state=DeliveryState.DONE, message="m"))
    await store.ledger.record(replace(await taken(store, perhaps), state=DeliveryState.EXPIRED, reason="Perhaps."))
    assert await owed(store, ours) is None


@pytest.mark.parametrize(("apart", "known"), [(-2 * HOUR, True), (-MINUTE, False), (MINUTE, False), (2 * HOUR, True)])
async def test_a_digest_that_was_being_made_while_another_ended_may_not_have_known_of_it(
    store: AnyStore, apart: timedelta, known: bool
) -> None:
    # Of one that ended a while after the digest was made, a clock told that had run ahead.
    ours = await subscribed(store)
    (gone,) = await printed(store, ours, parts=1)
    await ends(store, gone, NOW + DAY + apart)
    await saved(store, ours, NOW, NOW + DAY)
    assert await owed(store, ours) == (None if known else NOW - DAY)
    await saved(store, ours, NOW - DAY, NOW + 2 * DAY)
    assert await owed(store, ours) is None


async def test_unsubscribing_leaves_the_time_of_what_was_not_posted(store: AnyStore) -> None:
    ours = await subscribed(store)
    await printed(store, ours, parts=1)
    await saved(store, ours, NOW, NOW + DAY)
    await store.workspaces.delete_subscription(ours, change())
    assert await owed(store, ours) == NOW - DAY


async def test_what_nobody_made_up_for_is_forgotten_with_the_rest(store: AnyStore) -> None:
    ours = await subscribed(store)
    (gone,) = await printed(store, ours, parts=1)
    await ends(store, gone, NOW + HOUR)
    await store.maintenance.prune(items_before=NOW, readings_before=TODAY, now=NOW + 40 * DAY)
    assert await owed(store, ours) == NOW - DAY
    await store.maintenance.prune(items_before=NOW, readings_before=TODAY, now=NOW + 40 * DAY + 2 * HOUR)
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
