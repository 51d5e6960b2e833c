"""All that a fake Discord holds, and what tests put into it."""

import asyncio
import base64
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.fakes.discord.permissions import ALL, NONE, USUAL, Permission, allowed
from tests.fakes.discord.refusals import Refusal
from tests.fakes.discord.things import Channel, Guild, Kind, Member, Message, Role, User, number_at
from tests.fakes.platform import Behaviour
from tests.fakes.platform import Message as Committed

if TYPE_CHECKING:
    from tests.fakes.discord.asked import Asked


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something that Discord's rules do not allow: in a request, or in a reply of the fake itself."""

    where: str
    what: str


class World:
    """Servers with their channels and people, the bot among them.

    `clock` may be exchanged; identifiers and the 15 minutes of an interaction follow it.
    """

    def __init__(self, behaviour: Behaviour, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.behaviour = behaviour  # may be changed while it runs
        self.clock = clock
        self.url = ""
        self.wrong: list[Wrong] = []  # a test demands that there is nothing in it
        self.mentions: list[str] = []  # that would have notified somebody
        self.committed: list[Committed] = []  # every message of the bot in a channel, for a judge
        # posts, finds, syncs; again (a known nonce), refused; 429, inside (a Retry-After), too fast, invalid, banned; faults
        self.counts: Counter[str] = Counter()
        self.privileged = 1 << 15  # the privileged intents that are switched on for the application: message content
        self.application_flags = 1 << 19  # which is told here, too
        self.identifies_left = 1000
        self.shards = 1  # recommended
        self.max_concurrency = 1  # shards of other remainders by it may identify at the same time
        self._last = 0
        self.application = self.new_id()
        self.bot = User(self.new_id(), "Broadsheet", bot=True)
        self.token = f"{base64.b64encode(str(self.bot.id).encode()).decode().rstrip('=')}.fake.secret-of-the-bot"
        self.signing_key = Ed25519PrivateKey.generate()  # what goes to the application over HTTP is signed by it
        self.public_key = self.signing_key.public_key().public_bytes_raw().hex()
        self.interactions_endpoint_url = ""  # where interactions go instead of to the gateway
        self.description = "A team's daily paper of papers."
        self.users: dict[int, User] = {self.bot.id: self.bot}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.commands: dict[int, dict[int, dict[str, Any]]] = {}  # by server, 0: everywhere; by their identifiers
        self.installed_by: set[int] = set()  # who installed the bot for themselves
        self.asked: dict[int, Asked] = {}  # every interaction
        self.sending: set[asyncio.Task[Any]] = set()  # those that are on their way over HTTP
        self.read_marker: Callable[[Mapping[str, Any]], str] = lambda _: ""
        self.news = asyncio.Event()  # that the bot has posted
        self.nonces: dict[str, tuple[datetime, Message]] = {}
        self.archived_threads_refuse = False  # a message to an archived thread, instead of opening it again

    def marker(self, body: Mapping[str, Any]) -> str:
        """Return what a message's body is known by to a judge: its nonce, unless it is told otherwise; "" for nothing."""
        return self.read_marker(body) or str(body.get("nonce") or "")

    # --- what tests build

    def new_id(self) -> int:
        """Return an identifier of now, greater than every one before."""
        self._last = max(self._last + 1, number_at(self.clock()))
        return self._last

    def user(self, name: str) -> User:
        """Make a person."""
        user = User(self.new_id(), name)
        self.users[user.id] = user
        return user

    def guild(
        self, name: str, owner: User | None = None, *, permissions: Permission = NONE, number: int | None = None
    ) -> Guild:
        """Make a server that the bot is in; `permissions` is what its own role has beyond what everyone has."""
        number = number or self.new_id()
        everyone = Role(number, "@everyone", USUAL)
        own = Role(self.new_id(), self.bot.name, permissions, position=1, bot=self.bot.id)
        guild = Guild(number, name, owner or self.user("Olga Owner"), {number: everyone, own.id: own})
        self.guilds[number] = guild
        self.join(guild, guild.owner)
        guild.members[self.bot.id] = Member(self.bot, [own.id], self.clock())
        self.dispatch("GUILD_CREATE", guild.event(self.bot, joined=True), guild=guild)
        return guild

    def join(self, guild: Guild, user: User, permissions: Permission = NONE) -> User:
        """Let somebody in, with a role of their own where they may do more than everyone."""
        roles = []
        if permissions:
            role = Role(self.new_id(), f"role of {user.name}", permissions, position=2)
            guild.roles[role.id] = role
            roles.append(role.id)
        guild.members[user.id] = Member(user, roles, self.clock())
        return user

    def channel(
        self,
        guild: Guild,
        name: str,
        kind: Kind = Kind.TEXT,
        *,
        tags: tuple[str, ...] = (),
        tag_required: bool = False,
    ) -> Channel:
        """Make a channel; `tags` are a forum's."""
        known = {self.new_id(): each for each in tags}
        channel = Channel(self.new_id(), kind, name, guild, tags=known, tag_required=tag_required)
        guild.channels[channel.id] = self.channels[channel.id] = channel
        self.dispatch("CHANNEL_CREATE", channel.shape(), guild=guild)
        return channel

    def thread(self, parent: Channel, name: str) -> Channel:
        """Make a thread of the bot's in a channel."""
        guild = parent.guild
        assert guild is not None
        thread = Channel(self.new_id(), Kind.PUBLIC_THREAD, name, guild, parent, owner=self.bot)
        guild.channels[thread.id] = self.channels[thread.id] = thread
        self.dispatch("THREAD_CREATE", thread.shape() | {"newly_created": True}, guild=guild)
        return thread

    def private(self, user: User) -> Channel:
        """Return the private conversation of the bot and this person."""
        for each in self.channels.values():
            if each.recipient is user:
                return each
        channel = Channel(self.new_id(), Kind.PRIVATE, recipient=user)
        self.channels[channel.id] = channel
        return channel

    def let(self, channel: Channel, may: Permission = NONE, may_not: Permission = NONE) -> None:
        """Change what the bot may do in a channel."""
        assert channel.guild is not None
        allow, deny = channel.overwrites.get(self.bot.id, (NONE, NONE))
        allow, deny = (allow | may) & ~may_not & ALL, (deny | may_not) & ~may & ALL
        channel.overwrites[self.bot.id] = (allow, deny)
        self.dispatch("CHANNEL_UPDATE", channel.shape(), guild=channel.guild)

    # --- what handlers ask

    def channel_of(self, number: int) -> Channel:
        """Return the channel; refuses unless the bot sees it."""
        channel = self.channels.get(number)
        if channel is None:
            raise Refusal(10003)
        if not self.may(channel, Permission.VIEW_CHANNEL):
            raise Refusal(50001)
        return channel

    def guild_of(self, number: int) -> Guild:
        """Return the server; refuses unless the bot is in it."""
        guild = self.guilds.get(number)
        if guild is None or self.bot.id not in guild.members:
            raise Refusal(10004)
        return guild

    def message_of(self, channel: Channel, number: int) -> Message:
        """Return the message as the bot may see it in the channel."""
        message = channel.messages.get(number)
        if message is None:
            raise Refusal(10008)
        return message

    def may(self, channel: Channel, permission: Permission) -> bool:
        """Whether the bot may."""
        return permission in allowed(self.bot, channel)

    def demand(self, channel: Channel, *permissions: Permission) -> None:
        """Refuse unless the bot may do all that there."""
        if not all(self.may(channel, each) for each in permissions):
            raise Refusal(50013)

    @property
    def gateway_url(self) -> str:
        return f"{self.url.replace('http', 'ws', 1)}/gateway"

    def dispatch(self, event: str, data: Mapping[str, Any], *, guild: Guild | None = None) -> None:
        """Tell those who listen at the gateway; nobody does here."""
