"""What fits what a person has typed so far: the autocomplete lists of every platform."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from bot import zones
from bot.commands import TABLE
from bot.commands.declaration import ADDRESS, EMAIL
from bot.commands.schedule import read_time
from bot.commands.words import Words, clean
from bot.digest.left_out import how_many
from bot.errors import BotError, UsageError
from bot.handlers.addresses.places import acting_for, may_act_for, named_address
from bot.handlers.context import HandlerContext
from bot.handlers.items import last_digests, posted_above
from bot.handlers.settings import SETTINGS
from bot.handlers.subscriptions.pause import read_day
from bot.handlers.subscriptions.subscribe import usual_zone
from bot.handlers.subscriptions.times import today
from bot.handlers.surfaces.query_suggestions import MOST, complete_query, names_beginning
from bot.handlers.wording.replies import title_of
from bot.models import Actor, PastDigest, Suggestion
from bot.query.fields import fold_label
from bot.wording import counted, day_in_words, shortened

LONGEST_LABEL = 100  # characters of a label on Discord; Slack's options take 75, and its adapter cuts further
_READ = 4000  # characters of what was typed; no platform sends more
_NAMED = 5  # authors, and as many organisations, before queries
_PAST = 60  # digests
_SAVED = 200  # of what a person saved, the latest


@dataclass(frozen=True, slots=True)
class Typing:
    """What somebody types into an option or a field."""

    context: HandlerContext
    text: str
    actor: Actor
    now: datetime
    beside: Mapping[str, str]  # what is filled in already, by the names of the options


async def suggest(
    context: HandlerContext,
    kind: str,
    typed: str,
    actor: Actor,
    now: datetime,
    beside: Mapping[str, str] | None = None,
) -> Sequence[Suggestion]:
    """Return at most 25 suggestions, the best first; never raises, whatever was typed.

    Kinds: topic, subscription (of this channel), command, item (of the channel's last digest, or saved by the person), zone,
    time (of day, in the channel's zone), until (days to come), day (of this channel's digests), tag (of this forum), setting
    (the values of the one that is named), address (the person's own), query, where the value is the whole query with its
    last word completed, and followed: a query, or an author or organisation. `beside` is what else is filled in, by the
    names of the options: the topic, the zone, the setting, the address. A label has at most 100 characters; a value may be
    longer. A kind that is none, and a store that fails, have nothing to suggest.
    """
    find = KINDS.get(kind)
    if find is None:
        return ()
    plain = "".join(char if char.isprintable() else " " for char in typed[:_READ])
    try:
        if (address := (beside or {}).get(EMAIL, "")) and kind != ADDRESS:
            named = await named_address(context, actor, f"{EMAIL}:{address}")
            context, actor = acting_for(context, named, actor) if named.recipient else (context, actor)
        found = await find(Typing(context, plain, actor, now, beside or {}))
    except BotError:  # a list that stays empty says enough; the command itself will tell what is wrong
        return ()
    return [Suggestion(each.value, shortened(each.label, LONGEST_LABEL)) for each in found[:MOST]]


@dataclass(frozen=True, slots=True)
class _Choice:
    """What may be suggested, and the texts by which it is found."""

    value: str
    label: str
    texts: tuple[str, ...]


def _fitting(typed: str, choices: Iterable[_Choice]) -> list[Suggestion]:
    """Return the choices that begin so, then those with a word that does, then those that contain it."""
    sought = _folded(typed)
    ranks = [(min(_rank(sought, _folded(text)) for text in choice.texts), choice) for choice in choices]
    ordered = sorted((pair for pair in ranks if pair[0] < _NOWHERE), key=lambda pair: pair[0])
    return [Suggestion(choice.value, choice.label) for _, choice in ordered]


_NOWHERE = 3


def _rank(sought: str, text: str) -> int:
    if text.startswith(sought):
        return 0
    return 1 if f" {sought}" in text else 2 if sought in text else _NOWHERE


def _folded(text: str) -> str:
    return " ".join(fold_label(text).replace("-", " ").split())


# --- kinds


async def _topics(typing: Typing) -> Sequence[Suggestion]:
    topics = await typing.context.topics(typing.actor.workspace)
    choices = (_Choice(name, f"{topic.title} ({name})", (name, topic.title)) for name, topic in topics.items())
    return _fitting(typing.text, choices)


async def _subscriptions(typing: Typing) -> Sequence[Suggestion]:
    topics = await typing.context.topics(typing.actor.workspace)
    subscribed = await typing.context.store.workspaces.subscriptions(typing.actor.workspace, channel=typing.actor.channel)
    choices = []
    for name in dict.fromkeys(each.topic for each in subscribed):
        title, all_paused = (
            title_of(topics, name),
            all(each.is_paused(typing.now) for each in subscribed if each.topic == name),
        )
        choices.append(_Choice(name, f"{title} ({name}{', paused' if all_paused else ''})", (name, title)))
    return _fitting(typing.text, choices)


async def _commands(typing: Typing) -> Sequence[Suggestion]:
    choices = (_Choice(usage.words, f"{usage.words}: {usage.help}", (usage.words, *usage.aliases)) for usage in TABLE)
    return _fitting(typing.text, choices)


async def _items(typing: Typing) -> Sequence[Suggestion]:
    try:
        last = await last_digests(typing.context, typing.actor)
    except UsageError:  # what the digest above listed is not kept any more
        last = []
    shown = [key for digest in last for key in digest.entries]
    saved = await typing.context.store.people.saved(typing.actor.workspace, typing.actor.person)
    keys = list(dict.fromkeys([*shown, *(each.key for each in saved[:_SAVED])]))
    items = await typing.context.store.items.find(keys)
    known = {items[key].key: items[key].title for key in keys if key in items}
    return _fitting(typing.text, (_Choice(key, title, (title, key, key.partition(":")[2])) for key, title in known.items()))


async def _zones(typing: Typing) -> Sequence[Suggestion]:
    names = await asyncio.to_thread(zones.beginning, typing.text, MOST)
    return [Suggestion(name, name) for name in names]


async def _queries(typing: Typing) -> Sequence[Suggestion]:
    topics = await typing.context.topics(typing.actor.workspace)
    return await complete_query(typing.context, typing.text, topics, typing.now)


async def _followed(typing: Typing) -> Sequence[Suggestion]:
    """Return authors and organisations whose names begin as what is typed does, where that is no clause; then queries."""
    named = "" if set(typing.text) & set(':"(/') else typing.text
    sought = (names_beginning(typing.context, field, named, typing.now) for field in ("author", "org"))
    authors, organisations = await asyncio.gather(*sought)
    found = [Suggestion(clause, clause) for clause in (*authors[:_NAMED], *organisations[:_NAMED])]
    return [*found, *await _queries(typing)]


# --- times and days


async def _zone(typing: Typing) -> str:
    """Return the zone in which a time is meant: the named one, that of the subscription, else the usual one here."""
    if named := typing.beside.get("zone"):
        return await asyncio.to_thread(zones.resolve, named)
    actor = typing.actor
    here = await typing.context.store.workspaces.subscriptions(actor.workspace, channel=actor.channel)
    meant = [each for each in here if each.topic == typing.beside.get("topic")] or here
    return meant[0].schedule.zone if meant else await usual_zone(typing.context, actor)


async def _times(typing: Typing) -> Sequence[Suggestion]:
    """Return what was typed as a time, and times that begin so, whole hours first and those of a working day before all."""
    zone, typed = await _zone(typing), typing.text.strip().removeprefix("at ").strip()
    read = _time_read(typed)
    fitting = (each for each in _TIMES if f"{each:%H:%M}".startswith(typed) or f"{each:%H:%M}".lstrip("0").startswith(typed))
    found = dict.fromkeys([*([read] if read else []), *fitting])
    return [Suggestion(f"{each:%H:%M}", f"{each:%H:%M} ({zone})") for each in found]


_HOURS = (*range(8, 24), *range(8))  # in which order they are offered
_TIMES = tuple(time(hour, minute) for minutes in ((0,), (30, 15, 45)) for hour in _HOURS for minute in minutes)


def _time_read(typed: str) -> time | None:
    words = Words(clean(typed))
    try:
        read = read_time(words)
    except UsageError:
        return None
    return read if words.peek() is None else None


async def _until(typing: Typing) -> Sequence[Suggestion]:
    """Return the day that was typed, and those of the next weeks that are called so."""
    day = await today(await _zone(typing), typing.now)
    try:
        read = [read_day(typing.text, day)]
    except UsageError:
        read = []
    ahead = [day + timedelta(days=each) for each in _AHEAD]
    shown = [_Choice(each.isoformat(), *_called(each, day)) for each in ahead]
    known = {each.value: Suggestion(each.value, each.label) for each in shown}
    meant = [known.get(each.isoformat(), Suggestion(each.isoformat(), day_in_words(each, day))) for each in read]
    return list({each.value: each for each in [*meant, *_fitting(typing.text, shown)]}.values())


_AHEAD = (*range(1, 15), 21, 28, 42, 56, 91, 182)  # days
_SPANS = {1: "tomorrow", 7: "in a week"} | {days: f"in {days // 7} weeks" for days in _AHEAD[13:]}


def _called(day: date, now: date) -> tuple[str, tuple[str, ...]]:
    """Return how a day is shown, and the texts by which it is found."""
    span = _SPANS.get((day - now).days, "")
    words = day_in_words(day, now)
    shown = f"{words}, {span}" if span else words
    return shown, (words, span, day.isoformat()) if span else (words, day.isoformat())


async def _days(typing: Typing) -> Sequence[Suggestion]:
    """Return the days of this channel's digests, of the topic where one is filled in, the last first.

    Below a digest they are those of its topic in the channel where it was posted, its own day before all.
    """
    actor = typing.actor
    topics, posted = await typing.context.topics(actor.workspace), await posted_above(typing.context, actor)
    channel, usual, above = (posted.channel, posted.topic, posted.occurrence[1]) if posted else (actor.channel, "", None)
    topic = typing.beside.get("topic") or usual
    past = await typing.context.store.digests.past(
        actor.workspace, channel, topic=topic if topic in topics else "", limit=_PAST
    )
    shown = {each.day: each for each in reversed(past)}
    days = sorted(shown, key=lambda day: (day == above, day), reverse=True)
    return _fitting(typing.text, (_of_day(shown[day], typing.now.date()) for day in days))


def _of_day(digest: PastDigest, now: date) -> _Choice:
    words = day_in_words(digest.day, now)
    more = f", {how_many(digest)} more on topic" if digest.left_out else ""
    told = f"{words}: {counted(len(digest.entries), 'entry')}{more}"
    return _Choice(digest.day.isoformat(), told, (words, digest.day.isoformat()))


# --- what is settled


async def _tags(typing: Typing) -> Sequence[Suggestion]:
    known = await typing.context.forum_tags(typing.actor)
    return _fitting(typing.text, (_Choice(name, name, (name,)) for name in (known.names if known else ())))


async def _settings(typing: Typing) -> Sequence[Suggestion]:
    """Return values of the setting that is filled in."""
    name = typing.beside.get("name", "")
    if name == "zone":
        return await _zones(typing)
    offers = SETTINGS[name].offers if name in SETTINGS else ()
    return _fitting(typing.text, (_Choice(value, f"{value}: {label}", (value, label)) for label, value in offers))


async def _addresses(typing: Typing) -> Sequence[Suggestion]:
    """Return the person's own addresses, and to administrators those of lists."""
    held = await typing.context.store.recipients.of(typing.actor.workspace)
    actor = typing.actor
    known = [each for each in held if may_act_for(actor, each) and (each.is_list or each.person == actor.person)]
    return _fitting(typing.text, (_Choice(each.address, each.address, (each.address,)) for each in known))


KINDS: Mapping[str, Callable[[Typing], Awaitable[Sequence[Suggestion]]]] = {
    "topic": _topics,
    "subscription": _subscriptions,
    "command": _commands,
    "item": _items,
    "zone": _zones,
    "time": _times,
    "until": _until,
    "day": _days,
    "tag": _tags,
    "setting": _settings,
    "query": _queries,
    "followed": _followed,
    ADDRESS: _addresses,
}
