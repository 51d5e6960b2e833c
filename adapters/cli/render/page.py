"""Digests as one HTML file that needs nothing else: no script, no request, light and dark, screen and paper.

Pure but for the template, which is read from the package once. Every text is escaped by Jinja's autoescape, after control
characters and dangerous links are gone (`adapters.text`); a content security policy forbids what should not be there anyway.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

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
from bot.wording import counted, listed, long_day


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
    title: str
    tally: str
    stories: tuple[Story, ...]
    nothing: str
    coverage: str


def page(digests: Sequence[Digest], *, made_at: datetime, version: str) -> str:
    """Return a whole HTML document with a section for each digest, dated as the newest of them is.

    The first call reads files: not on the event loop.
    """
    template, style, policy = _loaded()
    sections = [_section(number, digest) for number, digest in enumerate(digests, start=1)]
    day = max((digest.day for digest in digests), default=made_at.date())
    count = sum(len(section.stories) for section in sections)
    return template.render(
        sections=sections,
        day=long_day(day),
        iso_day=day.isoformat(),
        edition=f"{counted(count, 'entry')} in {counted(len(sections), 'topic')}",
        subjects=listed([section.title for section in sections]),
        made=f"{made_at:%H:%M} UTC on {long_day(made_at.date())}",
        made_at=made_at.isoformat(timespec="seconds"),
        version=version,
        style=Markup(style),  # noqa: S704 - our own file, and its hash stands in the policy
        policy=policy,
    )


@cache
def _loaded() -> tuple[Template, str, str]:
    here = files("adapters.cli.render")
    style = (here / "page.css").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((here / "page.html.j2").read_text(encoding="utf-8"))
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    return template, style, policy


def _section(number: int, digest: Digest) -> PageSection:
    slug = re.sub(r"[^a-z0-9]+", "-", digest.topic.lower()).strip("-")
    return PageSection(
        id=f"topic-{number}-{slug}".rstrip("-"),
        title=clean(digest.title) or clean(digest.topic),
        tally=masthead(digest),
        stories=tuple(_story(place, entry, digest.day) for place, entry in enumerate(digest.entries, start=1)),
        nothing=empty_sentence(digest),
        coverage=" · ".join(filter(None, (coverage_line(digest), dropped_line(digest.coverage)))),
    )


def _story(number: int, entry: Entry, day: date) -> Story:
    item = entry.ranked.item
    label, name, _, url = partner(entry) or ("", "", (), "")
    return Story(
        number=number,
        headline=Anchor(title(item), first_link(item)),
        warnings=listed(warnings(item)),
        gist=clean(entry.gist),
        facts=tuple(Fact(each, spoken(each)) for each in facts(entry)),
        byline=tuple(Fact(each, spoken(each)) for each in card_facts(entry, day)),
        parts=told_parts(entry),
        partner_label=label,
        partner=Anchor(name or shown_url(url), url),
        partner_warnings=listed(warnings(entry.partner)) if entry.partner else "",
        reasons=tuple(tuple(emphasised(clean(reason))) for reason in entry.ranked.reasons),
        score=f"{entry.ranked.score:.2f}",
        read=summary_origin(entry),
    )
