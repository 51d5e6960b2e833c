"""A digest of which nothing was posted leaves no trace; and what waits is let go when what it waits for is not true."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.models import FOREVER, Delivery, Happening, State, Subscription
from tests.conftest import NOW
from tests.contract.made import change, digest, paper
from tests.contract.test_ledger import DAY, LEASE, MINUTE, TODAY, Books, made, occurrence, part, subscribed, taken

HOUR = timedelta(hours=1)
FIRST = {paper(1).key, paper(2).key}
ENDED = [State.FAILED, State.EXPIRED]


async def printed(store: Books, of: Subscription, *, slot: int = 0, first: int = 1, parts: int = 2) -> list[Delivery]:
    """Return the messages of a digest that shows two papers from this number on; one a minute, by their slots."""
    due, at = occurrence(of, slot=slot), NOW + slot * MINUTE
    await store.open_occurrences([due], of, NOW + DAY)
    pending = [part(due, number, parts, made_at=at) for number in range(1, parts + 1)]
    shown = replace(digest(0.5, 0.25, first=first), until=at)
    assert await store.close_occurrence(replace(due, state=Happening.MADE), at, digest=shown, deliveries=pending)
    return pending


@pytest.mark.parametrize("state", ENDED)
async def test_a_digest_that_surely_never_appeared_posted_nothing(store: Books, state: State) -> None:
    ours = await subscribed(store)
    first, _ = await printed(store, ours)
    claimed = await taken(store, first)
    assert await store.record(replace(claimed, state=state, reason="Closed."), unposted=True)
    assert await store.posted("T1", ours.channel) == frozenset()
    assert await store.postings("T1", ours.channel, FIRST) == []
    assert await store.last_digest("T1", ours.channel, "kv") is None
    assert await store.last_entries("T1", ours.channel) == []
    assert {each.state for each in await store.deliveries("T1")} == {state, State.EXPIRED}
    await printed(store, ours, slot=1)
    assert await store.posted("T1", ours.channel) == FIRST
    assert await store.check() == []


@pytest.mark.parametrize("state", ENDED)
async def test_what_may_have_appeared_counts_as_posted(store: Books, state: State) -> None:
    ours = await subscribed(store)
    first, _ = await printed(store, ours)
    assert await store.record(replace(await taken(store, first), state=state, reason="Perhaps."))
    assert await store.posted("T1", ours.channel) == FIRST


async def test_a_later_part_that_fails_takes_nothing_back_of_what_the_first_has_shown(store: Books) -> None:
    ours = await subscribed(store)
    first, second = await printed(store, ours)
    await store.record(replace(await taken(store, first), state=State.DONE, message="m"))
    held = await taken(store, replace(second, thread="m"))
    assert await store.record(replace(held, state=State.FAILED, reason="Closed."), unposted=True)
    assert await store.posted("T1", ours.channel) == FIRST


async def test_only_its_own_digest_goes_though_another_of_the_day_shows_the_same(store: Books) -> None:
    ours = await subscribed(store)
    (kept,) = await printed(store, ours, parts=1)
    (gone,) = await printed(store, ours, slot=1, first=2, parts=1)
    await store.record(replace(await taken(store, kept), state=State.DONE, message="m"))
    await store.record(replace(await taken(store, gone), state=State.EXPIRED, reason="Too late."), unposted=True)
    assert await store.posted("T1", ours.channel) == FIRST
    assert await store.last_digest("T1", ours.channel, "kv") == (TODAY, NOW)


async def test_who_holds_it_no_more_takes_nothing_back(store: Books) -> None:
    ours = await subscribed(store)
    first, _ = await printed(store, ours)
    stale = await taken(store, first)
    await store.claim(stale, NOW + HOUR, LEASE)
    assert not await store.record(replace(stale, state=State.FAILED), unposted=True)
    assert await store.posted("T1", ours.channel) == FIRST


async def test_unsubscribing_takes_back_what_was_not_posted_yet(store: Books) -> None:
    ours = await subscribed(store)
    (waiting,) = await printed(store, ours, parts=1)
    (held,) = await printed(store, ours, slot=1, first=3, parts=1)
    (sent,) = await printed(store, ours, slot=2, first=5, parts=1)
    claimed = [await taken(store, each) for each in (held, sent)]
    await store.delete_subscription(ours, change())
    assert waiting.id in {each.id for each in await store.deliveries("T1", states=[State.EXPIRED])}
    assert await store.record(replace(claimed[0], state=State.PENDING, reason="Slow down."))
    assert await store.record(replace(claimed[1], state=State.DONE, message="m"))
    assert await store.posted("T1", ours.channel) == {paper(5).key, paper(6).key}


# --- let go


async def test_what_waits_for_a_later_time_has_its_turn_at_once_when_it_is_released(store: Books) -> None:
    ours = await subscribed(store)
    pending, unclear, unknown, sent = [(await made(store, ours, slot=slot))[0] for slot in range(4)]
    later = NOW + DAY
    await store.record(replace(await taken(store, pending), state=State.PENDING, next_at=later, reason="Quiet."))
    await store.record(replace(await taken(store, unclear), state=State.AMBIGUOUS, next_at=later, reason="Lost."))
    await store.record(replace(await taken(store, unknown), state=State.AMBIGUOUS, next_at=FOREVER, reason="unknown: no."))
    await store.claim(sent, later, LEASE)  # by a clock that ran ahead
    due = occurrence(ours, slot=9)
    await store.open_occurrences([due], ours, NOW + DAY)
    await store.close_occurrence(replace(due, next_at=later, reason="Quiet."), NOW)
    assert (await store.due_deliveries(NOW), await store.unsettled_deliveries(NOW), await store.occurrences(NOW)) == (
        [],
        [],
        [],
    )

    assert await store.release(NOW) == 4

    assert [each.id for each in await store.due_deliveries(NOW)] == [pending.id]
    assert {each.id for each in await store.unsettled_deliveries(NOW)} == {unclear.id, sent.id}
    assert [(each.slot, each.reason) for each in await store.occurrences(NOW)] == [(9, "Quiet.")]
    assert await store.release(NOW) == 0


async def test_what_is_held_by_somebody_who_lives_is_not_released(store: Books) -> None:
    (pending,) = await made(store, await subscribed(store))
    await taken(store, pending)
    assert await store.release(NOW) == 0
    assert await store.unsettled_deliveries(NOW + LEASE / 2) == []


async def test_one_workspace_is_released_and_no_other(store: Books) -> None:
    for workspace in ("T1", "T10"):
        ours = await subscribed(store, workspace=workspace)
        (pending,) = await made(store, ours)
        await store.record(replace(await taken(store, pending), state=State.PENDING, next_at=NOW + DAY))
        due = occurrence(ours, slot=9)
        await store.open_occurrences([due], ours, NOW + DAY)
        await store.close_occurrence(replace(due, next_at=NOW + DAY), NOW)
    assert await store.release(NOW, workspace="T1") == 2
    assert [each.workspace for each in await store.due_deliveries(NOW)] == ["T1"]
    assert [each.workspace for each in await store.occurrences(NOW)] == ["T1"]
