"""Text to the commands about topics and their filters."""

import re

from bot.commands.options import number
from bot.commands.quoting import free_text, query_text
from bot.commands.reading import end, last_topic, missing, topic_name
from bot.commands.table import Usage
from bot.commands.verbs import CreateTopic, DeleteTopic, EditTopic, Filter, FilterAction, ListTopics, Part, Scope, ShowTopic
from bot.commands.words import Word, Words, nearest, shown
from bot.models import MOST_WEIGHT

_ADDED = frozenset({Part.INTEREST, Part.EXAMPLE, Part.REPOSITORIES})
_QUERIES = frozenset({Part.QUERY, Part.INTEREST, Part.REPOSITORIES})
_PARTS = {part.value: part for part in Part} | {
    "interests": Part.INTEREST,
    "examples": Part.EXAMPLE,
    "source": Part.SOURCES,
    "minimum": Part.MIN,
    "repository": Part.REPOSITORIES,
    "repos": Part.REPOSITORIES,
}
_SCOPES = {scope.value: scope for scope in Scope}
_WEIGHT_BEHIND = re.compile(r" weight (\S+)[.,;]?\Z", re.IGNORECASE)


def list_topics(words: Words, usage: Usage) -> ListTopics:
    """Read `topics`."""
    end(words, usage)
    return ListTopics()


def show_topic(words: Words, usage: Usage) -> ShowTopic:
    """Read `topic show NAME`."""
    return ShowTopic(last_topic(words, usage))


def create_topic(words: Words, usage: Usage) -> CreateTopic:
    """Read `topic create NAME QUERY…` and `topic create NAME from OTHER`."""
    name = topic_name(words, usage)
    at = words.at
    if words.take("from"):
        origin = words.next()
        if origin is not None and words.peek() is None:
            return CreateTopic(name, origin=origin.text)
        words.at = at
    query = query_text(words.rest())
    if not query.strip():
        raise missing(words, usage, "a query, or *from* another topic")
    return CreateTopic(name, query)


def edit_topic(words: Words, usage: Usage) -> EditTopic:
    """Read `topic edit NAME [rev=3] [remove] PART VALUE…`, for an interest with its `weight`."""
    name = topic_name(words, usage)
    revision = _revision(words)
    remove = words.take("remove", "delete") is not None
    if not remove:
        words.take("add", "set")
    part, said = _part(words, usage)
    if remove and part not in _ADDED:
        raise words.fault(f"The {part} of a topic cannot be removed: interests, examples and repositories can.", said)
    weight = _weight(words) if part is Part.INTEREST and not remove else None
    read = query_text if part in _QUERIES else free_text
    written = words.rest()
    value = read(written)
    if not value.strip() and not (part is Part.DESCRIPTION and written):
        raise missing(words, usage, f"a value for the {part}")
    return EditTopic(name=name, part=part, value=value, weight=weight, remove=remove, revision=revision)


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
    behind = _WEIGHT_BEHIND.search(words.signs, at, words.end)
    if behind is None:
        return None
    words.at = behind.start(1)
    said = words.next()
    value = number(said)
    words.at = at
    if value is None:
        return None
    words.end = behind.start()
    return _bounded(words, value, said)


def _bounded(words: Words, weight: float, said: Word | None) -> float:
    if not -MOST_WEIGHT <= weight <= MOST_WEIGHT:
        raise words.fault(f"*weight* takes a number from -{MOST_WEIGHT:g} to {MOST_WEIGHT:g}, such as *weight 2.5*.", said)
    return weight


def delete_topic(words: Words, usage: Usage) -> DeleteTopic:
    """Read `topic delete NAME [anyway]`."""
    name = topic_name(words, usage)
    anyway = words.take("anyway") is not None
    end(words, usage)
    return DeleteTopic(name, anyway)


def change_filter(words: Words, usage: Usage) -> Filter:
    """Read `filter TOPIC [here|everywhere] [ACTION] [QUERY…]`."""
    topic = topic_name(words, usage)
    scope = _scope(words)
    word = words.take(*FilterAction)
    action = FilterAction(word.option) if word else FilterAction.SHOW
    if action in (FilterAction.SHOW, FilterAction.CLEAR):
        scope = scope or _scope(words)
        if (left := words.peek()) is not None and word is None:
            near = nearest(left.option, FilterAction)
            hint = f"Did you mean *{near}*?" if near else "To try a query without setting it: *filter TOPIC test QUERY*."
            raise words.fault(f'"{shown(left.text)}" says not what to do: {", ".join(FilterAction)}.', left, hint)
        end(words, usage)
        return Filter(topic, action, scope=scope)
    query = query_text(words.rest())
    if not query.strip() and action is not FilterAction.TEST:
        example = f"filter {shown(topic)} {action} has:code -survey"
        raise words.fault(f"*filter TOPIC {action}* needs a query: write for example *{example}*.")
    return Filter(topic, action, query.strip() and query, scope)


def _scope(words: Words) -> Scope | None:
    word = words.take(*_SCOPES)
    return _SCOPES[word.option] if word else None
