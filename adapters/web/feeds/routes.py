"""The addresses at which feeds are read: those of a person by a token, and those of what a workspace made public.

What the reader may know is asked at every reading. Whoever has no token, one that was revoked, or asks for what they may not
know gets the answer that every link gets that leads nowhere. Nothing here is logged: an address is a secret.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from aiohttp import web

from adapters.rate_limit import RateLimit
from adapters.text import clean
from adapters.web.client import client_of
from adapters.web.feeds import atom, json_feed
from adapters.web.feeds import opml as outline
from adapters.web.feeds.entries import Feed, FeedEntry, saved_entries, topic_entries
from adapters.web.site.addresses import topic_path
from adapters.web.site.frame import public_root
from adapters.words import digest_name
from bot.handlers.archive.access import browser_context, public_viewer
from bot.handlers.context import HandlerContext
from bot.handlers.feeds.addresses import FeedAddresses, Form, private_feeds, public_feeds
from bot.handlers.feeds.contents import (
    FeedReader,
    access_by,
    channel_list,
    digests_of_days,
    feed_titles,
    newest_days,
    own_list,
    reader_of,
)
from bot.handlers.links import LinkSigner
from bot.models import ArchivedDay, Viewer

BY_ADDRESS = 600  # requests a minute: a program that reads for many comes from few addresses
WRONG = 20  # what a request costs that no token of ours is in: 30 a minute
BY_FEED = 120  # requests a minute by one token; what is public nobody can use up for others

_PRIVATE, _PUBLIC = "/feeds/{token:[0-9a-f]{32}}", "/w/{slug}/feeds"
_FORM = f"{{form:{'|'.join(Form)}}}"
_WRITINGS = 32  # documents of each form that are held, as readers come again and again: some 100 KB each
_WRITTEN: dict[Form, tuple[Callable[[Feed], bytes], str]] = {
    Form.ATOM: (lru_cache(_WRITINGS)(atom.atom), atom.MEDIA_TYPE),
    Form.JSON: (lru_cache(_WRITINGS)(json_feed.json_feed), json_feed.MEDIA_TYPE),
}
_ASK_AGAIN = "private, no-cache"  # what one person reads may be kept, and is asked for anew each time
_KEEP = "public, max-age=300"
_LATER = {"Retry-After": "300"}
_KEPT = 64  # feeds, of some 100 KB each

_Whose = tuple[str, tuple[str, ...], str]
_Made = tuple[tuple[ArchivedDay, ...], str, tuple[FeedEntry, ...]]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where somebody reads, and what they may know of there."""

    viewer: Viewer
    addresses: FeedAddresses
    reader: FeedReader | None = None  # None of what is public

    @property
    def only(self) -> str:
        """The one topic that it is for, "" for all."""
        return self.reader.access.topic if self.reader else ""


class FeedPages:
    """Answers what is asked for of feeds."""

    def __init__(
        self,
        context: HandlerContext,
        signer: LinkSigner,
        *,
        by_address: RateLimit | None = None,
        by_feed: RateLimit | None = None,
    ) -> None:
        self._context, self._signer = browser_context(context), signer
        self._by_address = by_address or RateLimit(BY_ADDRESS)
        self._by_feed = by_feed or RateLimit(BY_FEED)
        self._turn = asyncio.Lock()  # to make a feed beside the event loop: several at once would keep that waiting
        # By workspace, channels and topic: what was made of these days, for the last that were read.
        self._made: OrderedDict[_Whose, _Made] = OrderedDict()

    def routes(self) -> list[web.RouteDef]:
        """Return what is answered, and by what."""
        below = [
            route
            for root in (_PRIVATE, _PUBLIC)
            for route in (
                web.get(f"{root}/feeds.opml", self.everything),
                web.get(f"{root}/topics/{{topic}}.{_FORM}", self.topic),
            )
        ]
        return [*below, web.get(f"{_PRIVATE}/{{list:saved|saved-here}}.{_FORM}", self.saved)]

    async def topic(self, request: web.Request) -> web.Response:
        """Return what was posted of a topic."""
        place, name = await self._place(request), request.match_info["topic"]
        if place.only not in ("", name):
            raise web.HTTPNotFound
        title, entries = await self._posted(place.viewer, name)
        title = title or await self._title(place, name)
        about = f"What Broadsheet posted of {title}, the newest first."
        named = title, about, place.addresses.topic(name, Form(request.match_info["form"]))
        home = "" if place.reader else f"{self._signer.base}{public_root(request.match_info['slug'])}{topic_path(name)}"
        return await self._answer(request, place, named, entries, ("topic", name), home)

    async def saved(self, request: web.Request) -> web.Response:
        """Return what the person saved, or what anybody did in the channel in which they asked."""
        place, own = await self._place(request), request.match_info["list"] == "saved"
        reader = place.reader
        if reader is None or place.only:
            raise web.HTTPNotFound
        workspace, person = reader.access.workspace, reader.access.person
        held = await own_list(self._context, workspace, person) if own else await channel_list(self._context, reader)
        if held is None:
            raise web.HTTPNotFound
        of = (workspace, "person", person) if own else (workspace, "channel", reader.access.reading_list)
        async with self._turn:
            entries = await asyncio.to_thread(saved_entries, held, of, self._signer.identifier)
        title = "What you saved" if own else "Saved in your channel"
        about = "What you put aside, the latest first." if own else "How many put something aside, the latest first."
        form = Form(request.match_info["form"])
        address = place.addresses.saved(form) if own else place.addresses.here(form)
        return await self._answer(request, place, (title, about, address), entries, of[1:])

    async def everything(self, request: web.Request) -> web.Response:
        """Return the list of the feeds."""
        place = await self._place(request)
        titles = await feed_titles(self._context, place.viewer)
        if place.only:
            titles = {place.only: titles.get(place.only) or await self._title(place, place.only)}
        told = [(clean(title), place.addresses.topic(name)) for name, title in titles.items()]
        if place.reader is not None and not place.only:
            told.append(("What you saved", place.addresses.saved()))
            if await channel_list(self._context, place.reader) is not None:
                told.append(("Saved in your channel", place.addresses.here()))
        return _conditional(request, outline.opml("Broadsheet", told), outline.MEDIA_TYPE, None, private=bool(place.reader))

    async def _posted(self, viewer: Viewer, topic: str) -> tuple[str, tuple[FeedEntry, ...]]:
        """Return a topic's title and what was posted of it, "" and nothing where nothing was; made once for all readers."""
        days = await newest_days(self._context, viewer, topic)
        whose = (viewer.workspace, viewer.channels, topic)
        known, title, entries = self._made.pop(whose, ((), "", ()))
        if days != known:
            async with self._turn:
                digests = await digests_of_days(self._context, viewer, topic, days)
                of = (viewer.workspace, topic)
                entries = await asyncio.to_thread(topic_entries, digests, of, self._signer.identifier)
            title = digest_name(digests[0].digest) if digests else ""
        if days:
            self._made[whose] = (days, title, entries)
        if len(self._made) > _KEPT:
            self._made.popitem(last=False)
        return title, entries

    async def _title(self, place: _Place, name: str) -> str:
        """Return the title of a topic of which nothing was posted yet; raises HTTPNotFound, also for strangers."""
        known = await self._context.topics(place.viewer.workspace) if place.reader else {}
        if name not in known:
            raise web.HTTPNotFound
        return clean(known[name].title)

    async def _place(self, request: web.Request) -> _Place:
        """Return where the request's reader is; raises HTTPNotFound, HTTPTooManyRequests and HTTPServiceUnavailable."""
        said, client = request.match_info, client_of(request)
        place = await (self._private(said["token"], client) if "token" in said else self._public(said["slug"], client))
        if place.viewer.is_partial:  # what is missing now would seem to be gone
            raise web.HTTPServiceUnavailable(headers=_LATER)
        return place

    async def _private(self, token: str, client: str) -> _Place:
        access = await access_by(self._context, token)
        _count(self._by_address, client, 1 if access else WRONG)
        if access is None:
            raise web.HTTPNotFound
        _count(self._by_feed, access.hashed)
        reader = await reader_of(self._context, access)
        return _Place(reader.viewer, private_feeds(self._signer.base, token), reader)

    async def _public(self, slug: str, client: str) -> _Place:
        viewer = await public_viewer(self._context, self._signer, slug)
        _count(self._by_address, client, 1 if viewer else WRONG)
        if viewer is None:
            raise web.HTTPNotFound
        return _Place(viewer, public_feeds(self._signer.base, slug))

    async def _answer(
        self,
        request: web.Request,
        place: _Place,
        named: tuple[str, str, str],
        entries: tuple[FeedEntry, ...],
        of: Sequence[str],
        home: str = "",
    ) -> web.Response:
        """Return the feed in the form that is asked for; `named` is its title, what it is about, and its address."""
        title, about, address = named
        person = place.viewer.person
        known = [each.at for each in entries] + ([place.reader.access.made_at] if place.reader else [])
        if not known:
            raise web.HTTPNotFound
        feed = Feed(
            id=self._signer.identifier("feed", place.viewer.workspace, person, *of),
            title=title,
            about=about,
            address=address,
            updated=max(each.at for each in entries) if entries else known[0],
            entries=entries,
            home=home,
        )
        write, media_type = _WRITTEN[Form(request.match_info["form"])]
        async with self._turn:
            body = await asyncio.to_thread(write, feed)
        return _conditional(request, body, media_type, feed.updated, private=bool(place.reader))


def _conditional(
    request: web.Request, body: bytes, media_type: str, changed: datetime | None, *, private: bool
) -> web.Response:
    """Return the body, or 304 to who has it already (RFC 9110, 13.2.2: the tag decides where there is one)."""
    tag = hashlib.sha256(body).hexdigest()[:32]
    if request.if_none_match is not None:
        same = any(each.value in (tag, "*") for each in request.if_none_match)
    else:
        since = request.if_modified_since
        same = since is not None and changed is not None and changed.replace(microsecond=0) <= since
    response = web.Response(status=304) if same else web.Response(body=body, content_type=media_type, charset="utf-8")
    response.headers["Cache-Control"] = _ASK_AGAIN if private else _KEEP
    response.etag = tag
    response.last_modified = changed
    return response


def _count(limit: RateLimit, name: str, cost: float = 1) -> None:
    if not limit.takes(name, cost):
        raise web.HTTPTooManyRequests(headers={"Retry-After": "60"})
