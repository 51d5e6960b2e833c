"""The fake Discord with a crowd's channels, and the messenger that the service has for it.

Every fourth channel is a forum, and what comes after the first message hangs in its thread.
"""

import asyncio
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from aiohttp.typedefs import Middleware
from discord.http import Route

from adapters.discord.client.api import InvalidRequests, RequestPace, RestClient
from adapters.discord.render.components import delivery_of
from adapters.discord.send import DiscordMessenger
from benchmarks.soak.plant import Crowd
from benchmarks.soak.work import Work
from bot.models import Abilities
from bot.ports.chats import Chats
from tests.fakes.discord import Behaviour, Channel, FakeDiscord, Kind, User, running
from tests.fakes.discord.limits import Limits
from tests.fakes.discord.things import parts_of

TOKEN = "MTIz.of-the.soak"


_FORUMS = 4  # every so many channels are one


class Scaled(DiscordMessenger):
    """The messenger, told of a Discord that forgets as soon as the soak's does, and of no limit but those it meets."""

    def __init__(self, door: RestClient, chats: Chats, abilities: Abilities, settles: timedelta) -> None:
        super().__init__(door, chats, settles=settles)
        self.abilities = abilities


class Invalid(InvalidRequests):
    """The count of invalid requests where time goes so many times as fast."""

    def __init__(self, speed: float) -> None:
        super().__init__(lambda: time.monotonic() * speed)
        self._speed = speed

    def paused_for(self) -> float:
        """Return the pause in true seconds."""
        return super().paused_for() / self._speed


class Pace(RequestPace):
    """The pace of requests where time goes so many times as fast."""

    def __init__(self, speed: float) -> None:
        super().__init__(lambda: time.monotonic() * speed)
        self._speed = speed

    def take(self) -> float:
        """Return the wait in true seconds."""
        return super().take() / self._speed

    def leave(self) -> float:
        """Return the wait in true seconds."""
        return super().leave() / self._speed


class Counting(Limits):
    """The limits, which shut nobody out, and count how many invalid requests there were within ten minutes or one."""

    def __init__(self, counts: Counter[str], per_second: int) -> None:
        super().__init__(counts, per_second)
        self.invalid_most = 1_000_000_000
        self._at: list[float] = []

    def judge(self, status: int, *, shared: bool = False) -> None:
        """Count a reply."""
        before = self.counts["invalid"]
        super().judge(status, shared=shared)
        if self.counts["invalid"] == before:
            return
        now = asyncio.get_running_loop().time()
        self._at.append(now)
        for name, span in (("invalid in 600 s", 600.0), ("invalid in 60 s", 60.0)):
            here = len(self._at) - bisect_left(self._at, now - span)
            self.counts[name] = max(self.counts[name], here)


def marker(body: Mapping[str, Any]) -> str:
    """Return the delivery whose message this is: that which the first button or select of ours carries."""
    parts = parts_of(list(body.get("components") or ()))
    return next(filter(None, (delivery_of(each["custom_id"]) for each in parts if "custom_id" in each)), "")


@asynccontextmanager
async def discord(
    behaviour: Behaviour, crowd: Crowd, before: Sequence[Middleware] = (), *, forums: int = _FORUMS
) -> AsyncIterator[FakeDiscord]:
    """Run it with the crowd's servers and channels; every so many are forums, of 0 none."""
    async with running(behaviour, before=before) as fake:
        fake.token = TOKEN
        fake.read_marker = marker
        fake.limits = Counting(fake.counts, behaviour.per_second)
        for number in range(crowd.channels):
            place = int(crowd.workspace(number).partition(":")[2])
            guild = fake.guilds.get(place) or fake.guild(f"Server {place}", number=place)
            kind = Kind.FORUM if forums and (number + 1) % forums == 0 else Kind.TEXT
            channel = Channel(int(crowd.channel(number)), kind, f"channel {number}", guild)
            fake.channels[channel.id] = guild.channels[channel.id] = channel
            fake.users[int(crowd.owner(number))] = User(int(crowd.owner(number)), f"Person {number}")
            for said in range(behaviour.others if kind is Kind.TEXT else 0):
                fake.write(channel, guild.owner, f"message {said}")
        yield fake
        if fake.wrong or fake.mentions:
            raise RuntimeError(f"Discord would not have taken it: {fake.wrong[:3]}, {fake.mentions[:3]}")


@asynccontextmanager
async def discord_messenger(work: Work, chats: Chats) -> AsyncIterator[Scaled]:
    """Open the messenger."""
    Route.BASE = f"{work.url}/api/v10"
    door = RestClient(TOKEN, Invalid(work.speed), pace=Pace(work.speed))
    try:
        yield Scaled(door, chats, work.abilities(), timedelta(seconds=work.quarantine))
    finally:
        await door.close()
