"""What one entry of a feed says, as HTML for a program that reads feeds. Pure.

It is made of elements, and written by the library that made them: no text can become markup. Programs show it in a style of
their own, so it has paragraphs, stress and links alone.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from xml.etree.ElementTree import Element, SubElement, tostring

from adapters.text import clean, safe_url, shown_url
from adapters.words import (
    POST,
    SpanKind,
    byline,
    card_facts,
    coverage_line,
    digest_name,
    empty_sentence,
    first_link,
    links,
    partner,
    spans,
    told_parts,
    warnings,
)
from bot.models import Digest, Entry, Item, ReplyEntry
from bot.wording import listed, long_day


def card_html(digest: Digest, number: int) -> str:
    """Return the card of the digest's entry of that number, from 1; the last one ends with what the digest covers."""
    entry, body = digest.entries[number - 1], Element("div")
    _paragraph(body, f"{number} of {len(digest.entries)} · {digest_name(digest)} · {long_day(digest.day)}")
    _line(body, entry.ranked.item, card_facts(entry, digest.day))
    if clean(entry.gist):
        SubElement(SubElement(body, "p"), "strong").text = clean(entry.gist)
    for name, told in told_parts(entry):
        part = SubElement(body, "p")
        label = SubElement(part, "strong")
        label.text, label.tail = name, f"\u2002{told}"
    _linked(body, list(_elsewhere(entry)))
    if number == len(digest.entries):
        _covered(body, digest)
    return _written(body)


def empty_html(digest: Digest) -> str:
    """Return why a digest has no entry, and what it covers."""
    body = Element("div")
    _paragraph(body, f"{digest_name(digest)} · {long_day(digest.day)}")
    _paragraph(body, empty_sentence(digest))
    _covered(body, digest)
    return _written(body)


def saved_html(entry: ReplyEntry, day: date) -> str:
    """Return what a list of saved items says of one that was saved on that day."""
    body, item = Element("div"), entry.item
    if item is not None:
        _line(body, item, byline(item, day))
    if clean(entry.gist):
        SubElement(SubElement(body, "p"), "strong").text = clean(entry.gist)
    for line in entry.lines:
        _stressed(SubElement(body, "p"), spans(line))
    if item is not None:
        first = first_link(item)
        _linked(body, [(shown, url) for url, shown in links(item) if url != first])
    if safe_url(entry.post):
        _linked(body, [(POST, safe_url(entry.post))])
    return _written(body)


def _covered(body: Element, digest: Digest) -> None:
    _paragraph(body, coverage_line(digest))


def _paragraph(body: Element, text: str) -> None:
    SubElement(body, "p").text = text


def _line(body: Element, item: Item, facts: Sequence[str]) -> None:
    """Add who made it and when; before that, what a reader must know before trusting it."""
    flags, told = listed(warnings(item)), " · ".join(facts)
    if not flags:
        if told:
            _paragraph(body, told)
        return
    warning = SubElement(SubElement(body, "p"), "strong")
    warning.text, warning.tail = flags, f" · {told}" if told else ""


def _elsewhere(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield where a card leads besides its title: to the paper or code that it is joined to, and to other pages."""
    first = first_link(entry.ranked.item)
    label, name, _, url = partner(entry) or ("", "", (), "")
    flags = f" ({listed(warnings(entry.partner))})" if entry.partner and warnings(entry.partner) else ""
    if label and url != first:
        yield f"{label}: {name or shown_url(url)}{flags}", url
    for each, shown in links(entry.ranked.item, without=url):
        if each != first:
            yield shown, each


def _linked(body: Element, told: Sequence[tuple[str, str]]) -> None:
    """Add a paragraph of links; what leads nowhere safe is text."""
    if not told:
        return
    paragraph = SubElement(body, "p")
    for number, (text, url) in enumerate(told):
        one = SubElement(paragraph, "a", {"href": url}) if url else SubElement(paragraph, "span")
        one.text, one.tail = text, " · " if number < len(told) - 1 else ""


def _stressed(paragraph: Element, told: Sequence[tuple[str, SpanKind]]) -> None:
    for text, kind in told:
        one = SubElement(paragraph, "span" if kind is SpanKind.PLAIN else "strong")
        one.text = text


def _written(body: Element) -> str:
    return tostring(body, encoding="unicode", method="html")
