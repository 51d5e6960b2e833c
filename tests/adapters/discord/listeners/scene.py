"""A person who asked something in a Discord of its own, and what answers them over real sockets."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from adapters.discord.client.api import RestClient
from adapters.discord.client.interactions import Callback
from adapters.discord.listeners.answers import DiscordAnswers
from bot.models import Reply
from tests.e2e.discord_desk import usual_addresses
from tests.fakes.discord import Behaviour, Channel, FakeDiscord, Guild, Kind, Message, running
from tests.fakes.discord.asked import Asked, Doing
from tests.stores.memory import MemoryStore

_PARAGRAPH = "A sentence of an answer that takes room. " * 18  # about 750 characters


def long(parts: int, *, private: bool = True) -> Reply:
    """Return a reply that takes so many messages."""
    return Reply(title="Long", text=tuple(f"({at}) {_PARAGRAPH}" for at in range(3 * parts)), private=private)


@dataclass(slots=True)
class Scene:
    """Where somebody asks."""

    fake: FakeDiscord
    guild: Guild
    papers: Channel
    client: RestClient
    store: MemoryStore
    answers: DiscordAnswers

    def asked(self, doing: Doing = Doing.COMMAND, message: Message | None = None) -> tuple[Asked, Callback]:
        """Let the owner of the server ask something."""
        fake = self.fake
        number = fake.new_id()
        asked = Asked(
            id=number,
            token=f"t0ken-{number}",
            doing=doing,
            user=self.guild.owner,
            channel=self.papers,
            data={},
            at=fake.clock(),
            began=0.0,
            message=message,
        )
        fake.asked[number] = asked
        callback = Callback(
            id=str(number),
            token=asked.token,
            application=str(fake.application),
            workspace=f"discord:{self.guild.id}",
            channel=str(self.papers.id),
            person=str(asked.user.id),
            at=fake.clock(),
        )
        return asked, callback

    async def told(self, reply: Reply) -> Asked:
        """Let somebody ask what has this reply, and return what came of it."""
        asked, callback = self.asked()

        async def asking() -> Reply:
            return reply

        await self.answers.answer(callback, asking)
        return asked

    @property
    def alone(self) -> list[Message]:
        """What was told to people alone, in direct messages."""
        return [each for one in self.fake.channels.values() if one.kind is Kind.PRIVATE for each in one.messages.values()]


@asynccontextmanager
async def scene(
    behaviour: Behaviour | None = None, clock: Callable[[], datetime] | None = None, **given: Any
) -> AsyncIterator[Scene]:
    """Run one; `given` is what answers are made with besides."""
    with usual_addresses(), pytest.MonkeyPatch.context() as patching:
        async with running(behaviour) if behaviour else running() as fake:
            patching.setattr("discord.http.Route.BASE", fake.api_url)
            guild = fake.guild("Lab")
            client, store = RestClient(fake.token), MemoryStore()
            answers = DiscordAnswers(client, store.chats, clock or fake.clock, **given)
            try:
                yield Scene(fake, guild, fake.channel(guild, "papers"), client, store, answers)
            finally:
                await client.close()
