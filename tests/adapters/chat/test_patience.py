"""What answers a person is tried again for as long as that helps, and never more often than it may."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from adapters.chat.context import BackgroundTasks
from adapters.chat.patience import ANY_NUMBER, Patience
from bot.errors import Delayed, DeliveryError, Refused, Uncertain


@dataclass(slots=True)
class Time:
    """A clock that goes on only while somebody sleeps."""

    now: float = 0.0
    waits: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    @property
    def patience(self) -> Patience:
        return Patience(clock=lambda: self.now, sleep=self.sleep)


def failing(*errors: DeliveryError) -> Callable[[], Awaitable[str]]:
    """What raises these in turn, then returns "sent"."""
    left = list(errors)

    async def send() -> str:
        if left:
            raise left.pop(0)
        return "sent"

    return send


def delayed(seconds: float = 0) -> Delayed:
    return Delayed("Not now.", retry_after=timedelta(seconds=seconds) if seconds else None)


async def test_what_was_surely_not_taken_is_sent_again_after_waits_that_grow_or_are_asked_for() -> None:
    time = Time()
    send = failing(*(delayed() for _ in range(8)), delayed(45), delayed(1))
    assert await time.patience.keep_trying(send, 1740) == "sent"
    assert time.waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 45, 30]


async def test_it_is_given_up_where_no_try_is_left_before_the_end() -> None:
    time = Time()
    with pytest.raises(Delayed):
        await time.patience.keep_trying(failing(delayed(100)), 99)
    assert time.waits == []
    with pytest.raises(Delayed):
        await time.patience.keep_trying(failing(*(delayed() for _ in range(1000))), 1740)
    assert 1700 < time.now <= 1740


@pytest.mark.parametrize(("repeats", "failures", "waits"), [(0, 1, 0), (2, 3, 2), (ANY_NUMBER, 20, 20)])
async def test_what_may_have_been_taken_is_sent_again_only_as_often_as_that_does_no_harm(
    repeats: int, failures: int, waits: int
) -> None:
    time = Time()
    sending = time.patience.keep_trying(failing(*(Uncertain("Lost.") for _ in range(failures))), 1740, repeats=repeats)
    if repeats < failures:
        with pytest.raises(Uncertain):
            await sending
    else:
        assert await sending == "sent"
    assert len(time.waits) == waits


async def test_a_refusal_is_final() -> None:
    time = Time()
    with pytest.raises(Refused):
        await time.patience.keep_trying(failing(Refused("Never.")), 1740, repeats=ANY_NUMBER)
    assert time.waits == []


async def test_a_wait_ends_with_the_service_and_none_is_begun_that_it_does_not_live_for() -> None:
    tasks, tries, told = BackgroundTasks(), 0, []
    patience = Patience(sleep=tasks.pause, left=lambda: tasks.left)

    async def send() -> None:
        nonlocal tries
        tries += 1
        raise delayed(300)

    async def answering() -> None:
        try:
            await patience.keep_trying(send, patience.after(840))
        except Delayed:
            told.append("stopped")

    tasks.start(answering(), "answering")
    await asyncio.sleep(0.01)
    await tasks.finish()
    assert (tries, told, len(tasks)) == (2, ["stopped"], 0)
