"""Who reads a page: a person by the session that a link from the chat made, or a stranger what a workspace shows everybody.

The session is a cookie that is signed; what its person may know of, the platform is asked. Whatever may not be read here is
answered like what is not there.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Literal, TypedDict
from urllib.parse import urlsplit

from aiohttp import web

from adapters.rate_limit import RateLimit
from adapters.web.client import client_of
from adapters.web.forms import read_form
from adapters.web.page import FIELD, page
from adapters.web.site.frame import Frame, public_root
from bot.handlers.archive.access import public_viewer, public_workspaces
from bot.handlers.archive.reading import viewer_of
from bot.handlers.archive.sessions import end_session, has_left, open_session, reader, was_ended
from bot.handlers.context import HandlerContext
from bot.handlers.links import SESSION_HOLDS, LinkSigner, SignedSession
from bot.models import Actor, Button, Reply, Viewer

BY_ADDRESS = 600  # pages a minute: an office behind one address
WRONG = 20  # what a link costs that we never made
SEEN_HELD = 5.0  # seconds for which it holds what a session's person may know of, where nothing is written meanwhile

_SESSIONS = 1_000  # of which that is held
_LEAVE = "leave"
_OPEN = Reply(
    title="Open the archive?",
    text=(
        "It shows what Broadsheet posted where you can read it, and what you saved, in this browser for 12 hours.",
        "The link works once; *web* in the chat gives another one.",
    ),
    buttons=(Button("Open", "open"),),
)
_OPEN_NOTE = "Whoever presses the button reads as the one who asked for the link."
LEFT = Reply(
    title="You have left", text=("This browser shows nothing more of it. In the chat, *web* gives a link to come back by.",)
)
WELCOME = Reply(
    title="Broadsheet",
    text=(
        "A team's daily paper of research papers and repositories, posted where the team talks.",
        "To read what was posted there, type *web* in the chat: the link that it gives opens the archive in this browser.",
    ),
)


@dataclass(frozen=True, slots=True)
class Visit:
    """Who asks for a page, what they may know of, and what stands around the page."""

    viewer: Viewer
    frame: Frame
    actor: Actor | None = None  # None of a stranger
    session: str = ""  # as the browser keeps it; "" of a stranger
    of: int = 0  # the version of the store that a page for them shows; 0: what everybody gets may be older


class Visitors:
    """Tells who asks, and makes and ends sessions."""

    def __init__(
        self,
        context: HandlerContext,
        signer: LinkSigner,
        clock: Callable[[], datetime],
        *,
        slowest: float,
        by_address: RateLimit | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`slowest` is the time in seconds for a form to come in; `monotonic` times for how long something holds."""
        self._context, self._signer, self._clock, self._slowest = context, signer, clock, slowest
        self._by_address = by_address or RateLimit(BY_ADDRESS)
        self._opening = asyncio.Lock()
        self._monotonic = monotonic
        self._seen: OrderedDict[str, tuple[float, int, Viewer]] = OrderedDict()  # by session: until when, of which version

    def routes(self) -> list[web.RouteDef]:
        """Return what is answered, and by what."""
        path = "/open/{token}"
        return [web.get(path, self.ask_to_open), web.post(path, self.open), web.post("/leave", self.leave)]

    async def visit(self, request: web.Request) -> Visit:
        """Return who asks for the page, and as whom; raises HTTPNotFound where that is nobody, and HTTPTooManyRequests."""
        self._count(client_of(request))
        slug = request.match_info.get("slug")
        if slug is not None:
            return await self._stranger(request, slug)
        session = self._session(request)
        if session is None:
            raise web.HTTPNotFound
        return await self._person(request, session)

    async def welcome(self, request: web.Request) -> web.Response | None:
        """Return what is told at the root where there is no session, None where there is one.

        Where one workspace alone shows something to everybody, that leads there; several are not named to anybody.
        """
        if self._session(request) is not None:
            return None
        self._count(client_of(request))
        public = await public_workspaces(self._context, self._signer)
        if len(public) == 1:
            return web.Response(status=302, headers={"Location": f"{self._base}{public_root(public[0])}/"})
        return self._told(WELCOME, "")

    async def _stranger(self, request: web.Request, slug: str) -> Visit:
        viewer = await public_viewer(self._context, self._signer, slug)
        if viewer is None:
            raise web.HTTPNotFound
        root = public_root(slug)
        whole = f"{self._signer.base}{root}".__add__
        path = _path(request).removeprefix(root) or "/"
        frame = Frame(self._base + root, path, is_partial=viewer.is_partial, whole=whole)
        return Visit(viewer, frame)

    async def _person(self, request: web.Request, session: SignedSession) -> Visit:
        said, actor = request.cookies[self._cookie], reader(session)
        of = await self._context.store.facts.version()
        until, known_of, viewer = self._seen.pop(said, (0.0, 0, None))
        if viewer is None or known_of != of or until <= self._monotonic():
            until, viewer = self._monotonic() + SEEN_HELD, await self._viewer(actor, said)
        self._seen[said] = (until, of, viewer)
        if len(self._seen) > _SESSIONS:
            self._seen.popitem(last=False)
        sign, here = partial(self._sign, said), bool(viewer.channel)
        frame = Frame(self._base, _path(request), sign=sign, is_partial=viewer.is_partial, has_channel=here)
        return Visit(viewer, frame, replace(actor, channel=viewer.channel), said, of)

    async def _viewer(self, actor: Actor, session: str) -> Viewer:
        """Return what the session's person may know of; raises HTTPNotFound where it was ended, or who it is has left."""
        if await was_ended(self._context, actor.workspace, session) or await has_left(self._context, actor):
            raise web.HTTPNotFound
        return await viewer_of(self._context, actor)

    # --- forms

    async def form(self, request: web.Request) -> Mapping[str, str]:
        """Return the fields of a form that one of our pages sent.

        Raises HTTPForbidden for another site's, and what `read_form` does.
        """
        # What a browser says of it: https://www.w3.org/TR/fetch-metadata/. An old one says whose page it was, or "null"
        # where the page is to tell nobody.
        site, origin = request.headers.get("Sec-Fetch-Site", ""), request.headers.get("Origin", "")
        is_ours = (
            site in ("same-origin", "none") if site else origin in ("", "null", self._signer.base.removesuffix(self._base))
        )
        if not is_ours:
            raise web.HTTPForbidden
        return await read_form(request, self._slowest)

    def signed(self, form: Mapping[str, str], visit: Visit) -> str:
        """Return the command that we signed for the visit's session within a day, "" for any other text."""
        if not visit.session:
            return ""
        return self._signer.read_form(form.get(FIELD, ""), visit.session, self._clock()) or ""

    def _sign(self, session: str, command: str) -> str:
        return self._signer.form(session, command, self._clock())

    # --- how a session begins and ends

    async def ask_to_open(self, request: web.Request) -> web.Response:
        """Return the page with the button that opens the archive; a chat's preview, which only looks, uses nothing up."""
        self._count(client_of(request))
        if self._signer.read_opening(request.match_info["token"], self._clock()) is None:
            self._count(client_of(request), WRONG)
            raise web.HTTPNotFound
        return self._told(_OPEN, _OPEN_NOTE, is_question=True)

    async def open(self, request: web.Request) -> web.Response:
        """Begin a session by a link that nobody has used, and lead to the front page."""
        await self.form(request)
        self._count(client_of(request))
        async with self._opening:  # pressed twice, the second finds it used
            value = await open_session(self._context, self._signer, request.match_info["token"], self._clock())
        if not value:
            self._count(client_of(request), WRONG)
            raise web.HTTPNotFound
        response = web.Response(status=303, headers={"Location": f"{self._base}/"})
        response.set_cookie(self._cookie, value, max_age=int(SESSION_HOLDS.total_seconds()), **self._how)
        return response

    async def leave(self, request: web.Request) -> web.Response:
        """End the session, in this browser and wherever else its cookie came to be."""
        form = await self.form(request)
        visit = await self.visit(request)
        if visit.actor is None or self.signed(form, visit) != _LEAVE:
            raise web.HTTPForbidden
        await end_session(self._context, visit.actor.workspace, visit.session, self._clock())
        response = self._told(LEFT, "")
        response.del_cookie(self._cookie, **self._how)
        return response

    @property
    def _base(self) -> str:
        """What stands before each path of ours, where the pages are not at the root of their address."""
        return urlsplit(self._signer.base).path

    @property
    def _is_secure(self) -> bool:
        return self._signer.base.startswith("https:")

    @property
    def _cookie(self) -> str:
        return "__Host-broadsheet" if self._is_secure else "broadsheet"

    @property
    def _how(self) -> "_How":
        return _How(path="/", secure=self._is_secure, httponly=True, samesite="Lax")

    def _session(self, request: web.Request) -> SignedSession | None:
        said = request.cookies.get(self._cookie, "")
        return self._signer.read_session(said, self._clock()) if said else None

    def _count(self, client: str, cost: float = 1) -> None:
        if not self._by_address.takes(client, cost):
            raise web.HTTPTooManyRequests(headers={"Retry-After": "60"})

    def _told(self, reply: Reply, note: str, *, is_question: bool = False) -> web.Response:
        body = page(reply, self._clock().date(), note=note, is_question=is_question)
        return web.Response(text=body, content_type="text/html")


class _How(TypedDict):
    """How our cookie is kept."""

    path: str
    secure: bool
    httponly: bool
    samesite: Literal["Lax"]


def _path(request: web.Request) -> str:
    """Return the path that was asked for, and its query, as they were sent."""
    return request.rel_url.raw_path_qs
