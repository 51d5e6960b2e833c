"""A subscription: found, changed though others change it too, and told in words."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.commands import Subscribe, write
from bot.digest.quiet_hours import after_quiet
from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.insist import insist
from bot.handlers.lookup import shown, slug, topics_of
from bot.handlers.times import MOMENT, Timetable, last_due, local, moment_in_words, timetable
from bot.models import Actor, Change, Field, Subscription, Topic
from bot.wording import counted

NO_TOPIC = "The topic is not there any more."
_PAUSED = " (paused"  # how the audit says it
_UNDONE = timedelta(days=7)  # so long an ending can be taken back without a gap
_LOOKED_AT = 50  # of the audit's lines on one subscription

Alter = Callable[[Subscription], Awaitable[Subscription]]


@dataclass(frozen=True, slots=True)
class Changed:
    """A subscription before and after a change; the same twice when there was nothing to change."""

    before: Subscription
    after: Subscription


async def subscribed_here(context: HandlerContext, actor: Actor, name: str) -> Subscription:
    """Return the channel's subscription to the topic of that name or title; raises UsageError when there is none.

    A subscription is found also when its topic is not there any more.
    """
    here = await context.store.subscriptions(actor.workspace, channel=actor.channel)
    topics = await topics_of(context, actor.workspace)
    typed = slug(name)
    for each in here:
        if typed and typed in (each.topic, slug(title_of(topics, each.topic))):
            return each
    if not here:
        raise UsageError("Nothing is subscribed in this channel.", hint="*subscribe TOPIC weekdays at 09:00* begins one.")
    names = ", ".join(each.topic for each in here[:9])
    raise UsageError(f'"{shown(name)}" is not subscribed in this channel.', hint=f"Subscribed here: {names}.")


async def change_subscription(context: HandlerContext, actor: Actor, name: str, alter: Alter, now: datetime) -> Changed:
    """Change the channel's subscription to the topic; what others change at the same time stays changed.

    `alter` may be called again, with the subscription as it has become in between.
    """

    async def attempt() -> Changed:
        before = await subscribed_here(context, actor, name)
        after = await alter(before)
        if after == before:
            return Changed(before, before)
        change = change_of(actor, before, before, after, now)
        return Changed(before, await context.store.save_subscription(after, change, replaces=before.revision))

    return await insist(attempt)


def change_of(
    actor: Actor, subscription: Subscription, before: Subscription | None, after: Subscription | None, now: datetime
) -> Change:
    """Return the line of the audit: each side as the command that makes it, and whether it is paused."""
    return Change(
        workspace=actor.workspace,
        at=now,
        person=actor.person,
        what=f"subscription {subscription.channel} {subscription.topic}",
        before=_on_record(before),
        after=_on_record(after),
    )


def _on_record(subscription: Subscription | None) -> str:
    if subscription is None:
        return ""
    until = f" until {subscription.paused_until:%Y-%m-%d %H:%M} UTC" if subscription.paused_until else ""
    return as_command(subscription) + (f"{_PAUSED}{until})" if subscription.paused else "")


async def begin_of(context: HandlerContext, actor: Actor, made: Subscription, now: datetime) -> datetime:
    """Return from when on a new subscription looks at items: from now on, unless it takes an ending back.

    It does where the last that was heard of the channel's subscription to the topic is that it ended just so, not long ago.
    Then nothing that came in between is lost: it begins where the ended one did, as the audit tells.
    """
    about = f"subscription {made.channel} {made.topic}"
    changes = await context.store.changes(actor.workspace, about=about, limit=_LOOKED_AT)
    if not changes or not _is_taken_back(changes[0], made, now):
        return now
    at_first = next((each.at for each in changes[1:] if not each.before), changes[-1].at)
    resumed = next((each.at for each in changes[1:] if not each.before or _is_resumption(each)), at_first)
    begin = at_first if resumed == at_first else max(at_first, await last_due(made.schedule, resumed))
    return min(begin, now)


def _is_taken_back(ended: Change, made: Subscription, now: datetime) -> bool:
    return not ended.after and ended.before == _on_record(made) and timedelta(0) <= now - ended.at <= _UNDONE


def _is_resumption(change: Change) -> bool:
    return _PAUSED in change.before and _PAUSED not in change.after


def as_command(subscription: Subscription) -> str:
    """Return the whole command that subscribes a channel just so."""
    schedule = subscription.schedule
    return write(
        Subscribe(
            topic=subscription.topic,
            weekdays=None if schedule.month_day else schedule.weekdays,
            month_day=schedule.month_day or None,
            at=schedule.at,
            zone=schedule.zone,
            entries=subscription.entries,
            min_score=subscription.min_score,
            compact=subscription.compact,
            always=subscription.always,
            filter=subscription.filter.text,
        )
    )


# --- words


def title_of(topics: Mapping[str, Topic], name: str) -> str:
    """Return the topic's title, or its name when the topic is not there any more."""
    return topics[name].title if name in topics else name


async def next_due(subscription: Subscription, now: datetime) -> Timetable:
    """Return when the subscription is due next, after its pause; raises UsageError that says what to do instead."""
    paused_until = subscription.paused_until if subscription.paused else None
    try:
        return await timetable(subscription.schedule, max(now, paused_until - MOMENT) if paused_until else now)
    except UsageError as error:
        hint = f"*subscribe {subscription.topic} in ZONE* gives it another, for example *in Europe/Zurich*."
        raise UsageError(str(error), hint=hint) from error


async def posted_next(context: HandlerContext, subscription: Subscription, now: datetime) -> Timetable:
    """Return when the subscription's next digest is posted, in the schedule's zone: when it is due, or after quiet hours.

    Raises UsageError as `next_due` does.
    """
    due = await next_due(subscription, now)
    preferences = await context.store.preferences(subscription.workspace)
    posted = await after_quiet(preferences, subscription, due.next)
    return Timetable(due.words, posted.astimezone(due.next.tzinfo))


async def pause_in_words(subscription: Subscription, now: datetime) -> str:
    """Return "Paused until Monday 6 April (Europe/Zurich)" and why, "" when it is not paused."""
    if not subscription.is_paused(now):
        return ""
    zone, until = subscription.schedule.zone, subscription.paused_until
    ending = f"until {moment_in_words(await local(until, zone), now)}" if until else "until somebody resumes it"
    because = f": {subscription.paused_because.rstrip('.')}" if subscription.paused_because else ""
    return f"Paused {ending}{because}"


async def fields_of(context: HandlerContext, subscription: Subscription, topic: Topic, now: datetime) -> tuple[Field, ...]:
    """Return what is posted, when and how, part by part. Raises UsageError when the schedule cannot be told."""
    due = await posted_next(context, subscription, now)
    waits = subscription.is_paused(now) and subscription.paused_until is None
    least = topic.min_score if subscription.min_score is None else subscription.min_score
    settled = (await context.store.preferences(subscription.workspace)).entries
    fields = [
        ("When", due.words),
        ("Next", "when it is resumed" if waits else moment_in_words(due.next, now)),
        ("Entries", f"up to {subscription.entries or settled or context.limits.entries}"),
        ("Least score", f"{least:g}"),
        ("Filter", filters_in_words(subscription, topic)),
        ("Layout", "compact" if subscription.compact else "full"),
        ("When there is nothing", "says so" if subscription.always else "stays quiet"),
    ]
    return tuple(Field(name, value) for name, value in fields)


def filters_in_words(subscription: Subscription, topic: Topic | None) -> str:
    """Return the filters that an item must pass here: the subscription's, and the topic's own."""
    own = " ".join(subscription.filter.text.split())
    everywhere = " ".join(topic.filter.text.split()) if topic else ""
    said = [own] if own else []
    if everywhere:
        said.append(f"{everywhere} (the topic's, everywhere)")
    return "; and ".join(said) or "none"


def size_in_words(subscription: Subscription) -> str:
    """Return what departs from the usual: "up to 5 entries, compact"."""
    said = [f"up to {counted(subscription.entries, 'entry')}"] if subscription.entries else []
    said += [f"at least {subscription.min_score:g}"] if subscription.min_score is not None else []
    said += ["compact"] if subscription.compact else []
    said += ["also when there is nothing"] if subscription.always else []
    return ", ".join(said)


def unpaused(subscription: Subscription) -> Subscription:
    """Return the subscription as it is when nothing holds it back."""
    return replace(subscription, paused=False, paused_until=None, paused_because="")
