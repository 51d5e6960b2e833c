"""More and less: what people say of items, by a command or by a reaction, and what it changes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.commands import Less, More, Profile, ProfileAction, write
from bot.errors import Unclear, UsageError
from bot.handlers.context import HandlerContext, change_by, handles
from bot.handlers.items import item_for_topic
from bot.handlers.wording.replies import button, preview_button
from bot.models import Actor, Change, Feedback, Item, Kind, Reply, Topic
from bot.wording import shortened

_TITLE = 120  # characters of a title that an answer repeats
_COUNTS = "It counts below this channel's digest, too: how many said more, never who."


@handles(More)
async def more(context: HandlerContext, command: More, actor: Actor, now: datetime) -> Reply:
    """Say that an item is what a topic is for; said again, it counts as it did."""
    return await _said(context, command, actor, now, wanted=True)


@handles(Less)
async def less(context: HandlerContext, command: Less, actor: Actor, now: datetime) -> Reply:
    """Say that an item is not what a topic is for; said again, it counts as it did."""
    return await _said(context, command, actor, now, wanted=False)


async def _said(context: HandlerContext, command: More | Less, actor: Actor, now: datetime, *, wanted: bool) -> Reply:
    item, named = await item_for_topic(context, actor, command.item, command.topic, now)
    topic = await _topic_meant(context, actor, item, replace(command, topic=named))
    before = feedback_of(await context.store.people.feedback(actor.workspace, topic.name), actor, item)
    if before is not None and before.more is wanted:
        return _answer(topic, item, before, before)
    said = await _save(context, actor, topic.name, item, before, more=wanted, now=now)
    return _answer(topic, item, said, before, _COUNTS if wanted and said.channel else "")


def feedback_of(given: Sequence[Feedback], actor: Actor, item: Item) -> Feedback | None:
    """Return what the one who asks said of the item, under whichever of its keys; None for nothing."""
    keys = {item.key, *item.aliases}
    return next((each for each in reversed(given) if each.person == actor.person and each.key in keys), None)


def feedback_change(actor: Actor, before: Feedback | None, after: Feedback | None, now: datetime) -> Change:
    """Return the line of the audit for one thing that was said."""
    said = after or before
    if said is None:
        raise ValueError("there is nothing to record")
    return change_by(actor, f"feedback {said.topic} {said.key}", word_of(before), word_of(after), now)


def word_of(said: Feedback | None) -> str:
    """Return "more", "less", or "" for nothing."""
    return "" if said is None else "more" if said.more else "less"


# --- which topic


async def _topic_meant(context: HandlerContext, actor: Actor, item: Item, command: More | Less) -> Topic:
    """The named one; else the one under which the item was posted here, or whose digest left it out last; else the only one
    that is subscribed here.

    Raises Unclear with those to choose from.
    """
    if command.topic.strip():
        return await context.topic_named(actor.workspace, command.topic)
    topics = await context.topics(actor.workspace)
    postings = await context.store.digests.postings(actor.workspace, actor.channel, [item.key, *item.aliases])
    listed = await _topics_that_left_out(context, actor, item)
    here = await context.store.workspaces.subscriptions(actor.workspace, channel=actor.channel)
    for names in ([each.topic for each in postings][:1], listed[:1], [each.topic for each in here]):
        found = [topics[name] for name in dict.fromkeys(names) if name in topics]
        if len(found) == 1:
            return found[0]
        if found:
            choices = [(topic.title, topic.name) for topic in found]
            raise Unclear("Several topics are subscribed in this channel: for which one?", "topic", choices)
    named = replace(command, item=item.key, topic=next(iter(sorted(topics)), "TOPIC"))
    raise UsageError(
        "It was not posted in this channel, and nothing is subscribed here.",
        hint=f"Say for which topic: *{write(named)}*.",
    )


async def _topics_that_left_out(context: HandlerContext, actor: Actor, item: Item) -> list[str]:
    """Return the topics whose digests here listed the item as what they had no place for, the last first."""
    past = await context.store.digests.past(actor.workspace, actor.channel)
    names = {item.key, *item.aliases}
    return [digest.topic for digest in past if names & {key for each in digest.left_out for key in (each.key, each.other)}]


# --- the answer


def _answer(topic: Topic, item: Item, said: Feedback, before: Feedback | None, counts: str = "") -> Reply:
    """Tell what is said now, which may be what was said before: a button that is pressed twice takes nothing back."""
    already, rank = said is before, "higher" if said.more else "lower"
    title = f"{word_of(said).capitalize()} like this in {topic.title}"
    instead = f" It stands in place of your {word_of(before)}." if before and not already else ""
    what = f'what is like "{shortened(item.title, _TITLE)}" is ranked {rank}'
    return Reply(
        title=f"{title} already" if already else title,
        text=(
            f"You said so before, and it counts: {what}." if already else f"From the next digest on, {what}.{instead}",
            *filter(None, (counts,)),
        ),
        buttons=(
            button("Take back" if already else "Undo", Profile(topic.name, ProfileAction.UNDO, said.key)),
            button("What it learned", Profile(topic.name)),
            preview_button(topic.name),
        ),
    )


# --- reactions


async def note_reaction(
    context: HandlerContext, actor: Actor, keys: Sequence[str], topic: str, *, more: bool, given: bool, now: datetime
) -> None:
    """Note that the actor reacted to the entry of these items, or took that reaction back; harmless when it is told twice.

    The last word counts, as with the commands: what is taken back is only what still stands. Nothing is noted for a topic
    that is not there any more. Raises StoreError.
    """
    if topic not in await context.topics(actor.workspace):
        return
    known = await context.store.items.find(keys)
    given_before = await context.store.people.feedback(actor.workspace, topic)
    for key in dict.fromkeys(keys):
        item = known.get(key) or Item(key=key, kind=Kind.POST, title="")  # the key is what counts
        before = feedback_of(given_before, actor, item)
        if given and (before is None or before.more is not more):
            await _save(context, actor, topic, item, before, more=more, now=now)
        elif not given and before is not None and before.more is more:
            await context.store.people.drop_feedback([before], feedback_change(actor, before, None, now))


async def _save(
    context: HandlerContext, actor: Actor, topic: str, item: Item, before: Feedback | None, *, more: bool, now: datetime
) -> Feedback:
    said = Feedback(
        workspace=actor.workspace,
        topic=topic,
        person=actor.person,
        key=before.key if before else item.key,  # said under an older key of the same work, it is replaced there
        more=more,
        at=now,
        channel=await context.counts_in(actor),
    )
    await context.store.people.save_feedback(said, feedback_change(actor, before, said, now))
    return said
