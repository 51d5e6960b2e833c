"""What somebody may do in a channel, computed as Discord's documentation says (topics/permissions)."""

from enum import IntFlag
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fakes.discord.things import Channel, Guild, User


class Permission(IntFlag):
    """The permissions that are looked at here, by Discord's bits."""

    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_EXTERNAL_EMOJIS = 1 << 18
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38


NONE = Permission(0)
ALL = Permission((1 << 53) - 1)
# What a new server lets everyone do, and what is allowed in a private conversation.
USUAL = (
    Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.ADD_REACTIONS
    | Permission.USE_APPLICATION_COMMANDS
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.SEND_MESSAGES_IN_THREADS
)


def everywhere(user: "User", guild: "Guild") -> Permission:
    """Return what a member may do in a server, before what single channels say."""
    found = guild.roles[guild.id].permissions
    for role in guild.members[user.id].roles:
        found |= guild.roles[role].permissions
    return ALL if guild.owner is user or found & Permission.ADMINISTRATOR else found


def allowed(user: "User", channel: "Channel") -> Permission:
    """Return what the user may do there; a thread's permissions are those of the channel it is in.

    A private one is there for who is in it or manages threads (docs.discord.com/developers/topics/threads#private-threads).
    """
    found = _by_roles(user, channel)
    is_closed = channel.is_private_thread and not channel.holds(user) and Permission.MANAGE_THREADS not in found
    return NONE if is_closed else found


def _by_roles(user: "User", channel: "Channel") -> Permission:
    guild = channel.guild
    if guild is None:
        return USUAL
    member = guild.members.get(user.id)
    if member is None:
        return NONE
    place = channel.parent if channel.is_thread and channel.parent is not None else channel
    found = guild.roles[guild.id].permissions
    for role in member.roles:
        found |= guild.roles[role].permissions
    if guild.owner is user or found & Permission.ADMINISTRATOR:
        return ALL
    return _overwritten(found, place, guild.id, member.roles, user.id)


def _overwritten(found: Permission, place: "Channel", everyone: int, roles: list[int], user: int) -> Permission:
    none = (NONE, NONE)
    allow, deny = place.overwrites.get(everyone, none)
    found = found & ~deny | allow
    of_roles = [place.overwrites[each] for each in roles if each in place.overwrites]
    for _, deny in of_roles:
        found &= ~deny
    for allow, _ in of_roles:
        found |= allow
    allow, deny = place.overwrites.get(user, none)
    found = found & ~deny | allow
    return found if found & Permission.VIEW_CHANNEL else NONE
