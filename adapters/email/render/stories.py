"""A digest in the words of a mail, which its HTML and its plain text show alike. Pure.

Every text is bounded by the bytes that it takes in HTML, so that an index of as many entries as a digest may have fits into
a mail whatever strangers write.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

from adapters.email.render.links import MailLinks
from adapters.text import clean, cut, shown_url
from adapters.words import (
    SpanKind,
    brief_title,
    card_facts,
    coverage_line,
    digest_name,
    empty_sentence,
    facts,
    first_link,
    late_sentence,
    masthead,
    others_button,
    partner,
    spans,
    title,
    told_parts,
    warnings,
)
from adapters.words import links as web_links
from bot.commands import Unsubscribe, write
from bot.handlers.links import LinkAction
from bot.models import Digest, Entry, Layout
from bot.wording import listed, long_day

# Bytes in HTML.
_NAME = 300
_INDEX_TITLE = 220
_INDEX_GIST = 320
_FACT = 60
_FACTS = 240  # of an entry
_ADDRESS = 420  # longer ones are not linked
_TITLE = 700
_PART = 1_100
_LINE = 2_000  # of a footer
_STARS = "\u00a0★"  # of code, on the line where that stands
_ACTIONS = {LinkAction.MORE: "More", LinkAction.LESS: "Less", LinkAction.SAVE: "Save"}


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link, or with an empty URL only its text."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Line:
    """An entry in the index."""

    number: int
    headline: Anchor
    warnings: tuple[str, ...]
    gist: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """An entry in full."""

    number: int
    headline: Anchor
    warnings: tuple[str, ...]
    facts: tuple[str, ...]
    gist: str
    parts: tuple[tuple[str, str], ...]
    links: tuple[Anchor, ...]
    actions: tuple[Anchor, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """One entry of a digest, both ways."""

    line: Line
    card: Card


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the entries."""

    name: str
    tally: str
    day: str
    late: str
    nothing: str  # why there is no entry
    coverage: str
    news: tuple[tuple[str, SpanKind], ...]
    others: tuple[str, str]  # how many more there are, and the command that lists them; "" where there are none
    reason: str  # why one gets it
    ending: str  # the command that ends it
    whose: str  # the address that stands behind either command: the mail itself never says it
    pause: str  # addresses, "" where there are none
    unsubscribe: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a mail says, from top to bottom."""

    frame: Frame
    index: tuple[Line, ...]
    cards: tuple[Card, ...]
    left_out: str = ""  # that there was no room for further cards
    rest: tuple[Line, ...] = ()  # in their place, where they stand in no index


def sheet_of(stories: Sequence[Story], around: Frame, layout: Layout, most: int) -> Sheet:
    """Return what a mail of that layout says that has room for so many cards."""
    lines, cards = tuple(each.line for each in stories), tuple(each.card for each in stories)
    if layout is Layout.BRIEF:
        return Sheet(around, lines, ())
    missing = _without_card(most + 1, len(stories)) if most < len(stories) else ""
    if layout is Layout.FULL:
        return Sheet(around, (), cards[:most], missing, lines[most:])
    return Sheet(around, lines, cards[:most], missing)


def _without_card(first: int, last: int) -> str:
    which = f"The cards of {first}–{last} are" if last > first else f"The card of {last} is"
    return f"{which} left out: mail programs cut off what is longer."


def in_brief(stories: Sequence[Story]) -> list[Story]:
    """Return the entries with nothing but their titles in the index."""
    return [replace(each, line=replace(each.line, gist="", facts=())) for each in stories]


def story(number: int, entry: Entry, digest: Digest, links: MailLinks) -> Story:
    """Return an entry by its number in the digest, with its actions."""
    return Story(_line(number, entry), _card(number, entry, digest, links))


def frame(digest: Digest, links: MailLinks, *, late: bool) -> Frame:
    """Return what stands around a digest's entries."""
    name, who = digest_name(digest), "this list" if links.is_list else "this address"
    others = [] if links.is_list else [(each.label, _typed(each.command)) for each in others_button(digest)]
    return Frame(
        name=_cut(name, _NAME),
        tally=masthead(digest).replace(" min", "\u00a0min"),
        day=long_day(digest.day),
        late=late_sentence(digest) if late else "",
        nothing="" if digest.entries else _cut(empty_sentence(digest), _LINE),
        coverage=_cut(coverage_line(digest), _LINE),
        news=tuple(spans(_cut(clean(digest.news), _LINE))),
        others=next(iter(others), ("", "")),
        reason=f"You get this because {who} is subscribed to {_cut(name, _NAME)}.",
        ending=_typed(write(Unsubscribe(digest.topic))),
        whose="the list's address" if links.is_list else who,
        pause=links.to(LinkAction.PAUSE),
        unsubscribe=links.to(LinkAction.UNSUBSCRIBE),
    )


def _typed(command: str) -> str:
    """Return a command as it is typed for what is sent by e-mail, up to the address; what goes before it differs by chat."""
    return _cut(f"{clean(command)} by email", _NAME)


def _line(number: int, entry: Entry) -> Line:
    item, told = entry.ranked.item, _fitting(facts(entry))
    gist = _cut(clean(entry.gist), _INDEX_GIST)
    return Line(
        number,
        Anchor(_cut(brief_title(item), _INDEX_TITLE), _linked(first_link(item))),
        warnings(item),
        gist.removesuffix(".") if told else gist,
        told,
    )


def _card(number: int, entry: Entry, digest: Digest, links: MailLinks) -> Card:
    item = entry.ranked.item
    actions = ((label, links.to(action, item.key)) for action, label in _ACTIONS.items())
    return Card(
        number,
        Anchor(_cut(title(item), _TITLE), _linked(first_link(item))),
        warnings(item),
        tuple(_cut(fact, _NAME).replace(" ★", _STARS) for fact in card_facts(entry, digest.day)),
        _cut(clean(entry.gist), _PART),
        tuple((name, _cut(told, _PART)) for name, told in told_parts(entry)),
        tuple(_elsewhere(entry)),
        tuple(Anchor(label, url) for label, url in actions if url),
    )


def _elsewhere(entry: Entry) -> Iterator[Anchor]:
    """Yield where a card leads besides its title: to the paper or code that it is joined to, and to other pages."""
    first = first_link(entry.ranked.item)
    _, name, _, url = partner(entry) or ("", "", (), "")
    shown = f"{name} ({listed(warnings(entry.partner))})" if entry.partner and warnings(entry.partner) else name
    if url and url != first:
        yield Anchor(_cut(shown or shown_url(url), _NAME), _linked(url))
    for each, text in web_links(entry.ranked.item, without=url):
        if each != first:
            yield Anchor(_cut(text, _NAME), _linked(each))


def _fitting(told: tuple[str, ...]) -> tuple[str, ...]:
    """Return the facts, in as many bytes as the index has for those of an entry."""
    kept: list[str] = []
    for each in told:
        if sum(map(in_html, kept)) + in_html(short := _cut(each, _FACT).replace(" ★", _STARS)) <= _FACTS:
            kept.append(short)
    return tuple(kept)


def _linked(url: str) -> str:
    return url if in_html(url) <= _ADDRESS else ""


def _cut(text: str, most: int) -> str:
    return cut(text, most, in_html)


def in_html(text: str) -> int:
    """Return how many bytes a text takes in HTML."""
    return len(escape(text).encode())
