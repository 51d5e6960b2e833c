"""Changing a topic, though others change it too; a pack becomes the workspace's own first."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.commands import DeleteTopic, EditTopic, Now, Part, ShowTopic, write
from bot.errors import Conflict
from bot.handlers.alterations import Alter, edit_of
from bot.handlers.context import HandlerContext
from bot.handlers.insist import insist
from bot.handlers.lookup import check_may_manage, order_of, shown, topic_named
from bot.handlers.parts import LISTS, NAMES, elements
from bot.handlers.registry import handles
from bot.models import Actor, Button, Change, DigestRequest, FilterTest, Query, Reply, ReplyEntry, Topic
from bot.wording import counted, shortened, span_in_words

WEEK = timedelta(days=7)  # what a change is tried on
NOTHING_SEEN = f"Nothing was collected in the last {WEEK.days} days, so it cannot be tried yet."
_LONGEST = 500  # characters of what went or came that an answer repeats; the topic shows all
_FOR_TRIAL = (Part.QUERY, Part.SOURCES)  # the parts that say who enters


@dataclass(frozen=True, slots=True)
class ChangedTopic:
    """A topic before and after a change; the same twice when there was nothing to change."""

    before: Topic
    after: Topic

    @property
    def copied(self) -> bool:
        """Whether a pack became the workspace's own by it."""
        return not self.before.revision and self.after is not self.before


Told = Callable[[Topic, Topic], tuple[str, str]]  # a topic before and after, in words


async def change_topic(
    context: HandlerContext, actor: Actor, name: str, alter: Alter, told: Told, now: datetime
) -> ChangedTopic:
    """Change the topic of that name; what others change of it at the same time stays changed.

    `alter` may be called again, with the topic as it has become in between.
    """

    async def attempt() -> ChangedTopic:
        before = await topic_named(context, actor.workspace, name)
        after = alter(before)
        if after == before:
            return ChangedTopic(before, before)
        was, is_now = told(before, after)
        change = change_of(actor, name, was, is_now, now)
        return ChangedTopic(before, await context.store.save_topic(actor.workspace, after, change, replaces=before.revision))

    return await insist(attempt)


def change_of(actor: Actor, name: str, before: str, after: str, now: datetime) -> Change:
    """Return the line of the audit."""
    return Change(workspace=actor.workspace, at=now, person=actor.person, what=f"topic {name}", before=before, after=after)


# --- one part


@handles(EditTopic)
async def edit_topic(context: HandlerContext, command: EditTopic, actor: Actor, now: datetime) -> Reply:
    """Change one part of a topic."""
    await check_may_manage(context, actor)
    topic = await topic_named(context, actor.workspace, command.name)
    part = command.part
    await _check_revision(context, actor, topic, command, now)
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


def _guarded(alter: Alter, read: Topic, command: EditTopic) -> Alter:
    """Keep a change from falling upon one that its author has not seen: of the same part, or of a revision they named."""

    def checked(topic: Topic) -> Topic:
        overrun = command.part not in LISTS and elements(topic, command.part) != elements(read, command.part)
        if overrun or (command.revision is not None and topic.revision != command.revision):
            raise Conflict("Somebody changed the topic in between.")
        return alter(topic)

    return checked


async def _as_it_stands(context: HandlerContext, actor: Actor, name: str, part: Part, now: datetime) -> Conflict:
    """Return the error that tells who changed the topic last, and how the part stands now."""
    topic = await topic_named(context, actor.workspace, name)
    changes = await context.store.changes(actor.workspace, about=f"topic {name}", limit=1)
    by = f"by {changes[0].person}, {span_in_words(now - changes[0].at)} ago" if changes else "as it comes with Broadsheet"
    said = elements(topic, part)
    stands = f"{counted(len(said), 'entry')}" if part in LISTS else shown(said[0]) or "empty"
    conflict = Conflict(
        f"{name} is in revision {topic.revision} now, {by}; nothing was changed. Its {NAMES[part]} now: {stands}.",
        hint=f"*topic show {name}* shows all of it; *topic edit {name} rev={topic.revision} {part} …* changes it as it is.",
    )
    conflict.people = tuple(each.person for each in changes)
    return conflict


def _told(part: Part, before: Topic, after: Topic) -> tuple[str, str]:
    """What of the part went, and what came."""
    gone, come = _difference(part, before, after)
    return _listed(part, gone), _listed(part, come)


def _difference(part: Part, before: Topic, after: Topic) -> tuple[list[str], list[str]]:
    old, new = elements(before, part), elements(after, part)
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
            text=tuple(filter(None, (f"Nothing of its {NAMES[part]} was changed.", note))),
            buttons=(Button("Show", write(ShowTopic(topic.name))),),
        )
    gone, come = _difference(part, changed.before, topic)
    was, is_now = ("Gone", "New") if part in LISTS else ("It was", "It is now")
    text = [line for line in (_line(was, gone), _line(is_now, come), note) if line]
    if changed.copied:
        text.append(copied_in_words(topic))
    entries: tuple[ReplyEntry, ...] = ()
    if part in _FOR_TRIAL:
        said, entries = await entering(context, actor, topic, now)
        text.append(said)
    return Reply(
        title=f"Changed the {NAMES[part]} of {topic.title}",
        text=tuple(text),
        entries=entries,
        buttons=(
            Button("Undo", write(_undo(changed, part))),
            Button("Show", write(ShowTopic(topic.name))),
            Button("Preview", write(Now(topic.name))),
        ),
        private=False,
    )


def _line(word: str, said: list[str]) -> str:
    return f"{word}: {shortened('; '.join(said), _LONGEST) or 'empty'}" if said else ""


def copied_in_words(topic: Topic) -> str:
    """Return what it means that a pack has become the workspace's own."""
    back = write(DeleteTopic(topic.name))
    return (
        f"{topic.name} comes with Broadsheet; this workspace has its own copy from now on, which newer versions do not "
        f"change. *{back}* goes back to the original."
    )


def _undo(changed: ChangedTopic, part: Part) -> EditTopic:
    """Return the command that brings the part back to what it was."""
    old, new = elements(changed.before, part), elements(changed.after, part)
    base = EditTopic(name=changed.after.name, part=part, value="")
    if part not in LISTS:
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


async def entering(context: HandlerContext, actor: Actor, topic: Topic, now: datetime) -> tuple[str, tuple[ReplyEntry, ...]]:
    """Return how many of the last week's items enter the topic, in words, and the best of them."""
    order = await order_of(context, actor, replace(topic, filter=Query("")))
    trial = await tried(context, order, now)
    if not trial.seen:
        return NOTHING_SEEN, ()
    of = f"{counted(trial.seen, 'item')} of the last {WEEK.days} days"
    if not trial.entered:
        return f"None of the {of} enters it: a wider query would let some in.", ()
    best = tuple(ReplyEntry(item=each.ranked.item, lines=each.ranked.reasons) for each in trial.through)
    return f"{trial.entered:,} of the {of} {'enters' if trial.entered == 1 else 'enter'} it; the best:", best


async def tried(context: HandlerContext, order: DigestRequest, now: datetime) -> FilterTest:
    """Return what the order's filters make of the last week."""
    return await context.previewer.try_filter(replace(order, baseline=None), now - WEEK, now)
