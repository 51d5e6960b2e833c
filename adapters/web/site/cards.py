"""The pictures beside links to public pages: who may read the page may see its picture, and nobody else.

One is drawn at a time. Those that were drawn lately are held, by what stands on them.
"""

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable
from datetime import date, datetime

from aiohttp import web

from adapters.pictures.drawing import drawn_apart
from adapters.pictures.shared import SharedCard, shared_svg
from adapters.web.site import answers
from adapters.web.site.addresses import CARDS
from adapters.web.site.frame import PUBLIC
from adapters.web.site.visitors import Visit, Visitors
from bot.errors import ProcessFailed
from bot.handlers.context import HandlerContext

log = logging.getLogger(__name__)

_KEPT = "public, max-age=300"  # as long as a channel that was closed may still be shown
_LATER = {"Retry-After": "300"}
_HELD = 100  # of some 40 KB each


class CardPictures:
    """Answers what is asked for of pictures of pages."""

    def __init__(self, context: HandlerContext, visitors: Visitors, clock: Callable[[], datetime]) -> None:
        self._context, self._visitors, self._clock = context, visitors, clock
        self._turn = asyncio.Lock()
        self._drawn: OrderedDict[str, bytes] = OrderedDict()

    def routes(self) -> list[web.RouteDef]:
        """Return what is answered, and by what; nothing where people read by sessions."""
        root = f"{PUBLIC}{{slug}}{CARDS}"
        day, item = f"{root}/t/{{topic}}/{{day:\\d{{4}}-\\d\\d-\\d\\d}}.png", f"{root}/p/{{key:.+}}.png"
        return [web.get(day, self.day), web.get(item, self.item)]

    async def item(self, request: web.Request) -> web.Response:
        """Return the picture of an item."""
        visit = await self._visit(request)
        key = request.match_info["key"]
        return await self._answer(request, await answers.item_card(self._context, visit.viewer, key, self._clock()))

    async def day(self, request: web.Request) -> web.Response:
        """Return the picture of a topic's digests of a day."""
        visit = await self._visit(request)
        name, said = request.match_info["topic"], request.match_info["day"]
        try:
            day = date.fromisoformat(said)
        except ValueError:
            raise web.HTTPNotFound from None
        return await self._answer(request, await answers.day_card(self._context, visit.viewer, name, day))

    async def _visit(self, request: web.Request) -> Visit:
        visit = await self._visitors.visit(request)
        if visit.viewer.is_partial:  # what cannot be told now would seem to be gone
            raise web.HTTPServiceUnavailable(headers=_LATER)
        return visit

    async def _answer(self, request: web.Request, card: SharedCard | None) -> web.Response:
        """Return the picture, or 304 to who has it already."""
        if card is None:
            raise web.HTTPNotFound
        tag = hashlib.sha256(repr(card).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        known = request.if_none_match or ()
        if any(each.value in (tag, "*") for each in known):
            response = web.Response(status=304)
        else:
            response = web.Response(body=await self._picture(tag, card), content_type="image/png")
        response.headers["Cache-Control"] = _KEPT
        response.etag = tag
        return response

    async def _picture(self, tag: str, card: SharedCard) -> bytes:
        async with self._turn:
            drawn = self._drawn.pop(tag, b"") or await _drawn(card)
            self._drawn[tag] = drawn
            if len(self._drawn) > _HELD:
                self._drawn.popitem(last=False)
        return drawn


async def _drawn(card: SharedCard) -> bytes:
    """Return the picture as PNG; raises HTTPServiceUnavailable where it cannot be drawn now."""
    try:
        return await drawn_apart(await asyncio.to_thread(shared_svg, card), 1.0)
    except ProcessFailed as error:
        log.warning("The picture of a page could not be drawn: %s", error)
        raise web.HTTPServiceUnavailable(headers=_LATER) from error
