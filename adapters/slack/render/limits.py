"""What Slack takes, in characters and blocks, and what is wrong with a message that goes beyond it. Pure.

The limits of each block are those of docs.slack.dev/reference/block-kit as of November 2026. One is documented nowhere: all
blocks together, above about 13,200 characters, are refused as `msg_blocks_too_long` (slackapi/bolt-js#2509). What surrounds
the text counts too: 11,341 characters of text in rich_text blocks were refused (bolt-js#2867). So the blocks are counted as
they are sent.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BLOCKS = 45  # of a message; Slack takes 50
CHARACTERS = 9_000  # of everything that a reader sees or a button carries, in one message
SENT = 12_500  # of the blocks as JSON
TEXT = 3_900  # of the text beside the blocks: Slack recommends at most 4,000
HEADER = 150
CONTEXT = 2_000  # of a context element; Slack takes 3,000
LABEL = 75  # of a button
VALUE = 2_000  # of a button
ACTIONS = 25  # elements of one block
URL = 3_000
BLOCK_ID = 255
_LONGEST: Mapping[str, int] = {"header": HEADER, "section": URL, "button": LABEL}  # characters of their text
_READ = frozenset({"text", "url", "value"})
_ID = 22  # characters: Slack gives every block a name of its own

Json = Mapping[str, Any]


def units(text: str) -> int:
    """Return the length of a text as Slack may count it at most: UTF-16 units, with & < > as entities."""
    counted = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    return counted + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))  # &amp; &lt; &gt;


def characters(blocks: Sequence[Json]) -> int:
    """Return how many characters a reader sees and the buttons carry: texts, addresses, values."""
    return sum(units(text) for block in blocks for text in _texts(block))


def sent(blocks: Sequence[Json]) -> int:
    """Return the length of the blocks as they are sent, with the names that Slack adds."""
    return units(json.dumps(blocks, ensure_ascii=False, separators=(",", ":"))) + _ID * len(blocks)


@dataclass(frozen=True, slots=True)
class Size:
    """How large blocks are: how many, as `characters` and as `sent`."""

    blocks: int = 0
    characters: int = 0
    sent: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(self.blocks + other.blocks, self.characters + other.characters, self.sent + other.sent)

    @property
    def fits(self) -> bool:
        """Whether blocks of this size may stand in one message."""
        return self.blocks <= BLOCKS and self.characters <= CHARACTERS and self.sent <= SENT


def size(blocks: Sequence[Json]) -> Size:
    """Return the size of the blocks; those of two messages together are no larger than the sum of both."""
    return Size(len(blocks), characters(blocks), sent(blocks))


def fits(blocks: Sequence[Json]) -> bool:
    """Say whether the blocks may stand in one message."""
    return size(blocks).fits


def problems(blocks: Sequence[Json]) -> list[str]:
    """Return what Slack would not take, a sentence each."""
    found = [] if fits(blocks) else [f"{len(blocks)} blocks of {characters(blocks)} characters, {sent(blocks)} as sent."]
    names = [block["block_id"] for block in blocks if "block_id" in block]
    if len(set(names)) < len(names) or any(len(name) > BLOCK_ID for name in names):
        found.append("The blocks have names that are too long, or the same.")
    return [*found, *_unlike_slack(blocks)]


def _unlike_slack(node: Any) -> Iterator[str]:
    """Yield what is wrong with single parts: empty texts, long values, addresses and elements."""
    for part in _nodes(node):
        kind, text = part.get("type"), part.get("text")
        if kind in {"text", "plain_text", "mrkdwn"} and not (isinstance(text, str) and 0 < len(text) <= URL):
            yield f"A {kind} is empty or too long."
        if isinstance(text, Mapping) and len(str(text.get("text", ""))) > _LONGEST.get(str(kind), URL):
            yield f"The text of a {kind} is too long."
        if len(part.get("url", "")) > URL or len(part.get("value", "")) > VALUE:
            yield f"The address or value of a {kind} is too long."
        if kind == "link" and not part.get("url"):
            yield "A link leads nowhere."
        if str(kind).startswith("rich_text") and not part.get("elements"):
            yield f"A {kind} is empty."


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, Mapping):
        yield dict(node)
        for value in node.values():
            yield from _nodes(value)
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for value in node:
            yield from _nodes(value)


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for name, value in node.items():
            if isinstance(value, str):
                if name in _READ:
                    yield value
            else:
                yield from _texts(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _texts(value)
