"""The digests of the demo as Slack and Discord would get them. A platform's library is imported when its picture is made."""

from collections.abc import Iterator, Sequence
from typing import Any

from adapters.cli.render.message import Message, MessageView, shortened
from bot.models import Digest

_NAMES = {"slack": "Slack", "discord": "Discord"}


def whole(digests: Sequence[Digest], platform: str, *, compact: bool) -> Iterator[MessageView]:
    """Yield every message of the digests on "slack" or "discord"."""
    for each in digests:
        found = _messages(each, platform, compact=compact)
        for number, message in enumerate(found, start=1):
            part = f", message {number} of {len(found)}" if len(found) > 1 else ""
            yield _view(message, platform, f"{_NAMES[platform]}{part}")


def glimpses(digest: Digest, *, compact: bool) -> Iterator[MessageView]:
    """Yield the digest in short as each platform shows it: its first entry, and how it ends."""
    others = len(digest.entries) - 1
    for platform, name in _NAMES.items():
        found = _messages(digest, platform, compact=compact)
        if others < 1:
            yield from (_view(each, platform, name) for each in found)
            continue
        told = f"… {others} more, with the same buttons"
        yield _view(shortened(found, told), platform, f"The same in {name}")


def as_json(digests: Sequence[Digest], platform: str, *, compact: bool) -> list[list[dict[str, Any]]]:
    """Return for each digest its messages as "slack" or "discord" is given them."""
    if platform == "slack":
        from adapters.cli.render import as_slack

        return [as_slack.as_json(each, compact=compact) for each in digests]
    from adapters.cli.render import as_discord

    return [as_discord.as_json(each, compact=compact) for each in digests]


def _messages(digest: Digest, platform: str, *, compact: bool) -> list[Message]:
    if platform == "slack":
        from adapters.cli.render import as_slack

        return as_slack.messages(digest, compact=compact)
    from adapters.cli.render import as_discord

    return as_discord.messages(digest, compact=compact)


def _view(message: Message, platform: str, caption: str) -> MessageView:
    return MessageView(message, caption, accent=platform == "discord")
