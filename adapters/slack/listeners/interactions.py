"""What people ask for in Slack: the slash command, buttons, shortcuts. Each is acknowledged before anything is done.

A button carries another command, or opens a form. A posted digest is never changed by one.
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncApp

from adapters.chat.forms import FormKind, FormRequest, follow_up_form, form_asked_for
from adapters.slack.forms.fields import Block, View, form_of, form_opened_by, form_row, memory_of
from adapters.slack.forms.modals import open_form
from adapters.slack.forms.showing import Showing, open_view, shown_reply, update_view, view_target
from adapters.slack.forms.submissions import refuse_unknown
from adapters.slack.install.permissions import COMMAND, FIND_SIMILAR, SEARCH
from adapters.slack.listeners.answers import AnswerTarget, direct_channel
from adapters.slack.listeners.context import Body, SlackContext, SlackInteraction
from adapters.slack.listeners.home import publish
from adapters.slack.render.blocks import ASKED_FIRST, KEPT, MENU, OPENED
from adapters.slack.render.home import HOME, SEND_TO_ME, SHOW_TOPIC
from bot.commands import Command, ShowTopic, Similar, Subscribe, Unreadable, read
from bot.commands.words import without_identifiers
from bot.errors import BotError
from bot.handlers.addresses.places import with_addresses_told
from bot.handlers.items import links_in
from bot.models import Actor, Button, Reply

log = logging.getLogger(__name__)

_COMMAND = re.compile(r"command:\d+")
_FORM = re.compile(r"form:\w+")
_OF_CHANNEL = re.compile(r"in:(?P<channel>\w+):")  # begins the name of a row whose buttons act in that channel
# By a button: None where that is not kept any more; what is asked back where it takes something away.
_Asked = Command | Unreadable | Reply | None
_UNKNOWN = Reply(
    title="That does nothing now",
    text=("This version of Broadsheet does not know it.",),
    next_steps=("*help* says what it can do.",),
)
_WHOLE = "reply"  # begins the name of a row that belongs to a whole answer: what it asks for takes the answer's place


def listen(app: AsyncApp, context: SlackContext) -> None:
    """Hear commands, buttons and shortcuts."""
    app.command(COMMAND)(context.acknowledging(_answer_command, "answering a command"))
    for pressed in (_COMMAND, MENU):
        app.action(pressed)(context.acknowledging(_answer_button, "answering a button"))
    app.action(_FORM)(context.acknowledging(_open_form, "opening a form"))
    for chosen in (SHOW_TOPIC, SEND_TO_ME):
        app.action(chosen)(context.acknowledging(_choose_topic, "answering the choice of a topic"))
    app.message_shortcut(FIND_SIMILAR)(context.acknowledging(_find_similar, "finding similar papers"))
    app.global_shortcut(SEARCH)(context.acknowledging(_open_search, "opening a search"))


def listen_to_the_rest(app: AsyncApp, context: SlackContext) -> None:
    """Answer what nothing else hears: what an earlier or a later version, or somebody's own manifest, offers."""
    anything = re.compile("")
    app.command(anything)(context.acknowledging(_answer_command, "answering a command"))
    for hear in (app.action, app.shortcut):
        hear(anything)(context.acknowledging(_answer_unknown, "answering something unknown"))
    app.view(anything)(refuse_unknown)
    app.view_closed(anything)(refuse_unknown)


async def _answer_unknown(context: SlackContext, body: Body) -> None:
    if any("url" in action for action in body.get("actions") or ()):
        return  # it led somewhere
    await context.answers.send_reply(replace(context.interaction_of(body).target, may_replace=False), _UNKNOWN)


async def _answer_command(context: SlackContext, body: Body) -> None:
    line = str(body.get("text") or "")
    interaction, asked = context.interaction_of(body), read(line)
    if (form := form_asked_for(asked)) is not None:
        await open_form(context, interaction, form, {"channel": interaction.channel, "url": interaction.url})
        return
    asking = _ask(context, interaction, interaction.channel, asked, line)
    await context.answers.answer(interaction.target, asking, _beside(asked))


def _beside(asked: _Asked) -> Sequence[Block]:
    """Return what stands at the end of an answer: the button for the form in which one may go on."""
    form = None if isinstance(asked, Reply) else follow_up_form(asked)
    return form_row(form) if form else ()


# --- buttons


async def _answer_button(context: SlackContext, body: Body) -> None:
    interaction, action = context.interaction_of(body), body["actions"][0]
    value = str((action.get("selected_option") or action)["value"])
    if value.startswith(OPENED):
        return  # it led somewhere
    if (form := form_opened_by(value)) is not None:
        await _open_requested(context, interaction, body, form)
        return
    asked = await _asked_by(context, interaction, action, value)
    if body["container"]["type"] == "view":
        await _answer_in_view(context, interaction, body["view"], action, asked)
        return
    own = bool(body["container"].get("is_ephemeral")) and action["block_id"].startswith(_WHOLE)
    target = AnswerTarget(
        workspace=interaction.workspace,
        channel=interaction.channel,
        person=interaction.person,
        url=interaction.url,
        thread=str((body.get("message") or {}).get("thread_ts") or body["container"].get("thread_ts") or ""),
        replaces=own,
        may_replace=own,
        is_spoken=context.answers.spoken.words.is_name(value),
    )
    asking = _ask(context, interaction, interaction.channel, asked, post=target.thread)
    await context.answers.answer(target, asking, _beside(asked))


async def _asked_by(context: SlackContext, interaction: SlackInteraction, action: Body, value: str) -> _Asked:
    """Return what is asked by it; of an entry of a menu that takes something away, whether that is to be done."""
    if not value.startswith(ASKED_FIRST):
        return await _command_of(context, interaction, value)
    command, label = value.removeprefix(ASKED_FIRST), str(action["selected_option"]["text"]["text"])
    if command.startswith(KEPT):
        command = await context.platform.chats.kept_text(interaction.workspace, command.removeprefix(KEPT)) or ""
    named = without_identifiers(command)
    text = (f"This does: *{named}*.",)
    return (
        Reply(title=f"{label}?", text=text, buttons=(Button(label, command),), private=named != command) if command else None
    )


async def _command_of(context: SlackContext, interaction: SlackInteraction, value: str) -> Command | Unreadable | None:
    """Return the command that the button, or entry of a menu, stands for; None for one that is not kept any more."""
    if context.answers.spoken.words.is_name(value):
        value = await context.answers.spoken.words.command(interaction.workspace, value) or ""
    elif value.startswith(KEPT):
        try:
            value = await context.platform.chats.kept_text(interaction.workspace, value.removeprefix(KEPT)) or ""
        except BotError as error:
            log.warning("What a button stands for could not be read: %s", error)
            return None
    return read(value) if value else None


async def _ask(
    context: SlackContext,
    interaction: SlackInteraction,
    channel: str,
    asked: _Asked,
    line: str = "",
    *,
    at_home: bool = False,
    post: str = "",
) -> Reply:
    if asked is None:
        said = (
            "What it was for cannot be read now, or is not kept any more: buttons last for a year; those of an answer to a"
            " message only while Broadsheet runs, since what one writes is never kept."
        )
        return Reply(title="That button does nothing now", text=(said,))
    actor = replace(await context.actor(interaction, channel), post=post)
    if isinstance(asked, Reply):
        return await _with_address(context, asked, actor)
    return await context.ask(asked, replace(actor, is_direct=True) if at_home else actor, line)


async def _with_address(context: SlackContext, sure: Reply, actor: Actor) -> Reply:
    """Return the question whether something is to be done, with the address of the person's own that it is about."""
    told = await with_addresses_told(context.platform.handler_context, sure, actor)
    named = [each.told for each in told.buttons if each.told]
    return replace(told, text=(f"This does: *{named[0]}*.",)) if named else told


async def _answer_in_view(
    context: SlackContext, interaction: SlackInteraction, view: View, action: Body, asked: _Asked
) -> None:
    """Show the answer in a view: instead of the one that was acted in, upon it, or over the Home tab."""
    memory, named, at_home = memory_of(view), _OF_CHANNEL.match(action["block_id"]), view["type"] == HOME
    memory["channel"] = named["channel"] if named else memory.get("channel", "")
    if at_home:
        memory["home"] = "yes"
    if "home" in memory and not memory["channel"] and isinstance(asked, Subscribe):  # in no channel yet
        form = FormRequest(FormKind.SUBSCRIPTION, asked.topic)
        await open_form(context, interaction, form, {"home": "yes"}, upon=not at_home)
        return

    async def shown() -> Showing:
        reply = await _ask(context, interaction, memory["channel"], asked, at_home="home" in memory)
        return await shown_reply(context, interaction, reply, memory)

    target = view_target(interaction, memory)
    if not at_home and action["block_id"].startswith(_WHOLE):
        await update_view(context, view["id"], shown(), target)
    else:
        await open_view(context, interaction, shown(), target, upon=not at_home)
    if "home" in memory:
        await publish(context, interaction.workspace, interaction.person)


async def _choose_topic(context: SlackContext, body: Body) -> None:
    """Show the topic that was chosen on the Home tab, or subscribe it for the person, in their direct message."""
    interaction, action = context.interaction_of(body), body["actions"][0]
    topic, memory = str(action["selected_option"]["value"]), {"home": "yes", "channel": ""}

    async def shown() -> Showing:
        asked: Command = ShowTopic(topic)
        if action["action_id"] == SEND_TO_ME:
            client = await context.answers.client(interaction.workspace)
            memory["channel"], asked = await direct_channel(client, interaction.person), Subscribe(topic=topic)
        reply = await _ask(context, interaction, memory["channel"], asked)
        return await shown_reply(context, interaction, reply, memory)

    await open_view(context, interaction, shown(), view_target(interaction, memory))
    await publish(context, interaction.workspace, interaction.person)


async def _open_form(context: SlackContext, body: Body) -> None:
    action = body["actions"][0]
    form = form_of(action["action_id"], action.get("value") or "")
    await _open_requested(context, context.interaction_of(body), body, form)


async def _open_requested(context: SlackContext, interaction: SlackInteraction, body: Body, form: FormRequest) -> None:
    action, view = body["actions"][0], body.get("view")
    if view is None:
        await open_form(context, interaction, form, {"channel": interaction.channel, "url": interaction.url})
        return
    memory, named = memory_of(view), _OF_CHANNEL.match(action["block_id"])
    kept = {name: value for name, value in memory.items() if name in ("channel", "url", "home")}
    if view["type"] == HOME:
        kept = {"home": "yes"} | ({"channel": named["channel"]} if named else {})
    await open_form(context, interaction, form, kept, upon=view["type"] != HOME)


# --- shortcuts: papers like the one that a message links, and a search from anywhere

_NO_LINK = Reply(
    title="No paper is linked there",
    text=("The message links nothing that Broadsheet knows: a paper on arXiv or Hugging Face, a repository on GitHub.",),
    next_steps=("*similar LINK* takes any link, and *search QUERY…* finds by words.",),
)
_DEEPEST = 20  # levels of a message's blocks; Slack's own have fewer
_SPOKEN = ("text", "url", "title_link", "from_url", "original_url", "fallback", "value")


async def _open_search(context: SlackContext, body: Body) -> None:
    await open_form(context, context.interaction_of(body), FormRequest(FormKind.SEARCH), {"home": "yes"})


async def _find_similar(context: SlackContext, body: Body) -> None:
    interaction = context.interaction_of(body)
    links = links_in("\n".join(_texts(body.get("message") or {})))
    if not links:
        await context.answers.send_reply(interaction.target, _NO_LINK)
        return
    asking = _ask(context, interaction, interaction.channel, Similar(links[0]))
    await context.answers.answer(interaction.target, asking)


def _texts(node: Any, depth: int = _DEEPEST) -> Iterator[str]:
    """Yield the texts and addresses of a message: its own, those of its blocks, and of what was unfurled below it."""
    if depth <= 0:
        return
    if isinstance(node, Mapping):
        yield from (node[name] for name in _SPOKEN if isinstance(node.get(name), str))
        for value in node.values():
            yield from _texts(value, depth - 1)
    elif isinstance(node, list):
        for value in node:
            yield from _texts(value, depth - 1)
