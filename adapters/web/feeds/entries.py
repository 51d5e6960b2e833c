"""A feed, whatever form it is written in: what it is called, and its entries, the newest first. Pure.

A digest's entries are the feed's, one each, in their order: a program that reads feeds sorts by time, so each is a second
older than the one before it. What the digest covers ends its last entry, as it ends the digest; one without entries is an
entry itself.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from adapters.text import clean, safe_url
from adapters.web.feeds.content import card_html, empty_html, saved_html
from adapters.web.site.addresses import day_path, item_path
from adapters.words import digest_name, first_link, title
from bot.handlers.feeds.contents import SavedEntry
from bot.handlers.wording.bibliography import url_of
from bot.models import ArchivedDigest, Item
from bot.wording import long_day

MOST = 50  # entries of a feed, the newest
MOST_PEOPLE = 20  # authors of an entry that are named
MOST_TAGS = 20

Identify = Callable[..., str]  # returns the identifier that belongs to these texts for ever


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """One entry."""

    id: str
    title: str
    url: str  # where the title leads, "" where there is nowhere safe
    at: datetime
    summary: str
    html: str
    authors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str = ""  # of the page that shows the same, below the root of the pages; "" where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """What a program reads."""

    id: str
    title: str
    about: str
    address: str = field(repr=False)  # its own: of a private one it is a secret
    home: str = ""  # the page that shows the same; "" where that is not everybody's
    updated: datetime
    entries: tuple[FeedEntry, ...]
    page: Callable[[str], str] | None = None  # the address of the page at a path; None where that is not everybody's

    def permalink(self, entry: FeedEntry) -> str:
        """Return the address of the page that shows the entry, "" where that is not everybody's."""
        return self.page(entry.path) if self.page and entry.path else ""


def topic_entries(digests: Sequence[ArchivedDigest], of: Sequence[str], identify: Identify) -> tuple[FeedEntry, ...]:
    """Return the entries of a topic's digests, which are given with the newest first; `of` tells the workspace and topic.

    What several channels were posted on one day stands in it once, as it was posted last.
    """
    found: dict[str, FeedEntry] = {}
    for entry in (entry for each in digests for entry in _of_digest(each, of, identify)):
        found.setdefault(entry.id, entry)
        if len(found) == MOST:
            break
    return tuple(found.values())


def _of_digest(posted: ArchivedDigest, of: Sequence[str], identify: Identify) -> Iterator[FeedEntry]:
    digest, day = posted.digest, posted.digest.day.isoformat()
    if not digest.entries:
        name = f"{digest_name(digest)}, {long_day(digest.day)}"
        html = empty_html(digest)
        path = day_path(digest.topic, digest.day)
        one = identify("empty", *of, day)
        yield FeedEntry(id=one, title=name, url="", at=posted.saved_at, summary="", html=html, path=path)
    for number, entry in enumerate(digest.entries, start=1):
        item = entry.ranked.item
        yield FeedEntry(
            id=identify("entry", *of, day, item.key),
            title=title(item),
            url=first_link(item),
            at=posted.saved_at - timedelta(seconds=number - 1),
            summary=clean(entry.gist),
            html=card_html(digest, number),
            authors=_people(item),
            tags=_tags(item),
            path=item_path(item.key),
        )


def saved_entries(saved: Sequence[SavedEntry], of: Sequence[str], identify: Identify) -> tuple[FeedEntry, ...]:
    """Return the entries of a list of saved items; `of` tells whose list it is."""
    return tuple(
        FeedEntry(
            id=identify("saved", *of, each.key),
            title=title(each.entry.item) if each.entry.item else clean(each.entry.title),
            url=first_link(each.entry.item) if each.entry.item else safe_url(url_of(each.key)),
            at=each.at,
            summary=clean(each.entry.gist),
            html=saved_html(each.entry, each.at.date()),
            authors=_people(each.entry.item) if each.entry.item else (),
            tags=_tags(each.entry.item) if each.entry.item else (),
        )
        for each in saved[:MOST]
    )


def _people(item: Item) -> tuple[str, ...]:
    return tuple(name for name in map(clean, item.authors[:MOST_PEOPLE]) if name)


def _tags(item: Item) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tag in map(clean, item.categories[:MOST_TAGS]) if tag))
