"""Owners of paused digests are told, through rate limits and ends of the process, and once."""

import asyncio
from datetime import timedelta

import pytest

from bot.delivery import Refusal, SubscriptionPauser
from bot.errors import Delayed, DeliveryError, Reach, Refused, Uncertain
from bot.models import Abilities, DeliveryState, Rate
from tests.bot.deliveries import House, change, subscription
from tests.conftest import NOW
from tests.fakes.transcript import Crash, Steps, Transcript, delivery

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


async def hushed(*errors: DeliveryError) -> tuple[House, Hushed]:
    house = House()
    chat = Hushed(house.clock)
    chat.hush(*errors)
    house.chat = chat
    await house.plant([delivery(now=NOW)])
    return house, chat


async def test_an_owner_who_could_not_be_told_for_a_rate_limit_is_told_when_it_is_over() -> None:
    house, chat = await hushed(SLOW_DOWN, SLOW_DOWN)
    deliverer = house.deliverer()
    await house.round(deliverer)
    assert (chat.told, chat.asked) == ([], 1)
    for _ in range(30):
        await house.round(deliverer)
    assert [person for _, person, _ in chat.told] == ["U-ada"]
    assert chat.asked == 3


async def test_telling_keeps_to_its_own_rate_and_holds_up_nothing_that_is_posted() -> None:
    house = House(Abilities(finds=True, tell=Rate(per_workspace_minute=50)))
    for number in range(1, 61):
        made = subscription(number, made_by=f"U{number}")
        await house.store.save_subscription(made, change(), replaces=0)
    deliverer = house.deliverer()
    await SubscriptionPauser(house.context()).pause(Refusal("chat:T1", "", Reach.WORKSPACE, "The token was revoked."), NOW)
    told: list[int] = []
    for _ in range(60):
        await deliverer.tell_owed(house.clock)
        told.append(len(house.chat.told))
        house.clock.advance(timedelta(seconds=2))
    assert 40 <= told[30] <= 50
    assert len({person for _, person, _ in house.chat.told}) == len(house.chat.told) == 60


async def test_a_workspace_in_which_hundreds_are_told_does_not_delay_anothers_one() -> None:
    house = House(Abilities(finds=True, tell=Rate(per_workspace_minute=50)))
    for number in range(1, 301):
        made = subscription(number, made_by=f"U{number}")
        await house.store.save_subscription(made, change(), replaces=0)
    other = subscription(1, id="other", workspace="chat:T2", made_by="U-bea")
    await house.store.save_subscription(other, change("chat:T2"), replaces=0)
    trouble = SubscriptionPauser(house.context())
    for workspace in ("chat:T1", "chat:T2"):
        await trouble.pause(Refusal(workspace, "", Reach.WORKSPACE, "The token was revoked."), NOW)
    await house.deliverer().tell_owed(house.clock)
    assert "U-bea" in [person for _, person, _ in house.chat.told]


async def test_what_is_gone_twice_is_told_once() -> None:
    house = House()
    await house.store.save_subscription(subscription(), change(), replaces=0)
    deliverer, trouble = house.deliverer(), SubscriptionPauser(house.context())
    gone = Refusal("chat:T1", "C1", Reach.CHANNEL, "The channel was archived.")
    await asyncio.gather(trouble.pause(gone, NOW), trouble.pause(gone, NOW))
    await trouble.pause(gone, NOW)
    for _ in range(5):
        await deliverer.tell_owed(house.clock)
    assert [person for _, person, _ in house.chat.told] == ["U-ada"]


@pytest.mark.parametrize("error", [Uncertain("The answer was lost."), Refused("This person takes no messages.")])
async def test_who_may_have_been_told_or_can_never_be_is_not_told_again(error: DeliveryError) -> None:
    house, chat = await hushed(error)
    deliverer = house.deliverer()
    for _ in range(30):
        await house.round(deliverer)
    assert (chat.told, chat.asked) == ([], 1)


async def test_a_workspace_that_refuses_everything_is_asked_once_a_day_and_its_owners_are_told_when_it_is_mended() -> None:
    house, chat = await hushed(*[Refused("The token was revoked.", reach=Reach.WORKSPACE)] * 2)
    deliverer = house.deliverer()
    for _ in range(30):
        await house.round(deliverer)
    assert chat.asked == 1
    for _ in range(2):
        house.clock.advance(timedelta(days=1))
        await house.round(deliverer)
    assert [person for _, person, _ in chat.told] == ["U-ada"]


async def test_what_nobody_took_for_a_week_is_dropped() -> None:
    house, chat = await hushed(SLOW_DOWN)
    await house.round(house.deliverer())
    house.clock.advance(timedelta(days=8))
    await house.round(house.deliverer())
    assert (chat.told, chat.asked) == ([], 1)


async def test_a_process_that_ends_before_it_has_told_leaves_that_to_the_next_one() -> None:
    house, chat = await hushed(SLOW_DOWN)
    await house.round(house.deliverer())
    house.clock.advance(timedelta(minutes=2))
    await house.round(house.deliverer())
    assert [person for _, person, _ in chat.told] == ["U-ada"]


async def test_wherever_a_process_dies_what_was_refused_is_paused_and_its_owner_told_at_most_twice() -> None:
    for step in range(1, 40):
        house, chat = await hushed()
        try:
            await house.round(house.deliverer(Steps(step)))
        except Crash:
            await house.live()
            failed = [each for each in (await house.rows()).values() if each.state is DeliveryState.FAILED]
            assert len(chat.told) in ((1, 2) if failed else (0, 1, 2))
            assert not failed or (await house.store.subscriptions("chat:T1"))[0].paused


@pytest.mark.parametrize("damaged", ["{", "[]", '{"notices": [{"person": 1}], "refusals": []}', '{"notices": 5}'])
async def test_a_list_that_is_damaged_in_the_database_holds_nothing_up(damaged: str) -> None:
    house, chat = await hushed()
    await house.store.set_fact("owed", damaged)
    await house.round(house.deliverer())
    assert [person for _, person, _ in chat.told] == ["U-ada"]
