"""What happens in Slack unasked: the app removed or invited, a channel archived, left or open again, a link, a reaction.

What is subscribed where nothing can be posted any more is paused, and tried where something may be posted again. Events come
late, twice and in any order: that a token is good for nothing is believed only where Slack says so when it is asked.
"""

import asyncio
import logging
from functools import partial
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_sdk.oauth.installation_store import Installation

from adapters.chat.events import GREETING_FORM, card_to_preview
from adapters.slack.client.errors import CLIENT_FAILURES, failure_reason
from adapters.slack.forms.fields import form_row
from adapters.slack.install.installations import place_of
from adapters.slack.install.token_rotation import where_to_install
from adapters.slack.listeners.answers import AnswerTarget
from adapters.slack.listeners.context import Body, SlackContext
from adapters.slack.render import messages
from adapters.slack.workspaces import PLATFORM, workspace_of
from bot.errors import BotError
from bot.handlers.feedback import note_reaction
from bot.handlers.surfaces.greeting import greeting
from bot.models import Delivery

_ARCHIVED = "The channel was archived in Slack; unarchive it."
_DELETED = "The channel was deleted in Slack."
_LEFT = "Broadsheet was removed from the channel; invite it again with /invite."
_UNINSTALLED = "Broadsheet was removed from this Slack workspace; install it again"
_REVOKED = "Broadsheet's token for this Slack workspace was revoked; install it again"

_CHANNEL_EVENTS = {
    "channel_archive": _ARCHIVED,
    "group_archive": _ARCHIVED,
    "channel_deleted": _DELETED,
    "group_deleted": _DELETED,
    "channel_left": _LEFT,
    "group_left": _LEFT,
}

_OPEN_EVENTS = ("channel_unarchive", "group_unarchive")

_PREVIEWS = 5  # links of one message
_REACTIONS = {"+1": True, "thumbsup": True, "-1": False, "thumbsdown": False}  # by name, without the tone of the skin

log = logging.getLogger(__name__)


def listen(app: AsyncApp, context: SlackContext) -> None:
    """Hear what befalls the app and its channels; of links and reactions, where the settings say so."""
    heard = _AppEvents(context)
    for name in _CHANNEL_EVENTS:
        app.event(name)(heard.channel_gone)
    for name in ("channel_rename", "group_rename"):
        app.event(name)(heard.renamed)
    for name in _OPEN_EVENTS:
        app.event(name)(heard.channel_open)
    app.event("member_left_channel")(heard.member_left)
    app.event("member_joined_channel")(heard.member_joined)
    app.event("app_uninstalled")(heard.uninstalled)
    app.event("tokens_revoked")(heard.revoked)
    app.event("team_access_revoked")(heard.teams_left)
    app.event("team_access_granted")(heard.teams_joined)
    if context.settings.link_previews:
        app.event("link_shared")(context.following(_preview_links, "previewing links"))
    if context.settings.reactions:
        name = "taking a reaction for feedback"
        app.event("reaction_added")(context.following(partial(_count_reaction, given=True), name))
        app.event("reaction_removed")(context.following(partial(_count_reaction, given=False), name))


class _AppEvents:
    def __init__(self, context: SlackContext) -> None:
        self._context = context
        self._platform, self._clients = context.platform, context.clients

    async def channel_gone(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        event = body["event"]
        await self._platform.channel_closed(_workspace(context), _channel_of(event), _CHANNEL_EVENTS[event["type"]])

    async def renamed(self, body: dict[str, Any]) -> None:
        # Subscriptions hang on the channel's identifier, which stays.
        log.info("channel %s has another name", _channel_of(body["event"]))

    async def member_left(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        event = body["event"]
        ours = context.get("bot_user_id") or await self._clients.bot_user(_workspace(context))
        if ours and event.get("user") == ours:
            await self._platform.channel_closed(_workspace(context), _channel_of(event), _LEFT)

    async def channel_open(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        self._platform.channel_opened(_workspace(context), _channel_of(body["event"]))

    async def member_joined(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        event = body["event"]
        ours = context.get("bot_user_id") or await self._clients.bot_user(_workspace(context))
        if not ours or event.get("user") != ours:
            return
        workspace, channel = _workspace(context), _channel_of(event)
        self._platform.channel_opened(workspace, channel)
        if event.get("inviter"):  # who joins by itself does so because somebody subscribes the channel
            self._context.tasks.start(_greet(self._context, workspace, channel), "greeting a channel")

    async def uninstalled(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        found = self._found(context)
        if found is not None and int(found.installed_at) > int(body.get("event_time") or found.installed_at):
            log.info("%s was installed again since it was removed: it stays", place_of(found))
            return
        await self._check(context, _UNINSTALLED)

    async def revoked(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        if not body["event"].get("tokens", {}).get("bot"):
            return
        await self._check(context, _REVOKED)

    async def teams_left(self, body: dict[str, Any]) -> None:
        for team in body["event"].get("team_ids", []):
            await self._check_team(str(team), _UNINSTALLED)

    async def teams_joined(self, body: dict[str, Any]) -> None:
        for team in body["event"].get("team_ids", []):
            self._platform.channel_opened(workspace_of(str(team)), "")

    async def _check(self, context: dict[str, Any], why: str) -> None:
        """Believe that nothing can be posted any more where the installation acted, if Slack says so of its token."""
        team, enterprise = str(context.get("team_id") or ""), str(context.get("enterprise_id") or "")
        org_wide = bool(context.get("is_enterprise_install"))
        if not await self._clients.token_works(team, enterprise, org_wide=org_wide):
            await self._ended(context, why)
        elif team:
            await self._check_team(team, why)

    async def _check_team(self, team: str, why: str) -> None:
        """Believe it of a workspace alone; the others of its organisation stay."""
        if not await self._clients.is_shut_out(workspace_of(team)):
            log.info("%s is said to be closed, and Slack does not say so: it stays", team)
            return
        if self._clients.installations:
            await self._clients.installations.unlink_workspace(team)
        await self._gone(team, why)

    def _found(self, context: dict[str, Any]) -> Installation | None:
        if self._clients.installations is None:
            return None
        team, enterprise = context.get("team_id") or "", context.get("enterprise_id") or ""
        return self._clients.installations.find(team, enterprise, org_wide=bool(context.get("is_enterprise_install")))

    async def _ended(self, context: dict[str, Any], why: str) -> None:
        """Forget the installation, and pause wherever its token acted."""
        gone = {str(context.get("team_id") or "")} - {""}
        found = self._found(context)
        if self._clients.installations and found is not None:
            gone.update(await self._clients.installations.drop(place_of(found)))
        for each in sorted(gone):
            await self._gone(each, why)

    async def _gone(self, team: str, why: str) -> None:
        await self._platform.channel_closed(workspace_of(team), "", f"{why} {where_to_install(self._clients.settings)}.")


async def _greet(context: SlackContext, workspace: str, channel: str) -> None:
    """Say in a channel that we are there, once at most. Raises StoreError, after which nothing is said."""
    said = await greeting(context.platform.handler_context, workspace, channel, context.now)
    if said is not None:
        await context.answers.post(
            AnswerTarget(workspace=workspace, channel=channel, person=""), said, form_row(GREETING_FORM)
        )


def _workspace(context: dict[str, Any]) -> str:
    return workspace_of(str(context.get("team_id") or context.get("enterprise_id")))


def _channel_of(event: dict[str, Any]) -> str:
    channel = event.get("channel")
    return str(channel.get("id", "")) if isinstance(channel, dict) else str(channel or "")


# --- links, and reactions


async def _preview_links(context: SlackContext, workspace: str, event: Body) -> None:
    """Show what is known of the papers and repositories that a message links, below it."""
    urls = list(dict.fromkeys(str(link["url"]) for link in event.get("links") or ()))[:_PREVIEWS]
    found = await asyncio.gather(*(_card(context, event["channel"], url) for url in urls))
    unfurls = {url: {"blocks": blocks} for url, blocks in zip(urls, found, strict=True) if blocks}
    if not unfurls:
        return
    where = {"channel": event["channel"], "ts": event["message_ts"]}
    if event.get("source") == "composer":  # the message is still being written and has no name but this
        where = {name: event[name] for name in ("unfurl_id", "source")}
    try:
        client = await context.clients.client(workspace)
        await client.chat_unfurl(unfurls=unfurls, **where)
    except CLIENT_FAILURES as error:
        log.info("A link could not be previewed: %s", failure_reason(error))


async def _card(context: SlackContext, channel: str, url: str) -> list[Body]:
    try:
        # By the channel alone: one that workspaces share has the same identifier in each, and hears of a link as either.
        known = await card_to_preview(context, PLATFORM, channel, url)
    except BotError as error:
        log.warning("A link could not be previewed: %s", error)
        return []
    return [] if known is None else list(messages.card(known, context.now.date()))


async def _count_reaction(context: SlackContext, workspace: str, event: Body, *, given: bool) -> None:
    """Count 👍 and 👎 on a message that shows one entry, for as long as they stand there."""
    more = _REACTIONS.get(str(event["reaction"]).partition("::")[0])
    if more is None or event["item"].get("type") != "message":
        return
    channel = event["item"]["channel"]
    delivery = await _reacted_to(context, workspace, event)
    if delivery is None or not (keys := delivery.shows):
        return
    actor = await context.actors.actor(delivery.workspace, channel, event["user"])
    await note_reaction(
        context.platform.handler_context, actor, keys, delivery.topic, more=more, given=given, now=context.now
    )


async def _reacted_to(context: SlackContext, workspace: str, event: Body) -> Delivery | None:
    """Return the delivery that a reaction stands on, None where it is none of ours.

    In a channel that several of our workspaces share the event comes once, and may name another than posted it.
    """
    installations, item = context.clients.installations, event["item"]
    others = installations.teams_of_bot(str(event.get("item_user") or "")) if installations else []
    for each in dict.fromkeys((workspace, *map(workspace_of, others))):
        found = await context.platform.chats.delivery_posted(each, item["channel"], item["ts"])
        if found is not None:
            return found
    return None
