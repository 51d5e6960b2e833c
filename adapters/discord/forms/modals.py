"""Forms: a subscription, a topic, a filter. What was filled in before stands in the store, so that only changes are done."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from adapters.chat import forms
from adapters.chat.forms import Field, FormKind, FormRequest, on_one_line
from adapters.discord.listeners.context import DiscordContext, DiscordInteraction
from adapters.text import clean, cut
from bot.commands import Scope, Subscribe, parse, write
from bot.commands.forms import FilterForm, SubscribeForm, TopicForm, filled
from bot.commands.forms import Form as Values
from bot.errors import BotError, Conflict, UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.surfaces.forms import filter_form, submit, subscribe_form, topic_form
from bot.handlers.wording.failures import failure_in_words, failure_reply, usage_failure
from bot.models import Actor, Reply

log = logging.getLogger(__name__)

Said = Mapping[str, str]  # what stands in the fields, by their names

_LABEL, _TEXT, _SELECT = 18, 4, 3  # types of components
_LINE, _PARAGRAPH = 1, 2
_TITLE, _NAME, _HINT = 45, 45, 100  # characters
_LONGEST = 4000  # characters of a field
_ANY = "x"  # stands for the topic where only the rest of a command is read


async def open_form(context: DiscordContext, interaction: DiscordInteraction, form: FormRequest) -> None:
    """Show the form, with what was said in it before where it is kept; what is wrong with what it is of is told instead."""
    shape = _SHAPES[form.kind]
    kept = await context.platform.chats.kept_text(interaction.actor.workspace, form.kept) if form.kept else None
    before: dict[str, Any] = json.loads(kept) if kept else {"topic": form.topic}
    try:
        standing = await shape.standing(context.handler_context, interaction.actor, before["topic"], context.now)
    except UsageError as error:
        await context.answers.reply_now(interaction.callback, usage_failure(error, _command(form.kind, form.topic)))
        return
    except BotError as error:
        await context.answers.reply_now(interaction.callback, failure_reply(failure_in_words(error)))
        return
    said = shape.said(standing)
    memory = {"of": form.kind, "topic": _topic_of(standing), "said": said, "revision": getattr(standing, "revision", None)}
    if kept:  # who goes on was shown what stood there then
        memory |= {"said": before["said"], "revision": before["revision"]}
    fields = shape.fields(standing, said | before.get("typed", {}))
    (key,) = await context.platform.chats.keep_texts(interaction.actor.workspace, [json.dumps(memory)], context.now)
    await context.answers.open_modal(
        interaction.callback, {"custom_id": f"f:{key}", "title": cut(shape.title(standing), _TITLE), "components": fields}
    )


async def submitted(context: DiscordContext, interaction: DiscordInteraction) -> None:
    """Do what a form asks; what does not work is kept, and a button goes on from there."""
    kept = await context.platform.chats.kept_text(
        interaction.actor.workspace, str(interaction.data.get("custom_id", "")).removeprefix("f:")
    )
    again: list[FormRequest] = []

    async def asking() -> Reply:
        if not kept:
            return failure_reply("The form was opened too long ago; open it again.")
        memory = json.loads(kept)
        try:
            return await _done(context, interaction, memory)
        except UsageError as error:
            again.extend([] if isinstance(error, Conflict) else await _to_go_on(context, interaction, memory))
            return usage_failure(error, _command(FormKind(memory["of"]), memory["topic"]))
        except BotError as error:
            return failure_reply(failure_in_words(error))

    await context.answers.answer(interaction.callback, asking, replaces=False, form=lambda: again[0] if again else None)


async def _to_go_on(
    context: DiscordContext, interaction: DiscordInteraction, memory: Mapping[str, Any]
) -> list[FormRequest]:
    """Keep what was said, and return the form that shows it; nothing where it cannot be kept."""
    typed = json.dumps({**memory, "typed": dict(_said(interaction.data))})
    try:
        (key,) = await context.platform.chats.keep_texts(interaction.actor.workspace, [typed], context.now)
    except BotError as error:
        log.warning("what was said in a form cannot be kept: %s", error)
        return []
    return [FormRequest(FormKind(memory["of"]), memory["topic"], key)]


async def _done(context: DiscordContext, interaction: DiscordInteraction, memory: dict[str, Any]) -> Reply:
    shape = _SHAPES[FormKind(memory["of"])]
    wanted = dict(_said(interaction.data))
    topic = memory["topic"] or wanted.get("topic", "")
    like = await shape.standing(
        context.handler_context, interaction.actor, topic if memory["of"] != FormKind.TOPIC else memory["topic"], context.now
    )
    if isinstance(like, TopicForm):
        like = replace(like, revision=memory["revision"])
    # A form that was opened for no topic showed how none stands: all of it is to become true.
    before = shape.read(like, memory["said"]) if memory["topic"] or isinstance(like, TopicForm) else like
    after = shape.read(like, wanted)
    return await submit(context.handler_context, before, after, interaction.actor, context.now)


def _command(kind: FormKind, topic: str) -> str:
    """Return the words of the command that does what the form does."""
    if kind is FormKind.TOPIC:
        return "topic edit" if topic else "topic create"
    return "subscribe" if kind is FormKind.SUBSCRIPTION else "filter"


def _topic_of(standing: Values) -> str:
    return standing.name if isinstance(standing, TopicForm) else standing.topic


def _said(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what stands in each field of a form that was sent."""
    found = []
    for each in data.get("components") or ():
        field = each.get("component") or {}
        values = field.get("values")
        found.append((str(field.get("custom_id", "")), str(values[0] if values else field.get("value") or "")))
    return found


# --- fields


def _text_field(name: str, field: Field, value: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": _TEXT,
        "custom_id": name,
        "style": _PARAGRAPH if field.long else _LINE,
        "required": field.required,
        "max_length": _LONGEST,
    }
    if value:
        made["value"] = value[:_LONGEST]
    return _labelled(field.label, field.hint, made)


def _choice(name: str, label: str, chosen: str, choices: Mapping[str, str]) -> dict[str, Any]:
    options = [{"label": shown, "value": value, "default": value == chosen} for value, shown in choices.items()]
    return _labelled(label, "", {"type": _SELECT, "custom_id": name, "options": options, "required": True})


def _labelled(label: str, hint: str, component: dict[str, Any]) -> dict[str, Any]:
    described = {"description": cut(hint, _HINT)} if hint else {}
    return {"type": _LABEL, "label": cut(label, _NAME), **described, "component": component}


# --- subscriptions

_TOPIC = Field("Topic", "/digest topics lists them.", required=True)
_WHEN = Field("When", "For example weekdays at 09:00 in Europe/Zurich, or monthly on 15.", required=True)
_NUMBERS = Field("How many entries, and how good", "For example top 7 min 0.4; nothing: as usual.")
_FILTER = Field("Filter", "A query that everything posted here must satisfy.", long=True)
_LAYOUTS = {
    "full quiet": "In full; quiet when there is nothing",
    "full always": "In full; also when there is nothing",
    "compact quiet": "Compact; quiet when there is nothing",
    "compact always": "Compact; also when there is nothing",
}


async def _subscription(context: HandlerContext, actor: Actor, name: str, now: datetime) -> SubscribeForm:
    return (
        await subscribe_form(context, actor, name, now)
        if name.strip()
        else SubscribeForm(topic="", zone=actor.zone or "UTC")
    )


def _subscription_said(form: Values) -> dict[str, str]:
    assert isinstance(form, SubscribeForm)  # noqa: S101 - by its shape
    when = Subscribe(
        topic=_ANY,
        weekdays=None if form.month_day else form.weekdays,
        month_day=form.month_day or None,
        at=form.at,
        zone=form.zone,
    )
    how_many = Subscribe(topic=_ANY, entries=form.entries, min_score=form.min_score)
    return {
        "topic": form.topic,
        "when": _rest(when),
        "numbers": _rest(how_many),
        "layout": f"{'compact' if form.compact else 'full'} {'always' if form.always else 'quiet'}",
        "filter": form.filter,
    }


def _rest(command: Subscribe) -> str:
    return write(command).removeprefix(f"subscribe {_ANY}").strip()


def _subscription_fields(form: Values, said: Said) -> list[dict[str, Any]]:
    return [
        _text_field("topic", _TOPIC, said["topic"]),
        _text_field("when", _WHEN, said["when"]),
        _text_field("numbers", _NUMBERS, said["numbers"]),
        _choice("layout", "Layout", said["layout"], _LAYOUTS),
        _text_field("filter", _FILTER, said["filter"]),
    ]


def _read_subscription(like: Values, said: Said) -> SubscribeForm:
    assert isinstance(like, SubscribeForm)  # noqa: S101 - by its shape
    command = parse(f"subscribe {_ANY} {on_one_line(said['when'])} {on_one_line(said['numbers'])}")
    assert isinstance(command, Subscribe)  # noqa: S101 - the text begins so
    layout, silence = said["layout"].split()
    bare = replace(like, entries=None, min_score=None, filter=on_one_line(said["filter"]))
    compact, always = layout == "compact", silence == "always"
    made = filled(bare, replace(command, topic=like.topic, compact=compact, always=always, filter=""))
    return replace(made, subscribed=like.subscribed)


# --- topics


async def _topic(context: HandlerContext, actor: Actor, name: str, now: datetime) -> TopicForm:
    return await topic_form(context, actor, name)


def _topic_said(form: Values) -> dict[str, str]:
    assert isinstance(form, TopicForm)  # noqa: S101 - by its shape
    return forms.topic_texts(form)


def _topic_fields(form: Values, said: Said) -> list[dict[str, Any]]:
    assert isinstance(form, TopicForm)  # noqa: S101 - by its shape
    first = ("title", forms.TITLE) if form.name else ("name", forms.NAME)
    others = (
        ("query", forms.QUERY),
        ("interests", forms.INTERESTS),
        ("examples", forms.EXAMPLES),
        ("min", forms.LEAST_SCORE),
    )
    return [_text_field(name, field, said[name]) for name, field in (first, *others)]


def _read_topic(like: Values, said: Said) -> TopicForm:
    assert isinstance(like, TopicForm)  # noqa: S101 - by its shape
    return forms.read_topic(like, said)


# --- filters


async def _filter(context: HandlerContext, actor: Actor, name: str, now: datetime) -> FilterForm:
    return await filter_form(context, actor, name)


def _filter_said(form: Values) -> dict[str, str]:
    assert isinstance(form, FilterForm)  # noqa: S101 - by its shape
    return {"query": form.query, "scope": form.scope.value}


def _filter_fields(form: Values, said: Said) -> list[dict[str, Any]]:
    assert isinstance(form, FilterForm)  # noqa: S101 - by its shape
    here = {Scope.HERE.value: "In this channel"} if form.subscribed else {}
    query = Field("Only what satisfies", "A query; nothing: everything may be posted.", long=True)
    return [
        _text_field("query", query, said["query"]),
        _choice("scope", "Where", said["scope"], {**here, Scope.TOPIC.value: "Everywhere the topic is posted"}),
    ]


def _read_filter(like: Values, said: Said) -> FilterForm:
    assert isinstance(like, FilterForm)  # noqa: S101 - by its shape
    return forms.read_filter(like, said["query"], said["scope"])


class _Shape:
    """How a form of one kind is opened, shown and read."""

    def __init__(
        self,
        title: str,
        standing: Callable[[HandlerContext, Actor, str, datetime], Awaitable[Values]],
        said: Callable[[Values], dict[str, str]],
        fields: Callable[[Values, Said], list[dict[str, Any]]],
        read: Callable[[Values, Said], Values],
    ) -> None:
        self._title = title
        self.standing = standing
        self.said = said
        self.fields = fields
        self.read = read

    def title(self, form: Values) -> str:
        """Return what stands over the form."""
        return f"{self._title}: {clean(form.title)}" if form.title else self._title


_SHAPES: Mapping[FormKind, _Shape] = {
    FormKind.SUBSCRIPTION: _Shape("Subscribe", _subscription, _subscription_said, _subscription_fields, _read_subscription),
    FormKind.TOPIC: _Shape("Topic", _topic, _topic_said, _topic_fields, _read_topic),
    FormKind.FILTER: _Shape("Filter", _filter, _filter_said, _filter_fields, _read_filter),
}
