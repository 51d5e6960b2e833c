"""Discord's gateway: heard, watched, and begun anew with a new client when it falls.

discord.py reconnects by itself once it has been connected; what it does not survive ends here, and the runner begins again
after a while that grows: a gateway that is down at the very first connection, a token that is no longer good. Whether it is
alive is judged by what discord.py documents alone, so that no other version of it is thrown away for a name that is gone.
"""

import asyncio
import logging
import math
import sys
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import discord
from discord.http import Route

from adapters.chat.connection import Outage
from adapters.chat.unreadable import UnreadableEvents
from adapters.discord.client.api import InvalidRequests
from adapters.discord.connection.isolation import isolate_events, note_received
from adapters.discord.connection.shards import LEASE_TIMES, IdentifyTurns, LeaseTimes, ShardLeases, ShardRange
from adapters.discord.install.command_tree import PERSONAL, ROOTS, Offered, fingerprint, tree
from adapters.discord.listeners.context import DiscordContext
from adapters.discord.listeners.events import count_reaction, greet, preview_links
from adapters.discord.listeners.interactions import answer_unreadable, handle_interaction
from adapters.discord.listeners.spoken import answer_message, said_to_us
from adapters.discord.workspaces import PLATFORM, workspace_of
from bot.errors import BotError, Delayed, Reach
from bot.ports.runner import Watch
from bot.service.platforms import Cluster
from bot.service.supervise import keep_going
from bot.settings.chat import DiscordSettings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GatewayTimeouts:
    """How long a client is trusted, in seconds."""

    silent: float = 90.0  # without an acknowledged heartbeat; Discord asks for one about every 41
    deaf: float = 180.0  # until one that is not heard makes room for a new one; discord.py would try for ever
    gap: float = 10.0  # without a connection, while discord.py makes another
    look: float = 1.0  # between looks
    again: float = 1.0  # before shards that failed are connected anew, where they are some of several; grows
    identify: float = 5.5  # between two identifications of all processes; Discord takes one in five seconds
    leases: LeaseTimes = LEASE_TIMES


TIMEOUTS = GatewayTimeouts()
_NEW = timedelta(minutes=10)  # since an invitation that is still answered with a greeting when it is heard of late
_ENDING = 1.0  # seconds for a client that is told to end
_SPARE = 50  # identifications of the day that are left alone: each restart takes one for every shard
# The last four are what discord.py makes of an answer, or an event at the start, that it cannot read.
_UNREAD = (AttributeError, LookupError, TypeError, ValueError)
FAILURES = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError, *_UNREAD)
_TOO_FEW = 4011  # so many servers need more shards
_FORBIDDEN = frozenset({4004, 4010, 4011, 4012, 4013, 4014})  # gateway close codes that stay until somebody mends them


# Nobody speaks here: what voice needs is not missed.
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False


class GatewayClient(discord.AutoShardedClient):
    """discord.py's client, which hears and does nothing by itself."""

    def __init__(
        self,
        context: DiscordContext,
        invalid: InvalidRequests,
        shards: ShardRange | None = None,
        turns: IdentifyTurns | None = None,
    ) -> None:
        """`shards` are those of this client, None for all; `turns` are those of identifying, over all processes."""
        settings = context.settings
        super().__init__(
            intents=intents(settings),
            shard_count=shards.count if shards else settings.shards or None,
            shard_ids=list(shards.ids) if shards else None,  # type: ignore[arg-type] # None is the default
            allowed_mentions=discord.AllowedMentions.none(),
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_messages=None,
            http_trace=invalid.trace(),
            enable_debug_events=True,  # tells what is read before it is, below
        )
        self.context = context
        self.heartbeats = Heartbeats()
        self.awaits_turn = False  # whether a shard waits until it may identify
        self._turns = turns
        self._unreadable = UnreadableEvents(PLATFORM, context.platform.unreadable, {"discord"})
        isolate_events()

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Pass on what was heard; what is read next is noted, and goes no further."""
        if event == "socket_raw_receive":
            note_received(self, args[0])
        else:
            super().dispatch(event, *args, **kwargs)

    def left_out(self, event: object, data: object, error: Exception) -> None:
        """Note an event that discord.py could not read; who asked for something reads so."""
        self._unreadable.note(event, error)
        if event == "INTERACTION_CREATE" and isinstance(data, dict):
            self._begin(answer_unreadable(self.context, data), "saying that something could not be read")

    async def setup_hook(self) -> None:
        """Tell Discord the commands, where they are not as it knows them; who cannot is heard all the same."""
        try:
            async with self.context.telling_commands:
                await sync_commands(self.context, str(self.application_id))
        except (*FAILURES, BotError) as error:
            log.warning(
                "Discord could not be told the commands, and is at the next connection: %s", connection_failure(error)
            )

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait until the shard may identify."""
        if self._turns is None:
            await super().before_identify_hook(shard_id, initial=initial)
            return
        self.awaits_turn = True
        try:
            await self._turns.wait(shard_id or 0)
        finally:
            self.awaits_turn = False

    @property
    def is_whole(self) -> bool:
        """Whether every shard is connected; they are one after the other, some seconds apart."""
        shards = self.shards.values()
        return len(shards) >= (len(self.shard_ids) if self.shard_ids else self.shard_count or 1) and not any(
            each.is_closed() for each in shards
        )

    async def on_interaction(self, interaction: "discord.Interaction[Any]") -> None:
        """Somebody asks for something."""
        self._begin(handle_interaction(self.context, interaction), "answering in Discord")

    async def on_message(self, message: discord.Message) -> None:
        """Somebody wrote something; heard with the settings for mentions and for previews alone."""
        words = said_to_us(message, self._me()) if self.context.settings.mentions else None
        if words is not None:
            self._begin(answer_message(self.context, message, words), "answering a message in Discord")
        else:
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

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """We were invited, it may be again."""
        self._open(guild.id)
        self._greet(guild)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """A server is there: at the start, and after an outage.

        Of one to which we were invited in the seconds after a connection discord.py tells the same, and so it is of one to
        which we were invited while nobody listened: when we came to it tells them apart.
        """
        self._open(guild.id)
        me = guild.get_member(self._me())
        came = me.joined_at if me is not None else None
        if came is not None and abs(self.context.now - came) < _NEW:
            self._greet(guild)

    def _greet(self, guild: discord.Guild) -> None:
        if guild.system_channel is not None:
            self._begin(greet(self.context, guild.id, str(guild.system_channel.id)), "greeting a server")

    async def on_guild_channel_update(self, _: discord.abc.GuildChannel, channel: discord.abc.GuildChannel) -> None:
        """A channel was changed, and with it what we may do there and in its threads."""
        self._open(channel.guild.id)

    async def on_raw_thread_update(self, event: discord.RawThreadUpdateEvent) -> None:
        """A thread was changed: it may be unlocked."""
        self._open(event.guild_id, str(event.thread_id))

    async def on_guild_role_update(self, _: discord.Role, role: discord.Role) -> None:
        """A role was changed, and with it what we may do."""
        self._open(role.guild.id)

    def _open(self, guild: int, channel: str = "") -> None:
        """Have asked about what is paused there: each of these only may have opened something."""
        self.context.platform.channel_opened(workspace_of(guild, ""), channel)

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


class Heartbeats:
    """When heartbeats were acknowledged: with each that is, discord.py measures a shard's latency anew.

    It says so of no other moment, and the latency stays as it was however long ago that is. Two of the same length, to the
    nanosecond, are one beat that is missed.
    """

    def __init__(self) -> None:
        self._beats: dict[int, tuple[float, float]] = {}  # by shard: its latency, and when that was new

    def silence(self, latencies: Mapping[int, float], now: float) -> float:
        """Return for how many seconds the shard that is silent longest has been; infinite before the first connection.

        A connection that was made anew has no latency yet: it counts as silent until its first heartbeat is acknowledged.
        """
        for shard, latency in latencies.items():
            if shard not in self._beats or (math.isfinite(latency) and latency != self._beats[shard][0]):
                self._beats[shard] = (latency, now)
        return now - min(at for _, at in self._beats.values()) if self._beats else math.inf


def intents(settings: DiscordSettings) -> discord.Intents:
    """Return the fewest: servers and their channels; messages and reactions only where a setting needs them."""
    found = discord.Intents.none()
    found.guilds = True
    found.guild_reactions = settings.reactions
    found.dm_reactions = settings.reactions
    found.guild_messages = settings.link_previews or settings.mentions
    found.dm_messages = settings.mentions
    # What mentions us and what is written to us directly is told in full without it.
    found.message_content = settings.link_previews
    return found


async def sync_commands(context: DiscordContext, application: str) -> None:
    """Tell Discord the commands, unless it was told the same before, and know the identifiers that it gave them.

    Raises as RestClient.request, and StoreError.
    """
    guild, everybody = context.settings.development_guild, context.settings.manage == "anyone"
    # What a person installs belongs to no server.
    offered = Offered(everybody_manages=everybody, personal=context.settings.user_install and not guild)
    fact = f"discord commands of {application} {guild}".strip()
    store = context.platform.handler_context.store
    now_there, *kept = (await store.facts.get(fact) or "none").split()
    known = dict(each.split("=", 1) for each in kept if "=" in each)  # what was kept otherwise is told anew
    if now_there == (wanted := fingerprint(offered)) and known.keys() >= {*ROOTS, *([PERSONAL] if offered.personal else [])}:
        context.command_ids.update(known)
        return
    path = (
        "/applications/{application_id}/guilds/{guild_id}/commands" if guild else "/applications/{application_id}/commands"
    )
    places = {"application_id": application} | ({"guild_id": guild} if guild else {})
    made = await context.client.request(Route("PUT", path, **places), json=tree(offered))
    ids = {str(each["name"]): str(each["id"]) for each in made if each["name"] in (*ROOTS, PERSONAL)}
    context.command_ids.update(ids)
    await store.facts.set(fact, " ".join([wanted, *(f"{name}={number}" for name, number in ids.items())]))
    log.info("Discord was told the commands%s", f" for server {guild}" if guild else "")


class Gateway:
    """Listens to Discord, for as long as it is left running: with every shard, or with some where processes share them."""

    def __init__(self, context: DiscordContext, invalid: InvalidRequests, *, timeouts: GatewayTimeouts = TIMEOUTS) -> None:
        self._reception = context
        self._invalid = invalid
        self._timeouts = timeouts
        self._outages: dict[ShardRange | None, Outage] = {}
        cluster = context.platform.cluster
        self._leases = ShardLeases(cluster, self._wanted, self._hold, timeouts.leases) if cluster else None
        if cluster is None:
            self._outages[None] = self._new_outage()

    def _new_outage(self) -> Outage:
        return Outage("Discord", self._reception.platform.clock)

    def trouble(self, now: datetime) -> str:
        """Return why nobody is heard now, "" while all is well."""
        why = self._leases.trouble if self._leases else ""
        leases = f"Discord's shards cannot be shared out now: {why}" if why else ""
        # The same befalls all of them mostly.
        return " ".join(dict.fromkeys(filter(None, (leases, *(each.sentence() for each in self._outages.values())))))

    async def run(self) -> None:
        """Listen: by itself until something is wrong, which is raised as Delayed; beside others until this is cancelled."""
        if self._leases is None:
            await self._run(None)
        else:
            await self._leases.run()

    async def _wanted(self) -> int:
        """Return how many shards there are to be. Raises Delayed."""
        if fixed := self._reception.settings.shards:
            return fixed
        try:
            found: Any = await self._reception.client.request(Route("GET", "/gateway/bot"))
            return max(int(found["shards"]), 1)
        except FAILURES as error:
            raise Delayed(
                f"how many there are to be is not known, {connection_failure(error)}.", reach=Reach.PLATFORM
            ) from error

    async def _hold(self, shards: ShardRange) -> None:
        """Listen with some shards until this is cancelled, anew when they fail; then they are closed."""
        self._outages[shards] = self._new_outage()

        async def run() -> None:
            await self._run(shards)

        try:
            name = f"listening to Discord with shards {shards}"
            await keep_going(Watch(name, run), timedelta(seconds=self._timeouts.again))
        finally:
            del self._outages[shards]

    async def _run(self, shards: ShardRange | None) -> None:
        """Listen with the shards, all where none are named, until something is wrong, which is raised as Delayed."""
        outage = self._outages[shards]
        try:
            at_once = await self._spare(shards, outage)
            await self._listen(shards, outage, at_once)
        except FAILURES as error:
            why = connection_failure(error)
            outage.begin(why)
            if self._leases and isinstance(error, discord.ConnectionClosed) and error.code == _TOO_FEW:
                self._leases.give_up()  # as every other process does that is told so
            raise Delayed(f"Discord is not heard: {why}.", reach=Reach.PLATFORM) from error
        outage.begin("the connection was closed")
        raise Delayed("Discord closed the connection.", reach=Reach.PLATFORM)

    async def _spare(self, shards: ShardRange | None, outage: Outage) -> int:
        """Wait while hardly any identifications are left of the day: Discord resets a token that uses up all of them.

        Those of other processes count too: Discord counts by the token. Returns its max_concurrency.
        """
        found: Any = await self._reception.client.request(Route("GET", "/gateway/bot"))
        limit = found.get("session_start_limit") or {}
        at_once, needed = int(limit.get("max_concurrency", 1)), len(shards.ids) - 1 if shards else 0
        if int(limit.get("remaining", _SPARE + 1)) - needed > min(_SPARE, int(limit.get("total", 1000)) // 10):
            return at_once
        wait = timedelta(milliseconds=int(limit.get("reset_after", 0)))
        why = f"Discord takes hardly any new connections today; it is tried again in {wait}"
        outage.begin(why)
        log.error("%s", why)
        await asyncio.sleep(wait.total_seconds())
        return at_once

    def _turns(self, at_once: int) -> IdentifyTurns | None:
        cluster: Cluster | None = self._reception.platform.cluster
        return IdentifyTurns(cluster.budgets, at_once, self._timeouts.identify) if cluster else None

    async def _listen(self, shards: ShardRange | None, outage: Outage, at_once: int) -> None:
        client = GatewayClient(self._reception, self._invalid, shards, self._turns(at_once))
        running = asyncio.ensure_future(client.start(self._reception.settings.token.get_secret_value()))
        begun = whole = time.monotonic()
        try:
            while not running.done():
                await asyncio.wait({running}, timeout=self._timeouts.look)
                now = time.monotonic()
                begun = now if client.awaits_turn else begun
                whole = now if client.is_whole else whole
                silent = client.heartbeats.silence({number: each.latency for number, each in client.shards.items()}, now)
                self._notice(outage, silent, now - whole)
                if min(silent, now - begun) > self._timeouts.deaf:
                    raise TimeoutError
            running.result()
        finally:
            await self._close(client, running)

    def _notice(self, outage: Outage, silent: float, apart: float) -> None:
        """Note whether people are heard, by the seconds of silence, and those since every shard was connected."""
        timeouts = self._timeouts
        if silent < timeouts.silent and not apart:
            outage.end()
        elif outage.lasts:
            return  # why is known already
        elif silent >= timeouts.silent:
            outage.begin(f"no heartbeat was acknowledged for {timeouts.silent:.0f} seconds")
        elif apart >= timeouts.gap:
            outage.begin("the connection was lost")

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


def connection_failure(error: Exception) -> str:
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
