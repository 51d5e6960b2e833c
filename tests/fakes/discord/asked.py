"""One interaction: what somebody did with the bot, and what came of it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any

from tests.fakes.discord.things import LOADING, Channel, Message, User
from tests.fakes.patience import PATIENCE


class Doing(IntEnum):
    """The types of interactions."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    FORM = 5


class Answer(IntEnum):
    """The types of first replies."""

    MESSAGE = 4
    DEFERRED = 5
    DEFERRED_UPDATE = 6
    UPDATE = 7
    CHOICES = 8
    FORM = 9


@dataclass(slots=True, eq=False)
class Asked:
    """An interaction. Its times: `at` by the fake's clock; the others in seconds of the event loop's."""

    id: int
    token: str
    doing: Doing
    user: User
    channel: Channel
    data: dict[str, Any]
    at: datetime
    began: float
    owners: dict[str, str] = field(default_factory=dict)  # by whose installations it was offered: 0 a server's, 1 a person's
    message: Message | None = None  # that the button, the select or the command belongs to
    first: Answer | None = None  # the first reply; None: there was none (yet)
    first_after: float | None = None  # how long that took
    original: Message | None = None  # what was said first, or the message that was changed
    others: list[Message] = field(default_factory=list)  # what was said after that
    choices: list[dict[str, Any]] | None = None
    form: dict[str, Any] | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def messages(self) -> list[Message]:
        """What was said or changed, and is there and is not loading."""
        some = [self.original, *self.others] if self.original else self.others
        return [each for each in some if not each.is_deleted and not each.flags & LOADING]

    @property
    def text(self) -> str:
        """All that was said, as one text."""
        return "\n\n".join(each.text for each in self.messages)

    @property
    def is_answered(self) -> bool:
        """Whether its user sees something for it."""
        return bool(self.messages) or self.form is not None or self.choices is not None

    def changed(self) -> None:
        """Wake who waits."""
        self._changed.set()

    async def until(self, holds: Callable[["Asked"], bool], seconds: float = PATIENCE) -> "Asked":
        """Wait until that holds; raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not holds(self):
                self._changed.clear()
                await self._changed.wait()
        return self

    async def replied(self, seconds: float = PATIENCE) -> "Asked":
        """Wait for the first reply, which may be a deferral."""
        return await self.until(lambda each: each.first is not None, seconds)

    async def answered(self, seconds: float = PATIENCE) -> "Asked":
        """Wait until its user sees something."""
        return await self.until(lambda each: each.is_answered, seconds)
