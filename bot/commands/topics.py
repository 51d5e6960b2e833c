"""The commands about topics and their filters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Self

from bot.commands.declaration import (
    NAMED,
    Argument,
    Command,
    Group,
    MailPlace,
    OneOfSeveral,
    Option,
    Permission,
    Pieces,
    Said,
    TopicNamed,
    Usage,
    behind,
    declared,
    end,
    flag,
    formatted,
    missing,
    number,
    number_text,
    place_written,
    read_rhythm,
    text,
    topic,
    topic_name,
)
from bot.commands.words import Word, Words, free_text, nearest, query_text, shown
from bot.errors import Incomplete, UsageError
from bot.models import MOST_WEIGHT


@declared("topics", Group.TOPICS, example="topics", aliases=("topic list", "list topics"))
@dataclass(frozen=True, slots=True)
class ListTopics(Command):
    """List the topics that can be subscribed."""


@declared("topic show", Group.TOPICS, example="topic show gpu-systems", aliases=("show topic", "topic view", "topic info"))
@dataclass(frozen=True, slots=True)
class ShowTopic(Command):
    """Show what a topic is made of."""

    name: Annotated[str, topic("NAME"), NAMED]
    whole: Annotated[bool, flag("all"), Option(name="all", help="The whole query, every interest, example and search.")] = (
        False
    )


@declared(
    "topic create",
    Group.TOPICS,
    example='topic create kv-cache "kv cache" OR "paged attention"',
    permission=Permission.MANAGE,
    aliases=("create topic", "topic new", "new topic", "topic add", "add topic"),
    syntax="topic create NAME QUERY… | topic create NAME from OTHER",
)
@dataclass(frozen=True, slots=True)
class CreateTopic(Command):
    """Make a topic of your own, from a query or from another topic."""

    name: Annotated[str, Argument("NAME", text), Option(help="Its name. Leave it out for a form.", optional=True)]
    query: Annotated[str, Argument("", text), Option(help="What enters it.", suggests="query")] = ""
    origin: Annotated[  # the topic to start from; never together with a query
        str, Argument("", behind("from")), Option(name="from", help="Or the topic to start from.", suggests="topic")
    ] = ""

    @classmethod
    def read(cls, words: Words) -> Self:
        """Read `topic create NAME QUERY…` and `topic create NAME from OTHER`; alone it is filled in in a form."""
        if words.peek() is None:
            raise Incomplete(missing(words, cls.usage, "the name of a topic"), "topic")
        name = topic_name(words, cls.usage)
        at = words.at
        if words.take("from"):
            origin = words.next()
            if origin is not None and words.peek() is None:
                return cls(name, origin=origin.text)
            words.at = at
        query = query_text(words.rest())
        if not query.strip():
            raise missing(words, cls.usage, "a query, or *from* another topic")
        return cls(name, query)

    @classmethod
    def chosen(cls, values: Mapping[str, Any]) -> Self:
        """Return the command from its options; without a name it is filled in in a form."""
        made = cls(**{"name": ""} | cls.fields_chosen(values))
        if not made.name.strip():
            raise Incomplete(UsageError("A topic needs a name."), "topic")
        if made.query and made.origin:
            raise UsageError(
                "A topic is made from a query or from another topic, not from both.", hint="Leave one of them out."
            )
        if not made.query and not made.origin:
            raise UsageError("A topic needs a query, or another topic to start from.", hint="Fill in *query* or *from*.")
        return made


# --- topic edit


class Part(StrEnum):
    """What of a topic can be edited."""

    TITLE = "title"
    DESCRIPTION = "description"
    QUERY = "query"
    INTEREST = "interest"  # a clause, with a weight
    EXAMPLE = "example"  # an item, or a text to be close to
    SOURCES = "sources"  # names, or "all"
    CATEGORIES = "categories"  # arXiv's that are collected for it, or "none"
    MIN = "min"  # the bar: the relevance that an entry needs
    REPOSITORIES = "repositories"  # a GitHub search


_ADDED = frozenset({Part.INTEREST, Part.EXAMPLE, Part.REPOSITORIES})
_QUERIES = frozenset({Part.QUERY, Part.INTEREST, Part.REPOSITORIES})
_PARTS = {part.value: part for part in Part} | {
    "interests": Part.INTEREST,
    "examples": Part.EXAMPLE,
    "source": Part.SOURCES,
    "category": Part.CATEGORIES,
    "minimum": Part.MIN,
    "bar": Part.MIN,
    "repository": Part.REPOSITORIES,
    "repos": Part.REPOSITORIES,
}
_WEIGHT_BEHIND = re.compile(r" weight (\S+)[.,;]?\Z", re.IGNORECASE)


@declared(
    "topic edit",
    Group.TOPICS,
    example='topic edit kv-cache interest weight 2.5 "prefix caching"',
    permission=Permission.MANAGE,
    aliases=("edit topic", "topic set", "topic change"),
    order=("name", "revision", "remove", "part", "weight", "value"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class EditTopic(Command):
    """Change one part of a topic; interests, examples and repositories are added, or with remove taken away."""

    name: Annotated[str, Argument("NAME", text), NAMED]
    part: Annotated[
        Part,
        Argument("|".join(Part), formatted("{}")),
        Option(help="What to change. Leave it out for a form.", optional=True),
    ]
    value: Annotated[
        str,
        Argument("VALUE…", text),
        Option(help="What to set, add or take away.", suggests="query", optional=True),
    ]
    weight: Annotated[  # of an interest
        float | None,
        Argument("", lambda weight: (f"weight {number_text(weight)}",)),
        Option(help="Of an interest.", least=-MOST_WEIGHT, most=MOST_WEIGHT),
    ] = None
    remove: Annotated[bool, flag("remove"), Option(help="Take it away instead of adding it.")] = False
    revision: Annotated[int | None, Argument("", formatted("rev={}"))] = None  # only if the topic is still in this one

    @classmethod
    def read(cls, words: Words) -> Self:
        """Read `topic edit NAME [rev=3] [remove] PART VALUE…`, for an interest with its `weight`.

        With nothing behind the name it is filled in in a form.
        """
        name = topic_name(words, cls.usage)
        if words.peek() is None:
            raise Incomplete(missing(words, cls.usage, "a part and its value"), "topic", name)
        revision = _revision(words)
        remove = words.take("remove", "delete") is not None
        if not remove:
            words.take("add", "set")
        part, said = _part(words, cls.usage)
        if remove and part not in _ADDED:
            raise words.fault(f"The {part} of a topic cannot be removed: interests, examples and repositories can.", said)
        weight = _weight(words) if part is Part.INTEREST and not remove else None
        understood = query_text if part in _QUERIES else free_text
        written = words.rest()
        value = understood(written)
        if not value.strip() and not (part is Part.DESCRIPTION and written):
            raise missing(words, cls.usage, f"a value for the {part}")
        return cls(name=name, part=part, value=value, weight=weight, remove=remove, revision=revision)

    @classmethod
    def chosen(cls, values: Mapping[str, Any]) -> Self:
        """Return the command from its options; without a part it is filled in in a form."""
        said: dict[str, Any] = {"name": "", "value": ""} | cls.fields_chosen(values)
        if "part" not in said:
            raise Incomplete(UsageError("What is to be changed is missing."), "topic", said["name"])
        return cls(**said)


def _revision(words: Words) -> int | None:
    if not words.split("rev"):
        return None
    word = words.next()
    if word is None or not re.fullmatch(r"\d{1,9}", word.key, re.ASCII):
        raise words.fault("*rev=* takes the number of a revision, such as *rev=3*.", word)
    return int(word.key)


def _part(words: Words, usage: Usage) -> tuple[Part, Word]:
    word = words.next()
    if word is None:
        raise missing(words, usage, "a part and its value")
    if word.option in _PARTS:
        return _PARTS[word.option], word
    near = nearest(word.option, _PARTS)
    if word.option in ("filter", "filters"):
        hint = "A filter is changed with *filter TOPIC everywhere set QUERY*."
    else:
        hint = f"Did you mean *{near}*?" if near else ""
    raise words.fault(f'A topic has no "{shown(word.text)}": it has {", ".join(Part)}.', word, hint)


def _weight(words: Words) -> float | None:
    """Read `weight 2.5`, which may stand before the clause or behind it."""
    at = words.at
    if words.take("weight") and (value := number(said := words.next())) is not None:
        return _bounded(words, value, said)
    words.at = at
    found = _WEIGHT_BEHIND.search(words.signs, at, words.end)
    if found is None:
        return None
    words.at = found.start(1)
    said = words.next()
    value = number(said)
    words.at = at
    if value is None:
        return None
    words.end = found.start()
    return _bounded(words, value, said)


def _bounded(words: Words, weight: float, said: Word | None) -> float:
    if not -MOST_WEIGHT <= weight <= MOST_WEIGHT:
        raise words.fault(f"*weight* takes a number from -{MOST_WEIGHT:g} to {MOST_WEIGHT:g}, such as *weight 2.5*.", said)
    return weight


@declared(
    "topic delete",
    Group.TOPICS,
    example="topic delete kv-cache",
    permission=Permission.MANAGE,
    aliases=("delete topic", "topic remove", "remove topic", "topic rm"),
)
@dataclass(frozen=True, slots=True)
class DeleteTopic(Command):
    """Delete a topic of your own; anyway also deletes one that channels subscribe to."""

    name: Annotated[str, topic("NAME"), NAMED]
    anyway: Annotated[bool, flag("anyway"), Option(help="Also while channels subscribe to it.")] = False


# --- filter


class FilterAction(StrEnum):
    """What to do with a filter."""

    SHOW = "show"
    SET = "set"
    ADD = "add"
    REMOVE = "remove"
    CLEAR = "clear"
    TEST = "test"


class Scope(StrEnum):
    """Whose filter is meant."""

    HERE = "here"  # this channel's subscription
    TOPIC = "everywhere"  # the topic itself


@declared(
    "filter",
    Group.TOPICS,
    example="filter gpu-systems test has:code -survey",
    permission=Permission.SOME,
    aliases=("filters",),
    order=("topic", "scope", "rhythm", "action", "query", "channel"),
)
@dataclass(frozen=True, slots=True)
class Filter(Command):
    """Show, change or try the filter of a topic, for this channel or everywhere."""

    topic: TopicNamed
    action: Annotated[
        FilterAction,
        Argument(f"[{'|'.join(FilterAction)}]", formatted("{}")),
        Option(help="What to do; without it, the filter is shown."),
    ] = FilterAction.SHOW
    query: Annotated[
        str, Argument("[QUERY…]", text), Option(help="The filter, or the clause to add or remove.", suggests="query")
    ] = ""
    scope: Annotated[  # None: here where it is subscribed here, else everywhere
        Scope | None,
        Argument(f"[{'|'.join(Scope)}]", formatted("{}")),
        Option(
            help="Whose filter.",
            choices=(("this channel's", Scope.HERE.value), ("the topic's, everywhere", Scope.TOPIC.value)),
        ),
    ] = None
    rhythm: OneOfSeveral = None
    channel: MailPlace = ""

    @classmethod
    def read(cls, words: Words) -> Self:
        """Read `filter TOPIC [here|everywhere] [RHYTHM] [ACTION] [QUERY…]`."""
        topic = topic_name(words, cls.usage)
        scope = _scope(words)
        rhythm = read_rhythm(words)
        word = words.take(*FilterAction)
        action = FilterAction(word.option) if word else FilterAction.SHOW
        if action in (FilterAction.SHOW, FilterAction.CLEAR):
            scope = scope or _scope(words)
            if (left := words.peek()) is not None and word is None:
                near = nearest(left.option, FilterAction)
                hint = f"Did you mean *{near}*?" if near else "To try a query without setting it: *filter TOPIC test QUERY*."
                raise words.fault(f'"{shown(left.text)}" says not what to do: {", ".join(FilterAction)}.', left, hint)
            end(words, cls.usage)
            return cls(topic, action, scope=scope, rhythm=rhythm)
        query = query_text(words.rest())
        if not query.strip() and action is not FilterAction.TEST:
            example = f"filter {shown(topic)} {action} has:code -survey"
            raise words.fault(f"*{action}* needs a query: write for example *{example}*.")
        return cls(topic, action, query.strip() and query, scope, rhythm)

    def written(self) -> Pieces:
        """Return what stands behind the verb: the action too where it follows whose filter is meant."""
        plainly = self.action is FilterAction.SHOW and self.scope is None
        said = (self.scope or "", self.rhythm or "", "" if plainly else self.action, Said(self.query) if self.query else "")
        return (Said(self.topic), *(piece for piece in said if piece), *place_written(self.channel))

    @classmethod
    def chosen(cls, values: Mapping[str, Any]) -> Self:
        """Return the command from its options; what is to be set is filled in in a form where it is not said."""
        made = cls(**{"topic": ""} | cls.fields_chosen(values))
        if made.action is FilterAction.SET and not made.query.strip():
            raise Incomplete(UsageError("What is to be set is missing."), "filter", made.topic, made.channel)
        return made


def _scope(words: Words) -> Scope | None:
    word = words.take(*Scope)
    return Scope(word.option) if word else None
