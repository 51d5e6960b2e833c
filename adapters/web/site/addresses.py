"""Where each page of the archive stands, and what of it another page may lead back to. Pure."""

import re
from datetime import date
from urllib.parse import quote, urlencode

from bot.commands import Command, ListSaved, Search, Show, Similar, Trends

CARDS = "/card"  # below it stands a picture of each page that has one
_PLAIN = ("arxiv", "github")  # keys of which a slash is a part that people read
_LONGEST = 2000  # characters of an address
_OURS = re.compile(r"/(?:[A-Za-z0-9_.~!$&'()*+,;=:@%?-][A-Za-z0-9_.~!$&'()*+,;=:@%?/-]*)?")


def item_path(key: str) -> str:
    """Return the item's permalink below the root: "/p/github:owner/name"; of a link as key every slash is encoded."""
    kind, _, rest = key.partition(":")
    # A browser would take "." and ".." for a way, and many a proxy two slashes for one.
    keeps = kind in _PLAIN and all(part.strip(".") for part in rest.split("/"))
    return f"/p/{quote(key, ':/' if keeps else ':', errors='replace')}"


def topic_path(topic: str, *, before: date | None = None) -> str:
    """Return where the days of a topic are listed, those before one day where that is named."""
    return f"/t/{quote(topic, '', errors='replace')}{f'?before={before.isoformat()}' if before else ''}"


def day_path(topic: str, day: date) -> str:
    """Return where the topic's digests of a day stand."""
    return f"{topic_path(topic)}/{day.isoformat()}"


def card_path(path: str) -> str:
    """Return where the picture stands that is shown beside links to the page at that path."""
    return f"{CARDS}/front.png" if path == "/" else f"{CARDS}{path}.png"


def command_path(command: Command) -> str:
    """Return the page that shows what the command asks for, "" where there is none."""
    match command:
        case Search(query, page):
            return f"/search?{urlencode({'q': query} | ({'page': page} if page else {}), errors='replace')}"
        case ListSaved(form, page, here, channel) if not channel:
            asked = {"as": str(form)} if form else {"page": str(page)} if page > 1 else {}
            return f"/saved{'/here' if here else ''}{f'?{urlencode(asked)}' if asked else ''}"
        case Trends(topic):
            return f"/trends/{quote(topic, '', errors='replace')}" if topic else "/trends"
        case Show(item, _, bibtex, _, _):
            return f"{item_path(item)}{'?as=bibtex' if bibtex else ''}"
        case Similar(item):
            return f"{item_path(item)}#similar"
    return ""


def own_path(said: str) -> str:
    """Return what a form says it came from, where that is a page of ours; else ""."""
    return said if len(said) <= _LONGEST and _OURS.fullmatch(said) else ""
