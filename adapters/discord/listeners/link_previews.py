"""Our summary below a link that somebody posts: once per link and channel in half an hour, where it is switched on."""

from datetime import timedelta
from typing import Any

import discord
from discord.http import MultipartParameters

from adapters.discord.listeners.context import Reception
from adapters.discord.render.messages import item_posting
from adapters.discord.workspaces import PLATFORM
from bot.handlers.items import linked_item, links_in

_SPAN = timedelta(minutes=30)
_MOST = 3  # previews of one message


async def preview(reception: Reception, message: "discord.Message") -> None:
    """Answer a person's message that links papers or repositories which are known; nothing is said of others."""
    if message.author.bot or not reception.settings.link_previews:
        return
    channel, now = str(message.channel.id), reception.now
    for url in links_in(message.content)[:_MOST]:
        found = await linked_item(reception.line.handler_context, url, now)
        if found is None or not await reception.line.chats.first_time(
            PLATFORM, f"preview {channel} {found[0].key}", now, _SPAN
        ):
            continue
        posting = item_posting(*found, now.date())
        body: dict[str, Any] = {
            **posting.body(),
            "message_reference": {"message_id": str(message.id), "fail_if_not_exists": False},
        }
        await reception.door.send_message(channel, params=MultipartParameters(body, None, None))
