"""Views and forms: opened, kept in step with what is chosen in them, tried while somebody types.

A view also shows an answer where there is no message for it to follow.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.chat.forms import FormKind, FormRequest
from adapters.slack.client.errors import CLIENT_FAILURES, failure_reason
from adapters.slack.forms.fields import (
    Block,
    View,
    entered_values,
    memory_of,
    modal,
    mrkdwn,
    note,
    option,
    replace_block,
    unmarked,
    with_unique_ids,
)
from adapters.slack.forms.views import (
    COUNT,
    TEST,
    filter_view,
    read_filter,
    search_view,
    subscribe_view,
    topic_memory,
    topic_view,
)
from adapters.slack.listeners.context import Body, SlackContext, SlackInteraction, interaction_of
from adapters.slack.workspaces import PLATFORM
from bot.commands import Filter, FilterAction
from bot.errors import BotError, UsageError
from bot.handlers.surfaces.forms import count_matching, filter_form, subscribe_form, topic_form
from bot.handlers.surfaces.suggestions import suggest
from bot.handlers.wording.failures import failure_in_words
from bot.models import Actor, Reply

log = logging.getLogger(__name__)

SHOWN = "shown"  # the kind of a view that only shows something
TITLE = "Broadsheet"
_PROMPT = 1.2  # seconds: a trigger opens a view for three, and Slack's own answer takes its share

LOADING = modal(SHOWN, TITLE, ({"type": "section", "block_id": "loading|", "text": mrkdwn("Looking…")},), {})
_MOST = 1000  # views remembered
_PAUSE = 0.5  # seconds without a further character: what was typed is worth trying
_SUGGESTED = 2.0  # seconds; Slack waits for three
_VALUE = 150  # characters of an option's value
_CHOSEN = re.compile("topic|channel")


# --- views


class ViewVersions:
    """Which change of each view is the latest: what an earlier one comes to is not shown any more."""

    def __init__(self) -> None:
        self._versions: dict[str, int] = {}

    def begin(self, view: str) -> "ViewVersion":
        """Begin the view's next version; those before it are the latest no longer."""
        number = self._versions.pop(view, 0) + 1
        self._versions[view] = number
        if len(self._versions) > _MOST:
            del self._versions[next(iter(self._versions))]
        return ViewVersion(self, view, number)

    def is_at(self, view: str, number: int) -> bool:
        """Say whether the view's latest version is the one of this number."""
        return self._versions.get(view) == number


@dataclass(frozen=True, slots=True)
class ViewVersion:
    """One version of a view."""

    _latest: ViewVersions
    _view: str
    _number: int

    @property
    def is_latest(self) -> bool:
        """Whether no other has begun since."""
        return self._latest.is_at(self._view, self._number)


async def reply_view(context: SlackContext, interaction: SlackInteraction, reply: Reply, memory: Mapping[str, str]) -> View:
    """Return a view that shows the reply; its buttons act in the channel that it remembers. A file is sent beside it."""
    messages = await context.answers.messages(interaction.workspace, reply)
    for file in (message.file for message in messages if message.file):
        context.tasks.start(context.answers.send_file(interaction.target, file), "handing over a file")
    return modal(SHOWN, TITLE, with_unique_ids([block for message in messages for block in message.blocks]), memory)


async def open_view(
    context: SlackContext, interaction: SlackInteraction, making: Awaitable[View], *, upon: bool = False
) -> None:
    """Open the view that is being made; where that takes long, something to look at first. Failures are logged.

    `upon` puts it upon the view that the person acted in, which comes back when it is closed.
    """
    task = asyncio.ensure_future(_made(making))
    await asyncio.wait({task}, timeout=_PROMPT)
    prompt = task.done()
    try:
        client = await context.clients.client(interaction.workspace)
        show = client.views_push if upon else client.views_open
        answer = await show(trigger_id=interaction.trigger, view=task.result() if prompt else LOADING)
        if not prompt:
            await client.views_update(view_id=answer["view"]["id"], view=await task)
    except CLIENT_FAILURES as error:
        log.warning("A view in %s could not be opened: %s", interaction.workspace, failure_reason(error))
    finally:
        task.cancel()


async def update_view(
    context: SlackContext, workspace: str, view: str, making: Awaitable[View], version: ViewVersion | None = None
) -> None:
    """Show what is being made instead of the view, if that version of it is the latest. Failures are logged."""
    made = await _made(making)
    if version is not None and not version.is_latest:
        return
    try:
        client = await context.clients.client(workspace)
        await client.views_update(view_id=view, view=made)
    except CLIENT_FAILURES as error:
        log.warning("A view in %s could not be changed: %s", workspace, failure_reason(error))


async def _made(making: Awaitable[View]) -> View:
    """Return the view, or one that says why there is none."""
    try:
        return await making
    except BotError as error:
        text = f"{failure_in_words(error)} {getattr(error, 'hint', '')}".strip()
        return modal(SHOWN, TITLE, ({"type": "section", "block_id": "trouble|", "text": mrkdwn(text)},), {})


# --- forms


def listen(app: AsyncApp, context: SlackContext) -> None:
    """Hear what is chosen and typed in forms."""
    versions = ViewVersions()

    async def suggested(ack: AsyncAck, body: Body) -> None:
        await ack(options=await _suggestions(context, body))

    chosen, typed = partial(_show_subscription, versions), partial(_count_matches, versions)
    app.action(_CHOSEN)(context.acknowledging(chosen, "showing a subscription"))
    app.action("query")(context.acknowledging(typed, "trying a query"))
    app.action(TEST)(context.acknowledging(_try_filter, "trying a filter"))
    app.options(re.compile("topic|zone"))(suggested)


async def open_form(
    context: SlackContext, interaction: SlackInteraction, form: FormRequest, memory: Mapping[str, str], *, upon: bool = False
) -> None:
    """Open the form. It remembers the channel that it is for, where to answer, and whether it came from the Home tab."""
    await open_view(context, interaction, _form_view(context, interaction, form, memory), upon=upon)


async def _form_view(
    context: SlackContext, interaction: SlackInteraction, form: FormRequest, memory: Mapping[str, str]
) -> View:
    channel = memory.get("channel", "")
    actor = await context.actor(interaction, channel)
    handlers = context.platform.handler_context
    match form.kind:
        case FormKind.SEARCH:
            return search_view(memory)
        case FormKind.FILTER:
            filtered = await filter_form(handlers, actor, form.topic)
            return filter_view(filtered, {**memory, "topic": filtered.topic})
        case FormKind.TOPIC:
            topic = await topic_form(handlers, actor, form.topic)
            count = await _matches(context, actor, topic.query) if topic.query else ""
            return topic_view(topic, handlers.source_titles, {**memory, **topic_memory(topic)}, count)
        case FormKind.SUBSCRIPTION:
            subscribed = await subscribe_form(handlers, actor, form.topic, context.now) if form.topic else None
            return subscribe_view(subscribed, channel, memory)


# --- while it is filled in


async def _show_subscription(versions: ViewVersions, context: SlackContext, body: Body) -> None:
    """Show how the chosen channel subscribes to the chosen topic."""
    interaction, view = interaction_of(body), body["view"]
    version = versions.begin(view["id"])
    values, memory = entered_values(view), memory_of(view)
    if memory.get("channel") != values["channel"]:
        memory.pop("url", None)  # it answers in the channel where the form was asked for, and in no other
    memory["channel"] = str(values["channel"])
    making = _form_view(context, interaction, FormRequest(FormKind.SUBSCRIPTION, str(values["topic"])), memory)
    await update_view(context, interaction.workspace, view["id"], making, version)


async def _count_matches(versions: ViewVersions, context: SlackContext, body: Body) -> None:
    """Say under the query what it lets in, when nobody types any more."""
    interaction, view = interaction_of(body), body["view"]
    version = versions.begin(view["id"])
    await asyncio.sleep(_PAUSE)
    if not version.is_latest:
        return
    actor = await context.actor(interaction, memory_of(view).get("channel", ""))

    async def counted() -> View:
        text = await _matches(context, actor, str(entered_values(view)["query"]))
        return replace_block(view, note(COUNT, text))

    await update_view(context, interaction.workspace, view["id"], counted(), version)


async def _matches(context: SlackContext, actor: Actor, query: str) -> str:
    """Return in a sentence what the query lets in, or what is wrong with it."""
    if not query.strip():
        return "Nothing is said yet: without a query nothing can be counted."
    try:
        return await count_matching(context.platform.handler_context, actor, query, context.now)
    except UsageError as error:
        return f"{error} {error.hint}".strip()
    except BotError as error:
        return failure_in_words(error)


async def _try_filter(context: SlackContext, body: Body) -> None:
    """Show under the filter what it lets through and what it stops."""
    interaction, view = interaction_of(body), body["view"]
    memory = memory_of(view)
    actor = await context.actor(interaction, memory.get("channel", ""))

    async def tried() -> View:
        base = await filter_form(context.platform.handler_context, actor, memory["topic"])
        now = read_filter(entered_values(view), base)
        reply = await context.ask(Filter(base.topic, FilterAction.TEST, now.query, now.scope), actor)
        bare = replace(reply, buttons=(), entries=tuple(replace(each, buttons=()) for each in reply.entries))
        blocks: list[Block] = [
            {**block, "block_id": f"outcome:{number}"}
            for message in await context.answers.messages(interaction.workspace, bare)
            for number, block in enumerate(message.blocks)
        ]
        return filter_view(base, memory, blocks)

    await update_view(context, interaction.workspace, view["id"], tried())


async def _suggestions(context: SlackContext, body: Body) -> list[dict[str, Any]]:
    """Return what fits what was typed into a list; nothing when that takes too long."""
    interaction = interaction_of(body)
    actor = Actor(platform=PLATFORM, workspace=interaction.workspace, channel=interaction.channel, person=interaction.person)
    asking = suggest(context.platform.handler_context, body["action_id"], str(body.get("value") or ""), actor, context.now)
    try:
        found = await asyncio.wait_for(asking, _SUGGESTED)
    except TimeoutError:
        return []
    return [option(each.value, unmarked(each.label)) for each in found if len(each.value) <= _VALUE]
