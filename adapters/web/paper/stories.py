"""Digests in the words of a page: a section for each, with its index and its cards. Pure."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from adapters.text import clean, emphasised, shown_url
from adapters.words import (
    card_facts,
    coverage_line,
    dropped_line,
    empty_sentence,
    facts,
    first_link,
    masthead,
    partner,
    spoken,
    summary_origin,
    title,
    told_parts,
    warnings,
)
from bot.models import Digest, Entry
from bot.wording import counted, listed


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact under a title: what is seen, and what a screen reader says where that is a sign."""

    shown: str
    spoken: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link, or with an empty URL only its text."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Story:
    """One entry, in the words of the page: its line of the index, and its card."""

    key: str  # the item's
    number: int
    headline: Anchor
    warnings: str
    gist: str
    facts: tuple[Fact, ...]  # of the index
    byline: tuple[Fact, ...]  # of the card
    parts: tuple[tuple[str, str], ...]
    partner_label: str
    partner: Anchor
    partner_warnings: str
    reasons: tuple[tuple[tuple[str, bool], ...], ...]  # each reason in stretches: text, and whether it is a match
    score: str
    read: str


@dataclass(frozen=True, slots=True)
class PageSection:
    """One topic's digest, in the words of the page."""

    id: str
    topic: str  # its name
    title: str
    tally: str
    stories: tuple[Story, ...]
    nothing: str
    coverage: str


def sections(digests: Sequence[Digest]) -> list[PageSection]:
    """Return a section for each digest, in their order, with identifiers of which none is used twice in a page."""
    return [section(number, digest) for number, digest in enumerate(digests, start=1)]


def edition(entries: int, topics: Collection[str]) -> str:
    """Return what stands beside the date: "12 entries in 3 topics"; of topics that are named twice each counts once."""
    return f"{counted(entries, 'entry')} in {counted(len({*topics}), 'topic')}"


def section(number: int, digest: Digest) -> PageSection:
    """Return the digest as the section of that number on a page."""
    slug = re.sub(r"[^a-z0-9]+", "-", digest.topic.lower()).strip("-")
    return PageSection(
        id=f"topic-{number}-{slug}".rstrip("-"),
        topic=digest.topic,
        title=clean(digest.title) or clean(digest.topic),
        tally=masthead(digest),
        stories=tuple(story(place, entry, digest.day) for place, entry in enumerate(digest.entries, start=1)),
        nothing=empty_sentence(digest),
        coverage=" · ".join(filter(None, (coverage_line(digest), dropped_line(digest.coverage)))),
    )


def story(number: int, entry: Entry, day: date) -> Story:
    """Return the entry as it stands on a page of that day."""
    item = entry.ranked.item
    label, name, _, url = partner(entry) or ("", "", (), "")
    return Story(
        key=item.key,
        number=number,
        headline=Anchor(title(item), first_link(item)),
        warnings=listed(warnings(item)),
        gist=clean(entry.gist),
        facts=told_facts(facts(entry)),
        byline=told_facts(card_facts(entry, day)),
        parts=told_parts(entry),
        partner_label=label,
        partner=Anchor(name or shown_url(url), url),
        partner_warnings=listed(warnings(entry.partner)) if entry.partner else "",
        reasons=tuple(tuple(emphasised(clean(reason))) for reason in entry.ranked.reasons),
        score=f"{entry.ranked.score:.2f}",
        read=summary_origin(entry),
    )


def told_facts(facts: Sequence[str]) -> tuple[Fact, ...]:
    """Return the facts with what those hear who listen."""
    return tuple(Fact(each, spoken(each)) for each in facts)
