"""A feed as Atom (RFC 4287). Pure."""

from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, tostring

from adapters.web.feeds.entries import Feed, FeedEntry

MEDIA_TYPE = "application/atom+xml"
MAKER = "Broadsheet"

_NAMESPACE = "http://www.w3.org/2005/Atom"


def atom(feed: Feed) -> bytes:
    """Return the document, in UTF-8."""
    root = Element("feed", {"xmlns": _NAMESPACE, "xml:lang": "en"})
    _text(root, "id", feed.id)
    _text(root, "title", feed.title)
    _text(root, "subtitle", feed.about)
    _text(root, "updated", moment(feed.updated))
    _text(SubElement(root, "author"), "name", MAKER)
    _text(root, "generator", MAKER)
    SubElement(root, "link", {"rel": "self", "type": MEDIA_TYPE, "href": feed.address})
    if feed.home:
        SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": feed.home})
    for each in feed.entries:
        _add(root, each, feed.permalink(each))
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _add(root: Element, entry: FeedEntry, permalink: str) -> None:
    made = SubElement(root, "entry")
    _text(made, "id", entry.id)
    _text(made, "title", entry.title)
    _text(made, "published", moment(entry.at))
    _text(made, "updated", moment(entry.at))
    for name in entry.authors:
        _text(SubElement(made, "author"), "name", name)
    for tag in entry.tags:
        SubElement(made, "category", {"term": tag})
    if entry.url:
        SubElement(made, "link", {"rel": "alternate", "href": entry.url})
    if permalink:  # what is not about something elsewhere is itself what the title leads to
        relation = "related" if entry.url else "alternate"
        SubElement(made, "link", {"rel": relation, "type": "text/html", "href": permalink})
    if entry.summary:
        _text(made, "summary", entry.summary)
    SubElement(made, "content", {"type": "html"}).text = entry.html


def _text(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = text


def moment(time: datetime) -> str:
    """Return the time as RFC 3339 has it, to the second: "2026-04-01T07:00:00Z"."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"
