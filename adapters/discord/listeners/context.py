"""What everything that hears people works with, and what an interaction tells of who acted where."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import discord

from adapters.discord.client.channels import Places
from adapters.discord.client.http import Door
from adapters.discord.listeners.answers import Answers, Call
from adapters.discord.listeners.visible_channels import sight_of
from adapters.discord.workspaces import PLATFORM, workspace_of
from adapters.tasks import Work
from bot.commands import Command
from bot.handlers.context import HandlerContext, VisibleChannels
from bot.handlers.handle import answer
from bot.models import Actor, Reply
from bot.service.platforms import PlatformContext
from bot.settings.chat import DiscordSettings


@dataclass(frozen=True, slots=True)
class Reception:
    """The parts that hear people and answer them."""

    line: PlatformContext
    settings: DiscordSettings
    door: Door
    places: Places
    answers: Answers
    work: Work

    @property
    def handler_context(self) -> HandlerContext:
        """What the handlers work with; who may change things is Discord's own default where the server settled nothing."""
        return replace(self.line.handler_context, manage=self.settings.manage)

    @property
    def now(self) -> datetime:
        """The time, aware and in UTC."""
        return self.line.clock()

    async def ask(self, asked: str | Command, scene: "Scene") -> Reply:
        """Return what the core answers to who acted there."""
        return await answer(replace(self.handler_context, visible_channels=scene.sight), asked, scene.actor, self.now)


@dataclass(frozen=True, slots=True)
class Scene:
    """Who acted, where, and how to answer."""

    actor: Actor
    call: Call
    data: Mapping[str, Any]
    sight: VisibleChannels  # the channels that this person may know of
    private: bool = False  # what was acted upon is shown to this person alone

    @property
    def workspace(self) -> str:
        """The workspace's name in the core."""
        return self.actor.workspace


def scene_of(interaction: "discord.Interaction[Any]", now: datetime) -> Scene:
    """Return the scene of an interaction. Who may manage the channel may administer; so may one alone in a conversation."""
    channel = str(interaction.channel_id or interaction.guild_id or interaction.user.id)
    allowed = interaction.permissions
    actor = Actor(
        platform=PLATFORM,
        workspace=workspace_of(interaction.guild_id, interaction.user.id),
        channel=channel,
        person=str(interaction.user.id),
        may_administer=not interaction.guild_id or allowed.manage_channels or allowed.manage_guild or allowed.administrator,
    )
    call = Call(str(interaction.id), interaction.token, str(interaction.application_id), channel, actor.person, now)
    private = interaction.message is not None and interaction.message.flags.ephemeral
    data: Any = interaction.data or {}
    return Scene(actor, call, data, sight_of(interaction), private)
