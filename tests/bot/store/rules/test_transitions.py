"""What becomes of deliveries and occurrences, at the very bounds that the rules name."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.errors import Conflict
from bot.models import FOREVER, Delivery, DeliveryState, Occurrence, OccurrenceState, Window
from bot.store.rules.transitions import (
    HELD,
    OPEN,
    after,
    claimed,
    closed,
    ended_at,
    expect_latest,
    is_undone,
    ran_out,
    recorded,
    released,
)
from tests.conftest import NOW
from tests.contract.made import digest

HOUR = timedelta(hours=1)
MOMENT = timedelta(microseconds=1)
LEASE = timedelta(seconds=45)


def delivery(state: DeliveryState = DeliveryState.PENDING, **given: object) -> Delivery:
    plain = Delivery(
        id="d1",
        occurrence=("s1", NOW.date(), 0),
        workspace="T1",
        channel="C1",
        topic="kv",
        part=1,
        parts=3,
        payload="said",
        due=NOW,
        next_at=NOW,
        state=state,
    )
    return replace(plain, **given)  # type: ignore[arg-type]


def test_a_lease_has_run_out_at_the_instant_at_which_it_ends() -> None:
    held = delivery(DeliveryState.SENDING, lease_until=NOW)
    assert not ran_out(held, NOW - MOMENT)
    assert ran_out(held, NOW)
    assert ran_out(replace(held, lease_until=None), NOW)
    assert claimed(held, held, NOW - MOMENT, LEASE) is None
    assert claimed(held, held, NOW, LEASE) is not None


@pytest.mark.parametrize("state", DeliveryState)
def test_what_is_settled_is_claimed_by_nobody(state: DeliveryState) -> None:
    found = claimed(delivery(state), delivery(state), NOW, LEASE)
    assert (found is not None) == (state in OPEN)
    if found is not None:
        assert (found.token, found.attempts, found.lease_until) == (1, 1, NOW + LEASE)


def test_a_claim_needs_the_delivery_as_it_is_stored() -> None:
    stored = delivery(token=2)
    assert claimed(stored, delivery(token=1), NOW, LEASE) is None
    assert claimed(stored, delivery(DeliveryState.AMBIGUOUS, token=2), NOW, LEASE) is None
    assert claimed(None, stored, NOW, LEASE) is None


def test_only_the_latest_claim_is_recorded() -> None:
    stored = delivery(DeliveryState.SENDING, token=2)
    assert recorded(stored, delivery(DeliveryState.DONE, token=1), wanted=True) is None
    assert recorded(stored, delivery(DeliveryState.DONE, token=3), wanted=True) is None
    assert recorded(delivery(token=2), delivery(DeliveryState.DONE, token=2), wanted=True) is None
    said = replace(delivery(DeliveryState.DONE, token=2), payload="")  # what is settled says nothing more
    assert recorded(stored, delivery(DeliveryState.DONE, token=2), wanted=False) == said
    again = recorded(stored, delivery(token=2), wanted=False)
    assert again is not None
    assert (again.state, again.reason) == (DeliveryState.EXPIRED, "unsubscribed")


@pytest.mark.parametrize("reach", [0, 4, 6])
def test_a_digest_is_saved_only_where_the_ones_before_it_still_look_as_far_as_it_knew(reach: int) -> None:
    made = replace(digest(), window=Window(5, 9, follows=5))
    expect_latest(made, 5)
    with pytest.raises(Conflict):
        expect_latest(made, reach)


def test_a_lease_is_taken_away_only_where_it_lasts_longer_than_any_does() -> None:
    held = delivery(DeliveryState.SENDING, lease_until=NOW + HELD)
    assert released(held, NOW) == held
    assert released(replace(held, lease_until=NOW + HELD + MOMENT), NOW) == replace(held, lease_until=NOW)
    nobodys = replace(held, lease_until=None)
    assert released(nobodys, NOW) == nobodys


@pytest.mark.parametrize("state", DeliveryState)
def test_what_waits_for_a_later_time_is_due_at_once_but_for_what_waits_for_ever(state: DeliveryState) -> None:
    for next_at in (NOW, NOW - MOMENT, FOREVER):
        waiting = delivery(state, next_at=next_at)
        assert released(waiting, NOW) == waiting
    for next_at in (NOW + MOMENT, FOREVER - MOMENT):
        waits = state in (DeliveryState.PENDING, DeliveryState.AMBIGUOUS)
        assert released(delivery(state, next_at=next_at), NOW).next_at == (NOW if waits else next_at)


@pytest.mark.parametrize("state", [DeliveryState.FAILED, DeliveryState.EXPIRED])
def test_only_the_parts_after_one_that_ended_end_with_it(state: DeliveryState) -> None:
    ended = delivery(state, part=2, reason="Closed.")
    parts = [delivery(part=number) for number in (1, 2, 3)] + [delivery(DeliveryState.DONE, part=3)]
    assert [(each.part, each.state, each.reason) for each in after(ended, parts)] == [(3, DeliveryState.EXPIRED, "Closed.")]


def test_only_the_first_part_begins_the_thread() -> None:
    parts = [delivery(part=2), delivery(part=3)]
    assert [each.thread for each in after(delivery(DeliveryState.DONE, message="m"), parts)] == ["m", "m"]
    assert after(delivery(DeliveryState.DONE, part=2, message="m"), parts) == []
    assert after(delivery(DeliveryState.AMBIGUOUS, message="m"), parts) == []


@pytest.mark.parametrize("state", DeliveryState)
def test_a_digest_is_undone_where_its_first_part_ended_surely_unposted(state: DeliveryState) -> None:
    ends = state in (DeliveryState.FAILED, DeliveryState.EXPIRED)
    assert is_undone(delivery(state), delivery(state), unposted=True) == ends
    assert not is_undone(delivery(state, part=2), delivery(state, part=2), unposted=True)
    assert not is_undone(delivery(state), delivery(DeliveryState.SENDING), unposted=False)
    assert is_undone(delivery(state), delivery(DeliveryState.PENDING), unposted=False) == ends


def test_the_first_try_stays_the_first() -> None:
    once = claimed(delivery(), delivery(), NOW, LEASE)
    assert once is not None
    assert (once.first_try, once.last_try) == (NOW, NOW)
    left = replace(once, state=DeliveryState.AMBIGUOUS)
    again = claimed(left, left, NOW + HOUR, LEASE)
    assert again is not None
    assert (again.first_try, again.last_try, again.attempts) == (NOW, NOW + HOUR, 2)


def test_a_delivery_ended_when_it_was_tried_last_or_else_was_made_or_was_due() -> None:
    assert ended_at(delivery()) == NOW
    assert ended_at(delivery(made_at=NOW + HOUR)) == NOW + HOUR
    assert ended_at(delivery(made_at=NOW + HOUR, last_try=NOW + 2 * HOUR)) == NOW + 2 * HOUR


@pytest.mark.parametrize("state", OccurrenceState)
def test_only_what_is_due_is_closed(state: OccurrenceState) -> None:
    stored = Occurrence(subscription="s1", workspace="T1", channel="C1", topic="kv", day=NOW.date(), due=NOW, state=state)
    made = replace(stored, state=OccurrenceState.MADE, channel="C2", reason="Because.")
    fresh = closed(stored, made)
    if state is OccurrenceState.DUE:
        assert fresh == replace(stored, state=OccurrenceState.MADE, reason="Because.")
    else:
        assert fresh is None
    assert closed(None, made) is None
