"""Links that people post: which of them name an item, and what is known of it."""

import html
import re
from datetime import datetime

from bot import keys
from bot.handlers.context import HandlerContext
from bot.models import Item, Summary

_READ = 40_000  # characters of a message: Slack takes no more, Discord 4,000
_ADDRESS = re.compile(r"(?i)\bhttps?://[^\s<>|\"“”]+")
_AFTER = ".,;:!?*_~`'’"  # what ends a sentence or stresses a word, not an address
_BRACKETS = {")": "(", "]": "["}
_NAMED = ("arxiv", "github", "doi")


def links_in(text: str) -> tuple[str, ...]:
    """Return the addresses in a message's text that name a paper or lie in a repository, the first first, each item once.

    Slack's <address|label> and Discord's [label](address) are understood.
    """
    named: dict[str, str] = {}
    for found in _ADDRESS.finditer(text[:_READ]):
        address = _trimmed(html.unescape(found[0]))
        if key := _item_of(address):
            named.setdefault(key, address)
    return tuple(named.values())


def _trimmed(address: str) -> str:
    """Without the signs behind it, and without a bracket that was opened before it."""
    while address:
        last = address[-1]
        opened = _BRACKETS.get(last)
        if last not in _AFTER and (opened is None or address.count(opened) >= address.count(last)):
            break
        address = address[:-1]
    return address


def _item_of(address: str) -> str:
    """Return what the address names, "" for nothing: a page within a repository names the repository."""
    key = keys.key_of_url(address)
    if key.partition(":")[0] in _NAMED:
        return key
    repository = keys.github_repo(address)
    return f"github:{repository}" if repository else ""


async def linked(context: HandlerContext, url: str, now: datetime) -> tuple[Item, Summary] | None:
    """Return what is known behind a link to a paper or to a repository's front page; None when nothing is.

    Nothing is asked of the network for it, and no private repository is ever stored. Raises StoreError.
    """
    key = keys.key_of_url(url)
    if key.partition(":")[0] not in _NAMED:
        return None
    item = (await context.store.find([key])).get(key)
    return None if item is None else (item, await context.previewer.summary(item, now))
