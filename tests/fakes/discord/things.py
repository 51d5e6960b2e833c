"""What Discord holds: people, servers, channels, messages, and each as it stands in a reply."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Any

from tests.fakes.discord.permissions import Permission

EPOCH = datetime(2015, 1, 1, tzinfo=UTC)  # of Discord's identifiers
CROSSPOSTED = 1 << 0
EPHEMERAL = 1 << 6
LOADING = 1 << 7
V2 = 1 << 15


def when(number: int) -> datetime:
    """Return when the thing of that identifier was made."""
    return EPOCH + timedelta(milliseconds=number >> 22)


def number_at(instant: datetime) -> int:
    """Return the least identifier of that instant."""
    return int((instant - EPOCH) / timedelta(milliseconds=1)) << 22


class Kind(IntEnum):
    """The types of channels."""

    TEXT = 0
    PRIVATE = 1
    VOICE = 2
    GROUP = 3
    CATEGORY = 4
    ANNOUNCEMENT = 5
    ANNOUNCEMENT_THREAD = 10
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15


@dataclass(slots=True, eq=False)
class User:
    """A person, or the bot."""

    id: int
    name: str
    bot: bool = False
    is_closed: bool = False  # takes no private messages
    locale: str = "en-GB"

    def shape(self) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "username": self.name.lower().replace(" ", "."),
            "global_name": None if self.bot else self.name,
            "discriminator": "0",
            "avatar": None,
            "public_flags": 0,
            "flags": 0,
            "primary_guild": None,
            **({"bot": True} if self.bot else {}),
        }


@dataclass(slots=True, eq=False)
class Role:
    """A role of a server; that of everyone has the server's identifier."""

    id: int
    name: str
    permissions: Permission
    position: int = 0
    bot: int = 0  # whose own role it is

    def shape(self) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "name": self.name,
            "permissions": str(int(self.permissions)),
            "position": self.position,
            "color": 0,
            "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
            "hoist": False,
            "managed": bool(self.bot),
            "mentionable": False,
            "icon": None,
            "unicode_emoji": None,
            "flags": 0,
            **({"tags": {"bot_id": str(self.bot)}} if self.bot else {}),
        }


@dataclass(slots=True, eq=False)
class Member:
    """Somebody in a server."""

    user: User
    roles: list[int]
    joined: datetime
    nick: str = ""

    def shape(self) -> dict[str, Any]:
        return {
            "user": self.user.shape(),
            "roles": [str(each) for each in self.roles],
            "joined_at": self.joined.isoformat(),
            "nick": self.nick or None,
            "avatar": None,
            "banner": None,
            "communication_disabled_until": None,
            "flags": 0,
            "pending": False,
            "premium_since": None,
            "mute": False,
            "deaf": False,
        }


@dataclass(slots=True, eq=False)
class Channel:
    """A channel, a thread or a private conversation."""

    id: int
    kind: Kind
    name: str = ""
    guild: "Guild | None" = None
    parent: "Channel | None" = None
    overwrites: dict[int, tuple[Permission, Permission]] = field(default_factory=dict)  # allow and deny, by role or person
    tags: dict[int, str] = field(default_factory=dict)  # of a forum
    tag_required: bool = False
    moderated: set[int] = field(default_factory=set)  # those of the tags that only who manages threads gives
    applied: list[int] = field(default_factory=list)  # tags, of a post in a forum
    owner: User | None = None  # of a thread
    recipient: User | None = None  # of a private conversation
    archived_at: datetime | None = None
    locked: bool = False
    people: set[int] = field(default_factory=set)  # who is in a thread, besides its owner
    messages: dict[int, "Message"] = field(default_factory=dict)

    @property
    def is_thread(self) -> bool:
        return self.kind in (Kind.ANNOUNCEMENT_THREAD, Kind.PUBLIC_THREAD, Kind.PRIVATE_THREAD)

    @property
    def is_private_thread(self) -> bool:
        return self.kind is Kind.PRIVATE_THREAD

    def holds(self, user: User) -> bool:
        """Whether somebody is in the thread."""
        return user is self.owner or user.id in self.people

    @property
    def takes_messages(self) -> bool:
        return self.kind not in (Kind.CATEGORY, Kind.FORUM)

    @property
    def last(self) -> str | None:
        return str(max(self.messages)) if self.messages else None

    def shape(self) -> dict[str, Any]:
        said: dict[str, Any] = {"id": str(self.id), "type": int(self.kind), "flags": 0, "last_message_id": self.last}
        if self.guild is None:
            return said | {"recipients": [self.recipient.shape()] if self.recipient else []}
        said |= {"guild_id": str(self.guild.id), "name": self.name, "rate_limit_per_user": 0}
        return said | (self._as_thread() if self.is_thread else self._as_channel())

    def _as_channel(self) -> dict[str, Any]:
        said: dict[str, Any] = {
            "position": 0,
            "parent_id": str(self.parent.id) if self.parent else None,
            "nsfw": False,
            "topic": None,
            "permission_overwrites": [
                {"id": str(who), "type": self._who(who), "allow": str(int(allow)), "deny": str(int(deny))}
                for who, (allow, deny) in self.overwrites.items()
            ],
        }
        if self.kind is Kind.VOICE:
            said |= {"bitrate": 64_000, "user_limit": 0, "rtc_region": None}
        if self.kind is Kind.FORUM:
            tags = [
                {
                    "id": str(number),
                    "name": name,
                    "moderated": number in self.moderated,
                    "emoji_id": None,
                    "emoji_name": None,
                }
                for number, name in self.tags.items()
            ]
            said |= {"available_tags": tags, "flags": 16 if self.tag_required else 0, "default_reaction_emoji": None}
            said |= {"default_sort_order": None, "default_forum_layout": 0}
        return said

    def _who(self, number: int) -> int:
        return 0 if self.guild is not None and number in self.guild.roles else 1

    def _as_thread(self) -> dict[str, Any]:
        many = len(self.messages)
        metadata = {
            "archived": self.archived_at is not None,
            "archive_timestamp": (self.archived_at or when(self.id)).isoformat(),
            "auto_archive_duration": 4320,
            "locked": self.locked,
            "create_timestamp": when(self.id).isoformat(),
        }
        return {
            "parent_id": str(self.parent.id) if self.parent else None,
            "owner_id": str(self.owner.id) if self.owner else "0",
            "thread_metadata": metadata,
            "message_count": many,
            "total_message_sent": many,
            "member_count": 1 + len(self.people),
            "applied_tags": [str(each) for each in self.applied],
        }


@dataclass(slots=True, eq=False)
class Message:
    """What was posted."""

    id: int
    channel: Channel
    author: User
    content: str = ""
    embeds: list[dict[str, Any]] = field(default_factory=list)
    components: list[dict[str, Any]] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)  # by their names
    flags: int = 0
    nonce: str | int | None = None
    webhook: int | None = None  # the application, for what came by an interaction
    answers: dict[str, Any] | None = None  # interaction_metadata
    reference: int | None = None
    edited_at: datetime | None = None
    reactions: dict[str, list[User]] = field(default_factory=dict)
    thread: Channel | None = None
    is_deleted: bool = False

    @property
    def is_private(self) -> bool:
        """Whether one person alone sees it."""
        return bool(self.flags & EPHEMERAL)

    @property
    def texts(self) -> list[str]:
        """What a reader sees of it, in the order in which it stands there."""
        found = [self.content] if self.content else []
        for each in self.embeds:
            fields = [part for one in each.get("fields", ()) for part in (one["name"], one["value"])]
            parts = [each.get("author", {}).get("name"), each.get("title"), each.get("description"), *fields]
            found += [part for part in (*parts, each.get("footer", {}).get("text")) if part]
        return found + [each["content"] for each in parts_of(self.components) if each["type"] == 10]

    @property
    def text(self) -> str:
        """What a reader sees, as one text."""
        return "\n".join(self.texts)

    @property
    def buttons(self) -> list[dict[str, Any]]:
        return [each for each in parts_of(self.components) if each["type"] == 2]

    @property
    def selects(self) -> list[dict[str, Any]]:
        return [each for each in parts_of(self.components) if each["type"] in (3, 5, 6, 7, 8)]

    def made(self, reader: User | None = None) -> dict[str, Any]:
        """Return it as who posted it is told of it; it is not documented that others, or he later, see the nonce."""
        return self.shape(reader) | ({} if self.nonce is None else {"nonce": self.nonce})

    def shape(self, reader: User | None = None) -> dict[str, Any]:
        said: dict[str, Any] = {
            "id": str(self.id),
            "channel_id": str(self.channel.id),
            "type": 20 if self.answers and self.answers.get("type") == 2 else 0,
            "author": self.author.shape(),
            "content": self.content,
            "embeds": self.embeds,
            "components": self.components,
            "attachments": self.attachments,
            "mentions": [],
            "mention_roles": [],
            "mention_everyone": False,
            "timestamp": when(self.id).isoformat(),
            "edited_timestamp": self.edited_at.isoformat() if self.edited_at else None,
            "flags": self.flags,
            "pinned": False,
            "tts": False,
        }
        if self.webhook:
            said |= {"webhook_id": str(self.webhook), "application_id": str(self.webhook)}
        if self.answers:
            said["interaction_metadata"] = self.answers
        if self.reference:
            said["message_reference"] = {"type": 0, "channel_id": str(self.channel.id), "message_id": str(self.reference)}
        if self.thread:
            said["thread"] = self.thread.shape()
        if self.reactions:
            said["reactions"] = [_reaction(name, people, reader) for name, people in self.reactions.items()]
        return said


def _reaction(name: str, people: list[User], reader: User | None) -> dict[str, Any]:
    many = len(people)
    counts = {"burst": 0, "normal": many}
    said = {"emoji": {"id": None, "name": name}, "count": many, "count_details": counts, "burst_colors": []}
    return said | {"me": reader in people, "me_burst": False}


def parts_of(components: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every component with all that stands in it, in reading order."""
    found = []
    for each in components:
        inner = [*each.get("components", ())] + [each[name] for name in ("accessory", "component") if each.get(name)]
        found += [each, *parts_of(inner)]
    return found


@dataclass(slots=True, eq=False)
class Guild:
    """A server."""

    id: int
    name: str
    owner: User
    roles: dict[int, Role]
    members: dict[int, Member] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)  # threads too
    is_gone: bool = False  # the bot is not in it any more
    system: "Channel | None" = None  # where Discord itself says who came

    def shape(self) -> dict[str, Any]:
        nothing = dict.fromkeys(
            (
                *("icon", "description", "home_header", "splash", "discovery_splash", "banner", "application_id"),
                *("afk_channel_id", "widget_channel_id", "max_presences", "vanity_url_code"),
                *("rules_channel_id", "safety_alerts_channel_id", "public_updates_channel_id", "incidents_data"),
            )
        )
        zero = dict.fromkeys(
            (
                *("system_channel_flags", "verification_level", "default_message_notifications", "mfa_level"),
                *("explicit_content_filter", "premium_tier", "premium_subscription_count", "nsfw_level"),
            ),
            0,
        )
        return {
            "id": str(self.id),
            "name": self.name,
            "system_channel_id": str(self.system.id) if self.system else None,
            "owner_id": str(self.owner.id),
            "features": [],
            "region": "deprecated",
            "afk_timeout": 300,
            "widget_enabled": False,
            "roles": [each.shape() for each in self.roles.values()],
            "max_members": 500_000,
            "max_stage_video_channel_users": 50,
            "max_video_channel_users": 25,
            "preferred_locale": "en-GB",
            "premium_progress_bar_enabled": False,
            "nsfw": False,
            "emojis": [],
            "stickers": [],
            **nothing,
            **zero,
        }

    def event(self, bot: User, *, joined: bool = False) -> dict[str, Any]:
        """Return it as the gateway tells of it: of one that the bot has just joined without saying that it is there, by
        which discord.py tells a join from the end of an outage (`ConnectionState.parse_guild_create`).
        """
        places = [each for each in self.channels.values() if not each.is_thread]
        threads = [each for each in self.channels.values() if each.is_thread and each.archived_at is None]
        return self.shape() | {
            "joined_at": self.members[bot.id].joined.isoformat(),
            "large": False,
            **({} if joined else {"unavailable": False}),
            "member_count": len(self.members),
            "voice_states": [],
            "members": [self.members[bot.id].shape()],
            "channels": [each.shape() for each in places],
            "threads": [each.shape() for each in threads],
            "presences": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
        }
