"""Previews: what is known of a paper or repository, below a message that links it."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from slack_bolt.async_app import AsyncApp, AsyncBoltContext

from adapters.slack.client.failures import reason
from adapters.slack.listeners.answers import TROUBLES
from adapters.slack.listeners.context import Reception
from adapters.slack.render import messages
from adapters.slack.workspaces import PLATFORM, workspace_of
from bot.errors import BotError
from bot.handlers.items import linked_item
from bot.models import Entry, Ranked

log = logging.getLogger(__name__)

_ONCE = timedelta(minutes=30)  # a link is previewed once within it in a channel
_MOST = 5  # links of one message


def listen(app: AsyncApp, reception: Reception) -> None:
    """Hear of links, where the settings say so."""
    if not reception.settings.link_previews:
        return

    async def shared(body: dict[str, Any], context: AsyncBoltContext) -> None:
        event = body["event"]
        if event.get("user") in (None, "", context.bot_user_id) or event.get("bot_id"):
            return  # what is posted by ourselves says it already
        workspace = workspace_of(context.team_id or body["team_id"])
        reception.work.begin(_previewed(reception, workspace, event), "previewing links")

    app.event("link_shared")(shared)


async def _previewed(reception: Reception, workspace: str, event: Mapping[str, Any]) -> None:
    urls = list(dict.fromkeys(str(link["url"]) for link in event.get("links") or ()))[:_MOST]
    found = await asyncio.gather(*(_card(reception, workspace, event["channel"], url) for url in urls))
    unfurls = {url: {"blocks": blocks} for url, blocks in zip(urls, found, strict=True) if blocks}
    if not unfurls:
        return
    where = {"channel": event["channel"], "ts": event["message_ts"]}
    if event.get("source") == "composer":  # the message is still being written and has no name but this
        where = {name: event[name] for name in ("unfurl_id", "source")}
    try:
        client = await reception.clients.client(workspace)
        await client.chat_unfurl(unfurls=unfurls, **where)
    except TROUBLES as error:
        log.info("A link could not be previewed: %s", reason(error))


async def _card(reception: Reception, workspace: str, channel: str, url: str) -> list[dict[str, Any]]:
    """Return what is shown of the link; nothing for one that is not known, or was previewed here a while ago."""
    try:
        known = await linked_item(reception.line.handler_context, url, reception.now)
        if known is None:
            return []
        item, summary = known
        once = f"preview {workspace} {channel} {item.key}"
        if not await reception.line.chats.first_time(PLATFORM, once, reception.now, _ONCE):
            return []
    except BotError as error:
        log.warning("A link could not be previewed: %s", error)
        return []
    return list(messages.card(Entry(Ranked(item, 0.0), summary), reception.now.date()))
