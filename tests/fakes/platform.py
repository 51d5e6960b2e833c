"""A chat platform on the loopback interface that fails in every way a real one was seen to fail, by a seed.

What it commits it commits at a random instant inside the request, also when who asked has died meanwhile. What becomes of
a request follows from the seed, the message's marker and how often it was sent before, whatever else is going on. It
remembers nonces as Discord does, and lets a channel's history be read as Slack does. Times are in seconds.

    POST /channels/{channel}/messages           {"marker", "nonce", "text"} → {"id"}
    GET  /channels/{channel}/messages?since=…&begin=…
                                                a page of the channel's messages since then, and where the next one begins
                                                (0: there is none), or 403
    GET  /channels/{channel}                    {"id"}, or 404 where it is gone
    POST /people/{person}/messages              {"text"} → {"id"}, in private
    POST /channels/{channel}/notices            {"text"} → {"id"}, no digest
    GET  /committed                             every message, for the judge
    GET  /counts                                how many requests of which kind, for the judge
"""

import asyncio
import math
import random
import socket
import struct
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from aiohttp import web

PAGE = "page"  # a refusal that is not the platform's but a proxy's
EVERYWHERE = ""  # the scope of what holds for the whole platform, where a channel's name could stand


class Fault(StrEnum):
    """What may befall a request that would post. The first four may commit all the same, the others commit nothing."""

    RESET = "reset"  # the connection is cut instead of an answer
    HALF = "half"  # the answer ends in its middle
    STALL = "stall"  # the answer takes longer than anybody waits
    BROKEN = "broken"  # a 5xx
    LIMITED = "limited"  # a 429 for the channel
    ALL_LIMITED = "all limited"  # a 429 for everything


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How the platform behaves; shares are of the requests that would post, in 0–1."""

    seed: int = 0
    takes: tuple[float, float] = (0.005, 0.06)  # how long a request takes
    remembers: float = 0.0  # so long after a message the same nonce gives the same message; 0: never
    readable: bool = True  # whether a channel's history may be read
    lag: float = 0.0  # so long a message is not in the history yet
    page: int = 0  # the most messages that one look is given, however many it asks for; 0: any number
    between_looks: float = 0.0  # Slack: so long after one look into a history a workspace is given no other
    keeps_metadata: bool = True  # Slack: a message's metadata is given back
    others: int = 0  # messages of people that stand in every channel when a run begins
    resets: float = 0.0
    halves: float = 0.0
    stalls: float = 0.0
    stall: float = 1.0  # how long a stalled answer takes; what it commits it commits meanwhile
    broken: float = 0.0
    commits: float = 0.7  # of the requests that end in one of these four, so many commit all the same
    limited: float = 0.0
    all_limited: float = 0.0
    rests: tuple[float, float] = (0.1, 120.0)  # the Retry-After of such a 429, drawn evenly in its logarithm
    per_second: int = 0  # no more requests within any second; 0: any number
    per_channel_second: int = 0
    refused: frozenset[str] = frozenset()  # channels that are gone
    # By channel, by person, or EVERYWHERE: the code that nobody knows with which everything is refused, or PAGE.
    odd: Mapping[str, str] = field(default_factory=dict)
    answers: bool = False  # the requests that answer people fail in the same shares, not only what would post a digest

    def draw(self, dice: random.Random) -> Fault | None:
        """Return what befalls a request."""
        point = dice.random()
        shares = (self.resets, self.halves, self.stalls, self.broken, self.limited, self.all_limited)
        for fault, share in zip(Fault, shares, strict=True):
            if point < share:
                return fault
            point -= share
        return None


@dataclass(frozen=True, slots=True)
class Message:
    """What was posted."""

    id: str
    channel: str
    marker: str
    text: str
    at: float  # seconds since 1970


class Platform:
    """What it holds, and how it answers."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour  # may be changed while it runs
        self.url = ""
        self.committed: list[Message] = []
        self.told: list[tuple[str, str]] = []  # which person or channel, and what
        # posts, finds, tells, examined, refused, odd; commits, again (a known nonce); 429, inside (a Retry-After), too fast;
        # each Fault
        self.counts: Counter[str] = Counter()
        self.heard = asyncio.Event()  # that something is to be posted
        self.has_posted = asyncio.Event()  # anything at all
        self._channels: dict[str, list[Message]] = {}
        self._nonces: dict[str, tuple[float, Message]] = {}
        self._sent: Counter[str] = Counter()  # by marker
        self._rests: dict[str, float] = {}  # by scope: until when nothing may be asked, in the loop's time
        self._windows: dict[str, deque[float]] = {}  # by scope: when the requests of the last second came
        self._working: set[asyncio.Task[Message]] = set()

    # --- posting

    async def post(self, request: web.Request) -> web.StreamResponse:
        body, channel = await request.json(), request.match_info["channel"]
        self.counts["posts"] += 1
        self.heard.set()
        if (rest := self._rest(channel)) is not None:
            return rest
        if channel in self.behaviour.refused:
            self.counts["refused"] += 1
            return web.json_response({"error": "Unknown Channel"}, status=404)
        if (odd := self._odd(channel)) is not None:
            return odd
        self._sent[body["marker"]] += 1
        dice = random.Random(f"{self.behaviour.seed} {body['marker']} {self._sent[body['marker']]}")
        fault = self.behaviour.draw(dice)
        if fault is not None:
            self.counts[fault] += 1
        if fault in (Fault.LIMITED, Fault.ALL_LIMITED):
            low, high = map(math.log, self.behaviour.rests)
            return self._limit(channel if fault is Fault.LIMITED else EVERYWHERE, math.exp(dice.uniform(low, high)))
        takes = self.behaviour.stall if fault is Fault.STALL else dice.uniform(*self.behaviour.takes)
        working = None
        if fault is None or dice.random() < self.behaviour.commits:
            working = self._begin(self._commit_after(dice.uniform(0, takes), channel, body))
        await asyncio.sleep(takes)
        return await self._answer(request, fault, working)

    def _begin(self, work: Coroutine[Any, Any, Message]) -> asyncio.Task[Message]:
        """Let the work go on whatever becomes of the request."""
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return task

    async def _commit_after(self, seconds: float, channel: str, body: dict[str, str]) -> Message:
        await asyncio.sleep(seconds)
        now, nonce = time.time(), body["nonce"]
        known_at, known = self._nonces.get(nonce, (0.0, None))
        if known is not None and now - known_at < self.behaviour.remembers:
            self.counts["again"] += 1
            return known
        message = Message(f"m{len(self.committed)}", channel, body["marker"], body["text"], now)
        self.counts["commits"] += 1
        self.has_posted.set()
        self.committed.append(message)
        self._channels.setdefault(channel, []).append(message)
        if nonce:
            self._nonces[nonce] = now, message
        return message

    async def _answer(
        self, request: web.Request, fault: Fault | None, working: asyncio.Task[Message] | None
    ) -> web.StreamResponse:
        if fault is None and working is not None:
            return web.json_response({"id": (await asyncio.shield(working)).id})
        if fault is Fault.RESET:
            cut(request)
        if fault is Fault.HALF:
            response = web.StreamResponse(headers={"Content-Length": "100", "Content-Type": "application/json"})
            await response.prepare(request)
            await response.write(b'{"id": "m')
            cut(request, politely=True)
            return response
        return web.json_response({"error": "Internal Error"}, status=504 if fault is Fault.STALL else 500)

    # --- limits

    def _rest(self, channel: str) -> web.Response | None:
        """Refuse what comes too early or too fast."""
        now = asyncio.get_running_loop().time()
        for scope in (EVERYWHERE, channel):
            if (left := self._rests.get(scope, 0.0) - now) > 0:
                self.counts["inside"] += 1
                return self._limit(scope, left)
        for scope, most in ((EVERYWHERE, self.behaviour.per_second), (channel, self.behaviour.per_channel_second)):
            window = self._windows.setdefault(scope, deque()) if most else deque[float]()
            while window and window[0] <= now - 1:
                window.popleft()
            if most and len(window) >= most:
                self.counts["too fast"] += 1
                return self._limit(scope, window[0] + 1 - now)
            window.append(now)
        return None

    def _odd(self, place: str) -> web.Response | None:
        """Refuse what is refused for no known reason."""
        code = self.behaviour.odd.get(place, self.behaviour.odd.get(EVERYWHERE))
        if code is None:
            return None
        self.counts["odd"] += 1
        if code == PAGE:
            return web.Response(status=403, text="<html><body>Forbidden</body></html>", content_type="text/html")
        return web.json_response({"error": code}, status=400)

    def _limit(self, scope: str, seconds: float) -> web.Response:
        self.counts["429"] += 1
        until = asyncio.get_running_loop().time() + seconds
        self._rests[scope] = max(until, self._rests.get(scope, 0.0))
        body = {"retry_after": seconds, "global": scope == EVERYWHERE}
        return web.json_response(body, status=429, headers={"Retry-After": f"{seconds:.6f}"})

    # --- reading

    async def history(self, request: web.Request) -> web.Response:
        channel = request.match_info["channel"]
        self.counts["finds"] += 1
        if (rest := self._rest(channel)) is not None:
            return rest
        await asyncio.sleep(self.behaviour.takes[0])
        if (odd := self._odd(channel)) is not None:
            return odd
        if not self.behaviour.readable:
            return web.json_response({"error": "Missing Access"}, status=403)
        since, until = float(request.query["since"]), time.time() - self.behaviour.lag
        found = [asdict(each) for each in self._channels.get(channel, ()) if since <= each.at <= until]
        begin = int(request.query.get("begin", 0))
        end = begin + (self.behaviour.page or len(found))
        return web.json_response({"messages": found[begin:end], "next": end if end < len(found) else 0})

    async def channel(self, request: web.Request) -> web.Response:
        """Show a channel; one that is gone is not shown."""
        self.counts["examined"] += 1
        name = request.match_info["channel"]
        if (rest := self._rest(name)) is not None:
            return rest
        gone = name in self.behaviour.refused
        return web.json_response({"error": "Unknown Channel"} if gone else {"id": name}, status=404 if gone else 200)

    async def tell(self, request: web.Request) -> web.Response:
        self.counts["tells"] += 1
        if (odd := self._odd(request.match_info["whom"])) is not None:
            return odd
        self.told.append((request.match_info["whom"], (await request.json())["text"]))
        return web.json_response({"id": f"t{len(self.told)}"})

    async def everything(self, _: web.Request) -> web.Response:
        return web.json_response([asdict(each) for each in self.committed])

    async def how_it_went(self, _: web.Request) -> web.Response:
        return web.json_response(dict(self.counts))


def cut(request: web.Request, *, politely: bool = False) -> None:
    """Cut the connection, by a reset unless `politely`."""
    transport = request.transport
    if transport is None:
        return
    if politely:
        transport.close()  # after what was written has gone out
        return
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


@asynccontextmanager
async def running(behaviour: Behaviour) -> AsyncIterator[Platform]:
    """Run a platform on a free port of 127.0.0.1."""
    platform = Platform(behaviour)
    app = web.Application()
    app.router.add_post("/channels/{channel}/messages", platform.post)
    app.router.add_get("/channels/{channel}/messages", platform.history)
    app.router.add_get("/channels/{channel}", platform.channel)
    app.router.add_post("/people/{whom}/messages", platform.tell)
    app.router.add_post("/channels/{whom}/notices", platform.tell)
    app.router.add_get("/committed", platform.everything)
    app.router.add_get("/counts", platform.how_it_went)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    platform.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield platform
    finally:
        await runner.cleanup()
