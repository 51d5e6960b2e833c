"""What decides about a delivery: its subscription, its age, its workspace's wishes, a platform that is gone."""

from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any

import pytest

from bot.delivery import Deliverer, notice_restored, sealed
from bot.delivery.decide import Decider, Decision
from bot.delivery.pausing import SubscriptionPauser
from bot.delivery.restored import may_be_unrecorded
from bot.delivery.send import Sender
from bot.models import Abilities, Delivery, DeliveryState, Preferences
from tests.bot.deliveries import Harness, change
from tests.bot.delivery.test_deliver import printed
from tests.conftest import NOW
from tests.fakes.transcript import BOTH, HISTORY, NEITHER, Fault, delivery

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
TOO_LATE = 13 * HOUR


async def decided(harness: Harness, now: datetime, one: Delivery) -> Decision:
    """Return what decides about a delivery, whose digest was planted."""
    context = harness.context()
    decider = Decider(context, Sender(context, SubscriptionPauser(context), harness.clock.pause))
    found = await decider.decide(one, None, now)
    assert found is not None
    return found[0]


async def unsubscribe(harness: Harness) -> None:
    (here,) = await harness.store.workspaces.subscriptions("chat:T1")
    await harness.store.workspaces.delete_subscription(here, change())


async def planted(harness: Harness, parts: int = 1) -> list[Delivery]:
    made = [delivery(now=NOW, part=part, parts=parts) for part in range(1, parts + 1)]
    await harness.plant(made)
    return made


@pytest.mark.parametrize(("after", "late"), [(15 * MINUTE, False), (15 * MINUTE + SECOND, True)])
async def test_it_is_late_from_a_moment_after_the_quarter_of_an_hour_on(after: timedelta, late: bool) -> None:
    harness = Harness()
    (one,) = await planted(harness)
    assert (await decided(harness, NOW + after, one)).late is late


@pytest.mark.parametrize(("after", "late"), [(15 * MINUTE, False), (15 * MINUTE + SECOND, True)])
async def test_what_was_due_in_quiet_hours_is_late_only_after_their_end(after: timedelta, late: bool) -> None:
    harness = Harness()
    (one,) = await planted(harness)
    quiet = Preferences(quiet_from=time(0), quiet_until=(NOW + HOUR).time(), zone="UTC")
    await harness.store.workspaces.save_preferences("chat:T1", quiet, change())
    assert (await decided(harness, NOW + HOUR + after, one)).late is late


@pytest.mark.parametrize(("after", "ends"), [(12 * HOUR, False), (12 * HOUR + SECOND, True)])
async def test_it_is_posted_up_to_the_end_of_the_catch_up_window(after: timedelta, ends: bool) -> None:
    harness = Harness()
    (one,) = await planted(harness)
    assert ((await decided(harness, NOW + after, one)).ending is not None) is ends


async def test_a_pause_ends_what_did_not_begin_and_neither_it_nor_unsubscribing_is_an_alert() -> None:
    harness = Harness()
    first, second = await planted(harness, parts=2)
    (here,) = await harness.store.workspaces.subscriptions("chat:T1")
    paused = replace(here, paused=True, paused_because="Gone fishing.")
    await harness.store.workspaces.save_subscription(paused, change(), replaces=here.revision)
    assert (await decided(harness, NOW, first)).ending == (DeliveryState.EXPIRED, "paused. Gone fishing.", False)
    assert (await decided(harness, NOW, second)).ending is None
    await unsubscribe(harness)
    assert (await decided(harness, NOW, second)).ending == (DeliveryState.EXPIRED, "unsubscribed", False)


@pytest.mark.parametrize(("channel", "prefers"), [("C1", True), ("C2", False)])
async def test_a_preference_for_duplicates_holds_in_its_own_channel(channel: str, prefers: bool) -> None:
    harness = Harness()
    (one,) = await planted(harness)
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(prefer_duplicate=(channel,)), change())
    assert (await decided(harness, NOW, one)).prefers_duplicate is prefers


# --- whether its papers come again


async def ended(harness: Harness, *, connected: bool = True) -> tuple[DeliveryState, bool]:
    """Let a digest's time be over; return what became of it, and whether its papers count as posted."""
    return await settled(harness, TOO_LATE, connected=connected)


async def settled(harness: Harness, after: timedelta = 5 * MINUTE, *, connected: bool = True) -> tuple[DeliveryState, bool]:
    """Return what becomes of the digest after so long, and whether its papers count as posted then."""
    harness.clock.advance(after)
    context = harness.context()
    deliverer = Deliverer(context if connected else replace(context, messengers={}), pause=harness.clock.pause)
    await deliverer.deliver_due(harness.clock)
    await deliverer.reconcile(harness.clock)
    ((row),) = (await harness.rows()).values()
    return row.state, bool(await harness.store.digests.posted("chat:T1", "C1"))


async def lost(abilities: Abilities = HISTORY, fault: Fault = Fault.LOST_REQUEST) -> Harness:
    harness = Harness(abilities, faults=[fault])
    await (await printed(harness)).deliver_due(harness.clock)
    return harness


async def restored(**changes: Any) -> Harness:
    harness = Harness(HISTORY)
    await printed(harness, **changes)
    await notice_restored(harness.store.facts, NOW, NOW)
    return harness


async def test_of_a_platform_that_is_gone_what_never_was_tried_comes_again() -> None:
    harness = Harness()
    await printed(harness)
    assert await ended(harness, connected=False) == (DeliveryState.EXPIRED, False)


async def test_of_a_platform_that_is_gone_what_may_have_been_posted_before_a_restore_does_not_come_again() -> None:
    assert await ended(await restored(), connected=False) == (DeliveryState.EXPIRED, True)


async def test_of_a_platform_that_is_gone_what_may_have_been_posted_is_unknown_in_the_end() -> None:
    harness = await lost()
    assert await ended(harness, connected=False) == (DeliveryState.AMBIGUOUS, True)
    ((row),) = (await harness.rows()).values()
    assert row.reason.startswith("unknown: Its platform is not connected: ")


async def test_a_platform_that_is_gone_is_waited_for_longer_and_longer() -> None:
    harness = Harness()
    await planted(harness)
    deliverer = Deliverer(replace(harness.context(), messengers={}), pause=harness.clock.pause)
    (one,) = (await harness.rows()).values()
    await deliverer.deliver(one, harness.clock)
    (one,) = (await harness.rows()).values()
    assert one.next_at > NOW


async def test_what_is_over_and_may_have_been_posted_before_a_restore_does_not_come_again() -> None:
    assert await ended(await restored()) == (DeliveryState.EXPIRED, True)


async def test_what_is_over_and_surely_was_not_posted_comes_again() -> None:
    assert await ended(await lost()) == (DeliveryState.EXPIRED, False)


async def test_what_is_over_is_sent_no_more_where_a_duplicate_is_preferred() -> None:
    harness = await lost(NEITHER, Fault.LOST_ANSWER)
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(prefer_duplicate=("C1",)), change())
    assert await ended(harness) == (DeliveryState.AMBIGUOUS, True)
    assert harness.chat.posted("d1p1") == 1


async def test_what_is_damaged_and_may_have_been_posted_before_a_restore_does_not_come_again() -> None:
    harness = await restored(seal=sealed("another text"))
    assert await settled(harness) == (DeliveryState.FAILED, True)


async def test_what_is_damaged_and_may_have_been_posted_does_not_come_again() -> None:
    harness = Harness(HISTORY)
    tried: dict[str, Any] = {"state": DeliveryState.AMBIGUOUS, "first_try": NOW, "last_try": NOW}
    await printed(harness, seal=sealed("another text"), **tried)
    assert await settled(harness) == (DeliveryState.FAILED, True)


async def test_what_surely_was_not_posted_before_a_restore_and_is_refused_comes_again() -> None:
    harness = await restored()
    harness.chat.faults = [Fault.REFUSED]
    assert await settled(harness) == (DeliveryState.FAILED, False)


async def test_what_is_found_after_a_restore_to_have_been_posted_in_time_is_not_called_late() -> None:
    harness = await restored()
    await harness.chat.send(delivery(now=NOW))
    harness.clock.advance(2 * HOUR)
    await harness.deliverer().deliver_due(harness.clock)
    ((row),) = (await harness.rows()).values()
    assert (row.state, row.late) == (DeliveryState.DONE, False)


# --- nonces, and what is put back


async def test_a_nonce_is_not_relied_on_in_a_restored_database() -> None:
    harness = await lost(BOTH)
    harness.clock.advance(30 * SECOND)
    await notice_restored(harness.store.facts, harness.clock(), harness.clock())
    await harness.deliverer().reconcile(harness.clock)
    assert (len(harness.chat.calls), len(harness.chat.looked)) == (1, 0)
    harness.clock.advance(MINUTE)
    await harness.deliverer().reconcile(harness.clock)
    assert (len(harness.chat.calls), len(harness.chat.looked)) == (2, 1)


async def test_what_is_not_wanted_any_more_is_not_sent_again_with_its_nonce() -> None:
    harness = await lost(BOTH)
    await unsubscribe(harness)
    harness.clock.advance(30 * SECOND)
    await harness.deliverer().reconcile(harness.clock)
    assert len(harness.chat.calls) == 1


async def test_what_has_its_turn_too_early_is_put_back_as_if_it_had_not() -> None:
    harness = await lost()
    ((before),) = (await harness.rows()).values()
    harness.clock.advance(10 * SECOND)
    await harness.store.ledger.release(harness.clock())
    await harness.deliverer().reconcile(harness.clock)
    ((row),) = (await harness.rows()).values()
    assert (row.attempts, row.next_at, row.last_try) == (before.attempts, NOW + MINUTE, NOW)


async def test_what_surely_was_not_posted_waits_for_the_end_of_quiet_hours_as_if_it_had_not_been_looked_for() -> None:
    harness = await lost()
    quiet = Preferences(quiet_from=time(0), quiet_until=(NOW + HOUR).time(), zone="UTC")
    await harness.store.workspaces.save_preferences("chat:T1", quiet, change())
    harness.clock.advance(5 * MINUTE)
    await harness.deliverer().reconcile(harness.clock)
    ((row),) = (await harness.rows()).values()
    assert (row.attempts, row.next_at, row.reason) == (1, NOW + HOUR, "It waits for the end of the quiet hours.")


async def test_a_second_restoration_leaves_in_doubt_what_was() -> None:
    facts = Harness().store.facts
    first = await notice_restored(facts, NOW + HOUR, NOW)
    assert await notice_restored(facts, NOW, NOW) == first == NOW + HOUR + 2 * MINUTE


async def test_what_was_due_at_the_very_end_of_what_is_in_doubt_is_in_doubt() -> None:
    one = delivery(now=NOW)
    assert (may_be_unrecorded(one, NOW), may_be_unrecorded(one, NOW - SECOND)) == (True, False)
