"""Slack's markup as a reader sees it: a small parser, apart from the code that writes it.

By docs.slack.dev/messaging/formatting-message-text. Where Slack does not say how it reads something, what may be live is
taken for live: a mark formats where it stands at the edge of a word, whatever the edge is, and closes on the same line;
anything between two colons that could be the name of an emoji is one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import unescape

_SEQUENCE = re.compile(r"<([^<>\n]*)>")
_ENTITY = re.compile(r"&(?:amp|lt|gt);")
_STYLES = {"*": "bold", "_": "italic", "~": "strike", "`": "code"}
_MARKED = re.compile(r"(?<![^\W_])([*_~`])(?=\S)([^\n]*?\S)\1(?![^\W_])")
_EMOJI = re.compile(r":[\w+'-]+:")
_QUOTE = re.compile(r"^(?:&gt;|>)", re.MULTILINE)
_PLACE = "\ue000"  # holds the place of a sequence while marks are looked for


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text as it is read, and what it is: "text", "link", "mention", "emoji" or "quote"."""

    kind: str
    text: str
    url: str = ""
    style: str = ""  # "bold", "italic", "strike", "code"


def parsed(source: str) -> list[Piece]:
    """Return the pieces of a text in mrkdwn, in their order; the label of a link is one piece."""
    source = source.replace(_PLACE, "?")
    sequences = iter([_sequence(found[1]) for found in _SEQUENCE.finditer(source)])
    text = _SEQUENCE.sub(_PLACE, source)
    pieces: list[Piece] = [Piece("quote", "")] if _QUOTE.search(text) else []
    end = 0
    for found in _MARKED.finditer(text):
        pieces += _plain(text[end : found.start()], sequences)
        pieces += [replace(each, style=_STYLES[found[1]]) for each in _plain(found[2], sequences)]
        end = found.end()
    return [*pieces, *_plain(text[end:], sequences)]


def _sequence(inside: str) -> Piece:
    target, _, label = inside.partition("|")
    kind = "mention" if target[:1] in {"@", "#", "!"} else "link"
    return Piece(kind, _read(label or target), unescape(target))


def _plain(text: str, sequences: Iterator[Piece]) -> Iterator[Piece]:
    """Yield text without marks: its emoji, the sequences whose places it holds, and what stands between them."""
    for stretch in re.split(f"({_PLACE})", text):
        if stretch == _PLACE:
            yield next(sequences)
            continue
        end = 0
        for found in _EMOJI.finditer(stretch):
            yield from _text(stretch[end : found.start()])
            yield Piece("emoji", found[0])
            end = found.end()
        yield from _text(stretch[end:])


def _text(text: str) -> Iterator[Piece]:
    if text:
        yield Piece("text", _read(text))


def _read(text: str) -> str:
    return _ENTITY.sub(lambda found: unescape(found[0]), text)
