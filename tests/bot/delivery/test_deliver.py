"""What the deliverer does of each kind of failure, to whom, and how often."""

from dataclasses import replace
from datetime import datetime, time, timedelta
from itertools import pairwise
from typing import Any

import pytest

from bot.delivery import Deliverer, DeliverySettings, SubscriptionPauser, notice_restored, sealed
from bot.delivery.restored import read_unrecorded_until
from bot.delivery.send import SKEW
from bot.errors import Delayed, Reach, Refused, Rejected, StoreError
from bot.models import FOREVER, Abilities, Delivery, DeliveryState, OccurrenceState, Preferences, Rate, Refusal
from tests.bot.deliveries import Harness, change, occurrence, subscription
from tests.conftest import NOW
from tests.contract.made import digest
from tests.fakes.transcript import BOTH, HISTORY, NEITHER, NONCE, NOTES, Clock, Fault, Transcript, delivery, numbered
from tests.stores.instead import instead
from tests.stores.memory import MemoryStore

MINUTE = timedelta(minutes=1)
ARCHIVED = Refused("The channel is archived.")
REVOKED = Refused("The token was revoked.", reach=Reach.WORKSPACE)


async def planted(harness: Harness, *deliveries: Delivery) -> Deliverer:
    await harness.plant(deliveries or [delivery(now=NOW)])
    return harness.deliverer()


async def states(harness: Harness, workspace: str = "chat:T1") -> dict[str, DeliveryState]:
    return {name: each.state for name, each in (await harness.rows(workspace)).items()}


# --- refused


async def test_a_channel_that_refuses_is_asked_once_pauses_and_its_owner_is_told_once() -> None:
    harness = Harness()
    deliverer = await planted(harness, *numbered([2, 1], NOW))
    harness.chat.closed["C1"] = ARCHIVED
    for _ in range(20):
        await harness.round(deliverer)

    assert [each.id for each in harness.chat.calls] == ["d1p1", "d2p1"]
    rows = await harness.rows()
    assert (rows["d1p1"].state, rows["d1p1"].reason) == (DeliveryState.FAILED, "The channel is archived.")
    assert rows["d1p2"].state is DeliveryState.EXPIRED
    assert rows["d2p1"].state is DeliveryState.DONE
    held = {each.channel: each.paused_because for each in await harness.store.workspaces.subscriptions("chat:T1")}
    assert held == {"C1": "The channel is archived.", "C2": ""}
    ((workspace, person, text),) = harness.chat.told
    assert (workspace, person) == ("chat:T1", "U-ada")
    assert text == (
        "The digests of kv in C1 are paused. The channel is archived."
        " When that is mended, they go on by themselves. To try it at once, type *resume kv* there."
    )
    (line,) = await harness.store.workspaces.changes("chat:T1", about="subscription C1 kv")
    assert (line.person, line.after) == ("broadsheet", "paused: The channel is archived.")


async def test_a_revoked_token_stops_the_workspace_after_one_call_and_no_other() -> None:
    harness = Harness(settings=DeliverySettings(workers=1))
    others = [delivery(number, now=NOW, workspace="chat:T2") for number in (7, 8)]
    deliverer = await planted(harness, *numbered([1, 1, 1, 1], NOW), *others)
    harness.chat.closed = {f"C{number}": REVOKED for number in range(1, 5)}
    for _ in range(20):
        await harness.round(deliverer)

    assert sum(each.workspace == "chat:T1" for each in harness.chat.calls) == 1
    assert all(each.paused for each in await harness.store.workspaces.subscriptions("chat:T1"))
    assert len(harness.chat.told) == 1
    assert sorted(await states(harness)) == ["d1p1", "d2p1", "d3p1", "d4p1"]
    assert set((await states(harness)).values()) == {DeliveryState.FAILED, DeliveryState.EXPIRED}
    assert set((await states(harness, "chat:T2")).values()) == {DeliveryState.DONE}
    assert not any(each.paused for each in await harness.store.workspaces.subscriptions("chat:T2"))


async def test_an_owner_is_told_once_also_when_many_are_refused_at_the_same_moment() -> None:
    harness = Harness()
    deliverer = await planted(harness, *[replace(each, channel="C1", topic=each.id) for each in numbered([1] * 6, NOW)])
    harness.chat.closed["C1"] = ARCHIVED
    for _ in range(20):
        await harness.round(deliverer)
    assert len(harness.chat.told) == 1
    assert all(f"d{number}p1 in C1" in harness.chat.told[0][2] for number in range(1, 7))


async def test_an_owner_who_cannot_be_told_holds_nothing_up() -> None:
    harness = Harness(silent=True)
    deliverer = await planted(harness)
    harness.chat.closed["C1"] = ARCHIVED
    await harness.round(deliverer)
    assert (await states(harness)) == {"d1p1": DeliveryState.FAILED}
    assert (await harness.store.workspaces.subscriptions("chat:T1"))[0].paused


async def test_administrators_are_alerted_where_they_said_so_but_not_of_each_of_a_hundred() -> None:
    harness = Harness()
    deliverer = await planted(harness, *numbered([1] * 30, NOW))
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(alerts="C-admin"), change())
    harness.chat.closed = {f"C{number}": ARCHIVED for number in range(1, 31)}
    for _ in range(10):
        await harness.round(deliverer)
    assert set((await states(harness)).values()) == {DeliveryState.FAILED}
    ((_, channel, text),) = harness.chat.announced
    assert channel == "C-admin"
    assert "archived" in text
    assert "*status*" in text


async def test_a_platform_that_refuses_everybody_pauses_nobody_and_is_asked_again_after_a_while() -> None:
    harness = Harness(settings=DeliverySettings(workers=1))
    deliverer = await planted(harness, *numbered([1, 1], NOW))
    everybody = Refused("The bot's token is wrong.", reach=Reach.PLATFORM)
    harness.chat.closed = {"C1": everybody, "C2": everybody}
    for _ in range(12):
        await harness.round(deliverer)
    assert len(harness.chat.calls) == 1
    harness.chat.closed = {}
    for _ in range(60):
        await harness.round(deliverer)
    assert set((await states(harness)).values()) == {DeliveryState.DONE}
    assert not any(each.paused for each in await harness.store.workspaces.subscriptions("chat:T1"))


async def printed(harness: Harness, **changes: Any) -> Deliverer:
    """Let a digest of a paper be made, of which a delivery is the message."""
    told = delivery(now=NOW, made_at=NOW, **changes)
    made = await harness.store.workspaces.save_subscription(subscription(topic=told.topic), change(), replaces=0)
    due = occurrence(made)
    await harness.store.ledger.open_occurrences([due], made, NOW + timedelta(days=1))
    await harness.store.ledger.close_occurrence(
        replace(due, state=OccurrenceState.MADE), NOW, digest=digest(0.5), deliveries=[told]
    )
    assert await harness.store.digests.posted("chat:T1", "C1")
    return harness.deliverer()


@pytest.mark.parametrize(
    ("abilities", "faults", "counts"),
    [
        (NEITHER, [Fault.REFUSED], False),
        (BOTH, [Fault.RETRY_AFTER, Fault.REFUSED], False),
        (BOTH, [Fault.LOST_REQUEST, Fault.REFUSED], True),  # by its nonce: the first may have been posted
        (HISTORY, [Fault.LOST_REQUEST, Fault.REFUSED], False),  # it was looked for in between
        (HISTORY, [Fault.LOST_ANSWER], True),
        (NEITHER, [Fault.LOST_REQUEST], True),  # nobody knows
        (NEITHER, [Fault.DELAYED] * 500, False),  # too late in the end
    ],
)
async def test_papers_of_a_digest_that_surely_never_appeared_come_again(
    abilities: Abilities, faults: list[Fault], counts: bool
) -> None:
    harness = Harness(abilities, faults=list(faults))
    deliverer = await printed(harness)
    while harness.clock() < NOW + timedelta(hours=14):
        await harness.round(deliverer)
        harness.clock.advance(MINUTE)
    assert bool(await harness.store.digests.posted("chat:T1", "C1")) is counts
    assert (await harness.store.digests.last("chat:T1", "C1", "kv") is not None) is counts


@pytest.mark.parametrize("first", [Fault.LOST_ANSWER, Fault.LOST_REQUEST])
async def test_what_may_have_been_posted_is_not_said_to_have_failed_when_the_next_try_is_refused(first: Fault) -> None:
    harness = Harness(BOTH, faults=[first, Fault.REFUSED])
    deliverer = await planted(harness, *numbered([2], NOW))
    for _ in range(60):
        await harness.round(deliverer)
    told, later = (await harness.rows())["d1p1"], (await harness.rows())["d1p2"]
    assert (told.state, told.reason[:9], told.next_at) == (DeliveryState.AMBIGUOUS, "unknown: ", FOREVER)
    assert later.state is DeliveryState.EXPIRED
    assert len(harness.chat.calls) == 2
    (paused,) = await harness.store.workspaces.subscriptions("chat:T1")
    assert told.reason == f"unknown: {paused.paused_because}"
    assert len(harness.chat.told) == 1


async def test_papers_of_a_digest_whose_text_is_damaged_come_again() -> None:
    harness = Harness()
    deliverer = await printed(harness, seal=sealed("another text"))
    await harness.round(deliverer)
    assert await harness.store.digests.posted("chat:T1", "C1") == frozenset()


# --- delayed


async def test_a_wait_that_is_asked_for_is_kept_by_all_whom_it_concerns() -> None:
    harness = Harness(settings=DeliverySettings(workers=1))
    deliverer = await planted(harness, *numbered([1, 1], NOW), replace(delivery(3, now=NOW), channel="C1", topic="db"))
    harness.chat.closed["C1"] = Delayed("Too many.", retry_after=timedelta(minutes=5))
    for _ in range(6):
        await harness.round(deliverer)
    asked = [each.id for each in harness.chat.calls if each.channel == "C1"]
    assert len(asked) == 1
    assert (await states(harness))["d2p1"] is DeliveryState.DONE

    harness.chat.closed = {}
    harness.clock.advance(timedelta(minutes=5))
    for _ in range(6):
        await harness.round(deliverer)
    assert set((await states(harness)).values()) == {DeliveryState.DONE}


async def test_without_a_word_how_long_to_wait_each_wait_is_longer_and_none_is_over_half_an_hour() -> None:
    harness = Harness()
    deliverer = await planted(harness)
    harness.chat.closed["C1"] = Delayed("Not now.")
    tries: list[datetime] = []
    while harness.clock() < NOW + timedelta(hours=6):
        before = len(harness.chat.calls)
        await harness.round(deliverer)
        tries += [harness.clock()] * (len(harness.chat.calls) - before)
    waits = [later - earlier for earlier, later in pairwise(tries)]
    assert waits[0] <= 3 * timedelta(seconds=10)
    assert waits[4] > 4 * waits[0]
    assert all(timedelta(minutes=15) <= each <= timedelta(minutes=31) for each in waits[10:])


async def test_what_cannot_be_posted_in_time_ends_and_is_said() -> None:
    harness = Harness()
    deliverer = await planted(harness, *numbered([2], NOW))
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(alerts="C-admin"), change())
    harness.chat.closed["C1"] = Delayed("The platform is down.")
    while harness.clock() < NOW + timedelta(hours=13):
        await harness.round(deliverer)
    rows = await harness.rows()
    assert {each.state for each in rows.values()} == {DeliveryState.EXPIRED}
    assert rows["d1p1"].reason == "It could not be posted in time. The platform is down."
    assert "could not be posted in time" in harness.chat.announced[0][2]


async def test_a_delivery_that_always_fails_keeps_none_of_the_others_waiting() -> None:
    harness = Harness()
    deliverer = await planted(harness, *numbered([1] * 40, NOW))
    harness.chat.closed = {f"C{number}": Delayed("Not now.") for number in range(1, 31)}
    await harness.round(deliverer)
    done = {name for name, state in (await states(harness)).items() if state is DeliveryState.DONE}
    assert done == {f"d{number}p1" for number in range(31, 41)}


# --- each method for itself


async def test_looks_keep_to_their_own_rate_and_hold_up_nothing_that_is_posted() -> None:
    looks = Abilities(finds=True, find=Rate(per_workspace_minute=50))
    harness = Harness(looks, faults=[Fault.LOST_ANSWER] * 60)
    deliverer = await planted(harness, *numbered([1] * 60, NOW))
    for _ in range(6):
        await harness.round(deliverer)
    begun = harness.clock()
    await harness.plant([delivery(900, now=begun)])
    while harness.clock() < begun + 3 * MINUTE:
        await harness.round(deliverer)

    at = harness.chat.looked
    assert len(at) == 60
    assert max(sum(begin <= each < begin + MINUTE for each in at) for begin in at) <= 50
    assert (await harness.rows())["d900p1"].last_try == begun
    assert set((await states(harness)).values()) == {DeliveryState.DONE}


async def test_a_look_that_is_limited_waits_as_long_as_asked_and_holds_up_nothing_that_is_posted() -> None:
    harness = Harness(HISTORY, faults=[Fault.LOST_ANSWER], looks=[Fault.RETRY_AFTER])
    deliverer = await planted(harness)
    while not harness.chat.looked:
        await harness.round(deliverer)
    again = replace(delivery(2, now=harness.clock()), channel="C1", topic="db")
    await harness.plant([again])
    await harness.round(deliverer)
    assert (await states(harness)) == {"d1p1": DeliveryState.AMBIGUOUS, "d2p1": DeliveryState.DONE}
    for _ in range(6):
        await harness.round(deliverer)
    assert (await states(harness))["d1p1"] is DeliveryState.DONE
    assert harness.chat.looked[1] - harness.chat.looked[0] >= timedelta(seconds=30)


async def test_what_was_looked_for_and_not_found_is_posted_when_its_channel_may_be_posted_to_again() -> None:
    harness = Harness(HISTORY, faults=[Fault.LOST_REQUEST])
    deliverer = await planted(harness, delivery(now=NOW))
    await deliverer.deliver_due(harness.clock)
    harness.clock.advance(timedelta(seconds=50))
    await harness.plant([replace(delivery(2, now=harness.clock()), channel="C1", topic="db")])
    harness.chat.closed["C1"] = Delayed("Too many.", retry_after=timedelta(minutes=3))
    await deliverer.deliver_due(harness.clock)
    rested = harness.clock() + timedelta(minutes=3)
    harness.chat.closed = {}
    while harness.clock() < rested:
        assert len(harness.chat.calls) == 2
        await harness.round(deliverer)
    for _ in range(12):
        await harness.round(deliverer)
    assert set((await states(harness)).values()) == {DeliveryState.DONE}
    assert harness.chat.posted("d1p1") == 1


# --- what may have been posted


async def test_a_holder_that_died_may_have_been_held_up_and_is_not_looked_for_before_that_is_over() -> None:
    harness, settings = Harness(HISTORY), DeliverySettings()
    deliverer = await planted(harness, delivery(now=NOW))
    claimed_at = harness.clock()
    assert await harness.store.ledger.claim((await harness.rows())["d1p1"], claimed_at, settings.lease)
    while not harness.chat.looked:
        await harness.round(deliverer)
    # It may have begun to send until a call no longer fitted into its lease.
    latest = claimed_at + settings.lease - settings.timeout
    assert harness.chat.looked[0] >= latest + settings.quarantine


@pytest.mark.parametrize("fault", [Fault.LOST_ANSWER, Fault.LOST_REQUEST])
async def test_a_channel_that_is_closed_to_looking_keeps_the_doubt_for_good_and_says_so(fault: Fault) -> None:
    harness = Harness(HISTORY, faults=[fault], looks=[Fault.REFUSED] * 9)
    deliverer = await planted(harness, *numbered([2], NOW))
    for _ in range(60):
        await harness.round(deliverer)
    rows = await harness.rows()
    assert (rows["d1p1"].state, rows["d1p1"].next_at) == (DeliveryState.AMBIGUOUS, FOREVER)
    assert rows["d1p1"].reason == "unknown: The channel is archived."
    assert rows["d1p2"].state is DeliveryState.EXPIRED
    assert len(harness.chat.calls) == 1


async def test_channels_into_which_nobody_can_look_for_a_reason_that_nobody_knows_do_not_stay_in_doubt_unsaid() -> None:
    harness = Harness(HISTORY, faults=[Fault.LOST_ANSWER] * 2)
    deliverer = await planted(harness, *numbered([2, 1], NOW))
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(alerts="C-admin"), change())
    odd = Rejected("Nobody can look (odd).", failure="odd")
    harness.chat.unreadable = {"C1": odd, "C2": odd}
    for _ in range(40):
        await harness.round(deliverer)
        harness.clock.advance(timedelta(hours=1))
    rows = await harness.rows()
    assert {rows[each].reason for each in ("d1p1", "d2p1")} == {f"unknown: {odd}"}
    assert rows["d1p2"].state is DeliveryState.EXPIRED
    assert "may have been posted or not" in harness.chat.announced[0][2]


@pytest.mark.parametrize(("fault", "messages"), [(Fault.LOST_ANSWER, 2), (Fault.LOST_REQUEST, 1)])
async def test_a_channel_may_prefer_a_duplicate(fault: Fault, messages: int) -> None:
    harness = Harness(NEITHER, faults=[fault])
    deliverer = await planted(harness)
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(prefer_duplicate=("C1",)), change())
    for _ in range(30):
        await harness.round(deliverer)
    assert (await states(harness)) == {"d1p1": DeliveryState.DONE}
    assert harness.chat.posted("d1p1") == messages


async def test_a_channel_that_prefers_a_duplicate_gets_one_and_no_third_whatever_is_lost() -> None:
    harness = Harness(NEITHER, faults=[Fault.LOST_ANSWER] * 1000)
    deliverer = await planted(harness)
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(prefer_duplicate=("C1",)), change())
    for _ in range(100):
        await harness.round(deliverer)
    ((row),) = (await harness.rows()).values()
    assert harness.chat.posted("d1p1") == 2
    assert row.state is DeliveryState.AMBIGUOUS
    assert row.reason.startswith("unknown: It was sent once more: it may be there twice, once or not at all.")


@pytest.mark.parametrize("first", [13, 14])  # steps: the first process dies before, or behind, what it sends
async def test_a_duplicate_that_is_preferred_is_one_also_where_each_process_dies_while_it_sends(first: int) -> None:
    most = 0
    for steps in range(100, 140):
        harness = Harness(NEITHER)
        await harness.plant(numbered([1], NOW))
        await harness.store.workspaces.save_preferences("chat:T1", Preferences(prefer_duplicate=("C1",)), change())
        await harness.live(first, *[steps] * 6)
        ((row),) = (await harness.rows()).values()
        most = max(most, harness.chat.posted("d1p1"))
        assert row.state is DeliveryState.DONE or row.reason.startswith("unknown: "), steps
    assert most == 2


async def test_a_try_by_preference_that_is_refused_leaves_open_whether_the_first_one_was_posted() -> None:
    harness = Harness(NEITHER, faults=[Fault.LOST_ANSWER, Fault.REFUSED])
    deliverer = await printed(harness)
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(prefer_duplicate=("C1",)), change())
    for _ in range(30):
        await harness.round(deliverer)
    ((row),) = (await harness.rows()).values()
    assert (row.state, row.reason[:9]) == (DeliveryState.AMBIGUOUS, "unknown: ")
    assert await harness.store.digests.posted("chat:T1", "C1"), "its papers do not come again"


async def test_nothing_is_looked_for_before_a_request_that_was_given_up_has_surely_ended() -> None:
    harness = Harness(HISTORY, faults=[Fault.SLOW])
    deliverer = await planted(harness)
    await deliverer.deliver_due(harness.clock)
    harness.clock.advance(timedelta(seconds=5))
    for _ in range(5):
        await harness.round(deliverer)
    assert (await states(harness)) == {"d1p1": DeliveryState.AMBIGUOUS}
    for _ in range(5):
        await harness.round(deliverer)
    assert (await states(harness)) == {"d1p1": DeliveryState.DONE}
    assert len(harness.chat.calls) == 1


async def test_a_message_that_shows_late_in_the_history_is_found_all_the_same() -> None:
    harness = Harness(HISTORY, faults=[Fault.LOST_ANSWER], lag=timedelta(seconds=50))
    deliverer = await planted(harness)
    for _ in range(30):
        await harness.round(deliverer)
    assert harness.chat.posted("d1p1") == 1
    assert (await states(harness)) == {"d1p1": DeliveryState.DONE}


async def test_a_nonce_is_not_relied_on_when_its_time_is_over() -> None:
    harness = Harness(NONCE, faults=[Fault.LOST_ANSWER])
    deliverer = await planted(harness)
    await deliverer.deliver_due(harness.clock)
    harness.clock.advance(timedelta(minutes=4))
    for _ in range(30):
        await harness.round(deliverer)
    assert harness.chat.posted("d1p1") == 1
    assert (await harness.rows())["d1p1"].reason.startswith("unknown: ")


class Slow(Transcript):
    """A platform that answers so slowly that the clock jumps a day ahead meanwhile, and another sweep begins."""

    deliverer: Deliverer

    async def send(self, delivery: Delivery) -> str:
        self.clock.advance(timedelta(days=1))
        await self.deliverer.reconcile(self.clock)
        return await super().send(delivery)


async def test_a_clock_that_jumps_while_something_is_sent_does_not_send_it_again() -> None:
    harness = Harness()
    harness.chat = slow = Slow(harness.clock)
    slow.deliverer = await planted(harness)
    await harness.round(slow.deliverer)
    assert len(harness.chat.calls) == 1
    assert (await states(harness)) == {"d1p1": DeliveryState.DONE}


class Asleep(MemoryStore):
    """A database that lies on a machine which falls asleep after a claim."""

    clock: Clock

    def __init__(self) -> None:
        super().__init__()
        self.kept_ledger, self.ledger = self.ledger, instead(self.ledger, claim=self.claim)

    async def claim(self, delivery: Delivery, now: datetime, lease: timedelta) -> Delivery | None:
        held = await self.kept_ledger.claim(delivery, now, lease)
        self.clock.advance(timedelta(seconds=31))
        return held


async def test_what_was_held_up_too_long_after_its_claim_is_left_to_others() -> None:
    store = Asleep()
    harness = Harness(store=store)
    store.clock = harness.clock
    deliverer = await planted(harness)
    await deliverer.deliver((await harness.store.ledger.due_deliveries(NOW))[0], harness.clock)
    assert harness.chat.calls == []
    assert (await states(harness)) == {"d1p1": DeliveryState.PENDING}


class Woken(MemoryStore):
    """A database in which who was held up begins just before another takes what was not begun when it was read."""

    def __init__(self) -> None:
        super().__init__()
        self.kept_ledger, self.ledger = self.ledger, instead(self.ledger, claim=self.claim)

    async def claim(self, delivery: Delivery, now: datetime, lease: timedelta) -> Delivery | None:
        if delivery.unbegun and delivery.state is DeliveryState.SENDING:
            assert await self.kept_ledger.begin(delivery)
        return await self.kept_ledger.claim(delivery, now, lease)


async def test_what_is_begun_between_being_read_and_being_taken_is_not_sent_again() -> None:
    store = Woken()
    harness = Harness(NOTES, store=store)
    deliverer = await planted(harness)
    (row,) = await store.ledger.due_deliveries(NOW)
    assert await store.kept_ledger.claim(replace(row, unbegun=True), NOW, timedelta(minutes=1))
    harness.clock.advance(timedelta(minutes=2))
    for _ in range(12):
        await harness.round(deliverer)
    assert harness.chat.calls == []
    (row,) = (await harness.rows()).values()
    assert (row.state, row.reason[:7]) == (DeliveryState.AMBIGUOUS, "unknown")


# --- what is not wanted any more


async def test_what_is_paused_or_gone_is_not_posted() -> None:
    harness = Harness()
    deliverer = await planted(harness, *numbered([1, 1], NOW))
    first, second = await harness.store.workspaces.subscriptions("chat:T1")
    await harness.store.workspaces.save_subscription(replace(first, paused=True), change(), replaces=first.revision)
    await harness.store.workspaces.delete_subscription(second, change())
    await harness.round(deliverer)
    assert harness.chat.calls == []
    assert {each.reason for each in (await harness.rows()).values()} == {"paused.", "unsubscribed"}


class Linkless(Transcript):
    """A platform that stumbles over the address of what it posted."""

    def link(self, delivery: Delivery) -> str:
        raise KeyError("permalink")


async def test_what_was_posted_is_recorded_although_its_link_cannot_be_made() -> None:
    harness = Harness()
    harness.chat = Linkless(harness.clock)
    await harness.round(await planted(harness))
    assert (await states(harness)) == {"d1p1": DeliveryState.DONE}


async def test_a_damaged_text_is_never_posted() -> None:
    harness = Harness()
    deliverer = await planted(harness, replace(delivery(now=NOW), seal=sealed("another text")), delivery(2, now=NOW))
    await harness.round(deliverer)
    rows = await harness.rows()
    assert (rows["d1p1"].state, rows["d1p1"].reason) == (DeliveryState.FAILED, "Its text was damaged in the database.")
    assert rows["d2p1"].state is DeliveryState.DONE


async def test_nothing_is_posted_in_quiet_hours_and_what_waited_is_not_too_old_after_them() -> None:
    harness = Harness()
    settled = Preferences(quiet_from=time(6), quiet_until=time(21), zone="UTC")
    await harness.store.workspaces.save_preferences("chat:T1", settled, change())
    deliverer = await planted(harness)
    while harness.clock() < NOW.replace(hour=20, minute=59):
        await harness.round(deliverer)
        harness.clock.advance(5 * MINUTE)
    assert harness.chat.calls == []
    harness.clock.now = NOW.replace(hour=21)
    await harness.round(deliverer)
    assert (await states(harness)) == {"d1p1": DeliveryState.DONE}


async def test_what_was_not_posted_before_quiet_hours_began_is_not_posted_within_them() -> None:
    harness = Harness(HISTORY, faults=[Fault.LOST_REQUEST])
    settled = Preferences(quiet_from=time(7, 1), quiet_until=time(9), zone="UTC")
    await harness.store.workspaces.save_preferences("chat:T1", settled, change())
    deliverer = await planted(harness)
    while harness.clock() < NOW + 119 * MINUTE:
        await harness.round(deliverer)
    assert harness.chat.messages == []
    harness.clock.now = NOW + 120 * MINUTE
    for _ in range(2):  # it is late by now: first that is kept
        await harness.round(deliverer)
    assert (await states(harness)) == {"d1p1": DeliveryState.DONE}
    assert len(harness.chat.messages) == 1


async def test_what_could_not_be_posted_before_long_quiet_hours_is_posted_after_them_and_marked_late() -> None:
    harness = Harness()
    settled = Preferences(quiet_from=time(7, 1), quiet_until=time(21), zone="UTC")
    await harness.store.workspaces.save_preferences("chat:T1", settled, change())
    deliverer = await planted(harness, delivery(now=NOW, if_late="Late: digest 1"))
    harness.chat.closed["C1"] = Delayed("Not now.", retry_after=2 * MINUTE)
    await harness.round(deliverer)
    harness.chat.closed = {}
    for _ in range(100):
        await harness.round(deliverer)
        harness.clock.advance(10 * MINUTE)
    ((row),) = (await harness.rows()).values()
    assert (row.state, row.late) == (DeliveryState.DONE, True)
    assert [each.payload for each in harness.chat.messages] == ["Late: digest 1"]


@pytest.mark.parametrize(("waits", "late"), [(14 * MINUTE, False), (17 * MINUTE, True)])
async def test_what_the_platform_alone_delays_is_marked_once_it_is_late(waits: timedelta, late: bool) -> None:
    harness = Harness()
    said = "Digest 1, part 1"
    deliverer = await planted(harness, delivery(now=NOW, if_late="Late", seal=sealed(said, "Late")))
    harness.chat.closed["C1"] = Delayed("Not now.", retry_after=MINUTE)
    while harness.clock() < NOW + waits:
        await harness.round(deliverer)
    harness.chat.closed = {}
    harness.chat.faults = [Fault.LOST_REQUEST]
    for _ in range(20):
        await harness.round(deliverer)
    ((row),) = (await harness.rows()).values()
    assert (row.state, row.late) == (DeliveryState.DONE, late)
    assert [each.payload for each in harness.chat.messages] == ["Late" if late else said]


async def test_what_is_found_to_have_been_posted_in_time_is_not_called_late() -> None:
    harness = Harness(HISTORY, faults=[Fault.LOST_ANSWER], looks=[Fault.DELAYED] * 9)
    deliverer = await planted(harness, delivery(now=NOW, if_late="Late"))
    while harness.clock() < NOW + timedelta(hours=2):
        await harness.round(deliverer)
    ((row),) = (await harness.rows()).values()
    assert (row.state, row.late) == (DeliveryState.DONE, False)


async def test_a_platform_that_is_not_connected_any_more_is_waited_for() -> None:
    harness = Harness()
    await harness.plant([replace(delivery(now=NOW), workspace="other:T1")])
    deliverer = harness.deliverer()
    for _ in range(3):
        await harness.round(deliverer)
    assert (await harness.rows("other:T1"))["d1p1"].reason.endswith("broadsheet doctor what is missing.")
    harness.clock.advance(timedelta(hours=13))
    await harness.round(deliverer)
    assert (await states(harness, "other:T1")) == {"d1p1": DeliveryState.EXPIRED}


# --- in turns


async def test_a_workspace_with_hundreds_of_channels_does_not_delay_anothers_one_digest() -> None:
    harness = Harness(Abilities(finds=True, per_second=50, per_workspace_minute=300))
    noisy = numbered([1] * 300, NOW)
    small = [replace(delivery(number, now=NOW + MINUTE), workspace=f"chat:{number}") for number in range(2000, 2005)]
    deliverer = await planted(harness, *noisy, *small)
    harness.clock.advance(MINUTE)
    await deliverer.deliver_due(harness.clock)
    order = [each.workspace for each in harness.chat.calls]
    assert {place for place, each in enumerate(order) if each != "chat:T1"} <= set(range(6))


async def test_one_that_comes_later_is_sent_among_the_next_although_hundreds_wait() -> None:
    harness = Harness(Abilities(finds=True, per_second=50))
    deliverer = await planted(harness, *numbered([1] * 300, NOW))
    late = replace(delivery(5000, now=NOW + timedelta(seconds=5)), workspace="chat:late")
    await harness.plant([late])
    await deliverer.deliver_due(harness.clock)
    order = [each.workspace for each in harness.chat.calls]
    before = sum(each.last_try is not None and each.last_try <= late.due for each in harness.chat.calls)
    assert order.index("chat:late") - before <= 50


async def test_one_that_comes_later_waits_for_one_of_each_of_a_hundred_workspaces_with_many() -> None:
    harness = Harness(Abilities(finds=True, per_second=50))
    many = [
        replace(delivery(10 * number + place, now=NOW), workspace=f"chat:{number}")
        for number in range(100)
        for place in range(5)
    ]
    deliverer = await planted(harness, *many)
    late = [replace(delivery(each, now=NOW + timedelta(seconds=4)), workspace="chat:late") for each in (7000, 8000, 9000)]
    await harness.plant(late)
    await deliverer.deliver_due(harness.clock)
    order = [each.workspace for each in harness.chat.calls]
    before = sum(each.last_try is not None and each.last_try <= late[0].due for each in harness.chat.calls)
    places = [place for place, each in enumerate(order) if each == "chat:late"]
    assert places[0] - before <= 100
    assert all(later - earlier >= 50 for earlier, later in pairwise(places[1:])), "what was missed is not made up for"


async def test_a_hundred_workspaces_that_must_wait_hide_nobody_behind_them() -> None:
    harness = Harness()
    resting = [
        replace(delivery(10 * number + place, now=NOW), workspace=f"chat:{number}", channel=f"C{number}")
        for number in range(100)
        for place in range(2)
    ]
    deliverer = await planted(harness, *[replace(each, topic=each.id) for each in resting])
    later = Delayed("Too many.", reach=Reach.WORKSPACE, retry_after=timedelta(minutes=5))
    harness.chat.closed = {f"C{number}": later for number in range(100)}
    await deliverer.deliver_due(harness.clock)
    asked = len(harness.chat.calls)
    await harness.plant([replace(delivery(7000, now=NOW), workspace="chat:free")])
    await deliverer.deliver_due(harness.clock)
    assert [each.id for each in harness.chat.calls[asked:]] == ["d7000p1"]


async def test_a_fan_out_keeps_to_the_platforms_rate() -> None:
    harness = Harness(Abilities(finds=True, per_second=50))
    deliverer = await planted(harness, *numbered([1] * 450, NOW))
    await deliverer.deliver_due(harness.clock)
    took = harness.clock() - NOW
    assert timedelta(seconds=9.5) <= took <= timedelta(seconds=10.5)


# --- the database


class Full(MemoryStore):
    """A database on a disk that is full for a while."""

    full = True
    tried = 0

    def __init__(self) -> None:
        super().__init__()
        self.kept_ledger, self.ledger = self.ledger, instead(self.ledger, claim=self.claim)

    async def claim(self, delivery: Delivery, now: datetime, lease: timedelta) -> Delivery | None:
        self.tried += 1
        if self.full:
            raise StoreError("The disk is full.")
        return await self.kept_ledger.claim(delivery, now, lease)


async def test_without_a_claim_nothing_is_posted_and_it_goes_on_when_the_database_does() -> None:
    store = Full()
    harness = Harness(store=store)
    deliverer = await planted(harness, *numbered([1] * 50, NOW))
    with pytest.raises(StoreError, match="full"):
        await deliverer.deliver_due(harness.clock)
    assert harness.chat.calls == []
    assert store.tried < 50

    store.full = False
    await deliverer.deliver_due(harness.clock)
    assert set((await states(harness)).values()) == {DeliveryState.DONE}


class Damaged(MemoryStore):
    """A database in which one workspace's preferences cannot be read any more."""

    def __init__(self) -> None:
        super().__init__()
        self.kept_workspaces, self.workspaces = self.workspaces, instead(self.workspaces, preferences=self.preferences)

    async def preferences(self, workspace: str) -> Preferences:
        if workspace == "chat:T0":
            raise StoreError("The row is damaged.")
        return await self.kept_workspaces.preferences(workspace)


async def test_a_workspace_whose_rows_are_damaged_holds_up_no_other_and_is_reported() -> None:
    harness = Harness(store=Damaged())
    broken = [replace(delivery(number, now=NOW), workspace="chat:T0") for number in range(50, 60)]
    deliverer = await planted(harness, *numbered([1] * 8, NOW), *broken)
    with pytest.raises(StoreError, match="damaged"):
        await deliverer.deliver_due(harness.clock)
    assert set((await states(harness)).values()) == {DeliveryState.DONE}
    assert set((await states(harness, "chat:T0")).values()) == {DeliveryState.PENDING}


async def test_a_courier_that_is_stopped_sends_nothing_more() -> None:
    harness = Harness()
    deliverer = await planted(harness, *numbered([1] * 5, NOW))
    deliverer.stop()
    assert await deliverer.deliver_due(harness.clock) == 0
    assert set((await states(harness)).values()) == {DeliveryState.PENDING}


# --- a restored database


@pytest.mark.parametrize("abilities", [HISTORY, BOTH])
async def test_what_a_restored_copy_has_not_seen_posted_is_found_and_the_rest_is_posted(abilities: Abilities) -> None:
    harness = Harness(abilities)
    deliverer = await planted(harness, *numbered([2, 1], NOW))
    await harness.store.facts.set("heartbeat", (NOW - MINUTE).isoformat())
    posted = numbered([2, 1], NOW)[:2]
    for each in posted:  # by the service that wrote on after the copy was made
        await harness.chat.send(each)
    harness.clock.advance(timedelta(hours=2))
    await notice_restored(harness.store.facts, NOW + MINUTE, harness.clock())

    for _ in range(20):
        await harness.round(deliverer)
    assert [harness.chat.posted(each.id) for each in numbered([2, 1], NOW)] == [1, 1, 1]
    rows = await harness.rows()
    assert (rows["d1p1"].state, rows["d1p1"].reason) == (
        DeliveryState.DONE,
        "It was posted before the database was restored.",
    )
    assert rows["d2p1"].state is DeliveryState.DONE


@pytest.mark.parametrize("abilities", [NONCE, NEITHER])
async def test_what_a_restored_copy_cannot_find_out_is_not_posted_and_said(abilities: Abilities) -> None:
    harness = Harness(abilities)
    deliverer = await planted(harness)
    await notice_restored(harness.store.facts, NOW, harness.clock())
    fresh = delivery(2, now=NOW + 3 * MINUTE)
    await harness.plant([fresh])
    harness.clock.advance(4 * MINUTE)
    for _ in range(10):
        await harness.round(deliverer)
    assert [each.id for each in harness.chat.calls] == [fresh.id]
    rows = await harness.rows()
    assert rows["d1p1"].state is DeliveryState.EXPIRED
    assert "before the database was restored" in rows["d1p1"].reason


@pytest.mark.parametrize(
    ("known", "alive", "in_doubt"), [(0, 0, False), (1, 0, False), (0, 1, True), (None, 0, True), (0, None, False)]
)
async def test_only_a_database_older_than_its_last_heartbeat_is_in_doubt(
    known: int | None, alive: int | None, in_doubt: bool
) -> None:
    harness = Harness()
    if known is not None:
        await harness.store.facts.set("heartbeat", (NOW + known * MINUTE).isoformat())
    beat = None if alive is None else NOW + alive * MINUTE
    until = await notice_restored(harness.store.facts, beat, harness.clock())
    assert until == await read_unrecorded_until(harness.store.facts)
    # What was posted between the last heartbeat and the end is not told by it.
    assert until == (beat + 2 * MINUTE if beat is not None and in_doubt else None)


# --- a clock that was set back, and a database that was restored


async def set_back(abilities: Abilities = HISTORY) -> tuple[Harness, Deliverer]:
    """What may have been posted an hour after the time that the clock shows now."""
    harness = Harness(abilities, faults=[Fault.LOST_ANSWER])
    harness.clock.advance(60 * MINUTE)
    deliverer = await planted(harness)
    await deliverer.deliver_due(harness.clock)
    harness.clock.now = NOW
    await harness.store.ledger.release(NOW)
    return harness, deliverer


async def test_what_was_tried_by_a_clock_that_ran_ahead_is_left_alone_for_one_quarantine_from_now() -> None:
    harness, deliverer = await set_back()
    await deliverer.reconcile(harness.clock)
    ((row),) = (await harness.rows()).values()
    assert (row.state, row.last_try, row.next_at) == (DeliveryState.AMBIGUOUS, NOW, NOW + MINUTE)
    assert harness.chat.looked == []


async def test_what_was_tried_by_a_clock_that_ran_ahead_is_settled_after_that_quarantine() -> None:
    harness, deliverer = await set_back()
    await deliverer.reconcile(harness.clock)
    harness.clock.advance(MINUTE)
    await deliverer.reconcile(harness.clock)
    assert len(harness.chat.looked) == 1


async def test_only_what_could_have_been_settled_for_so_long_is_settled_where_overdue_is_asked_for() -> None:
    harness = Harness(HISTORY, faults=[Fault.LOST_ANSWER])
    deliverer = await planted(harness)
    await deliverer.deliver_due(harness.clock)
    harness.clock.advance(MINUTE + timedelta(seconds=4))
    assert await deliverer.reconcile(harness.clock, overdue=timedelta(seconds=5)) == 0
    harness.clock.advance(timedelta(seconds=1))
    assert await deliverer.reconcile(harness.clock, overdue=timedelta(seconds=5)) == 1
    assert (await harness.rows())["d1p1"].state is DeliveryState.DONE


async def test_what_a_restored_database_knows_of_a_late_try_is_looked_for_from_its_due_date_on() -> None:
    harness = Harness(HISTORY)
    deliverer = await planted(harness)
    await harness.chat.send(delivery(now=NOW))  # by the service that wrote on after the copy was made
    harness.clock.advance(30 * MINUTE)
    harness.chat.faults = [Fault.LOST_REQUEST]
    await deliverer.deliver_due(harness.clock)
    await notice_restored(harness.store.facts, harness.clock(), harness.clock())
    harness.clock.advance(MINUTE)

    await deliverer.reconcile(harness.clock)

    row = (await harness.rows())["d1p1"]
    assert (row.first_try, row.state, row.message) == (NOW + 30 * MINUTE, DeliveryState.DONE, "m1")
    assert harness.chat.posted("d1p1") == 1


async def test_a_refusal_that_was_recorded_and_not_applied_is_applied_before_notices_are_sent() -> None:
    harness = Harness()
    await planted(harness)
    refusal = Refusal("chat:T1", "C1", Reach.CHANNEL, "The channel is archived.")
    await SubscriptionPauser(harness.context()).record_refusal(refusal)

    assert await harness.deliverer().send_notices(harness.clock) == 1

    (paused,) = await harness.store.workspaces.subscriptions("chat:T1")
    assert (paused.paused, paused.paused_because) == (True, "The channel is archived.")
    assert [person for _, person, _ in harness.chat.told] == ["U-ada"]


async def test_whoever_was_stopped_sends_no_further_digest_and_no_further_notice() -> None:
    harness = Harness()
    deliverer = await planted(harness)
    refusal = Refusal("chat:T1", "C1", Reach.CHANNEL, "The channel is archived.")
    await SubscriptionPauser(harness.context()).record_refusal(refusal)
    deliverer.stop()

    assert await deliverer.deliver_due(harness.clock) == 0
    assert await deliverer.send_notices(harness.clock) == 0
    assert (harness.chat.calls, harness.chat.told) == ([], [])


async def test_one_delivery_is_posted_when_it_is_asked_for_and_once_however_often() -> None:
    harness = Harness()
    deliverer = await planted(harness)
    (row,) = (await harness.rows()).values()
    for _ in range(3):
        await deliverer.deliver(row, harness.clock)
    assert [each.id for each in harness.chat.calls] == ["d1p1"]
    assert (await harness.rows())["d1p1"].state is DeliveryState.DONE


async def restored(abilities: Abilities, parts: int = 1, **preferences: Any) -> tuple[Harness, Deliverer]:
    """A digest that is due in a database that is older than its last heartbeat."""
    harness = Harness(abilities)
    await harness.store.workspaces.save_preferences("chat:T1", Preferences(**preferences), change())
    deliverer = await planted(harness, *numbered([parts], NOW))
    await harness.store.facts.set("heartbeat", (NOW - MINUTE).isoformat())
    await notice_restored(harness.store.facts, NOW, harness.clock())
    return harness, deliverer


async def test_the_history_is_believed_a_quarantine_after_the_restored_database_was_noticed() -> None:
    harness, deliverer = await restored(HISTORY)
    harness.chat.lag = timedelta(seconds=55)
    await harness.chat.send(delivery(now=NOW))  # by the service that was stopped a moment ago
    for _ in range(12):
        await harness.round(deliverer)
    assert (await states(harness), harness.chat.posted("d1p1")) == ({"d1p1": DeliveryState.DONE}, 1)
    assert harness.chat.looked == [NOW + MINUTE]


async def test_until_the_history_is_believed_after_a_restore_a_delivery_says_what_it_waits_for() -> None:
    harness, deliverer = await restored(HISTORY)
    await deliverer.deliver_due(harness.clock)
    row = (await harness.rows())["d1p1"]
    assert (row.state, row.next_at, row.attempts) == (DeliveryState.PENDING, NOW + MINUTE, 0)
    assert row.reason == "It waits until the channel shows what was posted before the database was restored."
    assert (harness.chat.looked, harness.chat.calls) == ([], [])


async def test_what_a_restored_copy_knows_to_be_uncertain_is_looked_for_no_sooner_either() -> None:
    harness = Harness(HISTORY, faults=[Fault.LOST_REQUEST])
    deliverer = await planted(harness)
    await deliverer.deliver_due(harness.clock)
    harness.clock.advance(10 * MINUTE)
    await notice_restored(harness.store.facts, harness.clock(), harness.clock())
    await deliverer.reconcile(harness.clock)
    assert (harness.chat.looked, (await harness.rows())["d1p1"].next_at) == ([], NOW + 11 * MINUTE)


async def test_a_clock_that_was_set_back_after_a_restore_holds_nothing_up() -> None:
    harness, deliverer = await restored(HISTORY)
    await harness.store.facts.set("doubted since", (NOW + 60 * MINUTE).isoformat())
    await deliverer.deliver_due(harness.clock)
    assert await states(harness) == {"d1p1": DeliveryState.DONE}


async def test_of_a_restoration_that_was_noticed_by_an_earlier_version_the_last_heartbeat_is_taken() -> None:
    harness, deliverer = await restored(HISTORY)
    await harness.store.facts.set("doubted since", "")
    harness.clock.advance(MINUTE)
    await deliverer.deliver_due(harness.clock)
    assert await states(harness) == {"d1p1": DeliveryState.DONE}


async def test_what_was_not_posted_before_a_restore_is_posted_in_the_same_round() -> None:
    harness, deliverer = await restored(HISTORY)
    harness.clock.advance(MINUTE)
    await deliverer.deliver_due(harness.clock)
    assert (await states(harness), len(harness.chat.looked)) == ({"d1p1": DeliveryState.DONE}, 1)


async def test_what_was_posted_before_a_restore_ends_the_parts_after_it() -> None:
    harness, deliverer = await restored(HISTORY, parts=2)
    await harness.chat.send(delivery(now=NOW))
    harness.clock.advance(MINUTE)
    await deliverer.deliver_due(harness.clock)
    assert await states(harness) == {"d1p1": DeliveryState.DONE, "d1p2": DeliveryState.EXPIRED}
    assert harness.chat.posted("d1p1") == 1


async def test_where_nobody_may_look_after_a_restore_a_channel_that_prefers_it_sees_it_twice() -> None:
    harness, deliverer = await restored(NEITHER, prefer_duplicate=("C1",))
    harness.clock.advance(MINUTE)
    await deliverer.deliver_due(harness.clock)
    assert await states(harness) == {"d1p1": DeliveryState.DONE}


async def test_after_a_restore_a_try_by_preference_that_is_refused_leaves_open_whether_it_was_posted_before() -> None:
    harness, deliverer = await restored(NEITHER, prefer_duplicate=("C1",))
    harness.clock.advance(MINUTE)
    harness.chat.faults = [Fault.REFUSED]
    await deliverer.deliver_due(harness.clock)
    ((row),) = (await harness.rows()).values()
    assert (row.state, row.reason[:9]) == (DeliveryState.AMBIGUOUS, "unknown: ")


async def windows(harness: Harness, deliverer: Deliverer) -> tuple[datetime | None, datetime | None]:
    """Return between which times it was looked for, without what is added since clocks differ."""
    await deliverer.deliver_due(harness.clock)
    await deliverer.reconcile(harness.clock)
    (asked,) = harness.chat.sought
    assert asked.first_try is not None
    assert asked.last_try is not None
    return asked.first_try + SKEW, asked.last_try - SKEW


async def test_it_is_looked_for_from_the_first_try_until_a_quarantine_after_the_last() -> None:
    harness = Harness(HISTORY, faults=[Fault.DELAYED, Fault.LOST_REQUEST])
    deliverer = await planted(harness)
    await deliverer.deliver_due(harness.clock)
    harness.clock.advance(5 * MINUTE)
    await deliverer.deliver_due(harness.clock)
    harness.clock.advance(60 * MINUTE)
    assert await windows(harness, deliverer) == (NOW + 5 * MINUTE, NOW + 6 * MINUTE)


async def test_after_a_restore_it_is_looked_for_until_a_quarantine_after_all_that_is_in_doubt() -> None:
    harness, deliverer = await restored(HISTORY)
    harness.clock.advance(60 * MINUTE)
    assert await windows(harness, deliverer) == (NOW, NOW + 2 * MINUTE + MINUTE)


async def test_what_was_tried_by_a_clock_that_ran_ahead_is_looked_for_in_all_the_time_that_it_may_have_been() -> None:
    harness, deliverer = await set_back()
    await deliverer.reconcile(harness.clock)
    harness.clock.advance(MINUTE)
    span = timedelta(hours=12)
    assert await windows(harness, deliverer) == (NOW + MINUTE - span, NOW + MINUTE + span - SKEW)


async def test_where_nobody_may_look_after_a_restore_it_is_not_posted_and_the_alerts_know() -> None:
    harness, deliverer = await restored(NEITHER, alerts="C-admin")
    harness.clock.advance(MINUTE)
    await deliverer.deliver_due(harness.clock)
    await deliverer.send_notices(harness.clock)
    assert await states(harness) == {"d1p1": DeliveryState.EXPIRED}
    assert [channel for _, channel, _ in harness.chat.announced] == ["C-admin"]


async def test_what_is_due_in_quiet_hours_waits_for_their_end_and_is_held_by_nobody() -> None:
    harness = Harness()
    quiet = Preferences(quiet_from=time(0), quiet_until=(NOW + 60 * MINUTE).time(), zone="UTC")
    await harness.store.workspaces.save_preferences("chat:T1", quiet, change())
    deliverer = await planted(harness)
    await deliverer.deliver_due(harness.clock)
    row = (await harness.rows())["d1p1"]
    assert (row.state, row.next_at, row.attempts) == (DeliveryState.PENDING, NOW + 60 * MINUTE, 0)
    assert harness.chat.calls == []


@pytest.mark.parametrize("reach", [Reach.WORKSPACE, Reach.PLATFORM])
async def test_of_a_workspace_that_rests_no_more_is_read_than_a_round_looks_at(reach: Reach) -> None:
    store, read = MemoryStore(), list[int]()
    plain = store.ledger

    async def due_deliveries(now: datetime, **how: Any) -> Any:
        found = await plain.due_deliveries(now, **how)
        read.append(len(found))
        return found

    store.ledger = instead(plain, due_deliveries=due_deliveries)
    harness = Harness(store=store)
    deliverer = await planted(harness, *numbered([1] * 500, NOW))
    harness.chat.closed = {f"C{number}": Delayed("Slow.", retry_after=MINUTE, reach=reach) for number in range(1, 501)}
    await deliverer.deliver_due(harness.clock)
    read.clear()
    await deliverer.deliver_due(harness.clock)
    assert sum(read) <= 64
    harness.chat.closed.clear()
    harness.clock.advance(2 * MINUTE)
    for _ in range(9):
        await deliverer.deliver_due(harness.clock)
    assert len(harness.chat.messages) == 500
