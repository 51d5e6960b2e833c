"""What people write to us in Discord: a mention in a channel or a thread, a direct message; where the setting allows.

A message has no interaction: its answer stands below it, for everybody who reads there. What is for one person alone is a
button away in a server, where the press says who asks and what they may; in a direct message it is said at once.
"""

from collections.abc import Collection

import discord

from adapters.chat.forms import FormRequest, follow_up_form, form_asked_for
from adapters.chat.spoken import is_first, words_to_us
from adapters.discord.client.interactions import Callback
from adapters.discord.listeners.context import DiscordContext, parent_of, post_of
from adapters.discord.workspaces import PLATFORM, workspace_of
from bot.commands import Command, Heard, SmallTalk, Unreadable, heard
from bot.handlers.surfaces.spoken import Turn, answer_heard, for_one_alone, may_be_open, too_many
from bot.models import Actor, Reply

_WRITTEN = frozenset({discord.MessageType.default, discord.MessageType.reply})


def said_to_us(message: discord.Message, me: int) -> str | None:
    """Return what a person's message says to us; None for one that is not to us, of which nothing else is looked at.

    A reply to one of our messages is to us where its words mention us: Discord itself mentions whoever is replied to.
    """
    if message.author.bot or message.webhook_id is not None or message.type not in _WRITTEN:
        return None
    said = words_to_us(message.content, str(me))
    if said is None and isinstance(message.channel, discord.DMChannel):
        return message.content or None
    return said


async def answer_message(context: DiscordContext, message: discord.Message, words: str) -> None:
    """Answer a message once, below it."""
    found = heard(words)
    if found.asked is SmallTalk.THANKS or not await is_first(context, PLATFORM, str(message.id)):
        return
    callback = _callback(context, message)
    turn = await context.answers.spoken.turn(PLATFORM, f"{PLATFORM} {callback.person}", context.now)
    if turn is Turn.TOLD:
        await context.answers.reply_below(callback, too_many())
    elif turn is Turn.ANSWERED:
        await context.answers.reply_below(callback, await _reply(context, message, callback, found), _form(found))


def _callback(context: DiscordContext, message: discord.Message) -> Callback:
    guild = message.guild.id if message.guild else getattr(message.channel, "guild_id", None)
    return Callback(
        id=str(message.id),
        token="",
        application="",
        workspace=workspace_of(guild, message.author.id),
        channel=str(message.channel.id),
        person=str(message.author.id),
        at=context.now,
        is_spoken=True,
    )


async def _reply(context: DiscordContext, message: discord.Message, callback: Callback, found: Heard) -> Reply:
    is_direct = isinstance(message.channel, discord.DMChannel)
    if not is_direct and not may_be_open(found) and isinstance(found.asked, Command):
        return for_one_alone(found.asked)
    actor = Actor(
        platform=PLATFORM,
        workspace=callback.workspace,
        channel=callback.channel,
        person=callback.person,
        may_administer=is_direct,
        parent=parent_of(message.channel),
        post=post_of(message.channel),
        is_alone=is_direct,
        is_direct=is_direct,
    )

    async def visible(_: Actor, channels: Collection[str]) -> Collection[str]:
        return channels if is_direct else {callback.channel}.intersection(channels)

    async def ask(asked: Command | Unreadable) -> Reply:
        return await context.ask_in_message(asked, actor, visible, found.line)

    return await answer_heard(found, ask)


def _form(found: Heard) -> FormRequest | None:
    """Return the form in which what was not said can be filled in, or one may go on."""
    if isinstance(found.asked, SmallTalk) or (isinstance(found.asked, Command) and not may_be_open(found)):
        return None
    return form_asked_for(found.asked) or follow_up_form(found.asked)
