"""A feed as a program reads it, and what is wrong with it: judged apart from the code that writes."""

import re
from dataclasses import dataclass
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path

import feedparser
from lxml import etree

_GRAMMAR = etree.RelaxNG(etree.parse(Path(__file__).parents[3] / "payloads" / "atom" / "atom.rng"))
_ATOM = "{http://www.w3.org/2005/Atom}"
_TAGS = {"div", "p", "strong", "span", "a"}
# What no document may have, not even as a reference: XML 1.0's Char; and what changes the direction of what is read.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_LINK = re.compile(r"https?://[\x21\x23-\x3b=?-~]+")
_NUMBERED = re.compile(r"^<div><p>(\d+) of (\d+) · ")


@dataclass(frozen=True, slots=True)
class Read:
    """An entry as a program shows it."""

    id: str
    title: str
    link: str
    html: str
    at: datetime

    @property
    def number(self) -> int:
        """Which of its digest it is, 0 of none."""
        found = _NUMBERED.match(self.html)
        return int(found[1]) if found else 0


class _Markup(HTMLParser):
    """Notes every element that is none of ours, and links that lead anywhere but to the web."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        self.wrong += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        allowed = {"href"} if tag == "a" else set()
        if tag not in _TAGS or {name for name, _ in attrs} != allowed:
            self.wrong.append(self.get_starttag_text() or tag)
        self.wrong += [str(value) for _, value in attrs if not _LINK.fullmatch(value or "")]

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}")

    handle_decl = handle_pi = unknown_decl = handle_comment  # type: ignore[assignment]


def text_of(html: str) -> str:
    return _Markup(html).text


def read(document: bytes) -> list[Read]:
    """Return what a program for feeds shows of it; raises where it does not read it whole."""
    found = feedparser.parse(document, sanitize_html=False, resolve_relative_uris=False)
    assert not found.bozo, found.get("bozo_exception")
    return [
        Read(
            each.id,
            each.title_detail.value,
            "" if each.link == each.id else each.link,  # as which it takes the identifier where there is none
            each.content[0].value,
            datetime(*each.updated_parsed[:6]),  # noqa: DTZ001 - compared with its like
        )
        for each in found.entries
    ]


def wrong_html(html: str) -> list[str]:
    """Return what of a content could do anything."""
    return [*_Markup(html).wrong, *_FORBIDDEN.findall(html)]


def wrong_atom(document: bytes) -> list[str]:
    """Return why it is no feed that may be sent: by the grammar, by its two further rules, and by what its contents are."""
    root = etree.fromstring(document)
    found = [] if _GRAMMAR.validate(root) else [str(each) for each in _GRAMMAR.error_log]
    entries = root.findall(f"{_ATOM}entry")
    found += [] if root.find(f"{_ATOM}author") is not None else ["no author"]
    found += ["neither link nor content" for each in entries if each.find(f"{_ATOM}content") is None]
    ids = [each.findtext(f"{_ATOM}id") for each in (root, *entries)]
    links = [each.get("href") for each in root.iter(f"{_ATOM}link")]
    found += [f"link: {each}" for each in links if not _LINK.fullmatch(each)]
    found += [f"twice: {each}" for each in {*ids} if ids.count(each) > 1]
    found += [f"id: {each}" for each in ids if not re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", each)]
    times = [each.text for name in ("updated", "published") for each in root.iter(f"{_ATOM}{name}")]
    found += [each for each in times if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", each)]
    found += [piece for each in root.iter() for piece in _FORBIDDEN.findall(f"{each.text}{each.attrib}")]
    return found + [piece for each in entries for piece in wrong_html(each.findtext(f"{_ATOM}content"))]
