"""What befalls the app in Slack: removed, revoked, a channel archived or left. What is subscribed there is paused."""

import logging
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_sdk.oauth.installation_store import Installation

from adapters.slack.client.clients import Clients
from adapters.slack.install.installations import place_of
from adapters.slack.install.token_rotation import where_to_install
from adapters.slack.workspaces import workspace_of
from bot.service.platforms import PlatformContext

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

log = logging.getLogger(__name__)


def listen(app: AsyncApp, line: PlatformContext, clients: Clients) -> None:
    """Add the listeners for all of it."""
    heard = _Heard(line, clients)
    for name in _CHANNEL_EVENTS:
        app.event(name)(heard.channel_gone)
    for name in ("channel_rename", "group_rename"):
        app.event(name)(heard.renamed)
    app.event("member_left_channel")(heard.member_left)
    app.event("app_uninstalled")(heard.uninstalled)
    app.event("tokens_revoked")(heard.revoked)
    app.event("team_access_revoked")(heard.team_left)


class _Heard:
    def __init__(self, line: PlatformContext, clients: Clients) -> None:
        self._line, self._clients = line, clients

    async def channel_gone(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        event = body["event"]
        await self._line.channel_closed(_workspace(context), _channel_of(event), _CHANNEL_EVENTS[event["type"]])

    async def renamed(self, body: dict[str, Any]) -> None:
        # Subscriptions hang on the channel's identifier, which stays.
        log.info("channel %s has another name", _channel_of(body["event"]))

    async def member_left(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        event = body["event"]
        ours = context.get("bot_user_id") or await self._clients.bot_user(_workspace(context))
        if ours and event.get("user") == ours:
            await self._line.channel_closed(_workspace(context), _channel_of(event), _LEFT)

    async def uninstalled(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        found = self._found(context)
        if found is not None and int(found.installed_at) > int(body.get("event_time") or found.installed_at):
            log.info("%s was installed again since it was removed: it stays", place_of(found))
            return
        await self._ended(context, _UNINSTALLED)

    async def revoked(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        if not body["event"].get("tokens", {}).get("bot"):
            return
        team, enterprise = context.get("team_id") or "", context.get("enterprise_id") or ""
        if await self._clients.works(team, enterprise):
            log.info("a token of %s was revoked, but the one that is used is good", team or enterprise)
            return
        await self._ended(context, _REVOKED)

    async def team_left(self, body: dict[str, Any]) -> None:
        for team in body["event"].get("team_ids", []):
            if self._clients.installs:
                await self._clients.installs.leave(str(team))
            await self._gone(str(team), _UNINSTALLED)

    def _found(self, context: dict[str, Any]) -> Installation | None:
        if self._clients.installs is None:
            return None
        team, enterprise = context.get("team_id") or "", context.get("enterprise_id") or ""
        return self._clients.installs.find(team, enterprise, org_wide=bool(context.get("is_enterprise_install")))

    async def _ended(self, context: dict[str, Any], why: str) -> None:
        """Forget the installation, and pause wherever its token acted."""
        gone = {str(context.get("team_id") or "")} - {""}
        found = self._found(context)
        if self._clients.installs and found is not None:
            gone.update(await self._clients.installs.drop(place_of(found)))
        for each in sorted(gone):
            await self._gone(each, why)

    async def _gone(self, team: str, why: str) -> None:
        await self._line.channel_closed(workspace_of(team), "", f"{why} {where_to_install(self._clients.settings)}.")


def _workspace(context: dict[str, Any]) -> str:
    return workspace_of(str(context.get("team_id") or context.get("enterprise_id")))


def _channel_of(event: dict[str, Any]) -> str:
    channel = event.get("channel")
    return str(channel.get("id", "")) if isinstance(channel, dict) else str(channel or "")
