"""Discord's components as HTML that is laid out as Discord's clients do it.

Sizes in CSS pixels are those of the desktop client: 16/22 text, 13/18 small print, headings of 24, 20 and 16, a card at most
600 wide with a bar at its side and 16 around what stands in it (12 on a phone), 8 between its components, a select of 44,
buttons of 32. Discord's own letters (gg sans) are not installed elsewhere: those in their place are 5 % wider than Arial, so
that what is drawn is rather taller than the message.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from adapters.discord.render.digests import payloads
from benchmarks.heights.drawing import Drawing
from bot.models import Digest, Layout
from tests.adapters.discord.height import estimated

Json = Mapping[str, Any]

_HEADING = re.compile(r"(#{1,3}) (.*)")
_INLINE = re.compile(
    r"\\(?P<escaped>[^\w\s])"
    r"|`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>(?:\\.|[^\\])+?)\*\*"
    r"|\*(?P<stressed>(?:\\.|[^\\*])+)\*"
    r"|\[(?P<label>(?:\\.|[^\\\]])+)\]\(<(?P<url>[^>\s]+)>\)"
    r"|<(?P<address>https?://[^>\s]+)>"
    r"|<[#@](?P<named>\d+)>"
    r"|<(?P<command>/[\w -]+):\d+>",
    re.DOTALL,
)
STYLE = """
.column { background: #fff; color: #2f3035; font: 16px/22px "DejaVu Sans Condensed", sans-serif; padding: 0 16px 8px 72px;
  display: flow-root; box-sizing: border-box }
.column.phone { padding: 0 16px 8px 68px }
.column * { box-sizing: border-box; margin: 0 }
.column .message { position: relative; margin-top: 17px; padding: 2px 0 }
.message::before { content: ""; position: absolute; left: -56px; top: 4px; width: 40px; height: 40px; border-radius: 50%;
  background: #b3261e }
.message .name { font-weight: 600; height: 22px } .message .name span { font-size: 12px; font-weight: 400; color: #6f7076 }
.column .card { max-width: 600px; margin-top: 4px; padding: 16px; border: 1px solid #e1e1e4; border-left: 4px solid #b3261e;
  border-radius: 8px; display: flex; flex-direction: column; gap: 8px; background: #fbfbfb }
.phone .card { padding: 12px }
.message p { overflow-wrap: anywhere; min-height: 22px }
.message p.small { font-size: 13px; line-height: 18px; min-height: 18px; color: #6f7076 }
.message :is(h1, h2, h3) { font-weight: 700; line-height: 1.375em; margin: 16px 0 8px; overflow-wrap: anywhere }
.message h1 { font-size: 24px } .message h2 { font-size: 20px } .message h3 { font-size: 16px }
.message .text > :first-child { margin-top: 0 } .message .text > :last-child { margin-bottom: 0 }
.message a { color: #0068e0; text-decoration: none }
.message code { font: 14px/18px "DejaVu Sans Mono"; background: #ececef; padding: 0 3px }
.message .command { background: #e6e8fb; color: #4654c0; border-radius: 3px; padding: 0 2px; font-weight: 500 }
.message hr { border: 0; border-top: 1px solid #e1e1e4; margin: 4px 0 }
.message .section { display: flex; gap: 16px; align-items: flex-start } .section > div { flex: 1; min-width: 0 }
.section .button { flex: none }
.message .row { display: flex; flex-wrap: wrap; gap: 8px }
.message .button { height: 32px; padding: 0 12px; border-radius: 8px; background: #ececef; font-size: 14px;
  line-height: 32px }
.message .danger { background: #d22d39; color: #fff }
.message .select { width: 100%; max-width: 400px; height: 44px; padding: 0 12px; border: 1px solid #d5d5d9;
  border-radius: 8px; line-height: 42px; color: #6f7076 }
.message .select::after { content: "\\25be"; float: right }
.message .gallery img { display: block; width: 100%; max-width: 550px; border-radius: 8px }
.message .file { border: 1px solid #e1e1e4; border-radius: 8px; height: 56px; padding: 16px }
"""


def message(body: Json) -> str:
    """Return a message as HTML, in Discord's light colours."""
    content = "".join(map(_component, body.get("components", ()))) or _text(str(body.get("content", "")))
    return f'<div class="message"><p class="name">Broadsheet <span>APP · 09:00</span></p>{content}</div>'


def _component(each: Json) -> str:
    inner = "".join(map(_component, each.get("components", ())))
    match each["type"]:
        case 1:
            return f'<div class="row">{inner}</div>'
        case 2:
            kind = " danger" if each["style"] == 4 else ""
            return f'<span class="button{kind}">{escape(each["label"])}{" ↗" if "url" in each else ""}</span>'
        case 3:
            return f'<span class="select">{escape(each.get("placeholder", ""))}</span>'
        case 9:
            return f'<div class="section"><div>{inner}</div>{_component(each["accessory"])}</div>'
        case 10:
            return f'<div class="text">{_text(each["content"])}</div>'
        case 12:
            return f'<div class="gallery">{"".join(map(_picture, each["items"]))}</div>'
        case 13:
            return f'<div class="file">{escape(each["file"]["url"])}</div>'
        case 14:
            return "<hr>"
        case 17:
            return f'<div class="card">{inner}</div>'
    raise ValueError(f"No component of type {each['type']} is drawn.")


def _picture(item: Json) -> str:
    """Return a picture of a gallery: a gallery of one shows it whole, at most 550 wide."""
    return f'<img src="{escape(item["media"]["url"])}" alt="{escape(item.get("description") or "")}">'


def _text(content: str) -> str:
    return "".join(_line(each) for each in content.split("\n"))


def _line(line: str) -> str:
    if found := _HEADING.fullmatch(line):
        size = len(found[1])
        return f"<h{size}>{_inline(found[2])}</h{size}>"
    return f'<p class="small">{_inline(line[3:])}</p>' if line.startswith("-# ") else f"<p>{_inline(line)}</p>"


def _inline(text: str) -> str:
    """Return a line of Discord's markdown as HTML."""
    return "".join(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    end = 0
    for found in _INLINE.finditer(text):
        yield escape(text[end : found.start()])
        kind = str(found.lastgroup)
        yield _WRITTEN[kind](found[kind] if kind != "url" else found[0])
        end = found.end()
    yield escape(text[end:])


def _link(whole: str) -> str:
    label, _, url = whole[1:-2].rpartition("](<")
    return f'<a href="{escape(url)}">{_inline(label)}</a>'


_WRITTEN: Mapping[str, Callable[[str], str]] = {
    "escaped": escape,
    "code": lambda text: f"<code>{escape(text)}</code>",
    "strong": lambda text: f"<strong>{_inline(text)}</strong>",
    "stressed": lambda text: f"<em>{_inline(text)}</em>",
    "url": _link,
    "address": lambda text: f'<a href="{escape(text)}">{escape(text)}</a>',
    "named": lambda text: f"<a>#{escape(text)}</a>",
    "command": lambda text: f'<span class="command">{escape(text)}</span>',
}


def sent(digest: Digest, layout: str) -> Sequence[Json]:
    """Return the bodies of the digest's messages; those in its thread stand last."""
    return [json.loads(each)["body"] for each in payloads(digest, layout=Layout(layout), late=False)]


def in_channel(layout: str) -> int | None:
    """Return how many messages of a digest of at most twelve entries stand in the channel; None: all."""
    return 1 if layout == "thread" else None


DISCORD = Drawing("discord", STYLE, sent, in_channel, message, lambda given: given["components"], estimated)
