"""What people do: commands, buttons, what is being typed, and the command on messages."""

import logging
from collections.abc import Iterable
from typing import Any

import discord

from adapters.discord.forms.modals import open_form, submitted
from adapters.discord.install.command_tree import ROOT, chosen, focused
from adapters.discord.listeners.context import Reception, Scene, scene_of
from adapters.discord.render.buttons import opened, pressed
from adapters.forms import form_beside, form_instead
from bot.commands import Command, ListSaved, Search, Similar, parse
from bot.errors import BotError, Incomplete, UsageError
from bot.handlers.items import links_in
from bot.handlers.surfaces.suggestions import suggest
from bot.handlers.wording.failures import broken, not_done
from bot.models import Reply

log = logging.getLogger(__name__)

_CHOICES = 25
_CHOICE = 100  # characters of a choice
_PAGED = Search | ListSaved  # answers with pages, which change in place


async def heard(reception: Reception, interaction: "discord.Interaction[Any]") -> None:
    """Do what an interaction asks for."""
    scene = scene_of(interaction, reception.now)
    kind = interaction.type
    if kind is discord.InteractionType.autocomplete:
        await _complete(reception, scene)
    elif kind is discord.InteractionType.application_command:
        await _command(reception, scene)
    elif kind is discord.InteractionType.component:
        await _button(reception, scene)
    elif kind is discord.InteractionType.modal_submit:
        await submitted(reception, scene)


async def _command(reception: Reception, scene: Scene) -> None:
    if scene.data.get("name") != ROOT:
        await _similar(reception, scene)
        return
    words = ""
    try:
        usage, values = chosen(scene.data)
        words = usage.words
        asked = usage.command.chosen(values)
    except Incomplete as error:
        await open_form(reception, scene, form_instead(error))
        return
    except UsageError as error:
        await reception.answers.at_once(scene.call, scene.workspace, not_done(error, words, None))
        return
    await _answer(reception, scene, asked, replaces=False)


async def _answer(reception: Reception, scene: Scene, asked: str | Command, *, replaces: bool) -> None:
    async def asking() -> Reply:
        return await reception.ask(asked, scene)

    await reception.answers.answer(scene.call, scene.workspace, asking, replaces=replaces, form=lambda: form_beside(asked))


async def _button(reception: Reception, scene: Scene) -> None:
    chosen_of = scene.data.get("values") or ()  # of a select: what was chosen says it, and not the select
    carried = str(chosen_of[0] if chosen_of else scene.data.get("custom_id", ""))
    if (form := opened(carried)) is not None:
        await open_form(reception, scene, form)
        return
    found = pressed(carried)
    text = found.command if found else ""
    if found and found.key:
        text = await reception.line.chats.kept_text(scene.workspace, found.key) or ""
    if not text:
        said = "It was made more than a year ago, and what it was for is not kept any more."
        await reception.answers.at_once(scene.call, scene.workspace, Reply(title="That button is too old", text=(said,)))
        return
    await _answer(reception, scene, text, replaces=scene.private and _is_page(text))


def _is_page(text: str) -> bool:
    """Say whether the button turns a page, or sorts it anew: the answer that it stands in changes in place."""
    try:
        return isinstance(parse(text), _PAGED)
    except UsageError:
        return False


async def _similar(reception: Reception, scene: Scene) -> None:
    """Find what is close to the paper or repository that a message links."""
    messages = (scene.data.get("resolved") or {}).get("messages") or {}
    message: dict[str, Any] = next(iter(messages.values()), {})
    links = links_in(_text_of(message))
    if links:
        await _answer(reception, scene, Similar(links[0]), replaces=False)
        return
    said = "The message has no link to a paper or a repository that I can read."
    await reception.answers.at_once(scene.call, scene.workspace, broken(said))


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


async def _complete(reception: Reception, scene: Scene) -> None:
    option, typed = focused(scene.data)
    found: list[tuple[str, str]] = []
    if option is not None and option.offers:
        found = [pair for pair in option.offers if typed.casefold() in " ".join(pair).casefold()] or [(typed, typed)]
    elif option is not None:
        try:
            suggested = await suggest(reception.handler_context, option.suggests, typed, scene.actor, reception.now)
        except BotError as error:
            log.info("nothing can be suggested: %s", error)
            suggested = ()
        found = [(each.label, each.value) for each in suggested]
    fitting = [(label, value) for label, value in found if 1 <= len(label) <= _CHOICE and 1 <= len(value) <= _CHOICE]
    await reception.answers.choices(scene.call, fitting[:_CHOICES])
