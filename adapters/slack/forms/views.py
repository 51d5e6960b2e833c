"""The forms as Slack's views, and what a person said in one back as a form. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import time
from functools import partial
from typing import Any

from adapters.chat import forms
from adapters.chat.forms import FormKind, lines, on_one_line
from adapters.slack.forms.fields import (
    BLOCKS,
    FORM_IDS,
    Block,
    Said,
    View,
    field,
    modal,
    note,
    number_input,
    one_of,
    plain_text,
    search_select,
    some_of,
    text_input,
)
from bot.commands import Scope
from bot.commands.forms import FilterForm, SubscribeForm, TopicForm
from bot.models import LONGEST_TITLE, MOST_ENTRIES, MOST_WEIGHT, Layout
from bot.wording import DAYS

TEST = "test"  # the button that tries a filter
COUNT = "count"  # the line under a topic's query
_LONGEST = 2000  # characters of a query
_NAME = 40  # characters of a topic's name
_SUBSCRIBE = "Subscribe a channel"
_AT_ONCE = "at once"
_DAYS = (*((str(day), name) for day, name in enumerate(DAYS)), (_AT_ONCE, "At once, after each collection"))
_USUAL = "usual"
_LAYOUTS = (
    (_USUAL, "As usual here"),
    (Layout.BRIEF, "Brief: a line or two each"),
    (Layout.THREAD, "Brief, and each in full in its thread"),
    (Layout.FULL, "Full: the parts of each entry"),
)
_EMPTY = (("quiet", "Stay quiet"), ("always", "Say that there is nothing"))


def _text(said: Said) -> str:
    return said if isinstance(said, str) else ""


def search_view(memory: Mapping[str, str]) -> View:
    """Return the view of the form that searches."""
    query = text_input(placeholder='"kv cache" stars:>100 sort:new', longest=_LONGEST)
    hint = 'Words, "phrases" and field:value; /digest help query says what else.'
    fields = [field("query", "Query", query, optional=False, hint=hint)]
    return modal(FORM_IDS[FormKind.SEARCH], "Search papers", fields, memory, submit="Search")


# --- filters


def filter_view(form: FilterForm, memory: Mapping[str, str], outcome: Sequence[Block] = ()) -> View:
    """Return the view of the form, with what came of trying the filter under it."""
    here = [(Scope.HERE, "This channel's subscription")] if form.subscribed else []
    scopes = one_of([*here, (Scope.TOPIC, "The topic, in every channel")], form.scope)
    query = text_input(form.query, placeholder="has:code -survey", multiline=True, longest=_LONGEST)
    button = {"type": "button", "action_id": TEST, "text": plain_text("Test", 75), "value": TEST}
    blocks = [
        note("about", f"*{form.title}*: what an item must satisfy to be posted."),
        field("query", "Filter", query, hint="Empty: all that fits the topic. /digest help query says how."),
        field("scope", "Whose", scopes, optional=False),
        {"type": "actions", "block_id": f"{TEST}|", "elements": [button]},
    ]
    return modal(FORM_IDS[FormKind.FILTER], "Filter", [*blocks, *outcome][:BLOCKS], memory, submit="Save")


def read_filter(said: Mapping[str, Said], like: FilterForm) -> FilterForm:
    """Return the form with what is said in its fields."""
    return forms.read_filter(like, _text(said["query"]), _text(said["scope"]))


# --- topics


def topic_view(form: TopicForm, sources: Mapping[str, str], memory: Mapping[str, str], count: str = "") -> View:
    """Return the view of the form; `sources` are their names for people by their names, `count` what the query lets in."""
    named = [] if form.name else [_field("name", forms.NAME, text_input(placeholder="kv-cache", longest=_NAME))]
    blocks = [*named, *_who_enters(form, count), *_what_ranks(form, sources)]
    title, submit = ("Edit a topic", "Save") if form.name else ("Create a topic", "Create")
    return modal(FORM_IDS[FormKind.TOPIC], title, blocks, memory, submit=submit)


def topic_memory(form: TopicForm) -> dict[str, str]:
    """Return what the view has to remember of the form: which topic it edits, and in which revision."""
    return {"topic": form.name, "revision": "" if form.revision is None else str(form.revision)}


def as_remembered(form: TopicForm, memory: Mapping[str, str]) -> TopicForm:
    """Return the form in the revision in which the person was shown it."""
    return replace(form, revision=int(memory["revision"]) if memory["revision"] else None)


def _field(name: str, described: forms.FormField, element: dict[str, Any]) -> Block:
    return field(name, described.label, element, hint=described.hint, optional=not described.required)


def _who_enters(form: TopicForm, count: str) -> list[Block]:
    query = text_input(form.query, placeholder='"kv cache" OR "paged attention"', multiline=True, longest=_LONGEST)
    query["dispatch_action_config"] = {"trigger_actions_on": ["on_character_entered", "on_enter_pressed"]}
    return [
        _field("title", forms.TITLE, text_input(form.title, longest=LONGEST_TITLE)),
        _field("query", forms.QUERY, query),
        note(COUNT, count or "How many items of the last week enter it is said here as you type."),
    ]


def _what_ranks(form: TopicForm, sources: Mapping[str, str]) -> list[Block]:
    texts = forms.topic_texts(form)
    interests = text_input(texts["interests"], multiline=True, placeholder='2.5 "prefix caching"')
    hint = f"One a line. A weight from -{MOST_WEIGHT:g} to {MOST_WEIGHT:g} may stand before it; below 0: not wanted."
    searches = text_input("\n".join(form.repositories), multiline=True, placeholder="topic:kv-cache stars:>50")
    # Every source, and those of the topic that are not there any more.
    known = {**sources, **{name: name for name in form.sources if name not in sources}}
    ticked = some_of(list(known.items()), form.sources, "multi_static_select")
    return [
        _field("interest", replace(forms.INTERESTS, hint=hint), interests),
        _field("example", forms.EXAMPLES, text_input(texts["examples"], multiline=True, placeholder="2606.01234")),
        *([field("sources", "Sources", ticked, hint="None ticked: all of them.")] if known else []),
        _field("min", forms.BAR, number_input(texts["min"], "0", "1", decimal=True)),
        field("description", "Description", text_input(form.description)),
        field("repositories", "GitHub searches", searches, hint="One a line: repositories that they find are collected."),
    ]


def read_topic(said: Mapping[str, Said], like: TopicForm) -> TopicForm:
    """Return the form with what is said in its fields. Raises UsageError for a line that cannot be read."""
    texts = {name: _text(value) for name, value in said.items()}
    read = forms.read_topic(like, texts | {"interests": texts["interest"], "examples": texts["example"]})
    return replace(
        read,
        description=texts["description"].strip(),
        sources=tuple(said.get("sources", like.sources)),
        repositories=lines(texts["repositories"]),
    )


# --- subscriptions


def subscribe_view(form: SubscribeForm | None, channel: str, memory: Mapping[str, str]) -> View:
    """Return the view of the form; of None while no topic is chosen.

    Its fields are the subscription's of this channel to this topic: with another of either, they are shown anew.
    """
    kind, blocks = FORM_IDS[FormKind.SUBSCRIPTION], [_topic_choice(form), _channel_choice(channel)]
    if form is None:
        return modal(kind, _SUBSCRIBE, blocks, memory, submit="Next")
    if form.subscribed:
        blocks.append(
            note("already", "The channel subscribes to this topic: what stands here is how, and you can change it.")
        )
    blocks += _subscription_fields(form, partial(field, version=f"{channel}:{form.topic}"))
    return modal(kind, _SUBSCRIBE, blocks, memory, submit="Save" if form.subscribed else "Subscribe")


def _topic_choice(form: SubscribeForm | None) -> Block:
    chosen = (form.topic, f"{form.title} ({form.topic})") if form else ("", "")
    return field("topic", "Topic", search_select(*chosen, placeholder="Type a few letters") | {"live": True}, optional=False)


def _channel_choice(channel: str) -> Block:
    """The channels and direct messages that the person sees; through its response_url also one we are not in is answered."""
    element: dict[str, Any] = {"type": "conversations_select", "response_url_enabled": True, "live": True}
    element |= {"initial_conversation": channel} if channel else {"default_to_current_conversation": True}
    element["filter"] = {"include": ["public", "private", "im"], "exclude_bot_users": False}
    return field("channel", "Channel", element, optional=False)


def _subscription_fields(form: SubscribeForm, field: Callable[..., Block]) -> list[Block]:
    month_day = str(form.month_day) if form.month_day else ""
    least = "" if form.min_score is None else f"{form.min_score:g}"
    zone = search_select(form.zone, form.zone, "A city or a zone", least=2)
    query = text_input(form.filter, placeholder="has:code -survey", longest=_LONGEST)
    hint = "What else an item must satisfy to be posted here; /digest help query says how."
    return [
        field("days", "Days", some_of(_DAYS, [*map(str, form.weekdays), *([_AT_ONCE] if form.at_once else ())])),
        field(
            "month_day", "Or once a month, on day", number_input(month_day, "1", "31"), hint="Instead of days of the week."
        ),
        field("at", "At", {"type": "timepicker", "initial_time": f"{form.at:%H:%M}"}, optional=False),
        field("zone", "Time zone", zone, optional=False),
        field(
            "entries",
            "Entries at most",
            number_input(str(form.entries or ""), "1", str(MOST_ENTRIES)),
            hint="Empty: the usual.",
        ),
        field(
            "min",
            "Bar",
            number_input(least, "0", "1", decimal=True),
            hint="Relevance, from 0 to 1. Empty: as the topic says.",
        ),
        field("layout", "Layout", one_of(_LAYOUTS, form.layout or _USUAL), optional=False),
        field("empty", "When there is nothing", one_of(_EMPTY, "always" if form.always else "quiet"), optional=False),
        field("filter", "Filter", query, hint=hint),
    ]


def is_whole(said: Mapping[str, Said]) -> bool:
    """Say whether all the fields were there, not the choice of a topic alone."""
    return "days" in said


def read_subscription(said: Mapping[str, Said], like: SubscribeForm) -> SubscribeForm:
    """Return the form with what is said in its fields."""
    at_once = _AT_ONCE in said["days"]
    month_day = 0 if at_once else int(_text(said["month_day"]) or 0)
    return replace(
        like,
        weekdays=() if month_day or at_once else tuple(sorted(int(day) for day in said["days"])),
        month_day=month_day,
        at_once=at_once,
        at=time.fromisoformat(_text(said["at"])),
        zone=_text(said["zone"]),
        entries=int(_text(said["entries"])) if said["entries"] else None,
        min_score=float(_text(said["min"])) if said["min"] else None,
        layout=None if said["layout"] == _USUAL else Layout(_text(said["layout"])),
        always=said["empty"] == "always",
        filter=on_one_line(_text(said["filter"])),
    )
