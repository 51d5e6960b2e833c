"""The XML that arXiv sends, made safe to look at."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, ParseError, XMLParser

from bot.errors import SourceChanged, SourceUnavailable

ATOM = "{http://www.w3.org/2005/Atom}"
ARXIV = "{http://arxiv.org/schemas/atom}"
DC = "{http://purl.org/dc/elements/1.1/}"
OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"

_WEB_PAGE = re.compile(rb"\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body)", re.IGNORECASE | re.DOTALL)
_DECLARATION = re.compile(rb"<!(?:doctype|entity)", re.IGNORECASE)
# What XML 1.0 forbids and authors' texts have been seen to hold: control characters, as bytes or as references.
_FORBIDDEN = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bcef]|1[0-9a-f]));", re.IGNORECASE
)
_MARK = b"\xef\xbb\xbf"
# What is searched and parsed at a time, in tenths of a millisecond: each is one call of C, in which no other thread runs.
_PIECE = 2**16
_OVERLAP = 16  # bytes; what is looked for is shorter


def root_of(body: bytes, who: str) -> Element:
    """Return the root element of the XML in `body`; `who` sent it ("arXiv's API"), for the sentence of an error.

    Raises SourceUnavailable for what may be whole next time (empty, cut off) and SourceChanged for what is no XML or has a
    document type: entities are how XML is made to explode, and arXiv's answers need none.
    """
    body = body.removeprefix(_MARK).strip()
    if not body:
        raise SourceUnavailable(f"{who} sent an empty answer")
    if _WEB_PAGE.match(body[:2000]):
        raise SourceChanged(f"{who} sent a web page instead of XML")
    if b"\x00" in body[:8] or body.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceChanged(f"{who} sent XML that is not in UTF-8")  # what hides from the look at the declaration
    if any(_DECLARATION.search(body, at, at + _PIECE + _OVERLAP) for at in range(0, len(body), _PIECE)):
        raise SourceChanged(f"{who} sent XML with a document type, which is refused")
    if not body.startswith(b"<"):
        raise SourceChanged(f"{who} sent something else than XML")
    try:
        return _parsed(body)
    except ParseError:
        return _mended(body, who)


def _parsed(body: bytes) -> Element:
    parser = XMLParser(encoding="utf-8")  # noqa: S314 (declarations of entities were refused before)
    for at in range(0, len(body), _PIECE):
        parser.feed(body[at : at + _PIECE])
    root: Element = parser.close()
    return root


def _mended(body: bytes, who: str) -> Element:
    try:
        return _parsed(b"".join(_FORBIDDEN.sub(b"", piece) for piece in _pieces(body)))
    except ParseError as error:
        if not re.search(rb"</(?:[\w-]+:)?(?:feed|rss|OAI-PMH|record)>$", body):
            raise SourceUnavailable(f"{who} sent XML that is cut off") from error
        raise SourceChanged(f"{who} sent XML that is broken ({error})") from error


def _pieces(body: bytes) -> Iterator[bytes]:
    """Yield the bytes in pieces that end in no reference, where references are of a usual length."""
    at = 0
    while at < len(body):
        end = at + _PIECE
        reference = body.rfind(b"&", end - _OVERLAP, end)
        end = reference if reference > at else end
        yield body[at:end]
        at = end


def text_of(parent: Element, path: str) -> str:
    """Return the text of the first element at `path`, stripped, "" when there is none."""
    return (parent.findtext(path) or "").strip()


def instant(text: str) -> datetime | None:
    """Return the instant of an ISO 8601 text in UTC, None for all else; a day is its first instant in UTC."""
    try:
        time = datetime.fromisoformat(text.strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
