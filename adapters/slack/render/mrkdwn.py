"""Text as Slack reads it, with everything that strangers wrote made harmless. Pure.

Three places take text. `plain_text` and `rich_text` parse nothing; `literal` makes sure of it. Slack's own markup, "mrkdwn",
stands in the `text` of a message alone, which notifications and screen readers read; `exact` and `link` are for it.
"""

import re
from typing import Any

from adapters.text import safe_url

# How every message is posted: nothing in its text becomes a link or a mention by itself, no link shows a preview.
FLAGS: dict[str, Any] = {"parse": "none", "link_names": False, "unfurl_links": False, "unfurl_media": False}

_JOINER = "\u2060"  # of no width, and no break
# What Slack takes for a mention, and what it writes for & < >: should it ever look into a text that is not to be parsed.
_LIVE = re.compile(r"<(?=[@#!])|&(?=(?:amp|lt|gt);)")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Slack has no escape for these; within a word, as in snake_case, they mean nothing and stay.
_MARKS = re.compile(r"(?<![^\W_])[*_~`]+|[*_~`]+(?![^\W_])|^[>•]")
_LIKE = str.maketrans({"*": "∗", "_": "ˍ", "~": "∼", "`": "ˋ", ">": "›"})


def literal(text: str) -> str:
    """Return the text for `plain_text` and `rich_text`: shown as it is, whether Slack decodes entities there or not."""
    return _LIVE.sub(lambda found: found[0] + _JOINER, text)


def escaped(text: str) -> str:
    """Return the text for mrkdwn without control sequences: what stands between < and > is neither link nor mention."""
    return text.translate(_ENTITIES)


def exact(text: str) -> str:
    """Return the text for mrkdwn without any formatting: its * _ ~ ` at the edges of words become signs that look alike."""
    return escaped(_MARKS.sub(lambda found: found[0].translate(_LIKE), text))


def link(url: str, label: str = "") -> str:
    """Return a link in mrkdwn, "" where nobody may be sent to the address; the label is made exact."""
    url = safe_url(url)
    if not url or set("<>|") & set(url):
        return exact(label)
    return f"<{escaped(url)}|{exact(label).replace('|', '¦')}>" if label else f"<{escaped(url)}>"
