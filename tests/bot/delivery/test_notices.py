"""Owners of paused digests are told, through rate limits and ends of the process, and once."""

from datetime import timedelta

import pytest

from bot.errors import Delayed, DeliveryError, Reach, Refused, Uncertain
from tests.bot.deliveries import House
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
    courier = house.courier()
    await house.round(courier)
    assert (chat.told, chat.asked) == ([], 1)
    for _ in range(30):
        await house.round(courier)
    assert [person for _, person, _ in chat.told] == ["U-ada"]
    assert chat.asked == 3


@pytest.mark.parametrize("error", [Uncertain("The answer was lost."), Refused("This person takes no messages.")])
async def test_who_may_have_been_told_or_can_never_be_is_not_told_again(error: DeliveryError) -> None:
    house, chat = await hushed(error)
    courier = house.courier()
    for _ in range(30):
        await house.round(courier)
    assert (chat.told, chat.asked) == ([], 1)


async def test_a_workspace_that_refuses_everything_is_asked_once_a_day_and_its_owners_are_told_when_it_is_mended() -> None:
    house, chat = await hushed(*[Refused("The token was revoked.", reach=Reach.WORKSPACE)] * 2)
    courier = house.courier()
    for _ in range(30):
        await house.round(courier)
    assert chat.asked == 1
    for _ in range(2):
        house.clock.advance(timedelta(days=1))
        await house.round(courier)
    assert [person for _, person, _ in chat.told] == ["U-ada"]


async def test_what_nobody_took_for_a_week_is_dropped() -> None:
    house, chat = await hushed(SLOW_DOWN)
    await house.round(house.courier())
    house.clock.advance(timedelta(days=8))
    await house.round(house.courier())
    assert (chat.told, chat.asked) == ([], 1)


async def test_a_process_that_ends_before_it_has_told_leaves_that_to_the_next_one() -> None:
    house, chat = await hushed(SLOW_DOWN)
    await house.round(house.courier())
    house.clock.advance(timedelta(minutes=2))
    await house.round(house.courier())
    assert [person for _, person, _ in chat.told] == ["U-ada"]


async def test_wherever_a_process_dies_an_owner_whose_notice_was_kept_is_told_and_at_most_twice() -> None:
    for step in range(1, 40):
        house, chat = await hushed()
        try:
            await house.round(house.courier(Steps(step)))
        except Crash:
            owed = await house.store.get_fact("notices owed by the courier")
            await house.round(house.courier())
            assert len(chat.told) in ((1, 2) if owed not in ("", "[]") else (0, 1))


async def test_a_list_that_is_damaged_in_the_database_holds_nothing_up() -> None:
    house, chat = await hushed()
    await house.store.set_fact("notices owed by the courier", '[{"person": 1}]')
    await house.round(house.courier())
    assert [person for _, person, _ in chat.told] == ["U-ada"]
