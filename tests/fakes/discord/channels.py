"""Requests about channels, threads and their messages."""

from datetime import datetime, timedelta
from typing import Any

from tests.fakes.discord.calls import NOTHING, Call, Reply, route
from tests.fakes.discord.description import Flaw
from tests.fakes.discord.message_rules import message_flaws
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.posting import again, demand_posting, fill, posted, tell, tell_of_reaction, thread_kind
from tests.fakes.discord.refusals import Refusal
from tests.fakes.discord.things import CROSSPOSTED, Channel, Kind, Message, when
from tests.fakes.discord.world import World

_CHANNEL = "/channels/{channel_id}"
_MESSAGE = "/channels/{channel_id}/messages/{message_id}"
_REACTION = _MESSAGE + "/reactions/{emoji_name}"


def _right(call: Call) -> list[Flaw]:
    found = message_flaws(call.body)
    nonce = call.body.get("nonce")
    return [*found, (("nonce",), "Must be 25 or fewer in length.")] if nonce is not None and len(str(nonce)) > 25 else found


def _right_post(call: Call) -> list[Flaw]:
    return [(("message", *where), what) for where, what in message_flaws(call.body.get("message") or {})]


@route("GET", _CHANNEL)
async def get_channel(world: World, call: Call) -> Reply:
    return 200, world.channel_of(call.number("channel_id")).shape()


@route("PATCH", _CHANNEL)
async def change_channel(world: World, call: Call) -> Reply:
    """A thread alone is changed by us: opened again, archived, named."""
    channel = world.channel_of(call.number("channel_id"))
    if not channel.is_thread:
        world.demand(channel, Permission.MANAGE_CHANNELS)
        channel.name = call.body.get("name") or channel.name
        return 200, channel.shape()
    opens = call.body.get("archived") is False and call.body.keys() <= {"archived", "auto_archive_duration"}
    is_own = channel.owner is world.bot and not channel.locked
    if not is_own:
        may_open = opens and not channel.locked
        world.demand(channel, Permission.SEND_MESSAGES_IN_THREADS if may_open else Permission.MANAGE_THREADS)
    if channel.archived_at is not None and call.body.get("archived") is not False:
        raise Refusal(50083)
    if "archived" in call.body:
        channel.archived_at = world.clock() if call.body["archived"] else None
    channel.name = call.body.get("name") or channel.name
    if call.body.get("applied_tags") is not None:
        channel.applied = [int(each) for each in call.body["applied_tags"]]
    world.dispatch("THREAD_UPDATE", channel.shape(), guild=channel.guild)
    return 200, channel.shape()


@route("POST", "/channels/{channel_id}/messages", _right, posts=True)
async def create_message(world: World, call: Call) -> Reply:
    channel = world.channel_of(call.number("channel_id"))
    demand_posting(world, channel, call.body, files=bool(call.files))
    nonce = call.body.get("nonce")
    enforced = nonce is not None and call.body.get("enforce_nonce")
    if enforced and (known := again(world, str(nonce))) is not None:
        world.counts["again"] += 1
        return 200, known.made(world.bot)
    message = posted(world, channel, call.body, call.files)
    if enforced:
        world.nonces[str(nonce)] = world.clock(), message
    return 200, message.made(world.bot)


@route("GET", "/channels/{channel_id}/messages")
async def list_messages(world: World, call: Call) -> Reply:
    """Newest first; nothing at all without the right to read the history."""
    world.counts["finds"] += 1
    channel = world.channel_of(call.number("channel_id"))
    limit = int(call.query.get("limit", 50))
    if not 1 <= limit <= 100:
        raise Refusal(50035, flaws=[(("limit",), "Must be between 1 and 100.")])
    if not world.may(channel, Permission.READ_MESSAGE_HISTORY):
        return 200, []
    until = world.clock() - timedelta(seconds=world.behaviour.lag)
    seen = sorted((each for each in channel.messages.values() if when(each.id) <= until), key=lambda each: each.id)
    return 200, [each.shape(world.bot) for each in reversed(_slice(seen, call, limit))]


def _slice(messages: list[Message], call: Call, limit: int) -> list[Message]:
    if "after" in call.query:
        return [each for each in messages if each.id > int(call.query["after"])][:limit]
    if "before" in call.query:
        return [each for each in messages if each.id < int(call.query["before"])][-limit:]
    if "around" in call.query:
        middle = int(call.query["around"])
        near = sorted(messages, key=lambda each: abs(each.id - middle))[:limit]
        return sorted(near, key=lambda each: each.id)
    return messages[-limit:]


@route("GET", _MESSAGE)
async def get_message(world: World, call: Call) -> Reply:
    channel = world.channel_of(call.number("channel_id"))
    world.demand(channel, Permission.READ_MESSAGE_HISTORY)
    return 200, world.message_of(channel, call.number("message_id")).shape(world.bot)


def _own(world: World, call: Call) -> Message:
    message = world.message_of(world.channel_of(call.number("channel_id")), call.number("message_id"))
    if message.author is not world.bot:
        raise Refusal(50005)
    return message


@route("PATCH", _MESSAGE)
async def edit_message(world: World, call: Call) -> Reply:
    message = _own(world, call)
    if message.channel.archived_at is not None:
        raise Refusal(50083)
    return 200, edited(world, message, call).shape(world.bot)


def edited(world: World, message: Message, call: Call) -> Message:
    """Change a message as the request says."""
    flaws = message_flaws(call.body, flags=message.flags | (call.body.get("flags") or 0))
    if flaws:
        raise Refusal(50035, flaws=flaws)
    message.flags |= (call.body.get("flags") or 0) & (4 | 32768)
    fill(world, message, call.body, call.files)
    message.edited_at = world.clock()
    if not message.is_private:
        tell(world, "MESSAGE_UPDATE", message)
    return message


@route("POST", _MESSAGE + "/crosspost")
async def crosspost(world: World, call: Call) -> Reply:
    """A message of an announcement channel is shown where that is followed: one's own by who may write there."""
    channel = world.channel_of(call.number("channel_id"))
    message = world.message_of(channel, call.number("message_id"))
    if channel.kind is not Kind.ANNOUNCEMENT:
        raise Refusal(50024)
    world.demand(channel, Permission.SEND_MESSAGES)
    if message.author is not world.bot:
        world.demand(channel, Permission.MANAGE_MESSAGES)
    if message.flags & CROSSPOSTED:
        raise Refusal(40033)
    message.flags |= CROSSPOSTED
    world.counts["crossposted"] += 1
    tell(world, "MESSAGE_UPDATE", message)
    return 200, message.shape(world.bot)


@route("DELETE", _MESSAGE)
async def delete_message(world: World, call: Call) -> Reply:
    channel = world.channel_of(call.number("channel_id"))
    message = world.message_of(channel, call.number("message_id"))
    if message.author is not world.bot:
        world.demand(channel, Permission.MANAGE_MESSAGES)
    removed(world, message)
    return NOTHING


def removed(world: World, message: Message) -> None:
    """Take a message away."""
    message.is_deleted = True
    message.channel.messages.pop(message.id, None)
    where = {"id": str(message.id), "channel_id": str(message.channel.id)}
    guild = message.channel.guild
    world.dispatch("MESSAGE_DELETE", where | ({"guild_id": str(guild.id)} if guild else {}), guild=guild)


@route("POST", _MESSAGE + "/threads")
async def start_thread(world: World, call: Call) -> Reply:
    """A thread from a message, with the message's identifier."""
    channel = world.channel_of(call.number("channel_id"))
    message = world.message_of(channel, call.number("message_id"))
    if channel.kind not in (Kind.TEXT, Kind.ANNOUNCEMENT):
        raise Refusal(50024)
    world.demand(channel, Permission.CREATE_PUBLIC_THREADS)
    if message.thread is not None:
        raise Refusal(160004)
    message.thread = _thread(world, channel, call.body["name"], number=message.id)
    return 201, message.thread.shape()


@route("POST", "/channels/{channel_id}/threads", _right_post, posts=True)
async def start_post(world: World, call: Call) -> Reply:
    """A post in a forum, with its first message; in another channel a thread without one."""
    channel = world.channel_of(call.number("channel_id"))
    body: dict[str, Any] = call.body
    if channel.kind is not Kind.FORUM:
        world.demand(channel, Permission.CREATE_PUBLIC_THREADS)
        return 201, _thread(world, channel, body["name"]).shape()
    first: dict[str, Any] = body.get("message") or {}
    world.demand(channel, Permission.SEND_MESSAGES)
    applied = [int(each) for each in body.get("applied_tags") or []]
    if channel.tag_required and not applied:
        raise Refusal(40067)
    if not set(applied) <= channel.tags.keys() or len(applied) > 5:
        raise Refusal(50035, flaws=[(("applied_tags",), "No such tag, or more than five.")])
    if channel.moderated.intersection(applied):
        world.demand(channel, Permission.MANAGE_THREADS)
    if first.get("embeds"):
        world.demand(channel, Permission.EMBED_LINKS)
    thread = _thread(world, channel, body["name"])
    thread.applied = applied
    message = posted(world, thread, first, call.files, id=thread.id)
    return 201, thread.shape() | {"message": message.shape(world.bot)}


def _thread(world: World, channel: Channel, name: str, number: int = 0) -> Channel:
    guild = channel.guild
    assert guild is not None
    thread = Channel(number or world.new_id(), thread_kind(channel), name, guild, channel, owner=world.bot)
    guild.channels[thread.id] = world.channels[thread.id] = thread
    world.dispatch("THREAD_CREATE", thread.shape() | {"newly_created": True}, guild=guild)
    return thread


@route("GET", _CHANNEL + "/threads/archived/public")
async def archived_threads(world: World, call: Call) -> Reply:
    channel = world.channel_of(call.number("channel_id"))
    world.demand(channel, Permission.READ_MESSAGE_HISTORY)
    assert channel.guild is not None
    limit = int(call.query.get("limit", 50))
    if not 2 <= limit <= 100:
        raise Refusal(50035, flaws=[(("limit",), "Must be between 2 and 100.")])
    before = datetime.fromisoformat(call.query["before"]) if "before" in call.query else None
    put_away = [(each.archived_at, each) for each in channel.guild.channels.values() if each.parent is channel]
    some = [(at, each) for at, each in put_away if at is not None and (before is None or at < before)]
    some.sort(key=lambda found: found[0], reverse=True)
    page = [each.shape() for _, each in some[:limit]]
    return 200, {"threads": page, "members": [], "has_more": len(some) > limit}


@route("GET", _CHANNEL + "/thread-members/{user_id}")
async def thread_member(world: World, call: Call) -> Reply:
    thread, number = world.channel_of(call.number("channel_id")), call.number("user_id")
    if not thread.is_thread:
        raise Refusal(50024)
    if thread.owner is None or number not in {thread.owner.id, *thread.people}:
        raise Refusal(10007)
    return 200, {"id": str(thread.id), "user_id": str(number), "join_timestamp": when(thread.id).isoformat(), "flags": 1}


@route("POST", _CHANNEL + "/typing")
async def typing(world: World, call: Call) -> Reply:
    world.demand(world.channel_of(call.number("channel_id")), Permission.SEND_MESSAGES)
    return NOTHING


@route("PUT", _REACTION + "/@me")
async def add_reaction(world: World, call: Call) -> Reply:
    channel = world.channel_of(call.number("channel_id"))
    world.demand(channel, Permission.READ_MESSAGE_HISTORY, Permission.ADD_REACTIONS)
    message = world.message_of(channel, call.number("message_id"))
    people = message.reactions.setdefault(call.part["emoji_name"], [])
    if world.bot not in people:
        people.append(world.bot)
        tell_of_reaction(world, "MESSAGE_REACTION_ADD", message, call.part["emoji_name"], world.bot)
    return NOTHING


@route("DELETE", _REACTION + "/@me")
async def remove_reaction(world: World, call: Call) -> Reply:
    message = world.message_of(world.channel_of(call.number("channel_id")), call.number("message_id"))
    people = message.reactions.get(call.part["emoji_name"], [])
    if world.bot in people:
        people.remove(world.bot)
        tell_of_reaction(world, "MESSAGE_REACTION_REMOVE", message, call.part["emoji_name"], world.bot)
    return NOTHING


@route("GET", _REACTION)
async def who_reacted(world: World, call: Call) -> Reply:
    message = world.message_of(world.channel_of(call.number("channel_id")), call.number("message_id"))
    return 200, [each.shape() for each in message.reactions.get(call.part["emoji_name"], [])]
