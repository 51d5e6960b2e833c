"""What fits what a person has typed so far: the autocomplete lists of every platform."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot import zones
from bot.commands import TABLE
from bot.errors import BotError
from bot.handlers.context import HandlerContext
from bot.handlers.items import last_digests
from bot.handlers.wording.replies import title_of
from bot.models import Actor, Label, Suggestion, Term, Topic
from bot.query import FIELDS, QueryField, Takes, unparse_tree
from bot.query.fields import BY_NAME, fold_label
from bot.query.fold import says_something
from bot.query.parse import LONGEST, TYPED, stands_bare
from bot.wording import counted, shortened

MOST = 25  # choices of one autocomplete list on Discord; Slack's external selects take 100
LONGEST_LABEL = 100  # characters of a label on Discord; Slack's options take 75, and its adapter cuts further
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


async def _topics(context: HandlerContext, typed: str, actor: Actor, _now: datetime) -> Sequence[Suggestion]:
    topics = await context.topics(actor.workspace)
    choices = (_Choice(name, f"{topic.title} ({name})", (name, topic.title)) for name, topic in topics.items())
    return _fitting(typed, choices)


async def _subscriptions(context: HandlerContext, typed: str, actor: Actor, now: datetime) -> Sequence[Suggestion]:
    topics = await context.topics(actor.workspace)
    subscribed = await context.store.workspaces.subscriptions(actor.workspace, channel=actor.channel)
    choices = []
    for name in dict.fromkeys(each.topic for each in subscribed):
        title, all_paused = title_of(topics, name), all(each.is_paused(now) for each in subscribed if each.topic == name)
        choices.append(_Choice(name, f"{title} ({name}{', paused' if all_paused else ''})", (name, title)))
    return _fitting(typed, choices)


async def _commands(context: HandlerContext, typed: str, actor: Actor, _now: datetime) -> Sequence[Suggestion]:
    choices = (_Choice(usage.words, f"{usage.words}: {usage.help}", (usage.words, *usage.aliases)) for usage in TABLE)
    return _fitting(typed, choices)


async def _items(context: HandlerContext, typed: str, actor: Actor, _now: datetime) -> Sequence[Suggestion]:
    shown = [key for digest in await last_digests(context, actor) for key in digest.entries]
    saved = await context.store.people.saved(actor.workspace, actor.person)
    keys = list(dict.fromkeys([*shown, *(each.key for each in saved[:_SAVED])]))
    items = await context.store.items.find(keys)
    known = {items[key].key: items[key].title for key in keys if key in items}
    return _fitting(typed, (_Choice(key, title, (title, key, key.partition(":")[2])) for key, title in known.items()))


async def _zones(context: HandlerContext, typed: str, actor: Actor, _now: datetime) -> Sequence[Suggestion]:
    names = await asyncio.to_thread(zones.beginning, typed, MOST)
    return [Suggestion(name, name.replace("_", " ")) for name in names]


async def _queries(context: HandlerContext, typed: str, actor: Actor, _now: datetime) -> Sequence[Suggestion]:
    return await _complete_query(context, typed, await context.topics(actor.workspace))


_KINDS: dict[str, Callable[[HandlerContext, str, Actor, datetime], Awaitable[Sequence[Suggestion]]]] = {
    "topic": _topics,
    "subscription": _subscriptions,
    "command": _commands,
    "item": _items,
    "zone": _zones,
    "query": _queries,
}

_COUNTED = frozenset({"category", "source", "language", "license", "topic"})  # fields whose values the store counts
_GUESSED = ("category", "language", "topic")  # fields of which a bare word may be a value
_GUESSES = 4  # values of each

# A last word: the signs of negation before it, a field's name with its colon, and what there is of the value.
_WORD = re.compile(r'([-!]*)(?:([A-Za-z][A-Za-z_-]*):)?("?)([^"]*)', re.DOTALL)
_UNSAYABLE = re.compile('[",*]')  # in a label
_ARXIV = re.compile(r"([a-z-]+)\.([a-z]{2})")
# For fields that take any number or date, what most people ask for.
_USUAL: Mapping[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(("stars", "forks"), ((">100", "more than 100"), (">1000", "more than 1,000"), ("10..100", "10 to 100"))),
    "upvotes": ((">5", "more than 5"), (">20", "more than 20"), (">50", "more than 50")),
    "score": ((">0.3", "more than 0.3"), (">0.5", "more than 0.5"), (">0.7", "more than 0.7")),
    **dict.fromkeys(
        ("published", "updated"),
        (
            ("1d", "the last day"),
            ("7d", "the last week"),
            ("30d", "the last month"),
            ("90d", "three months"),
            ("1y", "a year"),
        ),
    ),
}


async def _complete_query(context: HandlerContext, typed: str, topics: Mapping[str, Topic]) -> Sequence[Suggestion]:
    """Return the query with its last word completed in the ways that are likeliest; nothing where there is none."""
    text = typed.translate(TYPED)
    start = _start(text)
    found = _WORD.fullmatch(text, start)
    if found is None or len(text) > LONGEST:
        return ()
    signs, name, quote, value = found.groups()
    head = text[:start] + signs
    known = BY_NAME.get((name or "").lower())
    if name and known:
        clauses = await _values(context, known, value, topics)
    elif name or quote:
        return ()
    else:
        clauses = [*_names(value), *await _guesses(context, value)]
    whole = (Suggestion(head + clause, label) for clause, label in clauses)
    return [each for each in whole if len(each.value) <= LONGEST][:MOST]


def _start(text: str) -> int:
    """Return where the last word begins; one in quotation marks that are still open begins before them."""
    opened = text.count('"') % 2
    upto = text.rfind('"') if opened else len(text)
    before = re.search(r'[^\s()"]*\Z', text[:upto])
    return before.start() if before else upto


Clause = tuple[str, str]  # as it is put in, and as it is shown


def _names(beginning: str) -> list[Clause]:
    """Return the fields whose name, or another word for it, begins so."""
    start = beginning.lower()
    fields = [field for field in FIELDS if any(name.startswith(start) for name in (field.name, *field.short))]
    fields.sort(key=lambda field: not field.name.startswith(start))
    return [(f"{field.name}:", f"{field.name}: {field.help}") for field in fields]


async def _guesses(context: HandlerContext, beginning: str) -> list[Clause]:
    """Return values that begin as a bare word does, as clauses of their fields."""
    if len(beginning) < 2:
        return []
    return [clause for field in _GUESSED for clause in (await _counted(context, BY_NAME[field], beginning))[:_GUESSES]]


async def _values(context: HandlerContext, field: QueryField, beginning: str, topics: Mapping[str, Topic]) -> list[Clause]:
    start = fold_label(beginning)
    if field.name in _COUNTED:
        return await _counted(context, field, beginning)
    if field.values:
        also = {value for word, value in field.also if start and word.startswith(start)}
        return [_plain(field, value) for value in field.values if value.startswith(start) or value in also]
    if field.name == "topic-of":
        return [
            (f"topic-of:{name}", f"topic-of:{name}: {topic.title}")
            for name, topic in topics.items()
            if name.startswith(start)
        ]
    usual = _USUAL.get(field.name, ())
    return [(f"{field.name}:{value}", f"{field.name}:{value}: {told}") for value, told in usual if value.startswith(start)]


async def _counted(context: HandlerContext, field: QueryField, beginning: str) -> list[Clause]:
    """Return the values that stored items have, the commonest first, and the sources that have shown nothing yet."""
    start = dict(field.also).get(fold_label(beginning), beginning)
    numbers = dict(await context.store.index.values(field.name, start, limit=2 * MOST))
    if field.name == "source":
        numbers |= {
            name: 0
            for name in map(fold_label, context.source_titles)
            if name.startswith(fold_label(start)) and name not in numbers
        }
    clauses = ((_clause(field, value), number) for value, number in numbers.items())
    return [(clause, f"{clause} ({counted(number, 'item')})") for clause, number in clauses if clause]


def _plain(field: QueryField, value: str) -> Clause:
    return f"{field.name}:{value}", f"{field.name}:{value}"


def _clause(field: QueryField, value: str) -> str:
    """Return the clause that asks for a value; "" for one that the language cannot say."""
    if field.takes is Takes.TEXT:
        value = value.translate(TYPED)
        term = Term(value, field.name, quoted=not stands_bare(value, field.name))
        return unparse_tree(term) if says_something(value) else ""
    if _UNSAYABLE.search(value) or value.translate(TYPED) != value or value in dict(field.also):
        return ""
    if field.name == "category":
        value = _as_arxiv(value)
    return unparse_tree(Label(field.name, value))


def _as_arxiv(category: str) -> str:
    """Return a folded category as arXiv writes it: cs.LG and astro-ph.CO, but cond-mat.str-el."""
    found = _ARXIV.fullmatch(category)
    return f"{found[1]}.{found[2].upper()}" if found else category
