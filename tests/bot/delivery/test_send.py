"""One try at a delivery, and what is recorded of each way in which it may end."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.delivery.context import DeliveryContext, DeliverySettings
from bot.delivery.pausing import SubscriptionPauser
from bot.delivery.rate_limits import WINDOW
from bot.delivery.rejections import APART
from bot.delivery.send import LONGEST_REST, PLATFORM_REST, REFUSED_REST, NotKnownYet, Sender
from bot.errors import Delayed, Reach, Refused, Rejected
from bot.models import FOREVER, Abilities, Delivery, DeliveryState, Method, Preferences
from tests.bot.deliveries import Harness, change
from tests.conftest import NOW
from tests.fakes.transcript import BOTH, HISTORY, NONCE, Fault, delivery, numbered

SECOND = timedelta(seconds=1)
MOMENT = timedelta(microseconds=1)
LEASE = timedelta(seconds=45)
PATIENCE = 5 * SECOND  # a third of what the lease leaves beside two calls of 15 seconds


class Try:
    """A delivery that is claimed, and who sends it."""

    def __init__(self, harness: Harness, context: DeliveryContext, before: Delivery, held: Delivery) -> None:
        self.harness = harness
        self.context = context
        self.before = before
        self.held = held
        self.sender = Sender(context, SubscriptionPauser(context), harness.clock.pause)

    def rest(self, method: Method, span: timedelta) -> None:
        """Let the channel take nothing of this for so long."""
        self.context.rate_limits.rest(self.context.call(method, "chat:T1", "C1"), Reach.CHANNEL, NOW + span, NOW)

    async def send(self, *, unposted: bool = True) -> None:
        await self.sender.send(self.held, self.before, self.harness.chat, self.harness.clock, unposted=unposted)

    async def send_next(self) -> None:
        await self.sender.send_next(self.held, self.before, self.harness.chat, self.harness.clock, unposted=True)

    async def look(self) -> str | None:
        return await self.sender.look(self.held, self.before, self.harness.chat, self.harness.clock, NOW, NOW)

    async def row(self) -> Delivery:
        (found,) = (await self.harness.rows()).values()
        return found


async def claimed(harness: Harness | None = None) -> Try:
    harness = harness or Harness()
    await harness.plant([delivery(now=NOW)])
    (before,) = (await harness.rows()).values()
    held = await harness.store.ledger.claim(before, NOW, LEASE)
    assert held is not None
    return Try(harness, harness.context(), before, held)


# --- when it has its turn


async def test_what_may_be_posted_now_is_posted_without_a_pause() -> None:
    made = await claimed()
    await made.send_next()
    assert [each.at for each in made.harness.chat.messages] == [NOW]
    assert (await made.row()).state is DeliveryState.DONE


async def test_what_may_be_posted_soon_waits_for_its_turn_and_is_posted_then() -> None:
    made = await claimed()
    made.rest(Method.POST, PATIENCE)
    await made.send_next()
    assert [each.at for each in made.harness.chat.messages] == [NOW + PATIENCE]


async def test_what_must_wait_for_longer_is_put_back_until_its_turn() -> None:
    made = await claimed()
    made.rest(Method.POST, PATIENCE + MOMENT)
    await made.send_next()
    row = await made.row()
    assert (row.state, row.next_at, row.first_try) == (DeliveryState.PENDING, NOW + PATIENCE + MOMENT, None)
    assert (made.harness.clock(), made.harness.chat.calls) == (NOW, [])


async def test_what_has_its_turn_counts_against_the_limits() -> None:
    made = await claimed(Harness(Abilities(per_channel_second=0.1)))
    await made.send_next()
    call = made.context.call(Method.POST, "chat:T1", "C1")
    assert made.context.rate_limits.earliest(call, NOW) > NOW + 10 * SECOND


async def test_no_more_leave_within_a_second_than_nine_tenths_of_what_the_platform_takes() -> None:
    harness = Harness(Abilities(per_second=10, finds=True))
    await harness.plant(numbered([1] * 10, NOW))
    sender = Sender(context := harness.context(), SubscriptionPauser(context), harness.clock.pause)
    for before in (await harness.rows()).values():
        held = await harness.store.ledger.claim(before, NOW, LEASE)
        assert held is not None
        await sender.send(held, before, harness.chat, harness.clock, unposted=True)
    assert [each.at for each in harness.chat.messages] == [NOW] * 9 + [NOW + WINDOW]


async def test_looks_count_in_the_same_second_as_postings() -> None:
    made = await claimed(Harness(Abilities(per_second=2, finds=True)))
    await made.send()
    await made.look()
    assert made.harness.chat.looked == [NOW + WINDOW]


# --- while it is held


async def test_it_is_sent_as_long_as_a_call_fits_into_the_lease() -> None:
    made = await claimed()
    made.harness.clock.advance(LEASE - 15 * SECOND)
    await made.send()
    assert (await made.row()).state is DeliveryState.DONE


async def test_what_was_held_up_until_no_call_fits_into_the_lease_is_put_back_at_once() -> None:
    made = await claimed()
    made.harness.clock.advance(LEASE - 15 * SECOND + MOMENT)
    await made.send()
    row = await made.row()
    assert (row.state, row.next_at, row.reason) == (
        DeliveryState.PENDING,
        made.harness.clock(),
        "It was held up before it was sent.",
    )
    assert made.harness.chat.calls == []


async def test_what_was_ambiguous_stays_so_when_it_is_put_back_with_its_tries_and_its_mark() -> None:
    made = await claimed()
    before = replace(
        made.before, state=DeliveryState.AMBIGUOUS, first_try=NOW - 9 * SECOND, last_try=NOW - SECOND, late=True
    )
    await made.sender.put_back(made.held, before, NOW + 7 * SECOND, "later")
    row = await made.row()
    assert (row.state, row.next_at, row.reason) == (DeliveryState.AMBIGUOUS, NOW + 7 * SECOND, "later")
    assert (row.first_try, row.last_try, row.late) == (before.first_try, before.last_try, True)


# --- how it ends


@pytest.mark.parametrize(("abilities", "wait"), [(NONCE, 20 * SECOND), (HISTORY, 60 * SECOND), (BOTH, 20 * SECOND)])
async def test_what_may_have_been_posted_is_left_alone_for_the_quarantine(abilities: Abilities, wait: timedelta) -> None:
    made = await claimed(Harness(abilities, faults=[Fault.LOST_ANSWER]))
    await made.send()
    row = await made.row()
    assert (row.state, row.next_at, row.reason) == (DeliveryState.AMBIGUOUS, NOW + wait, "The answer was lost.")


async def test_a_platform_that_asks_for_a_pause_gets_it_and_up_to_a_tenth_more() -> None:
    made = await claimed()
    made.harness.chat.closed["C1"] = Delayed("Slow down.", retry_after=100 * SECOND)
    await made.send()
    row = await made.row()
    assert row.state is DeliveryState.PENDING
    assert NOW + 100 * SECOND < row.next_at <= NOW + 110 * SECOND
    call = made.context.call(Method.POST, "chat:T1", "C1")
    assert made.context.rate_limits.rested(call, NOW) == row.next_at


@pytest.mark.parametrize(("asked", "least"), [(timedelta(days=30), LONGEST_REST), (-SECOND, timedelta(0))])
async def test_no_platform_is_given_a_pause_of_more_than_a_day_or_of_less_than_none(
    asked: timedelta, least: timedelta
) -> None:
    made = await claimed()
    made.harness.chat.closed["C1"] = Delayed("Slow down.", retry_after=asked)
    await made.send()
    assert NOW + least <= (await made.row()).next_at <= NOW + least * 1.1


async def test_without_a_word_for_how_long_the_others_wait_for_no_more_than_the_first_wait() -> None:
    made = await claimed()
    made.held = replace(made.held, attempts=6)
    made.harness.chat.closed["C1"] = Delayed("Down.", reach=Reach.PLATFORM)
    await made.send()
    call = made.context.call(Method.POST, "chat:T1", "C2")
    assert made.context.rate_limits.rested(call, NOW) == NOW + made.context.settings.first_wait
    assert (await made.row()).next_at > NOW + 2 * made.context.settings.first_wait


async def test_what_a_whole_platform_refuses_is_put_back_and_nothing_is_paused() -> None:
    made = await claimed()
    made.harness.chat.closed["C1"] = Refused("The app is suspended.", reach=Reach.PLATFORM)
    await made.send()
    row = await made.row()
    assert (row.state, row.next_at, row.reason) == (DeliveryState.PENDING, NOW + PLATFORM_REST, "The app is suspended.")
    assert not [each for each in await made.harness.store.workspaces.subscriptions("chat:T1") if each.paused]
    call = made.context.call(Method.POST, "chat:T9", "C9")
    assert made.context.rate_limits.rested(call, NOW) == NOW + PLATFORM_REST


@pytest.mark.parametrize(
    ("unposted", "state", "next_at"), [(True, DeliveryState.FAILED, NOW), (False, DeliveryState.AMBIGUOUS, FOREVER)]
)
async def test_a_refusal_ends_what_was_surely_not_posted_and_leaves_the_rest_unknown(
    unposted: bool, state: DeliveryState, next_at: object
) -> None:
    made = await claimed()
    made.harness.chat.closed["C1"] = Refused("The channel is archived.")
    await made.send(unposted=unposted)
    row = await made.row()
    assert (row.state, row.next_at) == (state, next_at)
    (paused,) = await made.harness.store.workspaces.subscriptions("chat:T1")
    assert (paused.paused, paused.paused_because) == (True, "The channel is archived.")
    call = made.context.call(Method.POST, "chat:T1", "C1")
    assert made.context.rate_limits.rested(call, NOW) == NOW + REFUSED_REST


ODD = Rejected("The platform did not take the message (code 99).", failure="code 99")


async def rejected_for(made: Try, span: timedelta, *, unposted: bool = True, beside: bool = False) -> int:
    """Let it be tried as often as the ledger says, for so long, or another channel beside it; return how often that was."""
    clock, ends, tries = made.harness.clock, made.harness.clock() + span, 0
    other = made.context.call(Method.POST, "chat:T2", "C7")
    while True:
        if beside:
            made.context.rejections.note(other, "d7", ODD, clock())
        await made.send(unposted=unposted)
        tries += 1
        row = await made.row()
        if row.state not in (DeliveryState.PENDING, DeliveryState.AMBIGUOUS) or row.next_at > ends:
            return tries
        assert row.next_at - clock() >= APART
        clock.now = row.next_at
        held = await made.harness.store.ledger.claim(row, clock(), LEASE)
        assert held is not None
        made.before, made.held = row, held


async def test_what_is_not_taken_once_is_tried_again_some_minutes_later_and_pauses_nothing() -> None:
    made = await claimed()
    made.harness.chat.closed["C1"] = ODD
    await made.send()
    row = await made.row()
    assert (row.state, row.reason) == (DeliveryState.PENDING, str(ODD))
    assert NOW + APART <= row.next_at <= NOW + 2 * APART
    del made.harness.chat.closed["C1"]
    made.harness.clock.now = row.next_at
    await made.harness.deliverer().deliver_due(made.harness.clock)
    assert (await made.row()).state is DeliveryState.DONE


async def test_what_one_channel_alone_is_not_given_for_an_hour_is_skipped_and_said_and_pauses_nothing() -> None:
    made = await claimed()
    preferences = Preferences(alerts="C9")
    await made.harness.store.workspaces.save_preferences("chat:T1", preferences, change())
    made.harness.chat.closed["C1"] = ODD
    tries = await rejected_for(made, timedelta(hours=3))
    row = await made.row()
    assert (row.state, row.reason) == (DeliveryState.FAILED, str(ODD))
    assert timedelta(hours=1) <= made.harness.clock() - NOW <= timedelta(hours=1.5)
    assert 3 <= tries <= 12
    assert not [each for each in await made.harness.store.workspaces.subscriptions("chat:T1") if each.paused]
    await made.harness.deliverer().send_notices(made.harness.clock)
    ((_, _, to_owner),) = made.harness.chat.told
    assert "was not posted. The platform did not take the message (code 99). Nothing is paused" in to_owner
    ((_, channel, said),) = made.harness.chat.announced
    assert channel == "C9"
    assert "was not posted: The platform did not take the message (code 99)." in said


async def test_what_is_not_taken_in_two_channels_is_the_platforms_and_skips_nothing() -> None:
    made = await claimed()
    made.harness.chat.closed["C1"] = ODD
    assert await rejected_for(made, timedelta(hours=11), beside=True) > 20
    assert (await made.row()).state is DeliveryState.PENDING


async def test_what_may_have_been_posted_before_is_not_skipped_when_it_is_not_taken_again() -> None:
    made = await claimed(Harness(NONCE))
    made.before = replace(made.before, state=DeliveryState.AMBIGUOUS, first_try=NOW, last_try=NOW)
    made.harness.chat.closed["C1"] = ODD
    await rejected_for(made, timedelta(hours=3), unposted=False)
    assert (await made.row()).state is DeliveryState.AMBIGUOUS


async def test_an_answer_that_is_lost_after_a_hold_up_is_looked_for_as_much_later() -> None:
    made = await claimed(Harness(HISTORY, faults=[Fault.LOST_ANSWER]))
    settings = DeliverySettings()
    made.harness.clock.advance(timedelta(seconds=25))
    await made.send()
    assert (await made.row()).next_at >= made.harness.clock() - settings.timeout + settings.quarantine


# --- looking for it


async def test_a_look_that_is_not_answered_for_an_hour_is_one_that_nobody_may_take() -> None:
    made = await claimed(Harness(HISTORY))
    made.harness.chat.unreadable["C1"] = ODD
    for _ in range(20):
        try:
            await made.look()
        except Refused:
            break
        except NotKnownYet:
            row = await made.row()
            assert row.reason == str(ODD)
            made.harness.clock.now = row.next_at
            held = await made.harness.store.ledger.claim(row, row.next_at, LEASE)
            assert held is not None
            made.before, made.held = row, held
    assert timedelta(hours=1) <= made.harness.clock() - NOW <= timedelta(hours=1.5)
    assert (await made.row()).state is DeliveryState.SENDING


async def test_nobody_looks_into_a_channel_that_rests() -> None:
    made = await claimed()
    made.rest(Method.FIND, 9 * SECOND)
    with pytest.raises(NotKnownYet):
        await made.look()
    row = await made.row()
    assert (row.state, row.next_at) == (DeliveryState.PENDING, NOW + 9 * SECOND)
    assert made.harness.chat.looked == []


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault.DELAYED, "The platform could not be reached."),
        (Fault.LOST_REQUEST, "The answer was lost."),
        (Fault.BROKEN, "'channel'"),
    ],
)
async def test_a_look_that_failed_is_recorded_and_made_again_later(fault: Fault, reason: str) -> None:
    made = await claimed(Harness(looks=[fault]))
    with pytest.raises(NotKnownYet):
        await made.look()
    row = await made.row()
    first_wait = made.context.settings.first_wait
    assert row.state is DeliveryState.PENDING
    assert NOW + first_wait <= row.next_at <= NOW + 2 * first_wait
    assert row.reason == reason


async def test_what_surely_was_not_posted_is_not_found_and_who_may_not_look_is_told_so() -> None:
    made = await claimed(Harness(looks=[Fault.NONE, Fault.REFUSED]))
    assert await made.look() is None
    with pytest.raises(Refused):
        await made.look()
    assert (await made.row()).state is DeliveryState.SENDING


async def test_a_look_that_came_to_no_end_is_no_proof_and_the_next_one_goes_on_from_there() -> None:
    harness = Harness(HISTORY, page=2)
    for number in range(2, 7):  # others' messages
        await harness.chat.send(delivery(number, now=NOW, channel="C1"))
    made = await claimed(harness)
    looks = 0
    for cursor in ("2", "4"):
        with pytest.raises(NotKnownYet):
            await made.look()
        row = await made.row()
        assert (row.state, row.cursor, row.attempts) == (DeliveryState.PENDING, cursor, 0)
        assert row.next_at == harness.clock() + SECOND
        harness.clock.advance(SECOND)
        held = await harness.store.ledger.claim(row, harness.clock(), LEASE)
        assert held is not None
        made.before, made.held, looks = row, held, looks + 1
    assert await made.look() is None
    assert len(harness.chat.looked) == looks + 1


async def test_a_new_try_is_looked_for_from_the_beginning() -> None:
    made = await claimed(Harness(HISTORY, faults=[Fault.LOST_ANSWER]))
    made.held = replace(made.held, cursor="7")
    await made.send()
    assert ((await made.row()).state, (await made.row()).cursor) == (DeliveryState.AMBIGUOUS, "")


async def test_a_look_that_failed_leaves_its_place_to_the_next_one() -> None:
    made = await claimed(Harness(HISTORY, looks=[Fault.RETRY_AFTER]))
    made.held = replace(made.held, cursor="7")
    with pytest.raises(NotKnownYet):
        await made.look()
    assert (await made.row()).cursor == "7"


async def test_it_is_looked_for_ten_minutes_earlier_and_later_since_clocks_differ() -> None:
    made = await claimed(Harness(HISTORY))
    await made.look()
    made.harness.clock.advance(600 * SECOND)
    await made.look()
    made.harness.clock.advance(SECOND)
    await made.look()
    asked = made.harness.chat.sought
    assert {each.first_try for each in asked} == {NOW - 600 * SECOND}
    # As long as that is to come it bounds nothing, by whatever clock.
    assert [each.last_try for each in asked] == [
        NOW + timedelta(hours=12),
        NOW + timedelta(hours=12) + 600 * SECOND,
        NOW + 600 * SECOND,
    ]


async def test_a_look_that_the_whole_platform_refuses_leaves_the_doubt_until_that_is_mended() -> None:
    """A wrong token says nothing of a channel: neither that it may not be looked into, nor that a digest is lost."""
    made = await claimed(Harness(HISTORY))
    made.harness.chat.unreadable["C1"] = Refused("The token is wrong.", reach=Reach.PLATFORM)
    with pytest.raises(NotKnownYet):
        await made.look()
    row = await made.row()
    assert (row.state, row.next_at, row.reason) == (DeliveryState.PENDING, NOW + PLATFORM_REST, "The token is wrong.")
    call = made.context.call(Method.FIND, "chat:T9", "C9")
    assert made.context.rate_limits.rested(call, NOW) == NOW + PLATFORM_REST
