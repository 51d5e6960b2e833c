"""From the options that a person chose to the command. Pure; the inverse of what tests make of a command."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.discord.install.command_tree import GROUP, SUBCOMMAND
from adapters.forms import Form, Kind
from bot.commands import (
    Command,
    CreateTopic,
    DeleteTopic,
    EditTopic,
    Filter,
    FilterAction,
    Format,
    Help,
    History,
    Less,
    ListSaved,
    ListSubscriptions,
    ListTopics,
    More,
    Now,
    Part,
    Pause,
    Profile,
    ProfileAction,
    Resume,
    Save,
    Scope,
    Search,
    Settings,
    ShowTopic,
    Similar,
    Status,
    Subscribe,
    Unsave,
    Unsubscribe,
    Usual,
    Why,
    parse,
)
from bot.errors import UsageError

Values = Mapping[str, Any]  # what was chosen, by option


def chosen(data: Mapping[str, Any]) -> tuple[str, Values]:
    """Return the words of the subcommand that an interaction names, and what was chosen; raises UsageError for none."""
    words: list[str] = []
    options: Sequence[Mapping[str, Any]] = data.get("options") or ()
    while options and options[0].get("type") in (SUBCOMMAND, GROUP):
        words.append(str(options[0]["name"]))
        options = options[0].get("options") or ()
    name = " ".join(words)
    if name not in _MAKE:
        raise UsageError("Discord shows a command that I no longer have.", hint="Reload Discord, and try again.")
    return name, {str(each["name"]): each.get("value") for each in options}


def focused(data: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the words of the subcommand, the option that is being typed, and what was typed of it."""
    words: list[str] = []
    options: Sequence[Mapping[str, Any]] = data.get("options") or ()
    while options and options[0].get("type") in (SUBCOMMAND, GROUP):
        words.append(str(options[0]["name"]))
        options = options[0].get("options") or ()
    typing = next((each for each in options if each.get("focused")), {})
    return " ".join(words), str(typing.get("name", "")), str(typing.get("value", ""))


def command_of(words: str, values: Values) -> Command | Form:
    """Return the command; raises UsageError where a value cannot be read."""
    return _MAKE[words](values)


def _text(values: Values, name: str) -> str:
    return str(values.get(name) or "")


def _subscribe(values: Values) -> Command | Form:
    topic = _text(values, "topic")
    if not topic.strip():
        return Form(Kind.SUBSCRIPTION)
    said = Subscribe(topic=topic)
    for name, word in (("days", ""), ("at", "at ")):
        if typed := _text(values, name).strip():
            read = parse(f"subscribe x {word}{typed.removeprefix('at ')}")
            assert isinstance(read, Subscribe)  # noqa: S101 - the text begins so
            said = replace(read, topic=topic) if name == "days" else replace(said, at=read.at)
    layout, empty = _text(values, "layout"), _text(values, "when_empty")
    usual = _text(values, "as_usual").split()
    entries = Usual.USUAL if "entries" in usual else values.get("entries")
    least = Usual.USUAL if "min_score" in usual else values.get("min_score")
    return replace(
        said,
        zone=_text(values, "zone") or said.zone,
        entries=said.entries if entries is None else entries,
        min_score=said.min_score if least is None else least,
        compact=layout == "compact" if layout else said.compact,
        always=empty == "always" if empty else said.always,
        filter=_text(values, "filter") or said.filter,
    )


def _create(values: Values) -> Command | Form:
    name = _text(values, "name")
    if not name.strip():
        return Form(Kind.TOPIC)
    query, origin = _text(values, "query"), _text(values, "from")
    if query and origin:
        raise UsageError("A topic is made from a query or from another topic, not from both.", hint="Leave one of them out.")
    if not query and not origin:
        raise UsageError("A topic needs a query, or another topic to start from.", hint="Fill in *query* or *from*.")
    return CreateTopic(name, query, origin)


def _edit(values: Values) -> Command | Form:
    name, part = _text(values, "topic"), _text(values, "part")
    if not part:
        return Form(Kind.TOPIC, name)
    weight = values.get("weight")
    return EditTopic(
        name=name,
        part=Part(part),
        value=_text(values, "value"),
        weight=None if weight is None else float(weight),
        remove=bool(values.get("remove")),
    )


def _filter(values: Values) -> Command | Form:
    action, scope = _text(values, "action"), _text(values, "scope")
    if action == FilterAction.SET and not _text(values, "query").strip():
        return Form(Kind.FILTER, _text(values, "topic"))
    return Filter(
        _text(values, "topic"),
        FilterAction(action) if action else FilterAction.SHOW,
        _text(values, "query"),
        Scope(scope) if scope else None,
    )


def _profile(values: Values) -> Command:
    action = _text(values, "action")
    return Profile(_text(values, "topic"), ProfileAction(action) if action else ProfileAction.SHOW, _text(values, "item"))


def _saved(values: Values) -> Command:
    form = _text(values, "format")
    return ListSaved(Format(form) if form else None, int(values.get("page") or 1))


_MAKE: Mapping[str, Callable[[Values], Command | Form]] = {
    "search": lambda values: Search(_text(values, "query"), _text(values, "page")),
    "similar": lambda values: Similar(_text(values, "item")),
    "why": lambda values: Why(_text(values, "item"), _text(values, "topic")),
    "now": lambda values: Now(_text(values, "topic")),
    "subscribe": _subscribe,
    "unsubscribe": lambda values: Unsubscribe(_text(values, "topic")),
    "list": lambda values: ListSubscriptions(bool(values.get("all"))),
    "pause": lambda values: Pause(_text(values, "topic"), _text(values, "until")),
    "resume": lambda values: Resume(_text(values, "topic")),
    "topics": lambda _: ListTopics(),
    "topic show": lambda values: ShowTopic(_text(values, "topic")),
    "topic create": _create,
    "topic edit": _edit,
    "topic delete": lambda values: DeleteTopic(_text(values, "topic"), bool(values.get("anyway"))),
    "filter": _filter,
    "more": lambda values: More(_text(values, "item"), _text(values, "topic")),
    "less": lambda values: Less(_text(values, "item"), _text(values, "topic")),
    "profile": _profile,
    "save": lambda values: Save(_text(values, "item")),
    "unsave": lambda values: Unsave(_text(values, "item")),
    "saved": _saved,
    "status": lambda _: Status(),
    "settings": lambda values: Settings(_text(values, "name"), _text(values, "value")),
    "history": lambda values: History(_text(values, "topic")),
    "help": lambda values: Help(_text(values, "command")),
}
