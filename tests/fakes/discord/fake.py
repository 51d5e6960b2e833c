"""The server: reads a request, holds it to the rules, lets it meet its fault, answers."""

import asyncio
import json
import math
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from aiohttp import web

from tests.fakes.discord.actions import Actions
from tests.fakes.discord.calls import Call, Reply, Route, as_json
from tests.fakes.discord.description import Flaw, official
from tests.fakes.discord.gateway import Gateway
from tests.fakes.discord.limits import Limits
from tests.fakes.discord.refusals import Refusal
from tests.fakes.discord.things import Guild
from tests.fakes.discord.world import Wrong
from tests.fakes.platform import EVERYWHERE, Behaviour, Fault, cut

_INTERACTIVE = ("/interactions/", "/webhooks/")
_PAGE = """<!DOCTYPE html>
<html><head><title>discord.com | 502: Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>
"""


@dataclass(slots=True, kw_only=True)
class Trouble:
    """What is to befall requests whose method and path, as the description writes it, contain `match`."""

    match: str = ""
    fault: Fault | None = None
    status: int = 500  # of a BROKEN one, an `answer`, or a code that nobody knows; with 204 there is no body
    code: int = 0  # one of Discord's codes, or one that nobody knows, instead of a fault
    answer: str | None = None  # what a proxy says in Discord's place
    commits: bool = True  # whether a fault befalls the answer alone
    retry_after: float = 0.5
    via: bool = True
    scope: str = ""  # of a 429; shared ones count for nobody
    page: bool = False  # a 5xx or a 429 is a page of Cloudflare's, which stands before Discord
    times: int = 1
    after: int = 0  # so many requests pass first


class FakeDiscord(Actions):
    """A Discord to be run by `running`; what may be set or asked is said in tests.fakes.discord."""

    way: ClassVar[str] = ""  # the address of what passes requests on to the one that its next word names

    def __init__(self, behaviour: Behaviour) -> None:
        self.gateway = Gateway(self)
        super().__init__(behaviour)
        self.limits = Limits(self.counts, behaviour.per_second)
        self.calls: list[Call] = []  # every request
        self.troubles: list[Trouble] = []
        # By channel, or EVERYWHERE: how every call about it is refused, until that is taken back; a code of Discord's alone.
        self.refusing: dict[str, int | Trouble] = {}
        self.noticing: Callable[[Call], None] | None = None  # is told of every request before it is answered
        self.heard = asyncio.Event()  # that something is to be posted
        self._sent: Counter[str] = Counter()  # by marker
        self._working: set[asyncio.Task[Any]] = set()

    @property
    def api_url(self) -> str:
        own = f"{self.url}/api/v10"
        return f"{self.way}/{own.rpartition(':')[2]}" if self.way else own

    @property
    def cdn_url(self) -> str:
        return f"{self.url}/cdn"

    def dispatch(self, event: str, data: Mapping[str, Any], *, guild: Guild | None = None) -> None:
        self.gateway.dispatch(event, data, guild)

    def befall(self, match: str, **how: Any) -> Trouble:
        """Let requests meet with trouble: `befall("POST /channels", fault=Fault.RESET, times=2)`."""
        trouble = Trouble(match=match, **how)
        self.troubles.append(trouble)
        return trouble

    # --- answering

    def answering(self, route: Route) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """Return aiohttp's handler for the route."""

        async def serve(request: web.Request) -> web.StreamResponse:
            call = await _read(request, route)
            self.calls.append(call)
            if self.noticing is not None:
                self.noticing(call)
            self.counts["posts"] += route.posts
            if route.posts:
                self.heard.set()
            response = await self._serve(request, call, route)
            self.limits.judge(response.status, shared=response.headers.get("X-RateLimit-Scope") == "shared")
            return response

        return serve

    async def _serve(self, request: web.Request, call: Call, route: Route) -> web.StreamResponse:
        exempt = call.path.startswith(_INTERACTIVE)
        if (refusal := self.limits.refuse(call, exempt=exempt)) is not None:
            return refusal
        if route.secret and request.headers.get("Authorization") != f"Bot {self.token}":
            return self._reply(call, 401, Refusal(0).body())
        if flaws := self._flaws(call, route):
            self.wrong += [_wrong(call, flaw) for flaw in flaws]
            return self._reply(call, 400, Refusal(50035, flaws=flaws).body())
        trouble = self._trouble(call, route)
        if trouble is None:
            return self._reply(call, *await self._work(call, route))
        return await self._befallen(request, call, route, trouble)

    def _flaws(self, call: Call, route: Route) -> list[Flaw]:
        flaws = official().request_flaws(call.method, call.path, call.body)
        return flaws or ([*route.rules(call)] if route.rules and call.body is not None else [])

    async def _work(self, call: Call, route: Route) -> Reply:
        try:
            return await route.handler(self, call)
        except Refusal as refusal:
            self.counts["refused"] += 1
            if refusal.code == 50035:
                self.wrong += [_wrong(call, flaw) for flaw in refusal.flaws]
            return refusal.status, refusal.body()

    def _reply(self, call: Call, status: int, body: Any) -> web.Response:
        self.wrong += [
            _wrong(call, (where, f"the fake's own reply: {what}"))
            for where, what in official().reply_flaws(call.method, call.path, status, body)
        ]
        if body is None:
            return web.Response(status=status, headers=self.limits.headers(call))
        return as_json(body, status, self.limits.headers(call))

    # --- faults

    def _trouble(self, call: Call, route: Route) -> Trouble | None:
        """Return what befalls the request: what a test asked for, otherwise for posts what the seed says."""
        refusing = self.refusing.get(call.part.get("channel_id", EVERYWHERE), self.refusing.get(EVERYWHERE))
        if refusing is not None:
            return refusing if isinstance(refusing, Trouble) else Trouble(code=refusing)
        for each in self.troubles:
            if each.times > 0 and each.match in f"{call.method} {call.path}":
                if each.after > 0:
                    each.after -= 1
                    continue
                each.times -= 1
                return each
        drawn = route.posts or (self.behaviour.answers and call.path.startswith(_INTERACTIVE))
        return self._drawn(call) if drawn else None

    def _drawn(self, call: Call) -> Trouble | None:
        body, usual = call.body or {}, self.behaviour
        marker = self.marker(body.get("message") or body) or f"{call.path}{self._asked_by(call)}"
        self._sent[marker] += 1
        dice = random.Random(f"{usual.seed} {marker} {self._sent[marker]}")
        fault = usual.draw(dice)
        rest = math.exp(dice.uniform(*map(math.log, usual.rests)))
        if fault is None and usual.takes == (0.0, 0.0):
            return None
        return Trouble(fault=fault, commits=fault is None or dice.random() < usual.commits, retry_after=rest)

    def _asked_by(self, call: Call) -> str:
        """Return the number of the interaction that a request answers, "" for another: its token is anew in every run."""
        token = call.part.get("interaction_token") or call.part.get("webhook_token")
        found = (str(at) for at, each in enumerate(self.asked.values()) if token and each.token == token)
        return next(found, "")

    async def _befallen(self, request: web.Request, call: Call, route: Route, trouble: Trouble) -> web.StreamResponse:
        if trouble.fault is not None:
            self.counts[trouble.fault] += 1
        if trouble.answer is not None:
            kind = "application/json" if trouble.answer[:1] in ("{", "[") else "text/html"
            return web.Response(status=trouble.status, text=trouble.answer, content_type=kind)
        if trouble.code:
            refusal = Refusal(trouble.code, status=trouble.status if trouble.status < 500 else 400)
            return self._reply(call, refusal.status, refusal.body())
        if trouble.fault in (Fault.LIMITED, Fault.ALL_LIMITED):
            if trouble.page:
                return self.limits.shut_out(trouble.retry_after)
            everywhere = trouble.fault is Fault.ALL_LIMITED
            return self.limits.limited(
                call, trouble.retry_after, everywhere=everywhere, via=trouble.via, scope=trouble.scope
            )
        takes = self.behaviour.stall if trouble.fault is Fault.STALL else random.uniform(*self.behaviour.takes)
        working = None
        if trouble.commits:
            working = asyncio.create_task(self._work_after(random.uniform(0, takes), call, route))
            self._working.add(working)
            working.add_done_callback(self._working.discard)
        await asyncio.sleep(takes)
        if working is not None:
            reply = await asyncio.shield(working)
            if trouble.fault is None:
                return self._reply(call, *reply)
        return await self._broken(request, trouble)

    async def _work_after(self, seconds: float, call: Call, route: Route) -> Reply:
        """Do what was asked, also when who asked is gone meanwhile."""
        await asyncio.sleep(seconds)
        return await self._work(call, route)

    async def _broken(self, request: web.Request, trouble: Trouble) -> web.StreamResponse:
        if trouble.fault is Fault.RESET:
            cut(request)
        if trouble.fault is Fault.HALF:
            return await _half(request)
        if trouble.status == 204:
            return web.Response(status=204)
        status = 504 if trouble.fault is Fault.STALL else trouble.status
        if trouble.page:
            return web.Response(status=status, text=_PAGE, content_type="text/html")
        return as_json({"message": f"{status}: Server Error", "code": 0}, status)


async def _half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "100", "Content-Type": "application/json"})
    with suppress(ConnectionError):  # who asked may have been killed
        await response.prepare(request)
        await response.write(b'{"id": "1')
        cut(request, politely=True)
    return response


async def _read(request: web.Request, route: Route) -> Call:
    """Read the request; of a form with files the JSON part is the body."""
    body: Any = None
    files: dict[str, bytes] = {}
    if request.content_type == "multipart/form-data":
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                files[value.filename] = value.file.read()
            elif name == "payload_json":
                body = json.loads(value if isinstance(value, str) else bytes(value))  # bytes where its type is said
    elif raw := await request.read():
        body = json.loads(raw)
    return Call(
        method=route.method,
        path=route.path,
        at=asyncio.get_running_loop().time(),
        part=dict(request.match_info),
        query=dict(request.query),
        body=body,
        files=files,
    )


def _wrong(call: Call, flaw: Flaw) -> Wrong:
    where, what = flaw
    return Wrong(f"{call.method} {call.path}", f"{'.'.join(map(str, where))}: {what}" if where else what)
