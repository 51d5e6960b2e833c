"""Reactions: 👍 and 👎 on a message that shows one entry say more and less, for as long as they stand there."""

import json
from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp, AsyncBoltContext

from adapters.slack.listeners.context import Reception
from adapters.slack.workspaces import workspace_of
from bot.handlers.feedback import note_reaction

_MEANT = {"+1": True, "thumbsup": True, "-1": False, "thumbsdown": False}  # by name, without the tone of the skin


def listen(app: AsyncApp, reception: Reception) -> None:
    """Hear of reactions, where the settings say so."""
    if not reception.settings.reactions:
        return

    def heard(given: bool) -> Any:
        async def changed(body: dict[str, Any], context: AsyncBoltContext) -> None:
            event = body["event"]
            if event.get("user") in (None, "", context.bot_user_id) or event["item"].get("type") != "message":
                return
            workspace = workspace_of(context.team_id or body["team_id"])
            reception.work.begin(_said(reception, workspace, event, given), "taking a reaction for feedback")

        return changed

    app.event("reaction_added")(heard(True))
    app.event("reaction_removed")(heard(False))


async def _said(reception: Reception, workspace: str, event: Mapping[str, Any], given: bool) -> None:
    more = _MEANT.get(str(event["reaction"]).partition("::")[0])
    if more is None:
        return
    channel = event["item"]["channel"]
    delivery = await reception.line.chats.delivery_posted(workspace, channel, event["item"]["ts"])
    entries = json.loads(delivery.payload).get("keys") if delivery else None
    if delivery is None or not entries or len(entries) != 1:
        return  # of several entries a reaction does not say which it means
    actor = await reception.actors.actor(workspace, channel, event["user"])
    await note_reaction(
        reception.line.handler_context, actor, entries[0], delivery.topic, more=more, given=given, now=reception.now
    )
