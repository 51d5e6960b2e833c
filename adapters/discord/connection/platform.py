"""Being in Discord: what hears and what posts, opened and closed."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from adapters.chat.context import BackgroundTasks
from adapters.discord.client.api import InvalidRequests, RestClient, counted_together
from adapters.discord.client.channels import Channels
from adapters.discord.connection.gateway import TIMEOUTS, Gateway, GatewayTimeouts
from adapters.discord.connection.requirements import require_discord_settings, use_addresses
from adapters.discord.listeners.answers import DiscordAnswers
from adapters.discord.listeners.context import DiscordContext
from adapters.discord.send import DiscordMessenger
from adapters.discord.workspaces import PLATFORM
from bot.ports.runner import Watch
from bot.service.platforms import PlatformContext
from bot.settings.chat import DiscordSettings


@dataclass(frozen=True, slots=True)
class DiscordPlatform:
    """Discord, connected or trying to be."""

    messenger: DiscordMessenger
    gateway: Gateway
    client: RestClient

    @property
    def watches(self) -> Sequence[Watch]:
        """What listens."""
        return (Watch("listening to Discord", self.gateway.run),)

    def trouble(self, now: datetime) -> str:
        """Return why nobody is heard now, in a sentence; "" while all is well."""
        closed = self.client.invalid.paused_for()
        pause = f"Too many requests were refused; nothing is sent to Discord for {closed:.0f} seconds." if closed else ""
        return " ".join(filter(None, (self.gateway.trouble(now), pause)))


@asynccontextmanager
async def opened(
    settings: DiscordSettings, platform: PlatformContext, *, timeouts: GatewayTimeouts = TIMEOUTS
) -> AsyncIterator[DiscordPlatform]:
    """Yield Discord, ready to post; who runs its watches hears it too. Raises SettingsError for unusable settings."""
    require_discord_settings(settings)
    use_addresses(settings)
    logging.getLogger("discord").setLevel(logging.INFO)  # below that it writes whole requests, with what opens them
    invalid, tasks = InvalidRequests(), BackgroundTasks()
    client = RestClient(settings.token.get_secret_value(), invalid)
    channels = Channels(client)
    ids: dict[str, str] = {}
    context = DiscordContext(
        platform=platform,
        tasks=tasks,
        settings=settings,
        client=client,
        channels=channels,
        answers=DiscordAnswers(client, platform.chats, platform.clock, tasks, platform.untold, ids),
        command_ids=ids,
    )
    messenger = DiscordMessenger(client, platform.chats, clock=platform.clock, channels=channels, ids=ids)
    platform.channel_opened(f"{PLATFORM}:", "")  # there may be another token, or what happened meanwhile was not heard
    try:
        async with counted_together(invalid, platform.cluster, settings.address):
            yield DiscordPlatform(messenger, Gateway(context, invalid, timeouts=timeouts), client)
    finally:
        await tasks.finish()
        await client.close()


@asynccontextmanager
async def asked(settings: DiscordSettings, platform: PlatformContext) -> AsyncIterator[DiscordMessenger]:
    """Yield who tells what is seen in Discord: nobody is heard. Raises SettingsError as `opened`."""
    require_discord_settings(settings)
    use_addresses(settings)
    logging.getLogger("discord").setLevel(logging.INFO)  # as where all of it is opened
    client = RestClient(settings.token.get_secret_value(), InvalidRequests())
    try:
        yield DiscordMessenger(client, platform.chats, clock=platform.clock, channels=Channels(client))
    finally:
        await client.close()
