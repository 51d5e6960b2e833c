"""Discord's gateway: heard, watched, and begun anew with a new client when it falls.

discord.py reconnects by itself once it has been connected; what it does not survive ends here, and the runner begins again
after a while that grows: a gateway that is down at the very first connection, an event that it cannot read.
"""

import asyncio
import logging
import sys
import time
from collections.abc import Coroutine
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import discord
from discord.http import Route

from adapters.chat.connection import Outage
from adapters.discord.client.api import InvalidRequests
from adapters.discord.install.command_tree import fingerprint, tree
from adapters.discord.listeners.context import DiscordContext
from adapters.discord.listeners.events import count_reaction, preview_links
from adapters.discord.listeners.interactions import handle_interaction
from adapters.discord.workspaces import workspace_of
from bot.errors import BotError, Delayed, Reach
from bot.settings.chat import DiscordSettings

log = logging.getLogger(__name__)

_SILENT = 90.0  # seconds without an acknowledged heartbeat; Discord asks for one about every 41
_DEAF = 180.0  # seconds after which a client that is not heard makes room for a new one; discord.py would try for ever
_ENDING = 1.0  # seconds for a client that is told to end
_SPARE = 50  # identifications of the day that are left alone: each restart takes one for every shard
# The last three are what discord.py makes of an answer, or an event at the start, that it cannot read.
_FAILURES = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError, AttributeError, KeyError, ValueError)
_FORBIDDEN = frozenset({4004, 4010, 4011, 4012, 4013, 4014})  # gateway close codes that stay until somebody mends them


# Nobody speaks here: what voice needs is not missed.
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False


class GatewayClient(discord.AutoShardedClient):
    """discord.py's client, which hears and does nothing by itself."""

    def __init__(self, context: DiscordContext, invalid: InvalidRequests) -> None:
        settings = context.settings
        super().__init__(
            intents=intents(settings),
            shard_count=settings.shards or None,
            allowed_mentions=discord.AllowedMentions.none(),
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_messages=None,
            http_trace=invalid.trace(),
        )
        self.context = context

    async def setup_hook(self) -> None:
        """Tell Discord the commands, where they are not as it knows them; who cannot is heard all the same."""
        try:
            await sync_commands(self.context, str(self.application_id))
        except (*_FAILURES, BotError) as error:
            log.warning("Discord could not be told the commands, and is at the next connection: %s", _reason(error))

    def silence(self) -> float:
        """Return for how many seconds the shard that is silent longest has been; infinite before the first connection."""
        acks = self._acks()
        return _monotonic() - min(acks) if acks else float("inf")

    @property
    def is_whole(self) -> bool:
        """Whether every shard is connected; they are one after the other, some seconds apart."""
        return len(self._acks()) >= (self.shard_count or 1)

    def _acks(self) -> list[float]:
        return [each for each in map(_last_ack, self.shards.values()) if each is not None]

    async def on_interaction(self, interaction: "discord.Interaction[Any]") -> None:
        """Somebody asks for something."""
        self._begin(handle_interaction(self.context, interaction), "answering in Discord")

    async def on_message(self, message: discord.Message) -> None:
        """Somebody wrote something; heard with the setting for previews alone."""
        self._begin(preview_links(self.context, message), "showing a preview in Discord")

    async def on_raw_reaction_add(self, event: discord.RawReactionActionEvent) -> None:
        """Somebody reacted; heard with the setting for reactions alone."""
        self._begin(count_reaction(self.context, event, given=True, me=self._me()), "counting a reaction")

    async def on_raw_reaction_remove(self, event: discord.RawReactionActionEvent) -> None:
        """Somebody took a reaction back."""
        self._begin(count_reaction(self.context, event, given=False, me=self._me()), "taking back a reaction")

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """A channel is gone."""
        await self._gone(channel.guild.id, str(channel.id), "The channel was deleted in Discord.")

    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        """A thread is gone."""
        await self._gone(event.guild_id, str(event.thread_id), "The thread was deleted in Discord.")

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """The server is gone, or we were removed from it."""
        await self._gone(guild.id, "", "I was removed from the server; invite me again to go on.")

    async def _gone(self, guild: int, channel: str, why: str) -> None:
        async def paused() -> None:
            await self.context.platform.channel_closed(workspace_of(guild, ""), channel, why)

        self._begin(paused(), "pausing what cannot be posted")

    def _begin(self, doing: Coroutine[Any, Any, None], what: str) -> None:
        self.context.tasks.start(doing, what)

    def _me(self) -> int:
        return self.user.id if self.user else 0

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        """Log what failed in one of the above."""
        log.error("%s failed: %s", event_method, type(sys.exception()).__name__)


def intents(settings: DiscordSettings) -> discord.Intents:
    """Return the fewest: servers and their channels; messages and reactions only where a setting needs them."""
    found = discord.Intents.none()
    found.guilds = True
    found.guild_reactions = settings.reactions
    found.dm_reactions = settings.reactions
    found.guild_messages = settings.link_previews
    found.message_content = settings.link_previews
    return found


async def sync_commands(context: DiscordContext, application: str) -> None:
    """Tell Discord the commands, unless it was told the same before. Raises as RestClient.request, and StoreError."""
    guild = context.settings.development_guild
    fact, now_there = f"discord commands of {application} {guild}".strip(), fingerprint()
    store = context.platform.handler_context.store
    if await store.facts.get(fact) == now_there:
        return
    path = (
        "/applications/{application_id}/guilds/{guild_id}/commands" if guild else "/applications/{application_id}/commands"
    )
    places = {"application_id": application} | ({"guild_id": guild} if guild else {})
    await context.client.request(Route("PUT", path, **places), json=tree())
    await store.facts.set(fact, now_there)
    log.info("Discord was told the commands%s", f" for server {guild}" if guild else "")


class Gateway:
    """Listens to Discord, for as long as it is left running."""

    def __init__(self, context: DiscordContext, invalid: InvalidRequests, *, look: float = 1.0) -> None:
        """`look` is how many seconds lie between two looks at whether it is still alive."""
        self._reception = context
        self._invalid = invalid
        self._look = look
        self._outage = Outage("Discord", context.platform.clock)

    def trouble(self, now: datetime) -> str:
        """Return why nobody is heard now, "" while all is well."""
        return self._outage.sentence()

    async def run(self) -> None:
        """Listen until something is wrong, which is raised as Delayed."""
        try:
            await self._spare()
            await self._listen()
        except _FAILURES as error:
            why = _reason(error)
            self._outage.begin(why)
            raise Delayed(f"Discord is not heard: {why}.", reach=Reach.PLATFORM) from error
        self._outage.begin("the connection was closed")
        raise Delayed("Discord closed the connection.", reach=Reach.PLATFORM)

    async def _spare(self) -> None:
        """Wait while hardly any identifications are left of the day: Discord resets a token that uses up all of them."""
        found: Any = await self._reception.client.request(Route("GET", "/gateway/bot"))
        limit = found.get("session_start_limit") or {}
        if int(limit.get("remaining", _SPARE + 1)) > min(_SPARE, int(limit.get("total", 1000)) // 10):
            return
        wait = timedelta(milliseconds=int(limit.get("reset_after", 0)))
        why = f"Discord takes hardly any new connections today; it is tried again in {wait}"
        self._outage.begin(why)
        log.error("%s", why)
        await asyncio.sleep(wait.total_seconds())

    async def _listen(self) -> None:
        client = GatewayClient(self._reception, self._invalid)
        running = asyncio.ensure_future(client.start(self._reception.settings.token.get_secret_value()))
        begun = _monotonic()
        try:
            while not running.done():
                await asyncio.wait({running}, timeout=self._look)
                self._notice(client)
                if min(client.silence(), _monotonic() - begun) > _DEAF:
                    raise TimeoutError
            running.result()
        finally:
            await self._close(client, running)

    def _notice(self, client: GatewayClient) -> None:
        silent = client.silence()
        if silent < _SILENT and client.is_whole:
            self._outage.end()
        elif silent >= _SILENT and not self._outage.lasts:
            self._outage.begin(f"no heartbeat was acknowledged for {_SILENT:.0f} seconds")

    async def _close(self, client: GatewayClient, running: "asyncio.Future[None]") -> None:
        await _ended(running)
        try:
            async with asyncio.timeout(5):
                await client.close()
        except Exception as error:  # noqa: BLE001 - it is let go in any case
            log.info("a connection to Discord was not closed in order: %s", type(error).__name__)
            await client.http.close()
        await _ended(running)


async def _ended(running: "asyncio.Future[None]") -> None:
    """End it, and wait a while for that; what it failed with is known already.

    It may not hear of it: before Python 3.12 `asyncio.wait_for`, by which discord.py connects, may lose a cancellation.
    """
    running.cancel()
    await asyncio.wait({running}, timeout=_ENDING)
    if running.done() and not running.cancelled():
        running.exception()


def _last_ack(shard: discord.ShardInfo) -> float | None:
    """Return when the shard's last heartbeat was acknowledged, by the monotonic clock; None before it is connected.

    discord.py has no public name for it: `latency` stays as it was last, however long ago that is.
    """
    keeping = getattr(getattr(getattr(shard, "_parent", None), "ws", None), "_keep_alive", None)
    if keeping is None or shard.is_closed():
        return None
    found: float = keeping._last_ack
    return found


def _monotonic() -> float:
    return time.perf_counter()  # what discord.py notes acknowledgements by


def _reason(error: Exception) -> str:
    """Return what went wrong in words; no token stands in it."""
    if isinstance(error, discord.LoginFailure) or getattr(error, "status", 0) == 401:
        return "the token was not taken; set `discord.token` anew"
    if isinstance(error, discord.PrivilegedIntentsRequired):
        return "the intent for message contents is not switched on in Discord's developer portal"
    if isinstance(error, discord.ConnectionClosed) and error.code in _FORBIDDEN:
        return f"Discord refused the connection (code {error.code})"
    if isinstance(error, discord.HTTPException):
        return f"Discord answered with status {error.status}"
    return f"the connection failed ({type(error).__name__})"
