"""A paper of arXiv as an Item, whichever of its services described it."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from bot.keys import arxiv_id, doi, github_repos_in, key_of_url
from bot.models import Item, Kind, Link
from bot.sources.markup.tex import readable

MAX_TITLE, MAX_ABSTRACT, MAX_AUTHORS, MAX_COMMENT = 1_000, 20_000, 5_000, 2_000
MAX_AUTHOR_LIST = 400_000  # characters; 3,303 authors take 50,000

_VERSIONED = re.compile(r"(?P<id>.+?)(?:v(?P<version>\d{1,3}))?")
# MSC and ACM classes stand beside them.
_CATEGORY = re.compile(r"[a-z]+(?:-[a-z]+)?(?:\.(?:[A-Z]{2}|[a-z]+(?:-[a-z]+)?))?")
_CREATIVE_COMMONS = re.compile(r"https?://creativecommons\.org/licenses/(by(?:-nc)?(?:-sa|-nd)?)/(\d\.\d)/?")
_PUBLIC_DOMAIN = re.compile(r"https?://creativecommons\.org/publicdomain/zero/(\d\.\d)/?")
_WITHDRAWN_COMMENT = re.compile(
    r"(?i)\b(?:is|are|was|were|been|being|has|be)\s+(?:\w{1,20}\s+)?withdrawn\b|\bhave to withdraw (?:it|this)\b"
    r"|\A\W{0,5}withdrawn\b(?!\s+from\s+(?!arxiv))|\bwithdrawn (?:by|from) (?:the )?(?:authors?|arxiv)\b"
)
_WITHDRAWN_ABSTRACT = re.compile(
    r"(?i)^\W*(?:this|the) (?:\w+ ){0,2}?\w+ (?:has been|is|was|have been) withdrawn\b|^\W*withdrawn\b"
)
_SUFFIX = re.compile(r"(?:Jr|Sr|II|III|IV|PhD|Ph\.\s?D|M\.?D)\.?")


def identifier(text: str) -> tuple[str, int] | None:
    """Return identifier and version (0 when none is given) of `2606.01234v2`, an address or `oai:arXiv.org:…`."""
    tail = text.strip().rstrip("/")
    tail = tail.split("/abs/", 1)[-1].split("/pdf/", 1)[-1]
    tail = re.sub(r"(?i)^(?:oai:)?arxiv(?:\.org)?:", "", tail)
    found = _VERSIONED.fullmatch(tail)
    known = arxiv_id(found["id"]) if found else None
    return (known, int(found["version"] or 0)) if found and known else None


def paper(
    number: str,
    *,
    title: str,
    abstract: str,
    authors: Iterable[str],
    categories: Sequence[str],
    primary: str = "",
    version: int = 0,
    comment: str = "",
    license_url: str = "",
    doi_text: str = "",
    published: datetime | None = None,
    updated: datetime | None = None,
    appeared: datetime | None = None,
    announce: str = "",
) -> Item:
    """Return the Item of the paper `number` (without version), its texts made readable."""
    told = readable(abstract[: 2 * MAX_ABSTRACT])[:MAX_ABSTRACT]
    remark = readable(comment[: 2 * MAX_COMMENT])[:MAX_COMMENT]
    known = [name for name in (primary, *categories) if _CATEGORY.fullmatch(name)]
    names = (readable(name[:500]) for name in authors)
    registered = next((found for part in doi_text.split() if (found := doi(part))), "")
    return Item(
        key=f"arxiv:{number}",
        kind=Kind.PAPER,
        title=readable(title[: 2 * MAX_TITLE])[:MAX_TITLE],
        abstract=told,
        authors=tuple(name for name in names if name and name != ":")[:MAX_AUTHORS],
        categories=tuple(dict.fromkeys(known)),
        sources=("arxiv",),
        links=links(number, registered, f"{abstract}\n{comment}"),
        aliases=tuple(key for key in (key_of_url(f"https://doi.org/{registered}"),) if key.startswith("doi:")),
        published=published,
        updated=updated,
        appeared=appeared,
        announce=announce,
        version=version,
        comment=remark,
        license=license_name(license_url),
        withdrawn=is_withdrawn(remark, told),
    )


def links(number: str, registered: str, text: str) -> tuple[Link, ...]:
    """Return where to read the paper (`registered` is its DOI, or ""), and the repositories that its text names."""
    code = github_repos_in(text.replace("\\_", "_")) if "github" in text.lower() else ()
    return (
        Link("abstract", f"https://arxiv.org/abs/{number}"),
        Link("pdf", f"https://arxiv.org/pdf/{number}"),
        *((Link("doi", f"https://doi.org/{registered}"),) if registered else ()),
        *(Link("code", f"https://github.com/{repo}") for repo in code[:5]),
    )


def license_name(url: str) -> str:
    """Return the SPDX identifier of a Creative Commons address, any other web address as it is, else ""."""
    url = url.strip()
    if found := _CREATIVE_COMMONS.fullmatch(url):
        return f"CC-{found[1].upper()}-{found[2]}"
    if found := _PUBLIC_DOMAIN.fullmatch(url):
        return f"CC0-{found[1]}"
    return url if re.fullmatch(r"https?://[\w./~%-]{1,200}", url) else ""


def is_withdrawn(comment: str, abstract: str) -> bool:
    """Tell whether comment or abstract says that the paper is withdrawn; arXiv has no field for it."""
    return bool(_WITHDRAWN_COMMENT.search(comment[:300]) or _WITHDRAWN_ABSTRACT.match(abstract[:300]))


def month_of(number: str) -> datetime:
    """Return the first instant of the month that an identifier was given in: 2606.01234, astro-ph/0601001."""
    digits = number.rpartition("/")[2]
    year, month = int(digits[:2]), int(digits[2:4])
    return datetime(1900 + year if year >= 91 else 2000 + year, month, 1, tzinfo=UTC)


def _outside_brackets(text: str) -> str:
    """Return the text without what stands in brackets; brackets that are never closed are left as they are."""
    kept, depth, at = [], 0, 0
    for found in re.finditer(r"[()]", text):
        if depth == 0 and found[0] == "(":
            kept.append(text[at : found.start()])
            at = found.start()
        depth = max(0, depth + (1 if found[0] == "(" else -1))
        if depth == 0:
            at = found.end()
    return "".join((*kept, text[at:]))


def names_of(text: str) -> tuple[str, ...]:
    """Split a feed's list of authors at its commas, leaving affiliations in brackets out and `Jr.` with its name."""
    names: list[str] = []
    for part in _outside_brackets(text[:MAX_AUTHOR_LIST]).split(","):
        name = part.strip().removeprefix("and ").strip()
        if names and _SUFFIX.fullmatch(name):
            names[-1] = f"{names[-1]} {name}"
        elif name:
            names.append(name)
    return tuple(names)
