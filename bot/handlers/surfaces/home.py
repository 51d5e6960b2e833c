"""What a person sees who opens the application itself: what their channels were posted, and what concerns them.

Nothing is ranked or made for it: the best is what stands first in the last digests of the person's channels.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from bot.commands import ChangeSettings, Help, Less, ListSaved, ListSubscriptions, More, Save, Show, Similar, Status
from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.subscriptions.times import in_zone, pause_in_words, posted_next
from bot.handlers.wording.failures import in_one_line
from bot.handlers.wording.replies import button, title_of, title_or_key
from bot.handlers.wording.subscriptions import NO_TOPIC, subscription_buttons
from bot.models import Actor, Button, Item, PastDigest, ReplyEntry, Rhythm, Subscription, Topic
from bot.summarise.short_gist import short_gist
from bot.wording import day_in_words, span_in_words

MOST = 50  # subscriptions that are looked at
BEST = 4  # entries: with so many, and so many schedules, the page fits a laptop's screen
SCHEDULES = 4
SAVED = 3  # of what the person saved
_CHANNELS = 12  # whose last digests are looked at; of more than MOST the first, by their identifiers
_DIGESTS = 8  # of each
_NEWS = timedelta(days=7)  # what was posted longer ago is none
_LATELY = timedelta(hours=36)  # what was posted since counts alike: a morning's digests, and those of the evening before


@dataclass(frozen=True, slots=True)
class HomeEntry:
    """One that was posted to a channel; the buttons of its entry are commands to be given there."""

    channel: str
    topic: str  # its title
    day: date
    entry: ReplyEntry


@dataclass(frozen=True, slots=True)
class HomeSubscription:
    """One of a channel; its buttons are commands to be given there."""

    channel: str
    topic: str
    rhythm: Rhythm
    title: str
    line: str  # when it is posted, and how long it is till then
    buttons: tuple[Button, ...]
    can_edit: bool = True  # False: its topic is not there any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The page of one person."""

    heading: str
    best: tuple[HomeEntry, ...] = ()  # what was posted lately first: the first entry of every digest before each second
    nothing: str = ""  # why there is none, and what begins it; commands between *asterisks*
    subscriptions: tuple[HomeSubscription, ...] = ()  # of their channels; the soonest first, what is paused last
    further: int = 0  # subscriptions besides, which the menu lists
    saved: tuple[tuple[str, Item | None], ...] = ()  # the latest of what they saved: a key or title, and the item if kept
    saved_in_all: int = 0
    every_saved: Button = field(default_factory=lambda: button("Saved items", ListSaved()))
    menu: tuple[Button, ...] = ()  # what one asks for now and then
    may_manage: bool = False  # subscriptions, topics and filters: the person may subscribe a topic for themselves, too
    is_external: bool = False  # the person is no member of the workspace: nothing but what they saved is told


async def home(context: HandlerContext, actor: Actor, channels: Collection[str], now: datetime) -> Home:
    """Return the page for a person who is in these channels; what other channels subscribe to is not told.

    Nor is anything of the workspace to who is no member of it. Raises StoreError.
    """
    held = await context.store.people.saved(actor.workspace, actor.person)
    latest = [each.key for each in held[:SAVED]]
    known = await context.store.items.find(latest)
    saved = tuple((title_or_key(known[key]) if key in known else key, known.get(key)) for key in latest)
    if actor.is_external:
        menu = (button("Help", Help()),)
        return Home(heading="", saved=saved, saved_in_all=len(held), menu=menu, is_external=True)
    topics = await context.topics(actor.workspace)
    everywhere = await context.store.workspaces.subscriptions(actor.workspace)
    own = [each for each in everywhere if each.channel in channels]
    best = await _best(context, own, topics, actor, now)
    told = await _schedules(context, own[:MOST], topics, now)
    today = await _today(actor, now)
    return Home(
        heading="Today in your channels" if any(each.day >= today for each in best) else "Latest in your channels",
        best=best,
        nothing="" if best else _nothing(own),
        subscriptions=told[:SCHEDULES],
        further=len(own) - len(told[:SCHEDULES]),
        saved=saved,
        saved_in_all=len(held),
        menu=tuple(_menu(actor)),
        may_manage=await context.may_manage(actor),
    )


def _menu(actor: Actor) -> Iterator[Button]:
    yield button("All subscriptions", ListSubscriptions(everywhere=True))
    if actor.may_administer:
        yield button("Status", Status())
        yield button("Settings", ChangeSettings())
    yield button("Help", Help())


async def _today(actor: Actor, now: datetime) -> date:
    return (await in_zone(now, actor.zone) if actor.zone else now).date()


def _nothing(own: Sequence[Subscription]) -> str:
    if own:
        return "No digest with entries was posted in your channels in the last week."
    return "Nothing is subscribed in the channels that you are in. Choose a topic below, or *Subscribe a channel*."


# --- what was posted


async def _best(
    context: HandlerContext, own: Sequence[Subscription], topics: Mapping[str, Topic], actor: Actor, now: datetime
) -> tuple[HomeEntry, ...]:
    """Return the first entries of the last digests that the channels were posted."""
    found: list[tuple[str, PastDigest]] = []
    for channel in await _looked_at(context, actor, [*dict.fromkeys(each.channel for each in own)]):
        past = await context.store.digests.past(actor.workspace, channel, limit=_DIGESTS)
        found += [(channel, each) for each in _last(past) if now - each.saved <= _NEWS]
    places = sorted(_ranks(found), key=lambda each: (now - each[2].saved > _LATELY, each[0], -each[2].day.toordinal()))
    known = await context.store.items.find([key for _, key, _, _ in places])
    chosen: dict[str, tuple[str, PastDigest, str]] = {}
    for _, key, digest, channel in places:
        if key in known and len(chosen) < BEST:
            chosen.setdefault(known[key].key, (channel, digest, digest.gist_of(key)))
    items = {item.key: item for item in known.values()}
    gists = await _gists([(items[key], posted) for key, (_, _, posted) in chosen.items()])
    today = await _today(actor, now)
    return tuple(
        _entry(items[key], gist, channel, digest, title_of(topics, digest.topic), today)
        for (key, (channel, digest, _)), gist in zip(chosen.items(), gists, strict=True)
    )


async def _looked_at(context: HandlerContext, actor: Actor, channels: Sequence[str]) -> Sequence[str]:
    """Return the channels whose digests are looked at: all, and of many those that had one last."""
    if len(channels) <= _CHANNELS:
        return channels
    saved: dict[str, datetime] = {}
    for channel in channels[:MOST]:
        for each in await context.store.digests.past(actor.workspace, channel, limit=1):
            saved[channel] = each.saved
    return sorted(saved, key=saved.__getitem__, reverse=True)[:_CHANNELS]


def _last(past: Sequence[PastDigest]) -> Sequence[PastDigest]:
    """Return the last digest with entries of each topic."""
    found: dict[str, PastDigest] = {}
    for each in past:
        if each.entries:
            found.setdefault(each.topic, each)
    return [*found.values()]


def _ranks(found: Sequence[tuple[str, PastDigest]]) -> Iterator[tuple[int, str, PastDigest, str]]:
    for channel, digest in found:
        for place, key in enumerate(digest.entries[:BEST]):
            yield place, key, digest, channel


async def _gists(posted: Sequence[tuple[Item, str]]) -> Sequence[str]:
    """Return what each says in at most 18 words, as it was posted; of one of which that is not kept, made anew."""
    return await asyncio.to_thread(lambda: [said or short_gist(each).text for each, said in posted])


def _entry(item: Item, gist: str, channel: str, digest: PastDigest, topic: str, today: date) -> HomeEntry:
    name, key = digest.topic, item.key
    day = () if digest.day >= today else (day_in_words(digest.day, today),)
    buttons = (
        button("Details", Show(key, name)),
        button("Save", Save(key)),
        button("More like this", More(key, name)),
        button("Less", Less(key, name)),
        button("Similar", Similar(key)),
    )
    return HomeEntry(channel, topic, digest.day, ReplyEntry(item, gist=gist, lines=(topic, *day), buttons=buttons))


# --- what is subscribed


async def _schedules(
    context: HandlerContext, own: Sequence[Subscription], topics: Mapping[str, Topic], now: datetime
) -> tuple[HomeSubscription, ...]:
    several = Counter((each.channel, each.topic) for each in own)
    told = [
        (await _schedule(context, each, topics, now, is_one_of_several=several[each.channel, each.topic] > 1))
        for each in own
    ]
    latest = now + timedelta(days=1000)
    told.sort(key=lambda pair: (pair[0] or latest, pair[1].channel, pair[1].topic))
    return tuple(each for _, each in told)


async def _schedule(
    context: HandlerContext, each: Subscription, topics: Mapping[str, Topic], now: datetime, *, is_one_of_several: bool
) -> tuple[datetime | None, HomeSubscription]:
    """Return when it is posted next, None where that is not known, and what is told of it."""
    at, line = await _when(context, each, topics, now)
    named = (each.topic, each.rhythm if is_one_of_several else None)
    buttons = subscription_buttons(each, named, now)
    is_known = each.topic in topics
    title = title_of(topics, each.topic) + (f", {each.rhythm}" if is_one_of_several else "")
    shown = HomeSubscription(each.channel, each.topic, each.rhythm, title, line, buttons[-1:], can_edit=False)
    return at, replace(shown, buttons=buttons, can_edit=True) if is_known else shown


async def _when(
    context: HandlerContext, each: Subscription, topics: Mapping[str, Topic], now: datetime
) -> tuple[datetime | None, str]:
    if each.topic not in topics:
        return None, NO_TOPIC
    try:
        coming = await posted_next(context, each, now)
    except UsageError as error:  # one that cannot be computed says so, and hides none of the others
        return None, in_one_line(error)
    if paused := await pause_in_words(each, now):
        return None, f"{coming.words}. {paused}."
    if coming.next is None:
        return now, coming.words
    return coming.next, f"{coming.words}, next in {_roughly(coming.next - now)}"


def _roughly(span: timedelta) -> str:
    """Return a span in its largest unit."""
    words = span_in_words(span)
    return words if words.startswith("less") else " ".join(words.split()[:2])
