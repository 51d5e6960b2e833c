"""What every listener in Discord works with: who acts, where, how to answer, and which channels they may know of."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import discord

from adapters.chat.context import ListenerContext
from adapters.chat.seen import SeenEvents
from adapters.discord.client.api import RestClient
from adapters.discord.client.channels import ChannelInfo, Channels
from adapters.discord.client.interactions import Callback
from adapters.discord.listeners.answers import DiscordAnswers
from adapters.discord.workspaces import PLATFORM, guild_of, workspace_of
from bot.commands import Command, Unreadable
from bot.errors import Delayed
from bot.handlers.context import (
    Elsewhere,
    ForumTags,
    HandlerContext,
    KnownTags,
    Obstacle,
    VisibleChannels,
    no_followers,
    no_obstacle,
    no_such_channel,
    no_tags,
    nowhere_else,
)
from bot.handlers.handle import answer
from bot.models import Actor, Reply
from bot.settings.chat import DiscordSettings

_CALLED = {True: "server", False: "conversation"}  # what a workspace is, by whether it is a server
_BEFORE_REPLY = 1.5  # seconds for what a first reply needs; Discord waits for three


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordContext(ListenerContext):
    """What every listener in Discord works with."""

    settings: DiscordSettings
    client: RestClient
    channels: Channels
    answers: DiscordAnswers
    command_ids: dict[str, str]  # by the names of our commands, as Discord gave them; filled when it is told the commands
    seen: SeenEvents | None = None  # what another process may hear, too; None where none can
    telling_commands: asyncio.Lock = field(default_factory=asyncio.Lock)  # held by the client that tells them

    @property
    def handler_context(self) -> HandlerContext:
        """What the handlers work with; who may change things is Discord's own default where the server settled nothing."""
        return replace(self.platform.handler_context, manage=self.settings.manage, workspace_word=_CALLED[True])

    def handlers_of(self, interaction: "DiscordInteraction") -> HandlerContext:
        """Return what the handlers work with for who acted there."""
        return replace(
            self.handler_context,
            visible_channels=interaction.visible_channels,
            obstacle=interaction.obstacle,
            forum_tags=interaction.forum_tags,
            publishing=interaction.publishing,
            elsewhere=interaction.elsewhere,
            workspace_word=_CALLED[guild_of(interaction.actor.workspace) != ""],
        )

    async def acting(self, interaction: "DiscordInteraction", channel: str) -> Actor:
        """Return who acted there, as acting in the channel that is named, "" for that one; raises UsageError."""
        actor = interaction.actor
        return await self.handlers_of(interaction).acting_in(actor, channel) if channel else actor

    async def ask(self, asked: Command | Unreadable, interaction: "DiscordInteraction") -> Reply:
        """Return what the core answers to who acted there, when it is its turn."""
        async with self.turns:
            return await answer(self.handlers_of(interaction), asked, interaction.actor, self.now)

    async def ask_in_message(self, asked: Command | Unreadable, actor: Actor, visible: VisibleChannels, line: str) -> Reply:
        """Return what the core answers to who wrote this line, who may know of those channels, when it is its turn."""
        called = _CALLED[guild_of(actor.workspace) != ""]
        handlers = replace(self.handler_context, visible_channels=visible, workspace_word=called)
        async with self.turns:
            return await answer(handlers, asked, actor, self.now, line)


@dataclass(frozen=True, slots=True)
class DiscordInteraction:
    """Who acted, where, and how to answer."""

    actor: Actor
    callback: Callback
    data: Mapping[str, Any]
    visible_channels: VisibleChannels  # those that this person may know of
    private: bool = False  # what was acted upon is shown to this person alone
    obstacle: Obstacle = no_obstacle  # what keeps us from posting there
    forum_tags: KnownTags = no_tags  # of the forum in which somebody acts
    publishing: Obstacle = no_followers  # what keeps us from publishing there to who follows the channel
    elsewhere: Elsewhere = nowhere_else  # who acted, in another channel of the server
    named: Callable[[str], str] = str  # a text with names in place of mentions


@asynccontextmanager
async def in_time() -> AsyncIterator[None]:
    """Let that take no longer than Discord waits for a first reply after it. Raises Delayed."""
    try:
        async with asyncio.timeout(_BEFORE_REPLY):
            yield
    except TimeoutError as error:
        raise Delayed("That took longer than Discord waits; please try again.") from error


def interaction_of(received: "discord.Interaction[Any]", now: datetime, begun: float | None = None) -> DiscordInteraction:
    """Return who acted and where. Who may manage the channel may administer; so may one alone in a conversation.

    `begun` is when it came, by the monotonic clock, where that is a while ago.
    What a person installed for themselves acts in a workspace of their own, wherever it is used.
    """
    guild = None if _is_personal(received) else received.guild_id
    channel = str(received.channel_id or received.guild_id or received.user.id)
    workspace, allowed = workspace_of(guild, received.user.id), received.permissions
    actor = Actor(
        platform=PLATFORM,
        workspace=workspace,
        channel=channel,
        person=str(received.user.id),
        may_administer=not guild or allowed.manage_channels or allowed.manage_guild or allowed.administrator,
        parent=parent_of(received.channel),
        post=post_of(received.channel),
        is_alone=guild is None,
        is_direct=guild is None,
    )
    callback = Callback(
        id=str(received.id),
        token=received.token,
        application=str(received.application_id),
        workspace=workspace,
        channel=channel,
        person=actor.person,
        at=now,
        begun=time.monotonic() if begun is None else begun,
        is_elsewhere=_is_personal(received) and not received.context.dm_channel,
    )
    private = received.message is not None and received.message.flags.ephemeral
    data: Any = received.data or {}
    return DiscordInteraction(
        actor,
        callback,
        data,
        _visible_channels(received),
        private,
        _obstacle(received),
        _forum_tags(received),
        _publishing(received),
        _elsewhere(received),
        _named_in_text(received),
    )


def parent_of(channel: Any) -> str:
    """Return the channel to which a thread belongs that all see who see that channel; "" for anything else."""
    is_open = isinstance(channel, discord.Thread) and not channel.is_private()
    return str(channel.parent_id) if is_open and channel.parent_id else ""


def post_of(channel: Any) -> str:
    """Return the message that a thread belongs to, as a delivery names it; "" for anything else.

    A thread has the identifier of its message; what a delivery posted in a forum is named by the post, too.
    """
    if not parent_of(channel):
        return ""
    return f"{channel.id}/{channel.id}" if isinstance(channel.parent, discord.ForumChannel) else str(channel.id)


def _is_personal(received: "discord.Interaction[Any]") -> bool:
    """Say whether somebody acted with what they installed for themselves, and no server did."""
    return received.is_user_integration() and not received.is_guild_integration()


_OF_OTHERS = (
    "This is a conversation of others, in which I cannot write; subscribe in a channel, or in a conversation with me."
)


def _obstacle(received: "discord.Interaction[Any]") -> Obstacle:
    """Return what tells why we cannot post where somebody acts.

    Of the channel of an interaction Discord says our permissions with it, of another one the gateway told them.
    """
    channel = received.channel

    async def obstacle(actor: Actor) -> str:
        if actor.place:
            return _obstacle_elsewhere(received, actor.channel)
        is_elsewhere = _is_personal(received) and received.guild_id is not None
        if is_elsewhere or received.context.private_channel or isinstance(channel, discord.GroupChannel):
            return _OF_OTHERS
        if channel is None or not received.guild_id or actor.channel != str(channel.id):
            return ""
        return _obstacle_of(channel, received.app_permissions)

    return obstacle


def _obstacle_of(channel: Any, allowed: discord.Permissions) -> str:
    """Return what keeps us from posting in a channel of a server where that is what we may."""
    info = ChannelInfo(
        id=str(channel.id),
        kind=channel.type.value,
        name=getattr(channel, "name", None) or "",
        guild=str(channel.guild.id),
        allowed=_everything_if_administrator(allowed),
        locked=isinstance(channel, discord.Thread) and channel.locked,
    )
    return info.obstacle


def _obstacle_elsewhere(received: "discord.Interaction[Any]", channel: str) -> str:
    """Return what keeps us from posting there; "" also for what we are not told of, such as a thread that was put away."""
    found = _channel_of(received, channel)
    return _obstacle_of(found, _ours(found)) if found is not None else ""


def _forum_tags(received: "discord.Interaction[Any]") -> KnownTags:
    """Return what tells the tags that we may give, as the gateway told of the forum last."""

    async def known(actor: Actor) -> ForumTags | None:
        channel = _channel_of(received, actor.channel)
        if not isinstance(channel, discord.ForumChannel):
            return None
        ours = _ours(channel)
        moderates = ours.manage_threads or ours.administrator
        names = tuple(each.name for each in channel.available_tags if moderates or not each.moderated)
        return ForumTags(names, channel.flags.require_tag)

    return known


def _publishing(received: "discord.Interaction[Any]") -> Obstacle:
    """Return what tells why nothing can be published there: only an announcement channel has followers."""

    async def publishing(actor: Actor) -> str:
        if not received.guild_id or _is_personal(received):
            return await no_followers(actor)
        channel = received.channel if not actor.place else _channel_of(received, actor.channel)
        if getattr(channel, "type", None) is discord.ChannelType.news:
            return ""
        return f"Discord publishes only from announcement channels, and #{getattr(channel, 'name', '') or '?'} is none."

    return publishing


def _channel_of(received: "discord.Interaction[Any]", channel: str) -> Any:
    """Return a channel or an open thread of the server in which somebody acted; None where it is not known."""
    guild = received.guild
    return guild.get_channel_or_thread(int(channel)) if guild is not None and channel.isdecimal() else None


def _ours(channel: Any) -> discord.Permissions:
    """Return what we may do in a channel, as the gateway told."""
    allowed: discord.Permissions = channel.permissions_for(channel.guild.me)
    return allowed


def _elsewhere(received: "discord.Interaction[Any]") -> Elsewhere:
    """Return what tells who acted as acting in another channel of the server, that they see and we are told of."""

    async def elsewhere(actor: Actor, named: str) -> Actor:
        guild, person = received.guild, received.user
        if guild is None or not isinstance(person, discord.Member) or _is_personal(received):
            return await nowhere_else(actor, named)
        shown = [each for each in _named(received, named) if _is_shown(received, str(each.id))]
        if len(shown) != 1:
            raise no_such_channel(named)
        (channel,) = shown
        allowed = _said_with(received, channel) or channel.permissions_for(person)
        speaks = allowed.send_messages_in_threads if isinstance(channel, discord.Thread) else allowed.send_messages
        return replace(
            actor,
            channel=str(channel.id),
            place=f"#{channel.name}",
            parent=parent_of(channel),
            may_administer=allowed.manage_channels or allowed.manage_guild or allowed.administrator,
            may_write=speaks,
        )

    return elsewhere


def _said_with(received: "discord.Interaction[Any]", channel: Any) -> discord.Permissions | None:
    """Return what who acted may do in a channel that was chosen, as Discord says with a command; None where it does not."""
    data: Any = received.data or {}
    said = ((data.get("resolved") or {}).get("channels") or {}).get(str(channel.id)) or {}
    return discord.Permissions(int(said["permissions"])) if str(said.get("permissions", "")).isdecimal() else None


def _named(received: "discord.Interaction[Any]", name: str) -> list[Any]:
    """Return the channel of that identifier, or those of that name."""
    if (found := _channel_of(received, name)) is not None:
        return [found]
    guild = received.guild
    return [each for each in (*guild.channels, *guild.threads) if each.name == name] if guild is not None else []


_MENTION = re.compile(r"<(@[!&]?|#)(\d{1,20})>")


def _named_in_text(received: "discord.Interaction[Any]") -> Callable[[str], str]:
    """Return what writes a text as the person saw it: Discord sends "<#1>" where they chose #papers, "<@&1>" for @lab.

    What they may not see, and whoever we are not told of, stays as it was sent.
    """
    guild = received.guild

    def named(found: re.Match[str]) -> str:
        sign, number = found[1], int(found[2])
        if sign == "#":
            channel = _channel_of(received, found[2])
            return f"#{channel.name}" if channel is not None and _is_shown(received, found[2]) else found[0]
        if sign == "@&":
            role = guild.get_role(number) if guild is not None else None
            return f"@{role.name}" if role is not None else found[0]
        name = _name_of(received, found[2])
        return f"@{name}" if name else found[0]

    return lambda text: _MENTION.sub(named, text)


def _name_of(received: "discord.Interaction[Any]", person: str) -> str:
    """Return what somebody is called there; "" where that is not known.

    We keep no list of members: the interaction says who acted, and who is mentioned in its texts.
    """
    if person == str(received.user.id):
        return received.user.display_name
    data: Any = received.data or {}
    resolved = data.get("resolved") or {}
    member, user = ((resolved.get(kind) or {}).get(person) or {} for kind in ("members", "users"))
    return str(member.get("nick") or user.get("global_name") or user.get("username") or "")


def _everything_if_administrator(allowed: discord.Permissions) -> int:
    return discord.Permissions.all().value if allowed.administrator else allowed.value


def _visible_channels(received: "discord.Interaction[Any]") -> VisibleChannels:
    """Return what tells those channels apart that who acted may see."""

    async def visible(actor: Actor, channels: Collection[str]) -> Collection[str]:
        if not received.guild_id or _is_personal(received):
            return channels  # of a direct conversation, which is a workspace of its own
        return {each for each in channels if each == actor.channel or _is_shown(received, each)}

    return visible


def _is_shown(received: "discord.Interaction[Any]", channel: str) -> bool:
    """Say whether the person sees the channel; what is gone, and a thread put away, does who manages the server."""
    guild, person = received.guild, received.user
    if guild is None or not isinstance(person, discord.Member):
        return False
    found = guild.get_channel_or_thread(int(channel)) if channel.isdecimal() else None
    if found is None:  # also where the server itself could not be read: what Discord says of the person stands
        return received.permissions.manage_guild or received.permissions.administrator
    allowed = found.permissions_for(person)
    closed = isinstance(found, discord.Thread) and found.is_private() and not allowed.manage_threads
    return allowed.view_channel and not closed
