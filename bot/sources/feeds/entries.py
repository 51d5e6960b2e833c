"""Entries of a feed, checked at the door, and the items they become."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict

from bot.keys import arxiv_id, arxiv_ids_in, doi, github_repo, key_of_url, normalised_url
from bot.models import Item, Kind, Link
from bot.sources.markup.tex import readable

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)  # older than the web: a date that was never set
TOMORROW = timedelta(days=1)  # a feed's clock may be wrong by a zone; what lies further ahead is not believed
TITLE_FROM_TEXT = 100  # characters

_ARXIV_PREFACE = re.compile(r"(?s)^arXiv:\S+ Announce Type: \S+\s*(?:Abstract:\s*)?")
_ARXIV_CATEGORY = re.compile(r"[a-z-]{2,10}(?:\.[A-Za-z-]{2,20})?")
_ARXIV_VERSION = re.compile(r"v(\d{1,3})$")
_ANNOUNCEMENTS = frozenset({"new", "cross", "replace", "replace-cross"})


def _tolerant_moment(value: object) -> datetime | None:
    """RFC 3339 or RFC 2822, in UTC; a date that cannot be read is none."""
    if not isinstance(value, str):
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(value.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    return None


Moment = Annotated[datetime | None, BeforeValidator(_tolerant_moment)]


class FeedEntry(BaseModel):
    """One entry as the reading process gives it: text without markup, addresses as the feed had them."""

    model_config = ConfigDict(frozen=True)

    id: str = ""
    title: str = ""
    link: str = ""
    text: str = ""
    links: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    published: Moment = None
    updated: Moment = None
    doi: str = ""
    license: str = ""
    announce: str = ""


class FeedAnswer(BaseModel):
    """What the reading process writes: a feed, or `error`, which says what the bytes are instead."""

    model_config = ConfigDict(frozen=True)

    title: str = ""
    entries: tuple[FeedEntry, ...] = ()
    skipped: int = 0
    error: str = ""


def items_of(entries: Iterable[FeedEntry], source: str, now: datetime) -> tuple[Item, ...]:
    """Return the items of a feed; an entry that links nothing is left out, since nothing of it can be shown.

    `source` is the word for an item's `sources`.
    """
    listed = list(entries)
    count = Counter(entry.id for entry in listed)
    made = (_item(entry, source, now, unique=count[entry.id] == 1) for entry in listed)
    return tuple(item for item in made if item is not None)


def _item(entry: FeedEntry, source: str, now: datetime, *, unique: bool) -> Item | None:
    address = normalised_url(entry.link) or normalised_url(entry.id)
    key = _key(entry, address)
    if not key:
        return None
    paper = key.removeprefix("arxiv:") if key.startswith("arxiv:") else ""
    published, updated = _believed(entry.published, now), _believed(entry.updated, now)
    return Item(
        key=key,
        kind=_kind(key),
        title=(readable(entry.title) if paper else entry.title) or _opening(entry.text) or address.partition("://")[2],
        abstract=readable(_ARXIV_PREFACE.sub("", entry.text)) if paper else entry.text,
        authors=_authors(entry.authors),
        categories=tuple(tag for tag in entry.tags if _ARXIV_CATEGORY.fullmatch(tag)) if paper else (),
        keywords=() if paper else _each_once(entry.tags),
        sources=(source,),
        links=tuple(_links(key, address, entry.links)),
        aliases=tuple(dict.fromkeys(alias for alias in _aliases(entry, address, unique) if alias != key)),
        published=None if paper and not _is_first_seen_with(paper, published) else published or updated,
        updated=updated,
        appeared=published or updated,
        announce=entry.announce if entry.announce in _ANNOUNCEMENTS else "",
        version=int(found[1]) if paper and (found := _ARXIV_VERSION.search(entry.id)) else 0,
        license=normalised_url(entry.license),
    )


def _key(entry: FeedEntry, address: str) -> str:
    """A paper's key from wherever the entry says it; otherwise what its link leads to."""
    linked = key_of_url(address)
    if linked.startswith(("arxiv:", "doi:")):
        return linked
    if address and (paper := arxiv_id(entry.id)):
        return f"arxiv:{paper}"
    if address and (number := doi(entry.doi) or doi(entry.id)):
        return key_of_url(f"https://doi.org/{number}") or linked
    return linked


def _kind(key: str) -> Kind:
    if key.startswith(("arxiv:", "doi:")):
        return Kind.PAPER
    return Kind.REPO if key.startswith("github:") else Kind.POST


def _aliases(entry: FeedEntry, address: str, unique: bool) -> Iterator[str]:
    """The link's key, and the identifier's when it is an address on the same host that no other entry of the feed has.

    Feeds change their links and keep the identifier, or use one identifier for everything.
    """
    yield key_of_url(address)
    permanent = normalised_url(entry.id) if unique else ""
    if permanent and urlsplit(permanent).hostname == urlsplit(address).hostname:
        yield key_of_url(permanent)


def _links(key: str, address: str, found: tuple[str, ...]) -> Iterator[Link]:
    """The entry's own page first, then the paper and the repository that it links, where it links just one."""
    scheme, _, name = key.partition(":")
    main = {"arxiv": Link("abstract", f"https://arxiv.org/abs/{name}"), "doi": Link("doi", f"https://doi.org/{name}")}
    first = main.get(scheme) or Link("code" if scheme == "github" else "post", address)
    yield first
    if scheme in main and key_of_url(address) != key:
        yield Link("page", address)
    papers = {paper for url in found for paper in arxiv_ids_in(url)}
    if scheme == "url" and len(papers) == 1:
        yield Link("abstract", f"https://arxiv.org/abs/{papers.pop()}")
    repos = {repo for url in found if (repo := github_repo(url))}
    if scheme != "github" and len(repos) == 1:
        yield Link("code", f"https://github.com/{repos.pop()}")


def _authors(names: tuple[str, ...]) -> tuple[str, ...]:
    """Some feeds, arXiv's among them, put all the names into one field."""
    if len(names) == 1 and names[0].count(", ") >= 1:
        parts = tuple(part.strip() for part in re.split(r", (?:and )?| and ", names[0]))
        if all(" " in part for part in parts):  # "Curie, Marie" is one person
            return parts
    return names


def _each_once(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple({tag.casefold(): tag for tag in reversed(tuple(tags)) if tag}.values())[::-1]


def _opening(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= TITLE_FROM_TEXT else line[:TITLE_FROM_TEXT].rsplit(" ", 1)[0] + " …"


def _believed(moment: datetime | None, now: datetime) -> datetime | None:
    return moment if moment is not None and EARLIEST <= moment <= now + TOMORROW else None


def _is_first_seen_with(paper: str, moment: datetime | None) -> bool:
    """Tell whether an entry's date can be that of the paper's first version, which its number names by year and month.

    A list of good old papers dates its entries by the day of the list; an announcement follows within days.
    """
    digits = re.search(r"\d{4}", paper)
    if moment is None or digits is None:
        return False
    year, month = int(digits[0][:2]), int(digits[0][2:])
    age = (moment.year * 12 + moment.month) - ((year + (1900 if year > 90 else 2000)) * 12 + month)
    return 0 <= age <= 1
