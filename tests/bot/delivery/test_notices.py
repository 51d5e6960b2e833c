"""Owners of paused digests are told, through rate limits and ends of the process, and once."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.delivery import SubscriptionPauser
from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected, Uncertain
from bot.models import Abilities, DeliveryState, Rate, Refusal
from tests.bot.deliveries import Harness, change, subscription
from tests.conftest import NOW
from tests.fakes.transcript import Crash, Steps, Transcript, delivery

ODD = Rejected("It was not taken (code 99).", failure="code 99")
ARCHIVED = Refused("The channel is archived.")
SLOW_DOWN = Delayed("Too many.", retry_after=timedelta(minutes=1), reach=Reach.WORKSPACE)


class Hushed(Transcript):
    """A platform whose next answers to `tell` are these errors."""

    def hush(self, *errors: DeliveryError) -> None:
        self.closed["C1"] = ARCHIVED
        self.errors = list(errors)
        self.asked = 0

    async def tell(self, workspace: str, person: str, text: str) -> None:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        await super().tell(workspace, person, text)


class Deaf(Transcript):
    """A platform that has these people wait for an hour."""

    deaf: frozenset[str] = frozenset()

    async def tell(self, workspace: str, person: str, text: str) -> None:
        if person in self.deaf:
            raise Delayed("Not now.", retry_after=timedelta(hours=1))
        await super().tell(workspace, person, text)


async def hushed(*errors: DeliveryError) -> tuple[Harness, Hushed]:
    harness = Harness()
    chat = Hushed(harness.clock)
    chat.hush(*errors)
    harness.chat = chat
    await harness.plant([delivery(now=NOW)])
    return harness, chat


async def test_an_owner_who_could_not_be_told_for_a_rate_limit_is_told_when_it_is_over() -> None:
    harness, chat = await hushed(SLOW_DOWN, SLOW_DOWN)
    deliverer = harness.deliverer()
    await harness.round(deliverer)
    assert (chat.told, chat.asked) == ([], 1)
    for _ in range(30):
        await harness.round(deliverer)
    assert [person for _, person, _ in chat.told] == ["U-ada"]
    assert chat.asked == 3


async def test_an_owner_who_could_not_be_told_for_no_known_reason_is_told_later_and_once() -> None:
    harness, chat = await hushed(*[ODD] * 4)
    deliverer = harness.deliverer()
    for _ in range(400):
        await harness.round(deliverer)
    assert [person for _, person, _ in chat.told] == ["U-ada"]
    assert chat.asked == 5


async def test_an_owner_who_alone_cannot_be_told_for_an_hour_is_given_up_and_a_platforms_bad_hour_is_waited_out() -> None:
    harness, chat = await hushed(*[ODD] * 1000)
    deliverer = harness.deliverer()
    for _ in range(700):
        await harness.round(deliverer)
    assert 3 <= chat.asked < 20
    assert not await harness.store.outbox.notices({}, limit=10)

    harness, chat = await hushed(*[ODD] * 1000)
    await harness.plant([delivery(2, now=NOW)])
    (other,) = await harness.store.workspaces.subscriptions("chat:T1", channel="C2")
    await harness.store.workspaces.save_subscription(replace(other, made_by="U-bob"), change(), replaces=other.revision)
    chat.closed["C2"] = ARCHIVED
    deliverer = harness.deliverer()
    for _ in range(1500):
        await harness.round(deliverer)
    chat.errors.clear()
    for _ in range(400):
        await harness.round(deliverer)
    assert sorted(person for _, person, _ in chat.told) == ["U-ada", "U-bob"]


@pytest.mark.parametrize("error", [ODD, Delayed("Something on the way answered.", reach=Reach.PLATFORM)])
async def test_sixty_owners_whom_a_platform_lets_nobody_tell_for_three_hours_are_each_told_once_when_it_does(
    error: DeliveryError,
) -> None:
    harness = Harness(Abilities(finds=True, tell=Rate(per_workspace_minute=50)))
    harness.chat = chat = Hushed(harness.clock, harness.chat.abilities)
    chat.hush(*[error] * 10**5)
    for number in range(1, 61):
        made = subscription(number, made_by=f"U{number}")
        await harness.store.workspaces.save_subscription(made, change(), replaces=0)
    deliverer = harness.deliverer()
    await SubscriptionPauser(harness.context()).pause(Refusal("chat:T1", "", Reach.WORKSPACE, "The token was revoked."), NOW)
    for hours, told in ((3, 0), (1, 60)):
        for _ in range(hours * 360):
            await harness.round(deliverer)
        assert len(chat.told) == told
        chat.errors.clear()
    assert len({person for _, person, _ in chat.told}) == 60


async def test_telling_keeps_to_its_own_rate_and_holds_up_nothing_that_is_posted() -> None:
    harness = Harness(Abilities(finds=True, tell=Rate(per_workspace_minute=50)))
    for number in range(1, 61):
        made = subscription(number, made_by=f"U{number}")
        await harness.store.workspaces.save_subscription(made, change(), replaces=0)
    deliverer = harness.deliverer()
    await SubscriptionPauser(harness.context()).pause(Refusal("chat:T1", "", Reach.WORKSPACE, "The token was revoked."), NOW)
    told: list[int] = []
    for _ in range(60):
        await deliverer.send_notices(harness.clock)
        told.append(len(harness.chat.told))
        harness.clock.advance(timedelta(seconds=2))
    assert 40 <= told[30] <= 50
    assert len({person for _, person, _ in harness.chat.told}) == len(harness.chat.told) == 60


async def test_a_workspace_in_which_hundreds_are_told_does_not_delay_anothers_one() -> None:
    harness = Harness(Abilities(finds=True, tell=Rate(per_workspace_minute=50)))
    for number in range(1, 301):
        made = subscription(number, made_by=f"U{number}")
        await harness.store.workspaces.save_subscription(made, change(), replaces=0)
    other = subscription(1, id="other", workspace="chat:T2", made_by="U-bea")
    await harness.store.workspaces.save_subscription(other, change("chat:T2"), replaces=0)
    trouble = SubscriptionPauser(harness.context())
    for workspace in ("chat:T1", "chat:T2"):
        await trouble.pause(Refusal(workspace, "", Reach.WORKSPACE, "The token was revoked."), NOW)
    await harness.deliverer().send_notices(harness.clock)
    assert "U-bea" in [person for _, person, _ in harness.chat.told]


async def test_every_owner_is_told_however_many_there_are() -> None:
    harness, owners = Harness(), [f"U{number}" for number in range(1500)]
    for number, owner in enumerate(owners):
        await harness.store.workspaces.save_subscription(subscription(number, made_by=owner), change(), replaces=0)
    await SubscriptionPauser(harness.context()).pause(Refusal("chat:T1", "", Reach.WORKSPACE, "The token was revoked."), NOW)
    deliverer = harness.deliverer()
    while await deliverer.send_notices(harness.clock):
        harness.clock.advance(timedelta(seconds=2))
    assert sorted(person for _, person, _ in harness.chat.told) == sorted(owners)


async def test_of_many_who_cannot_be_told_now_none_holds_up_the_others() -> None:
    harness, owners = Harness(), [f"U{number:02}" for number in range(40)]
    harness.chat = chat = Deaf(harness.clock)
    chat.deaf = frozenset(owners[:30])
    for number, owner in enumerate(owners):
        made = subscription(number, made_by=owner, workspace="chat:T2")
        await harness.store.workspaces.save_subscription(made, change("chat:T2"), replaces=0)
    await SubscriptionPauser(harness.context()).pause(Refusal("chat:T2", "", Reach.WORKSPACE, "The token was revoked."), NOW)
    deliverer = harness.deliverer()
    for _ in range(6):
        await deliverer.send_notices(harness.clock)
        harness.clock.advance(timedelta(seconds=2))
    assert sorted(person for _, person, _ in chat.told) == owners[30:]


async def test_what_is_gone_twice_is_told_once() -> None:
    harness = Harness()
    await harness.store.workspaces.save_subscription(subscription(), change(), replaces=0)
    deliverer, trouble = harness.deliverer(), SubscriptionPauser(harness.context())
    gone = Refusal("chat:T1", "C1", Reach.CHANNEL, "The channel was archived.")
    await asyncio.gather(trouble.pause(gone, NOW), trouble.pause(gone, NOW))
    await trouble.pause(gone, NOW)
    for _ in range(5):
        await deliverer.send_notices(harness.clock)
    assert [person for _, person, _ in harness.chat.told] == ["U-ada"]


@pytest.mark.parametrize("error", [Uncertain("The answer was lost."), Refused("This person takes no messages.")])
async def test_who_may_have_been_told_or_can_never_be_is_not_told_again(error: DeliveryError) -> None:
    harness, chat = await hushed(error)
    deliverer = harness.deliverer()
    for _ in range(30):
        await harness.round(deliverer)
    assert (chat.told, chat.asked) == ([], 1)


async def test_a_workspace_that_refuses_everything_is_asked_once_a_day_and_its_owners_are_told_when_it_is_mended() -> None:
    harness, chat = await hushed(*[Refused("The token was revoked.", reach=Reach.WORKSPACE)] * 2)
    deliverer = harness.deliverer()
    for _ in range(30):
        await harness.round(deliverer)
    assert chat.asked == 1
    for _ in range(2):
        harness.clock.advance(timedelta(days=1))
        await harness.round(deliverer)
    assert [person for _, person, _ in chat.told] == ["U-ada"]


async def test_what_nobody_took_for_a_week_is_dropped() -> None:
    harness, chat = await hushed(SLOW_DOWN)
    await harness.round(harness.deliverer())
    harness.clock.advance(timedelta(days=8))
    await harness.round(harness.deliverer())
    assert (chat.told, chat.asked) == ([], 1)


async def test_a_process_that_ends_before_it_has_told_leaves_that_to_the_next_one() -> None:
    harness, chat = await hushed(SLOW_DOWN)
    await harness.round(harness.deliverer())
    harness.clock.advance(timedelta(minutes=2))
    await harness.round(harness.deliverer())
    assert [person for _, person, _ in chat.told] == ["U-ada"]


async def test_wherever_a_process_dies_what_was_refused_is_paused_and_its_owner_told_at_most_twice() -> None:
    for step in range(1, 40):
        harness, chat = await hushed()
        try:
            await harness.round(harness.deliverer(Steps(step)))
        except Crash:
            await harness.live()
            failed = [each for each in (await harness.rows()).values() if each.state is DeliveryState.FAILED]
            assert len(chat.told) in ((1, 2) if failed else (0, 1, 2))
            assert not failed or (await harness.store.workspaces.subscriptions("chat:T1"))[0].paused


async def test_what_two_channels_of_a_workspace_are_refused_for_at_once_is_told_once() -> None:
    harness = Harness()
    for number in (1, 2):
        await harness.store.workspaces.save_subscription(subscription(number), change(), replaces=0)
    deliverer, trouble = harness.deliverer(), SubscriptionPauser(harness.context())
    first, second = (Refusal("chat:T1", channel, Reach.WORKSPACE, "The token was revoked.") for channel in ("C1", "C2"))
    await trouble.record_refusal(first)
    await trouble.record_refusal(second)
    await trouble.apply(first, NOW)
    await trouble.apply_recorded(NOW + timedelta(seconds=1))
    await trouble.apply(second, NOW + timedelta(seconds=2))
    for _ in range(5):
        await deliverer.send_notices(harness.clock)
    assert [person for _, person, _ in harness.chat.told] == ["U-ada"]
