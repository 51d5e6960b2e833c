"""The pieces of Block Kit that Broadsheet is made of, as they are sent, and their texts made harmless. Pure.

The tests hold each against slack_sdk's model of it; here that would be two thirds of the time that a digest takes.

Texts stand in `plain_text` and `rich_text`, which Slack does not parse, cleaned before they come and made `literal` here. An
empty text is left out, since Slack refuses a message that holds one. Slack's own markup, "mrkdwn", stands in two places: in
the `text` of a message, which notifications and screen readers read, and in a `section`, which alone has a menu beside it.
`exact` and `link` are for it, and nothing else makes a text for it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from adapters.slack.render.limits import CONTEXT, HEADER, LABEL, TEXT, Size, size, units
from adapters.text import clean, cut, safe_url
from bot.commands.words import without_identifiers
from bot.models import MOST_ENTRIES, Button, text_key

# How every message is posted: nothing in its text becomes a link or a mention by itself, no link shows a preview.
FLAGS: dict[str, Any] = {"parse": "none", "link_names": False, "unfurl_links": False, "unfurl_media": False}

JOINER = "\u2060"  # of no width, and no break
# What Slack takes for a mention, and what it writes for & < >: should it ever look into a text that is not to be parsed.
_LIVE = re.compile(r"<(?=[@#!])|&(?=(?:amp|lt|gt);)")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Slack has no escape for these; within a word, as in snake_case, they mean nothing and stay.
_MARKS = re.compile(r"(?<![^\W_])[*_~`]+|[*_~`]+(?![^\W_])|^[>•]")
# What Slack shows as a picture where it knows the name between the colons.
_EMOJI = re.compile(r":(?=[\w+'-]+:)")
_LIKE = str.maketrans({"*": "∗", "_": "ˍ", "~": "∼", "`": "ˋ", ">": "›"})


def literal(text: str) -> str:
    """Return the text for `plain_text` and `rich_text`: shown as it is, whether Slack decodes entities there or not."""
    return _LIVE.sub(lambda found: found[0] + JOINER, text)


def escaped(text: str) -> str:
    """Return the text for mrkdwn without control sequences: what stands between < and > is neither link nor mention."""
    return text.translate(_ENTITIES)


def exact(text: str) -> str:
    """Return the text for mrkdwn, where it formats nothing: * _ ~ ` at the edges of words become signs that look alike."""
    return escaped(_EMOJI.sub(f":{JOINER}", _MARKS.sub(lambda found: found[0].translate(_LIKE), text)))


def link(url: str, label: str = "") -> str:
    """Return a link in mrkdwn, "" where nobody may be sent to the address; the label is made exact."""
    url = safe_url(url)
    if not url or set("<>|") & set(url):
        return exact(label)
    return f"<{escaped(url)}|{exact(label).replace('|', '¦')}>" if label else f"<{escaped(url)}>"


KEPT = "k:"  # before the key of a text that is kept because it is too long for a button
_VALUE = 300  # characters: longer commands are kept, so that four of them leave room for what is to be read
_CHOICE = 145  # characters of what an entry of a menu carries: Slack takes 150, of which a mark before it needs some
MENU = "menu"  # the action of every menu
OPENED = "open:"  # begins what an entry of a menu carries that leads to an address: it asks for nothing
ASKED_FIRST = "sure:"  # begins what an entry of a menu carries that takes something away: it is asked whether to do that
_MENU_FEWEST, _MENU_MOST = 2, 5
_CONFIRM = 300
_ANSWER = 30  # characters of a button in a confirmation

Json = dict[str, Any]
Run = Json  # a stretch of text, a link, a channel, a person
Row = list[Run]


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How a stretch of text stands out."""

    bold: bool = False
    italic: bool = False
    code: bool = False

    def on(self, run: Run) -> Row:
        """Return the stretch of text with what makes it stand out."""
        given = {"bold": self.bold, "italic": self.italic, "code": self.code}
        marks = {name: True for name, holds in given.items() if holds}
        return [run | {"style": marks} if marks else run]


PLAIN, BOLD, ITALIC, CODE = TextStyle(), TextStyle(bold=True), TextStyle(italic=True), TextStyle(code=True)


def text_run(text: str, style: TextStyle = PLAIN) -> Row:
    """Return a stretch of text; nothing for an empty one."""
    return style.on({"type": "text", "text": literal(text)}) if text else []


def link_run(text: str, url: str, style: TextStyle = PLAIN) -> Row:
    """Return a link, or the text alone where there is no address."""
    if not url or not text:
        return text_run(text, style)
    return style.on({"type": "link", "url": url, "text": literal(text)})


def channel_run(identifier: str) -> Row:
    """Return a channel's own link; a reader who may not see the channel sees that it is private."""
    return [{"type": "channel", "channel_id": identifier}]


def person_run(identifier: str) -> Row:
    """Return a person's name, linked. In a message that others see too it notifies the person."""
    return [{"type": "user", "user_id": identifier}]


def rich(*elements: Json | None) -> list[Json]:
    """Return a block of rich text, nothing when there is nothing in it."""
    present = [element for element in elements if element is not None]
    return [{"type": "rich_text", "elements": present}] if present else []


def paragraph(*rows: Row) -> Json | None:
    """Return the rows as one section, each on a line of its own."""
    runs = _lines(rows)
    return {"type": "rich_text_section", "elements": runs} if runs else None


def quote(*rows: Row) -> Json | None:
    """Return the rows beside a bar, each on a line of its own."""
    runs = _lines(rows)
    return {"type": "rich_text_quote", "elements": runs} if runs else None


def numbered(rows: Iterable[Row], first: int = 1) -> Json | None:
    """Return a numbered list, from `first` on."""
    items = [{"type": "rich_text_section", "elements": row} for row in rows if row]
    begun = {"offset": first - 1} if first > 1 else {}
    return {"type": "rich_text_list", "elements": items, "style": "ordered", **begun} if items else None


def preformatted(text: str) -> Json:
    """Return the text as it is, in a type of fixed width."""
    return {"type": "rich_text_preformatted", "elements": text_run(text)}


def _lines(rows: Sequence[Row]) -> Row:
    joined: Row = []
    for row in rows:
        joined += _next_line(row) if joined else row
    return joined


def _next_line(row: Row) -> Row:
    """Break the line before the row, within its first text where it begins with one: each run costs room.

    Not within code: the frame around that would begin at the end of the line before.
    """
    if row and row[0]["type"] == "text" and not row[0].get("style", {}).get("code"):
        return [row[0] | {"text": f"\n{row[0]['text']}"}, *row[1:]]
    return [*text_run("\n"), *row] if row else []


def header(text: str) -> list[Json]:
    """Return a heading, cut to 150 characters."""
    return [{"type": "header", "text": _plain(cut(literal(text), HEADER, units), emoji=False)}] if text else []


def context_line(*lines: str) -> list[Json]:
    """Return small grey text, each line on its own; nothing where there is none."""
    text = "\n".join(line for line in lines if line)
    return [{"type": "context", "elements": [_plain(cut(literal(text), CONTEXT, units), emoji=False)]}] if text else []


def divider() -> list[Json]:
    """Return a thin line."""
    return [{"type": "divider"}]


def _plain(text: str, **more: bool) -> Json:
    return {"type": "plain_text", "text": text, **more}


@dataclass(frozen=True, slots=True)
class Menu:
    """A ⋯ with two to five entries, and the texts that must be kept for them to mean something."""

    element: Json | None = None
    keep: tuple[str, ...] = ()


def menu(choices: Sequence[Button], links: Sequence[tuple[str, str]] = ()) -> Menu:
    """Return the choices as a menu, behind them what leads elsewhere as (label, address): five at most in all.

    Slack takes no menu of fewer than two.
    """
    able = [each for each in choices if each.command][:_MENU_MOST]
    options = [_option(each.label or each.command, _choice_value(each)) for each in able]
    for number, (label, url) in enumerate(links[: _MENU_MOST - len(options)]):
        options.append(_option(label, f"{OPENED}{number}", url))
    if len(options) < _MENU_FEWEST:
        return Menu()
    return Menu({"type": "overflow", "action_id": MENU, "options": options}, tuple(long_commands(able, _CHOICE)))


def _choice_value(each: Button) -> str:
    """Return what an entry carries. A menu's own confirmation would stand before each of its entries."""
    return f"{ASKED_FIRST if each.danger else ''}{button_value(each.command, _CHOICE)}"


def _option(label: str, value: str, url: str = "") -> Json:
    shown = cut(literal(clean(label)) or "…", LABEL, units)
    return {"text": _plain(shown), "value": value} | ({"url": url} if url else {})


def section(mrkdwn: str, beside: Menu = Menu()) -> list[Json]:
    """Return a text in mrkdwn with a menu beside it, nothing for an empty one; no address in it becomes a link by itself."""
    if not mrkdwn:
        return []
    accessory = {"accessory": beside.element} if beside.element is not None else {}
    return [{"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn, "verbatim": True}, **accessory}]


@dataclass(frozen=True, slots=True)
class ButtonRow:
    """A row of buttons, and the texts that must be kept for them to mean something."""

    blocks: list[Json] = field(default_factory=list)
    keep: tuple[str, ...] = ()


def actions(kind: str, buttons: Sequence[Button], about: str = "", more: Menu = Menu()) -> ButtonRow:
    """Return the buttons as a row, `more` at its end.

    `kind` begins the block's name; `about` tells one entry's from another's by ear.
    """
    able = [button for button in buttons if button.command][:10]
    elements = [_button(number, button, about) for number, button in enumerate(able)]
    elements += [more.element] if more.element is not None else []
    if not elements:
        return ButtonRow()
    return ButtonRow([{"type": "actions", "block_id": kind, "elements": elements}], (*long_commands(able), *more.keep))


def long_commands(buttons: Iterable[Button], most: int = _VALUE) -> list[str]:
    """Return the commands of more than `most` characters, which are too long to stand in their buttons."""
    return [button.command for button in buttons if _is_long(button.command, most)]


def _is_long(command: str, most: int) -> bool:
    # What looks like a mention, or like no text at all, does not stand in a message either.
    return units(command) > most or literal(clean(command)) != command


def button_value(command: str, most: int = _VALUE) -> str:
    """Return what a button carries: the command's text, or the key under which it is kept."""
    return KEPT + text_key(command) if _is_long(command, most) else command


def _button(number: int, button: Button, about: str) -> Json:
    label = cut(literal(clean(button.label) or clean(button.command) or "…"), LABEL, units)
    more: Json = (
        {"style": "danger", "confirm": _confirm(label, button.told or without_identifiers(button.command))}
        if button.danger
        else {}
    )
    if about:
        more["accessibility_label"] = cut(f"{label}, {about}", LABEL, units)
    named = {"action_id": f"command:{number}", "value": button_value(button.command)}
    return {"type": "button", "text": _plain(label), **named, **more}


def _confirm(label: str, command: str) -> Json:
    return {
        "title": _plain(cut(f"{label}?", LABEL, units), emoji=False),
        "text": _plain(cut(f"This does: {literal(clean(command))}", _CONFIRM, units), emoji=False),
        "confirm": _plain(cut(label, _ANSWER, units), emoji=False),
        "deny": _plain("Not now", emoji=False),
        "style": "danger",
    }


@dataclass(frozen=True, slots=True)
class SlackMessage:
    """One message. `text` says the same as the blocks, in mrkdwn: for notifications, for screen readers, for search."""

    text: str
    blocks: tuple[Json, ...]
    keys: tuple[tuple[str, ...], ...] = ()  # of the items that it shows, those of one entry together
    listed: tuple[tuple[str, ...], ...] = ()  # in place of them, where messages of their own show them
    keep: tuple[str, ...] = ()  # commands that are too long for a button: to be kept before it is posted
    threaded: bool = False  # stands in the thread of the digest's first message


@dataclass(frozen=True, slots=True)
class BlockGroup:
    """What is never parted: a heading, an entry with its buttons."""

    blocks: tuple[Json, ...]
    size: Size  # counted once: a message is filled piece by piece
    text: str = ""  # in mrkdwn
    brief: str = ""  # the same on a line, for a message whose text would be too long
    keys: tuple[tuple[str, ...], ...] = ()
    keep: tuple[str, ...] = ()


def block_group(
    *blocks: Sequence[Json], text: str = "", brief: str = "", keys: tuple[str, ...] = (), keep: tuple[str, ...] = ()
) -> BlockGroup:
    """Return blocks that stand together as a piece; `keys` are those of the one entry that it shows."""
    made = tuple(block for group in blocks for block in group)
    longest = [{**block, "block_id": f"{block['block_id']}:99"} if "block_id" in block else block for block in made]
    return BlockGroup(made, size(longest), text=text, brief=brief or text, keys=(keys,) if keys else (), keep=keep)


# What ends a message after so many entries, and what begins the next one, which shows them up to another.
Seam = Callable[[int, int], tuple[BlockGroup, BlockGroup]]


def messages_of(
    pieces: Iterable[BlockGroup], seam: Seam | None = None, instead: BlockGroup | None = None, most: int = MOST_ENTRIES
) -> list[SlackMessage]:
    """Return the pieces as messages, as few as their order, the limits and `most` entries in each allow.

    The seam stands between two messages; `instead` is shown instead of the first piece, for which there is room.
    """
    end, begin = seam(MOST_ENTRIES - 1, MOST_ENTRIES) if seam else (None, None)
    room = [each for each in (end, begin) if each is not None]
    sheets: list[list[BlockGroup]] = [[]]
    for each in pieces:
        if sheets[-1] and (not _fit([*sheets[-1], each, *room]) or _entries([*sheets[-1], each]) > most):
            sheets.append([])
        sheets[-1].append(each)
    _keep_together(sheets, room)
    sheets[0][:1] = [instead] if instead else sheets[0][:1]
    if seam:
        _sew(sheets, seam)
    return [_posting(sheet) for sheet in sheets]


def _entries(pieces: Iterable[BlockGroup]) -> int:
    return sum(len(each.keys) for each in pieces)


def _keep_together(sheets: list[list[BlockGroup]], room: Sequence[BlockGroup]) -> None:
    """Move an entry to the last message where nothing but a footer or buttons would stand."""
    if len(sheets) < 2 or len(sheets[-1]) > 1 or sheets[-1][0].keys:
        return
    before, alone = sheets[-2], sheets[-1]
    if len(before) > 2 and _fit([*alone, before[-1], *room]):
        alone.insert(0, before.pop())


def _sew(sheets: list[list[BlockGroup]], seam: Seam) -> None:
    """Put the seams between the messages."""
    shown = 0
    for before, after in pairwise(sheets):
        shown += _entries(before)
        end, begin = seam(shown, shown + _entries(after))
        before.append(end)
        after.insert(0, begin)


def _posting(pieces: Sequence[BlockGroup]) -> SlackMessage:
    return SlackMessage(
        text=_text(pieces) or "…",
        blocks=tuple(_named(_blocks(pieces))),
        keys=tuple(keys for each in pieces for keys in each.keys),
        keep=tuple(dict.fromkeys(text for each in pieces for text in each.keep)),
    )


def _fit(pieces: Iterable[BlockGroup]) -> bool:
    return sum((each.size for each in pieces), Size()).fits


def _blocks(pieces: Iterable[BlockGroup]) -> list[Json]:
    return [block for each in pieces for block in each.blocks]


def _named(blocks: Iterable[Json]) -> list[Json]:
    """Number the names of blocks, which must differ within a message."""
    return [
        {**block, "block_id": f"{block['block_id']}:{number}"} if "block_id" in block else block
        for number, block in enumerate(blocks)
    ]


def _text(pieces: Sequence[BlockGroup]) -> str:
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
