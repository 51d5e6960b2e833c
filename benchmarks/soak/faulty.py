"""What stands before the Slack or the Discord of the tests and lets so many requests fail, in every way that they document.

Each way is a kind of its own. Some commit: what was asked is done, and only the answer is lost. What fails follows from the
seed and from how many requests came before. Times are in seconds of the event loop's clock.
"""

import asyncio
import random
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from enum import StrEnum

from aiohttp import web
from aiohttp.typedefs import Middleware

from tests.fakes.platform import cut

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_STALL = 20.0  # longer than anybody waits
_PAGE = "<!DOCTYPE html><html><head><title>{0}</title></head><body><h1>{0}</h1><p>{1}</p></body></html>"
_HALF = "1000"  # bytes that are said to come


class Kind(StrEnum):
    """How a request fails."""

    RESET = "reset before it was read"
    LOST = "done, and the answer reset"
    HALF = "done, and half an answer"
    STALL = "no answer for 20 s"
    BROKEN = "5xx"
    PAGE = "403 page of a proxy"
    UNKNOWN = "unknown 4xx"
    LIMITED = "429"
    BANNED = "429 page"
    EMPTY = "done, and an empty answer"
    UNSURE = "ok: false, internal_error"
    LATER = "ok: false, not now"


_DONE = {Kind.LOST: 1.0, Kind.HALF: 1.0, Kind.EMPTY: 1.0, Kind.STALL: 0.5, Kind.BROKEN: 0.5, Kind.UNSURE: 0.5}
_BAD = (Kind.BROKEN, Kind.PAGE, Kind.RESET)  # how a platform that is down as a whole answers


class Faulty(ABC):
    """The failures of one platform."""

    weights: Mapping[Kind, int]

    def __init__(self, seed: int, stall: float = _STALL) -> None:
        """An answer that does not come does not for `stall` seconds."""
        self._stall = stall
        self.share = 0.0  # of the requests, so many fail; may be changed while it runs
        self.is_down = False  # nothing is done, whatever is asked
        self.asked: Counter[str] = Counter()  # by what was asked
        self.failed: Counter[tuple[str, Kind]] = Counter()  # by what was asked, and how it failed
        self.inside = 0  # requests inside a Retry-After
        self.met: Counter[str] = Counter()  # failures, by the token or address of whoever was to be answered
        self._dice = random.Random(seed)
        self._rests: dict[str, float] = {}
        self._working: set[asyncio.Future[web.StreamResponse]] = set()

    def middleware(self) -> Middleware:
        """Return what is put before the platform."""

        @web.middleware
        async def fail(request: web.Request, handler: Handler) -> web.StreamResponse:
            what = self.what(request)
            if not what:
                return await handler(request)
            self.asked[what] += 1
            drawn = self._drawn(request)
            if drawn is None:
                return await handler(request)
            kind = self.fitting(what, drawn)
            self.failed[what, kind] += 1
            self.met[self.scope(request)] += 1
            return await self._fail(request, handler, kind)

        return fail

    @abstractmethod
    def what(self, request: web.Request) -> str:
        """Return what is asked, in a word; "" for what never fails."""

    @abstractmethod
    def scope(self, request: web.Request) -> str:
        """Return what a 429 of the request is about, and what its failures are counted for; "": it alone."""

    def fitting(self, what: str, kind: Kind) -> Kind:
        """Return how what is asked can fail that is to fail so."""
        return kind

    @abstractmethod
    def limited(self, seconds: float) -> web.StreamResponse:
        """Return a 429."""

    @abstractmethod
    def unknown(self) -> web.StreamResponse:
        """Return a refusal that stands in no list."""

    def _drawn(self, request: web.Request) -> Kind | None:
        now = asyncio.get_running_loop().time()
        scope = self.scope(request)
        if scope and self._rests.get(scope, 0.0) > now:
            self.inside += 1
            return Kind.LIMITED
        if self.is_down:
            return self._dice.choice(_BAD)
        if self._dice.random() >= self.share:
            return None
        return self._dice.choices([*self.weights], [*self.weights.values()])[0]

    async def _fail(self, request: web.Request, handler: Handler, kind: Kind) -> web.StreamResponse:
        is_done = not self.is_down and self._dice.random() < _DONE.get(kind, 0.0)
        if is_done:
            working = asyncio.ensure_future(handler(request))
            self._working.add(working)
            working.add_done_callback(self._worked)
            await asyncio.wait([working])
        elif kind is not Kind.RESET:
            await request.read()
        if kind is Kind.STALL:
            await asyncio.sleep(self._stall)
        return await self._answer(request, kind)

    def _worked(self, working: asyncio.Future[web.StreamResponse]) -> None:
        """Forget what was done; of who was killed before all was said, nobody waits for what came of it."""
        self._working.discard(working)
        if not working.cancelled():
            working.exception()

    async def _answer(self, request: web.Request, kind: Kind) -> web.StreamResponse:
        match kind:
            case Kind.RESET | Kind.LOST:
                cut(request)
                return web.Response(status=500)
            case Kind.HALF:
                return await _half(request)
            case Kind.PAGE:
                return _page(403, "Access denied", "The proxy did not let it through.")
            case Kind.LIMITED:
                return self._limit(request)
            case Kind.BANNED:
                return _page(
                    429, "Error 1015", "You are being rate limited.", {"Retry-After": str(self._dice.randint(1, 3))}
                )
            case Kind.UNKNOWN:
                return self.unknown()
            case Kind.EMPTY:
                return web.Response(status=200, content_type="application/json")
            case Kind.UNSURE:
                error = self._dice.choice(("internal_error", "fatal_error", "service_unavailable"))
                return web.json_response({"ok": False, "error": error})
            case Kind.LATER:
                return web.json_response({"ok": False, "error": "request_timeout"})
        status = 504 if kind is Kind.STALL else self._dice.choice((500, 502, 503))
        return _page(status, f"{status} Server Error", "Try again in a moment.")

    def _limit(self, request: web.Request) -> web.StreamResponse:
        now, scope = asyncio.get_running_loop().time(), self.scope(request)
        until = max(self._rests.get(scope, 0.0), now + self._dice.uniform(0.3, 4.0))
        if self._rests.get(scope, 0.0) <= now:
            self._rests[scope] = until
        return self.limited(self._rests[scope] - now)


def _page(status: int, title: str, text: str, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=status, text=_PAGE.format(title, text), content_type="text/html", headers=headers)


async def _half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": _HALF, "Content-Type": "application/json"})
    with suppress(ConnectionError):
        await response.prepare(request)
        await response.write(b'{"ok": tru')
        cut(request, politely=True)
    return response


_EVERYWHERE = {
    Kind.RESET: 4,
    Kind.LOST: 4,
    Kind.HALF: 2,
    Kind.STALL: 1,
    Kind.BROKEN: 6,
    Kind.PAGE: 3,
    Kind.UNKNOWN: 2,
    Kind.LIMITED: 5,
    Kind.EMPTY: 1,
}


class FaultyDiscord(Faulty):
    """Discord's."""

    weights = _EVERYWHERE | {Kind.BANNED: 1}
    _KNOWN = (
        ("POST", re.compile(r"/interactions/\d+/(?P<of>[^/]+)/callback"), "first answer"),
        ("PATCH", re.compile(r"/webhooks/\d+/(?P<of>[^/]+)/messages/@original"), "@original"),
        ("POST", re.compile(r"/webhooks/\d+/(?P<of>[^/]+)"), "follow-up"),
        ("", re.compile(r"/webhooks/\d+/(?P<of>[^/]+)/messages/.+"), "other answer"),
        ("POST", re.compile(r"/channels/(?P<of>\d+)/messages"), "message"),
        ("POST", re.compile(r"/channels/(?P<of>\d+)/(messages/\d+/)?threads"), "thread"),
        ("GET", re.compile(r"/channels/(?P<of>\d+)/messages"), "history"),
        ("POST", re.compile(r"/users/(?P<of>@me)/channels"), "conversation"),
        ("", re.compile(r"/(channels|guilds)/(?P<of>\d+)(/.*)?"), "other"),
    )

    def what(self, request: web.Request) -> str:
        """Return it; the bot's own requests at its start are left alone."""
        return self._found(request)[0]

    def scope(self, request: web.Request) -> str:
        """Return the token of an interaction, or the channel."""
        return self._found(request)[1]

    def _found(self, request: web.Request) -> tuple[str, str]:
        path = request.path.removeprefix("/api/v10")
        for method, pattern, what in self._KNOWN:
            if method in ("", request.method) and (found := pattern.fullmatch(path)):
                return what, found["of"]
        return "", ""

    def limited(self, seconds: float) -> web.StreamResponse:
        """Return a 429 of the bucket's."""
        body = {"message": "You are being rate limited.", "retry_after": round(seconds, 3), "global": False}
        headers = {"Retry-After": str(int(seconds) + 1), "X-RateLimit-Scope": "user", "Via": "1.1 google"}
        return web.json_response(body, status=429, headers=headers)

    def unknown(self) -> web.StreamResponse:
        """Return a code that Discord's table does not have."""
        status = self._dice.choice((400, 403, 404, 409))
        return web.json_response({"message": "Something that is new", "code": 990001}, status=status)


class FaultySlack(Faulty):
    """Slack's."""

    weights = _EVERYWHERE | {Kind.UNSURE: 4, Kind.LATER: 2}
    _NEVER = ("apps.connections.open", "auth.test", "oauth.v2.access")

    def what(self, request: web.Request) -> str:
        """Return the method, response_url or upload."""
        _, first, *rest = request.path.split("/")
        match first:
            case "api":
                return "" if rest[0] in self._NEVER else rest[0]
            case "commands" | "actions" | "app":
                return "response_url"
            case "upload":
                return "upload"
        return ""

    def scope(self, request: web.Request) -> str:
        """Return the address to answer at; of a method, a 429 stands for the one call."""
        return "" if request.path.startswith("/api/") else request.path

    def fitting(self, what: str, kind: Kind) -> Kind:
        """Return it; only the methods of the Web API say of themselves that they are not ok."""
        own = what not in ("response_url", "upload")
        return kind if own or kind not in (Kind.UNSURE, Kind.LATER) else Kind.BROKEN

    def limited(self, seconds: float) -> web.StreamResponse:
        """Return a 429; Slack gives whole seconds."""
        return web.json_response(
            {"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": str(int(seconds) + 1)}
        )

    def unknown(self) -> web.StreamResponse:
        """Return a word that Slack's pages do not have, with a status that says so as well."""
        status = self._dice.choice((400, 409, 418))
        return web.json_response({"ok": False, "error": "something_that_is_new"}, status=status)
