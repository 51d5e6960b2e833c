"""The forms of chat platforms, as they stand; what a query in one lets in; and what a person made of one, done."""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from bot import zones
from bot.commands import Command, CreateTopic, EditTopic, Filter, Part, Scope, Subscribe
from bot.commands.forms import FilterForm, Form, SubscribeForm, TopicForm, commands_of
from bot.errors import Conflict, Misfit, Unclear, UsageError
from bot.handlers.clauses import read_filter, read_topic_query
from bot.handlers.context import HANDLERS, HandlerContext, check_is_member
from bot.handlers.subscriptions.subscribe import usual_zone
from bot.handlers.topics.create import check_new_name, draft_topic
from bot.handlers.topics.edit import edit_of
from bot.handlers.topics.topic_change import NOTHING_SEEN, WEEK
from bot.handlers.wording.failures import which_one
from bot.handlers.wording.replies import one_line
from bot.handlers.wording.topics import part_values
from bot.models import MOST_ENTRIES, Actor, And, Reply, Rhythm, Subscription, Topic
from bot.wording import counted


async def subscribe_form(
    context: HandlerContext, actor: Actor, topic: str, now: datetime, *, rhythm: Rhythm | None = None
) -> SubscribeForm:
    """Return how this channel is subscribed to the topic of that name or title, or as it would be without a word.

    Of several subscriptions it is that of the rhythm, else the first, a daily one where there is one; the days tell which.

    Raises UsageError when there is no such topic, and to who is no member of the workspace.
    """
    check_is_member(actor)
    found = await context.topic_named(actor.workspace, topic)
    here = await context.subscriptions_here(actor, found.name)
    if not here:
        return SubscribeForm(topic=found.name, title=found.title, zone=await usual_zone(context, actor))
    meant = next((each for each in here if each.rhythm is rhythm), here[0])
    return _standing(meant, found, several=len(here) > 1)


def _standing(here: Subscription, topic: Topic, *, several: bool) -> SubscribeForm:
    schedule = here.schedule
    return SubscribeForm(
        topic=topic.name,
        title=topic.title,
        subscribed=True,
        several=several,
        weekdays=() if schedule.month_day else schedule.weekdays,
        month_day=schedule.month_day,
        at_once=schedule.at_once,
        at=schedule.at,
        zone=schedule.zone,
        entries=here.entries,
        min_score=here.min_score,
        layout=here.layout,
        always=here.always,
        filter=one_line(here.filter.text),
    )


async def topic_form(context: HandlerContext, actor: Actor, name: str) -> TopicForm:
    """Return what the topic of that name or title is made of; for "" the empty form of a new one.

    Raises UsageError when there is no such topic, and to who is no member of the workspace.
    """
    check_is_member(actor)
    if not name.strip():
        return TopicForm()
    topic = await context.topic_named(actor.workspace, name)
    return TopicForm(
        name=topic.name,
        title=topic.title,
        description=topic.description,
        query=part_values(topic, Part.QUERY)[0],
        interests=topic.interests,
        examples=topic.examples,
        sources=topic.sources,
        min_score=topic.min_score,
        repositories=topic.repositories,
        revision=topic.revision,
    )


async def filter_form(context: HandlerContext, actor: Actor, topic: str) -> FilterForm:
    """Return the filter of the channel's subscription to the topic, or of the topic where the channel has none or several.

    Raises UsageError when there is no such topic, and to who is no member of the workspace.
    """
    check_is_member(actor)
    found = await context.topic_named(actor.workspace, topic)
    subscribed = await context.subscriptions_here(actor, found.name)
    here = subscribed[0] if len(subscribed) == 1 else None
    query = (here or found).filter
    return FilterForm(
        topic=found.name,
        title=found.title,
        subscribed=here is not None,
        scope=Scope.HERE if here else Scope.TOPIC,
        query=one_line(query.text),
    )


async def count_matching(context: HandlerContext, actor: Actor, query: str, now: datetime) -> str:
    """Return in a sentence how many of the last week's items would enter a topic of this query.

    Raises UsageError, with the position, for a query that cannot be one.
    """
    tree = read_topic_query(query, "topic create NAME").tree
    seen = await context.store.index.count(And(()), now, since=now - WEEK)
    if not seen:
        return NOTHING_SEEN
    entered = await context.store.index.count(tree, now, since=now - WEEK)
    of = f"of the {counted(seen, 'item')} of the last {WEEK.days} days"
    return f"{entered:,} {of} {'enters' if entered == 1 else 'enter'} it." if entered else f"None {of} enters it."


# --- what a person made of a form


async def submit(context: HandlerContext, before: Form, after: Form, actor: Actor, now: datetime) -> Reply:
    """Do what makes the form true as it is after, and return what to tell.

    All of it is tried before anything is written. Raises Misfit, which names the field, for what cannot be; Conflict where
    somebody changed it since the form was opened; UsageError for who may not.
    """
    commands = commands_of(before, after)
    if not commands:
        return Reply(title="Nothing was changed")
    await context.check_may_manage(actor)
    await _try(context, commands, actor)
    replies: list[Reply] = []
    for command in commands:
        try:
            replies.append(await HANDLERS[type(command)](context, command, actor, now))
        except Unclear as error:
            return which_one(error, command)
    if isinstance(commands[0], CreateTopic):
        title = (await context.topic_named(actor.workspace, commands[0].name)).title
        return replace(replies[0], title=f"Made the topic {title} ({commands[0].name})")
    return replies[0] if len(replies) == 1 else _together(replies)


def _together(replies: Sequence[Reply]) -> Reply:
    """Tell what each did, and how it stands after the last. Nothing is undone from here: each would undo a part."""
    buttons = tuple(each for each in replies[-1].buttons if each.label != "Undo")
    said = tuple(f"{each.title}." for each in replies[1:])
    return replace(replies[-1], title=replies[0].title, text=said, entries=(), buttons=buttons)


async def _try(context: HandlerContext, commands: Sequence[Command], actor: Actor) -> None:
    """Raise Misfit for what one of them would refuse of a field."""
    topic: Topic | None = None
    for command in commands:
        match command:
            case Subscribe():
                await _try_subscribing(command)
            case Filter(query=query) if query:
                with _at_field("query"):
                    read_filter(query)
            case CreateTopic():
                topic = await _try_making(context, command, actor)
            case EditTopic():
                topic = topic or await context.topic_named(actor.workspace, command.name)
                if command.revision not in (None, topic.revision):
                    return  # somebody changed it: that is what is to be told, by whoever does it
                with _at_field(command.part):
                    topic = (await edit_of(context, actor, command, topic)).alter(topic)


async def _try_subscribing(command: Subscribe) -> None:
    if command.zone:
        with _at_field("zone"):
            await asyncio.to_thread(zones.resolve, command.zone)
    if command.filter:
        with _at_field("filter"):
            read_filter(command.filter)
    if isinstance(command.entries, int) and not 1 <= command.entries <= MOST_ENTRIES:
        raise Misfit(f"A digest has 1 to {MOST_ENTRIES} entries.", "entries")
    if isinstance(command.min_score, float) and not 0 <= command.min_score <= 1:
        raise Misfit("A bar lies between 0 and 1.", "min")


async def _try_making(context: HandlerContext, command: CreateTopic, actor: Actor) -> Topic:
    with _at_field("name"):
        check_new_name(command, await context.topics(actor.workspace))
    with _at_field("query"):
        return await draft_topic(context, command, actor)


@contextlib.contextmanager
def _at_field(name: str) -> Iterator[None]:
    """Let what is wrong inside the block be wrong of that field of a form."""
    try:
        yield
    except (Misfit, Conflict):
        raise
    except UsageError as error:
        raise Misfit(str(error), name, position=error.position, hint=error.hint) from error
