"""discord.py's HTTP client, made to try each request once: the ledger decides what is sent again, and when.

The library's own waits out rate limits inside the request and repeats it up to five times after a 5xx, for as long as 25 s;
a posting that hangs there outlives its lease. Here every answer comes back at once, as the exception that discord.py raises
for it, and a bucket that is used up is told before anything is sent.
"""

import asyncio
import json
import logging
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import aiohttp
from discord import File
from discord.errors import DiscordServerError, Forbidden, HTTPException, NotFound, RateLimited
from discord.http import HTTPClient, Route, json_or_text

from adapters.discord.workspaces import PLATFORM
from bot.delivery.rate_limits import PlatformCall, RateLimits, SharedLimits, takes_moment
from bot.errors import StoreError
from bot.models import Abilities, Method
from bot.ports.shared.processes import Budgets
from bot.service.platforms import Cluster

log = logging.getLogger(__name__)

TIMEOUT = 12.0  # seconds for one request: less than the ledger's own 15
PER_SECOND = 45  # requests, whatever they are for, of the 50 that Discord takes of a bot (topics/rate-limits)
MOST = 47  # that leave within a second after some were held up: what the way then holds up is not too much yet
_SECOND = 1.02  # a little more than the second in which Discord counts
# Answers to people count for themselves: "interaction endpoints are not bound to the bot's global rate limit" (the same).
_FIRST_REPLIES = "/interactions/"
_ANSWERS = (_FIRST_REPLIES, "/webhooks/")
_FIRST_WAIT = 1.0  # seconds that a first reply may wait where nothing is let through
PATIENCE = 2.0  # seconds that a request waits for its turn
BREAK = 1000  # invalid requests in ten minutes; Cloudflare shuts out an address after 10,000 (topics/rate-limits)
WINDOW = 600.0  # seconds
# Over all processes of one address; their spans of ten minutes follow each other, so that two may touch any ten minutes.
BREAK_TOGETHER = 4000
_SHARED_EVERY = 1.0  # seconds between two times that they tell each other
_SHARED_PAUSE = 15.0  # seconds that a process sends nothing after it last read that there are too many
_INVALID = frozenset({401, 403, 429})
_UNBOUNDED = 10**9  # what was refused is counted, however much it is
_BUCKETS = 10_000  # that are remembered as used up


# Whatever else is asked, as the ledger's calls are counted that ask no more of Discord than one request does.
_ANYTHING = PlatformCall(Method.FIND, f"{PLATFORM}:", "", Abilities(per_second=PER_SECOND))


class InvalidRequests:
    """Counts the requests that Discord counts against this machine's address, over everything that is given `trace`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at: deque[float] = deque()
        self._untold = 0  # since other processes of this address were told last
        self._paused_until = 0.0  # as all of these together had too many

    def note(self, status: int, headers: Mapping[str, str]) -> None:
        """Note an answer; a shared limit is nobody's fault."""
        if status in _INVALID and headers.get("X-RateLimit-Scope", "") != "shared":
            self._at.append(self._clock())
            self._untold += 1

    @property
    def count(self) -> int:
        """How many there were in the last ten minutes."""
        while self._at and self._at[0] <= self._clock() - WINDOW:
            self._at.popleft()
        return len(self._at)

    def paused_for(self) -> float:
        """Return for how many seconds nothing more may be sent, 0.0 while there were few."""
        over = self.count - BREAK
        here = 0.0 if over < 0 else self._at[over] + WINDOW - self._clock()
        return max(here, self._paused_until - self._clock(), 0.0)

    async def share(self, budgets: Budgets, address: str) -> None:
        """Tell the other processes of this address how many there were, and learn whether all had too many. Never raises."""
        key, told = f"discord invalid {address}", self._untold
        try:
            if told:
                await budgets.spend(key, told, _UNBOUNDED, timedelta(seconds=WINDOW))
                self._untold -= told
            too_many = await budgets.spent(key) >= BREAK_TOGETHER
        except StoreError as error:
            log.warning("what Discord refused other processes is not known: %s", error)
            too_many = self._paused_until > self._clock()  # whoever had too many goes on waiting
        if too_many:
            self._paused_until = self._clock() + _SHARED_PAUSE

    def trace(self) -> aiohttp.TraceConfig:
        """Return what counts the requests of an aiohttp session."""

        async def ended(_: aiohttp.ClientSession, __: SimpleNamespace, end: aiohttp.TraceRequestEndParams) -> None:
            self.note(end.response.status, end.response.headers)

        config = aiohttp.TraceConfig()
        config.on_request_end.append(ended)
        return config


@asynccontextmanager
async def counted_together(invalid: InvalidRequests, cluster: Cluster | None, address: str = "") -> AsyncIterator[None]:
    """Count with the other processes of this address while the block runs; "" is the address of this host alone."""
    if cluster is None:
        yield
        return
    named = address or socket.gethostname()

    async def telling() -> None:
        while True:
            await invalid.share(cluster.budgets, named)
            await asyncio.sleep(_SHARED_EVERY)

    task = asyncio.create_task(telling(), name="counting what Discord refuses")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        with suppress(TimeoutError):  # a database that does not answer holds up no end
            await asyncio.wait_for(invalid.share(cluster.budgets, named), PATIENCE)


class TooManyRequests(HTTPException):
    """A 429: `everywhere` where nothing at all is taken for now, and for how many seconds, None where that is not said.

    `shuts_out` where it is no answer of Discord's: not even answers to people are let through to it.
    """

    def __init__(self, response: aiohttp.ClientResponse, data: dict[str, Any] | str) -> None:
        super().__init__(response, data)
        body = data if isinstance(data, dict) else {}  # Cloudflare, which shuts out a whole address, answers no JSON
        scope = response.headers.get("X-RateLimit-Scope", "")
        self.shuts_out = not body
        self.everywhere = self.shuts_out or bool(body.get("global")) or scope == "global"
        self.retry_after = _number(body.get("retry_after", response.headers.get("Retry-After")))


class Intercepted(HTTPException):
    """A refusal that is not Discord's, which has a code in each: that of a proxy, or of Cloudflare."""


class SendingPaused(RateLimited):
    """Nothing at all is to be sent for now."""


class RequestPace:
    """Gives every request its turn, so that no more leave within a second than Discord takes.

    Turns are even. A process that is held up has those of that time all at once: so many leave within a second, and no more.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = 0.0  # when the next request has its turn
        self._left: deque[float] = deque()  # when those of the last second left

    def take(self) -> float:
        """Return for how many seconds the next request waits; raises SendingPaused where that is too long."""
        now = self._clock()
        turn = max(now, self._next)
        if turn - now > PATIENCE:
            raise SendingPaused(turn - now)
        self._next = turn + 1 / PER_SECOND
        return turn - now

    def leave(self) -> float:
        """Let a request leave whose turn it is, 0.0; or return for how many seconds it still waits."""
        now = self._clock()
        while self._left and not self._left[0] <= now < self._left[0] + _SECOND:
            self._left.popleft()
        if len(self._left) >= MOST:
            return self._left[0] + _SECOND - now
        self._left.append(now)
        return 0.0


class RestClient(HTTPClient):
    """Every request once, with its own deadline; may be used while no gateway is connected."""

    def __init__(
        self,
        token: str,
        invalid: InvalidRequests | None = None,
        *,
        pace: RequestPace | None = None,
        proxy: str = "",
        cluster: Cluster | None = None,
    ) -> None:
        """`invalid` may be shared with other sessions of this process; with a cluster all its processes count together."""
        self._together = SharedLimits(cluster.budgets, RateLimits()) if cluster is not None else None
        super().__init__(asyncio.get_running_loop(), proxy=proxy or None)
        self.token = token
        self.invalid = invalid or InvalidRequests()
        self._pace = pace or RequestPace()
        self._own: aiohttp.ClientSession | None = None
        self._shared_buckets: dict[str, str] = {}  # by the kind of request; several may share one
        self._used_up: dict[tuple[str, str], float] = {}
        self._shut_until = self._shut_out_until = 0.0

    async def close(self) -> None:
        """Close the connections."""
        if self._own is not None:
            await self._own.close()
            self._own = None

    async def request(
        self,
        route: Route,
        *,
        files: Sequence[File] | None = None,
        form: Iterable[dict[str, Any]] | None = None,
        **given: Any,
    ) -> Any:
        """Send one request and return what was answered.

        Raises discord.HTTPException and its kinds, discord.RateLimited before anything is sent, and what aiohttp raises.
        """
        if not _is_answer(route):
            await self._turn()
        self._refuse(route)
        if form is not None:
            given["data"] = _form(form)
        elif "json" in given:
            given["data"] = as_json(given.pop("json"))
            given["headers"] = {"Content-Type": "application/json"}
        given.pop("reason", None)
        async with self._session().request(
            route.method,
            route.url,
            proxy=self.proxy,
            timeout=aiohttp.ClientTimeout(total=TIMEOUT),
            **{**given, "headers": {**self._headers(), **given.get("headers", {})}},
        ) as response:
            data = await json_or_text(response)
            self._note(route, response)
        try:
            return _answer(response, data)
        except TooManyRequests as error:
            until = time.monotonic() + (error.retry_after or 0.0)
            if error.everywhere:
                self._shut_until = until
            if error.shuts_out:
                self._shut_out_until = until
            raise

    async def _turn(self) -> None:
        if self._together is not None and not takes_moment():
            await self._moment(self._together)
        await asyncio.sleep(self._pace.take())
        wait = self._pace.leave()
        while wait > 0:
            await asyncio.sleep(wait)
            wait = self._pace.leave()

    async def _moment(self, together: SharedLimits) -> None:
        """Wait for the turn among all processes of what the ledger has not counted; raises SendingPaused."""
        begun = datetime.now(UTC)
        try:
            later = await together.wait(_ANYTHING, lambda: datetime.now(UTC), asyncio.sleep, timedelta(seconds=PATIENCE))
        except StoreError as error:
            raise SendingPaused(PATIENCE) from error
        if later is not None:
            raise SendingPaused((later - begun).total_seconds())
        takes_moment()  # it was for this very request

    def _session(self) -> aiohttp.ClientSession:
        if self._own is None or self._own.closed:
            self._own = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                trace_configs=[self.invalid.trace()],
            )
        return self._own

    def _headers(self) -> dict[str, str]:
        return {"User-Agent": self.user_agent, "Authorization": f"Bot {self.token}"}

    def _refuse(self, route: Route) -> None:
        """Raise RateLimited where sending would only earn a refusal."""
        shut = (self._shut_out_until if _is_answer(route) else self._shut_until) - time.monotonic()
        if shut > _FIRST_WAIT and route.path.startswith(_FIRST_REPLIES):
            shut = 0.0  # it has three seconds: to wait would lose it, and what shut out one request may not shut out all
        if (closed := max(self.invalid.paused_for(), shut)) > 0:
            raise SendingPaused(closed)
        wait = self._used_up.get(self._bucket(route), 0.0) - time.monotonic()
        if wait > 0:
            raise RateLimited(wait)

    def _note(self, route: Route, response: aiohttp.ClientResponse) -> None:
        """Remember that a bucket is used up, until it fills again."""
        if name := response.headers.get("X-RateLimit-Bucket"):
            self._shared_buckets[route.key] = name
        if response.headers.get("X-RateLimit-Remaining") != "0":
            return
        wait = _number(response.headers.get("X-RateLimit-Reset-After")) or 0.0
        now = time.monotonic()
        if len(self._used_up) >= _BUCKETS:
            self._used_up = {bucket: until for bucket, until in self._used_up.items() if until > now}
        self._used_up[self._bucket(route)] = now + wait

    def _bucket(self, route: Route) -> tuple[str, str]:
        return self._shared_buckets.get(route.key, route.key), route.major_parameters


def as_json(body: object) -> str:
    """Return a body as discord.py's own client writes it; it has no public name for that."""
    return json.dumps(body, separators=(",", ":"))


def _is_answer(route: Route) -> bool:
    return route.path.startswith(_ANSWERS)


def _number(text: object) -> float | None:
    try:
        return max(0.0, float(str(text)))
    except ValueError:
        return None


def _form(fields: Iterable[dict[str, Any]]) -> aiohttp.FormData:
    # Discord does not read names whose brackets are quoted.
    made = aiohttp.FormData(quote_fields=False)
    for each in fields:
        made.add_field(**each)
    return made


def _answer(response: aiohttp.ClientResponse, data: dict[str, Any] | str) -> Any:
    if 200 <= response.status < 300:
        return data
    kinds = {403: Forbidden, 404: NotFound, 429: TooManyRequests}
    kind = kinds.get(response.status, DiscordServerError if response.status >= 500 else HTTPException)
    if response.status < 500 and response.status != 429 and not _has_code(data):
        kind = Intercepted
    raise kind(response, data)


def _has_code(data: dict[str, Any] | str) -> bool:
    return isinstance(data, dict) and isinstance(data.get("code"), int)
