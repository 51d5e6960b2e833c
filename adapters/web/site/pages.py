"""What is asked for of the archive, and the page that answers it.

What may be known, and what is said of it, the core tells; a page that may not be read is answered as one that is not there.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from functools import partial

from aiohttp import web

from adapters.rate_limit import RateLimit
from adapters.web.page import policy
from adapters.web.site import answers, views
from adapters.web.site.addresses import own_path
from adapters.web.site.frame import PUBLIC, can_be_given
from adapters.web.site.held import HeldPages
from adapters.web.site.visitors import Visit, Visitors
from bot.commands import Command, Format, ListSaved, Search, Trends, read
from bot.handlers.archive.paper import last_posted
from bot.handlers.context import HandlerContext
from bot.handlers.handle import answer
from bot.handlers.wording.bibliography import bibtex
from bot.models import Attachment, Reply

BY_SESSION = 240  # forms and searches a minute; who types asks at each pause

Answering = Callable[[web.Request, Visit], Awaitable[web.StreamResponse]]


class ArchivePages:
    """Answers what is asked for at the root, and below /w for what a workspace shows everybody."""

    def __init__(
        self,
        context: HandlerContext,
        visitors: Visitors,
        clock: Callable[[], datetime],
        *,
        by_session: RateLimit | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`monotonic` times for how long pages are held."""
        self._context, self._visitors, self._clock = context, visitors, clock
        self._by_session = by_session or RateLimit(BY_SESSION)
        self._pages = HeldPages(monotonic)
        self._making = asyncio.Semaphore(1)  # pages at a time: several would take the loop's turns, and be no sooner

    def routes(self) -> list[web.RouteDef]:
        """Return what is answered, and by what."""
        for_all: tuple[tuple[str, Answering], ...] = (
            ("/topics", self.topics),
            ("/t/{topic}", self.topic),
            (r"/t/{topic}/{day:\d{4}-\d\d-\d\d}", self.day),
            ("/p/{key:.+}", self.item),
        )
        for_people: tuple[tuple[str, Answering], ...] = (
            ("/search", self.search),
            ("/saved", partial(self.saved, here=False)),
            ("/saved/here", partial(self.saved, here=True)),
            ("/trends", self.trends),
            ("/trends/{topic}", self.trends),
        )
        roots = ("", f"{PUBLIC}{{slug}}")
        routes = [web.get(root + path, self._for_all(page)) for root in roots for path, page in for_all]
        routes += [web.get(path, self._for_person(page)) for path, page in for_people]
        routes += [web.get("/", self.root), web.get(f"{PUBLIC}{{slug}}/", self._for_all(self.front))]
        return [*routes, web.post("/do", self._for_person(self.do))]

    def _for_all(self, page: Answering) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def answered(request: web.Request) -> web.StreamResponse:
            return await self._held(page, request, await self._visitors.visit(request))

        return answered

    async def _held(self, page: Answering, request: web.Request, visit: Visit) -> web.StreamResponse:
        """Return a page as it was made for whoever gets the very same: a person in a session, or everybody."""
        name = (visit.viewer, visit.frame.root, visit.session, request.rel_url.raw_path_qs)
        return await self._pages.page(name, visit.of, lambda: page(request, visit))

    def _for_person(self, page: Answering) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def answered(request: web.Request) -> web.StreamResponse:
            visit = await self._visitors.visit(request)
            if visit.actor is None:
                raise web.HTTPNotFound
            if not self._by_session.takes(visit.session):
                raise web.HTTPTooManyRequests(headers={"Retry-After": "60"})
            return await (self._held(page, request, visit) if request.method == "GET" else page(request, visit))

        return answered

    async def root(self, request: web.Request) -> web.StreamResponse:
        """Return today's paper; to a stranger the one that everybody may read, or what this is and how one gets in."""
        return await self._visitors.welcome(request) or await self._for_all(self.front)(request)

    async def front(self, _: web.Request, visit: Visit) -> web.Response:
        """Return today's paper."""
        return await self._made(await answers.front_page(self._context, visit.viewer, visit.frame, self._clock()))

    async def topics(self, _: web.Request, visit: Visit) -> web.Response:
        """Return the topics of which there are digests."""
        return await self._made(await answers.topics_page(self._context, visit.viewer, visit.frame, self._clock()))

    async def topic(self, request: web.Request, visit: Visit) -> web.Response:
        """Return the days of a topic."""
        name, before = request.match_info["topic"], _date(request.query.get("before", ""))
        return await self._made(await answers.topic_page(self._context, visit.viewer, visit.frame, name, before))

    async def day(self, request: web.Request, visit: Visit) -> web.Response:
        """Return the digests of a topic's day."""
        name, day = request.match_info["topic"], _date(request.match_info["day"])
        page = await answers.day_page(self._context, visit.viewer, visit.frame, name, day) if day else None
        return await self._made(page)

    async def item(self, request: web.Request, visit: Visit) -> web.Response:
        """Return an item's card and history, or what a bibliography says of it."""
        key, form = request.match_info["key"], request.query.get("as", "")
        if form:
            return await self._bibliography(key, form, visit)
        return await self._made(await answers.item_page(self._context, visit.viewer, visit.frame, key, self._clock()))

    async def _bibliography(self, key: str, form: str, visit: Visit) -> web.Response:
        """Return the item's entry for a bibliography, to who may read its page."""
        found = await last_posted(self._context, visit.viewer, key) if form == Format.BIBTEX else None
        if found is None:
            raise web.HTTPNotFound
        return _file(Attachment("paper.bib", "application/x-bibtex", bibtex([found.item])))

    async def _made(self, page: answers.Made | None) -> web.Response:
        if page is None:
            raise web.HTTPNotFound
        return await self._html(page)

    async def search(self, request: web.Request, visit: Visit) -> web.Response:
        """Return what is found for the query of the address."""
        query, page = request.query.get("q", "").strip(), request.query.get("page", "")
        if len(query) > views.QUERY or len(page) > views.QUERY:
            raise web.HTTPBadRequest
        reply = await self._answer(Search(query, page), visit) if query else None
        response = await self._html(views.search, visit.frame, query, reply, self._clock().date())
        response.headers["Content-Security-Policy"] = policy(views.script())
        return response

    async def saved(self, request: web.Request, visit: Visit, *, here: bool) -> web.Response:
        """Return a page of what one saved, or of what was saved in the channel; or all of it as a file."""
        form, page = request.query.get("as", ""), request.query.get("page", "1")
        if form and form not in [*Format]:
            raise web.HTTPNotFound
        number = int(page) if page.isascii() and page.isdigit() and len(page) < 6 else 0
        if here and visit.actor is not None:  # the list of the channel where they asked for the link
            if not visit.actor.channel:
                raise web.HTTPNotFound
            visit = replace(visit, actor=replace(visit.actor, is_direct=False))
        reply = await self._answer(ListSaved(Format(form) if form else None, number, here), visit)
        if reply.attachment is not None:
            return _file(reply.attachment)
        return await self._html(views.told, visit.frame, reply, self._clock().date())

    async def trends(self, request: web.Request, visit: Visit) -> web.Response:
        """Return the charts of a topic, or of everything that was collected."""
        reply = await self._answer(Trends(request.match_info.get("topic", "")), visit)
        return await self._html(views.told, visit.frame, reply, self._clock().date())

    async def do(self, request: web.Request, visit: Visit) -> web.Response:
        """Do what a form says that we made for this session, and tell what became of it."""
        form = await self._visitors.form(request)
        said = self._visitors.signed(form, visit)
        command = read(said) if said else None
        if not isinstance(command, Command) or not can_be_given(command):
            raise web.HTTPForbidden
        reply = await self._answer(command, visit)
        back = own_path(form.get("back", ""))
        frame = replace(visit.frame, path=back or "/")
        return await self._html(partial(views.told, back=frame.at(back) if back else ""), frame, reply, self._clock().date())

    async def _html(self, page: Callable[..., str], *values: object) -> web.Response:
        """Return what the page makes of the values, beside the event loop: dozens of cards take some milliseconds."""
        async with self._making:
            return web.Response(text=await asyncio.to_thread(page, *values), content_type="text/html")

    async def _answer(self, command: Command, visit: Visit) -> Reply:
        assert visit.actor is not None  # noqa: S101 - only people come here
        return await answer(self._context, command, visit.actor, self._clock())


def _date(text: str) -> date | None:
    """Return the day that an address names, None for none; raises HTTPNotFound for what is no day."""
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise web.HTTPNotFound from None


def _file(attached: Attachment) -> web.Response:
    headers: Mapping[str, str] = {"Content-Disposition": f'attachment; filename="{attached.name}"'}
    return web.Response(text=attached.text, content_type=attached.media_type, headers=headers)
