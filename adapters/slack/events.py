"""What befalls the app in Slack: removed, revoked, a channel archived or left. What is subscribed there is paused."""

import logging
from typing import Any

from slack_bolt.app.async_app import AsyncApp

from adapters.slack.clients import Clients
from adapters.slack.installs import PLATFORM
from bot.platforms import Line

_ARCHIVED = "The channel was archived in Slack; unarchive it."
_DELETED = "The channel was deleted in Slack."
_LEFT = "Broadsheet was removed from the channel; invite it again with /invite."
_UNINSTALLED = "Broadsheet was removed from this Slack workspace; install it again."
_REVOKED = "Broadsheet's token for this Slack workspace was revoked; install it again."

_CHANNEL_EVENTS = {
    "channel_archive": _ARCHIVED,
    "group_archive": _ARCHIVED,
    "channel_deleted": _DELETED,
    "group_deleted": _DELETED,
    "channel_left": _LEFT,
    "group_left": _LEFT,
}

log = logging.getLogger(__name__)


def listen(app: AsyncApp, line: Line, clients: Clients) -> None:
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
    def __init__(self, line: Line, clients: Clients) -> None:
        self._line, self._clients = line, clients

    async def channel_gone(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        event = body["event"]
        await self._line.gone(_workspace(context), _channel_of(event), _CHANNEL_EVENTS[event["type"]])

    async def renamed(self, body: dict[str, Any]) -> None:
        # Subscriptions hang on the channel's identifier, which stays.
        log.info("channel %s has another name", _channel_of(body["event"]))

    async def member_left(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        event = body["event"]
        ours = context.get("bot_user_id") or await self._clients.bot_user(_workspace(context))
        if ours and event.get("user") == ours:
            await self._line.gone(_workspace(context), _channel_of(event), _LEFT)

    async def uninstalled(self, context: dict[str, Any]) -> None:
        await self._ended(context, _UNINSTALLED)

    async def revoked(self, body: dict[str, Any], context: dict[str, Any]) -> None:
        if body["event"].get("tokens", {}).get("bot"):
            await self._ended(context, _REVOKED)

    async def team_left(self, body: dict[str, Any]) -> None:
        for team in body["event"].get("team_ids", []):
            if self._clients.installs:
                await self._clients.installs.leave(str(team))
            await self._line.gone(f"{PLATFORM}:{team}", "", _UNINSTALLED)

    async def _ended(self, context: dict[str, Any], why: str) -> None:
        """Forget the installation, unless its token is good: then it was made anew after what is told only now."""
        team, enterprise = context.get("team_id") or "", context.get("enterprise_id") or ""
        if await self._clients.works(team, enterprise):
            log.info("%s is said to be removed, but its token is good: it stays", team or enterprise)
            return
        installs, gone = self._clients.installs, {team} - {""}
        found = installs.find(team, enterprise) if installs else None
        if installs and found is not None:
            org = found.enterprise_id if found.is_enterprise_install else ""
            gone.update(await installs.drop(org or team))
        for each in sorted(gone):
            await self._line.gone(f"{PLATFORM}:{each}", "", why)


def _workspace(context: dict[str, Any]) -> str:
    return f"{PLATFORM}:{context.get('team_id') or context.get('enterprise_id')}"


def _channel_of(event: dict[str, Any]) -> str:
    channel = event.get("channel")
    return str(channel.get("id", "")) if isinstance(channel, dict) else str(channel or "")
