"""chat.*: docs.slack.dev/reference/methods."""

import re

from tests.fakes.slack import blocks
from tests.fakes.slack.call import Call
from tests.fakes.slack.state import Channel, Json, Message
from tests.fakes.slack.world import World
from tests.fakes.slack.wrong import Wrong

_METADATA = 8000  # characters of it as JSON


def post_message(world: World, call: Call) -> Json:
    args = call.args
    channel = world.writable(call.grant, args["channel"])
    _check(args)
    thread = args.get("thread_ts", "")
    if thread and world.message(channel, thread) is None:
        raise Wrong("thread_not_found")
    message = world.post(_made(world, channel, call))
    message.metadata, message.thread = args.get("metadata"), thread
    return {"channel": channel.id, "ts": message.ts, "message": message.shown()}


def post_ephemeral(world: World, call: Call) -> Json:
    channel = world.writable(call.grant, call.args["channel"])
    if call.args["user"] not in channel.members:
        raise Wrong("user_not_in_channel")
    _check(call.args)
    message, thread = _made(world, channel, call), call.args.get("thread_ts", "")
    message.shown_to, message.thread = call.args["user"], thread
    # "Ephemeral messages in threads are only shown if there is already an active thread": chat.postEphemeral.
    message.is_unseen = bool(thread) and not any(each.thread == thread and not each.shown_to for each in channel.messages)
    world.post(message)
    return {"message_ts": message.ts}


def update(world: World, call: Call) -> Json:
    channel, message = _own(world, call)
    window = world.teams[channel.team].edit_window
    if window is not None and world.now - message.at > window:
        raise Wrong("edit_window_closed")
    _check(call.args)
    message.text = call.args.get("text", message.text)
    message.blocks = call.args.get("blocks", message.blocks if "text" not in call.args else ())
    message.metadata = call.args.get("metadata", message.metadata) or None  # {} takes it away
    message.is_edited = True
    message.asked = call.args
    world.touch(message)
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": message.shown()}


def delete(world: World, call: Call) -> Json:
    channel, message = _own(world, call)
    message.is_deleted = True
    world.touch(message)
    return {"channel": channel.id, "ts": message.ts}


def unfurl(world: World, call: Call) -> Json:
    channel = world.channel(call.grant, call.args["channel"])
    message = world.message(channel, call.args["ts"])
    if message is None:
        raise Wrong("cannot_find_message")
    for url, card in call.args["unfurls"].items():
        if url not in message.text:
            raise Wrong("cannot_unfurl_url")
        blocks.check_message(card.get("text", ""), card.get("blocks", []))
        message.unfurls[url] = card
    world.touch(message)
    return {}


def get_permalink(world: World, call: Call) -> Json:
    channel = world.channel(call.grant, call.args["channel"])
    message = world.message(channel, call.args["message_ts"])
    if message is None:
        raise Wrong("message_not_found")
    domain = world.teams[channel.team].domain
    where = f"https://{domain}.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}"
    return {"channel": channel.id, "permalink": where}


def _own(world: World, call: Call) -> tuple[Channel, Message]:
    channel = world.channel(call.grant, call.args["channel"])
    message = world.message(channel, call.args["ts"])
    if message is None or message.is_deleted:
        raise Wrong("message_not_found")
    if message.user != world.team_in(call.grant, channel).app_user.id:
        raise Wrong("cant_update_message" if call.method == "chat.update" else "cant_delete_message")
    if channel.is_archived:
        raise Wrong("is_archived")
    return channel, message


def _check(args: Json) -> None:
    text, given = args.get("text", ""), args.get("blocks", [])
    if not text and not given and not args.get("attachments"):
        raise Wrong("no_text")
    blocks.check_message(text, given)
    metadata = args.get("metadata")
    if not metadata:
        return
    payload = metadata.get("event_payload")
    if not re.fullmatch(r"\w+", str(metadata.get("event_type", ""))) or not isinstance(payload, dict):
        raise Wrong("invalid_metadata_format")
    if len(str(metadata)) > _METADATA:
        raise Wrong("metadata_too_large")


def _made(world: World, channel: Channel, call: Call) -> Message:
    args, team = call.args, world.team_in(call.grant, channel)
    return Message(
        ts=world.times.ts(),
        channel=channel.id,
        team=team.id,
        user=team.app_user.id,
        at=world.now,
        text=args.get("text", ""),
        blocks=args.get("blocks", ()),
        asked=args,
    )
