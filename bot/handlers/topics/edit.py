"""Editing one part of a topic; the new value is checked before anything is written."""

import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.commands import EditTopic, Part, names_item
from bot.errors import Conflict, Unclear, UsageError
from bot.handlers.clauses import normalised, read_topic_query
from bot.handlers.context import HandlerContext, handles
from bot.handlers.items import item_named
from bot.handlers.topics.topic_change import AlterTopic, ChangedTopic, change_topic, entering_in_words
from bot.handlers.wording.replies import (
    as_numbered_list,
    button,
    excerpt,
    one_line,
    preview_button,
    read_number,
    show_button,
)
from bot.handlers.wording.topics import LIST_PARTS, PART_NAMES, copied_in_words, part_values
from bot.models import LONGEST_TITLE, MOST_WEIGHT, Actor, And, Interest, Reply, ReplyEntry, Topic
from bot.query import parse
from bot.settings.arxiv_categories import categories_named, not_collected
from bot.sources.github.search_query import check_search
from bot.wording import counted, shortened, span_in_words

_LONGEST = 500  # characters of what went or came that an answer repeats; the topic shows all
_FOR_TRIAL = (Part.QUERY, Part.SOURCES)  # the parts that say who enters


@handles(EditTopic)
async def edit_topic(context: HandlerContext, command: EditTopic, actor: Actor, now: datetime) -> Reply:
    """Change one part of a topic."""
    await context.check_may_manage(actor)
    topic = await context.topic_named(actor.workspace, command.name)
    part = command.part
    await _check_revision(context, actor, topic, command, now)
    if part is Part.EXAMPLE and not command.remove and names_item(command.value):
        await item_named(context, actor, command.value, fetch_at=now)  # what is not known yet is from here on
    edit = await edit_of(context, actor, command, topic)
    alter = _guarded(edit.alter, topic, command)
    try:
        changed = await change_topic(context, actor, topic.name, alter, lambda *sides: _told(part, *sides), now)
    except Conflict as conflict:
        raise await _as_it_stands(context, actor, topic.name, part, now) from conflict
    return await _answer(context, actor, changed, part, edit.note, now)


async def _check_revision(context: HandlerContext, actor: Actor, topic: Topic, command: EditTopic, now: datetime) -> None:
    if command.revision is not None and command.revision != topic.revision:
        raise await _as_it_stands(context, actor, topic.name, command.part, now)


def _guarded(alter: AlterTopic, read: Topic, command: EditTopic) -> AlterTopic:
    """Keep a change from falling upon one that its author has not seen: of the same part, or of a revision they named."""

    def checked(topic: Topic) -> Topic:
        overrun = command.part not in LIST_PARTS and part_values(topic, command.part) != part_values(read, command.part)
        if overrun or (command.revision is not None and topic.revision != command.revision):
            raise Conflict("Somebody changed the topic in between.")
        return alter(topic)

    return checked


async def _as_it_stands(context: HandlerContext, actor: Actor, name: str, part: Part, now: datetime) -> Conflict:
    """Return the error that tells who changed the topic last, and how the part stands now."""
    topic = await context.topic_named(actor.workspace, name)
    changes = await context.store.workspaces.changes(actor.workspace, about=f"topic {name}", limit=1)
    by = f"by {changes[0].person}, {span_in_words(now - changes[0].at)} ago" if changes else "as it comes with Broadsheet"
    said = part_values(topic, part)
    stands = f"{counted(len(said), 'entry')}" if part in LIST_PARTS else excerpt(said[0]) or "empty"
    conflict = Conflict(
        f"{name} is in revision {topic.revision} now, {by}; nothing was changed. Its {PART_NAMES[part]} now: {stands}.",
        hint=f"*topic show {name}* shows all of it; *topic edit {name} rev={topic.revision} {part} …* changes it as it is.",
    )
    conflict.people = tuple(each.person for each in changes)
    return conflict


def _told(part: Part, before: Topic, after: Topic) -> tuple[str, str]:
    """What of the part went, and what came."""
    gone, come = _difference(part, before, after)
    return _listed(part, gone), _listed(part, come)


def _difference(part: Part, before: Topic, after: Topic) -> tuple[list[str], list[str]]:
    old, new = part_values(before, part), part_values(after, part)
    return [each for each in old if each not in new], [each for each in new if each not in old]


def _listed(part: Part, said: list[str]) -> str:
    return f"{part}: {'; '.join(said)}" if any(said) else ""


# --- the answer


async def _answer(
    context: HandlerContext, actor: Actor, changed: ChangedTopic, part: Part, note: str, now: datetime
) -> Reply:
    topic = changed.after
    if topic is changed.before:
        return Reply(
            title=f"{topic.title} is so already",
            text=tuple(filter(None, (f"Nothing of its {PART_NAMES[part]} was changed.", note))),
            buttons=(show_button(topic.name),),
        )
    gone, come = _difference(part, changed.before, topic)
    was, is_now = ("Gone", "New") if part in LIST_PARTS else ("It was", "It is now")
    text = [line for line in (_line(was, gone), _line(is_now, come), note) if line]
    if changed.copied:
        text.append(copied_in_words(topic))
    entries: tuple[ReplyEntry, ...] = ()
    if part in _FOR_TRIAL:
        said, entries = await entering_in_words(context, actor, topic, now)
        text.append(said)
    return Reply(
        title=f"Changed the {PART_NAMES[part]} of {topic.title}",
        text=tuple(text),
        entries=entries,
        buttons=(
            button("Undo", _undo(changed, part)),
            show_button(topic.name),
            preview_button(topic.name),
        ),
        private=False,
    )


def _line(word: str, said: list[str]) -> str:
    return f"{word}: {shortened('; '.join(said), _LONGEST) or 'empty'}" if said else ""


def _undo(changed: ChangedTopic, part: Part) -> EditTopic:
    """Return the command that brings the part back to what it was."""
    old, new = part_values(changed.before, part), part_values(changed.after, part)
    base = EditTopic(name=changed.after.name, part=part, value="")
    if part not in LIST_PARTS:
        return replace(base, value=old[0])
    if part is Part.INTEREST:
        return _undo_interest(changed, base)
    if gone := [each for each in old if each not in new]:
        return replace(base, value=gone[0])
    return replace(base, value=new[-1], remove=True)


def _undo_interest(changed: ChangedTopic, base: EditTopic) -> EditTopic:
    before, after = changed.before.interests, changed.after.interests
    if gone := [each for each in before if each not in after]:
        return replace(base, value=gone[0].clause, weight=gone[0].weight)
    return replace(base, value=after[-1].clause, remove=True)


LONGEST_TEXT = 2000
MOST_CATEGORIES = 20  # each is read every day, for everybody
MOST = {Part.INTEREST: 100, Part.EXAMPLE: 50, Part.REPOSITORIES: 20}


@dataclass(frozen=True, slots=True)
class Edit:
    """How a topic is to be changed, and what is to be said about it besides."""

    alter: AlterTopic
    note: str = ""


async def edit_of(context: HandlerContext, actor: Actor, command: EditTopic, topic: Topic) -> Edit:
    """Return the change that the command asks for; raises UsageError for a value that the part cannot take.

    `topic` is the topic as it is now: what the command numbers is looked up in it.
    """
    value = one_line(command.value)
    if not value and (command.remove or command.part is not Part.DESCRIPTION):
        raise UsageError(f"Say what the {command.part} is to be.")
    if command.remove:
        return await _removal(context, actor, command.part, value, topic)
    return await _EDITS[command.part](context, actor, replace(command, value=value))


async def _title(_context: HandlerContext, _actor: Actor, command: EditTopic) -> Edit:
    if len(command.value) > LONGEST_TITLE:
        raise UsageError(f"A title may be {LONGEST_TITLE} characters long; this one has {len(command.value):,}.")
    return Edit(lambda topic: replace(topic, title=command.value))


async def _description(_context: HandlerContext, _actor: Actor, command: EditTopic) -> Edit:
    _check_length(command.value, "description")
    return Edit(lambda topic: replace(topic, description=command.value))


async def _query(_context: HandlerContext, _actor: Actor, command: EditTopic) -> Edit:
    query = read_topic_query(command.value, f"topic edit {command.name} query")
    return Edit(
        lambda topic: topic if normalised(topic.query.tree) == normalised(query.tree) else replace(topic, query=query)
    )


async def _interest(_context: HandlerContext, _actor: Actor, command: EditTopic) -> Edit:
    tree, weight = parse(command.value).tree, 1.0 if command.weight is None else command.weight
    if tree == And(()):
        raise UsageError("An interest needs something to look for.", hint='For example: weight 2.5 "KV cache"')
    if not math.isfinite(weight) or not weight or abs(weight) > MOST_WEIGHT:
        bounds = f"between -{MOST_WEIGHT:g} and {MOST_WEIGHT:g}"
        raise UsageError(f"A weight lies {bounds}, and is not 0.", hint="For example *weight 2.5*.")

    def alter(topic: Topic) -> Topic:
        same = [
            place for place, each in enumerate(topic.interests) if normalised(parse(each.clause).tree) == normalised(tree)
        ]
        if not same:
            return _appended(topic, Part.INTEREST, Interest(command.value, weight))
        interests = list(topic.interests)
        interests[same[0]] = replace(interests[same[0]], weight=weight)
        return replace(topic, interests=tuple(interests))

    return Edit(alter)


async def _example(context: HandlerContext, actor: Actor, command: EditTopic) -> Edit:
    value, note = await _example_meant(context, actor, command.value)
    return Edit(lambda topic: topic if value in topic.examples else _appended(topic, Part.EXAMPLE, value), note)


async def _example_meant(context: HandlerContext, actor: Actor, typed: str) -> tuple[str, str]:
    """Return the key of the item that is named, or the text to be close to; and what it was taken for, in words."""
    _check_length(typed, "text to be close to")
    try:
        item = await item_named(context, actor, typed)
    except Unclear as unclear:
        raise Unclear(str(unclear), "value", unclear.choices) from unclear
    except UsageError:
        if " " not in typed:
            raise
        return typed, "It is taken as a text to be close to, as no item is called so."
    return item.key, f"It is {item.title} ({item.key})."


async def _sources(context: HandlerContext, _actor: Actor, command: EditTopic) -> Edit:
    names = tuple(dict.fromkeys(re.split(r"[,\s]+", command.value.lower().strip(", "))))
    sources = () if names == ("all",) else names
    known = dict.fromkeys([*context.source_titles, *(name.partition(":")[0] for name in context.source_titles)])
    if strange := next((name for name in sources if name not in known), ""):
        raise UsageError(f'There is no source "{excerpt(strange)}".', hint=f"There are: {', '.join(known)}; or *all*.")
    return Edit(lambda topic: replace(topic, sources=sources))


async def _categories(context: HandlerContext, _actor: Actor, command: EditTopic) -> Edit:
    names = [name for name in re.split(r"[,\s]+", command.value) if name]
    categories = () if [name.lower() for name in names] == ["none"] else categories_named(names)
    if len(categories) > MOST_CATEGORIES:
        said = f"A topic may need {MOST_CATEGORIES} categories; these are {len(categories)}."
        raise UsageError(said, hint="Name those in which its papers mostly are.")
    wanted = Topic(name=command.name, title="", categories=categories)
    return Edit(lambda topic: replace(topic, categories=categories), not_collected(wanted, context.arxiv))


async def _least(_context: HandlerContext, _actor: Actor, command: EditTopic) -> Edit:
    try:
        least = float(command.value.replace(",", "."))
    except ValueError:
        least = math.nan
    if not 0 <= least <= 1:
        raise UsageError("A bar lies between 0 and 1.", hint="For example *min 0.3*.")
    return Edit(lambda topic: replace(topic, min_score=least))


async def _repositories(_context: HandlerContext, _actor: Actor, command: EditTopic) -> Edit:
    search = command.value
    try:
        check_search(search)
    except UsageError as error:
        raise UsageError(f"{str(error)[:1].upper()}{str(error)[1:]}.", position=error.position, hint=error.hint) from error
    return Edit(lambda topic: topic if search in topic.repositories else _appended(topic, Part.REPOSITORIES, search))


_EDITS: Mapping[Part, Callable[[HandlerContext, Actor, EditTopic], Awaitable[Edit]]] = {
    Part.TITLE: _title,
    Part.DESCRIPTION: _description,
    Part.QUERY: _query,
    Part.INTEREST: _interest,
    Part.EXAMPLE: _example,
    Part.SOURCES: _sources,
    Part.CATEGORIES: _categories,
    Part.MIN: _least,
    Part.REPOSITORIES: _repositories,
}


def _check_length(text: str, what: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise UsageError(f"A {what} may be {LONGEST_TEXT:,} characters long; this one has {len(text):,}.")


def _appended(topic: Topic, part: Part, value: "_Element") -> Topic:
    present = _present(topic, part)
    if len(present) >= MOST[part]:
        raise UsageError(f"A topic may have {MOST[part]} {_FIELDS[part]}, and this one has them.", hint="Remove one first.")
    return _with(topic, part, (*present, value))


# --- taking away

_Element = str | Interest
_FIELDS: Mapping[Part, str] = {Part.INTEREST: "interests", Part.EXAMPLE: "examples", Part.REPOSITORIES: "repositories"}


async def _removal(context: HandlerContext, actor: Actor, part: Part, value: str, topic: Topic) -> Edit:
    """Take away what the value says or numbers, from 1 in the order in which the topic is shown."""
    if part not in LIST_PARTS:
        raise UsageError(f"A topic always has a {part}: say another instead.", hint=f"*topic edit {topic.name} {part} …*")
    gone = await _meant(context, actor, part, value, _present(topic, part))

    def alter(topic: Topic) -> Topic:
        return _with(topic, part, tuple(each for each in _present(topic, part) if each != gone))

    return Edit(alter)


def _present(topic: Topic, part: Part) -> tuple[_Element, ...]:
    present: tuple[_Element, ...] = getattr(topic, _FIELDS[part])
    return present


def _with(topic: Topic, part: Part, values: tuple[_Element, ...]) -> Topic:
    changed: dict[str, Any] = {_FIELDS[part]: values}
    return replace(topic, **changed)


async def _meant(context: HandlerContext, actor: Actor, part: Part, value: str, present: Sequence[_Element]) -> _Element:
    if number := read_number(value, len(present)):
        return present[number - 1]
    literal = (each for each in present if value == " ".join(_text(each).split()))
    if (found := next(literal, None)) is not None:
        return found
    same: list[_Element] = []
    if part is Part.INTEREST:
        tree = parse(value).tree
        same = [each for each in present if normalised(parse(_text(each)).tree) == normalised(tree)]
    elif part is Part.EXAMPLE:
        key = await _key_of(context, actor, value)
        same = [each for each in present if each == key]
    if not same:
        raise _absent(part, value, present)
    return same[0]


def _text(element: _Element) -> str:
    return element.clause if isinstance(element, Interest) else element


async def _key_of(context: HandlerContext, actor: Actor, typed: str) -> str:
    try:
        return (await item_named(context, actor, typed)).key
    except UsageError:
        return ""


def _absent(part: Part, value: str, present: Sequence[_Element]) -> UsageError:
    said = [_text(each) for each in present]
    hint = f"There are: {as_numbered_list(said)}. A number will do." if said else f"There are no {_FIELDS[part]}."
    return UsageError(
        f"The topic has no {'repository search' if part is Part.REPOSITORIES else part} {excerpt(value)}.", hint=hint
    )
