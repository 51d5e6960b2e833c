"""A subscription: found, and changed though others change it too."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.commands import Command, Subscribe
from bot.digest.request import stored_since
from bot.digest.resumption import last_due
from bot.errors import Unclear, UsageError
from bot.handlers.context import HandlerContext, change_by, retry_on_conflict, slug
from bot.handlers.subscriptions.followed import standing_of
from bot.handlers.wording.replies import button, excerpt, title_of
from bot.handlers.wording.subscriptions import as_command
from bot.models import Actor, Change, Position, Reply, Rhythm, Subscription
from bot.wording import listed

_PAUSED = " (paused"  # how the audit says it
_UNDONE = timedelta(days=7)  # so long an ending can be taken back without a gap
_LOOKED_AT = 50  # of the audit's lines on one subscription

AlterSubscription = Callable[[Subscription], Awaitable[Subscription]]


@dataclass(frozen=True, slots=True)
class ChangedSubscription:
    """A subscription before and after a change; the same twice when there was nothing to change."""

    before: Subscription
    after: Subscription


async def not_promised(context: HandlerContext, command: Command, actor: Actor, title: str, label: str) -> Reply | None:
    """Return what to mend before the command can be kept, with a button that gives it again; None where nothing is known.

    A handler that promises a post asks this before it changes anything; `title` says what was not done.
    """
    why = await context.obstacle(actor)
    if not why:
        return None
    again = f"Nothing was changed. When that is mended, press *{label}*: it does what you asked for."
    return Reply(title=title, text=(why, again), buttons=(button(label, command),))


async def without_tag(
    context: HandlerContext, held: Subscription, topic_title: str, actor: Actor, title: str
) -> Reply | None:
    """Return that a tag is to be chosen before anything can be posted in this forum; None where that is not so."""
    forum = await context.forum_tags(actor)
    if forum is None or not forum.lacks(held.tag or topic_title):
        return None
    text = (f"Each post in this forum needs a tag, and {topic_title} has none that is there.", "Nothing was changed.")
    return Reply(title=title, text=text, buttons=(button("Choose a tag", Subscribe(topic=held.topic)),))


async def subscription_named(context: HandlerContext, actor: Actor, name: str, rhythm: Rhythm | None = None) -> Subscription:
    """Return the channel's subscription to the topic of that name or title, or to what is followed in these words.

    A subscription is found also when its topic is not there any more. Raises UsageError when there is none, and Unclear
    where there are several.
    """
    here = await context.store.workspaces.subscriptions(actor.workspace, channel=actor.channel)
    topics = await context.topics(actor.workspace)
    typed = slug(name)
    named = [each for each in here if typed and typed in (each.topic, slug(title_of(topics, each.topic)))]
    followed = "" if named else standing_of(name, topics)
    if named := named or [each for each in here if followed and each.topic == followed]:
        return one_of(named, rhythm, title_of(topics, named[0].topic), actor)
    if not here:
        raise UsageError(
            f"Nothing is subscribed {actor.in_channel}.", hint="*subscribe TOPIC weekdays at 09:00* begins one."
        )
    names = ", ".join(list(dict.fromkeys(each.topic for each in here))[:9])
    raise UsageError(f'"{excerpt(name)}" is not subscribed {actor.in_channel}.', hint=f"Subscribed {actor.here}: {names}.")


def one_of(here: Sequence[Subscription], rhythm: Rhythm | None, title: str, actor: Actor) -> Subscription:
    """Return the one of that rhythm, or the only one, of a channel's subscriptions to a topic.

    Raises Unclear where it is not said which of several, UsageError where there is none of that rhythm.
    """
    found = [each for each in here if rhythm in (None, each.rhythm)]
    standing = [each.rhythm for each in here]
    if not found:
        raise UsageError(f"{title} has no {rhythm} digest {actor.here}.", hint=f"It has a {listed(standing)} one.")
    if len(found) > 1:
        choices = [(each.capitalize(), each) for each in standing]
        raise Unclear(f"{title} has {listed(standing)} digests {actor.here}: which one?", "rhythm", choices)
    return found[0]


def about_subscription(channel: str, topic: str, rhythm: Rhythm) -> str:
    """Return what the audit calls a subscription."""
    return f"subscription {channel} {topic} {rhythm}"


async def _changes_of(
    context: HandlerContext, actor: Actor, channel: str, topic: str, rhythm: Rhythm | None, limit: int
) -> list[Change]:
    """Return the latest lines of the audit; of any rhythm, or of this one and of before there were several."""
    about = f"subscription {channel} {topic}"
    changes = await context.store.workspaces.changes(actor.workspace, about=about, limit=limit)
    return [each for each in changes if rhythm is None or each.what in (about, about_subscription(channel, topic, rhythm))]


async def ended_before(
    context: HandlerContext, actor: Actor, name: str, rhythm: Rhythm | None = None
) -> tuple[str, str] | None:
    """Return the topic's name and the command that subscribes the channel to it as it was, where that was ended last.

    None where the channel subscribes to it, or never did.
    """
    topics = await context.topics(actor.workspace)
    typed = slug(name)
    for topic in (typed, *(each.name for each in topics.values() if slug(each.title) == typed)):
        changes = await _changes_of(context, actor, actor.channel, topic, rhythm, _LOOKED_AT)
        if changes and changes[0].before and not changes[0].after:
            return topic, changes[0].before.partition(_PAUSED)[0]
    return None


async def change_subscription(
    context: HandlerContext,
    actor: Actor,
    named: tuple[str, Rhythm | None],
    alter: AlterSubscription,
    now: datetime,
) -> ChangedSubscription:
    """Change the channel's subscription to the topic, of that rhythm; what others change at the same time stays changed.

    `alter` may be called again, with the subscription as it has become in between.
    """

    async def attempt() -> ChangedSubscription:
        before = await subscription_named(context, actor, *named)
        after = await alter(before)
        if after == before:
            return ChangedSubscription(before, before)
        change = change_of(actor, before, before, after, now)
        return ChangedSubscription(
            before, await context.store.workspaces.save_subscription(after, change, replaces=before.revision)
        )

    return await retry_on_conflict(attempt)


def change_of(
    actor: Actor, subscription: Subscription, before: Subscription | None, after: Subscription | None, now: datetime
) -> Change:
    """Return the line of the audit: each side as the command that makes it, and whether it is paused."""
    about = about_subscription(subscription.channel, subscription.topic, subscription.rhythm)
    change = change_by(actor, about, on_record(before), on_record(after), now)
    return replace(change, arrival=before.baseline_arrival) if before is not None and after is None else change


def on_record(subscription: Subscription | None) -> str:
    """Return how the audit tells a subscription: the command that makes it, and whether it is paused."""
    if subscription is None:
        return ""
    until = f" until {subscription.paused_until:%Y-%m-%d %H:%M} UTC" if subscription.paused_until else ""
    return as_command(subscription) + (f"{_PAUSED}{until})" if subscription.paused else "")


async def first_baseline(context: HandlerContext, actor: Actor, made: Subscription, now: datetime) -> Position:
    """Return from where on a new subscription looks at items: from now on, unless it takes an ending back.

    It does where the last that was heard of the channel's subscription to the topic is that it ended just so, not long ago.
    Then nothing that came in between is lost: it begins where the ended one did, as the audit tells.
    """
    items = context.store.items
    changes = await _changes_of(context, actor, made.channel, made.topic, made.rhythm, _LOOKED_AT)
    if not changes or not _is_taken_back(changes[0], made, now):
        return Position(await items.last_arrival(), now)
    at_first = next((each.at for each in changes[1:] if not each.before), changes[-1].at)
    resumed = next((each.at for each in changes[1:] if not each.before or _is_resumption(each)), at_first)
    begin = at_first if resumed == at_first else max(at_first, await last_due(made.schedule, resumed))
    began, begin = changes[0].arrival, min(begin, now)
    return await stored_since(items, begin, now) if began is None else Position(began, begin)


def _is_taken_back(ended: Change, made: Subscription, now: datetime) -> bool:
    return not ended.after and ended.before == on_record(made) and timedelta(0) <= now - ended.at <= _UNDONE


def _is_resumption(change: Change) -> bool:
    return _PAUSED in change.before and _PAUSED not in change.after


def unpaused(subscription: Subscription) -> Subscription:
    """Return the subscription as it is when nothing holds it back."""
    return subscription.resumed()
