"""What every listener works with, and what an interaction tells of who acted where."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from adapters.slack.client.clients import Clients
from adapters.slack.listeners.actors import Actors
from adapters.slack.listeners.answers import Answers
from adapters.slack.listeners.visible_channels import Sight
from adapters.slack.workspaces import workspace_of
from adapters.tasks import Work
from bot.commands import Command
from bot.handlers.context import HandlerContext
from bot.handlers.handle import answer
from bot.models import Actor, Reply
from bot.service.platforms import PlatformContext
from bot.settings.chat import SlackSettings

_AT_ONCE = 8  # questions that are being answered: with more, each takes longer, and what is acknowledged waits for them


@dataclass(frozen=True, slots=True)
class Reception:
    """The parts that hear people and answer them."""

    line: PlatformContext
    settings: SlackSettings
    clients: Clients
    actors: Actors
    answers: Answers
    work: Work
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    @property
    def handler_context(self) -> HandlerContext:
        """What the handlers work with: nobody is told of private channels that they are not in."""
        return replace(self.line.handler_context, visible_channels=Sight(self.clients).of)

    @property
    def now(self) -> datetime:
        """The time, aware and in UTC."""
        return self.line.clock()

    async def ask(self, asked: str | Command, actor: Actor) -> Reply:
        """Return what the core answers, when it is its turn."""
        async with self.turns:
            return await answer(self.handler_context, asked, actor, self.now)


@dataclass(frozen=True, slots=True)
class Scene:
    """Who acted, and where; "" for what an interaction does not tell, such as the channel of a form."""

    workspace: str
    channel: str
    person: str
    trigger: str = ""  # opens a view within three seconds, once
    url: str = ""  # the response_url


def scene_of(body: Mapping[str, Any]) -> Scene:
    """Return the scene of a slash command or an interaction.

    In an app that is installed for a whole organisation `team` may be null; the person's own workspace counts then.
    """
    if "command" in body:
        return Scene(
            workspace_of(body["team_id"]),
            body["channel_id"],
            body["user_id"],
            body.get("trigger_id", ""),
            body.get("response_url", ""),
        )
    user, view = body["user"], body.get("view") or {}
    team = (body.get("team") or {}).get("id") or user.get("team_id") or view.get("team_id") or ""
    channel = (body.get("channel") or {}).get("id") or (body.get("container") or {}).get("channel_id") or ""
    return Scene(workspace_of(team), channel, user["id"], body.get("trigger_id", ""), body.get("response_url", ""))
