"""A posted message says in the end what was pressed: edited in its place, seldom, and never posted again."""

import contextlib
import json
from contextlib import suppress
from dataclasses import replace
from datetime import time, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.delivery import Deliverer
from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected
from bot.models import Abilities, DeliveryState, Feedback, Preferences, Presses, Rate, Saved
from tests.bot.deliveries import Harness, change
from tests.conftest import NOW, tries
from tests.fakes.transcript import BOTH, HISTORY, NEITHER, NONCE, Crash, Fault, Steps, delivery

KEYS = ("arxiv:1", "arxiv:2")
PAYLOAD = json.dumps({"keys": [[key] for key in KEYS]})
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
LASTS, APART = timedelta(days=3), timedelta(minutes=5)


class Room(Harness):
    """Channels in which digests stand, and people who press what these have."""

    def __init__(self, *given: Any, activity: bool = True, **more: Any) -> None:
        super().__init__(*given, **more)
        self.activity = activity

    async def open(self, *numbers: int, **changes: Any) -> Deliverer:
        """Post a digest to each of these channels."""
        await self.settle(activity=self.activity)
        await self.plant([delivery(number, now=NOW, **{"payload": PAYLOAD} | changes) for number in numbers or (1,)])
        made = self.deliverer()
        await made.deliver_due(self.clock)
        return made

    async def settle(self, **preferences: Any) -> None:
        await self.store.workspaces.save_preferences("chat:T1", Preferences(**preferences), change())

    async def more(
        self,
        person: str = "U1",
        key: str = KEYS[0],
        *,
        more: bool = True,
        number: int = 1,
        workspace: str = "chat:T1",
    ) -> None:
        said = Feedback(
            workspace=workspace, topic="kv", person=person, key=key, more=more, at=self.clock(), channel=f"C{number}"
        )
        await self.store.people.save_feedback(said, change())

    async def save(self, person: str = "U1", key: str = KEYS[0], number: int = 1) -> None:
        await self.store.people.save_item("chat:T1", person, Saved(key, self.clock()), channel=f"C{number}")

    async def pass_time(self, deliverer: Deliverer, span: timedelta, step: timedelta = MINUTE) -> None:
        """Let time pass, with a round of the service at each step."""
        until = self.clock() + span
        while self.clock() < until:
            await deliverer.edit_messages(self.clock)
            self.clock.advance(step)

    @property
    def said(self) -> Presses | None:
        return self.chat.says.get("m1")


async def test_a_digest_of_which_nothing_is_pressed_is_never_edited() -> None:
    room = Room()
    await room.pass_time(await room.open(1, 2), timedelta(hours=2))
    assert (room.chat.edited, len(room.chat.messages)) == ([], 2)


async def test_it_says_what_was_pressed_in_its_channel_and_the_others_say_nothing() -> None:
    room = Room()
    deliverer = await room.open(1, 2)
    await room.more()
    await room.save("U2", KEYS[1])
    await room.pass_time(deliverer, timedelta(hours=1))
    assert room.chat.edited == [(NOW, "m1", Presses(1, 1), 1)]
    assert len(room.chat.messages) == 2


async def test_where_a_workspace_did_not_switch_it_on_there_is_not_one_edit_and_nothing_is_kept() -> None:
    room = Room(activity=False)
    deliverer = await room.open()
    await room.more()
    await room.settle(activity=True)  # after it was posted: what it said is not kept any more
    await room.pass_time(deliverer, DAY, timedelta(hours=1))
    assert room.chat.edited == []
    assert room.store.ledger.standing == {}


async def test_edits_of_a_message_are_minutes_apart_and_further_where_it_is_old() -> None:
    room = Room()
    deliverer = await room.open()
    for number in range(180):
        await room.more(f"U{number}")
        await room.pass_time(deliverer, MINUTE, MINUTE / 4)
    times = [at for at, *_ in room.chat.edited]
    apart = [later - sooner for sooner, later in pairwise(times)]
    old = timedelta(hours=1)
    assert min(apart) >= APART
    assert min(gap for gap, at in zip(apart, times, strict=False) if at - NOW >= old) >= timedelta(minutes=30)
    assert [number for *_, number in room.chat.edited] == list(range(1, len(times) + 1))
    await room.pass_time(deliverer, old)
    assert room.said == Presses(more=180)


async def test_what_is_taken_back_goes_from_the_message_too() -> None:
    room = Room()
    deliverer = await room.open()
    await room.more()
    await room.save()
    await room.pass_time(deliverer, APART)
    await room.more(more=False)
    await room.store.people.unsave_item("chat:T1", "U1", KEYS[0])
    await room.pass_time(deliverer, 2 * APART)
    assert [presses for _, _, presses, _ in room.chat.edited] == [Presses(1, 1), Presses()]


async def test_quiet_hours_are_waited_out() -> None:
    room = Room()
    deliverer = await room.open()
    at = (NOW + timedelta(hours=3)).time()
    await room.settle(activity=True, quiet_from=NOW.time(), quiet_until=at, zone="UTC")
    await room.more()
    await room.pass_time(deliverer, timedelta(hours=4))
    assert [at for at, *_ in room.chat.edited] == [NOW + timedelta(hours=3)]


async def test_what_is_paused_meanwhile_is_edited_when_that_is_over() -> None:
    room = Room()
    deliverer = await room.open()
    (of,) = await room.store.workspaces.subscriptions("chat:T1")
    await room.more()
    of = await room.store.workspaces.save_subscription(of.held_back(None, NOW), change(), replaces=of.revision)
    await room.pass_time(deliverer, timedelta(hours=2))
    assert room.chat.edited == []
    await room.store.workspaces.save_subscription(of.resumed(), change(), replaces=of.revision)
    await room.pass_time(deliverer, timedelta(hours=2))
    assert room.said == Presses(more=1)


@pytest.mark.parametrize(
    "meanwhile", ["nothing", "paused", "unsubscribed", "unsubscribed and pressed", "pressed", "lost answer", "asked to wait"]
)
async def test_where_it_is_switched_off_one_last_edit_takes_the_line_away_for_good(meanwhile: str) -> None:
    room = Room()
    deliverer = await room.open(1, 2)
    await room.more()
    await room.pass_time(deliverer, APART)
    assert room.said == Presses(more=1)
    (of, _) = await room.store.workspaces.subscriptions("chat:T1")
    if meanwhile == "unsubscribed and pressed":
        await room.store.workspaces.delete_subscription(of, change())
        await room.more("U2")
        await room.pass_time(deliverer, timedelta(hours=3))
        assert room.said == Presses(more=1)
    await room.settle(activity=False)
    match meanwhile:
        case "paused":
            await room.store.workspaces.save_subscription(of.held_back(None, NOW), change(), replaces=of.revision)
        case "unsubscribed":
            await room.store.workspaces.delete_subscription(of, change())
        case "pressed":
            await room.more("U2")
        case "lost answer":
            room.chat.editing = [Fault.LOST_ANSWER]
        case "asked to wait":
            room.chat.editing = [Fault.RETRY_AFTER]
    await room.pass_time(deliverer, timedelta(hours=1))
    assert room.said == Presses()
    assert len(room.chat.edited) == (3 if meanwhile in ("lost answer", "asked to wait") else 2)
    assert room.store.ledger.standing == {}, "nor is one kept that says nothing"
    await room.settle(activity=True)
    await room.more("U3")
    await room.pass_time(deliverer, timedelta(hours=1))
    assert room.said == Presses(), "it counts what is posted from then on"


async def test_a_process_may_die_between_any_two_steps_of_the_last_edit() -> None:
    for steps in range(1, 40):
        room = Room()
        deliverer = await room.open()
        await room.more()
        await room.pass_time(deliverer, APART)
        await room.settle(activity=False)
        with contextlib.suppress(Crash):
            await room.deliverer(Steps(steps)).edit_messages(room.clock)
        await room.pass_time(room.deliverer(), timedelta(hours=1))
        assert (room.said, room.store.ledger.standing, len(room.chat.messages)) == (Presses(), {}, 1)


async def test_what_nobody_subscribes_any_more_stays_as_it_is() -> None:
    room = Room()
    deliverer = await room.open()
    (of,) = await room.store.workspaces.subscriptions("chat:T1")
    await room.more()
    await room.store.workspaces.delete_subscription(of, change())
    await room.pass_time(deliverer, timedelta(hours=1))
    assert (room.chat.edited, room.store.ledger.standing) == ([], {})


async def test_after_three_days_it_stays_as_it_is() -> None:
    room = Room()
    deliverer = await room.open()
    await room.pass_time(deliverer, LASTS - MINUTE, timedelta(hours=1))
    await room.more()
    room.clock.now = NOW + LASTS
    await room.pass_time(deliverer, DAY, timedelta(hours=1))
    assert room.chat.edited == []


@pytest.mark.parametrize(
    "error",
    [Rejected("Too late.", failure="edit_window_closed"), Refused("The channel is archived.")],
)
async def test_what_cannot_be_edited_any_more_is_tried_once_and_left_in_silence(error: DeliveryError) -> None:
    room = Room()
    deliverer = await room.open()
    room.chat.closed["C1"] = error
    await room.more()
    await room.pass_time(deliverer, timedelta(hours=2))
    assert len(room.chat.edited) == 1
    assert (room.chat.told, room.chat.announced, len(room.chat.messages)) == ([], [], 1)
    (of,) = await room.store.workspaces.subscriptions("chat:T1")
    assert not of.paused


async def test_a_message_that_was_taken_away_stays_away() -> None:
    room = Room()
    deliverer = await room.open()
    room.chat.deleted.add("m1")
    await room.more()
    await room.pass_time(deliverer, timedelta(hours=2))
    assert (len(room.chat.edited), room.said, len(room.chat.messages)) == (1, None, 1)


@pytest.mark.parametrize("reach", [Reach.WORKSPACE, Reach.PLATFORM])
async def test_what_keeps_us_out_of_more_than_the_channel_is_waited_for(reach: Reach) -> None:
    room = Room()
    deliverer = await room.open()
    room.chat.closed["C1"] = Refused("The token was revoked.", reach=reach)
    await room.more()
    await room.pass_time(deliverer, timedelta(minutes=90))
    room.chat.closed.clear()
    await room.pass_time(deliverer, timedelta(hours=1))
    assert (len(room.chat.edited), room.said) == (3, Presses(more=1))


async def test_a_platform_that_asks_for_a_pause_gets_it_for_edits_alone() -> None:
    room = Room()
    deliverer = await room.open()
    room.chat.closed["C1"] = Delayed("A pause.", retry_after=timedelta(minutes=50))
    await room.more()
    await room.pass_time(deliverer, timedelta(minutes=30))
    room.chat.closed.clear()
    await room.plant([delivery(1, now=room.clock(), id="later", occurrence=("s9", NOW.date(), 0), topic="moe")])
    await deliverer.deliver_due(room.clock)
    assert len(room.chat.messages) == 2
    await room.pass_time(deliverer, timedelta(minutes=30))
    assert [at for at, *_ in room.chat.edited] == [NOW, NOW + timedelta(minutes=50)]


async def test_edits_keep_to_their_budget_and_all_have_their_turn() -> None:
    room = Room(replace(BOTH, edit=Rate(per_workspace_minute=10)))
    deliverer = await room.open(*range(1, 31))
    for number in range(1, 31):
        await room.more(f"U{number}", number=number)
    await room.pass_time(deliverer, timedelta(minutes=6), timedelta(seconds=20))
    times = [at for at, *_ in room.chat.edited]
    assert len(times) == len(room.chat.says) == 30
    assert max(sum(first <= each < first + MINUTE for each in times) for first in times) <= 10


@pytest.mark.parametrize("reach", [None, *Reach])
async def test_a_workspace_that_must_wait_with_many_to_edit_keeps_no_other_waiting(reach: Reach | None) -> None:
    room = Room(replace(BOTH, edit=Rate(per_workspace_minute=10)))
    deliverer = await room.open(*range(1, 241))
    await room.store.workspaces.save_preferences("another:T2", Preferences(activity=True), change("another:T2"))
    theirs = delivery(900, now=NOW, payload=PAYLOAD, workspace="another:T2" if reach is Reach.PLATFORM else "chat:T2")
    await room.store.workspaces.save_preferences(theirs.workspace, Preferences(activity=True), change("chat:T2"))
    await room.plant([theirs])
    deliverer = room.deliverer()
    await deliverer.deliver_due(room.clock)
    for number in range(1, 241):
        await room.more(f"U{number}", number=number)
        if reach is not None:
            room.chat.closed[f"C{number}"] = Delayed("Later.", retry_after=timedelta(hours=1), reach=reach)
    await room.more(number=900, workspace=theirs.workspace)
    await room.pass_time(deliverer, MINUTE / 2, MINUTE / 2)
    (message,) = [each.id for each in room.chat.messages if each.marker == theirs.id]
    assert room.chat.says[message] == Presses(more=1)


@pytest.mark.parametrize("fault", [Fault.LOST_ANSWER, Fault.LOST_REQUEST, Fault.STUMBLED, Fault.BROKEN, Fault.RETRY_AFTER])
async def test_an_edit_that_may_be_lost_is_made_again_and_told_apart_from_the_one_before(fault: Fault) -> None:
    room = Room(editing=[fault])
    deliverer = await room.open()
    await room.more()
    await room.pass_time(deliverer, timedelta(hours=1))
    assert len(room.chat.edited) == 2
    assert room.said == Presses(more=1)
    assert len({number for *_, number in room.chat.edited}) == (1 if fault is Fault.RETRY_AFTER else 2)


async def test_what_is_taken_back_after_an_edit_whose_answer_was_lost_goes_from_the_message_too() -> None:
    room = Room(editing=[Fault.LOST_ANSWER])
    deliverer = await room.open()
    await room.save()
    await room.pass_time(deliverer, MINUTE)
    assert room.said == Presses(saved=1)
    await room.store.people.unsave_item("chat:T1", "U1", KEYS[0])
    await room.pass_time(deliverer, timedelta(hours=1))
    assert room.said == Presses()
    assert len(room.chat.edited) == 2


async def test_what_is_published_to_other_servers_never_tells_them_what_people_did_here() -> None:
    room = Room()
    deliverer = await room.open(publishes=True)
    await room.more()
    await room.pass_time(deliverer, timedelta(hours=1))
    assert (room.chat.edited, room.store.ledger.standing) == ([], {})


async def test_an_old_message_that_is_refused_for_now_is_tried_no_oftener_than_one_that_is_edited() -> None:
    room = Room()
    deliverer = await room.open()
    room.clock.advance(timedelta(hours=2))
    room.chat.closed["C1"] = Delayed("Too many edits of old messages.")
    await room.more()
    await room.pass_time(deliverer, timedelta(hours=3))
    assert len(room.chat.edited) <= 6


@pytest.mark.parametrize("fault", [Fault.LOST_ANSWER, Fault.LOST_REQUEST])
async def test_what_may_have_been_posted_is_edited_once_that_is_known_and_not_before(fault: Fault) -> None:
    room = Room(NEITHER, faults=[fault])
    room.chat.abilities = replace(NEITHER, edits=True)
    deliverer = await room.open()
    await room.more()
    for _ in range(100):
        await room.round(deliverer)
        await deliverer.edit_messages(room.clock)
    assert [each.state for each in (await room.rows()).values()] == [DeliveryState.AMBIGUOUS]
    assert room.chat.edited == []

    found = Room(faults=[fault])
    deliverer = await found.open()
    await found.more()
    for _ in range(100):
        await found.round(deliverer)
        await deliverer.edit_messages(found.clock)
    assert (len(found.chat.messages), found.said) == (1, Presses(more=1))


LATE = json.dumps({"keys": [["arxiv:1"]], "late": True})


async def test_what_was_posted_late_is_edited_as_what_it_said_then() -> None:
    room = Room()
    room.clock.advance(timedelta(hours=1))
    deliverer = await room.open(if_late=LATE)
    await room.more()
    await room.pass_time(deliverer, MINUTE)
    assert room.chat.words == {"m1": LATE}


@pytest.mark.parametrize("abilities", [BOTH, HISTORY, NONCE], ids=["both", "history", "nonce"])
@pytest.mark.parametrize("minutes", [0, 14, 60])  # 15 is late
@settings(max_examples=tries(60), deadline=None)
@given(
    deaths=st.lists(st.integers(1, 30), max_size=3),
    faults=st.lists(st.sampled_from([Fault.NONE, Fault.DELAYED, Fault.LOST_REQUEST, Fault.LOST_ANSWER]), max_size=3),
)
async def test_whoever_dies_and_whatever_is_lost_it_is_edited_as_what_was_posted(
    abilities: Abilities, minutes: int, deaths: list[int], faults: list[Fault]
) -> None:
    room = Room(abilities, faults=faults)
    await room.settle(activity=True)
    await room.plant([delivery(1, now=NOW, payload=PAYLOAD, if_late=LATE)])
    room.clock.advance(minutes * MINUTE)
    await room.live(*deaths)
    await room.more()
    await room.pass_time(room.deliverer(), MINUTE)
    posted = {each.id: each.payload for each in room.chat.messages}
    assert room.chat.words.items() <= posted.items()
    (row,) = (await room.rows()).values()
    assert (row.state is DeliveryState.DONE) is bool(room.chat.words)


# --- laws


async def _do(room: Room, what: str, person: str, key: str) -> None:
    match what:
        case "more" | "less":
            await room.more(person, key, more=what == "more")
        case "save":
            await room.save(person, key)
        case "unsave":
            await room.store.people.unsave_item("chat:T1", person, key)
        case "off" | "on":
            await room.settle(activity=what == "on")
        case "quiet":
            await room.settle(activity=True, quiet_from=time(7), quiet_until=time(9), zone="UTC")


PRESSES = st.sampled_from(["more", "less", "save", "unsave", "wait", "wait long", "off", "on", "quiet", "die"])


@settings(max_examples=tries(60), deadline=None)
@given(
    doings=st.lists(st.tuples(PRESSES, st.sampled_from(["U1", "U2", "U3"]), st.sampled_from(KEYS)), max_size=25),
    faults=st.lists(st.sampled_from([Fault.NONE, Fault.LOST_ANSWER, Fault.LOST_REQUEST, Fault.RETRY_AFTER, Fault.STUMBLED])),
    deaths=st.lists(st.integers(1, 40), max_size=4),
    ends_off=st.booleans(),
)
async def test_in_the_end_it_says_what_stands_and_is_one_message(
    doings: list[tuple[str, str, str]], faults: list[Fault], deaths: list[int], ends_off: bool
) -> None:
    room = Room(editing=faults)
    await room.open()
    deliverer = room.deliverer()
    for what, person, key in doings:
        await _do(room, what, person, key)
        if what == "die":
            deliverer = room.deliverer(Steps(deaths.pop() if deaths else None))
        try:
            await room.pass_time(deliverer, timedelta(hours=1) if what == "wait long" else 2 * MINUTE, 2 * MINUTE)
        except Crash:
            deliverer = room.deliverer()
    await room.settle(activity=not ends_off)
    is_over = ends_off or not room.store.ledger.standing
    await room.pass_time(room.deliverer(), timedelta(hours=8), timedelta(minutes=10))

    more = {each.person for each in room.store.people.feedback_given.values() if each.more}
    stands = Presses(len(more), len({person for _, person, _ in room.store.people.put_aside}))
    assert len(room.chat.messages) == 1
    if room.clock() <= NOW + LASTS:
        assert (room.said or Presses()) == (Presses() if is_over else stands)
        assert not (ends_off and room.store.ledger.standing)
    assert all(at < NOW + LASTS for at, *_ in room.chat.edited)


async def test_a_process_may_die_between_any_two_steps_of_an_edit() -> None:
    steps = 1
    while True:
        room = Room()
        await room.open()
        await room.more()
        dying = Steps(steps)
        try:
            await room.deliverer(dying).edit_messages(room.clock)
            died = False
        except Crash:
            died = True
        room.clock.advance(timedelta(hours=2))
        await room.pass_time(room.deliverer(), timedelta(hours=1))
        assert (room.said, len(room.chat.messages)) == (Presses(more=1), 1)
        if not died:
            break
        steps += 1
    assert steps > 8


async def test_what_was_being_edited_as_a_process_died_is_edited_again_when_that_edit_can_come_no_more() -> None:
    for steps in range(1, 20):
        room = Room()
        await room.open()
        await room.more()
        with suppress(Crash):
            await room.deliverer(Steps(steps)).edit_messages(room.clock)
        await room.more("U2")
        await room.pass_time(room.deliverer(), 3 * APART)
        times = [at for at, *_ in room.chat.edited]
        assert all(later - sooner >= APART for sooner, later in pairwise(times)), (steps, times)
        assert room.said == Presses(more=2)


async def test_a_process_may_die_between_any_two_steps_of_a_posting_and_the_message_is_edited_once_it_is_known() -> None:
    for steps in range(1, 60):
        room = Room()
        await room.settle(activity=True)
        await room.plant([delivery(1, now=NOW, payload=PAYLOAD)])
        await room.live(steps)
        await room.more()
        await room.pass_time(room.deliverer(), MINUTE)
        assert (room.said, len(room.chat.messages)) == (Presses(more=1), 1)
