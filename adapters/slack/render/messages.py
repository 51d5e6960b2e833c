"""Digests and answers as Slack's messages. Pure: values in, blocks and their text out.

Every message keeps to what adapters/slack/render/limits.py says, and has a text that says the same as its blocks.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any, Literal

from adapters.slack.render import digests, replies
from adapters.slack.render.blocks import long_commands, quiet
from adapters.slack.render.cards import card as card_blocks
from adapters.slack.render.cards import entry_piece
from adapters.slack.render.postings import Piece, Posting, packed, piece
from adapters.words import offers
from bot.models import Digest, Entry, Reply

__all__ = ["Layout", "Posting", "card", "digest", "long_texts", "notice", "plain", "reply"]

Layout = Literal["message", "thread"]


def digest(digest: Digest, *, compact: bool, late: bool, layout: Layout) -> list[Posting]:
    """Return a digest as the messages to post, in their order; those after the first belong in its thread.

    With the layout "thread" the first one lists the titles, and each entry is a message of its own.
    """
    if layout == "thread" and digest.entries:
        head = _packed(digest, [*digests.contents(digest), digests.footer(digest)], late=late)
        return [*head, *_alone(digest, compact=compact)]
    return _packed(digest, digests.pieces_of(digest, compact=compact), late=late)


def _packed(digest: Digest, pieces: Iterable[Piece], *, late: bool) -> list[Posting]:
    """Return the pieces under a masthead, parted alike whether it is late or not: either may be posted of each part."""
    marked, plain = digests.masthead(digest, late=True), digests.masthead(digest, late=False)
    return packed([marked, *pieces], _more(), _continued(digest), marked if late else plain)


def _alone(digest: Digest, *, compact: bool) -> Iterator[Posting]:
    for number, entry in enumerate(digest.entries, start=1):
        yield from packed([entry_piece(entry, number, digest, compact=compact, alone=True)])


def _more() -> Piece:
    return piece(quiet("Continued in the thread."))


def _continued(digest: Digest) -> Piece:
    return piece(quiet(f"{digests.name_of(digest)}, continued"))


def card(entry: Entry, today: date) -> tuple[dict[str, Any], ...]:
    """Return one entry as blocks without buttons, for the preview of a link."""
    return tuple(block.to_dict() for block in card_blocks(entry, None, today, compact=False))


def reply(reply: Reply, today: date) -> list[Posting]:
    """Return an answer as messages, nearly always one; `today` decides which dates are told with their year.

    A file of the answer stands in the last message as a code block where it is short, else it is that message's `file`.
    """
    return replies.postings_of(reply, today)


def notice(text: str) -> Posting:
    """Return a sentence of the service's as a message."""
    return replies.notice(text)


def long_texts(reply: Reply) -> tuple[str, ...]:
    """Return the commands of an answer's buttons, its entries' among them, that must be kept for the buttons to work."""
    shown = [(entry.ranked.item.key, digest.topic) for digest in reply.digests for entry in digest.entries]
    buttons = [*reply.buttons, *(button for entry in reply.entries for button in entry.buttons)]
    buttons += [button for key, topic in shown for button in offers(key, topic)]
    return tuple(dict.fromkeys(long_commands(buttons)))


def plain(posting: Posting) -> Posting:
    """Return the message without its blocks, for when Slack does not take them."""
    return Posting(text=posting.text, blocks=(), keys=posting.keys, file=posting.file)
