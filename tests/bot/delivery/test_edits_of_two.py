"""Two processes edit the messages of one store, in whichever order their steps fall: the last counts are never lost."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.delivery import Deliverer, DeliveryContext
from bot.models import Delivery, Presses
from bot.ports.store import Store
from tests.bot.delivery.test_edits import KEYS, LASTS, MINUTE, Room
from tests.conftest import NOW, tries
from tests.fakes.transcript import Transcript

PEOPLE = ("U1", "U2", "U3")


class Turns:
    """Lets one of two processes take its next step."""

    def __init__(self) -> None:
        self.waiting: dict[int, asyncio.Future[None]] = {}
        self.in_flight = 0  # requests that the platform has, or that are on their way

    async def wait(self, process: int) -> None:
        """Wait until it is this one's turn."""
        self.waiting[process] = asyncio.get_running_loop().create_future()
        await self.waiting[process]

    async def let(self, process: int) -> None:
        """Let it take a step, if it waits for one, and come to where it waits again, or ends."""
        if process in self.waiting:
            self.waiting.pop(process).set_result(None)
        for _ in range(12):
            await asyncio.sleep(0)


class Stopping:
    """A port of one process, which waits for its turn before each call and after it."""

    def __init__(self, port: object, turns: Turns, process: int) -> None:
        self._port, self._turns, self._process = port, turns, process

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if not callable(method):
            return Stopping(method, self._turns, self._process)

        async def stopping(*given: Any, **more: Any) -> Any:
            await self._turns.wait(self._process)
            answer = await method(*given, **more)
            await self._turns.wait(self._process)
            return answer

        return stopping


class Far:
    """The platform, whose requests come in and are answered when it is their process's turn."""

    def __init__(self, chat: Transcript, turns: Turns, process: int) -> None:
        self._chat, self._turns, self._process = chat, turns, process

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chat, name)

    async def edit(self, posted: Delivery, presses: Presses, number: int) -> None:
        self._turns.in_flight += 1
        await self._turns.wait(self._process)
        await self._chat.edit(posted, presses, number)
        await self._turns.wait(self._process)
        self._turns.in_flight -= 1


class Two:
    """A room with two processes."""

    def __init__(self, room: Room) -> None:
        self.room, self.turns = room, Turns()
        self._rounds: dict[int, asyncio.Task[int]] = {}
        self._deliverers = [self._deliverer(process) for process in range(2)]

    def _deliverer(self, process: int) -> Deliverer:
        room = self.room
        store = cast(Store, Stopping(room.store, self.turns, process))
        chats = {"chat": cast(Any, Far(room.chat, self.turns, process))}
        context = DeliveryContext(store, store.ledger, chats, room.settings, random.Random(0))
        return Deliverer(context, pause=room.clock.pause)

    async def step(self, process: int) -> None:
        """Let the process go on, with another round where its last one ended."""
        if process not in self._rounds or self._rounds[process].done():
            self._rounds[process] = asyncio.ensure_future(self._deliverers[process].edit_messages(self.room.clock))
        await self.turns.let(process)

    async def end(self) -> None:
        """Let both come to the end of their rounds."""
        for process, round_ in self._rounds.items():
            while not round_.done():
                await self.turns.let(process)
            assert round_.exception() is None


DOINGS = st.sampled_from(["first", "second"] * 6 + ["more", "less", "save", "wait", "wait", "off", "on"])


@settings(max_examples=tries(200), deadline=None)
@given(doings=st.lists(DOINGS, min_size=20, max_size=120))
async def test_whichever_of_two_processes_is_slow_the_last_counts_stand_in_the_end(doings: Sequence[str]) -> None:
    room = Room()
    await room.open()
    two = Two(room)
    for number, what in enumerate(doings):
        match what:
            case "first" | "second":
                await two.step(["first", "second"].index(what))
            case "more" | "less":
                await room.more(PEOPLE[number % 3], KEYS[number % 2], more=what == "more")
            case "save":
                await room.save(PEOPLE[number % 3])
            case "wait" if not two.turns.in_flight:  # none lasts for as long as a minute
                room.clock.advance(4 * MINUTE)
            case "off" | "on":
                await room.settle(activity=what == "on")
    await two.end()
    is_over = not room.store.ledger.standing
    await room.settle(activity=True)
    await room.pass_time(room.deliverer(), timedelta(hours=3), timedelta(minutes=10))
    assert room.clock() < NOW + LASTS
    assert (room.said or Presses()) == (Presses() if is_over else await stands(room))
    numbers = [number for *_, number in room.chat.edited]
    assert len(set(numbers)) == len(numbers)


async def stands(room: Room) -> Presses:
    """Return what the message is to say, of a store that shows nothing yet."""
    kept = room.store.ledger.standing
    kept.update({name: replace(each, shown=Presses(-1, -1), next_at=NOW) for name, each in kept.items()})
    (found,) = await room.store.outbox.messages_to_edit(room.clock())
    return found.pressed


async def test_who_is_held_up_before_an_edit_for_as_long_as_two_are_apart_makes_it_no_more() -> None:
    room = Room()
    await room.open()
    await room.more("U1")
    two = Two(room)
    while not any(each.edits for each in room.store.ledger.standing.values()):
        await two.step(0)
    await room.more("U2")
    room.clock.advance(6 * MINUTE)
    while not room.chat.edited:
        await two.step(1)
    await two.end()
    await room.pass_time(room.deliverer(), timedelta(hours=1))
    assert (room.said, [number for *_, number in room.chat.edited]) == (Presses(more=2), [2])
