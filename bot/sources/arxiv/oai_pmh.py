"""arXiv's OAI-PMH service: every record that changed since a day (info.arxiv.org/help/oa/index.html).

The server was rewritten in early 2025: sets are `group:archive:CATEGORY`, a resumption token tells neither position nor
total and ends with the day. The metadata formats arXiv and oai_dc are read, of the old server too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from xml.etree.ElementTree import Element

from bot.errors import SourceChanged
from bot.http.client import Request
from bot.models import Item
from bot.sources.arxiv.paper import identifier, paper
from bot.sources.arxiv.xml import DC, instant, root_of, text_of

MAX_BYTES = 64 * 2**20
OAI = "{http://www.openarchives.org/OAI/2.0/}"

_PHYSICS = frozenset(
    "astro-ph cond-mat gr-qc hep-ex hep-lat hep-ph hep-th math-ph nlin nucl-ex nucl-th physics quant-ph".split()  # noqa: SIM905
)


class TokenExpired(SourceChanged):
    """The resumption token is not good any more; the list must be asked for from its start."""


@dataclass(frozen=True, slots=True)
class Records:
    """A part of a list. `token` asks for the next part, "" when this was the last."""

    items: tuple[Item, ...]
    token: str
    deleted: int
    skipped: int


def sets_of(categories: Sequence[str]) -> tuple[str, ...]:
    """Return the sets to harvest: a category's own, or its whole archive where four or more of it are wanted."""
    archives = [category.partition(".")[0] for category in categories]
    sets = (
        _set(category if archives.count(archive) < 4 else archive)
        for category, archive in zip(categories, archives, strict=True)
    )
    return tuple(dict.fromkeys(sets))


def _set(category: str) -> str:
    """`cs.AI` is `cs:cs:AI`, `hep-th` is `physics:hep-th`, `astro-ph.GA` is `physics:astro-ph:GA`, `cs` is `cs`."""
    archive, _, subject = category.partition(".")
    group = "physics" if archive in _PHYSICS else archive
    if not subject:
        return group if group == archive and archive != "physics" else f"{group}:{archive}"
    return f"{group}:{archive}:{subject}"


def list_records(url: str, wanted: str, since: date) -> Request:
    """Ask for the records of a set that changed on or after a day; arXiv asks for no `until`."""
    params = (("verb", "ListRecords"), ("metadataPrefix", "arXiv"), ("set", wanted), ("from", since.isoformat()))
    return Request(url=url, params=params)


def more_records(url: str, token: str) -> Request:
    """Ask for the next part of a list."""
    return Request(url=url, params=(("verb", "ListRecords"), ("resumptionToken", token)))


def parse(body: bytes) -> Records:
    """Return the records of an answer; raises SourceUnavailable, SourceChanged, and TokenExpired.

    No match is an empty answer, not an error. A deleted record has no metadata and is counted.
    """
    root = root_of(body, "arXiv's OAI-PMH service")
    if root.tag not in (f"{OAI}OAI-PMH", f"{OAI}record", "record"):
        raise SourceChanged("arXiv's OAI-PMH service does not answer with OAI-PMH any more")
    error = root.find(f"{OAI}error")
    if error is not None:
        return _refused(error)
    records = [root] if root.tag.endswith("record") else list(root.iter(f"{OAI}record"))
    kept = [record for record in records if not _is_deleted(record)]
    read = [item for record in kept if (item := _item(record)) is not None]
    if kept and not read:
        raise SourceChanged("no record of arXiv's OAI-PMH service could be read")
    token = root.find(f".//{OAI}resumptionToken")
    more = (token.text or "").strip() if token is not None else ""
    return Records(tuple(read), more, len(records) - len(kept), len(kept) - len(read))


def _refused(error: Element) -> Records:
    code, said = error.get("code", ""), (error.text or "").strip()[:200]
    if code == "noRecordsMatch":
        return Records((), "", 0, 0)
    if code == "badResumptionToken":
        raise TokenExpired(f"arXiv's OAI-PMH service forgot where it was ({said or code})")
    raise SourceChanged(f"arXiv's OAI-PMH service refused the request: {said or code}")


def _is_deleted(record: Element) -> bool:
    header = _child(record, "header")
    return header is not None and header.get("status") == "deleted"


def _child(parent: Element | None, name: str) -> Element | None:
    """Return the first child of that local name: old samples differ in their namespaces."""
    found = (child for child in (parent if parent is not None else ()) if child.tag.rpartition("}")[2] == name)
    return next(found, None)


def _text(parent: Element | None, name: str) -> str:
    child = _child(parent, name)
    return (child.text or "").strip() if child is not None else ""


def _item(record: Element) -> Item | None:
    found = identifier(_text(_child(record, "header"), "identifier"))
    metadata = _child(record, "metadata")
    native, dublin = _child(metadata, "arXiv"), _child(metadata, "dc")
    if found is None:
        return None
    if native is not None and _text(native, "title"):
        return _native(found[0], native)
    if dublin is not None and text_of(dublin, f"{DC}title"):
        return _dublin(found[0], dublin)
    return None


def _native(number: str, metadata: Element) -> Item:
    updated = instant(_text(metadata, "updated"))
    authors = _child(metadata, "authors")
    return paper(
        number,
        title=_text(metadata, "title"),
        abstract=_text(metadata, "abstract"),
        authors=[_name(author) for author in authors] if authors is not None else [],
        categories=_text(metadata, "categories").split(),
        comment=_text(metadata, "comments"),
        license_url=_text(metadata, "license"),
        doi_text=_text(metadata, "doi"),
        published=instant(_text(metadata, "created")),
        updated=updated or instant(_text(metadata, "created")),
    )


def _name(author: Element) -> str:
    parts = (_text(author, part) for part in ("forenames", "keyname", "suffix"))
    return " ".join(part for part in parts if part)


def _dublin(number: str, metadata: Element) -> Item:
    """Dublin Core: names turned around, no categories by their codes, the comment among the descriptions."""
    told = [(element.text or "").strip() for element in metadata.findall(f"{DC}description")]
    dates = sorted(when for element in metadata.findall(f"{DC}date") if (when := instant(element.text or "")))
    registered = [(element.text or "") for element in metadata.findall(f"{DC}identifier") if "doi" in (element.text or "")]
    comments = [text.partition(":")[2].strip() for text in told if text.startswith("Comment:")]
    return paper(
        number,
        title=text_of(metadata, f"{DC}title"),
        abstract=next((text for text in told if not text.startswith("Comment:")), ""),
        authors=[_turned(element.text or "") for element in metadata.findall(f"{DC}creator")],
        categories=[],
        comment=" ".join(comments),
        doi_text=" ".join(registered),
        published=dates[0] if dates else None,
        updated=dates[-1] if dates else None,
    )


def _turned(name: str) -> str:
    last, _, first = name.partition(",")
    return f"{first.strip()} {last.strip()}".strip()


def is_within(item: Item, first: datetime, last: datetime) -> bool:
    """Tell whether version 1 is of the days between two instants; OAI-PMH dates it by the day (UTC)."""
    if item.published is None:
        return False
    day = item.published.astimezone(UTC).date()
    return first.astimezone(UTC).date() <= day <= last.astimezone(UTC).date()
