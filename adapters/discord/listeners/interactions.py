"""What people do: commands, buttons, what is being typed, and the command on messages."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import discord

from adapters.chat.answers import unreadable
from adapters.chat.forms import follow_up_form, form_asked_for
from adapters.chat.spoken import FORGOTTEN
from adapters.discord.client.interactions import Callback
from adapters.discord.forms.modals import open_form, submit_form
from adapters.discord.install.command_tree import FIND_SIMILAR, Values, chosen, filled_in, focused
from adapters.discord.listeners.context import DiscordContext, DiscordInteraction, in_time, interaction_of
from adapters.discord.render.components import form_opened_by, read_button
from adapters.discord.workspaces import workspace_of
from bot.commands import OF_A_CHANNEL, ChangeSettings, Command, ListSaved, Search, Similar, Unreadable, Usage, read
from bot.errors import BotError, UsageError
from bot.handlers.items import links_in
from bot.handlers.surfaces.suggestions import suggest
from bot.handlers.wording.failures import failure_reply, usage_failure
from bot.models import Reply

log = logging.getLogger(__name__)

_CHOICES = 25
_CHOICE = 100  # characters of a choice
_UNKNOWN = Reply(
    title="That does nothing now",
    text=("This version of Broadsheet does not know it.",),
    next_steps=("*help* says what it can do.",),
)
_PAGED = Search | ListSaved  # their buttons turn a page, or sort it anew: the answer that one stands in changes in place


async def handle_interaction(
    context: DiscordContext, received: "discord.Interaction[Any]", begun: float | None = None
) -> None:
    """Do what an interaction asks for, once. Whatever fails on the way, it is answered.

    `begun` is when it came, by the monotonic clock, where that is a while ago.
    """
    if not await _is_new(context, received):
        log.info("an interaction came again and is ignored")
        return
    try:
        interaction = interaction_of(received, context.now, begun)
    except AttributeError as error:  # who acted is not said
        log.error("an interaction does not say who acted: %s", error)  # noqa: TRY400 - foreseen
        known = {"id": str(received.id), "token": received.token, "type": received.type.value}
        await answer_unreadable(context, known)
        return
    try:
        await _handle(context, interaction, received.type)
    except Exception as error:  # noqa: BLE001 - it is told, and logged
        await context.answers.fail(interaction.callback, error)


async def _is_new(context: DiscordContext, received: "discord.Interaction[Any]") -> bool:
    """Say whether it comes for the first time, here or to another process; what completes an option may be said twice."""
    if context.seen is None or received.type is discord.InteractionType.autocomplete:
        return True
    return await context.seen.is_first(f"interaction:{received.id}", received.created_at)


async def _handle(context: DiscordContext, interaction: DiscordInteraction, kind: discord.InteractionType) -> None:
    if kind is discord.InteractionType.autocomplete:
        await _complete(context, interaction)
    elif kind is discord.InteractionType.application_command:
        await _command(context, interaction)
    elif kind is discord.InteractionType.component:
        await _button(context, interaction)
    elif kind is discord.InteractionType.modal_submit:
        await submit_form(context, interaction)
    else:
        await context.answers.reply_now(interaction.callback, failure_reply("I do not know what was asked."))


async def answer_unreadable(context: DiscordContext, data: Mapping[str, Any]) -> None:
    """Tell who acted that what they did could not be read, by what Discord sent; nothing of it is taken for granted."""
    number, token, kind = (data.get(name) for name in ("id", "token", "type"))
    if not (isinstance(number, str) and number.isdecimal() and isinstance(token, str) and token):
        return
    callback = Callback(
        id=number,
        token=token,
        application=str(data.get("application_id")),
        workspace=workspace_of(str(data.get("guild_id") or ""), "unknown"),
        channel="",
        person="",
        at=context.now,
    )
    if kind == discord.InteractionType.autocomplete.value:
        await context.answers.send_choices(callback, ())
    else:
        await context.answers.reply_now(callback, failure_reply(unreadable("Discord")))


async def _command(context: DiscordContext, interaction: DiscordInteraction) -> None:
    if interaction.data.get("name") == FIND_SIMILAR:
        await _similar(context, interaction)
        return
    asked: Command | Unreadable
    words = ""
    try:
        usage, values = chosen(interaction.data)
        words = usage.words
        values = _as_meant(usage, values, interaction.named)
        asked = usage.command.chosen(values)
    except UsageError as error:
        asked = Unreadable(words, error)
    if (form := form_asked_for(asked)) is not None:
        await open_form(context, interaction, form)
    elif isinstance(asked, Unreadable):
        await context.answers.reply_now(interaction.callback, usage_failure(asked.error, words))
    else:
        await _answer(context, interaction, asked, replaces=False)


_CHANNEL = re.compile(r"<#(\d{1,20})>")


def _as_meant(usage: Usage, values: Values, named: Callable[[str], str]) -> Values:
    """Return what was chosen with names in place of the mentions in texts; a channel as a setting's value is that one."""
    only = _CHANNEL.fullmatch(str(values.get("value", "")).strip())
    of_a_channel = usage.command is ChangeSettings and values.get("name") in OF_A_CHANNEL
    if only is not None and of_a_channel and not values.get("channel"):
        values = {**values, "channel": only[1], "value": "here"}
    return {name: named(value) if isinstance(value, str) else value for name, value in values.items()}


async def _answer(
    context: DiscordContext, interaction: DiscordInteraction, asked: Command | Unreadable, *, replaces: bool
) -> None:
    async def asking() -> Reply:
        return await context.ask(asked, interaction)

    await context.answers.answer(interaction.callback, asking, replaces=replaces, form=lambda: follow_up_form(asked))


async def _button(context: DiscordContext, interaction: DiscordInteraction) -> None:
    chosen_of = interaction.data.get("values") or ()  # of a select: what was chosen says it, and not the select
    carried = str(chosen_of[0] if chosen_of else interaction.data.get("custom_id", ""))
    if (form := form_opened_by(carried)) is not None:
        await open_form(context, interaction, form)
        return
    if (found := read_button(carried)) is None:
        await context.answers.reply_now(interaction.callback, _UNKNOWN)
        return
    words = context.answers.spoken.words
    text, is_spoken = found.command, words.is_name(found.command)
    if is_spoken:
        text = await words.command(interaction.actor.workspace, text) or ""
        interaction = replace(interaction, callback=replace(interaction.callback, is_spoken=True))
    if found.key:
        async with in_time():
            text = await context.platform.chats.kept_text(interaction.actor.workspace, found.key) or ""
    if not text:
        said = FORGOTTEN if is_spoken else "It was made more than a year ago, and what it was for is not kept any more."
        await context.answers.reply_now(interaction.callback, Reply(title="That button is too old", text=(said,)))
        return
    asked = read(text)
    await _answer(context, interaction, asked, replaces=interaction.private and isinstance(asked, _PAGED))


async def _similar(context: DiscordContext, interaction: DiscordInteraction) -> None:
    """Find what is close to the paper or repository that a message links."""
    messages = (interaction.data.get("resolved") or {}).get("messages") or {}
    message: dict[str, Any] = next(iter(messages.values()), {})
    links = links_in(_text_of(message))
    if links:
        await _answer(context, interaction, Similar(links[0]), replaces=False)
        return
    said = "The message has no link to a paper or a repository that I can read."
    await context.answers.reply_now(interaction.callback, failure_reply(said))


def _text_of(message: dict[str, Any]) -> str:
    """Return everything in a message that may hold a link: what was written, its embeds and its components."""
    embeds = [f"{each.get('url', '')} {each.get('description', '')}" for each in message.get("embeds") or ()]
    return " ".join([str(message.get("content") or ""), *embeds, *_texts(message.get("components") or ())])


def _texts(components: Iterable[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for each in components:
        found += [str(each["content"])] if "content" in each else []
        found += _texts(each.get("components") or [])
    return found


async def _complete(context: DiscordContext, interaction: DiscordInteraction) -> None:
    """Answer with what completes the option that is being typed; with nothing where that cannot be said, or not in time."""
    try:
        async with in_time():
            found = await _suggested(context, interaction)
    except BotError as error:
        log.info("Nothing can be suggested: %s", error)
        found = []
    except Exception:
        log.exception("Suggesting failed")
        found = []
    fitting = [(label, value) for label, value in found if 1 <= len(label) <= _CHOICE and 1 <= len(value) <= _CHOICE]
    await context.answers.send_choices(interaction.callback, fitting[:_CHOICES])


async def _suggested(context: DiscordContext, interaction: DiscordInteraction) -> list[tuple[str, str]]:
    option, typed = focused(interaction.data)
    if option is None:
        return []
    if option.offers:
        return [pair for pair in option.offers if typed.casefold() in " ".join(pair).casefold()] or [(typed, typed)]
    beside = filled_in(interaction.data)
    actor = await context.acting(interaction, beside.get("channel", ""))
    handlers = context.handlers_of(interaction)
    suggested = await suggest(handlers, option.suggests, typed, actor, context.now, beside)
    return [(each.label, each.value) for each in suggested]
