"""The forms of chat platforms: what stands in one, and the commands that make true what a person made of it. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import time
from typing import Any

from bot.commands.declaration import Command, Usual
from bot.commands.schedule import WEEK
from bot.commands.subscriptions import Subscribe
from bot.commands.topics import CreateTopic, EditTopic, Filter, FilterAction, Part, Scope
from bot.errors import Misfit
from bot.models import Interest, Layout, Rhythm, Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscribeForm:
    """How a channel is to be subscribed to a topic. Either days of the week, or a day of the month, or at once."""

    topic: str
    title: str = ""
    subscribed: bool = False  # the channel is; what stands here is how
    several: bool = False  # it has others to the topic too: the days tell which one is meant
    weekdays: tuple[int, ...] = WEEK  # 0 is Monday, in order, each once; () with a day of the month
    month_day: int = 0  # 1–31; 0: by days of the week
    at_once: bool = False  # then neither the time nor what is done with nothing to post counts
    at: time = time(9)
    zone: str = "UTC"
    entries: int | None = None  # None: as the settings say
    min_score: float | None = None  # None: as the topic says
    layout: Layout | None = None  # None: as the settings say
    always: bool = False
    filter: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicForm:
    """What a topic is made of. `name` is "" as long as nobody gave it one."""

    name: str = ""
    title: str = ""
    description: str = ""
    query: str = ""  # "*": everything enters
    interests: tuple[Interest, ...] = ()
    examples: tuple[str, ...] = ()  # keys, links and names of items, or texts to be close to
    sources: tuple[str, ...] = ()  # (): all
    min_score: float = 0.0
    repositories: tuple[str, ...] = ()
    revision: int | None = None  # in which the topic was read; None for a new one


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterForm:
    """What an item must satisfy to be posted: "" for nothing."""

    topic: str
    title: str = ""
    subscribed: bool = False  # the channel is, so that the filter may be its own
    scope: Scope = Scope.TOPIC
    query: str = ""


Form = SubscribeForm | TopicForm | FilterForm


def commands_of(before: Form, after: Form) -> Sequence[Command]:
    """Return what to ask, in this order, so that a form that was as before becomes true as it is after; () for no change.

    What was not changed in the form is not said, so that what others change meanwhile stays. Raises Misfit where a form
    cannot be said, and ValueError for forms of two kinds.
    """
    match before, after:
        case SubscribeForm(), SubscribeForm():
            return tuple(_subscribing(before, after))
        case TopicForm(), TopicForm():
            return tuple(_making(before, after) if not before.name else _editing(before, after))
        case FilterForm(), FilterForm():
            return tuple(_filtering(before, after))
    raise ValueError("these are two kinds of form")


def filled(form: SubscribeForm, command: Subscribe) -> SubscribeForm:
    """Return the form as it stands when the command was given; what the command does not say stays."""
    changed: dict[str, Any] = {"topic": command.topic, "subscribed": True}
    if command.at_once:
        changed |= {"weekdays": (), "month_day": 0, "at_once": True}
    elif command.month_day:
        changed |= {"weekdays": (), "month_day": command.month_day, "at_once": False}
    elif command.weekdays is not None:
        changed |= {"weekdays": command.weekdays, "month_day": 0, "at_once": False}
    for name in ("at", "zone", "filter"):
        changed |= {name: said} if (said := getattr(command, name)) not in (None, "") else {}
    for name in ("entries", "min_score", "layout", "always"):
        said = getattr(command, name)
        changed |= {} if said is None else {name: None if said is Usual.USUAL else said}
    return replace(form, **changed)


# --- subscriptions

_SAID = ("at", "zone", "always")  # what is said as it stands


def _subscribing(before: SubscribeForm, after: SubscribeForm) -> Iterator[Command]:
    if after.at_once:
        after = replace(after, at=before.at, always=before.always)
    elif not after.weekdays and not after.month_day:
        raise Misfit("Choose at least one day of the week, or a day of the month.", "days")
    if before.subscribed and _rhythm(before) is not _rhythm(after):  # another one, beside that which stands
        before = replace(before, subscribed=False, several=False)
    named = ("zone",) if after.at_once else _SAID
    said = {name: getattr(after, name) for name in named if not before.subscribed or _differ(before, after, name)}
    days = _days(after)
    if not before.subscribed or _differ(before, after, "weekdays", "month_day", "at_once"):
        said |= days
    for name in ("entries", "min_score", "layout"):
        said |= _or_usual(before, after, name)
    was, wanted = _line(before.filter), _line(after.filter)
    if wanted and (wanted != was or not before.subscribed):
        said["filter"] = wanted
    if before.subscribed and was and not wanted:
        yield Filter(after.topic, FilterAction.CLEAR, scope=Scope.HERE, rhythm=_rhythm(before) if before.several else None)
    if said:
        yield Subscribe(topic=after.topic, **said | (days if before.several else {}))


def _days(form: SubscribeForm) -> dict[str, Any]:
    if form.at_once:
        return {"at_once": True}
    return {"month_day": form.month_day} if form.month_day else {"weekdays": tuple(sorted(set(form.weekdays)))}


def _rhythm(form: SubscribeForm) -> Rhythm:
    return Schedule(weekdays=form.weekdays, month_day=form.month_day, at_once=form.at_once).rhythm


def _or_usual(before: SubscribeForm, after: SubscribeForm, name: str) -> dict[str, Any]:
    value = getattr(after, name)
    if before.subscribed:
        return {name: Usual.USUAL if value is None else value} if _differ(before, after, name) else {}
    return {} if value is None else {name: value}


def _differ(before: Form, after: Form, *names: str) -> bool:
    return any(getattr(before, name) != getattr(after, name) for name in names)


# --- topics

_ALONE = {
    Part.TITLE: "title",
    Part.DESCRIPTION: "description",
    Part.QUERY: "query",
    Part.SOURCES: "sources",
    Part.MIN: "min_score",
}
_LISTS = {Part.INTEREST: "interests", Part.EXAMPLE: "examples", Part.REPOSITORIES: "repositories"}
_A_NUMBER = re.compile(r"#?\d{1,3}", re.ASCII)


def _making(before: TopicForm, after: TopicForm) -> Iterator[Command]:
    """A new topic takes its title from its name where none is given."""
    if not after.name.strip():
        raise Misfit("A topic needs a name.", "name")
    yield CreateTopic(after.name, after.query)
    made = TopicForm(name=after.name, title=after.title if not after.title.strip() else "", query=after.query)
    yield from _edits(replace(made, min_score=before.min_score), after)


def _editing(before: TopicForm, after: TopicForm) -> Iterator[Command]:
    """The first edit is for the revision in which the topic was read; each further one goes by what the first left."""
    for number, edit in enumerate(_edits(before, replace(after, name=before.name))):
        yield edit if number else replace(edit, revision=before.revision)


def _edits(before: TopicForm, after: TopicForm) -> Iterator[EditTopic]:
    for part, name in _ALONE.items():
        if (said := _alone(after, name)) != _alone(before, name):
            yield EditTopic(name=after.name, part=part, value=said)
    for part, name in _LISTS.items():
        yield from _listed(part, after.name, getattr(before, name), getattr(after, name))


def _alone(form: TopicForm, name: str) -> str:
    value = getattr(form, name)
    if name == "sources":
        return ", ".join(dict.fromkeys(value)) or "all"
    return repr(value).removesuffix(".0") if name == "min_score" else _line(value)


_Element = str | Interest


def _listed(part: Part, topic: str, before: Sequence[_Element], after: Sequence[_Element]) -> Iterator[EditTopic]:
    """Take away first, from the end, so that a number means the same until it is taken; then add."""
    wanted, standing = {_words(each): each for each in after}, {_words(each): each for each in before}
    for place in range(len(before) - 1, -1, -1):
        if (words := _words(before[place])) not in wanted:
            value = str(place + 1) if _A_NUMBER.fullmatch(words) else words  # "3" would be the third one
            yield EditTopic(name=topic, part=part, value=value, remove=True)
    for words, each in wanted.items():
        if words and (words not in standing or _weight(each) != _weight(standing[words])):
            yield EditTopic(name=topic, part=part, value=words, weight=_weight(each))


def _words(element: _Element) -> str:
    return _line(element.clause if isinstance(element, Interest) else element)


def _weight(element: _Element) -> float | None:
    return element.weight if isinstance(element, Interest) else None


# --- filters


def _filtering(before: FilterForm, after: FilterForm) -> Iterator[Command]:
    was, wanted = _line(before.query), _line(after.query)
    if (was, before.scope) == (wanted, after.scope):
        return
    action = FilterAction.SET if wanted else FilterAction.CLEAR
    yield Filter(after.topic, action, wanted, after.scope)


def _line(text: str) -> str:
    return " ".join(text.split())
