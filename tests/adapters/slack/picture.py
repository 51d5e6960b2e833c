"""Block Kit as HTML that looks like Slack's desktop client, to see with one's own eyes what a message looks like. Pure.

python -m tests.adapters.slack.picture > messages.html
"""

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from adapters.slack.render import messages
from adapters.slack.render.blocks import SlackMessage
from tests.fakes.digests import EMPTY, GPU, HOSTILE
from tests.fakes.replies import FOUND, SUBSCRIBED, UGLY

Json = Mapping[str, Any]

STYLE = """
body { font: 15px/1.46668 Lato, "DejaVu Sans", sans-serif; color: #1d1c1d; width: 700px; margin: 24px; }
.message { padding: 8px 20px; border-top: 1px solid #ddd; margin-bottom: 18px }
.who { font-weight: 900 } .app { background: #e8e8e8; font-size: 10px; padding: 1px 3px; border-radius: 2px; color: #616061 }
.header { font-size: 18px; font-weight: 900; margin: 8px 0 4px }
.context { font-size: 13px; color: #616061; margin: 4px 0; white-space: pre-line }
.rich { margin: 4px 0; white-space: pre-wrap }
.quote { border-left: 4px solid #ddd; padding-left: 12px; margin: 4px 0 }
a { color: #1264a3; text-decoration: none }
code { border: 1px solid #ddd; background: #f8f8f8; color: #e01e5a; border-radius: 3px; padding: 2px 3px; font-size: 12px }
pre { border: 1px solid #ddd; background: #f8f8f8; border-radius: 4px; padding: 8px; font-size: 12px; white-space: pre-wrap }
.button { display: inline-block; border: 1px solid #bbb; border-radius: 4px; padding: 3px 10px; margin: 4px 8px 4px 0;
  font-weight: 700; font-size: 13px }
.danger { color: #e01e5a; border-color: #e01e5a }
hr { border: 0; border-top: 1px solid #ddd; margin: 10px 0 } ol { margin: 4px 0 }
.thread { margin-left: 40px }
"""


def page(messages: Iterable[SlackMessage], thread: bool = False) -> str:
    """Return an HTML document that shows the messages one below the other."""
    shown = "".join(message(each, thread=thread and number > 0) for number, each in enumerate(messages))
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style>{shown}'


def message(posting: SlackMessage, *, thread: bool = False) -> str:
    """Return one message as HTML."""
    body = "".join(map(block, posting.blocks)) or f"<div class='rich'>{html.escape(posting.text)}</div>"
    place = " thread" if thread else ""
    return f"<div class='message{place}'><span class='who'>Broadsheet</span> <span class='app'>APP</span>{body}</div>"


def block(given: Json) -> str:
    """Return one block as HTML; raises KeyError for one that is not known here."""
    return _BLOCKS[given["type"]](given)


def _header(given: Json) -> str:
    return f"<div class='header'>{_text(given['text'])}</div>"


def _context(given: Json) -> str:
    return f"<div class='context'>{' '.join(_text(each) for each in given['elements'])}</div>"


def _rich(given: Json) -> str:
    return f"<div class='rich'>{''.join(_ELEMENTS[each['type']](each) for each in given['elements'])}</div>"


def _actions(given: Json) -> str:
    return "".join(
        f"<span class='button {each.get('style', '')}'>{_text(each['text'])}</span>" for each in given["elements"]
    )


def _text(given: Json) -> str:
    return html.escape(given["text"])


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


_ELEMENTS: dict[str, Callable[[Json], str]] = {
    "rich_text_section": lambda given: f"<div>{_runs(given)}</div>",
    "rich_text_quote": lambda given: f"<div class='quote'>{_runs(given)}</div>",
    "rich_text_preformatted": lambda given: f"<pre>{_runs(given)}</pre>",
    "rich_text_list": _list,
}
_BLOCKS: dict[str, Callable[[Json], str]] = {
    "header": _header,
    "context": _context,
    "rich_text": _rich,
    "actions": _actions,
    "divider": lambda given: "<hr>",
}


def examples(today: date) -> Sequence[SlackMessage]:
    """Return what there is to see: digests in each layout, and answers."""
    shown: list[SlackMessage] = []
    for each in (GPU, EMPTY, HOSTILE):
        shown += messages.digest(each, compact=False, late=each is not GPU, layout="message")
    shown += messages.digest(GPU, compact=True, late=False, layout="message")
    shown += messages.digest(GPU, compact=False, late=False, layout="thread")
    for reply in (FOUND, SUBSCRIBED, replace(UGLY, digests=())):
        shown += messages.reply(reply, today)
    return [*shown, messages.notice("The digests of *kv* in C0123ABCD9 are paused. *resume kv* posts them again.")]


if __name__ == "__main__":
    print(page(examples(date(2026, 4, 1))))
