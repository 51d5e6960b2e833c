"""The digests of the demo as Slack and Discord would show them. Slack's library is imported only where it is asked for.

What is shown is read from what the platform would be sent.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.style import Style
from rich.text import Text

from adapters.cli.render.digest import STYLES
from adapters.cli.render.message_view import MENU, Buttons, Choice, Message, MessageView, Part, Rule, TextLines, shortened
from bot.models import Digest, Layout

Json = Mapping[str, Any]

_NAMES = {"slack": "Slack", "discord": "Discord"}


def whole_messages(digests: Sequence[Digest], platform: str, *, layout: Layout) -> Iterator[MessageView]:
    """Yield every message of the digests on "slack" or "discord"."""
    for each in digests:
        found = _messages(each, platform, layout=layout)
        for number, message in enumerate(found, start=1):
            part = f", message {number} of {len(found)}" if len(found) > 1 else ""
            yield _view(message, platform, f"{_NAMES[platform]}{part}")


def excerpts(digest: Digest, *, layout: Layout) -> Iterator[MessageView]:
    """Yield the digest in short on each platform: its first entry, and how it ends; a brief, which is short, whole."""
    others = len(digest.entries) - 1
    for platform, name in _NAMES.items():
        found = _messages(digest, platform, layout=layout)
        if others < 1:
            yield from (_view(each, platform, name) for each in found)
        elif layout is Layout.BRIEF or any(isinstance(part, Choice) for each in found for part in each.parts):
            yield from (_view(each, platform, f"The same in {name}") for each in found)
        else:
            yield _view(shortened(found, f"… {others} more"), platform, f"The same in {name}")


def sent_messages(digest: Digest, platform: str, *, layout: Layout) -> list[dict[str, Any]]:
    """Return the messages as "slack" or "discord" is given them; Slack's Block Kit Builder shows its own too."""
    if platform == "slack":
        from adapters.slack.render.messages import digest as slack_messages

        sent = slack_messages(digest, layout=layout, late=False)
        return [{"text": each.text, "blocks": list(each.blocks)} for each in sent]
    from adapters.discord.render.digests import payloads

    return [json.loads(each)["body"] for each in payloads(digest, layout=layout, late=False)]


def _messages(digest: Digest, platform: str, *, layout: Layout) -> list[Message]:
    sent = sent_messages(digest, platform, layout=layout)
    if platform == "slack":
        return [Message(tuple(_slack_parts(each["blocks"]))) for each in sent]
    return [Message(tuple(_discord_parts(each["components"]))) for each in sent]


def _view(message: Message, platform: str, caption: str) -> MessageView:
    return MessageView(message, caption, accent=platform == "discord")


# --- Slack's blocks


def _slack_parts(blocks: Iterable[Json]) -> Iterator[Part]:
    for block in blocks:
        yield from _SLACK_PARTS[block["type"]](block)


def _header(block: Json) -> Iterator[Part]:
    yield TextLines((Text(block["text"]["text"], style=STYLES["heading"]),))


def _context(block: Json) -> Iterator[Part]:
    yield TextLines(
        tuple(Text(line, style=STYLES["quiet"]) for each in block["elements"] for line in each["text"].split("\n"))
    )


def _rich(block: Json) -> Iterator[Part]:
    for element in block["elements"]:
        if element["type"] in ("rich_text_section", "rich_text_quote"):
            yield TextLines(tuple(_runs(element["elements"]).split("\n")), element["type"] == "rich_text_quote")


def _runs(runs: Sequence[Json]) -> Text:
    return Text.assemble(*((run["text"], _style(run)) for run in runs))


def _style(run: Json) -> Style:
    given = run.get("style") or {}
    return Style(bold=given.get("bold"), italic=given.get("italic"), link=run.get("url"))


# What Broadsheet writes of Slack's markup: a link with its label, an asterisk around what is bold.
_MRKDWN = re.compile(r"<(?P<url>[^<>|]*)\|(?P<label>[^<>]*)>|(?P<bold>(?:^|(?<=[^\w*]))\*|\*(?=$))")


def _section(block: Json) -> Iterator[Part]:
    lines = tuple(map(_mrkdwn, block["text"]["text"].split("\n")))
    yield TextLines(lines, menu="accessory" in block)


def _mrkdwn(line: str) -> Text:
    """Return a line of Slack's markup as it is read."""
    shown, bold, end = Text(), False, 0
    for found in _MRKDWN.finditer(line):
        shown.append(html.unescape(line[end : found.start()]), Style(bold=bold or None))
        end, bold = found.end(), bold ^ bool(found["bold"])
        if found["url"]:
            shown.append(html.unescape(found["label"]), Style(bold=bold or None, link=html.unescape(found["url"])))
    shown.append(html.unescape(line[end:]), Style(bold=bold or None))
    return shown


def _actions(block: Json) -> Iterator[Part]:
    yield Buttons(tuple(each["text"]["text"] if "text" in each else MENU for each in block["elements"]))


def _divider(block: Json) -> Iterator[Part]:
    yield Rule()


_SLACK_PARTS: Mapping[str, Callable[[Json], Iterator[Part]]] = {
    "header": _header,
    "context": _context,
    "rich_text": _rich,
    "section": _section,
    "actions": _actions,
    "divider": _divider,
}


# --- Discord's components

# The types of components, as docs.discord.com/developers/components/reference numbers them.
_ROW, _BUTTON, _SECTION, _TEXT, _RULE, _CONTAINER = 1, 2, 9, 10, 14, 17
# The markdown that Broadsheet writes: an escaped sign, a link with its label, a bare one, bold, italic.
_MARKS = re.compile(
    r"\\(?P<sign>[^\w\s])|\[(?P<label>(?:\\.|[^\]\\])*)\]\(<(?P<url>[^>]*)>\)|<(?P<bare>https?://[^>]*)>"
    r"|(?P<bold>\*\*)|(?P<italic>\*)"
)
_SIGN = re.compile(r"\\([^\w\s])")
_HEADS = {"## ": "heading", "### ": "heading", "-# ": "quiet"}
_NOTHING = "\u200b"  # stands where something would begin to be a mention


def _discord_parts(components: Iterable[Json]) -> Iterator[Part]:
    for each in components:
        if each["type"] == _CONTAINER:
            yield from _discord_parts(each["components"])
        elif each["type"] == _ROW:
            yield from _row(each["components"])
        elif each["type"] == _SECTION:
            yield from _discord_parts(each["components"])
            yield from _row([each["accessory"]])
        elif each["type"] == _TEXT:
            yield TextLines(tuple(map(_line, each["content"].split("\n"))))
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
