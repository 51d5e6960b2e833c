"""The addresses at which feeds are read: those of a person by a token, and those of what a workspace made public.

What the reader may know is asked at every reading. Whoever has no token, one that was revoked, or asks for what they may not
know gets the answer that every link gets that leads nowhere. Nothing here is logged: an address is a secret.

Whether a reader has what there is, is decided by what decides it, before anything is made: of a topic the days on which
something was posted.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

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
from bot import __version__
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
_FORMS: dict[Form, tuple[Callable[[Feed], bytes], str]] = {
    Form.ATOM: (atom.atom, atom.MEDIA_TYPE),
    Form.JSON: (json_feed.json_feed, json_feed.MEDIA_TYPE),
}
_ASK_AGAIN = "private, no-cache"  # what one person reads may be kept, and is asked for anew each time
_KEEP = "public, max-age=300"
_LATER = {"Retry-After": "300"}
_KEPT = 64  # feeds, and as many documents, of some 100 KB each
_SEEN = 1_000  # addresses of which it is known since when they show what they do

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
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


@dataclass(frozen=True, slots=True)
class _Named:
    """A feed's place, and what it is called there."""

    place: _Place
    title: str
    about: str
    address: str
    of: tuple[str, ...]  # what its identifier is made of, besides whose it is
    home: str = ""
    root: str = ""  # where the pages begin that everybody may read; "" of a person's


class _Changes:
    """Since when each address shows what it does, as far as it was asked for: what a feed says of itself is older.

    Who may read further channels, or put something back, gets another feed with the same newest entry.
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._seen: OrderedDict[str, tuple[str, datetime | None]] = OrderedDict()

    def since(self, address: str, tag: str) -> datetime | None:
        """Return since when, to the second; None where it changed within a second, which a header cannot tell."""
        known, changed = self._seen.pop(address, ("", None))
        if known != tag:
            before, changed = changed, self._clock().astimezone(UTC).replace(microsecond=0)
            changed = None if known and (before is None or changed <= before) else changed
        _keep(self._seen, address, (tag, changed), _SEEN)
        return changed


class FeedPages:
    """Answers what is asked for of feeds."""

    def __init__(
        self,
        context: HandlerContext,
        signer: LinkSigner,
        clock: Callable[[], datetime],
        *,
        by_address: RateLimit | None = None,
        by_feed: RateLimit | None = None,
    ) -> None:
        self._context, self._signer = browser_context(context), signer
        self._by_address = by_address or RateLimit(BY_ADDRESS)
        self._by_feed = by_feed or RateLimit(BY_FEED)
        # To make one beside the event loop: several at once would keep that waiting, and who asks for the same has it then.
        self._turn = asyncio.Lock()
        # By workspace, channels and topic: what was made of these days, for the last that were read.
        self._made: OrderedDict[_Whose, _Made] = OrderedDict()
        self._written: OrderedDict[str, bytes] = OrderedDict()  # by their tags
        self._changes = _Changes(clock)

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
        days = await newest_days(self._context, place.viewer, name)
        unposted = "" if days else await self._title(place, name)
        form = Form(request.match_info["form"])
        address = place.addresses.topic(name, form)
        root = "" if place.reader else f"{self._signer.base}{public_root(request.match_info['slug'])}"

        async def write() -> bytes:
            title, entries = await self._posted(place.viewer, name, days)
            title = title or unposted or await self._title(place, name)
            about = f"What Broadsheet posted of {title}, the newest first."
            home = f"{root}{topic_path(name)}" if root else ""
            return await self._document(_Named(place, title, about, address, ("topic", name), home, root), entries, form)

        decides = repr(days), unposted, *place.viewer.channels
        return await self._answer(request, place, address, _FORMS[form][1], decides, write)

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
        of = ("person", person) if own else ("channel", reader.access.reading_list)
        form = Form(request.match_info["form"])
        address = place.addresses.saved(form) if own else place.addresses.here(form)

        async def write() -> bytes:
            entries = await asyncio.to_thread(saved_entries, held, (workspace, *of), self._signer.identifier)
            title = "What you saved" if own else "Saved in your channel"
            about = "What you put aside, the latest first." if own else "How many put something aside, the latest first."
            return await self._document(_Named(place, title, about, address, of), entries, form)

        return await self._answer(request, place, address, _FORMS[form][1], tuple(map(repr, held)), write)

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
        write = partial(asyncio.to_thread, outline.opml, "Broadsheet", told)
        return await self._answer(request, place, place.addresses.everything, outline.MEDIA_TYPE, (repr(told),), write)

    async def _posted(self, viewer: Viewer, topic: str, days: Sequence[ArchivedDay]) -> tuple[str, tuple[FeedEntry, ...]]:
        """Return a topic's title and what was posted of it, "" and nothing where nothing was; made once for all readers."""
        whose = (viewer.workspace, viewer.channels, topic)
        known, title, entries = self._made.pop(whose, ((), "", ()))
        if days != known:
            digests = await digests_of_days(self._context, viewer, topic, days)
            of = (viewer.workspace, topic)
            entries = await asyncio.to_thread(topic_entries, digests, of, self._signer.identifier)
            title = digest_name(digests[0].digest) if digests else ""
        if days:
            _keep(self._made, whose, (tuple(days), title, entries), _KEPT)
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
        if reader is None:
            raise web.HTTPNotFound
        return _Place(reader.viewer, private_feeds(self._signer.base, token), reader)

    async def _public(self, slug: str, client: str) -> _Place:
        viewer = await public_viewer(self._context, self._signer, slug)
        _count(self._by_address, client, 1 if viewer else WRONG)
        if viewer is None:
            raise web.HTTPNotFound
        return _Place(viewer, public_feeds(self._signer.base, slug))

    async def _document(self, named: _Named, entries: tuple[FeedEntry, ...], form: Form) -> bytes:
        """Return the feed in that form; raises HTTPNotFound where nothing of it can be read any more."""
        place = named.place
        known = [each.at for each in entries] or ([place.reader.access.made_at] if place.reader else [])
        if not known:
            raise web.HTTPNotFound
        feed = Feed(
            id=self._signer.identifier("feed", place.viewer.workspace, place.viewer.person, *named.of),
            title=named.title,
            about=named.about,
            address=named.address,
            updated=max(known),
            entries=entries,
            home=named.home,
            page=named.root.__add__ if named.root else None,
        )
        return await asyncio.to_thread(_FORMS[form][0], feed)

    async def _answer(
        self,
        request: web.Request,
        place: _Place,
        address: str,
        media_type: str,
        decides: Sequence[str],
        write: Callable[[], Awaitable[bytes]],
    ) -> web.Response:
        """Return what is written for the address, or 304 to who has it already; `decides` are texts of all that it says.

        The tag decides where the request has one (RFC 9110, 13.2.2).
        """
        tag = self._signer.identifier("document", __version__, address, *decides)
        changed = self._changes.since(address, tag)
        if request.if_none_match is not None:
            same = any(each.value in (tag, "*") for each in request.if_none_match)
        else:
            since = request.if_modified_since
            same = since is not None and changed is not None and changed <= since
        if same:
            response = web.Response(status=304)
        else:
            async with self._turn:
                body = self._written.pop(tag, b"") or await write()
                _keep(self._written, tag, body, _KEPT)
            response = web.Response(body=body, content_type=media_type, charset="utf-8")
        response.headers["Cache-Control"] = _ASK_AGAIN if place.reader else _KEEP
        response.etag = tag
        response.last_modified = changed
        return response


def _keep(held: OrderedDict[K, V], name: K, value: V, most: int) -> None:
    held[name] = value
    held.move_to_end(name)
    if len(held) > most:
        held.popitem(last=False)


def _count(limit: RateLimit, name: str, cost: float = 1) -> None:
    if not limit.takes(name, cost):
        raise web.HTTPTooManyRequests(headers={"Retry-After": "60"})
