"""What somebody did, and what came of it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tests.fakes.patience import PATIENCE
from tests.fakes.slack.state import Json, Message, View
from tests.fakes.slack.world import World

T = TypeVar("T")


async def until(world: World, found: Callable[[], T | None], within: float = PATIENCE) -> T:
    """Return what `found` gives as soon as it is anything true; raises TimeoutError."""
    loop = asyncio.get_running_loop()
    end = loop.time() + within
    while not (value := found()):
        left = end - loop.time()
        if left <= 0:
            raise TimeoutError("what was waited for did not happen")
        try:
            async with asyncio.timeout(min(left, 0.05)):
                await world.has_changed.wait()
        except TimeoutError:
            continue
    return value


class Exchange:
    """One command, press or submission, acknowledged."""

    def __init__(self, world: World, *, user: str, key: str, trigger: str, begun: int) -> None:
        self.ack: Json = {}  # what it was acknowledged with
        self.seconds = 0.0  # until it was acknowledged
        self.acknowledged = 0  # when, among what changed
        self.trigger = trigger
        self.key = key  # of its response_url; "" when it has none
        self._world = world
        self._user = user
        self._begun = begun

    @property
    def answers(self) -> list[Message]:
        """What answers it, in the order of the last changes: at its response_url, else privately to the person."""
        private = [
            each
            for each in self._world.history
            if each.changed > self._begun and (each.answers == self.key if each.answers else self._is_for_person(each))
        ]
        return sorted(private, key=lambda each: each.changed)

    def _is_for_person(self, message: Message) -> bool:
        channel = self._world.teams[message.team].channels[message.channel]
        return message.is_app and (
            message.shown_to == self._user or (channel.kind == "im" and self._user in channel.members)
        )

    async def answer(self, number: int = 1, *, within: float = PATIENCE) -> Message:
        """Return the answer of that number; raises TimeoutError."""
        found = await until(self._world, lambda: self.answers[number - 1 : number], within)
        return found[0]

    async def answer_with(self, words: str, *, within: float = PATIENCE) -> Message:
        """Return the answer in which these words can be read, whatever was said before."""
        found = await until(self._world, lambda: [each for each in self.answers if words in each.words], within)
        return found[0]

    async def view(self, *, within: float = PATIENCE) -> View:
        """Return the view that it opened, pushed or changed."""
        return await until(self._world, self._view, within)

    def _view(self) -> View | None:
        views = [each for each in self._world.views.values() if each.user == self._user and each.changed > self._begun]
        opened = [each for each in views if each.opened_by == self.trigger]
        return next(reversed(opened or views), None)


Deliver = Callable[[str, Json, float, int, str], Awaitable[Json | None]]
