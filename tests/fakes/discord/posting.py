"""Messages: made of a request's body, changed by one, checked for the right to post them."""

import itertools
import time
from collections.abc import Mapping
from datetime import timedelta
from mimetypes import guess_type
from typing import Any

from tests.fakes.discord.mentions import live
from tests.fakes.discord.message_rules import is_empty, merged
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.refusals import Refusal
from tests.fakes.discord.things import Channel, Kind, Message, User, parts_of
from tests.fakes.discord.world import World, Wrong
from tests.fakes.platform import Message as Committed

_FILE = 13  # the type of a component in whose place a file is shown
_KEPT = 4 | 64 | 4096 | 32768  # the flags that a sender may set: no embeds of links, ephemeral, silent, of components


def demand_posting(world: World, channel: Channel, body: Mapping[str, Any], *, files: bool) -> None:
    """Refuse unless the bot may post this there; an archived thread that is not locked is opened by it."""
    if not channel.takes_messages:
        raise Refusal(50008)
    if channel.recipient is not None and channel.recipient.is_closed:
        raise Refusal(50007)
    world.demand(channel, Permission.SEND_MESSAGES_IN_THREADS if channel.is_thread else Permission.SEND_MESSAGES)
    if body.get("embeds"):
        world.demand(channel, Permission.EMBED_LINKS)
    if files:
        world.demand(channel, Permission.ATTACH_FILES)
    if body.get("message_reference"):
        world.demand(channel, Permission.READ_MESSAGE_HISTORY)
    if channel.locked and not world.may(channel, Permission.MANAGE_THREADS):
        raise Refusal(160005)
    if channel.archived_at is not None:
        if world.archived_threads_refuse:
            raise Refusal(50083)
        open_again(world, channel)


def open_again(world: World, thread: Channel) -> None:
    """Let an archived thread be open."""
    thread.archived_at = None
    world.dispatch("THREAD_UPDATE", thread.shape(), guild=thread.guild)


def posted(world: World, channel: Channel, body: Mapping[str, Any], files: Mapping[str, bytes], **more: Any) -> Message:
    """Make the bot's message of a body that was found right, and tell of it."""
    if is_empty(body) and not files:
        raise Refusal(50006)
    message = Message(number(world, more), channel, world.bot, nonce=body.get("nonce"), **more)
    message.flags = (body.get("flags") or 0) & _KEPT | message.flags
    message.reference = int((body.get("message_reference") or {}).get("message_id") or 0)
    fill(world, message, body, files)
    if not message.is_private:
        channel.messages[message.id] = message
        told = (str(channel.id), world.marker(body), message.text, time.time())
        world.committed.append(Committed(str(message.id), *told))
        tell(world, "MESSAGE_CREATE", message)
        world.news.set()
    return message


def number(world: World, more: dict[str, Any]) -> int:
    """Return the identifier that was chosen for the message, otherwise a new one."""
    return int(more.pop("id", 0)) or world.new_id()


def fill(world: World, message: Message, body: Mapping[str, Any], files: Mapping[str, bytes] | None = None) -> None:
    """Give the message what the body says, and leave what it does not name."""
    where = f"message {message.id} in {message.channel.name or message.channel.id}"
    world.mentions += [f"{each} in {where}" for each in live(body)]
    world.wrong += [Wrong(where, f"{'.'.join(map(str, at))}: {what}") for at, what in merged(body.get("embeds") or [])]
    if "content" in body:
        message.content = (body["content"] or "").strip()
    if "embeds" in body:
        message.embeds = [_embed(each) for each in body["embeds"] or []]
    if "components" in body:
        message.components = [component(each) for each in body["components"] or []]
        _number(message.components)
    if files or "attachments" in body:
        _attach(world, message, body.get("attachments") or [], files or {})
    world.wrong += [Wrong(where, f"{name} is shown and not attached") for name in _show_files(message)]


def again(world: World, nonce: str) -> Message | None:
    """Return the bot's message of a few minutes ago with that nonce; refuses when it was deleted since."""
    at, known = world.nonces.get(nonce, (None, None))
    if at is None or known is None or world.clock() - at >= timedelta(seconds=world.behaviour.remembers):
        return None
    if known.is_deleted:
        raise Refusal(10008)
    return known


def tell(world: World, event: str, message: Message) -> None:
    """Tell of a message, in a server or in private."""
    guild = message.channel.guild
    more = {"guild_id": str(guild.id), "member": _member(message)} if guild else {}
    world.dispatch(
        event,
        (message.made() if event == "MESSAGE_CREATE" else message.shape())
        | {"channel_type": int(message.channel.kind)}
        | more,
        guild=guild,
    )


def tell_of_reaction(world: World, event: str, message: Message, emoji: str, user: User) -> None:
    """Tell of a reaction that was added or taken back."""
    guild = message.channel.guild
    said: dict[str, Any] = {"user_id": str(user.id), "channel_id": str(message.channel.id), "message_id": str(message.id)}
    said |= {"emoji": {"id": None, "name": emoji}, "burst": False, "type": 0, "message_author_id": str(message.author.id)}
    if guild is not None:
        said |= {"guild_id": str(guild.id), "member": guild.members[user.id].shape()}
    world.dispatch(event, said, guild=guild)


def _member(message: Message) -> dict[str, Any]:
    guild = message.channel.guild
    assert guild is not None
    found = guild.members.get(message.author.id)
    return {} if found is None else {name: value for name, value in found.shape().items() if name != "user"}


def _embed(embed: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: value for name, value in embed.items() if value not in (None, [])}
    fields = [{"inline": False, **each} for each in said.get("fields", ())]
    return said | {"type": "rich"} | ({"fields": fields} if fields else {})


def component(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a component of a request as it stands in a reply."""
    said = {name: value for name, value in part.items() if value is not None}
    usual: dict[int, dict[str, Any]] = {
        3: {"min_values": 1, "max_values": 1},
        14: {"divider": True, "spacing": 1},
        17: {"accent_color": None, "spoiler": False},
    }
    said = usual.get(said["type"], {}) | said
    said.pop("required", None)
    if "components" in said:
        said["components"] = [component(each) for each in said["components"]]
    if "accessory" in said:
        said["accessory"] = component(said["accessory"])
    return said


def _number(components: list[dict[str, Any]]) -> None:
    taken = {each["id"] for each in parts_of(components) if each.get("id")}
    free = (each for each in itertools.count(1) if each not in taken)
    for each in parts_of(components):
        each["id"] = each.get("id") or next(free)


def _attach(world: World, message: Message, described: list[dict[str, Any]], files: Mapping[str, bytes]) -> None:
    kept = {str(each["id"]) for each in described}
    message.attachments = [each for each in message.attachments if each["id"] in kept]
    names = {str(each["id"]): each.get("filename") for each in described}
    alts = {str(each["id"]): {"description": each["description"]} for each in described if each.get("description")}
    for at, (given, content) in enumerate(files.items()):
        name = names.get(str(at)) or given
        url = f"{world.url}/cdn/attachments/{message.channel.id}/{name}"
        made = {"id": str(world.new_id()), "filename": name, "size": len(content), "url": url, "proxy_url": url}
        made |= {"content_type": guess_type(name)[0] or "application/octet-stream", **alts.get(str(at), {})}
        message.attachments.append(made)
        message.files[name] = content


def _show_files(message: Message) -> list[str]:
    """Give each place of a file the file that it names, and return the names of those that are not attached."""
    there = {f"attachment://{each['filename']}": each for each in message.attachments}
    missing = []
    for item in (each for part in parts_of(message.components) for each in part.get("items", ())):
        place = item["media"]
        item["spoiler"] = item.get("spoiler", False)
        if not place["url"].startswith("attachment://"):
            continue
        if found := there.get(place["url"]):
            place |= {name: found[name] for name in ("id", "url", "proxy_url")} | {"attachment_id": found["id"]}
            place["content_type"] = found["content_type"]
        else:
            missing.append(place["url"])
    for part in parts_of(message.components):
        if part["type"] != _FILE or not part["file"]["url"].startswith("attachment://"):
            continue
        if found := there.get(part["file"]["url"]):
            part["file"] = {name: found[name] for name in ("id", "url", "proxy_url")} | {"attachment_id": found["id"]}
            part |= {"name": found["filename"], "size": found["size"], "spoiler": part.get("spoiler", False)}
        else:
            missing.append(part["file"]["url"])
    return missing


def thread_kind(channel: Channel) -> Kind:
    """Return of which kind a public thread in this channel is."""
    return Kind.ANNOUNCEMENT_THREAD if channel.kind is Kind.ANNOUNCEMENT else Kind.PUBLIC_THREAD
