"""arXiv's search API: papers by submission date or by identifier (info.arxiv.org/help/api/user-manual.html).

Both wire formats, that of before and that of after November 2025, are the same elements.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree.ElementTree import Element

from bot.errors import SourceChanged
from bot.http.client import Request
from bot.models import Item
from bot.sources.arxiv.paper import identifier, paper
from bot.sources.arxiv.xml import ARXIV, ATOM, OPENSEARCH, instant, root_of, text_of

SLICE = 500  # results in one answer; the API gives up to 2,000, slowly
IDS = 100  # identifiers in one request: the address must stay short
MAX_BYTES = 32 * 2**20


class RequestRefused(SourceChanged):
    """The API does not take what was asked for."""


@dataclass(frozen=True, slots=True)
class Results:
    """A slice of results, and how many the API says there are in all (None when it does not say)."""

    items: tuple[Item, ...]
    total: int | None
    entries: int
    skipped: int


def by_submission(url: str, categories: Sequence[str], first: datetime, last: datetime, start: int) -> Request:
    """Ask for what was submitted between two instants, oldest first, from result `start` on."""
    names = " OR ".join(f"cat:{category}" for category in categories)
    between = " TO ".join(when.astimezone(UTC).strftime("%Y%m%d%H%M") for when in (first, last))
    query = f"({names}) AND submittedDate:[{between}]"
    order = (("sortBy", "submittedDate"), ("sortOrder", "ascending"))
    return Request(url=url, params=(("search_query", query), ("start", str(start)), ("max_results", str(SLICE)), *order))


def by_identifier(url: str, numbers: Sequence[str]) -> Request:
    """Ask for papers by identifier; those that arXiv does not know are silently absent from the answer."""
    return Request(url=url, params=(("id_list", ",".join(numbers)), ("max_results", str(len(numbers)))))


def parse(body: bytes) -> Results:
    """Return the papers of an answer; raises SourceUnavailable or SourceChanged.

    A refusal comes as an entry called Error (with status 400, and before November 2025 with status 200 too).
    """
    root = root_of(body, "arXiv's API")
    if root.tag != f"{ATOM}feed":
        raise SourceChanged("arXiv's API does not answer with Atom any more")
    entries = root.findall(f"{ATOM}entry")
    for entry in entries:
        if "/api/errors" in text_of(entry, f"{ATOM}id"):
            raise RequestRefused(f"arXiv's API refused the request: {text_of(entry, f'{ATOM}summary')[:200]}")
    read = [item for entry in entries if (item := _item(entry)) is not None]
    if entries and not read:
        raise SourceChanged("no entry of arXiv's API could be read")
    total = text_of(root, f"{OPENSEARCH}totalResults")
    unique = {item.key: item for item in read}
    known = int(total) if re.fullmatch(r"\d{1,9}", total, re.ASCII) else None
    return Results(tuple(unique.values()), known, len(entries), len(entries) - len(read))


def _item(entry: Element) -> Item | None:
    found = identifier(text_of(entry, f"{ATOM}id"))
    title = text_of(entry, f"{ATOM}title")
    if found is None or not title:
        return None
    number, version = found
    if not version:  # the old format gave it in the link alone
        shown = identifier(next((link.get("href", "") for link in entry.findall(f"{ATOM}link")), ""))
        version = shown[1] if shown else 0
    first = entry.find(f"{ARXIV}primary_category")
    return paper(
        number,
        title=title,
        abstract=text_of(entry, f"{ATOM}summary"),
        authors=[text_of(author, f"{ATOM}name") for author in entry.findall(f"{ATOM}author")],
        categories=[element.get("term", "") for element in entry.findall(f"{ATOM}category")],
        primary=first.get("term", "") if first is not None else "",
        version=version,
        comment=text_of(entry, f"{ARXIV}comment"),
        license_url=text_of(entry, f"{ATOM}rights"),
        doi_text=text_of(entry, f"{ARXIV}doi"),
        published=instant(text_of(entry, f"{ATOM}published")),
        updated=instant(text_of(entry, f"{ATOM}updated")),
    )
