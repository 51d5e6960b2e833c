"""arXiv's announcement feed: what was announced on one day, in one request for many categories.

Atom and RSS 2.0 flavours (info.arxiv.org/help/rss_specifications.html, …/atom_specifications.html). At most 2,000 entries.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from email.utils import parsedate_to_datetime
from xml.etree.ElementTree import Element

from bot.errors import SourceChanged
from bot.http.client import Request
from bot.models import Item
from bot.sources.arxiv.calendar import EASTERN, announced
from bot.sources.arxiv.paper import identifier, month_of, names_of, paper
from bot.sources.arxiv.xml import ARXIV, ATOM, DC, root_of, text_of

MOST = 2_000  # entries in one feed (info.arxiv.org/help/rss.html)
MAX_BYTES = 32 * 2**20  # 2,000 entries of 2 KB, and a few with thousands of authors
KINDS = ("new", "cross", "replace", "replace-cross")

_OPENING = re.compile(r"\s*arXiv:(?P<id>\S+)\s+Announce Type:\s*(?P<kind>[\w-]+)\s*(?:Abstract:\s*)?", re.IGNORECASE)
_ABSTRACT = re.compile(r"\s*Abstract:\s*")


@dataclass(frozen=True, slots=True)
class Feed:
    """One day's feed. `day` is the newest day its entries name, or the one on which an empty feed was made."""

    items: tuple[Item, ...]
    day: date | None
    entries: int
    skipped: int


def request(url: str, categories: Sequence[str]) -> Request:
    """Ask for the feed of all the categories together."""
    return Request(url=f"{url.rstrip('/')}/{'+'.join(categories)}")


def parse(body: bytes) -> Feed:
    """Return what the feed announces, each paper once; raises SourceUnavailable or SourceChanged."""
    root = root_of(body, "arXiv's feed")
    if root.tag == f"{ATOM}feed":
        entries, made = root.findall(f"{ATOM}entry"), _day_in(text_of(root, f"{ATOM}updated"))
    elif root.tag == "rss":
        entries, made = root.findall("channel/item"), _mail_day(text_of(root, "channel/pubDate"))
    else:
        raise SourceChanged("arXiv's feed is no feed any more")
    read = [item for entry in entries if (item := _item(entry)) is not None]
    if entries and not read:
        raise SourceChanged("no entry of arXiv's feed could be read")
    days = [day for item in read if (day := _day(item)) is not None]
    day = max(days, default=made)
    return Feed(_each_once(read), day, len(entries), len(entries) - len(read))


def _day(item: Item) -> date | None:
    return item.appeared.astimezone(EASTERN).date() + timedelta(days=1) if item.appeared else None


def _each_once(items: Sequence[Item]) -> tuple[Item, ...]:
    """Keep of a paper that several categories list what says most: new before cross before replace."""
    kept: dict[str, Item] = {}
    for item in sorted(items, key=lambda item: KINDS.index(item.announce) if item.announce in KINDS else len(KINDS)):
        kept.setdefault(item.key, item)
    return tuple(kept.values())


def _item(entry: Element) -> Item | None:
    """Return the entry's paper, None when it has no identifier or no title."""
    atom = entry.tag == f"{ATOM}entry"
    told = text_of(entry, f"{ATOM}summary" if atom else "description")
    opening = _OPENING.match(told)
    given = text_of(entry, f"{ATOM}id" if atom else "guid")
    found = identifier(given) or (identifier(opening["id"]) if opening else None) or identifier(_link(entry, atom))
    title = text_of(entry, f"{ATOM}title" if atom else "title")
    if found is None or not title:
        return None
    number, version = found
    kind = (text_of(entry, f"{ARXIV}announce_type") or (opening["kind"] if opening else "")).lower()
    day = _announced_on(entry, atom)
    appeared = announced(day) if day else None
    return paper(
        number,
        title=title,
        abstract=told[opening.end() :] if opening else _ABSTRACT.sub("", told, count=1),
        authors=[name for creator in _creators(entry) for name in names_of(creator)],
        categories=_categories(entry, atom),
        version=version,
        license_url=text_of(entry, f"{DC}rights"),
        doi_text=text_of(entry, f"{ARXIV}DOI"),
        published=first_seen(number, version, appeared),
        updated=appeared if kind.startswith("replace") else None,
        appeared=appeared,
        announce=kind if kind in KINDS else "",
    )


def _link(entry: Element, atom: bool) -> str:
    link = entry.find(f"{ATOM}link")
    return (link.get("href", "") if link is not None else "") if atom else text_of(entry, "link")


def _creators(entry: Element) -> list[str]:
    names = [(element.text or "") for element in entry.findall(f"{DC}creator")]
    return names or [text_of(author, f"{ATOM}name") for author in entry.findall(f"{ATOM}author")]


def _categories(entry: Element, atom: bool) -> list[str]:
    """The feed names the primary category first."""
    if atom:
        return [element.get("term", "") for element in entry.findall(f"{ATOM}category")]
    return [(element.text or "").strip() for element in entry.findall("category")]


def _announced_on(entry: Element, atom: bool) -> date | None:
    return _day_in(text_of(entry, f"{ATOM}published")) if atom else _mail_day(text_of(entry, "pubDate"))


def _day_in(text: str) -> date | None:
    """Return the day as it is written: midnight with an offset that may be summer's all year round."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _mail_day(text: str) -> date | None:
    try:
        return parsedate_to_datetime(text).date()
    except ValueError:
        return None


def first_seen(number: str, version: int, appeared: datetime | None) -> datetime | None:
    """Return when version 1 came out, as closely as a feed tells: the feed dates the announcement, not the paper.

    A first version announced in the month of its identifier or the one after came out now; anything else is an older paper,
    and of that the identifier tells the month.
    """
    month = month_of(number)
    if appeared is None or version > 1:
        return month
    return appeared if appeared - month < timedelta(days=62) else month


def joined(feeds: Sequence[Feed]) -> Feed:
    """Return several feeds as one; it is full (MOST entries) when one of them is."""
    items = _each_once([item for feed in feeds for item in feed.items])
    full = any(feed.entries >= MOST for feed in feeds)
    entries = MOST if full else min(MOST - 1, sum(feed.entries for feed in feeds))
    day = max((feed.day for feed in feeds if feed.day), default=None)
    return Feed(items, day, entries, sum(feed.skipped for feed in feeds))
