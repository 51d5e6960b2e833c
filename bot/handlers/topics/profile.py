"""What a topic learned from more and less: shown, undone, reset and handed over. Who said what is told as counts alone."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.commands import Less, More, Profile, ProfileAction
from bot.errors import UsageError
from bot.handlers.context import HandlerContext, change_by, handles
from bot.handlers.feedback import feedback_change, feedback_of, word_of
from bot.handlers.items import item_named
from bot.handlers.wording.replies import button, preview_button
from bot.models import Actor, Attachment, Feedback, Item, Reply, ReplyEntry, Topic
from bot.rank import LearnedTerm, profile
from bot.rank.feedback import marked_items
from bot.wording import counted

_SHOWN = 12  # words that speak for an item, and as many against; the export has all
_LEAST = 0.005  # a weight that is told as 0.00 says nothing
_ITEMS = 10


@handles(Profile)
async def profile_topic(context: HandlerContext, command: Profile, actor: Actor, now: datetime) -> Reply:
    """Show, undo, reset or export what a topic has learned."""
    topic = await context.topic_named(actor.workspace, command.topic)
    given = await context.store.people.feedback(actor.workspace, topic.name)
    match command.action:
        case ProfileAction.SHOW:
            return await _shown(context, topic, given, actor)
        case ProfileAction.UNDO:
            return await _undone(context, topic, given, command.item, actor, now)
        case ProfileAction.RESET:
            return await _reset(context, topic, given, actor, now)
        case ProfileAction.EXPORT:
            return await _exported(context, topic, given)


async def _learned_from(
    context: HandlerContext, given: Sequence[Feedback]
) -> tuple[Mapping[str, Item], tuple[LearnedTerm, ...]]:
    """Return the items that feedback was given on, by the keys it was given under, and what it teaches."""
    known = await context.store.items.find({each.key for each in given})
    return known, await asyncio.to_thread(lambda: profile(marked_items(given, known)))


# --- show


async def _shown(context: HandlerContext, topic: Topic, given: Sequence[Feedback], actor: Actor) -> Reply:
    if not given:
        return _nothing(topic)
    known, terms = await _learned_from(context, given)
    wanted = [each for each in terms if each.weight >= _LEAST][:_SHOWN]
    unwanted = [each for each in terms if each.weight <= -_LEAST][:_SHOWN]
    entries = [
        ReplyEntry(title=title, lines=tuple(map(_term_in_words, some)), is_section=True)
        for title, some in (("Ranked higher", wanted), ("Ranked lower", unwanted))
        if some
    ]
    rest = len(terms) - len(wanted) - len(unwanted)
    return Reply(
        title=f"What {topic.title} learned",
        text=(
            f"{_told(given)}.",
            *((f"The export has {counted(rest, 'weaker word')} besides.",) if rest else ()),
            *(("What is close in meaning to these items counts as well, whatever its words.",) if context.embedder else ()),
        ),
        entries=(*entries, *_own_entries(topic, given, known, actor)),
        buttons=(
            button("Export", Profile(topic.name, ProfileAction.EXPORT)),
            button("Reset", Profile(topic.name, ProfileAction.RESET), danger=True),
        ),
    )


def _nothing(topic: Topic) -> Reply:
    return Reply(
        title=f"{topic.title} has learned nothing yet",
        next_steps=(f"*more 1 for {topic.name}* under a digest says that its first entry is what you want; *less 2* not.",),
        buttons=(preview_button(topic.name),),
    )


def _told(given: Sequence[Feedback]) -> str:
    people, items = len({each.person for each in given}), len({each.key for each in given})
    ups = sum(each.more for each in given)
    who = "1 person" if people == 1 else f"{people} people"
    return f"{ups:,} more and {len(given) - ups:,} less, of {who} on {counted(items, 'item')}"


def _term_in_words(term: LearnedTerm) -> str:
    return f"{term.term} {term.weight:+.2f} ({term.more} more, {term.less} less)"


def _own_entries(topic: Topic, given: Sequence[Feedback], known: Mapping[str, Item], actor: Actor) -> list[ReplyEntry]:
    """What the one who asks said, the latest first, each with its undoing."""
    own_words = [each for each in reversed(given) if each.person == actor.person][:_ITEMS]
    return [
        ReplyEntry(
            item=known.get(each.key),
            title="" if each.key in known else each.key,
            lines=(f"You said {word_of(each)}.",),
            buttons=(button("Undo", Profile(topic.name, ProfileAction.UNDO, each.key)),),
        )
        for each in own_words
    ]


# --- undo


async def _undone(
    context: HandlerContext, topic: Topic, given: Sequence[Feedback], typed: str, actor: Actor, now: datetime
) -> Reply:
    said = await _to_undo(context, topic, given, typed, actor)
    if isinstance(said, Item):
        return _counts_not(topic, said)
    await context.store.people.drop_feedback([said], feedback_change(actor, said, None, now))
    known = await context.store.items.find([said.key])
    title = known[said.key].title if said.key in known else said.key
    again = More(said.key, topic.name) if said.more else Less(said.key, topic.name)
    return Reply(
        title=f"Taken back for {topic.title}",
        text=(f'Your {word_of(said)} on "{title}" no longer counts.',),
        buttons=(
            button(f"Say {word_of(said)} again", again),
            button("What it learned", Profile(topic.name)),
        ),
    )


def _counts_not(topic: Topic, item: Item) -> Reply:
    return Reply(
        title=f"Nothing to take back for {topic.title}",
        text=(f'You have said neither more nor less of "{item.title}", or took it back.',),
        buttons=(button("What it learned", Profile(topic.name)),),
    )


async def _to_undo(
    context: HandlerContext, topic: Topic, given: Sequence[Feedback], typed: str, actor: Actor
) -> Feedback | Item:
    """Return the person's word on the named item, else that item; without one their last word, UsageError for none."""
    if not typed.strip():
        said = next((each for each in reversed(given) if each.person == actor.person), None)
        if said is None:
            raise UsageError(f"You have said neither more nor less for {topic.name}, so there is nothing to undo.")
        return said
    by_key = next((each for each in given if each.person == actor.person and each.key == typed.strip()), None)
    if by_key is not None:  # also of an item that is not kept any more
        return by_key
    item = await item_named(context, actor, typed)
    return feedback_of(given, actor, item) or item


# --- reset and export


async def _reset(context: HandlerContext, topic: Topic, given: Sequence[Feedback], actor: Actor, now: datetime) -> Reply:
    await context.check_may_manage(actor)
    if not given:
        return _nothing(topic)
    export = await _export(context, topic, given)
    change = change_by(actor, f"feedback {topic.name}", _told(given), "", now)
    dropped = await context.store.people.drop_feedback(given, change)
    return Reply(
        title=f"{topic.title} has forgotten what it learned",
        text=(f"{counted(dropped, 'answer')} of more and less were dropped; what they had taught is in the file.",),
        attachment=export,
        private=False,
    )


async def _exported(context: HandlerContext, topic: Topic, given: Sequence[Feedback]) -> Reply:
    if not given:
        return _nothing(topic)
    return Reply(
        title=f"What {topic.title} learned",
        text=(f"{_told(given)}: every word with its weight, and every item with how often more and less was said of it.",),
        attachment=await _export(context, topic, given),
    )


async def _export(context: HandlerContext, topic: Topic, given: Sequence[Feedback]) -> Attachment:
    known, terms = await _learned_from(context, given)
    text = await asyncio.to_thread(_as_json, topic, given, known, terms)
    return Attachment(f"{topic.name}-profile.json", "application/json", text)


def _as_json(topic: Topic, given: Sequence[Feedback], known: Mapping[str, Item], terms: Sequence[LearnedTerm]) -> str:
    ups, downs = (Counter(each.key for each in given if each.more is wanted) for wanted in (True, False))
    items = [
        {"key": key, "title": known[key].title if key in known else "", "more": ups[key], "less": downs[key]}
        for key in sorted({*ups, *downs})
    ]
    told = [{"term": each.term, "weight": each.weight, "more": each.more, "less": each.less} for each in terms]
    return json.dumps({"topic": topic.name, "terms": told, "items": items}, ensure_ascii=False, indent=2) + "\n"
