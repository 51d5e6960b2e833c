"""The fake Discord with a crowd's channels, and the messenger that the service has for it.

Every fourth channel is a forum, and what comes after the first message hangs in its thread.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from discord.http import Route

from adapters.discord.client.api import RestClient
from adapters.discord.render.components import read_button
from adapters.discord.send import DiscordMessenger
from benchmarks.soak.plant import Crowd
from benchmarks.soak.work import Work
from bot.models import Abilities
from bot.ports.chats import Chats
from tests.fakes.discord import Behaviour, Channel, FakeDiscord, Kind, running
from tests.fakes.discord.things import parts_of

TOKEN = "of-the-soak"


_FORUMS = 4  # every so many channels are one


class Scaled(DiscordMessenger):
    """The messenger, told of a Discord that forgets as soon as the soak's does, and of no limit but those it meets."""

    def __init__(self, door: RestClient, chats: Chats, abilities: Abilities, settles: timedelta) -> None:
        super().__init__(door, chats, threads=True, settles=settles)
        self.abilities = abilities


def _marker(body: Mapping[str, Any]) -> str:
    """Return the delivery whose message this is: that of the first button of ours."""
    parts = parts_of(list(body.get("components") or ()))
    read = (read_button(each["custom_id"]) for each in parts if "custom_id" in each)
    return next((each.delivery for each in read if each is not None and each.delivery), "")


@asynccontextmanager
async def discord(behaviour: Behaviour, crowd: Crowd) -> AsyncIterator[FakeDiscord]:
    """Run it with the crowd's servers and channels."""
    async with running(behaviour) as fake:
        fake.token = TOKEN
        fake.read_marker = _marker
        fake.limits.invalid_most = 1_000_000_000  # a storm's 429 are not the sender's fault
        for number in range(crowd.channels):
            place = int(crowd.workspace(number).partition(":")[2])
            guild = fake.guilds.get(place) or fake.guild(f"Server {place}", number=place)
            kind = Kind.TEXT if (number + 1) % _FORUMS else Kind.FORUM
            channel = Channel(int(crowd.channel(number)), kind, f"channel {number}", guild)
            fake.channels[channel.id] = guild.channels[channel.id] = channel
        yield fake
        if fake.wrong or fake.mentions:
            raise RuntimeError(f"Discord would not have taken it: {fake.wrong[:3]}, {fake.mentions[:3]}")


@asynccontextmanager
async def discord_messenger(work: Work, chats: Chats) -> AsyncIterator[Scaled]:
    """Open the messenger."""
    Route.BASE = f"{work.url}/api/v10"
    door = RestClient(TOKEN)
    try:
        yield Scaled(door, chats, work.abilities(), timedelta(seconds=work.quarantine))
    finally:
        await door.close()
