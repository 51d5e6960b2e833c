"""Forms: opened, kept in step with what is chosen in them, and tried while somebody types."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.slack.forms import filter_view, search_view, subscribe_view, topic_view
from adapters.slack.forms.fields import Block, View, memory_of, note, option, plain, said, with_block
from adapters.slack.forms.latest import Latest
from adapters.slack.forms.openers import Form
from adapters.slack.forms.views import changed, opened
from adapters.slack.listeners.context import Reception, Scene, scene_of
from bot.commands import Filter, FilterAction
from bot.errors import BotError, UsageError
from bot.handlers.surfaces.forms import filter_form, matching, subscribe_form, topic_form
from bot.handlers.surfaces.suggestions import suggest
from bot.handlers.wording.failures import in_words
from bot.models import Actor

_PAUSE = 0.5  # seconds without a further character: what was typed is worth trying
_SUGGESTED = 2.0  # seconds; Slack waits for three
_VALUE = 150  # characters of an option's value
_CHOSEN = re.compile("topic|channel")


def listen(app: AsyncApp, reception: Reception) -> None:
    """Hear what is chosen and typed in forms."""
    latest = Latest()

    async def chosen(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        reception.work.begin(_chosen(reception, latest, body), "showing a subscription")

    async def typed(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        reception.work.begin(_counted(reception, latest, body), "trying a query")

    async def tested(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        reception.work.begin(_tested(reception, body), "trying a filter")

    async def sought(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack(options=await _options(reception, body))

    app.action(_CHOSEN)(chosen)
    app.action("query")(typed)
    app.action(filter_view.TEST)(tested)
    app.options(re.compile("topic|zone"))(sought)


# --- opened


async def open_form(
    reception: Reception, scene: Scene, form: Form, memory: Mapping[str, str], *, upon: bool = False
) -> None:
    """Open the form. It remembers the channel that it is for, where to answer, and whether it came from the Home tab."""
    await opened(reception, scene, _made(reception, scene, form, memory), upon=upon)


async def _made(reception: Reception, scene: Scene, form: Form, memory: Mapping[str, str]) -> View:
    channel = memory.get("channel", "")
    actor = await reception.actors.actor(scene.workspace, channel, scene.person)
    context = reception.line.handler_context
    if form.kind == search_view.KIND:
        return search_view.view_of(memory)
    if form.kind == filter_view.KIND:
        filtered = await filter_form(context, actor, form.topic)
        return filter_view.view_of(filtered, {**memory, "topic": filtered.topic})
    if form.kind == topic_view.KIND:
        topic = await topic_form(context, actor, form.topic)
        remembered = {**memory, **topic_view.remembered(topic)}
        count = await counted(reception, actor, topic.query) if topic.query else ""
        return topic_view.view_of(topic, context.source_titles, remembered, count)
    subscribed = await subscribe_form(context, actor, form.topic, reception.now) if form.topic else None
    return subscribe_view.view_of(subscribed, channel, memory)


# --- while it is filled in


async def _chosen(reception: Reception, latest: Latest, body: Mapping[str, Any]) -> None:
    """Show how the chosen channel subscribes to the chosen topic."""
    scene, view = scene_of(body), body["view"]
    turn = latest.begin(view["id"])
    values = said(view)
    memory = memory_of(view)
    if memory.get("channel") != values["channel"]:
        memory.pop("url", None)  # it answers in the channel where the form was asked for, and in no other
    memory["channel"] = str(values["channel"])
    making = _made(reception, scene, Form(subscribe_view.KIND, str(values["topic"])), memory)
    await changed(reception, scene.workspace, view["id"], making, turn)


async def _counted(reception: Reception, latest: Latest, body: Mapping[str, Any]) -> None:
    """Say under the query what it lets in, when nobody types any more."""
    scene, view = scene_of(body), body["view"]
    turn = latest.begin(view["id"])
    await asyncio.sleep(_PAUSE)
    if not turn.is_latest:
        return
    actor = await reception.actors.actor(scene.workspace, memory_of(view).get("channel", ""), scene.person)

    async def told() -> View:
        text = await counted(reception, actor, str(said(view)["query"]))
        return with_block(view, note(topic_view.COUNT, text))

    await changed(reception, scene.workspace, view["id"], told(), turn)


async def counted(reception: Reception, actor: Actor, query: str) -> str:
    """Return in a sentence what the query lets in, or what is wrong with it."""
    if not query.strip():
        return "Nothing is said yet: without a query nothing can be counted."
    try:
        return await matching(reception.line.handler_context, actor, query, reception.now)
    except UsageError as error:
        return f"{error} {error.hint}".strip()
    except BotError as error:
        return in_words(error)


async def _tested(reception: Reception, body: Mapping[str, Any]) -> None:
    """Show under the filter what it lets through and what it stops."""
    scene, view = scene_of(body), body["view"]
    memory = memory_of(view)
    actor = await reception.actors.actor(scene.workspace, memory.get("channel", ""), scene.person)

    async def tried() -> View:
        base = await filter_form(reception.line.handler_context, actor, memory["topic"])
        now = filter_view.form_said(said(view), base)
        reply = await reception.ask(Filter(base.topic, FilterAction.TEST, now.query, now.scope), actor)
        quiet = replace(reply, buttons=(), entries=tuple(replace(each, buttons=()) for each in reply.entries))
        blocks: list[Block] = [
            {**block, "block_id": f"outcome:{number}"}
            for posting in await reception.answers.postings(scene.workspace, quiet)
            for number, block in enumerate(posting.blocks)
        ]
        return filter_view.view_of(base, memory, blocks)

    await changed(reception, scene.workspace, view["id"], tried())


async def _options(reception: Reception, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what fits what was typed into a list; nothing when that takes too long."""
    scene = scene_of(body)
    actor = Actor(platform="slack", workspace=scene.workspace, channel=scene.channel, person=scene.person)
    asking = suggest(reception.line.handler_context, body["action_id"], str(body.get("value") or ""), actor, reception.now)
    try:
        found = await asyncio.wait_for(asking, _SUGGESTED)
    except TimeoutError:
        return []
    return [option(each.value, plain(each.label)) for each in found if len(each.value) <= _VALUE]
