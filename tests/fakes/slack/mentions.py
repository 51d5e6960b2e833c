"""Live mentions: what in a message would call somebody.

docs.slack.dev/messaging/formatting-message-text: <@U…>, <!here>, <!channel>, <!everyone> and <!subteam^…> in mrkdwn, always;
@here and its like as plain words where `link_names` or `parse: full` asks for it, and in mrkdwn that is not `verbatim`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.fakes.slack.state import Json

_MARKED = re.compile(r"<(?:@[UW][A-Z0-9]+|!here|!channel|!everyone|!subteam\^[A-Z0-9]+)(?:\|[^>]*)?>")
_BARE = re.compile(r"(?<![\w@])@(?:here|channel|everyone)\b")


@dataclass(frozen=True, slots=True)
class Mention:
    """One live mention, in a message that notifies."""

    channel: str
    ts: str
    what: str


def found(asked: Json, text: str, blocks: object) -> Iterator[str]:
    """Yield every live mention of a message that was asked for like this."""
    linked = bool(asked.get("link_names")) or asked.get("parse") == "full"
    if asked.get("mrkdwn", True):
        yield from _MARKED.findall(text)
    if linked:
        yield from _BARE.findall(text)
    yield from _in(blocks)


def _in(node: object) -> Iterator[str]:
    if isinstance(node, Mapping):
        kind = node.get("type")
        if kind in ("user", "usergroup", "broadcast"):
            yield str(kind)
        elif kind in ("mrkdwn", "markdown"):
            yield from _MARKED.findall(node["text"])
            if not node.get("verbatim"):
                yield from _BARE.findall(node["text"])
        for value in node.values():
            yield from _in(value)
    elif isinstance(node, list | tuple):
        for each in node:
            yield from _in(each)
