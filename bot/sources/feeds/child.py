"""Read one feed in a process of its own: bytes on standard input, one JSON document on standard output.

Run as `python -m bot.sources.feeds.child`. The first line of its input is a JSON list of the feed's address and its content
type (not arguments, which every user of the machine can see); the feed follows. What a feed can do to its reader
(quadratic parsing, memory, a crash inside a C library) happens here, under limits that the system enforces, and ends with
this process. The feed library and the HTML library are therefore used nowhere else on feeds, and this file imports nothing
that would make starting it slow.
"""

import calendar
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from urllib.parse import urljoin

from bot.sources.markup.html import clean_text, links_of_html, text_of_html

MAX_ENTRIES = 500
MAX_TITLE, MAX_TEXT, MAX_NAME, MAX_ADDRESS = 500, 10_000, 200, 2_000  # characters
MAX_NAMES, MAX_TAGS, MAX_LINKS = 200, 30, 50

MEMORY = 512 * 2**20  # bytes of address space; an ordinary feed needs about 60 MiB
SECONDS = 5  # of processor time; 500 entries in 2 MB need 0.3

Entry = dict[str, Any]


class NotAFeed(Exception):  # noqa: N818 (it says what was found)
    """The bytes are no feed; the text says what they are."""


def limit_process() -> None:
    """Take from this process whatever it does not need, for good."""
    import resource

    limits = (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 16),
    )
    for what, most in limits:
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):  # macOS takes no limit on the address space; the other limits still hold
            continue


def read_feed(data: bytes, address: str, content_type: str) -> dict[str, Any]:
    """Return `{"title", "entries", "skipped"}`; raises NotAFeed."""
    if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return _json_feed(data, address)
    return _xml_feed(data, address, content_type)


# --- RSS and Atom --------------------------------------------------------------------------------------------------


def _xml_feed(data: bytes, address: str, content_type: str) -> dict[str, Any]:
    import feedparser

    headers = {"content-location": address} | ({"content-type": content_type} if content_type else {})
    # A stream, never the bytes themselves or text: the library would try to open those as a file or an address.
    stream = io.BytesIO(data)
    try:
        found = feedparser.parse(stream, response_headers=headers, sanitize_html=False, resolve_relative_uris=False)
    except MemoryError:
        raise
    except Exception as error:  # damaged feeds make the library fail in a dozen ways: ValueError, KeyError, UnicodeError …
        raise NotAFeed("something too damaged to be read") from error
    if not found.entries and (not found.version or (found.bozo and not found.feed)):
        raise NotAFeed("neither RSS, Atom nor JSON Feed")
    return _listed(clean_text(_text(found.feed.get("title"))), found.entries, _xml_entry, address)


def _xml_entry(entry: Mapping[str, Any], address: str) -> Entry:
    html = _longest(entry)
    return {
        "id": _text(entry.get("id"))[:MAX_ADDRESS],
        "title": _xml_text(entry.get("title_detail"), entry.get("title"))[:MAX_TITLE],
        "link": _joined(address, entry.get("link")),
        "text": text_of_html(html, MAX_TEXT),
        "links": list(links_of_html(html, MAX_LINKS)),
        "authors": _names(entry.get("authors"), entry.get("author")),
        "tags": [clean_text(_text(tag.get("term")), MAX_NAME) for tag in islice(_mappings(entry.get("tags")), MAX_TAGS)],
        "published": _moment(entry.get("published_parsed")),
        "updated": _moment(entry.get("updated_parsed")),
        "doi": (_text(entry.get("prism_doi")) or _text(entry.get("dc_identifier")))[:MAX_NAME],
        "license": (_text(entry.get("rights")) or _text(entry.get("license")))[:MAX_NAME],
        "announce": _text(entry.get("arxiv_announce_type"))[:MAX_NAME],
    }


def _xml_text(detail: object, plain: object) -> str:
    if isinstance(detail, Mapping) and "html" in _text(detail.get("type")):
        return text_of_html(_text(detail.get("value"))).replace("\n", " ")
    return clean_text(_text(plain)).replace("\n", " ")


def _longest(entry: Mapping[str, Any]) -> str:
    """A feed may give the whole post (content), its opening (summary), or both: take what says most."""
    texts = [_text(content.get("value")) for content in _mappings(entry.get("content"))]
    return max([*texts, _text(entry.get("summary"))], key=len)


def _moment(parsed: object) -> str | None:
    try:
        return datetime.fromtimestamp(calendar.timegm(parsed), UTC).isoformat()  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return None


# --- JSON Feed -----------------------------------------------------------------------------------------------------


def _json_feed(data: bytes, address: str) -> dict[str, Any]:
    """Read version 1 or 1.1 (jsonfeed.org/version/1.1)."""
    try:
        found = json.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as error:
        raise NotAFeed("JSON that is damaged") from error
    if not isinstance(found, dict) or not isinstance(found.get("items"), list):
        raise NotAFeed("JSON, but no JSON Feed")
    return _listed(clean_text(_text(found.get("title"))), found["items"], _json_entry, address)


def _json_entry(entry: Mapping[str, Any], address: str) -> Entry:
    html = _text(entry.get("content_html"))
    text = text_of_html(html, MAX_TEXT) if html else clean_text(_text(entry.get("content_text")), MAX_TEXT)
    return {
        "id": _text(entry.get("id"))[:MAX_ADDRESS],
        "title": clean_text(_text(entry.get("title")), MAX_TITLE).replace("\n", " "),
        "link": _joined(address, entry.get("url") or entry.get("external_url")),
        "text": text or clean_text(_text(entry.get("summary")), MAX_TEXT),
        "links": list(links_of_html(html, MAX_LINKS)),
        "authors": _names(entry.get("authors"), _text(_mapping(entry.get("author")).get("name"))),
        "tags": [clean_text(tag, MAX_NAME) for tag in islice(_strings(entry.get("tags")), MAX_TAGS)],
        "published": _text(entry.get("date_published"))[:MAX_NAME] or None,
        "updated": _text(entry.get("date_modified"))[:MAX_NAME] or None,
    }


# --- both ----------------------------------------------------------------------------------------------------------


def _listed(title: str, entries: Sequence[object], read: Any, address: str) -> dict[str, Any]:
    """Read the first entries; what is none of ours to read is counted, and so is what lies beyond the limit."""
    made = [read(entry, address) for entry in _mappings(entries[:MAX_ENTRIES])]
    return {"title": title[:MAX_TITLE], "entries": made, "skipped": len(entries) - len(made)}


def _names(listed: object, single: object) -> list[str]:
    names = [clean_text(_text(author.get("name")), MAX_NAME) for author in islice(_mappings(listed), MAX_NAMES)]
    return [name for name in names if name] or [name for name in [clean_text(_text(single), MAX_TEXT)] if name]


def _joined(address: str, link: object) -> str:
    try:
        return urljoin(address, _text(link).strip())[:MAX_ADDRESS] if link else ""
    except ValueError:
        return ""


def _text(value: object) -> str:
    """What is no text is none; a number stands for itself, as an identifier often is one."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    return (part for part in value if isinstance(part, Mapping)) if isinstance(value, list | tuple) else iter(())


def _strings(value: object) -> Iterator[str]:
    return (part for part in value if isinstance(part, str)) if isinstance(value, list) else iter(())


def main() -> None:
    """Read standard input, write what was found or `{"error": …}`."""
    limit_process()
    try:
        address, content_type = json.loads(sys.stdin.buffer.readline())
        answer = read_feed(sys.stdin.buffer.read(), address, content_type)
    except NotAFeed as error:
        answer = {"error": str(error)}
    except MemoryError:
        answer = {"error": "too large once unpacked"}
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
