"""The fake Discord with a crowd's channels, and the messenger that the service has for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from discord.http import Route

from adapters.discord.door import Door
from adapters.discord.send import DiscordMessenger
from benchmarks.soak.plant import Crowd
from benchmarks.soak.work import Work
from bot.models import Abilities
from bot.ports_chat import Chats
from tests.fakes.discord import Behaviour, Channel, FakeDiscord, Kind, running

TOKEN = "of-the-soak"


class Scaled(DiscordMessenger):
    """The messenger, told of a Discord that forgets as soon as the soak's does, and of no limit but those it meets."""

    def __init__(self, door: Door, chats: Chats, abilities: Abilities) -> None:
        super().__init__(door, chats)
        self.abilities = abilities


@asynccontextmanager
async def discord(behaviour: Behaviour, crowd: Crowd) -> AsyncIterator[FakeDiscord]:
    """Run it with the crowd's servers and channels."""
    async with running(behaviour) as fake:
        fake.token = TOKEN
        fake.limits.invalid_most = 1_000_000_000  # a storm's 429 are not the sender's fault
        for number in range(crowd.channels):
            place = int(crowd.workspace(number).partition(":")[2])
            guild = fake.guilds.get(place) or fake.guild(f"Server {place}", number=place)
            channel = Channel(int(crowd.channel(number)), Kind.TEXT, f"channel {number}", guild)
            fake.channels[channel.id] = guild.channels[channel.id] = channel
        yield fake
        if fake.wrong or fake.mentions:
            raise RuntimeError(f"Discord would not have taken it: {fake.wrong[:3]}, {fake.mentions[:3]}")


@asynccontextmanager
async def discord_messenger(work: Work, chats: Chats) -> AsyncIterator[Scaled]:
    """Open the messenger."""
    Route.BASE = f"{work.url}/api/v10"
    door = Door(TOKEN)
    try:
        yield Scaled(door, chats, work.abilities())
    finally:
        await door.close()
