"""Discord heard over HTTP: no gateway, no shard, any number of processes, each of which may be sent anything.

discord.py reads an interaction by what it knows of its server, which the gateway tells of. Here that is asked for, and known
for a minute: the server, its channels and open threads, and ourselves in it. Without it what an interaction says by itself
stands. discord.py documents neither how an interaction is read that came otherwise, nor how a server is made known to it:
both stand here alone.
"""

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import discord

from adapters.chat.connection import Outage
from adapters.chat.unreadable import UnreadableEvents
from adapters.discord.client.api import InvalidRequests, RestClient
from adapters.discord.connection.gateway import FAILURES, connection_failure, sync_commands
from adapters.discord.listeners.context import DiscordContext
from adapters.discord.listeners.interactions import answer_unreadable, handle_interaction
from adapters.discord.workspaces import PLATFORM
from bot.errors import BotError, Delayed, Reach

log = logging.getLogger(__name__)

_FRESH = 60.0  # seconds for which a server is taken to be as it was
_KEPT = 600.0  # seconds for which it is, where Discord does not say how it is now
_PATIENCE = 0.8  # seconds for which an interaction waits for that: Discord waits for three
MOST = 500  # servers that are known at a time


class HttpReception:
    """Hears what people do in Discord from the HTTP server."""

    def __init__(self, context: DiscordContext, invalid: InvalidRequests) -> None:
        self._context = context
        self._invalid = invalid
        self._client: _HttpClient | None = None
        self._outage = Outage("Discord", context.platform.clock)
        self._unreadable = UnreadableEvents(PLATFORM, context.platform.unreadable, {"discord"})

    def trouble(self, now: datetime) -> str:
        """Return why nobody is heard now, "" while all is well."""
        return self._outage.sentence()

    async def run(self) -> None:
        """Find out who we are and tell the commands, then let people be heard until this is cancelled. Raises Delayed."""
        client = _HttpClient(self._context, self._invalid)
        try:
            await client.login(self._context.settings.token.get_secret_value())
            self._client = client
            self._outage.end()
            await asyncio.Event().wait()
        except FAILURES as error:
            why = connection_failure(error)
            self._outage.begin(why)
            raise Delayed(f"Discord is not heard: {why}.", reach=Reach.PLATFORM) from error
        finally:
            self._client = None
            await client.close()

    def take(self, said: Mapping[str, Any]) -> bool:
        """Go on with what Discord sent; False before we know who we are."""
        if self._client is None:
            return False
        self._context.tasks.start(self._handled(self._client, said, time.monotonic()), "answering in Discord")
        return True

    async def _handled(self, client: "_HttpClient", said: Mapping[str, Any], begun: float) -> None:
        await client.know(said)
        try:
            received = client.interaction(said)
        except Exception as error:  # noqa: BLE001 - whatever discord.py makes of it
            self._unreadable.note("INTERACTION_CREATE", error)
            await answer_unreadable(self._context, said)
            return
        await handle_interaction(self._context, received, begun)


class _HttpClient(discord.Client):
    """discord.py's client, which logs in and connects to no gateway."""

    def __init__(self, context: DiscordContext, invalid: InvalidRequests) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True),
            allowed_mentions=discord.AllowedMentions.none(),
            member_cache_flags=discord.MemberCacheFlags.none(),
            max_messages=None,
            http_trace=invalid.trace(),
        )
        self._context = context
        self._servers = Servers(context.client, self._remember, self._forget)

    async def setup_hook(self) -> None:
        """Tell Discord the commands, where they are not as it knows them; who cannot is heard all the same."""
        try:
            await sync_commands(self._context, str(self.application_id))
        except (*FAILURES, BotError) as error:
            log.warning("Discord could not be told the commands, and is at the next start: %s", connection_failure(error))

    async def know(self, said: Mapping[str, Any]) -> None:
        """Know the server that an interaction is of as it is, as far as Discord says so in time."""
        number, owners = str(said.get("guild_id") or ""), said.get("authorizing_integration_owners")
        if number.isdecimal() and isinstance(owners, Mapping) and "0" in owners:  # the bot is a member of it
            await self._servers.look(number, str(self.user.id if self.user else ""))

    def _remember(self, told: Any) -> None:
        self._connection.parsers["GUILD_CREATE"](told)  # as where the gateway tells of it

    def _forget(self, number: str) -> None:
        self._connection.parsers["GUILD_DELETE"]({"id": number})

    def interaction(self, said: Mapping[str, Any]) -> "discord.Interaction[Any]":
        """Return what Discord sent, read; raises whatever discord.py does."""
        payload: Any = said
        return discord.Interaction(data=payload, state=self._connection)


class Servers:
    """Asks Discord what a server is like, and has that remembered for a while."""

    def __init__(
        self,
        client: RestClient,
        remember: Callable[[Any], object],
        forget: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`remember` is given a server as the gateway would tell of it, `forget` the number of one."""
        self._client, self._remember, self._forget, self._clock = client, remember, forget, clock
        self._known: OrderedDict[str, float] = OrderedDict()  # when each was asked for
        self._tried: dict[str, float] = {}  # when each was asked for in vain
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def look(self, number: str, me: str) -> None:
        """Have it known as it was a minute ago at most, where Discord does not say in time ten, else not at all."""
        now = self._clock()
        if min(now - self._known.get(number, -math.inf), now - self._tried.get(number, -math.inf)) > _FRESH:
            await asyncio.wait([self._ask(number, me)], timeout=_PATIENCE)
        if number in self._known and now - self._known[number] > _KEPT:
            self._drop(number)

    def _drop(self, number: str) -> None:
        del self._known[number]
        self._forget(number)

    def _ask(self, number: str, me: str) -> "asyncio.Task[None]":
        """Return the task that asks; one at a time for a server, which goes on where nobody waits for it any more."""
        if (asking := self._asking.get(number)) is None:
            asking = self._asking[number] = asyncio.create_task(self._asked(number, me))
            asking.add_done_callback(lambda _: self._asking.pop(number, None))
        return asking

    async def _asked(self, number: str, me: str) -> None:
        at = self._clock()
        try:
            server, channels, threads, member = await asyncio.gather(
                self._client.get_guild(number, with_counts=False),
                self._client.get_all_guild_channels(number),
                self._client.get_active_threads(number),
                self._client.get_member(number, me),
            )
            self._remember({**server, "channels": channels, "threads": threads["threads"], "members": [member]})
        except FAILURES as error:
            log.info("what a server is like is not known: %s", connection_failure(error))
            self._tried = {number: at} if len(self._tried) >= MOST else {**self._tried, number: at}
            return
        self._known[number] = at
        self._known.move_to_end(number)
        if len(self._known) > MOST:
            self._drop(next(iter(self._known)))
