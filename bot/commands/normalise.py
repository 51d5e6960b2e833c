"""Text as chat clients and telephones send it, made plain, with the way back to where each character stood.

Slack writes `<https://…|label>`, `<@U123|name>`, `<#C123|general>` and `&amp; &lt; &gt;`; Discord `<@123>`, `<#123>` and
`</name:123>`. Clients put in non-breaking spaces, invisible signs and line breaks. Quotation marks and dashes stay as typed
here: what is written in words keeps them, and who compares looks at `plain`.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

_QUOTES = "“”„‟«»＂″"
_DASHES = "–—−‐‑－"
# One character for one character, so that positions stay.
_PLAIN = str.maketrans({**dict.fromkeys(_QUOTES, '"'), **dict.fromkeys(_DASHES, "-"), **dict.fromkeys("‘’‚‛", "'")})

JOINERS = "\u200b\u200c\u200d"  # they may stand within a word: between two Persian letters, or where a line may break
_UNSEEN = JOINERS + "\u00ad\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f"
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_OTHER = rf"\t-\r\x00-\x08\x0e-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000{_UNSEEN}"  # but a space
_ODD = re.compile(
    r"<(?P<url>(?:https?://|mailto:)[^<>|\s]+)(?:\|(?P<label>[^<>]*))?>"
    r"|<(?P<named>[@#!][^<>|\s]*)(?:\|(?P<name>[^<>]*))?>"
    r"|</(?P<slash>[\w -]+):\d+>"
    r"|&(?P<entity>amp|lt|gt);"
    r"|(?P<half>[\ud800-\udfff]+)"
    rf"|[{_OTHER}][ {_OTHER}]*| [ {_OTHER}]+"
)
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}


@dataclass(frozen=True, slots=True)
class Typed:
    """The text made plain, and where its pieces stood in what was typed."""

    text: str
    starts: tuple[int, ...]  # where each piece begins in `text`
    origins: tuple[int, ...]  # where it began in what was typed

    def origin(self, position: int) -> int:
        """Return where the character at this position stood in what was typed; within a link, where the link began."""
        piece = bisect_right(self.starts, position) - 1
        kept = piece % 2 == 0  # pieces are kept and replaced by turns
        return self.origins[piece] + (position - self.starts[piece] if kept else 0)


def clean(typed: str) -> Typed:
    """Return the text on one line: links as addresses, mentions as names, runs of blanks as one, unseen signs gone."""
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    at = length = 0
    for match in _ODD.finditer(typed):
        for piece, origin in ((typed[at : match.start()], at), (_said(match), match.start())):
            starts.append(length)
            origins.append(origin)
            pieces.append(piece)
            length += len(piece)
        at = match.end()
    starts.append(length)
    origins.append(at)
    return Typed("".join([*pieces, typed[at:]]), tuple(starts), tuple(origins))


def plain(text: str) -> str:
    """Return the text with straight quotation marks and plain dashes, character for character."""
    return text.translate(_PLAIN)


def _said(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "url" | "label":
            return _address(match["url"], match["label"] or "")
        case "named" | "name":
            return _mention(match["named"], match["name"] or "")
        case "slash":
            return f"/{match['slash']}"
        case "entity":
            return _ENTITIES[match["entity"]]
        case "half":
            return "\ufffd"  # half a character: no database or network takes it
        case _:
            return _gap(match)


def _address(url: str, label: str) -> str:
    """A bare host that the client made a link of (`Node.js`) is the word that was typed."""
    url, label = _unescaped(url), _unescaped(label)
    bare = url.partition("://")[2] or url.partition(":")[2]
    return label if label == bare and "/" not in label else url


def _mention(named: str, name: str) -> str:
    """A mention is its name, where the client tells it."""
    sign = named[0] if named[0] in "@#" else "@"
    return sign + name.lstrip("@#") if name else sign + named[1:]


def _gap(match: re.Match[str]) -> str:
    if _BLANK.search(match[0]):
        return " "
    before, after = match.string[: match.start()][-1:], match.string[match.end() : match.end() + 1]
    within = before.isalnum() and after.isalnum()
    return match[0] if within and not match[0].strip(JOINERS) else ""


def _unescaped(text: str) -> str:
    return re.sub("&(amp|lt|gt);", lambda found: _ENTITIES[found[1]], text)
