"""Where something is to be posted: what kind of channel it is, and which permissions are missing there."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discord import Permissions
from discord.errors import HTTPException, NotFound

from adapters.discord.client.api import RestClient

_FRESH = 600.0  # seconds for which a channel is taken to be as it was
_KEPT = 10_000  # channels
_RULED = 5.0  # seconds for which a server's roles are taken to be as they were: many channels of one are asked about at once
FORUMS = frozenset({15, 16})  # forum and media channels hold posts, and no messages of their own
THREADS = frozenset({10, 11, 12})
_NO_MEMBER = frozenset({10007, 10013})  # Discord's codes: Unknown Member, Unknown User
_NO_CHANNEL = frozenset({10003, 50001})  # Unknown Channel, Missing Access
_PRIVATE_THREAD = 12
_THREADS = 20  # that are asked about for one person: what hangs in a channel is not listed with them
DIRECT = frozenset({1, 3})
TEXTUAL = frozenset({0, 2, 5, 13})  # channels that take messages themselves: text, voice, announcements, stages
NO_MESSAGES = "The channel takes no messages; subscribe in a text channel, a thread or a forum."
_ADMINISTRATOR = Permissions(administrator=True).value
_READ = Permissions(view_channel=True, read_message_history=True).value  # what was posted before one came, too
_MANAGE_THREADS = Permissions(manage_threads=True).value

# The permissions that matter here, by their bit, as Discord's settings name them.
NAMES: Mapping[int, str] = {
    Permissions(view_channel=True).value: "View Channel",
    Permissions(send_messages=True).value: "Send Messages",
    Permissions(send_messages_in_threads=True).value: "Send Messages in Threads",
    Permissions(create_public_threads=True).value: "Create Public Threads",
    Permissions(read_message_history=True).value: "Read Message History",
    Permissions(attach_files=True).value: "Attach Files",
}


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """A channel, a thread, a forum or a direct conversation."""

    id: str
    kind: int  # Discord's channel type
    name: str
    guild: str  # "" for a direct conversation
    parent: str = ""
    tags: tuple[tuple[str, str], ...] = ()  # (name, id) of those of a forum's that we may give
    allowed: int = 0  # permissions that we have there
    locked: bool = False  # a thread in which moderators alone write

    @property
    def is_forum(self) -> bool:
        """Whether each message is to be a post of its own."""
        return self.kind in FORUMS

    @property
    def is_thread(self) -> bool:
        """Whether it hangs in another channel."""
        return self.kind in THREADS

    @property
    def unreadable(self) -> tuple[str, ...]:
        """The names of the permissions that we lack to look back here; who may not post may look all the same."""
        return () if self.kind in DIRECT else self._lacking(Permissions(view_channel=True, read_message_history=True))

    def missing(self, *, thread: bool = False) -> tuple[str, ...]:
        """Return the names of the permissions that we lack to post here, or in a thread of it."""
        if self.kind in DIRECT:
            return ()
        needed = Permissions(view_channel=True)
        in_thread = thread or self.is_thread
        needed.send_messages_in_threads = in_thread
        needed.send_messages = not in_thread or self.is_forum
        needed.create_public_threads = thread and not self.is_forum
        return self._lacking(needed)

    def _lacking(self, needed: Permissions) -> tuple[str, ...]:
        return tuple(name for bit, name in NAMES.items() if needed.value & bit and not self.allowed & bit)

    @property
    def obstacle(self) -> str:
        """What keeps us from posting a digest here, with all of its parts, as a sentence; "" where nothing does."""
        if self.kind not in TEXTUAL | THREADS | FORUMS | DIRECT:
            return NO_MESSAGES
        if missing := self.missing(thread=self.is_forum):
            return self.needs(missing)
        if self.locked and not self.allowed & _MANAGE_THREADS:
            return "The thread is locked; unlock it, or subscribe in another channel."
        return ""

    def needs(self, missing: Sequence[str]) -> str:
        """Return the sentence that asks for these permissions here."""
        return f"I need {' and '.join(f'*{each}*' for each in missing)} in #{self.name}."


class Channels:
    """Asks Discord what a channel is, and remembers it for ten minutes."""

    def __init__(self, client: RestClient) -> None:
        self._client = client
        self._known: dict[str, tuple[float, ChannelInfo]] = {}
        self._me = ""
        self._roles: dict[tuple[str, str], tuple[float, Any, Any]] = {}  # by server and member: until when, and both

    async def get(self, channel: str) -> ChannelInfo:
        """Return what the channel is, and what we may do there; raises as RestClient.request."""
        known = self._known.get(channel)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        info = await self._asked(channel)
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[channel] = (time.monotonic() + _FRESH, info)
        return info

    def cached(self, channel: str) -> ChannelInfo | None:
        """Return what is known of the channel without asking."""
        known = self._known.get(channel)
        return known[1] if known is not None and known[0] > time.monotonic() else None

    def forget(self, channel: str) -> None:
        """Ask again the next time."""
        self._known.pop(channel, None)

    async def _asked(self, channel: str) -> ChannelInfo:
        found: Any = await self._client.get_channel(channel)
        guild = str(found.get("guild_id") or "")
        ruling = found
        if found["type"] in THREADS and found.get("parent_id"):
            ruling = await self._client.get_channel(found["parent_id"])  # a thread has its parent's permissions
        allowed = await self._allowed(guild, ruling) if guild else 0
        return ChannelInfo(
            channel,
            int(found["type"]),
            str(found.get("name") or ""),
            guild,
            str(found.get("parent_id") or ""),
            _tags(found, moderates=bool(allowed & _MANAGE_THREADS)),
            allowed,
            bool((found.get("thread_metadata") or {}).get("locked")),
        )

    async def own_id(self) -> str:
        """Return our own identifier; raises as RestClient.request."""
        if not self._me:
            from discord.http import Route

            self._me = str((await self._client.request(Route("GET", "/users/@me")))["id"])
        return self._me

    async def seen_by(self, guild: str, person: str, channels: Collection[str]) -> set[str]:
        """Return those of the channels of the server that one of its members may read, with their history; for "" everybody.

        A private thread is read by who is in it or manages threads, and counts as gone where we see it not. Raises as
        RestClient.request.
        """
        if person and not await self.is_member(guild, person):
            return set()
        rulings = {str(each["id"]): each for each in await self._client.get_all_guild_channels(guild)}
        private = set()
        for thread in sorted(set(channels) - set(rulings))[:_THREADS]:
            found = await self._thread(thread)
            if (parent := str(found.get("parent_id") or "")) in rulings:
                rulings[thread] = rulings[parent]
                private |= {thread} if found["type"] == _PRIVATE_THREAD else set()
        allowed = {each: await self._allowed(guild, rulings[each], person) for each in channels if each in rulings}
        readable = {each for each, what in allowed.items() if what & _READ == _READ}
        shut = {each for each in readable & private if not allowed[each] & _MANAGE_THREADS or not person}
        return readable - {each for each in shut if not (person and await self._is_in_thread(each, person))}

    async def is_member(self, guild: str, person: str) -> bool:
        """Return whether somebody is in the server, as of seconds ago. Raises as RestClient.request."""
        try:
            await self._server(guild, person)
        except HTTPException as error:
            if error.code not in _NO_MEMBER:
                raise
            return False
        return True

    async def _thread(self, thread: str) -> Mapping[str, Any]:
        """Return a thread as Discord shows it, nothing of anything else."""
        try:
            found: Any = await self._client.get_channel(thread)
        except HTTPException as error:
            if error.code not in _NO_CHANNEL:
                raise
            return {}
        return found if found["type"] in THREADS else {}

    async def _is_in_thread(self, thread: str, person: str) -> bool:
        try:
            await self._client.get_thread_member(thread, person)
        except NotFound:  # docs.discord.com/developers/resources/channel#get-thread-member
            return False
        return True

    async def _allowed(self, guild: str, channel: Mapping[str, Any], person: str | None = None) -> int:
        """Return our permissions, or a member's, as docs.discord.com/developers/topics/permissions works them out.

        For "" those that everybody has in the server.
        """
        who = await self.own_id() if person is None else person
        server, member = await self._server(guild, who)
        if who and str(server.get("owner_id")) == who:
            return Permissions.all().value
        roles = {guild, *map(str, member.get("roles", ()))}
        base = 0
        for role in server.get("roles", ()):
            base |= int(role["permissions"]) if str(role["id"]) in roles else 0
        return Permissions.all().value if base & _ADMINISTRATOR else _overwritten(base, channel, guild, roles, who)

    async def _server(self, guild: str, who: str) -> tuple[Any, Any]:
        """Return the server and a member of it, as they were seconds ago at most."""
        until, server, member = self._roles.get((guild, who), (0.0, None, None))
        if until <= time.monotonic():
            asked = time.monotonic()
            server = await self._client.get_guild(guild, with_counts=False)
            has_roles = who and str(server.get("owner_id")) != who
            member = await self._client.get_member(guild, who) if has_roles else {}
            if len(self._roles) >= _KEPT:
                self._roles.clear()
            self._roles[guild, who] = (asked + _RULED, server, member)
        return server, member


def _tags(channel: Mapping[str, Any], *, moderates: bool) -> tuple[tuple[str, str], ...]:
    """Return a forum's tags but those that moderators alone give, unless we are one."""
    ours = (tag for tag in channel.get("available_tags") or () if moderates or not tag.get("moderated"))
    return tuple((str(tag["name"]), str(tag["id"])) for tag in ours)


def _overwritten(base: int, channel: Mapping[str, Any], guild: str, roles: set[str], me: str) -> int:
    """Apply the channel's exceptions: everybody's, then those of our roles together, then our own."""
    exceptions = {
        str(each["id"]): (int(each["allow"]), int(each["deny"])) for each in channel.get("permission_overwrites") or ()
    }
    allow, deny = exceptions.get(guild, (0, 0))
    base = base & ~deny | allow
    ours = [exceptions[role] for role in roles - {guild} if role in exceptions]
    for _, deny in ours:
        base &= ~deny
    for allow, _ in ours:
        base |= allow
    allow, deny = exceptions.get(me, (0, 0))
    return base & ~deny | allow
