"""👍 and 👎 on a message that shows one item: they count as more and less for as long as they stand there."""

import json
import logging

import discord

from adapters.discord.client.errors import translated
from adapters.discord.listeners.context import Reception
from adapters.discord.workspaces import PLATFORM, workspace_of
from bot.handlers.feedback import note_reaction
from bot.models import Actor

log = logging.getLogger(__name__)

_MORE, _LESS = "👍", "👎"
_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


async def react(reception: Reception, event: discord.RawReactionActionEvent, *, given: bool, me: int) -> None:
    """Count a reaction, or take it back; on messages that are none of ours, or show several items, it means nothing."""
    name = (event.emoji.name or "").rstrip(_TONES)
    if event.user_id == me or event.emoji.id is not None or name not in (_MORE, _LESS):
        return
    workspace = workspace_of(event.guild_id, event.user_id)
    delivery = await _delivery(reception, workspace, str(event.channel_id), str(event.message_id))
    if delivery is None:
        return
    keys, topic, channel = delivery
    actor = Actor(platform=PLATFORM, workspace=workspace, channel=channel, person=str(event.user_id))
    await note_reaction(reception.handler_context, actor, keys, topic, more=name == _MORE, given=given, now=reception.now)


async def _delivery(reception: Reception, workspace: str, channel: str, message: str) -> tuple[list[str], str, str] | None:
    """Return the items of the message's one entry, its topic and its channel; None where it has none or several."""
    chats = reception.line.chats
    found = await chats.delivery_posted(workspace, channel, message)
    if found is None and (parent := await _parent(reception, channel)):
        found = await chats.delivery_posted(workspace, parent, f"{channel}/{message}")
    if found is None:
        return None
    try:
        entries = json.loads(found.payload)["keys"]
    except (ValueError, KeyError):
        return None
    return (list(entries[0]), found.topic, found.channel) if len(entries) == 1 else None


async def _parent(reception: Reception, channel: str) -> str:
    """Return the channel in which a thread hangs, "" for what is no thread, or cannot be asked for."""
    try:
        return (await reception.places.at(channel)).parent
    except Exception as error:  # noqa: BLE001 - translated raises what it does not know
        log.info("it cannot be told what a reaction was to: %s", translated(error))
        return ""
