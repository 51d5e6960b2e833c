"""What Slack would read as more than text, or would not take, judged apart from the code that renders."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

from adapters.slack.render.blocks import SlackMessage
from adapters.slack.render.limits import BLOCKS, CHARACTERS, characters, problems
from tests.adapters.slack.mrkdwn import parsed

# docs.slack.dev/messaging/formatting-message-text: <@U…>, <#C…>, <!here>, <!subteam^…>, <!date^…>
_LIVE = re.compile(r"<[@#!][^>]*>")
_LINK = re.compile(r"<([^<>|]+)(?:\|([^<>|]+))?>")
_STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LIVELY = {"user", "usergroup", "broadcast", "channel", "markdown", "image", "date"}


def wrong(posting: SlackMessage, named: Iterable[str] = ()) -> list[str]:
    """Return what is live in a message, or what Slack would not take; channels and people that are `named` are meant."""
    found = [f"live in the text: {each}" for each in _LIVE.findall(posting.text)]
    found += [f"leads to {url!r}" for url in _addresses(posting) if not url.startswith(("https://", "http://"))]
    found += [f"{len(posting.text)} characters of text"] if not 0 < len(posting.text) <= 4000 else []
    found += [f"{len(posting.blocks)} blocks"] if len(posting.blocks) > BLOCKS else []
    found += [f"{characters(posting.blocks)} characters"] if characters(posting.blocks) > CHARACTERS else []
    meant = set(named)
    for node in nodes(posting.blocks):
        if node.get("type") in _LIVELY and not {node.get("channel_id"), node.get("user_id")} & meant:
            found.append(f"a {node['type']}")
        if node.get("type") == "mrkdwn":
            found += _marked_up(node)
    for text in [posting.text, *texts(posting.blocks)]:
        found += [f"looks live: {each}" for each in _LIVE.findall(text)]
        found += [f"steers: {each!r}" for each in _STEERING.findall(text)]
    return found + problems(posting.blocks) + unlike_the_sdk(posting.blocks)


def unlike_the_sdk(blocks: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return which blocks slack_sdk's models refuse, or would send otherwise than they are."""
    found = []
    for block in blocks:
        try:
            parsed = Block.parse(dict(block))
            if parsed is None or parsed.to_dict() != block:
                found.append(f"A {block.get('type')} block is not as slack_sdk knows it.")
        except (SlackObjectFormationError, TypeError, ValueError) as error:
            found.append(f"A {block.get('type')} block: {error}.")
    return found


def _marked_up(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is more than bold text and links in a text that Slack parses."""
    if node.get("verbatim") is not True:
        yield "mrkdwn in which Slack looks for links and mentions by itself"
    for piece in parsed(node["text"]):
        if piece.kind not in {"text", "link"} or piece.style not in {"", "bold"}:
            yield f"parsed as {piece.style or piece.kind}: {piece.text}"


def _addresses(posting: SlackMessage) -> Iterator[str]:
    yield from (url for url, _ in _LINK.findall(posting.text))
    yield from (node["url"] for node in nodes(posting.blocks) if "url" in node)
    marked = (node["text"] for node in nodes(posting.blocks) if node.get("type") == "mrkdwn")
    yield from (piece.url for text in marked for piece in parsed(text) if piece.kind == "link")


def texts(blocks: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield every text, address, label and value of a message's blocks."""
    for node in nodes(blocks):
        yield from (value for name, value in node.items() if isinstance(value, str) and name != "type")


def nodes(given: object) -> Iterator[Mapping[str, Any]]:
    """Yield every object in the blocks."""
    if isinstance(given, Mapping):
        yield given
        for value in given.values():
            yield from nodes(value)
    elif isinstance(given, list | tuple):
        for value in given:
            yield from nodes(value)


def read(posting: SlackMessage) -> str:
    """Return what a reader sees of the blocks, run together."""
    return "".join(node["text"] for node in nodes(posting.blocks) if isinstance(node.get("text"), str))
