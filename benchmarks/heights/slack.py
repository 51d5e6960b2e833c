"""Block Kit as HTML that is laid out as Slack's clients do it.

Sizes and margins in CSS pixels are those of the desktop client: 15/22 text, 13/18 context, sections 8 above and 4 below,
blocks at most 600 wide. A phone has the same, with narrower margins and no limit of width. The font is Lato, and where it is
not installed one of nearly the same widths.
"""

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adapters.slack.render import messages
from benchmarks.heights.drawing import Drawing
from bot.models import Digest, Layout
from tests.adapters.slack.height import height
from tests.adapters.slack.mrkdwn import Piece, parsed

Json = Mapping[str, Any]

STYLE = """
body { font: 15px/22px Lato, "DejaVu Sans Condensed", Arial, sans-serif; color: #1d1c1d; background: #fff }
.message { display: flex; padding: 8px 20px }
.phone .message { padding: 8px 16px 8px 12px }
.icon { flex: none; width: 36px; height: 36px; margin-right: 8px; border-radius: 4px; background: #4a154b }
.content { flex: 1; min-width: 0 }
.who { font-weight: 900; line-height: 22px }
.app { background: #e8e8e8; font-size: 10px; line-height: 14px; padding: 1px 3px; border-radius: 2px; color: #616061 }
.time { font-size: 12px; color: #616061; margin-left: 4px }
.blocks { max-width: 600px; overflow-wrap: anywhere }
.phone .blocks { max-width: none }
.thread { padding-left: 64px }
.header { font-size: 18px; line-height: 22px; font-weight: 900; margin: 8px 0 4px }
.context { font-size: 13px; line-height: 18px; color: #616061; margin: 4px 0; white-space: pre-wrap; display: flow-root }
.rich, .text { white-space: pre-wrap; display: flow-root }
.rich { margin: 8px 0 4px }
.section { display: flex; margin: 8px 0 4px }
.section .text { flex: 1; min-width: 0 }
.accessory { flex: none; margin: 0 0 4px 8px }
.more { width: 34px; height: 26px; line-height: 20px; border: 1px solid #bbb; border-radius: 4px; text-align: center }
.quote { border-left: 4px solid #ddd; padding-left: 12px; margin: 4px 0 }
a { color: #1264a3; text-decoration: none }
code { border: 1px solid #ddd; background: #f8f8f8; color: #e01e5a; border-radius: 3px; padding: 2px 3px; font-size: 12px }
pre { border: 1px solid #ddd; background: #f8f8f8; border-radius: 4px; padding: 8px; font-size: 12px; white-space: pre-wrap }
.actions { display: flex; flex-wrap: wrap; margin-bottom: 8px }
.actions > * { margin: 8px 8px 0 0 }
.button { border: 1px solid #bbb; border-radius: 4px; height: 26px; padding: 0 10px; font-weight: 700; font-size: 13px;
  line-height: 26px }
.phone .button { height: 34px; line-height: 34px; font-size: 15px }
.phone .actions .more { height: 34px; line-height: 28px }
.primary { color: #fff; background: #007a5a; border-color: #007a5a }
.select { font-weight: 400; color: #616061 }
.select::after { content: " ▾" }
.danger { color: #e01e5a; border-color: #e01e5a }
.divider { border-bottom: 1px solid #ddd; margin: 4px 0 8px }
img { display: block; width: 100%; max-width: 360px; border: 1px solid #ddd; border-radius: 8px; margin: 4px 0 }
ol { margin: 4px 0; padding-left: 28px }
"""


def message(given: Json) -> str:
    """Return one message as HTML: its blocks, or its text where it has none."""
    body = "".join(map(block, given["blocks"])) or f"<div class='rich'>{html.escape(given['text'])}</div>"
    who = "<span class='who'>Broadsheet</span> <span class='app'>APP</span><span class='time'>09:00</span>"
    inside = f"<div class='content'><div>{who}</div><div class='blocks'>{body}</div></div>"
    return f"<div class='message'><div class='icon'></div>{inside}</div>"


def block(given: Json) -> str:
    """Return one block as HTML; raises KeyError for one that is not known here."""
    return _BLOCKS[given["type"]](given)


def _context(given: Json) -> str:
    return f"<div class='context'>{' '.join(map(_text, given['elements']))}</div>"


def _section(given: Json) -> str:
    beside = (
        f"<div class='accessory'>{_ACTIONS[given['accessory']['type']](given['accessory'])}</div>"
        if "accessory" in given
        else ""
    )
    return f"<div class='section'><div class='text'>{_text(given['text'])}</div>{beside}</div>"


def _rich(given: Json) -> str:
    return f"<div class='rich'>{''.join(_ELEMENTS[each['type']](each) for each in given['elements'])}</div>"


def _actions(given: Json) -> str:
    return f"<div class='actions'>{''.join(_ACTIONS[each['type']](each) for each in given['elements'])}</div>"


def _button(given: Json) -> str:
    return f"<div class='button {given.get('style', '')}'>{_text(given['text'])}</div>"


def _text(given: Json) -> str:
    if given["type"] == "mrkdwn":
        return "".join(map(_piece, parsed(given["text"])))
    return html.escape(given["text"])


def _piece(piece: Piece) -> str:
    shown = html.escape(piece.text)
    if piece.kind == "link":
        shown = f"<a href='{html.escape(piece.url)}'>{shown}</a>"
    tag = {"bold": "b", "italic": "i", "strike": "s", "code": "code"}.get(piece.style, "")
    return f"<{tag}>{shown}</{tag}>" if tag else shown


def _runs(given: Json) -> str:
    return "".join(map(_run, given["elements"]))


def _run(given: Json) -> str:
    shown = html.escape(given.get("text") or given.get("channel_id") or given.get("user_id") or given.get("url", ""))
    for name, tag in (("bold", "b"), ("italic", "i"), ("code", "code")):
        if (given.get("style") or {}).get(name):
            shown = f"<{tag}>{shown}</{tag}>"
    return f"<a href='{html.escape(given['url'])}'>{shown}</a>" if given["type"] == "link" else shown


def _list(given: Json) -> str:
    items = "".join(f"<li>{_runs(each)}</li>" for each in given["elements"])
    return f"<ol start='{given.get('offset', 0) + 1}'>{items}</ol>"


_Part = Callable[[Json], str]
_ACTIONS: Mapping[str, _Part] = {
    "button": _button,
    "overflow": lambda _: "<div class='more'>…</div>",
    "external_select": lambda given: f"<div class='button select'>{_text(given['placeholder'])}</div>",
}
_ELEMENTS: Mapping[str, _Part] = {
    "rich_text_section": lambda given: f"<div>{_runs(given)}</div>",
    "rich_text_quote": lambda given: f"<div class='quote'>{_runs(given)}</div>",
    "rich_text_preformatted": lambda given: f"<pre>{_runs(given)}</pre>",
    "rich_text_list": _list,
}
_BLOCKS: Mapping[str, _Part] = {
    "header": lambda given: f"<div class='header'>{_text(given['text'])}</div>",
    "context": _context,
    "section": _section,
    "rich_text": _rich,
    "actions": _actions,
    "image": lambda given: f"<img src='{html.escape(given['image_url'])}' alt='{html.escape(given['alt_text'])}'>",
    "divider": lambda _: "<div class='divider'></div>",
}


def sent(digest: Digest, layout: str) -> Sequence[Json]:
    """Return the bodies of the digest's messages; those after the first stand in its thread."""
    made = messages.digest(digest, layout=Layout(layout), late=False)
    return [{"text": each.text, "blocks": list(each.blocks)} for each in made]


def in_channel(layout: str) -> int | None:
    """Return how many of a digest's messages stand in the channel; None: all."""
    return 1 if layout == "thread" else None


def _estimate(given: Json, width: int) -> int:
    return height(given["blocks"], width)


SLACK = Drawing("slack", STYLE, sent, in_channel, message, lambda given: given["blocks"], _estimate)
