"""A digest as Discord would show its messages; discord.py is not needed for it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.style import Style
from rich.text import Text

from adapters.cli.render.digest import STYLES
from adapters.cli.render.message import Buttons, Choice, Message, Part, Rule, Words
from adapters.discord.render.messages import payloads
from bot.models import Digest

Json = Mapping[str, Any]

# The types of components, as docs.discord.com/developers/components/reference numbers them.
_ROW, _BUTTON, _TEXT, _RULE, _CONTAINER = 1, 2, 10, 14, 17
# The markdown that Broadsheet writes: an escaped sign, a link with its label, a bare one, bold, italic.
_MARKS = re.compile(
    r"\\(?P<sign>[^\w\s])|\[(?P<label>(?:\\.|[^\]\\])*)\]\(<(?P<url>[^>]*)>\)|<(?P<bare>https?://[^>]*)>"
    r"|(?P<bold>\*\*)|(?P<italic>\*)"
)
_SIGN = re.compile(r"\\([^\w\s])")
_HEADS = {"## ": "heading", "### ": "heading", "-# ": "quiet"}
_NOTHING = "\u200b"  # stands where something would begin to be a mention


def as_json(made: Digest, *, compact: bool) -> list[dict[str, Any]]:
    """Return the messages as Discord is given them."""
    return [json.loads(each)["body"] for each in payloads(made, compact=compact, late=False)]


def messages(made: Digest, *, compact: bool) -> list[Message]:
    """Return the messages of the digest."""
    return [Message(tuple(_parts(each["components"]))) for each in as_json(made, compact=compact)]


def _parts(components: Iterable[Json]) -> Iterator[Part]:
    for each in components:
        if each["type"] == _CONTAINER:
            yield from _parts(each["components"])
        elif each["type"] == _ROW:
            yield from _row(each["components"])
        elif each["type"] == _TEXT:
            yield Words(tuple(map(_line, each["content"].split("\n"))))
        elif each["type"] == _RULE:
            yield Rule()


def _row(components: Iterable[Json]) -> Iterator[Part]:
    found = list(components)
    if buttons := [each["label"] for each in found if each["type"] == _BUTTON]:
        yield Buttons(tuple(buttons))
    yield from (Choice(each["placeholder"]) for each in found if each["type"] != _BUTTON)


def _line(markdown: str) -> Text:
    """Return a line of Discord's markdown as it is read."""
    head = next((each for each in _HEADS if markdown.startswith(each)), "")
    line = Text(style=STYLES[_HEADS[head]] if head else "")
    bold = italic = False
    end = len(head)
    for found in _MARKS.finditer(markdown, end):
        line.append(markdown[end : found.start()].replace(_NOTHING, ""), Style(bold=bold or None, italic=italic or None))
        end = found.end()
        bold, italic = bold ^ bool(found["bold"]), italic ^ bool(found["italic"])
        if not (found["bold"] or found["italic"]):
            line.append(*_read(found))
    line.append(markdown[end:].replace(_NOTHING, ""), Style(bold=bold or None, italic=italic or None))
    return line


def _read(found: re.Match[str]) -> tuple[str, Style]:
    """Return what a link or an escaped sign is read as."""
    if found["sign"]:
        return found["sign"], Style()
    if found["bare"]:
        return found["bare"], Style(link=found["bare"])
    return _SIGN.sub(r"\1", found["label"]).replace(_NOTHING, ""), Style(link=found["url"])
