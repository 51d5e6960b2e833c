"""Forms: opened, kept in step with what is chosen in them, tried while somebody types."""

import asyncio
import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.chat.forms import FormKind, FormRequest
from adapters.slack.forms.fields import (
    Block,
    View,
    entered_values,
    memory_of,
    note,
    option,
    replace_block,
    unmarked,
)
from adapters.slack.forms.showing import ViewVersions, open_view, update_view, view_target
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
from adapters.slack.listeners.context import Body, SlackContext, SlackInteraction, elsewhere
from adapters.slack.workspaces import PLATFORM
from bot.commands import Filter, FilterAction
from bot.errors import BotError, UsageError
from bot.handlers.surfaces.forms import count_matching, filter_form, subscribe_form, topic_form
from bot.handlers.surfaces.suggestions import suggest
from bot.handlers.wording.failures import failure_in_words
from bot.models import Actor

log = logging.getLogger(__name__)

_PAUSE = 0.5  # seconds without a further character: what was typed is worth trying
_SUGGESTED = 2.0  # seconds; Slack waits for three
_VALUE = 150  # characters of an option's value
_CHOSEN = re.compile("^(topic|channel)$")


def listen(app: AsyncApp, context: SlackContext) -> None:
    """Hear what is chosen and typed in forms."""
    versions = ViewVersions()

    async def suggested(ack: AsyncAck, body: Body) -> None:
        try:
            found = await _suggestions(context, body)
        except Exception:
            log.exception("What fits what was typed could not be found")
            found = []
        await ack(options=found)

    chosen, typed = partial(_show_subscription, versions), partial(_count_matches, versions)
    app.action(_CHOSEN)(context.acknowledging(chosen, "showing a subscription"))
    app.action("query")(context.acknowledging(typed, "trying a query"))
    app.action(TEST)(context.acknowledging(_try_filter, "trying a filter"))
    app.options(re.compile(""))(suggested)


async def open_form(
    context: SlackContext, interaction: SlackInteraction, form: FormRequest, memory: Mapping[str, str], *, upon: bool = False
) -> None:
    """Open the form. It remembers the channel that it is for, where to answer, and whether it came from the Home tab."""
    making = _form_view(context, interaction, form, memory)
    await open_view(context, interaction, making, view_target(interaction, memory), upon=upon)


async def _form_view(
    context: SlackContext, interaction: SlackInteraction, form: FormRequest, memory: Mapping[str, str]
) -> View:
    channel = memory.get("channel", "")
    actor = await context.actor(interaction, channel)
    if form.channel:
        actor = await elsewhere(context.answers, context.actors, actor, form.channel)
        channel = actor.channel
        memory = {name: value for name, value in memory.items() if name != "url"} | {"channel": channel}
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
            subscribed = None
            if form.topic:
                subscribed = await subscribe_form(handlers, actor, form.topic, context.now, rhythm=form.rhythm)
            return subscribe_view(subscribed, channel, memory)


# --- while it is filled in


async def _show_subscription(versions: ViewVersions, context: SlackContext, body: Body) -> None:
    """Show how the chosen channel subscribes to the chosen topic."""
    interaction, view = context.interaction_of(body), body["view"]
    version = versions.begin(view["id"])
    values, memory = entered_values(view), memory_of(view)
    if memory.get("channel") != values["channel"]:
        memory.pop("url", None)  # it answers in the channel where the form was asked for, and in no other
    memory["channel"] = str(values["channel"])
    making = _form_view(context, interaction, FormRequest(FormKind.SUBSCRIPTION, str(values["topic"])), memory)
    await update_view(context, view["id"], making, view_target(interaction, memory), version)


async def _count_matches(versions: ViewVersions, context: SlackContext, body: Body) -> None:
    """Say under the query what it lets in, when nobody types any more."""
    interaction, view = context.interaction_of(body), body["view"]
    version = versions.begin(view["id"])
    await asyncio.sleep(_PAUSE)
    if not version.is_latest:
        return
    actor = await context.actor(interaction, memory_of(view).get("channel", ""))

    async def counted() -> View:
        text = await _matches(context, actor, str(entered_values(view)["query"]))
        return replace_block(view, note(COUNT, text))

    await update_view(context, view["id"], counted(), view_target(interaction, memory_of(view)), version)


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
    interaction, view = context.interaction_of(body), body["view"]
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

    await update_view(context, view["id"], tried(), view_target(interaction, memory))


async def _suggestions(context: SlackContext, body: Body) -> list[dict[str, Any]]:
    """Return what fits what was typed into a list; nothing when that takes too long."""
    interaction = context.interaction_of(body)
    actor = Actor(platform=PLATFORM, workspace=interaction.workspace, channel=interaction.channel, person=interaction.person)
    kind = str(body["action_id"]).partition(":")[0]  # a list of the Home tab says behind it what is done with what is chosen
    asking = suggest(context.platform.handler_context, kind, str(body.get("value") or ""), actor, context.now)
    try:
        found = await asyncio.wait_for(asking, _SUGGESTED)
    except TimeoutError:
        return []
    return [option(each.value, unmarked(each.label)) for each in found if len(each.value) <= _VALUE]
