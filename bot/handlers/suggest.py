"""What fits what a person has typed so far: the autocomplete lists of every platform."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot import zones
from bot.commands import TABLE
from bot.errors import BotError
from bot.handlers.complete import complete
from bot.handlers.context import HandlerContext
from bot.handlers.lookup import topics_of
from bot.handlers.subscribed import title_of
from bot.models import Actor, Suggestion
from bot.query.fields import fold_label
from bot.wording import shortened

MOST = 25  # choices of one autocomplete list on Discord; Slack's external selects take 100
LONGEST = 100  # characters of a label on Discord; Slack's options take 75, and its adapter cuts further
_READ = 4000  # characters of what was typed; no platform sends more
_SAVED = 200  # of what a person saved, the latest


async def suggest(context: HandlerContext, kind: str, typed: str, actor: Actor, now: datetime) -> Sequence[Suggestion]:
    """Return at most 25 suggestions, the best first; never raises, whatever was typed.

    Kinds: topic, subscription (of this channel), command, item (of the channel's last digest, or saved by the person), zone,
    and query, where the value is the whole query with its last word completed. A label has at most 100 characters; a value
    may be longer. A kind that is none, and a store that fails, have nothing to suggest.
    """
    find = _KINDS.get(kind)
    if find is None:
        return ()
    plain = "".join(char if char.isprintable() else " " for char in typed[:_READ])
    try:
        found = await find(context, plain, actor, now)
    except BotError:  # a list that stays empty says enough; the command itself will tell what is wrong
        return ()
    return [Suggestion(each.value, shortened(each.label, LONGEST)) for each in found[:MOST]]


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


async def _topics(context: HandlerContext, typed: str, actor: Actor, _now: datetime) -> Sequence[Suggestion]:
    topics = await topics_of(context, actor.workspace)
    choices = (_Choice(name, f"{topic.title} ({name})", (name, topic.title)) for name, topic in topics.items())
    return _fitting(typed, choices)


async def _subscriptions(context: HandlerContext, typed: str, actor: Actor, now: datetime) -> Sequence[Suggestion]:
    topics = await topics_of(context, actor.workspace)
    subscribed = await context.store.subscriptions(actor.workspace, channel=actor.channel)
    choices = []
    for each in subscribed:
        title = title_of(topics, each.topic)
        label = f"{title} ({each.topic}{', paused' if each.is_paused(now) else ''})"
        choices.append(_Choice(each.topic, label, (each.topic, title)))
    return _fitting(typed, choices)


async def _commands(context: HandlerContext, typed: str, actor: Actor, _now: datetime) -> Sequence[Suggestion]:
    choices = (_Choice(usage.words, f"{usage.words}: {usage.help}", (usage.words, *usage.aliases)) for usage in TABLE)
    return _fitting(typed, choices)


async def _items(context: HandlerContext, typed: str, actor: Actor, _now: datetime) -> Sequence[Suggestion]:
    shown = await context.store.last_entries(actor.workspace, actor.channel)
    saved = await context.store.saved(actor.workspace, actor.person)
    keys = list(dict.fromkeys([*shown, *(each.key for each in saved[:_SAVED])]))
    items = await context.store.find(keys)
    known = {items[key].key: items[key].title for key in keys if key in items}
    return _fitting(typed, (_Choice(key, title, (title, key, key.partition(":")[2])) for key, title in known.items()))


async def _zones(context: HandlerContext, typed: str, actor: Actor, _now: datetime) -> Sequence[Suggestion]:
    names = await asyncio.to_thread(zones.beginning, typed, MOST)
    return [Suggestion(name, name.replace("_", " ")) for name in names]


async def _queries(context: HandlerContext, typed: str, actor: Actor, _now: datetime) -> Sequence[Suggestion]:
    return await complete(context, typed, await topics_of(context, actor.workspace))


_KINDS: dict[str, Callable[[HandlerContext, str, Actor, datetime], Awaitable[Sequence[Suggestion]]]] = {
    "topic": _topics,
    "subscription": _subscriptions,
    "command": _commands,
    "item": _items,
    "zone": _zones,
    "query": _queries,
}
