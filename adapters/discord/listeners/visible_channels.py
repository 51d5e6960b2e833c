"""Which channels a person may know of: those that Discord shows them. Pure but for what discord.py has heard."""

from collections.abc import Collection
from typing import Any

import discord

from bot.handlers.context import VisibleChannels
from bot.models import Actor


def sight_of(interaction: "discord.Interaction[Any]") -> VisibleChannels:
    """Return what tells those channels apart that who acted may see."""

    async def sight(actor: Actor, channels: Collection[str]) -> Collection[str]:
        if not interaction.guild_id:
            return channels  # of a direct conversation, which is a workspace of its own
        return {each for each in channels if each == actor.channel or _is_shown(interaction, each)}

    return sight


def _is_shown(interaction: "discord.Interaction[Any]", channel: str) -> bool:
    """Say whether the person sees the channel; what is gone, and a thread put away, does who manages the server."""
    guild, person = interaction.guild, interaction.user
    if guild is None or not isinstance(person, discord.Member):
        return False
    found = guild.get_channel_or_thread(int(channel)) if channel.isdecimal() else None
    if found is None:
        return person.guild_permissions.manage_guild
    allowed = found.permissions_for(person)
    closed = isinstance(found, discord.Thread) and found.is_private() and not allowed.manage_threads
    return allowed.view_channel and not closed
