"""The pictures beside links to public pages: who may read the page may see its picture, and nobody else.

One is drawn at a time. Those that were drawn lately are held, by what decides how they look: who has one already is told so
by some rows, without the digest that it tells of.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from aiohttp import web

from adapters.pictures.drawing import drawn_apart
from adapters.pictures.shared import SharedCard, shared_svg
from adapters.web.site import shared
from adapters.web.site.addresses import CARDS
from adapters.web.site.frame import PUBLIC
from adapters.web.site.visitors import Visit, Visitors
from bot import __version__
from bot.errors import ProcessFailed
from bot.handlers.archive.paper import last_posted, posted_gist
from bot.handlers.archive.reading import archived_days, digests_of_day, front, front_topics
from bot.handlers.context import HandlerContext
from bot.handlers.links import LinkSigner
from bot.models import Viewer

log = logging.getLogger(__name__)

_KEPT = "public, max-age=300"  # as long as a channel that was closed may still be shown
_LATER = {"Retry-After": "300"}
_HELD = 100  # of some 40 KB each


@dataclass(frozen=True, slots=True)
class Card:
    """What a picture is of: the texts that decide how it looks, and how what stands on it is read."""

    decides: tuple[str, ...]
    read: Callable[[], Awaitable[SharedCard | None]]  # None where it cannot be read any more; raises StoreError


async def front_card(context: HandlerContext, viewer: Viewer, now: datetime) -> Card | None:
    """Return the card of today's paper; None where nothing was posted. Raises StoreError.

    As long as the counts of its topics' last days in the same channels are the same, so are its digests.
    """
    topics = await front_topics(context, viewer, now)
    days = [repr(await archived_days(context, viewer, each.name, limit=1)) for each in topics]
    if not topics:
        return None

    async def read() -> SharedCard | None:
        digests = await front(context, viewer, now)
        return shared.of_front(digests) if digests else None

    return Card(("front", viewer.workspace, *map(repr, topics), *days, *viewer.channels), read)


async def day_card(context: HandlerContext, viewer: Viewer, name: str, day: date) -> Card | None:
    """Return the card of a topic's day; None where the viewer may know of none. Raises StoreError.

    As long as its counts in the same channels are the same, so are its digests: what was posted stays.
    """
    after = day + timedelta(days=1) if day < date.max else None
    found = await archived_days(context, viewer, name, before=after, limit=1)
    if not found or found[0].day != day:
        return None

    async def read() -> SharedCard | None:
        digests = await digests_of_day(context, viewer, name, day)
        return shared.of_day(digests) if digests else None

    return Card(("day", viewer.workspace, name, repr(found[0]), *viewer.channels), read)


async def item_card(context: HandlerContext, viewer: Viewer, key: str, now: datetime) -> Card | None:
    """Return the card of an item; None where the viewer may know of none. Raises StoreError.

    Its gist is the one that was posted, and stays with that.
    """
    found = await last_posted(context, viewer, key)
    if found is None:
        return None
    item, posting = found.item, found.posting
    bare = shared.of_item(item, posting, "", now.date())

    async def read() -> SharedCard:
        gist = await posted_gist(context, viewer, posting) if posting else ""
        return shared.of_item(item, posting, gist, now.date())

    return Card(("item", viewer.workspace, repr(bare), repr(posting)), read)


class CardPictures:
    """Answers what is asked for of pictures of pages."""

    def __init__(
        self, context: HandlerContext, signer: LinkSigner, visitors: Visitors, clock: Callable[[], datetime]
    ) -> None:
        self._context, self._signer, self._visitors, self._clock = context, signer, visitors, clock
        self._turn = asyncio.Lock()
        self._drawn: OrderedDict[str, bytes] = OrderedDict()

    def routes(self) -> list[web.RouteDef]:
        """Return what is answered, and by what; nothing where people read by sessions."""
        root = f"{PUBLIC}{{slug}}{CARDS}"
        day, item = f"{root}/t/{{topic}}/{{day:\\d{{4}}-\\d\\d-\\d\\d}}.png", f"{root}/p/{{key:.+}}.png"
        return [web.get(f"{root}/front.png", self.front), web.get(day, self.day), web.get(item, self.item)]

    async def front(self, request: web.Request) -> web.Response:
        """Return the picture of today's paper."""
        visit = await self._visit(request)
        return await self._answer(request, await front_card(self._context, visit.viewer, self._clock()))

    async def item(self, request: web.Request) -> web.Response:
        """Return the picture of an item."""
        visit = await self._visit(request)
        key = request.match_info["key"]
        return await self._answer(request, await item_card(self._context, visit.viewer, key, self._clock()))

    async def day(self, request: web.Request) -> web.Response:
        """Return the picture of a topic's digests of a day."""
        visit = await self._visit(request)
        name, said = request.match_info["topic"], request.match_info["day"]
        try:
            day = date.fromisoformat(said)
        except ValueError:
            raise web.HTTPNotFound from None
        return await self._answer(request, await day_card(self._context, visit.viewer, name, day))

    async def _visit(self, request: web.Request) -> Visit:
        visit = await self._visitors.visit(request)
        if visit.viewer.is_partial:  # what cannot be told now would seem to be gone
            raise web.HTTPServiceUnavailable(headers=_LATER)
        return visit

    async def _answer(self, request: web.Request, card: Card | None) -> web.Response:
        """Return the picture, or 304 to who has it already."""
        if card is None:
            raise web.HTTPNotFound
        tag = self._signer.identifier("card", __version__, *card.decides)
        known = request.if_none_match or ()
        if any(each.value in (tag, "*") for each in known):
            response = web.Response(status=304)
        else:
            response = web.Response(body=await self._picture(tag, card), content_type="image/png")
        response.headers["Cache-Control"] = _KEPT
        response.etag = tag
        return response

    async def _picture(self, tag: str, card: Card) -> bytes:
        async with self._turn:
            drawn = self._drawn.pop(tag, b"") or await _drawn(await card.read())
            self._drawn[tag] = drawn
            if len(self._drawn) > _HELD:
                self._drawn.popitem(last=False)
        return drawn


async def _drawn(card: SharedCard | None) -> bytes:
    """Return the picture as PNG; raises HTTPNotFound without one, HTTPServiceUnavailable where it cannot be drawn now."""
    if card is None:
        raise web.HTTPNotFound
    try:
        return await drawn_apart(await asyncio.to_thread(shared_svg, card), 1.0)
    except ProcessFailed as error:
        log.warning("The picture of a page could not be drawn: %s", error)
        raise web.HTTPServiceUnavailable(headers=_LATER) from error
