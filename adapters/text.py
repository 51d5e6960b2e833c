"""Text as every adapter needs it: made harmless, cut to a limit, counted. Pure, and knows no platform.

What comes in was written by strangers (titles, names, feeds, models); `clean` is the first thing that happens to it.
"""

import re
import unicodedata
from collections.abc import Callable
from urllib.parse import quote, urlsplit, urlunsplit

ELLIPSIS = "…"
_MARKS_KEPT = 4  # combining marks on one letter: Vietnamese and Devanagari stay below, "zalgo" text does not
_JOINERS = "\u200c\u200d"  # Persian and emoji need them; every other invisible format character goes
_EXTENDS = re.compile("[\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
# ECMA-48 control sequences and operating system commands (title, link), 7-bit and 8-bit, whole
_ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]{0,2000}(?:\x07|\x1b\\|\x9c)")
_URL_SAFE = "/?#[]:;@!$&()*+,=%~-._"  # RFC 3986's reserved and unreserved characters, less the apostrophe
# Asked after the IDNA encoding, which lets through what is no host name
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|[0-9a-f:.]*:[0-9a-f:.]*", re.IGNORECASE)
_URL_BROKEN = re.compile(r"[\s\\<>\"'`\x00-\x20\x7f]")
# What stands in for a character that the terminal lacks.
_ASCII = dict(zip("─━═│┃┌┐└┘▾·★▲💬●×–—’…“”‘", "-==||++++v|*^#ox--'~\"\"'", strict=True))
_EMPHASIS = re.compile(r"\*(\S(?:[^*]*[^*\s])?)\*")


def clean(text: str) -> str:
    """Return the text on one line without anything that could steer a terminal or reorder what is read.

    Escape sequences, control and direction-changing characters, invisible tags and runs of more than four combining marks
    are dropped, lone surrogates become U+FFFD, and every stretch of white space becomes one space.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    kept: list[str] = []
    marks = 0
    for char in " ".join(_ESCAPES.sub(" ", text).split()):
        category = unicodedata.category(char)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks > _MARKS_KEPT or (category in {"Cc", "Cf", "Cn"} and char not in _JOINERS):
            continue
        kept.append("\ufffd" if category == "Cs" else char)
    return " ".join("".join(kept).split())


def cut(text: str, limit: int, measure: Callable[[str], int] = len) -> str:
    """Return the text if it measures at most `limit`, else its beginning up to a word's end and "…".

    `measure` counts as the platform does (characters, UTF-16 units, terminal cells) and must not shrink as text grows.
    A cut never parts a letter from its accents or an emoji from its modifiers. A limit below 1 gives "".
    """
    if measure(text) <= limit:
        return text
    room = limit - measure(ELLIPSIS)
    if room < 0:
        return ""
    end = _longest(text, room, measure)
    space = text.rfind(" ", 0, end + 1)
    if space > end // 2:  # a word's end, unless that would throw away half of it (a URL, Chinese)
        end = space
    while 0 < end < len(text) and _inside(text, end):
        end -= 1
    return text[:end].rstrip(" ,;:–—-(") + ELLIPSIS


def _longest(text: str, room: int, measure: Callable[[str], int]) -> int:
    """Find how many characters from the start measure at most `room`."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _inside(text: str, at: int) -> bool:
    return text[at - 1] == "\u200d" or bool(_EXTENDS.match(text[at])) or bool(unicodedata.combining(text[at]))


def encodable(text: str, encoding: str) -> str:
    """Return the text with each character that `encoding` lacks replaced by one that it has; the length stays."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return "".join(_nearest(char, encoding) for char in text)
    return text


def _nearest(char: str, encoding: str) -> str:
    for candidate in (char, _ASCII.get(char, ""), unicodedata.normalize("NFKD", char)[0]):
        try:
            if candidate and candidate.encode(encoding):
                return candidate
        except (UnicodeEncodeError, LookupError):
            continue
    return "?"


def emphasised(text: str) -> list[tuple[str, bool]]:
    """Split 'matches *KV cache* ×3' into stretches and whether each was between asterisks."""
    pieces = _EMPHASIS.split(text)
    return [(piece, index % 2 == 1) for index, piece in enumerate(pieces) if piece]


def thousands(number: int) -> str:
    """Return 54002 as 54,002."""
    return f"{number:,}"


def brief(number: int) -> str:
    """Return 1204 as 1,204, 74868 as 74.9k, 1250000 as 1.2M: three figures are enough for stars."""
    if number < 10_000:
        return thousands(number)
    if number < 999_500:
        return f"{number / 1000:.1f}k" if number < 99_950 else f"{number / 1000:.0f}k"
    return f"{number / 1_000_000:.1f}M"


def safe_url(url: str) -> str:
    """Return the URL in plain ASCII if a reader may be sent there, else "".

    Only http and https with a host; no user name (`https://arxiv.org@elsewhere`), no white space, quote or control
    character; a host in another script is written in its ASCII form, so that it cannot pass for another.
    """
    url = url.strip()
    if not url or len(url) > 2000 or _URL_BROKEN.search(url):  # 2000: beyond it browsers and mail programs differ
        return ""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode("ascii")
        port = f":{parts.port}" if parts.port else ""
        rest = [quote(part, safe=_URL_SAFE) for part in (parts.path, parts.query, parts.fragment)]
    except ValueError:  # UnicodeError, for half a character or a label too long, is one too
        return ""
    if parts.scheme.lower() not in {"http", "https"} or not _HOST.fullmatch(host) or "@" in parts.netloc:
        return ""
    host = f"[{host}]" if ":" in host else host
    return urlunsplit((parts.scheme.lower(), host + port, *rest))


def shown_url(url: str, limit: int = 60) -> str:
    """Return a safe URL as a reader wants to see it: without scheme, `www.` and last slash, at most `limit` long."""
    bare = re.sub(r"^https?://(www\.)?", "", safe_url(url)).rstrip("/")
    return bare if len(bare) <= limit else bare[: limit - 1] + ELLIPSIS
