"""What a workspace shows everybody, as files that any host of files serves: the pages that are served, and their feeds.

It begins at the front page and makes every page that one of them leads to: so each link of ours leads somewhere. They are
relative, and each page is a folder's index.html; names that a file or an address would not bear are hashed.
"""

import asyncio
import hashlib
import re
from collections import deque
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from adapters.pictures.shared import shared
from adapters.text import clean
from adapters.web.feeds import atom, json_feed
from adapters.web.feeds.entries import Feed, topic_entries
from adapters.web.feeds.opml import opml
from adapters.web.mail import NOWHERE
from adapters.web.site import answers, views
from adapters.web.site.addresses import CARDS, card_path, topic_path
from adapters.web.site.cards import day_card, front_card, item_card
from adapters.web.site.frame import Frame
from adapters.words import digest_name
from bot.errors import UsageError
from bot.handlers.archive.access import public_viewer
from bot.handlers.context import HandlerContext
from bot.handlers.feeds.addresses import FeedAddresses, Form
from bot.handlers.feeds.contents import digests_of_days, feed_titles, newest_days
from bot.handlers.links import LinkSigner
from bot.models import Viewer

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?")  # what every file system and host takes
_FEED = re.compile(r"/feeds/topics/(.+)\.(atom|json)")
_HASHED = 20  # characters


@dataclass(frozen=True, slots=True)
class Built:
    """What was written."""

    pages: int
    feeds: int
    pictures: int  # that stand beside links to the pages
    closed: int  # channels that were made public, and are not open to everybody any more: nothing of them is there
    gone: int  # permalinks of what is not kept any more: their pages say so


async def chosen_workspace(context: HandlerContext, asked: str) -> str:
    """Return the workspace that is asked for, of those with public channels; without, the only one. Raises UsageError."""
    public = sorted(await context.store.workspaces.public())
    if asked in public:
        return asked
    if not public or asked:
        whose = f"The workspace {clean(asked)}" if asked else "No workspace"
        raise UsageError(
            f"{whose} shows {'nothing' if asked else 'anything'} to everybody: `settings web public` does that."
        )
    if len(public) > 1:
        raise UsageError(f"Several workspaces show something to everybody; name one: --workspace {' or '.join(public)}.")
    return public[0]


async def build(
    context: HandlerContext, signer: LinkSigner, workspace: str, folder: Path, now: datetime, *, url: str = ""
) -> Built:
    """Write the public part of the workspace's archive into an empty folder.

    Where its address is known, that is with feeds, and with pictures beside links to it.

    Raises UsageError where nobody can tell now what everybody may read, and StoreError.
    """
    viewer = await public_viewer(context, signer, signer.slug(workspace))
    if viewer is None or viewer.is_partial:
        why = "Which channels everybody may read cannot be told now" if viewer else "No public channel is open to everybody"
        raise UsageError(f"{why}: nothing was written, and what was written before stays.")
    await asyncio.to_thread(views.load)
    site = _Site(context, viewer, signer, now, url.rstrip("/"))
    while site.waiting:
        path = site.waiting.popleft()
        await asyncio.to_thread(_write, folder / file_of(path), await site.made(path))
    public = (await context.store.workspaces.public()).get(workspace, ())
    return Built(site.pages, site.feeds, site.pictures, len({*public} - {*viewer.channels}), site.gone)


def _write(file: Path, body: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(body)


class _Site:
    """The pages that are made, and those that they lead to."""

    def __init__(self, context: HandlerContext, viewer: Viewer, signer: LinkSigner, now: datetime, url: str) -> None:
        self._context, self._viewer, self._signer, self._now, self._url = context, viewer, signer, now, url
        self.waiting, self._met = deque(["/"]), {"/"}
        self.pages = self.feeds = self.pictures = self.gone = 0

    async def made(self, path: str) -> bytes:
        """Return what stands at the path."""
        if path.startswith("/feeds/"):
            self.feeds += 1
            return await self._feed(path)
        if path.startswith(f"{CARDS}/"):
            self.pictures += 1
            return await self._picture(path)
        frame = Frame(
            path=path,
            place=partial(self._place, file_of(path).count("/")),
            has_feeds=bool(self._url),
            whole=self._whole if self._url else None,
        )
        self.pages += 1
        page = await self._page(path, frame)
        if page is None:
            self.gone += 1
            page = partial(views.told, frame, NOWHERE, self._now.date())
        text = await asyncio.to_thread(page)
        return text.encode("utf-8", "replace")

    def _place(self, depth: int, path: str) -> str:
        """Return where a page that lies so deep leads for the path, and remember to make that."""
        path, mark, part = path.partition("#")
        self._meet(path)
        return ("../" * depth + place_of(path) or "./") + mark + part

    def _meet(self, path: str) -> None:
        if path not in self._met:
            self._met.add(path)
            self.waiting.append(path)

    def _whole(self, path: str) -> str:
        self._meet(path)
        return self._address(path)

    async def _picture(self, path: str) -> bytes:
        match path.removeprefix(CARDS).removesuffix(".png")[1:].split("/"):
            case ["front"]:
                card = await front_card(self._context, self._viewer, self._now)
            case ["t", topic, day]:
                card = await day_card(self._context, self._viewer, unquote(topic), date.fromisoformat(day))
            case [_, *key]:
                card = await item_card(self._context, self._viewer, unquote("/".join(key)), self._now)
        made = await card.read() if card else None
        assert made is not None  # noqa: S101 - a page that is there named it
        return await asyncio.to_thread(shared, made)

    async def _page(self, path: str, frame: Frame) -> answers.Made | None:
        where, _, before = path.partition("?before=")
        of = (self._context, self._viewer, frame)
        match where[1:].split("/"):
            case [""]:
                return await answers.front_page(*of, self._now)
            case ["topics"]:
                return await answers.topics_page(*of, self._now)
            case ["t", topic]:
                return await answers.topic_page(*of, unquote(topic), date.fromisoformat(before) if before else None)
            case ["t", topic, day]:
                return await answers.day_page(*of, unquote(topic), date.fromisoformat(day))
        return await answers.item_page(*of, unquote(where.removeprefix("/p/")), self._now)

    async def _feed(self, path: str) -> bytes:
        found, viewer = _FEED.fullmatch(path), self._viewer
        if found is None:
            titles = await feed_titles(self._context, viewer)
            feeds = [(clean(title), self._address(FeedAddresses("/feeds").topic(name))) for name, title in titles.items()]
            return opml("Broadsheet", feeds)
        name, form = unquote(found[1]), Form(found[2])
        digests = await digests_of_days(self._context, viewer, name, await newest_days(self._context, viewer, name))
        entries = await asyncio.to_thread(topic_entries, digests, (viewer.workspace, name), self._signer.identifier)
        title = digest_name(digests[0].digest)
        feed = Feed(
            id=self._signer.identifier("feed", viewer.workspace, "", "topic", name),
            title=title,
            about=f"What Broadsheet posted of {title}, the newest first.",
            address=self._address(path),
            home=self._address(topic_path(name)),
            updated=max(each.at for each in entries),
            entries=entries,
            page=self._whole,
        )
        return await asyncio.to_thread(atom.atom if form is Form.ATOM else json_feed.json_feed, feed)

    def _address(self, path: str) -> str:
        return f"{self._url}/{place_of(path)}"


def place_of(path: str) -> str:
    """Return where the page at the path stands below the folder: "p/arxiv/2606.01234/", "t/kv/before-2026-04-01/".

    A folder stands for its index.html; a feed is a file.
    """
    where, _, before = path.partition("?before=")
    if where.startswith(f"{CARDS}/"):
        page = "/" if where == card_path("/") else where.removeprefix(CARDS).removesuffix(".png")
        return f"{place_of(page)}card.png"
    match where[1:].split("/"):
        case ["p", *key]:
            kind, _, name = unquote("/".join(key)).partition(":")
            return f"p/{_safe(kind)}/{_safe(*name.split('/'))}/"
        case ["t", topic, *day]:
            return "/".join(["t", _safe(unquote(topic)), *day, *([f"before-{before}"] if before else []), ""])
    if found := _FEED.fullmatch(where):
        return f"feeds/topics/{_safe(unquote(found[1]))}.{found[2]}"
    return where[1:] if where == "/" or "." in where else f"{where[1:]}/"


def file_of(path: str) -> str:
    """Return the file that holds what stands at the path."""
    place = place_of(path)
    return place if place and not place.endswith("/") else f"{place}index.html"


def _safe(*parts: str) -> str:
    """Return the parts as names of folders; those that a file or an address would not bear as one that is hashed."""
    if all(map(_NAME.fullmatch, parts)):
        return "/".join(parts)
    return hashlib.sha256("/".join(parts).encode("utf-8", "replace")).hexdigest()[:_HASHED]
