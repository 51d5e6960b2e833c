"""Broadsheet in a Discord of its own: the whole service on a database, real sockets, and a clock that is set."""

import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import yarl
from discord.asset import Asset
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.connection.gateway import GatewayTimeouts
from adapters.discord.connection.platform import DiscordPlatform, opened
from bot.app import App, Service, built
from bot.digest.due import next_after
from bot.models import Item, Subscription
from bot.service.platforms import PlatformContext
from bot.settings.chat import DISCORD_ADDRESSES, DiscordSettings
from bot.settings.load import Settings
from tests.conftest import NOW
from tests.e2e.stage import ITEMS, NO_SOURCES, do_a_round
from tests.e2e.watches import kept
from tests.fakes.discord import Asked, Channel, FakeDiscord, Guild, Message, Permission, User, running
from tests.fakes.works import paper

SOON = GatewayTimeouts(look=0.05)
_TOLD = os.environ.get("BROADSHEET_TRANSCRIPT", "")  # read now: each test begins without any of our variables


@dataclass(slots=True)
class DiscordDesk:
    """A running service, and the server that it is in: a channel, Anna who may manage it, and Ben who may not."""

    app: App
    fake: FakeDiscord
    service: Service
    platform: DiscordPlatform
    now: datetime
    guild: Guild
    papers: Channel
    anna: User
    ben: User
    stop: Callable[[], Awaitable[None]]  # ends the service; the Discord stays

    @property
    def workspace(self) -> str:
        return f"discord:{self.guild.id}"

    def due(self, subscription: Subscription) -> datetime:
        """When its next digest is."""
        return next_after(subscription.schedule, self.now)

    def fresh(self, day: str = "3") -> Sequence[Item]:
        """Items that nobody has seen yet."""
        titles = ("Paging the KV cache of GPUs", "Fused attention on GPUs", "CUDA graphs for GPU serving")
        said = "{} is hard on GPUs. We propose a CUDA kernel for it. It is twice as fast. GPU users gain."
        return [
            paper(f"2604.{day}000{number}", title=title, abstract=said.format(title))
            for number, title in enumerate(titles, 1)
        ]

    async def round(self, now: datetime | None = None) -> None:
        """Do once what the service does by itself when something is due."""
        self.now = now or self.now
        await do_a_round(self.service)


def settings_for(fake: FakeDiscord, folder: Path, sources: Mapping[str, Any] = NO_SOURCES, **given: Any) -> Settings:
    """Settings with this Discord and no source but these."""
    section = {
        "token": fake.token,
        "api_url": fake.api_url,
        "gateway_url": fake.gateway_url,
        "cdn_url": fake.cdn_url,
    } | given
    return Settings(database=folder / "b.sqlite3", discord=DiscordSettings(**section), **sources)


@asynccontextmanager
async def sitting(
    folder: Path,
    *,
    items: Sequence[Item] = ITEMS,
    sources: Mapping[str, Any] = NO_SOURCES,
    timeouts: GatewayTimeouts = SOON,
    interval: float = 41.25,
    context: Callable[[PlatformContext], PlatformContext] = lambda usual: usual,
    **given: Any,
) -> AsyncIterator[DiscordDesk]:
    """Run the service in a new Discord until the block ends; `given` are settings of [discord].

    `interval` is how many seconds lie between heartbeats; `context` makes what the platform works with of what is usual.
    """
    async with running() as fake:
        fake.gateway.interval = interval
        guild = fake.guild("Lab")
        papers = fake.channel(guild, "papers")
        anna = fake.join(guild, fake.user("Anna"), Permission.MANAGE_CHANNELS)
        ben = fake.join(guild, fake.user("Ben"))
        settings = settings_for(fake, folder, sources, **given)
        desk: DiscordDesk | None = None

        def clock() -> datetime:
            return desk.now if desk else NOW

        with usual_addresses():
            async with AsyncExitStack() as stack:
                app = await stack.enter_async_context(built(settings, exclusive=True))
                await app.store.items.add(items, NOW)
                platform = await stack.enter_async_context(
                    opened(settings.discord, context(app.platform_context(clock)), timeouts=timeouts)
                )
                service = await app.service(clock, [platform])
                desk = DiscordDesk(app, fake, service, platform, NOW, guild, papers, anna, ben, stack.aclose)
                await stack.enter_async_context(kept(platform.watches))
                await fake.gateway.heard()
                yield desk


@asynccontextmanager
async def restarted(desk: DiscordDesk) -> AsyncIterator[DiscordDesk]:
    """Run the service anew on the same database, in the same Discord, once the first is gone."""
    await desk.stop()
    settings, again = desk.app.settings, replace(desk)
    async with (
        built(settings, exclusive=True) as app,
        opened(settings.discord, app.platform_context(lambda: again.now), timeouts=SOON) as made,
    ):
        again.app, again.platform = app, made
        again.service = await app.service(lambda: again.now, [made])
        async with kept(made.watches):
            await desk.fake.gateway.heard()
            yield again


class Transcript:
    """What was said, as text; written where BROADSHEET_TRANSCRIPT names a file."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def asked(self, who: str, what: str, asked: Asked) -> None:
        """Note what somebody asked, and was told."""
        self.lines += [f"{who}: {what}", *(f"    {line}" for line in asked.text.splitlines()[:14]), ""]

    def posted(self, message: Message, where: str = "#papers") -> None:
        """Note what was posted."""
        self.lines += [f"{where}:", *(f"    {line}" for line in message.text.splitlines()[:14]), ""]

    def write(self) -> None:
        """Write it."""
        if _TOLD:
            Path(_TOLD).write_text("\n".join(self.lines), encoding="utf-8")


@contextlib.contextmanager
def usual_addresses() -> Any:
    """Turn discord.py back to the real Discord afterwards: its addresses hold for the whole process."""
    try:
        yield
    finally:
        Route.BASE, gateway, Asset.BASE = DISCORD_ADDRESSES
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)
