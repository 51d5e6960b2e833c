"""Forms: a subscription, a topic, a filter. What was filled in before stands in the store, so that only changes are done."""

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.chat import forms
from adapters.chat.forms import FormField, FormKind, FormRequest, on_one_line
from adapters.discord.listeners.context import DiscordContext, DiscordInteraction, in_time
from adapters.text import clean, cut
from bot.commands import Scope, Subscribe, parse, write
from bot.commands.forms import FilterForm, Form, SubscribeForm, TopicForm, filled
from bot.errors import BotError, Conflict, UsageError
from bot.handlers.surfaces.forms import filter_form, submit, subscribe_form, topic_form
from bot.handlers.wording.elsewhere import told_elsewhere
from bot.handlers.wording.failures import failure_reply, usage_failure
from bot.models import Actor, Layout, Reply, Rhythm

log = logging.getLogger(__name__)

Said = Mapping[str, str]  # what stands in the fields, by their names

_LABEL, _TEXT, _SELECT = 18, 4, 3  # types of components
_LINE, _PARAGRAPH = 1, 2
_TITLE, _NAME, _HINT, _OPTION = 45, 45, 100, 100  # characters
_OF_CHANNEL = 20  # of a title, for the channel that it is for
_LONGEST = 4000  # characters of a field
_ANY = "x"  # stands for the topic where only the rest of a command is read


async def open_form(context: DiscordContext, interaction: DiscordInteraction, form: FormRequest) -> None:
    """Show the form, with what was said in it before where it is kept; what is wrong with what it is of is told instead.

    Raises BotError, and what nobody foresaw, before anything is answered.
    """
    try:
        async with in_time():
            modal = await _modal(context, interaction, form)
    except UsageError as error:
        await context.answers.reply_now(interaction.callback, usage_failure(error, _command(form.kind, form.topic)))
    else:
        await context.answers.open_modal(interaction.callback, modal)


async def _modal(context: DiscordContext, interaction: DiscordInteraction, form: FormRequest) -> Mapping[str, Any]:
    chats, workspace = context.platform.chats, interaction.actor.workspace
    kept = await chats.kept_text(workspace, form.kept) if form.kept else None
    before: dict[str, Any] = json.loads(kept) if kept else {"topic": form.topic, "channel": form.channel}
    actor = await context.acting(interaction, before.get("channel", ""))
    standing = await _standing(form.kind, context, actor, before["topic"], form.rhythm)
    said = _texts(standing)
    memory = {"of": form.kind, "topic": _topic_of(standing), "said": said, "revision": getattr(standing, "revision", None)}
    memory["channel"] = actor.channel if actor.place else ""
    if kept:  # who goes on was shown what stood there then
        memory |= {"said": before["said"], "revision": before["revision"]}
    fields = _fields(standing, said | before.get("typed", {}), actor)
    (key,) = await chats.keep_texts(workspace, [json.dumps(memory)], context.now)
    title = f"{_TITLES[form.kind]}: {clean(standing.title)}" if standing.title else _TITLES[form.kind]
    title = f"{cut(title, _TITLE - _OF_CHANNEL)} {actor.here}" if actor.place else title
    return {"custom_id": f"f:{key}", "title": cut(title, _TITLE), "components": fields}


async def submit_form(context: DiscordContext, interaction: DiscordInteraction) -> None:
    """Do what a form asks; what does not work is kept, and a button goes on from there."""
    again: list[FormRequest] = []

    async def asking() -> Reply:
        key = str(interaction.data.get("custom_id", "")).removeprefix("f:")
        kept = await context.platform.chats.kept_text(interaction.actor.workspace, key)
        if not kept:
            return failure_reply("The form was opened too long ago; open it again.")
        memory = json.loads(kept)
        try:
            return await _done(context, interaction, memory)
        except UsageError as error:
            again.extend([] if isinstance(error, Conflict) else await _to_go_on(context, interaction, memory))
            return usage_failure(error, _command(FormKind(memory["of"]), memory["topic"]))

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
    kind, wanted = FormKind(memory["of"]), dict(_said(interaction.data))
    actor = await context.acting(interaction, memory.get("channel", ""))
    topic = memory["topic"] or ("" if kind is FormKind.TOPIC else wanted.get("topic", ""))
    like = await _standing(kind, context, actor, topic)
    if isinstance(like, TopicForm):
        like = replace(like, revision=memory["revision"])
    # A form that was opened for no topic showed how none stands: all of it is to become true.
    before = _read(like, memory["said"]) if memory["topic"] or isinstance(like, TopicForm) else like
    reply = await submit(context.handlers_of(interaction), before, _read(like, wanted), actor, context.now)
    return told_elsewhere(reply, actor) if actor.place else reply


def _command(kind: FormKind, topic: str) -> str:
    """Return the words of the command that does what the form does."""
    if kind is FormKind.TOPIC:
        return "topic edit" if topic else "topic create"
    return "subscribe" if kind is FormKind.SUBSCRIPTION else "filter"


def _topic_of(standing: Form) -> str:
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


def _text_field(name: str, field: FormField, value: str) -> dict[str, Any]:
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


# --- what stands in the form of each kind, and back

_TITLES = {FormKind.SUBSCRIPTION: "Subscribe", FormKind.TOPIC: "Topic", FormKind.FILTER: "Filter"}
_TOPIC = FormField("Topic", "/digest topic list lists them.", required=True)
_WHEN = FormField("When", "For example weekdays at 09:00 in Europe/Zurich, monthly on 15, or at once.", required=True)
_NUMBERS = FormField("How many entries, and how good", "For example top 7 min 0.3; nothing: as usual.")
_FILTER = FormField("Filter", "A query that everything posted here must satisfy.", long=True)
_QUERY = FormField("Only what satisfies", "A query; nothing: everything may be posted.", long=True)
_USUAL = "usual"
_NAMED = {_USUAL: "As usual", Layout.BRIEF: "Brief", Layout.THREAD: "Brief, and in full in a thread", Layout.FULL: "In full"}
_EMPTY = {"quiet": "quiet when there is nothing", "always": "also when there is nothing"}
_LAYOUTS = {f"{name} {empty}": f"{said}; {when}" for name, said in _NAMED.items() for empty, when in _EMPTY.items()}


async def _standing(kind: FormKind, context: DiscordContext, actor: Actor, topic: str, rhythm: Rhythm | None = None) -> Form:
    """Return the form as it stands. Raises UsageError where there is no such topic."""
    handlers = context.handler_context
    if kind is FormKind.TOPIC:
        return await topic_form(handlers, actor, topic)
    if kind is FormKind.FILTER:
        return await filter_form(handlers, actor, topic)
    if topic.strip():
        return await subscribe_form(handlers, actor, topic, context.now, rhythm=rhythm)
    return SubscribeForm(topic="", zone=actor.zone or "UTC")


def _texts(form: Form) -> dict[str, str]:
    """Return what stands in the form's fields."""
    match form:
        case TopicForm():
            return forms.topic_texts(form)
        case FilterForm():
            return {"query": form.query, "scope": form.scope.value}
        case SubscribeForm():
            return _subscription_texts(form)


def _fields(form: Form, said: Said, actor: Actor) -> list[dict[str, Any]]:
    """Return the form's fields, with what was said in them."""
    match form:
        case TopicForm():
            first = ("title", forms.TITLE) if form.name else ("name", forms.NAME)
            others = (("query", forms.QUERY), ("interests", forms.INTERESTS), ("examples", forms.EXAMPLES))
            least = ("min", forms.BAR)
            return [_text_field(name, field, said[name]) for name, field in (first, *others, least)]
        case FilterForm():
            here = (
                {Scope.HERE.value: cut(f"{actor.in_channel[:1].upper()}{actor.in_channel[1:]}", _OPTION)}
                if form.subscribed
                else {}
            )
            scopes = {**here, Scope.TOPIC.value: "Everywhere the topic is posted"}
            return [_text_field("query", _QUERY, said["query"]), _choice("scope", "Where", said["scope"], scopes)]
        case SubscribeForm():
            texts = (("topic", _TOPIC), ("when", _WHEN), ("numbers", _NUMBERS))
            return [
                *(_text_field(name, field, said[name]) for name, field in texts),
                _choice("layout", "Layout", said["layout"], _LAYOUTS),
                _text_field("filter", _FILTER, said["filter"]),
            ]


def _read(like: Form, said: Said) -> Form:
    """Return the form with what is said in its fields. Raises UsageError for what cannot be read."""
    match like:
        case TopicForm():
            return forms.read_topic(like, said)
        case FilterForm():
            return forms.read_filter(like, said["query"], said["scope"])
        case SubscribeForm():
            return _read_subscription(like, said)


def _subscription_texts(form: SubscribeForm) -> dict[str, str]:
    when = Subscribe(
        topic=_ANY,
        weekdays=None if form.month_day or form.at_once else form.weekdays,
        month_day=form.month_day or None,
        at_once=form.at_once,
        at=None if form.at_once else form.at,
        zone=form.zone,
    )
    how_many = Subscribe(topic=_ANY, entries=form.entries, min_score=form.min_score)
    return {
        "topic": form.topic,
        "when": _rest(when),
        "numbers": _rest(how_many),
        "layout": f"{form.layout or _USUAL} {'always' if form.always else 'quiet'}",
        "filter": form.filter,
    }


def _rest(command: Subscribe) -> str:
    return write(command).removeprefix(f"subscribe {_ANY}").strip()


def _read_subscription(like: SubscribeForm, said: Said) -> SubscribeForm:
    command = parse(f"subscribe {_ANY} {on_one_line(said['when'])} {on_one_line(said['numbers'])}")
    assert isinstance(command, Subscribe)  # noqa: S101 - the text begins so
    layout, silence = said["layout"].split()
    bare = replace(like, entries=None, min_score=None, filter=on_one_line(said["filter"]))
    chosen = None if layout == _USUAL else Layout(layout)
    made = filled(bare, replace(command, topic=like.topic, always=silence == "always", filter=""))
    return replace(made, layout=chosen, subscribed=like.subscribed)
