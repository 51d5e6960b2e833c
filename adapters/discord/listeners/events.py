"""What happens in Discord unasked: an invitation; where it is switched on, a link posted, a reaction given or taken back."""

import logging

import discord
from discord.http import MultipartParameters

from adapters.chat.events import GREETING_FORM, card_to_preview
from adapters.discord.client.errors import discord_delivery_error
from adapters.discord.listeners.context import DiscordContext
from adapters.discord.render.messages import preview_message
from adapters.discord.workspaces import PLATFORM, workspace_of
from bot.handlers.feedback import note_reaction
from bot.handlers.items import links_in
from bot.handlers.surfaces.greeting import greeting
from bot.models import Actor, Delivery

log = logging.getLogger(__name__)

_PREVIEWS = 3  # of one message
_MORE, _LESS = "👍", "👎"
_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


async def greet(context: DiscordContext, guild: int, channel: str) -> None:
    """Say in a server's channel for such messages that we are there, where we may write in it, once at most.

    Raises StoreError, and what asking Discord raises; nothing is said then.
    """
    if (await context.channels.get(channel)).obstacle:
        return
    workspace = workspace_of(guild, "")
    said = await greeting(context.handler_context, workspace, channel, context.now, whole_workspace=True)
    if said is not None:
        await context.answers.post(workspace, channel, said, GREETING_FORM)


async def preview_links(context: DiscordContext, message: "discord.Message") -> None:
    """Answer a person's message that links papers or repositories which are known; nothing is said of others."""
    if message.author.bot or not context.settings.link_previews:
        return
    channel = str(message.channel.id)
    for url in links_in(message.content)[:_PREVIEWS]:
        known = await card_to_preview(context, PLATFORM, channel, url)
        if known is None:
            continue
        reference = {"message_id": str(message.id), "fail_if_not_exists": False}
        body = {**preview_message(known, context.now.date()).body(), "message_reference": reference}
        await context.client.send_message(channel, params=MultipartParameters(body, None, None))


async def count_reaction(context: DiscordContext, event: discord.RawReactionActionEvent, *, given: bool, me: int) -> None:
    """Count 👍 or 👎, or take it back; on messages that are none of ours, or show several items, it means nothing."""
    name = (event.emoji.name or "").rstrip(_TONES)
    if event.user_id == me or event.emoji.id is not None or name not in (_MORE, _LESS):
        return
    workspace = workspace_of(event.guild_id, event.user_id)
    delivery = await _delivery(context, workspace, str(event.channel_id), str(event.message_id))
    if delivery is None or not (keys := delivery.shows):
        return
    person, is_direct = str(event.user_id), event.guild_id is None
    actor = Actor(platform=PLATFORM, workspace=workspace, channel=delivery.channel, person=person, is_direct=is_direct)
    more = name == _MORE
    await note_reaction(context.handler_context, actor, keys, delivery.topic, more=more, given=given, now=context.now)


async def _delivery(context: DiscordContext, workspace: str, channel: str, message: str) -> Delivery | None:
    """Return what was posted as the message, in the channel or in a thread of it."""
    chats = context.platform.chats
    found = await chats.delivery_posted(workspace, channel, message)
    if found is None and (parent := await _parent(context, channel)):
        found = await chats.delivery_posted(workspace, parent, f"{channel}/{message}")
    return found


async def _parent(context: DiscordContext, channel: str) -> str:
    """Return the channel in which a thread hangs, "" for what is no thread, or cannot be asked for."""
    try:
        return (await context.channels.get(channel)).parent
    except Exception as error:  # noqa: BLE001 - discord_delivery_error raises what it does not know
        log.info("it cannot be told what a reaction was to: %s", discord_delivery_error(error))
        return ""
