"""What a person sees who opens the application itself: what concerns them in the whole workspace."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.commands import ListSaved, Status
from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.saved import list_saved
from bot.handlers.status import status
from bot.handlers.subscriptions.times import in_zone, moment_in_words, posted_next
from bot.handlers.topics.show import in_list_order, topic_entry
from bot.handlers.wording.replies import title_of
from bot.handlers.wording.subscriptions import subscription_entry
from bot.models import Actor, Reply, ReplyEntry, Rhythm, Subscription, Topic

MOST = 50  # subscriptions that are looked at; no platform's page has room for more
_COMING = 5  # next digests


@dataclass(frozen=True, slots=True)
class HomeSubscription:
    """One of a channel; the buttons of its entry are commands to be given in that channel."""

    channel: str
    topic: str
    rhythm: Rhythm
    entry: ReplyEntry


@dataclass(frozen=True, slots=True)
class HomeTopic:
    """One that can be subscribed and shown."""

    name: str
    entry: ReplyEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The page of one person."""

    subscriptions: tuple[HomeSubscription, ...]  # of their channels
    coming: tuple[str, ...]  # the next digests of these in words, the soonest first
    topics: tuple[HomeTopic, ...]
    saved: Reply  # the latest of what they saved, with its exports
    may_manage: bool  # subscriptions, topics and filters
    status: Reply | None  # for administrators
    channels: tuple[str, ...] = ()  # identifiers in `coming`, as in bot.models.Reply
    is_external: bool = False  # the person is no member of the workspace: nothing but what they saved is told


async def home(context: HandlerContext, actor: Actor, channels: Collection[str], now: datetime) -> Home:
    """Return the page for a person who is in these channels; what other channels subscribe to is not told.

    Nor is anything of the workspace to who is no member of it.

    `actor.channel` is where they are answered in private. Raises StoreError.
    """
    saved = await list_saved(context, ListSaved(), actor, now)
    if actor.is_external:
        return Home(subscriptions=(), coming=(), topics=(), saved=saved, may_manage=False, status=None, is_external=True)
    everywhere = await context.store.workspaces.subscriptions(actor.workspace)
    known = await context.topics(actor.workspace)
    own = [each for each in everywhere if each.channel in channels][:MOST]
    coming, named = await _coming(context, own, known, actor, now)
    return Home(
        subscriptions=tuple([await _subscription(context, each, known, actor, now) for each in own]),
        coming=coming,
        topics=tuple(HomeTopic(each.name, topic_entry(context, each, everywhere, actor)) for each in in_list_order(known)),
        saved=saved,
        may_manage=await context.may_manage(actor),
        status=await status(context, Status(), actor, now) if actor.may_administer else None,
        channels=named,
    )


async def _subscription(
    context: HandlerContext, each: Subscription, known: Mapping[str, Topic], actor: Actor, now: datetime
) -> HomeSubscription:
    there = replace(actor, channel=each.channel)
    entry = await subscription_entry(context, each, known, there, now, tell_channel=False)
    return HomeSubscription(each.channel, each.topic, each.rhythm, entry)


async def _coming(
    context: HandlerContext, own: Sequence[Subscription], known: Mapping[str, Topic], actor: Actor, now: datetime
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the next digests in words, in the person's own time, and the channels that they name."""
    due: list[tuple[datetime, Subscription]] = []
    for each in own:
        if each.topic in known and not each.is_paused(now):
            try:
                coming = (await posted_next(context, each, now)).next
            except UsageError:  # its own entry tells what is wrong
                continue
            due += [(coming, each)] if coming is not None else []
    soonest = sorted(due, key=lambda pair: (pair[0], pair[1].channel, pair[1].topic))[:_COMING]
    said = []
    for at, each in soonest:
        when = moment_in_words(await in_zone(at, actor.zone) if actor.zone else at, now)
        said.append(f"*{title_of(known, each.topic)}* in {each.channel}: {when}.")
    return tuple(said), tuple(dict.fromkeys(each.channel for _, each in soonest))
