"""Being in Discord: what hears and what posts, opened and closed."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from adapters.chat.context import BackgroundTasks
from adapters.chat.seen import SeenEvents
from adapters.discord.client.api import InvalidRequests, RestClient, counted_together
from adapters.discord.client.channels import Channels
from adapters.discord.connection.gateway import TIMEOUTS, Gateway, GatewayTimeouts
from adapters.discord.connection.http_server import InteractionsEndpoint, serving
from adapters.discord.connection.over_http import HttpReception
from adapters.discord.connection.requirements import require_discord_settings, use_addresses
from adapters.discord.listeners.answers import DiscordAnswers
from adapters.discord.listeners.context import DiscordContext
from adapters.discord.send import DiscordMessenger
from adapters.discord.workspaces import PLATFORM
from bot.ports.runner import Watch
from bot.service.platforms import PlatformContext
from bot.settings.chat import DiscordSettings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DiscordPlatform:
    """Discord, connected or trying to be."""

    messenger: DiscordMessenger
    receiver: Gateway | HttpReception | None  # None where this process posts alone
    client: RestClient
    address: tuple[str, int] | None = None  # of the HTTP server, where there is one

    @property
    def watches(self) -> Sequence[Watch]:
        """What listens."""
        return (Watch("listening to Discord", self.receiver.run),) if self.receiver else ()

    def trouble(self, now: datetime) -> str:
        """Return why nobody is heard now, in a sentence; "" while all is well."""
        closed = self.client.invalid.paused_for()
        pause = f"Too many requests were refused; nothing is sent to Discord for {closed:.0f} seconds." if closed else ""
        return " ".join(filter(None, (self.receiver.trouble(now) if self.receiver else "", pause)))


@asynccontextmanager
async def opened(
    settings: DiscordSettings, platform: PlatformContext, *, timeouts: GatewayTimeouts = TIMEOUTS
) -> AsyncIterator[DiscordPlatform]:
    """Yield Discord, ready to post; who runs its watches hears it too. Raises SettingsError for unusable settings.

    A `front` is sent what people do where the settings say so; otherwise a `gateway` hears all.
    """
    require_discord_settings(settings)
    use_addresses(settings)
    logging.getLogger("discord").setLevel(logging.INFO)  # below that it writes whole requests, with what opens them
    invalid, tasks = InvalidRequests(), BackgroundTasks()
    client = RestClient(settings.token.get_secret_value(), invalid, cluster=platform.cluster)
    context = _context(settings, platform, client, tasks)
    messenger = DiscordMessenger(
        client, platform.chats, clock=platform.clock, channels=context.channels, ids=context.command_ids
    )
    platform.channel_opened(f"{PLATFORM}:", "")  # there may be another token, or what happened meanwhile was not heard
    async with AsyncExitStack() as stack:
        stack.push_async_callback(client.close)
        if context.seen is not None:
            stack.push_async_callback(context.seen.settle)
        await stack.enter_async_context(counted_together(invalid, platform.cluster, settings.address))
        stack.push_async_callback(tasks.finish)
        receiver, address = await _receiver(stack, context, invalid, timeouts)
        yield DiscordPlatform(messenger, receiver, client, address)


def _context(
    settings: DiscordSettings, platform: PlatformContext, client: RestClient, tasks: BackgroundTasks
) -> DiscordContext:
    ids: dict[str, str] = {}
    is_shared = platform.cluster is not None
    by_http = settings.interactions == "http"
    seen = SeenEvents(PLATFORM, platform.chats, platform.clock, is_shared=is_shared) if is_shared or by_http else None
    return DiscordContext(
        platform=platform,
        tasks=tasks,
        settings=settings,
        client=client,
        channels=Channels(client),
        answers=DiscordAnswers(
            client, platform.chats, platform.clock, tasks, platform.untold, ids, cluster=platform.cluster
        ),
        command_ids=ids,
        seen=seen,
    )


async def _receiver(
    stack: AsyncExitStack, context: DiscordContext, invalid: InvalidRequests, timeouts: GatewayTimeouts
) -> tuple[Gateway | HttpReception | None, tuple[str, int] | None]:
    """Return what hears in this process by its roles, None where nothing does, and the address that it is sent to."""
    settings, roles = context.settings, context.platform.roles
    if settings.interactions == "gateway":
        return Gateway(context, invalid, timeouts=timeouts) if "gateway" in roles else None, None
    if "front" not in roles:
        return None, None
    reception = HttpReception(context, invalid)
    endpoint = InteractionsEndpoint(settings.public_key, reception.take, context.platform.clock)
    address = await stack.enter_async_context(serving(settings.host, settings.port, endpoint))
    log.info("What people do in Discord is taken at http://%s:%d", *address)
    return reception, address


@asynccontextmanager
async def asked(settings: DiscordSettings, platform: PlatformContext) -> AsyncIterator[DiscordMessenger]:
    """Yield who tells what is seen in Discord: nobody is heard. Raises SettingsError as `opened`."""
    require_discord_settings(settings)
    use_addresses(settings)
    logging.getLogger("discord").setLevel(logging.INFO)  # as where all of it is opened
    client = RestClient(settings.token.get_secret_value(), InvalidRequests(), cluster=platform.cluster)
    try:
        yield DiscordMessenger(client, platform.chats, clock=platform.clock, channels=Channels(client))
    finally:
        await client.close()
