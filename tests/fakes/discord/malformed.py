"""An event of every kind as Discord sends it, to be made malformed."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.discord.fake import FakeDiscord
from tests.fakes.discord.things import Channel, Guild, User


def events(fake: FakeDiscord, guild: Guild, channel: Channel, user: User) -> Mapping[str, Any]:
    """Return what each event carries that is of that server, by its name; RESUMED and what Discord adds one day too."""
    where = {"guild_id": str(guild.id), "channel_id": str(channel.id)}
    member = guild.members[user.id].shape()
    role = {"guild_id": where["guild_id"], "role": guild.roles[guild.id].shape()}
    gone = {"guild_id": where["guild_id"], "role_id": str(guild.id)}
    reaction = where | {"user_id": str(user.id), "message_id": "7", "emoji": {"id": None, "name": "👍"}, "member": member}
    thread = channel.shape() | {
        "type": 11,
        "parent_id": str(channel.id),
        "owner_id": str(user.id),
        "message_count": 1,
        "member_count": 1,
        "thread_metadata": {
            "archived": False,
            "archive_timestamp": "2026-04-01T00:00:00+00:00",
            "auto_archive_duration": 60,
        },
    }
    message: dict[str, Any] = {
        **where,
        "id": "7",
        "type": 0,
        "author": user.shape(),
        "member": {name: value for name, value in member.items() if name != "user"},
        "content": "hello",
        "timestamp": "2026-04-01T00:00:00+00:00",
        "edited_timestamp": None,
        "embeds": [{"type": "rich", "title": "T", "fields": [{"name": "a", "value": "b"}]}],
        "components": [{"type": 1, "components": [{"type": 2, "style": 1, "label": "L", "custom_id": "c"}]}],
        "attachments": [],
        "mentions": [],
        "mention_roles": [],
        "mention_everyone": False,
        "pinned": False,
        "tts": False,
        "flags": 0,
    }
    return {
        "READY": ready(fake, guild),
        "RESUMED": {},
        "GUILD_CREATE": guild.event(fake.bot),
        "GUILD_UPDATE": guild.shape(),
        "GUILD_ROLE_CREATE": role,
        "GUILD_ROLE_UPDATE": role,
        "GUILD_ROLE_DELETE": gone,
        "GUILD_MEMBER_UPDATE": member | {"guild_id": where["guild_id"]},
        "GUILD_MEMBERS_CHUNK": {"guild_id": where["guild_id"], "members": [member], "chunk_index": 0, "chunk_count": 1},
        "GUILD_EMOJIS_UPDATE": {"guild_id": where["guild_id"], "emojis": [{"id": "5", "name": "e", "roles": []}]},
        "CHANNEL_CREATE": channel.shape(),
        "CHANNEL_UPDATE": channel.shape(),
        "CHANNEL_PINS_UPDATE": where | {"last_pin_timestamp": "2026-04-01T00:00:00+00:00"},
        "THREAD_CREATE": thread,
        "THREAD_UPDATE": thread,
        "THREAD_DELETE": {name: thread[name] for name in ("id", "guild_id", "parent_id", "type")},
        "THREAD_LIST_SYNC": {"guild_id": where["guild_id"], "channel_ids": [], "threads": [thread], "members": []},
        "MESSAGE_CREATE": message,
        "MESSAGE_UPDATE": message,
        "MESSAGE_DELETE": where | {"id": "7"},
        "MESSAGE_REACTION_ADD": reaction,
        "MESSAGE_REACTION_REMOVE": reaction,
        "WEBHOOKS_UPDATE": where,
        "ENTITLEMENT_CREATE": {"id": "5", "sku_id": "6", "application_id": "8", "type": 8, "deleted": False},
        "SOMETHING_NEW": where,
    }


def ready(fake: FakeDiscord, guild: Guild) -> dict[str, Any]:
    """Return what a session begins with."""
    return {
        "v": 10,
        "user": fake.bot.shape() | {"mfa_enabled": False, "verified": True, "email": None},
        "guilds": [{"id": str(guild.id), "unavailable": True}],
        "session_id": next(iter(fake.gateway.sessions)),
        "resume_gateway_url": fake.gateway_url,
        "shard": [0, 1],
        "application": {"id": str(fake.application), "flags": fake.application_flags},
    }
