"""What is posted as one message, and how pieces become messages within Slack's limits. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from slack_sdk.models.blocks import Block

from adapters.slack.render.limits import TEXT, Size, size, units
from bot.models import Attachment

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Posting:
    """One message. `text` says the same as the blocks, in mrkdwn: for notifications, for screen readers, for search."""

    text: str
    blocks: tuple[Json, ...]
    keys: tuple[tuple[str, ...], ...] = ()  # of the items that it shows, those of one entry together
    keep: tuple[str, ...] = ()  # commands that are too long for a button: to be kept before it is posted
    file: Attachment | None = None  # too long to stand in it: to be handed over beside it


@dataclass(frozen=True, slots=True)
class Piece:
    """What is never parted: a heading, an entry with its buttons."""

    blocks: tuple[Json, ...]
    size: Size  # counted once: a message is filled piece by piece
    text: str = ""  # in mrkdwn
    brief: str = ""  # the same on a line, for a message whose text would be too long
    keys: tuple[tuple[str, ...], ...] = ()
    keep: tuple[str, ...] = ()


def piece(
    *blocks: Sequence[Block], text: str = "", brief: str = "", keys: tuple[str, ...] = (), keep: tuple[str, ...] = ()
) -> Piece:
    """Return blocks that stand together as a piece; raises slack_sdk's error where one is not as Slack takes it.

    `keys` are those of the one entry that it shows.
    """
    made = tuple(block.to_dict() for group in blocks for block in group)
    longest = [{**block, "block_id": f"{block['block_id']}:99"} if "block_id" in block else block for block in made]
    return Piece(made, size(longest), text=text, brief=brief or text, keys=(keys,) if keys else (), keep=keep)


def packed(
    pieces: Iterable[Piece], last: Piece | None = None, then: Piece | None = None, instead: Piece | None = None
) -> list[Posting]:
    """Return the pieces as messages, as few as their order and the limits allow.

    `last` ends every message but the last one, `then` begins every message but the first one, and `instead` is shown instead
    of the first piece, for which there is room.
    """
    end, begin = [last] if last else [], [then] if then else []
    sheets: list[list[Piece]] = [[]]
    for each in pieces:
        if sheets[-1] and not _fit([*sheets[-1], each, *end]):
            sheets[-1] += end
            sheets.append([*begin])
        sheets[-1].append(each)
    _keep_together(sheets, len(end), len(begin))
    sheets[0][:1] = [instead] if instead else sheets[0][:1]
    return [_posting(sheet) for sheet in sheets]


def _keep_together(sheets: list[list[Piece]], end: int, begin: int) -> None:
    """Move an entry to the last message where nothing but a footer or buttons would stand."""
    if len(sheets) < 2 or len(sheets[-1]) != begin + 1 or sheets[-1][-1].keys:
        return
    before, alone = sheets[-2], sheets[-1]
    at = len(before) - end - 1
    if at > 1 and _fit([*alone, before[at]]):
        alone.insert(begin, before.pop(at))


def _posting(pieces: Sequence[Piece]) -> Posting:
    return Posting(
        text=_text(pieces) or "…",
        blocks=tuple(_named(_blocks(pieces))),
        keys=tuple(keys for each in pieces for keys in each.keys),
        keep=tuple(dict.fromkeys(text for each in pieces for text in each.keep)),
    )


def _fit(pieces: Iterable[Piece]) -> bool:
    return sum((each.size for each in pieces), Size()).fits


def _blocks(pieces: Iterable[Piece]) -> list[Json]:
    return [block for each in pieces for block in each.blocks]


def _named(blocks: Iterable[Json]) -> list[Json]:
    """Number the names of blocks, which must differ within a message."""
    return [
        {**block, "block_id": f"{block['block_id']}:{number}"} if "block_id" in block else block
        for number, block in enumerate(blocks)
    ]


def _text(pieces: Sequence[Piece]) -> str:
    """Return as much as there is room for: all, else everything briefly, else the first pieces briefly."""
    whole = "\n".join(each.text for each in pieces if each.text)
    if units(whole) <= TEXT:
        return whole
    lines: list[str] = []
    room = TEXT
    for each in pieces:
        room -= units(each.brief) + 1
        if room < 2:
            return "\n".join([*lines, "…"])
        lines += [each.brief] if each.brief else []
    return "\n".join(lines)
