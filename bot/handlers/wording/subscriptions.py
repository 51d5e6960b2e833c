"""A subscription in words: what is posted, when and how; and as a command."""

from collections.abc import Mapping
from datetime import datetime

from bot.commands import Pause, Resume, Subscribe, Unsubscribe, write
from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.subscriptions.times import moment_in_words, pause_in_words, posted_next
from bot.handlers.wording.failures import in_one_line
from bot.handlers.wording.replies import button, one_line, preview_button, title_of, unsubscribe_button
from bot.handlers.wording.topics import bar_in_words
from bot.models import USUAL_AT_ONCE, Actor, Button, Field, Preferences, ReplyEntry, Rhythm, Subscription, Topic, is_mail
from bot.wording import counted

NO_TOPIC = "The topic is not there any more."


Naming = tuple[str, Rhythm | None]  # a topic's name, and the rhythm where the name alone does not tell


async def naming(context: HandlerContext, subscription: Subscription) -> Naming:
    """Return by what a command in its channel tells the subscription from others."""
    several = await context.is_one_of_several(subscription)
    return subscription.topic, subscription.rhythm if several else None


def _told(named: Naming) -> str:
    return f", {named[1]}" if named[1] else ""


def as_command(subscription: Subscription) -> str:
    """Return the whole command that subscribes a channel just so."""
    schedule = subscription.schedule
    return write(
        Subscribe(
            topic=subscription.topic,
            weekdays=None if schedule.month_day or schedule.at_once else schedule.weekdays,
            month_day=schedule.month_day or None,
            at_once=schedule.at_once,
            at=None if schedule.at_once else schedule.at,
            zone=schedule.zone,
            entries=subscription.entries,
            min_score=subscription.min_score,
            layout=subscription.layout,
            always=subscription.always,
            tag=subscription.tag,
            filter=subscription.filter.text,
        )
    )


async def subscription_fields(
    context: HandlerContext, subscription: Subscription, topic: Topic, now: datetime
) -> tuple[Field, ...]:
    """Return what is posted, when and how, part by part. Raises UsageError when the schedule cannot be told."""
    due = await posted_next(context, subscription, now)
    waits = subscription.is_paused(now) and subscription.paused_until is None
    least = topic.min_score if subscription.min_score is None else subscription.min_score
    preferences = await context.store.workspaces.preferences(subscription.workspace)
    settled = preferences.entries
    fields = [
        ("When", due.words),
        ("Next", "when it is resumed" if waits else moment_in_words(due.next, now)),
        ("Entries", f"up to {subscription.entries or settled or context.limits.entries}"),
        ("Bar", bar_in_words(least)),
        ("Filter", _filters_in_words(subscription, topic)),
        ("Layout", (await context.requests.layout(subscription.workspace, subscription)).value),
        *((("At most", _most_at_once(preferences)),) if subscription.schedule.at_once else ()),
        ("When there is nothing", "says so" if subscription.always else "stays quiet"),
        *((("Tag", subscription.tag),) if subscription.tag else ()),
    ]
    return tuple(Field(name, value) for name, value in fields)


def _most_at_once(preferences: Preferences) -> str:
    return f"{counted(preferences.at_once_daily or USUAL_AT_ONCE, 'message')} a day in the channel"


def _filters_in_words(subscription: Subscription, topic: Topic | None) -> str:
    """Return the filters that an item must pass here: the subscription's, and the topic's own."""
    own = one_line(subscription.filter.text)
    everywhere = one_line(topic.filter.text) if topic else ""
    said = [own] if own else []
    if everywhere:
        said.append(f"{everywhere} (the topic's, everywhere)")
    return "; and ".join(said) or "none"


def _size_in_words(subscription: Subscription) -> str:
    """Return what departs from the usual: "up to 5 entries, full"."""
    said = [f"up to {counted(subscription.entries, 'entry')}"] if subscription.entries else []
    said += [f"a bar of {subscription.min_score:g}"] if subscription.min_score is not None else []
    said += [subscription.layout.value] if subscription.layout else []
    said += ["also when there is nothing"] if subscription.always else []
    return ", ".join(said)


def is_followed(topics: Mapping[str, Topic], name: str) -> bool:
    """Say whether the topic of that name was made by following what it finds."""
    return name in topics and topics[name].followed


async def subscription_entry(
    context: HandlerContext,
    each: Subscription,
    topics: Mapping[str, Topic],
    actor: Actor,
    now: datetime,
    *,
    place: str,
) -> ReplyEntry:
    """Return the subscription as a list tells it, with buttons where it is the actor's channel's.

    `place` is what it is for, in words; "" where all are for the same.
    """
    here = each.channel == actor.channel
    topic = topics.get(each.topic)
    named = await naming(context, each)
    ends = f"{NO_TOPIC} *{write(Unsubscribe(*named))}* ends this."
    lines = [await _schedule_line(context, each, now)] if topic else [ends]
    if paused := await pause_in_words(each, now):
        lines.append(f"{paused}.")
    if size := _size_in_words(each):
        lines.append(size)
    if (filters := _filters_in_words(each, topic)) != "none":
        lines.append(f"filter: {filters}")
    channel = f"{'this channel' if here and not is_mail(each.channel) else place}: " if place else ""
    followed = ", followed" if is_followed(topics, each.topic) else ""
    title = f"{channel}{title_of(topics, each.topic)} ({each.topic}){followed}{_told(named)}"
    shown = subscription_buttons(each, named, now) if here else ()
    buttons = shown if topic else shown[-1:]  # without a topic it can only be ended
    return ReplyEntry(title=title, lines=tuple(lines), buttons=buttons)


async def _schedule_line(context: HandlerContext, each: Subscription, now: datetime) -> str:
    """One subscription that cannot be computed says so, and hides none of the others."""
    try:
        coming = await posted_next(context, each, now)
    except UsageError as error:
        return in_one_line(error)
    if each.is_paused(now) or coming.next is None:
        return coming.words
    return f"{coming.words}; next {moment_in_words(coming.next, now)}"


def subscription_buttons(subscription: Subscription, named: Naming, now: datetime) -> tuple[Button, ...]:
    """Return the buttons to preview the subscription, to pause or resume it, and to end it."""
    paused = subscription.is_paused(now)
    return (
        preview_button(subscription.topic),
        button("Resume", Resume(*named)) if paused else button("Pause", Pause(*named)),
        unsubscribe_button(*named),
    )
