"""The ledger decides: what is due is kept once, what is sent has one holder, and only the holder records."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest

from bot.errors import Conflict, StoreError
from bot.models import (
    ON_REQUEST,
    OVERTAKEN,
    Delivery,
    DeliveryState,
    Occurrence,
    OccurrenceState,
    Position,
    Publication,
    Rhythm,
    Schedule,
    Subscription,
    Topic,
    Window,
)
from bot.ports.ledger import Planned
from tests.conftest import NOW
from tests.contract.made import change, digest, paper
from tests.stores import AnyStore

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
LEASE = timedelta(seconds=45)
TODAY = NOW.date()


async def subscribed(store: AnyStore, number: str = "s1", workspace: str = "T1", **changes: object) -> Subscription:
    plain = Subscription(
        id=number, workspace=workspace, channel=f"C-{number}", topic="kv", schedule=Schedule(), baseline=NOW
    )
    given = replace(plain, **changes)  # type: ignore[arg-type]
    return await store.workspaces.save_subscription(given, change(workspace=workspace), replaces=0)


def occurrence(of: Subscription, day: date = TODAY, **changes: object) -> Occurrence:
    plain = Occurrence(
        subscription=of.id, workspace=of.workspace, channel=of.channel, topic=of.topic, day=day, due=NOW + (day - TODAY)
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def part(of: Occurrence, number: int = 1, parts: int = 1, **changes: object) -> Delivery:
    plain = Delivery(
        id=f"{of.subscription}x{of.day:%d%m}x{of.slot}x{number}",
        occurrence=(of.subscription, of.day, of.slot),
        workspace=of.workspace,
        channel=of.channel,
        topic=of.topic,
        part=number,
        parts=parts,
        payload=f"part {number}",
        due=of.due,
        next_at=of.due,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


async def made(store: AnyStore, of: Subscription, parts: int = 1, **changes: object) -> list[Delivery]:
    """Return the pending deliveries of an occurrence of the subscription."""
    due = replace(occurrence(of), **changes)  # type: ignore[arg-type]
    assert await store.ledger.open_occurrences([due], of, NOW + DAY) == 1
    pending = [part(due, number, parts) for number in range(1, parts + 1)]
    assert await store.ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), NOW, deliveries=pending)
    return pending


async def taken(store: AnyStore, delivery: Delivery, now: datetime = NOW) -> Delivery:
    claimed = await store.ledger.claim(delivery, now, LEASE)
    assert claimed is not None
    return claimed


def done(claimed: Delivery, message: str = "m") -> Delivery:
    return settled(replace(claimed, state=DeliveryState.DONE, message=message, lease_until=None))


def settled(delivery: Delivery) -> Delivery:
    """Return the delivery as it stands when nobody will say it again."""
    return replace(delivery, payload="", if_late="")


def names(found: Sequence[Delivery | Occurrence]) -> list[str]:
    return [each.id if isinstance(each, Delivery) else each.subscription for each in found]


# --- when


async def test_a_new_subscription_is_looked_at_at_once_and_then_when_it_is_due(store: AnyStore) -> None:
    ours = await subscribed(store)
    assert await store.ledger.subscriptions_due(NOW) == [(ours, None)]
    assert await store.ledger.open_occurrences([], ours, NOW + DAY) == 0
    assert await store.ledger.subscriptions_due(NOW + DAY - MINUTE) == []
    assert await store.ledger.subscriptions_due(NOW + DAY) == [(ours, NOW + DAY)]


async def test_a_change_makes_the_next_due_date_unknown_until_it_is_found_for_what_it_now_is(store: AnyStore) -> None:
    first = await subscribed(store)
    await store.ledger.open_occurrences([], first, NOW + DAY)
    edited = await store.workspaces.save_subscription(replace(first, entries=3), change(), replaces=1)
    assert await store.ledger.subscriptions_due(NOW) == [(edited, None)]
    await store.ledger.open_occurrences([], first, NOW + DAY)  # by one who read the former revision
    assert await store.ledger.subscriptions_due(NOW) == [(edited, None)]
    await store.ledger.open_occurrences([], edited, NOW + 2 * DAY)
    await store.ledger.open_occurrences([], first, NOW + DAY)
    assert await store.ledger.subscriptions_due(NOW + 3 * DAY) == [(edited, NOW + 2 * DAY)]


async def test_a_paused_subscription_is_left_out_until_its_pause_ends(store: AnyStore) -> None:
    await subscribed(store, "for-ever", paused=True)
    a_day = await subscribed(store, "a-day", paused=True, paused_until=NOW + DAY)
    assert await store.ledger.subscriptions_due(NOW + DAY - timedelta(microseconds=1)) == []
    assert await store.ledger.subscriptions_due(NOW + DAY) == [(a_day, None)]
    await store.workspaces.save_subscription(replace(a_day, paused=False, paused_until=None), change(), replaces=1)
    assert names_due(await store.ledger.subscriptions_due(NOW)) == ["a-day"]


async def test_what_is_due_first_is_looked_at_first_and_what_is_not_known_before_all(store: AnyStore) -> None:
    for number, hours in (("late", 2), ("early", 1), ("later", 3)):
        await store.ledger.open_occurrences([], await subscribed(store, number), NOW + timedelta(hours=hours))
    await subscribed(store, "new", "T2")
    assert names_due(await store.ledger.subscriptions_due(NOW + DAY)) == ["new", "early", "late", "later"]
    assert names_due(await store.ledger.subscriptions_due(NOW + DAY, limit=2)) == ["new", "early"]


def names_due(found: Sequence[tuple[Subscription, datetime | None]]) -> list[str]:
    return [each.id for each, _ in found]


async def test_an_occurrence_is_kept_once_for_each_day_and_slot_whatever_else_changes(store: AnyStore) -> None:
    ours = await subscribed(store)
    first = occurrence(ours)
    assert await store.ledger.open_occurrences([first, occurrence(ours, slot=1), first], ours, NOW + DAY) == 2
    moved = replace(first, due=NOW + timedelta(hours=3))
    missed = occurrence(ours, TODAY - DAY, state=OccurrenceState.SKIPPED, reason="The service was down.")
    assert await store.ledger.open_occurrences([moved, missed], ours, NOW + DAY) == 1
    assert await store.ledger.occurrences(NOW) == [first, occurrence(ours, slot=1)]
    assert await store.ledger.occurrences(NOW, state=OccurrenceState.SKIPPED) == [missed]


async def test_a_subscription_that_is_gone_has_no_more_occurrences(store: AnyStore) -> None:
    ours = await subscribed(store)
    await store.workspaces.delete_subscription(ours, change())
    assert await store.ledger.open_occurrences([occurrence(ours)], ours, NOW + DAY) == 0
    assert await store.ledger.occurrences(NOW) == []
    assert await store.ledger.subscriptions_due(NOW + DAY) == []


async def test_what_is_asked_for_is_kept_once_a_day_and_leaves_the_schedule_as_it_is(store: AnyStore) -> None:
    ours = await subscribed(store)
    asked = occurrence(ours, slot=ON_REQUEST)
    assert await store.ledger.open_on_request(asked)
    assert not await store.ledger.open_on_request(replace(asked, due=NOW + timedelta(hours=3)))
    assert await store.ledger.open_on_request(occurrence(ours, TODAY - DAY, slot=ON_REQUEST))
    assert await store.ledger.subscriptions_due(NOW) == [(ours, None)], "when it is due next is not known yet"
    assert await store.ledger.open_occurrences([occurrence(ours)], ours, NOW + DAY) == 1
    assert [each.slot for each in await store.ledger.occurrences(NOW)] == [ON_REQUEST, ON_REQUEST, 0]
    assert asked in await store.ledger.occurrences(NOW)

    others = await subscribed(store, "other", "T2")
    await store.workspaces.delete_subscription(others, change(workspace="T2"))
    assert not await store.ledger.open_on_request(occurrence(others, slot=ON_REQUEST))


async def test_what_was_due_before_a_change_is_still_due(store: AnyStore) -> None:
    first = await subscribed(store)
    await store.workspaces.save_subscription(replace(first, entries=3), change(), replaces=1)
    assert await store.ledger.open_occurrences([occurrence(first)], first, NOW + DAY) == 1


async def test_many_subscriptions_are_planned_at_once_as_each_by_itself_would_be(store: AnyStore) -> None:
    gone, known, fresh = [await subscribed(store, number) for number in ("gone", "known", "fresh")]
    await store.workspaces.delete_subscription(gone, change())
    await store.ledger.open_occurrences([occurrence(known)], known, NOW + DAY)
    edited = await store.workspaces.save_subscription(replace(fresh, entries=3), change(), replaces=1)
    both = (occurrence(fresh, slot=1), occurrence(fresh))
    planned = [
        Planned(gone, (occurrence(gone),), NOW + DAY),
        Planned(known, (occurrence(known), occurrence(known, slot=1)), NOW + 2 * DAY),
        Planned(fresh, both, NOW + DAY),
    ]
    assert list(await store.ledger.open_planned(planned)) == [0, 1, 2]
    assert list(await store.ledger.open_planned(planned)) == [0, 0, 0]
    found = await store.ledger.occurrences(NOW)
    assert sorted((each.subscription, each.slot) for each in found) == [
        ("fresh", 0),
        ("fresh", 1),
        ("known", 0),
        ("known", 1),
    ]
    assert await store.ledger.subscriptions_due(NOW + DAY) == [(edited, None)]
    assert await store.ledger.subscriptions_due(NOW + 2 * DAY) == [(edited, None), (known, NOW + 2 * DAY)]


# --- occurrences


async def test_occurrences_of_all_workspaces_take_turns(store: AnyStore) -> None:
    for workspace, numbers in (("noisy", range(5)), ("quiet", range(10, 12))):
        for number in numbers:
            ours = await subscribed(store, f"s{number}", workspace)
            await store.ledger.open_occurrences([occurrence(ours, due=NOW + number * MINUTE)], ours, NOW + DAY)
    assert names(await store.ledger.occurrences(NOW)) == ["s0", "s10", "s1", "s11", "s2", "s3", "s4"]
    assert names(await store.ledger.occurrences(NOW, limit=3)) == ["s0", "s10", "s1"]


async def test_an_occurrence_whose_digest_could_not_be_made_is_tried_again_later(store: AnyStore) -> None:
    ours = await subscribed(store)
    await store.ledger.open_occurrences([occurrence(ours)], ours, NOW + DAY)
    later = occurrence(ours, attempts=1, next_at=NOW + MINUTE, reason="arXiv did not answer.")
    assert await store.ledger.close_occurrence(later, NOW)
    assert await store.ledger.occurrences(NOW + MINUTE / 2) == []
    assert await store.ledger.occurrences(NOW + MINUTE) == [later]


async def test_closing_an_occurrence_keeps_its_digest_what_it_posts_and_its_deliveries(store: AnyStore) -> None:
    ours = await subscribed(store)
    await store.ledger.open_occurrences([occurrence(ours)], ours, NOW + DAY)
    closed = occurrence(ours, state=OccurrenceState.MADE, late=True, reason="Three hours late.")
    pending = [part(closed, 1, 2), part(closed, 2, 2)]
    assert await store.ledger.close_occurrence(closed, NOW, digest=digest(0.5, 0.25), deliveries=pending)
    assert await store.ledger.occurrences(NOW) == []
    assert await store.ledger.recent_occurrences("T1") == [closed]
    assert await store.ledger.deliveries("T1") == pending
    assert await store.digests.posted("T1", ours.channel) == {paper(1).key, paper(2).key}
    assert await store.digests.last("T1", ours.channel, "kv") == (TODAY, Position(0, NOW))
    assert await store.digests.posted("T2", ours.channel) == frozenset()


async def test_of_two_who_close_an_occurrence_the_second_leaves_nothing_behind(store: AnyStore) -> None:
    ours = await subscribed(store)
    await store.ledger.open_occurrences([occurrence(ours)], ours, NOW + DAY)
    empty = occurrence(ours, state=OccurrenceState.EMPTY)
    assert await store.ledger.close_occurrence(empty, NOW)
    late = occurrence(ours, state=OccurrenceState.MADE)
    assert not await store.ledger.close_occurrence(late, NOW, digest=digest(0.5), deliveries=[part(late)])
    assert await store.ledger.recent_occurrences("T1") == [empty]
    assert await store.ledger.deliveries("T1") == []
    assert await store.digests.posted("T1", ours.channel) == frozenset()
    assert not await store.ledger.close_occurrence(
        occurrence(ours, TODAY + DAY, state=OccurrenceState.EMPTY), NOW
    )  # never opened


async def test_an_occurrence_that_cannot_be_closed_wholly_stays_due(store: AnyStore) -> None:
    ours = await subscribed(store)
    await made(store, ours)
    other = occurrence(ours, slot=1)
    await store.ledger.open_occurrences([other], ours, NOW + DAY)
    twice = [part(other), part(occurrence(ours))]  # the second one stands in the ledger
    with pytest.raises(StoreError):
        await store.ledger.close_occurrence(
            replace(other, state=OccurrenceState.MADE), NOW, digest=digest(0.5), deliveries=twice
        )
    assert await store.ledger.occurrences(NOW) == [other]
    assert names(await store.ledger.deliveries("T1")) == [part(occurrence(ours)).id]
    assert await store.digests.posted("T1", ours.channel) == frozenset()


async def test_what_became_of_occurrences_is_told_to_their_workspace_the_latest_first(store: AnyStore) -> None:
    ours, others = await subscribed(store), await subscribed(store, "s2", "T10")
    days = [occurrence(ours, TODAY - number * DAY) for number in range(3)]
    await store.ledger.open_occurrences(days[::-1], ours, NOW + DAY)
    await store.ledger.open_occurrences([occurrence(others)], others, NOW + DAY)
    assert await store.ledger.recent_occurrences("T1") == days
    assert await store.ledger.recent_occurrences("T1", limit=1) == days[:1]
    assert await store.ledger.recent_occurrences("T1", channel="C-s2") == []
    assert await store.ledger.recent_occurrences("T10", channel="C-s2") == [occurrence(others)]


# --- deliveries


async def test_a_delivery_comes_back_with_every_field(store: AnyStore) -> None:
    ours = await subscribed(store)
    await store.ledger.open_occurrences([occurrence(ours, slot=3)], ours, NOW + DAY)
    full = part(
        occurrence(ours, slot=3),
        payload='{"text": "大小 \U0001f600 \x00 half \ud83d"}',
        due=NOW - timedelta(microseconds=7),
        next_at=NOW + DAY,
        state=DeliveryState.AMBIGUOUS,
        token=4,
        lease_until=NOW + MINUTE,
        first_try=NOW - MINUTE,
        last_try=NOW,
        attempts=5,
        message="1700000000.000100",
        link="https://chat.example/C1/1700000000.000100",
        thread="1600000000.000100",
        reason="half \udc00 of it",
        late=True,
        if_late='{"text": "late 大小 half \ud83d"}',
        made_at=NOW - MINUTE,
    )
    await store.ledger.close_occurrence(occurrence(ours, slot=3, state=OccurrenceState.MADE), NOW, deliveries=[full])
    assert await store.ledger.deliveries("T1") == [full]
    assert await store.ledger.unsettled_deliveries(NOW + DAY) == [full]
    assert await store.ledger.unsettled_deliveries(NOW + DAY - MINUTE) == []


async def test_a_noisy_workspace_does_not_make_a_quiet_one_wait(store: AnyStore) -> None:
    noisy = await subscribed(store, "noisy", "T1")
    for slot in range(40):
        await made(store, noisy, slot=slot, due=NOW - timedelta(hours=5))
    for number in range(4):
        quiet = await subscribed(store, f"q{number}", f"T1{number}")
        await made(store, quiet, due=NOW - number * MINUTE)
    found = await store.ledger.due_deliveries(NOW, limit=5)
    assert [each.workspace for each in found] == ["T1", "T13", "T12", "T11", "T10"]
    assert [each.workspace for each in await store.ledger.due_deliveries(NOW, limit=7)][5:] == ["T1", "T1"]


async def test_who_has_had_turns_comes_after_who_has_had_none_however_late_that_one_came(store: AnyStore) -> None:
    old = [await made(store, await subscribed(store, f"s{number}"), due=NOW - MINUTE) for number in range(4)]
    other = await made(store, await subscribed(store, workspace="T10"), due=NOW - MINUTE / 2)
    (late,) = await made(store, await subscribed(store, workspace="T2"))
    (first,), (second,), *_ = sorted(old, key=lambda parts: parts[0].id)
    assert await store.ledger.due_deliveries(NOW, limit=2) == [first, *other]
    assert await store.ledger.due_deliveries(NOW, limit=2, had={"T1": 1, "T10": 1}) == [late, first]
    had = {"T1": 1, "T10": 3, "nobody": 9}
    assert await store.ledger.due_deliveries(NOW, limit=3, had=had) == [late, first, second]
    due = [replace(occurrence(await subscribed(store, "o", each)), slot=1) for each in ("T1", "T2")]
    for each in due:
        (ours,) = [one for one in await store.workspaces.subscriptions(each.workspace) if one.id == "o"]
        await store.ledger.open_occurrences([each], ours, NOW + DAY)
    assert [each.workspace for each in await store.ledger.occurrences(NOW)] == ["T1", "T2"]
    assert [each.workspace for each in await store.ledger.occurrences(NOW, had={"T1": 1})] == ["T2", "T1"]
    assert names(await store.ledger.unsettled_deliveries(NOW, had=had)) == []


async def test_a_delivery_is_not_due_before_its_time(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    claimed = await taken(store, only)
    later = replace(claimed, state=DeliveryState.PENDING, next_at=NOW + MINUTE, lease_until=None, reason="Slow down.")
    assert await store.ledger.record(later)
    assert await store.ledger.due_deliveries(NOW + MINUTE / 2) == []
    assert await store.ledger.due_deliveries(NOW + MINUTE) == [later]


async def test_parts_are_sent_in_order_and_hang_on_the_message_of_the_first(store: AnyStore) -> None:
    first, second, third = await made(store, await subscribed(store), parts=3)
    assert await store.ledger.due_deliveries(NOW) == [first]
    assert await store.ledger.claim(second, NOW, LEASE) is None
    claimed = await taken(store, first)
    assert await store.ledger.due_deliveries(NOW) == []
    await store.ledger.record(done(claimed, "m1"))
    assert await store.ledger.due_deliveries(NOW) == [replace(second, thread="m1")]
    assert await store.ledger.claim(third, NOW, LEASE) is None
    await store.ledger.record(done(await taken(store, second), "m2"))
    assert await store.ledger.due_deliveries(NOW) == [replace(third, thread="m1")]


@pytest.mark.parametrize("state", [DeliveryState.FAILED, DeliveryState.EXPIRED])
async def test_with_a_part_that_is_given_up_the_later_ones_end_in_the_same_moment(
    store: AnyStore, state: DeliveryState
) -> None:
    first, *_ = await made(store, await subscribed(store), parts=3)
    claimed = await taken(store, first)
    await store.ledger.record(replace(claimed, state=state, lease_until=None, reason="The channel is gone."))
    ended = await store.ledger.deliveries("T1")
    assert [(each.state, each.reason) for each in ended] == [
        (state, "The channel is gone."),
        (DeliveryState.EXPIRED, "The channel is gone."),
        (DeliveryState.EXPIRED, "The channel is gone."),
    ]
    assert await store.ledger.due_deliveries(NOW + DAY) == []


async def test_later_parts_can_be_ended_with_a_reason_of_their_own(store: AnyStore) -> None:
    first, second, third = await made(store, await subscribed(store), parts=3)
    assert await store.ledger.expire_parts(second, "Too late.") == 1
    assert await store.ledger.expire_parts(first, "Part 1 failed.") == 1
    assert await store.ledger.expire_parts(first, "Part 1 failed.") == 0
    assert [each.reason for each in await store.ledger.deliveries("T1")] == ["", "Part 1 failed.", "Too late."]
    assert await store.ledger.claim(third, NOW, LEASE) is None


# --- claims


async def test_who_claims_a_delivery_holds_it_for_the_lease(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    claimed = await taken(store, only)
    assert claimed == replace(
        only, state=DeliveryState.SENDING, token=1, lease_until=NOW + LEASE, first_try=NOW, last_try=NOW, attempts=1
    )
    assert await store.ledger.deliveries("T1") == [claimed]
    assert await store.ledger.claim(only, NOW, LEASE) is None
    assert await store.ledger.claim(claimed, NOW + LEASE - timedelta(seconds=1), LEASE) is None
    assert await store.ledger.unsettled_deliveries(NOW + LEASE - timedelta(seconds=1)) == []
    assert await store.ledger.unsettled_deliveries(NOW + LEASE) == [claimed]
    again = await taken(store, claimed, NOW + LEASE)
    assert (again.token, again.attempts, again.first_try, again.last_try) == (2, 2, NOW, NOW + LEASE)


async def test_whether_it_is_said_late_is_kept_with_the_claim(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    held = await store.ledger.claim(replace(only, late=True), NOW, LEASE)
    assert held is not None
    (found,) = await store.ledger.unsettled_deliveries(NOW + LEASE)
    assert (held.late, found.late, found.payload) == (True, True, only.payload)


async def test_what_was_claimed_and_not_begun_says_so_until_its_holder_begins(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    held = await taken(store, replace(only, unbegun=True))
    assert held.unbegun
    assert await store.ledger.deliveries("T1") == [held]
    again = await taken(store, held, NOW + LEASE)
    assert again.unbegun
    assert not await store.ledger.begin(held), "somebody else holds it"
    assert await store.ledger.deliveries("T1") == [again]
    assert await store.ledger.begin(again)
    assert await store.ledger.begin(again)
    assert await store.ledger.deliveries("T1") == [replace(again, unbegun=False)]
    assert not (await taken(store, again, NOW + 2 * LEASE)).unbegun, "it may have been sent"


async def test_what_waits_again_may_be_claimed_unbegun_and_what_may_have_been_posted_may_not(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    held = await taken(store, replace(only, unbegun=True))
    waits = replace(held, state=DeliveryState.PENDING, lease_until=None)
    assert await store.ledger.record(waits)
    (stored,) = await store.ledger.deliveries("T1")
    assert not stored.unbegun
    assert not await store.ledger.begin(held), "it is recorded"
    held = await taken(store, replace(stored, unbegun=True))
    assert held.unbegun
    assert await store.ledger.begin(held)
    assert await store.ledger.record(replace(held, state=DeliveryState.AMBIGUOUS, lease_until=None))
    (unclear,) = await store.ledger.deliveries("T1")
    assert not (await taken(store, replace(unclear, unbegun=True))).unbegun


async def test_who_saw_a_delivery_before_somebody_else_tried_it_does_not_claim_it(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    later = replace(await taken(store, only), state=DeliveryState.PENDING, lease_until=None)
    assert await store.ledger.record(later)
    assert await store.ledger.claim(only, NOW, LEASE) is None
    assert (await taken(store, later)).token == 2


async def test_of_many_who_claim_at_once_one_wins(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    outcomes = await asyncio.gather(*(store.ledger.claim(only, NOW, LEASE) for _ in range(12)))
    assert [each.token for each in outcomes if each] == [1]


async def test_only_the_latest_holder_records_and_only_once(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    first = await taken(store, only)
    second = await taken(store, first, NOW + LEASE)
    assert not await store.ledger.record(done(first, "of the first"))
    assert await store.ledger.deliveries("T1") == [second]
    assert await store.ledger.record(done(second, "of the second"))
    assert not await store.ledger.record(replace(second, state=DeliveryState.PENDING))
    assert not await store.ledger.record(done(first))
    assert await store.ledger.deliveries("T1") == [done(second, "of the second")]


async def test_where_a_look_stopped_is_kept_until_it_is_recorded_otherwise(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    for cursor in ("page 2", "page 3", ""):
        held = await taken(store, only)
        assert await store.ledger.record(replace(held, state=DeliveryState.PENDING, lease_until=None, cursor=cursor))
        (only,) = await store.ledger.due_deliveries(NOW)
        assert only.cursor == cursor
    held = await taken(store, only)
    assert held.cursor == ""


async def test_what_was_read_before_somebody_died_sending_is_forgotten_it_tells_nothing_of_that_try(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    held = await taken(store, only)
    looked = replace(held, state=DeliveryState.AMBIGUOUS, lease_until=None, cursor="page 2")
    assert await store.ledger.record(looked)
    held = await taken(store, looked)
    assert held.cursor == "page 2"
    assert (await taken(store, held, NOW + LEASE)).cursor == ""  # he who held it may have posted it


async def test_a_holder_whose_lease_ran_out_still_records_while_nobody_else_has_claimed(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    assert await store.ledger.record(done(await taken(store, only)))
    assert await store.ledger.unsettled_deliveries(NOW + DAY) == []


@pytest.mark.parametrize("state", [DeliveryState.DONE, DeliveryState.FAILED, DeliveryState.EXPIRED])
async def test_what_is_settled_is_never_claimed_again(store: AnyStore, state: DeliveryState) -> None:
    (only,) = await made(store, await subscribed(store))
    settled = replace(await taken(store, only), state=state, lease_until=None)
    await store.ledger.record(settled)
    assert await store.ledger.claim(settled, NOW + DAY, LEASE) is None
    assert await store.ledger.due_deliveries(NOW + DAY) == await store.ledger.unsettled_deliveries(NOW + DAY) == []


async def test_an_ambiguous_delivery_can_be_claimed_to_be_looked_for(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    unclear = replace(await taken(store, only), state=DeliveryState.AMBIGUOUS, lease_until=None, next_at=NOW + MINUTE)
    await store.ledger.record(unclear)
    assert await store.ledger.unsettled_deliveries(NOW + MINUTE / 2) == []
    assert await store.ledger.unsettled_deliveries(NOW + MINUTE) == [unclear]
    again = await taken(store, unclear, NOW + MINUTE)
    assert (again.token, again.first_try) == (2, NOW)


async def test_what_a_message_says_and_whose_it_is_stays_as_it_was_made(store: AnyStore) -> None:
    (only,) = await made(store, await subscribed(store))
    claimed = await taken(store, only)
    forged = replace(done(claimed), payload="other", channel="C9", topic="other", due=NOW + DAY, parts=7)
    assert await store.ledger.record(forged)
    assert await store.ledger.deliveries("T1") == [done(claimed)]


async def test_a_delivery_of_another_workspace_is_never_found_under_its_identifier(store: AnyStore) -> None:
    (ours,) = await made(store, await subscribed(store))
    theirs = replace(ours, workspace="T10")
    assert await store.ledger.claim(theirs, NOW, LEASE) is None
    claimed = await taken(store, ours)
    assert not await store.ledger.record(replace(done(claimed), workspace="T10"))
    assert await store.ledger.expire_parts(replace(ours, part=0, workspace="T10"), "Not yours.") == 0
    assert await store.ledger.deliveries("T10") == []
    assert await store.ledger.deliveries("T1") == [claimed]


async def test_two_workspaces_may_use_the_same_identifiers(store: AnyStore) -> None:
    (ours,) = await made(store, await subscribed(store))
    (theirs,) = await made(store, await subscribed(store, workspace="T10"))
    assert ours.id == theirs.id
    claimed = await taken(store, ours)
    assert await store.ledger.deliveries("T10") == [theirs]
    assert await store.ledger.deliveries("T1") == [claimed]


# --- what ends


async def test_unsubscribing_ends_what_is_still_to_be_posted_and_leaves_it_to_be_seen(store: AnyStore) -> None:
    ours, others = await subscribed(store), await subscribed(store, "s2")
    await made(store, ours, parts=2)
    await made(store, others)
    await store.ledger.open_occurrences([occurrence(ours, slot=1)], ours, NOW + DAY)
    await store.workspaces.delete_subscription(ours, change())
    assert await store.ledger.occurrences(NOW) == []
    assert [each.channel for each in await store.ledger.due_deliveries(NOW)] == ["C-s2"]
    ended = await store.ledger.deliveries("T1", channel="C-s1")
    assert [(each.state, each.reason) for each in ended] == [(DeliveryState.EXPIRED, "unsubscribed")] * 2
    (skipped,) = await store.ledger.occurrences(NOW, state=OccurrenceState.SKIPPED)
    assert (skipped.slot, skipped.reason) == (1, "unsubscribed")


async def test_what_is_being_sent_while_somebody_unsubscribes_is_recorded_but_not_tried_again(store: AnyStore) -> None:
    ours = await subscribed(store)
    (first,), (second,) = await made(store, ours), await made(store, ours, slot=1)
    held = [await taken(store, first), await taken(store, second)]
    await store.workspaces.delete_subscription(ours, change())
    assert await store.ledger.record(done(held[0]))
    assert await store.ledger.record(replace(held[1], state=DeliveryState.PENDING, lease_until=None, reason="Slow down."))
    states = [(each.state, each.reason) for each in await store.ledger.deliveries("T1")]
    assert states == [(DeliveryState.DONE, ""), (DeliveryState.EXPIRED, "unsubscribed")]


async def test_a_conflict_ends_nothing(store: AnyStore) -> None:
    ours = await subscribed(store)
    pending = await made(store, ours)
    with pytest.raises(Conflict):
        await store.workspaces.delete_subscription(replace(ours, revision=7), change())
    assert await store.ledger.due_deliveries(NOW) == pending


@pytest.mark.parametrize("keep_uses", [False, True])
async def test_with_a_topic_its_deliveries_end_unless_its_subscriptions_stay(store: AnyStore, keep_uses: bool) -> None:
    await store.workspaces.save_topic("T1", Topic(name="kv", title="KV"), change(), replaces=0)
    pending = await made(store, await subscribed(store))
    theirs = await made(store, await subscribed(store, "s2", "T10"))
    await store.workspaces.delete_topic("T1", "kv", change(), replaces=1, keep_uses=keep_uses)
    assert await store.ledger.due_deliveries(NOW) == (pending if keep_uses else []) + theirs


# --- what is told


async def test_deliveries_are_told_the_latest_first_by_channel_and_state(store: AnyStore) -> None:
    ours, second = await subscribed(store), await subscribed(store, "s2")
    old, new = await made(store, ours, day=TODAY - DAY, due=NOW - DAY), await made(store, ours, parts=2)
    other = await made(store, second)
    claimed = await taken(store, old[0])
    assert await store.ledger.deliveries("T1") == [*new, *other, claimed]
    assert await store.ledger.deliveries("T1", limit=1) == new[:1]
    assert await store.ledger.deliveries("T1", channel="C-s1") == [*new, claimed]
    assert await store.ledger.deliveries("T1", states=[DeliveryState.SENDING, DeliveryState.DONE]) == [claimed]
    assert await store.ledger.deliveries("T1", channel="C-s2", states=[DeliveryState.SENDING]) == []


async def test_every_state_is_counted_also_where_there_is_none(store: AnyStore) -> None:
    nothing = {str(state): 0 for state in DeliveryState} | {"due": 0}
    assert await store.ledger.counts() == nothing
    ours = await subscribed(store)
    first, _ = await made(store, ours, parts=2)
    await store.ledger.open_occurrences([occurrence(ours, slot=1)], ours, NOW + DAY)
    await taken(store, first)
    assert await store.ledger.counts() == nothing | {"pending": 1, "sending": 1, "due": 1}


async def test_what_was_settled_is_forgotten_after_forty_days_and_what_is_open_never(store: AnyStore) -> None:
    ours = await subscribed(store)
    days = {name: (await made(store, ours, slot=slot))[0] for slot, name in enumerate(("done", "open", "sent", "unclear"))}
    await store.ledger.record(done(await taken(store, days["done"])))
    await taken(store, days["sent"])
    await store.ledger.record(replace(await taken(store, days["unclear"]), state=DeliveryState.AMBIGUOUS))
    still_due = occurrence(ours, slot=9)
    await store.ledger.open_occurrences([still_due], ours, NOW + DAY)
    for passed, left in ((40, 4), (41, 2)):
        now = NOW + passed * DAY
        await store.maintenance.prune(items_before=NOW, readings_before=TODAY, now=now)
        assert len(await store.ledger.deliveries("T1")) == left
        assert len(await store.ledger.recent_occurrences("T1")) == left + 1
    assert {each.state for each in await store.ledger.deliveries("T1")} == {DeliveryState.PENDING, DeliveryState.SENDING}
    assert await store.ledger.occurrences(NOW) == [still_due]
    assert await store.ledger.open_occurrences([occurrence(ours, slot=slot) for slot in range(4)], ours, NOW + DAY) == 2
    assert await store.maintenance.check() == []


AT_ONCE = Schedule(weekdays=(), at_once=True)


def at_once(of: Subscription, slot: int) -> Occurrence:
    return occurrence(of, slot=slot)


async def test_those_that_post_at_once_are_found_in_all_workspaces_but_paused_ones(store: AnyStore) -> None:
    found = [
        await subscribed(store, "s2", "T1", schedule=AT_ONCE),
        await subscribed(store, "s1", "T2", schedule=AT_ONCE, paused=True, paused_until=NOW - MINUTE),
    ]
    await subscribed(store, "s3", "T2", schedule=AT_ONCE, paused=True)
    await subscribed(store, "s4", "T2", schedule=AT_ONCE, paused=True, paused_until=NOW + MINUTE)
    await subscribed(store, "s5", "T1")
    assert await store.ledger.subscriptions_at_once(NOW) == found


async def test_what_is_posted_at_once_is_kept_once_and_overtakes_what_waits(store: AnyStore) -> None:
    one, other = await subscribed(store, "s1", schedule=AT_ONCE), await subscribed(store, "s2", schedule=AT_ONCE)
    daily = replace(occurrence(one), slot=0)
    await store.ledger.open_on_request(daily)
    assert await store.ledger.open_at_once([at_once(one, 7), at_once(other, 7)]) == 2
    assert await store.ledger.open_at_once([at_once(one, 7), at_once(other, 7)]) == 0
    assert await store.ledger.open_at_once([at_once(one, 9)]) == 1
    assert await store.ledger.open_at_once([at_once(one, 8)]) == 1, "a lower number overtakes nothing"

    due = {(each.subscription, each.slot) for each in await store.ledger.occurrences(NOW)}
    assert due == {("s1", 0), ("s1", 9), ("s1", 8), ("s2", 7)}
    (skipped,) = await store.ledger.occurrences(NOW, state=OccurrenceState.SKIPPED)
    assert (skipped.slot, skipped.reason) == (7, OVERTAKEN)
    made = replace(at_once(one, 7), state=OccurrenceState.MADE)
    assert not await store.ledger.close_occurrence(made, NOW), "whoever was making it saves nothing"


async def test_nothing_is_kept_at_once_for_a_subscription_that_is_gone(store: AnyStore) -> None:
    gone = await subscribed(store, schedule=AT_ONCE)
    await store.workspaces.delete_subscription(gone, change())
    assert await store.ledger.open_at_once([at_once(gone, 7)]) == 0


async def test_what_came_to_nothing_at_once_is_not_told_and_is_soon_pruned(store: AnyStore) -> None:
    of = await subscribed(store, schedule=AT_ONCE)
    await store.ledger.open_at_once([at_once(of, 3)])
    await store.ledger.open_at_once([at_once(of, 5)])
    await store.ledger.close_occurrence(replace(at_once(of, 5), state=OccurrenceState.EMPTY), NOW)
    await store.ledger.open_at_once([at_once(of, 7)])
    await store.ledger.close_occurrence(replace(at_once(of, 7), state=OccurrenceState.SKIPPED, reason="Too late."), NOW)
    assert [each.slot for each in await store.ledger.recent_occurrences("T1")] == [7]

    await store.maintenance.prune(items_before=NOW - DAY, readings_before=TODAY, now=NOW + 4 * DAY)
    states = (OccurrenceState.EMPTY, OccurrenceState.SKIPPED)
    left = [each.slot for state in states for each in await store.ledger.occurrences(NOW, state=state)]
    assert left == [7]


async def test_empty_digests_that_were_to_be_posted_at_once_are_soon_pruned_but_the_last(store: AnyStore) -> None:
    of = await subscribed(store, schedule=AT_ONCE)

    async def save(through: int, *, rhythm: str = "at once", keys: tuple[str, ...] = ()) -> None:
        window = Window(through - 1, through)
        made = replace(digest(*([0.5] * len(keys)), topic="kv"), rhythm=rhythm, window=window)
        await store.digests.save("T1", of.channel, made, NOW)

    await save(1)
    await save(2, keys=("arxiv:1",))
    await save(3)
    await save(4)
    await save(3, rhythm="daily")
    await store.maintenance.prune(items_before=NOW - DAY, readings_before=TODAY, now=NOW + 2 * DAY)
    assert len(await store.digests.past("T1", of.channel)) == 5
    await store.maintenance.prune(items_before=NOW - DAY, readings_before=TODAY, now=NOW + 4 * DAY)
    assert len(await store.digests.past("T1", of.channel)) == 3
    last = await store.digests.last("T1", of.channel, "kv", Rhythm.AT_ONCE)
    assert last is not None
    assert last[1].arrival == 4


async def test_what_was_posted_on_a_day_is_found_by_its_subscription_and_nothing_else(store: AnyStore) -> None:
    ours, others = await subscribed(store), await subscribed(store, "s2")
    theirs = await subscribed(store, workspace="T2")
    first, second = await made(store, ours, parts=2)
    for each in (ours, others, theirs):
        await made(store, each, day=TODAY + DAY)
    await store.ledger.record(done(await taken(store, first)))
    assert await store.ledger.posted_on("T1", []) == []
    assert names(await store.ledger.posted_on("T1", [(ours.id, TODAY), (others.id, TODAY + DAY)])) == [first.id]
    await store.ledger.record(done(await taken(store, second)))
    assert names(await store.ledger.posted_on("T1", [(ours.id, TODAY)])) == [first.id, second.id]
    assert await store.ledger.posted_on("T1", [(ours.id, TODAY + DAY)]) == []
    assert await store.ledger.posted_on("T2", [(ours.id, TODAY)]) == []


async def test_what_is_to_be_published_is_kept_with_what_says_that_it_is_posted_and_until_it_is_removed(
    store: AnyStore,
) -> None:
    ours, others = await subscribed(store), await subscribed(store, "s2")
    later = NOW + MINUTE
    published = []
    for of, publishes in ((others, False), (ours, True)):
        due = occurrence(of)
        await store.ledger.open_occurrences([due], of, NOW + DAY)
        first = part(due, publishes=publishes)
        await store.ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), NOW, deliveries=[first])
        claimed = await taken(store, first)
        assert await store.outbox.publications(NOW + DAY) == [], "it is not posted yet"
        await store.ledger.record(done(claimed))
        published += [done(claimed)] if publishes else []
    (waiting,) = await store.outbox.publications(later)
    assert waiting == Publication(delivery=published[0], since=NOW, next_at=NOW)
    assert await store.outbox.publications(NOW - MINUTE) == []

    await store.outbox.put_off_publication(replace(waiting, next_at=later + MINUTE, attempts=3))
    assert await store.outbox.publications(later) == []
    assert await store.outbox.publications(later + MINUTE) == [replace(waiting, next_at=later + MINUTE, attempts=3)]
    assert await store.outbox.publications(later - 3 * DAY) != [], "no clock that ran ahead holds it for longer than a day"
    await store.outbox.remove_publication(waiting)
    await store.outbox.put_off_publication(waiting)
    assert await store.outbox.publications(later + DAY) == []


async def test_what_was_put_off_is_published_before_what_was_posted_later(store: AnyStore) -> None:
    for minutes, name in enumerate(("s3", "s1", "s2")):
        of = await subscribed(store, name)
        due = occurrence(of)
        await store.ledger.open_occurrences([due], of, NOW + DAY)
        first = part(due, publishes=True)
        await store.ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), NOW, deliveries=[first])
        await store.ledger.record(done(await taken(store, first, NOW + minutes * MINUTE)))
    waiting = await store.outbox.publications(NOW + DAY)
    assert [each.since for each in waiting] == [NOW, NOW + MINUTE, NOW + 2 * MINUTE]
    await store.outbox.put_off_publication(replace(waiting[0], next_at=NOW + 60 * MINUTE))
    assert [each.since for each in await store.outbox.publications(NOW + 3 * MINUTE)] == [NOW + MINUTE, NOW + 2 * MINUTE]
    assert [each.delivery.id for each in await store.outbox.publications(NOW + 60 * MINUTE)] == [
        each.delivery.id for each in waiting
    ]


async def test_what_was_to_be_published_is_forgotten_with_its_delivery(store: AnyStore) -> None:
    ours = await subscribed(store)
    due = occurrence(ours)
    await store.ledger.open_occurrences([due], ours, NOW + DAY)
    first = part(due, publishes=True)
    await store.ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), NOW, deliveries=[first])
    await store.ledger.record(done(await taken(store, first)))
    await store.maintenance.prune(items_before=NOW, readings_before=TODAY, now=NOW + 60 * DAY)
    assert await store.outbox.publications(NOW + 60 * DAY) == []
