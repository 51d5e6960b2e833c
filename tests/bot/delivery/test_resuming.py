"""What the service paused goes on by itself: when the platform shows nothing that is in the way, and not otherwise."""

from datetime import timedelta
from itertools import pairwise

import pytest

from bot.delivery import Deliverer, SubscriptionPauser, SubscriptionResumer
from bot.delivery.resuming import OF_ONE, SOONEST, UNSEEN
from bot.errors import Delayed, Reach, Refused, Rejected, StoreError
from bot.models import Preferences, Refusal, Schedule, Subscription
from tests.bot.deliveries import Harness, change, subscription
from tests.conftest import NOW
from tests.contract.made import paper
from tests.fakes.transcript import Fault
from tests.stores.instead import instead

ARCHIVED = Refused("The channel is archived.")
LIMITED = Delayed("Too many.", reach=Reach.WORKSPACE, retry_after=timedelta(minutes=1))
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


class Room:
    """A service, and what it has paused."""

    def __init__(self) -> None:
        self.harness = Harness()
        self.chat, self.clock, self.store = self.harness.chat, self.harness.clock, self.harness.store
        self.begin_anew()

    def begin_anew(self) -> None:
        """Begin another process."""
        self.context = self.harness.context()
        self.pauser, self.resumer = SubscriptionPauser(self.context), SubscriptionResumer(self.context)
        self.deliverer = Deliverer(self.context, pause=self.clock.pause)

    async def subscribe(self, *made: Subscription) -> None:
        for each in made or (subscription(),):
            await self.store.workspaces.save_subscription(each, change(each.workspace), replaces=0)

    async def refuse(self, channel: str = "C1", workspace: str = "chat:T1", *, unseen: bool = False) -> None:
        """Have a post refused there."""
        self.chat.closed[channel] = ARCHIVED
        if unseen:
            self.chat.unseen.add(channel)
        await self.pauser.pause(Refusal(workspace, channel, Reach.CHANNEL, str(ARCHIVED)), self.clock())

    async def run(self, span: timedelta, every: timedelta = MINUTE) -> None:
        """Let the service do its rounds for so long."""
        end = self.clock() + span
        while self.clock() < end:
            await self.round()
            self.clock.advance(every)
        await self.round()

    async def round(self) -> None:
        await self.resumer.resume_due(self.clock)
        await self.deliverer.send_notices(self.clock)

    async def all(self, workspace: str = "chat:T1") -> list[Subscription]:
        return [*await self.store.workspaces.subscriptions(workspace)]

    async def paused(self, workspace: str = "chat:T1") -> list[str]:
        """Return the channels that are paused."""
        return [each.channel for each in await self.all(workspace) if each.paused]

    @property
    def told(self) -> list[str]:
        return [text for _, _, text in self.chat.told]


@pytest.fixture
def room() -> Room:
    return Room()


async def test_what_was_paused_goes_on_when_the_channel_is_open_again_and_that_is_told_once(room: Room) -> None:
    await room.subscribe()
    await room.refuse()
    await room.run(2 * HOUR)
    assert await room.paused() == ["C1"]
    assert len(room.told) == 1

    room.chat.closed.clear()
    await room.run(HOUR)
    (held,) = await room.all()
    assert (held.paused, held.paused_because, held.paused_at) == (False, "", None)
    (said,) = room.told[1:]
    assert said == (
        "The digests of kv in C1 go on: as far as can be told, they can be posted again."
        " What was due in the pause is left out. To post what has come in since, type *post kv* there."
    )
    line, _ = await room.store.workspaces.changes("chat:T1", about="subscription C1 kv", limit=2)
    assert line.person == "broadsheet"
    assert (line.before, line.after) == ("posted as scheduled (paused: The channel is archived.)", "posted as scheduled")


async def test_an_event_has_it_asked_at_once_and_the_platform_decides(room: Room) -> None:
    await room.subscribe()
    await room.refuse()
    await room.run(HOUR)
    room.resumer.hint("chat:T1", "C1")
    await room.run(20 * SECOND, every=5 * SECOND)  # it is asked once more, as platforms may tell before they show
    assert await room.paused() == ["C1"]
    asked = len(room.chat.examined)

    room.chat.closed.clear()
    await room.run(10 * SECOND, every=5 * SECOND)
    assert await room.paused() == ["C1"]
    assert len(room.chat.examined) == asked
    room.resumer.hint("chat:T1", "")
    await room.round()
    assert await room.paused() == []


async def test_what_a_person_paused_is_never_lifted_nor_paused_for_another_reason(room: Room) -> None:
    by_person = subscription(1).held_back(None, NOW)
    until_monday = subscription(2).held_back(NOW + 3 * DAY, NOW)
    over_the_service = subscription(3).held_back(None, NOW, "Gone.").held_back(None, NOW)
    await room.subscribe(by_person, until_monday, over_the_service)
    before = await room.all()
    for number in (1, 2, 3):
        await room.refuse(f"C{number}")
    room.chat.closed.clear()
    room.resumer.hint("chat:T1", "")
    await room.run(2 * DAY, every=HOUR)
    assert await room.all() == before
    assert room.told == []


async def test_an_owner_is_told_once_of_all_that_goes_on_in_a_workspace(room: Room) -> None:
    count = 3 * OF_ONE
    await room.subscribe(*(subscription(number, made_by=f"U{number % 2}") for number in range(count)))
    room.chat.closed = {f"C{number}": ARCHIVED for number in range(count)}
    await room.pauser.pause(Refusal("chat:T1", "", Reach.WORKSPACE, "Its token was revoked."), NOW)
    await room.run(HOUR)
    assert sorted(person for _, person, _ in room.chat.told) == ["U0", "U1"]
    room.chat.closed.clear()
    room.resumer.hint("chat:T1", "")
    await room.run(MINUTE, every=5 * SECOND)
    assert await room.paused() == []
    assert sorted(person for _, person, _ in room.chat.told) == ["U0", "U0", "U1", "U1"]


async def test_where_nobody_can_tell_nothing_goes_on_and_it_is_asked_ever_more_seldom(room: Room) -> None:
    await room.subscribe()
    await room.refuse()
    room.chat.closed.clear()
    room.chat.examinations = [Fault.LOST_REQUEST, Fault.DELAYED, Fault.RETRY_AFTER, Fault.BROKEN] * 100
    await room.run(DAY, every=MINUTE)
    assert await room.paused() == ["C1"]
    assert len(room.chat.examined) < 100
    room.chat.examinations.clear()
    await room.run(HOUR)
    assert await room.paused() == []


async def test_a_channel_that_stays_closed_is_asked_about_ever_more_seldom(room: Room) -> None:
    await room.subscribe()
    await room.refuse()
    asked = []
    for _ in range(4):
        before = len(room.chat.examined)
        await room.run(DAY, every=SOONEST)
        asked.append(len(room.chat.examined) - before)
    assert 4 <= asked[-1] <= asked[0] <= 40, asked
    assert await room.paused() == ["C1"]


async def test_a_round_asks_a_little_and_workspaces_take_turns(room: Room) -> None:
    await room.subscribe(*(subscription(number) for number in range(30)), subscription(1, workspace="chat:T2", id="other"))
    for workspace in ("chat:T1", "chat:T2"):
        await room.pauser.pause(Refusal(workspace, "", Reach.WORKSPACE, "Its token was revoked."), NOW)
    await room.resumer.resume_due(room.clock)
    asked = [workspace for workspace, _ in room.chat.examined]
    assert (asked.count("chat:T1"), asked.count("chat:T2")) == (OF_ONE, 1)


async def test_where_nothing_is_paused_nothing_is_read_again_and_again(room: Room) -> None:
    await room.subscribe()
    reads = []
    for _ in range(100):
        before = room.chat.steps.taken
        await room.resumer.resume_due(room.clock)
        reads.append(room.chat.steps.taken - before)
        room.clock.advance(5 * SECOND)
    assert sum(map(bool, reads)) == 1


async def test_a_cause_that_is_not_seen_is_tried_again_ever_more_seldom_and_told_no_more_than_about_once_a_day(
    room: Room,
) -> None:
    await room.subscribe()
    lifts = []
    await room.refuse(unseen=True)
    for _ in range(24 * 30):
        room.resumer.hint("chat:T1", "C1")  # things happen there that change nothing
        await room.run(HOUR, every=20 * MINUTE)
        if not await room.paused():
            lifts.append(room.clock())
            await room.refuse(unseen=True)  # the next post is refused
    between = [after - before for before, after in pairwise(lifts)]
    assert all(span >= least for span, least in zip(between, UNSEEN[1:], strict=False)), between
    assert len(lifts) == 6
    assert len(room.told) == 2 * len(lifts) + 1


async def test_a_cause_that_comes_and_goes_before_everybodys_eyes_is_told_each_time(room: Room) -> None:
    await room.subscribe()
    for _ in range(3):
        await room.refuse()
        await room.round()
        room.chat.closed.clear()
        room.resumer.hint("chat:T1", "C1")
        await room.round()
        assert await room.paused() == []
        room.clock.advance(HOUR)
    assert len(room.told) == 6


async def test_what_held_for_days_was_not_resumed_in_vain(room: Room) -> None:
    await room.subscribe()
    for _ in range(3):
        await room.refuse(unseen=True)
        await room.run(UNSEEN[0])
        assert await room.paused() == []
        room.clock.advance(9 * DAY)


async def test_a_schedule_that_cannot_be_worked_out_stays_paused_though_the_channel_is_open(room: Room) -> None:
    await room.subscribe(subscription(schedule=Schedule(zone="Mars/Olympus")))
    await room.pauser.pause(Refusal("chat:T1", "C1", Reach.CHANNEL, "There is no zone Mars/Olympus.", "kv"), NOW)
    await room.run(3 * DAY, every=HOUR)
    assert await room.paused() == ["C1"]
    assert len(room.told) == 1


async def test_what_a_platform_says_is_closed_is_paused_only_where_it_shows_that(room: Room) -> None:
    await room.subscribe()
    for fault in (Fault.NONE, Fault.DELAYED, Fault.LOST_REQUEST, Fault.REFUSED):
        assert await room.paused() == []
        room.chat.examinations = [fault]
        await room.pauser.pause_closed("chat:T1", "C1", "The channel was archived; unarchive it.", room.clock())
    assert await room.paused() == ["C1"]
    await room.pauser.pause_closed("elsewhere:T1", "C1", "It is gone.", room.clock())


async def test_alerts_tell_of_what_goes_on(room: Room) -> None:
    await room.subscribe()
    await room.store.workspaces.save_preferences("chat:T1", Preferences(alerts="C-admin"), change())
    await room.refuse()
    await room.run(HOUR)
    room.chat.closed.clear()
    await room.run(2 * HOUR)
    assert [text for _, _, text in room.chat.announced] == [
        "Paused: kv in C1. The channel is archived. *status* tells what else there is.",
        "Goes on: kv in C1. *status* tells what else there is.",
    ]


async def test_what_came_in_since_the_last_time_in_the_pause_is_in_the_next_digest(room: Room) -> None:
    """As after `resume`: the digests that were due in the pause are left out, and nothing after them."""

    async def stored(number: int) -> int:
        await room.store.items.add([paper(number, seen=None)], room.clock())
        return await room.store.items.last_arrival()

    await room.subscribe(subscription(made_arrival=0, baseline_arrival=0))
    room.clock.advance(HOUR)
    await room.refuse()
    room.clock.advance(2 * HOUR)
    await stored(1)
    room.clock.advance(3 * DAY)
    last = await stored(2)
    room.clock.advance(HOUR)
    room.chat.closed.clear()
    room.resumer.hint("chat:T1", "C1")
    await room.run(HOUR)
    (held,) = await room.all()
    assert not held.paused
    assert held.baseline == NOW + 3 * DAY
    assert held.baseline_arrival is not None
    assert held.baseline_arrival < last


async def test_where_something_happens_all_the_time_what_is_open_again_goes_on_all_the_same(room: Room) -> None:
    """A server whose channels are renamed every few seconds, and in which one of many is open again."""
    count = 8 * OF_ONE
    await room.subscribe(*(subscription(number) for number in range(10, 10 + count)))
    for number in range(10, 10 + count):
        await room.refuse(f"C{number}")
    last = f"C{9 + count}"
    del room.chat.closed[last]
    for _ in range(80):
        room.resumer.hint("chat:T1", "")
        await room.round()
        room.clock.advance(5 * SECOND)
    assert last not in await room.paused()
    asked = [channel for _, channel in room.chat.examined]
    assert {f"C{number}" for number in range(10, 10 + count)} <= set(asked)


async def test_of_a_workspace_with_very_many_closed_channels_what_is_open_does_not_wait_for_all_of_them(room: Room) -> None:
    """More are due to be asked about than can be asked about until they are due again."""
    count = 100 * OF_ONE
    await room.subscribe(*(subscription(number) for number in range(count)))
    room.chat.closed = {f"C{number}": ARCHIVED for number in range(1, count)}
    await room.pauser.pause(Refusal("chat:T1", "", Reach.WORKSPACE, "Its token was revoked."), NOW)
    room.resumer.hint("chat:T1", "")
    await room.run(6 * MINUTE, every=5 * SECOND)
    assert "C0" not in await room.paused()


async def test_of_very_many_that_are_open_again_each_owner_is_told_a_few_times(room: Room) -> None:
    """In one message for all that were asked about in five minutes."""
    count = 100 * OF_ONE
    await room.subscribe(*(subscription(number) for number in range(count)))
    await room.pauser.pause(Refusal("chat:T1", "", Reach.WORKSPACE, "Its token was revoked."), NOW)
    room.resumer.hint("chat:T1", "")
    await room.run(20 * MINUTE, every=5 * SECOND)
    assert await room.paused() == []
    assert len(room.told) <= 1 + 3


async def test_what_closes_again_while_the_rest_of_its_workspace_is_asked_about_stays_paused(room: Room) -> None:
    count = 20 * OF_ONE
    await room.subscribe(*(subscription(number) for number in range(count)))
    room.chat.closed = {f"C{number}": ARCHIVED for number in range(1, count)}
    await room.pauser.pause(Refusal("chat:T1", "", Reach.WORKSPACE, "Its token was revoked."), NOW)
    room.resumer.hint("chat:T1", "")
    await room.round()
    assert ("chat:T1", "C0") in room.chat.examined
    room.chat.closed["C0"] = ARCHIVED
    await room.pauser.pause_closed("chat:T1", "C0", "The channel was archived.", room.clock())
    await room.run(10 * MINUTE, every=5 * SECOND)
    assert "C0" in await room.paused()
    assert len(room.told) == 1


async def test_alerts_that_told_of_a_pause_are_told_of_its_end_however_soon(room: Room) -> None:
    await room.subscribe()
    await room.store.workspaces.save_preferences("chat:T1", Preferences(alerts="C-admin"), change())
    await room.refuse()
    await room.round()
    room.chat.closed.clear()
    room.resumer.hint("chat:T1", "C1")
    await room.run(MINUTE, every=5 * SECOND)
    assert [text.partition(":")[0] for _, _, text in room.chat.announced] == ["Paused", "Goes on"]


async def test_a_database_that_fails_while_something_is_resumed_puts_that_off_by_one_round(room: Room) -> None:
    await room.subscribe(subscription(1), subscription(2, workspace="chat:T2", id="other"))
    for workspace, channel in (("chat:T1", "C1"), ("chat:T2", "C2")):
        await room.refuse(channel, workspace)
    await room.run(3 * DAY, every=HOUR)
    room.chat.closed.clear()
    busy, outbox = [True], room.store.outbox

    async def add_refusal(refusal: Refusal) -> None:
        if busy and busy.pop():
            raise StoreError("The database is busy.")
        await outbox.add_refusal(refusal)

    room.store.outbox = instead(outbox, add_refusal=add_refusal)
    room.begin_anew()
    room.resumer.hint("chat:", "")
    with pytest.raises(StoreError):
        await room.resumer.resume_due(room.clock)
    room.clock.advance(5 * SECOND)
    await room.resumer.resume_due(room.clock)
    assert [await room.paused(workspace) for workspace in ("chat:T1", "chat:T2")] == [[], []]


async def test_a_pause_that_a_workspace_is_asked_for_is_kept_by_the_questions_about_its_other_channels(room: Room) -> None:
    count = 8 * OF_ONE
    await room.subscribe(*(subscription(number) for number in range(count)))
    room.chat.closed = {
        f"C{number}": Delayed("Too many.", reach=Reach.WORKSPACE, retry_after=MINUTE) for number in range(count)
    }
    await room.pauser.pause(Refusal("chat:T1", "", Reach.WORKSPACE, "Its token was revoked."), NOW)
    await room.run(50 * SECOND, every=5 * SECOND)
    assert len(room.chat.examined) <= OF_ONE


async def test_what_cannot_be_asked_about_for_a_reason_that_nobody_knows_is_tried_again_by_and_by(room: Room) -> None:
    """Nobody knows the code with which the platform answers the question, today or in a month."""
    await room.subscribe()
    await room.refuse()
    room.chat.closed["C1"] = Rejected("It was not taken (odd).", failure="odd")
    await room.run(10 * HOUR, every=10 * MINUTE)
    assert await room.paused() == ["C1"]
    await room.run(2 * DAY, every=10 * MINUTE)
    assert await room.paused() == []


async def test_what_was_put_off_by_a_clock_that_ran_ahead_is_asked_about_within_hours(room: Room) -> None:
    await room.subscribe()
    await room.refuse()
    await room.round()
    room.clock.advance(5 * DAY)
    await room.round()
    room.clock.advance(-5 * DAY)
    room.chat.closed.clear()
    await room.run(7 * HOUR, every=10 * MINUTE)
    assert await room.paused() == []


async def test_what_was_paused_by_a_clock_that_ran_ahead_is_tried_again_all_the_same(room: Room) -> None:
    await room.subscribe()
    room.clock.advance(400 * DAY)
    await room.refuse(unseen=True)
    room.clock.advance(-400 * DAY)
    await room.run(2 * DAY, every=10 * MINUTE)
    assert await room.paused() == []


async def test_what_closes_where_nothing_is_posted_is_not_asked_about(room: Room) -> None:
    """Hundreds of threads that are cleared away, and channels that are archived, are nothing to us."""
    await room.subscribe(subscription(1), subscription(2).held_back(None, NOW))
    for number in range(2, 500):
        await room.pauser.pause_closed("chat:T1", f"C{number}", "The thread was deleted.", room.clock())
    assert room.chat.examined == []
