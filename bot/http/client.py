"""The one HTTP client: timeouts, retries, politeness per host, size caps, user agent.

Every request of Broadsheet to a source or a language model goes through one `Http`; nothing else imports the library.
"""

import asyncio
import re
import socket
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from urllib.parse import quote, urlencode

import anyio
import httpcore
import httpx

from bot.errors import NetworkFault, SourceUnavailable
from bot.http.guard import PORTS, Guard, Resolve, lookup
from bot.http.pace import Clock, Politeness, Sleep, Throttle, backoff, retry_after
from bot.http.turns import SharedTurns
from bot.redact import is_secret_header, redacted, secrets_in

__all__ = ["Http", "Politeness", "Request", "Response"]

MAX_REDIRECTS = 5
PATIENCE = timedelta(seconds=60)  # a longer Retry-After is the caller's to keep

# So much is done with an answer at a time, at most some milliseconds of work, before others have their turn: what has come
# already is read without any waiting, a bomb of 50 MB is one packet, and 64 KB may be 10,000 pieces.
_STEP = 2**16  # bytes that are inflated in a step
_STEPS = 4  # a piece is one step, or several
_LARGE = 2**20  # bytes that are put together in a thread

_AUTO = zlib.MAX_WBITS | 32  # zlib finds out itself whether it reads a gzip or a zlib header
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?|\[?[0-9a-f:.]*:[0-9a-f:.]*\]?")  # in its wire form
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSING = frozenset({500, 502, 503, 504})
_LIMITS = frozenset({403, 429})
_SAFE_ELSEWHERE = frozenset({"accept", "accept-language", "if-none-match", "if-modified-since"})

# Everything that the libraries below may raise. OSError holds ssl.SSLError, socket.gaierror and TimeoutError; ValueError
# holds UnicodeError and idna's errors.
FOREIGN: tuple[type[Exception], ...] = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.CookieConflict,
    httpx.StreamError,
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    OSError,
    ValueError,
)
_NOTHING_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpcore.ConnectError, httpcore.ConnectTimeout)
_NO_ANSWER = (httpx.TimeoutException, httpcore.TimeoutException, TimeoutError)
_CUT_OFF = (httpx.NetworkError, httpcore.NetworkError, ConnectionError)
_DEEPEST = 10  # errors that one may be raised from
_FAULTS_OF_OURS = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to ask. `params` are appended to the URL in their order; `json` makes the body."""

    url: str
    params: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"
    json: object = None


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. Header names are in lower case; `url` is the one that answered in the end."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


class _Transient(SourceUnavailable):
    """A failure that may be gone with the next attempt."""


class Http:
    """One client for everything that Broadsheet fetches.

    `politeness` maps `host` or `host:port` to how it wants to be treated; a host that is not named gets a mild default.
    `timeout` (seconds) limits each wait for the network, `deadline` one whole answer (default: four timeouts). `guarded`
    refuses everything that is not the public internet on one of `ports`, but for the hosts in `allow` (`host` or
    `host:port`); where a proxy resolves names for us it must refuse them too, since it may see other addresses. `proxy` is
    a URL, "" for none; the environment is not asked. `ca_file` is a PEM file to trust instead of the usual authorities.
    `turns` are those of all processes on one database, None where there is one alone.
    """

    def __init__(
        self,
        *,
        user_agent: str,
        politeness: Mapping[str, Politeness] | None = None,
        timeout: float = 30.0,
        deadline: float | None = None,
        guarded: bool = False,
        allow: frozenset[str] = frozenset(),
        ports: frozenset[int] = PORTS,
        proxy: str = "",
        ca_file: Path | None = None,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
        resolve: Resolve = lookup,
        turns: SharedTurns | None = None,
    ) -> None:
        self.turns = turns
        self._politeness = dict(politeness or {})
        self._timeout = timeout
        self._deadline = deadline or 4 * timeout
        self._guard = Guard(allow, ports, resolve) if guarded else None
        self._proxied = bool(proxy)
        self._sleep, self._clock = sleep, clock
        self._throttles: dict[Politeness | str, Throttle] = {}
        self._client = _client(user_agent, timeout, self._guard, proxy, ca_file)

    async def fetch(
        self, request: Request, *, accept: frozenset[int] = frozenset({200}), max_bytes: int = 8 * 2**20
    ) -> Response:
        """Return the answer when its status is one of `accept`; raises SourceUnavailable otherwise.

        Failures that pass (no connection, timeout, 500, 502, 503, 504, a limit with a Retry-After of at most a minute) are
        tried again as often as the host's politeness says. `max_bytes` counts the body after inflating it.
        """
        secrets = (*secrets_in(request.url), *(v for n, v in request.headers.items() if is_secret_header(n)))
        try:
            return await self._with_retries(request, accept, max_bytes)
        except SourceUnavailable as error:
            text = redacted(str(error), secrets)
            raise SourceUnavailable(text, retry_after=error.retry_after, fault=error.fault) from error.__cause__

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def _with_retries(self, request: Request, accept: frozenset[int], max_bytes: int) -> Response:
        url = _url_of(request)
        retries = self._throttle(url).politeness.retries
        for attempt in range(retries):
            try:
                return await self._follow(url, request, accept, max_bytes)
            except _Transient as failure:
                if failure.retry_after is None:
                    await self._sleep(backoff(attempt))
        return await self._follow(url, request, accept, max_bytes)

    async def _follow(self, url: httpx.URL, request: Request, accept: frozenset[int], max_bytes: int) -> Response:
        headers = dict(request.headers)
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._ask(url, request, headers, accept, max_bytes)
            if response.status in accept:
                return response
            target = _redirect_target(url, request, response)
            if _origin(target) != _origin(url):
                headers = {name: value for name, value in headers.items() if name.lower() in _SAFE_ELSEWHERE}
            url = target
        raise SourceUnavailable(f"{_name(url)} redirected more than {MAX_REDIRECTS} times")

    async def _ask(
        self, url: httpx.URL, request: Request, headers: Mapping[str, str], accept: frozenset[int], max_bytes: int
    ) -> Response:
        """One request, one answer: returned when its status is accepted or a redirect."""
        with _translated(_name(url), request.method):
            await self._check(url)
        throttle = self._throttle(url)
        async with throttle.turn(), self._shared_turn(throttle.politeness):
            with _translated(_name(url), request.method):
                async with asyncio.timeout(self._deadline), self._answer(url, request, headers) as answer:
                    wanted = answer.status_code in accept
                    if wanted or answer.status_code in _REDIRECTS:
                        body = await _read(answer, max_bytes) if wanted else b""
                        return Response(answer.status_code, dict(answer.headers), body, str(answer.url))
            refusal = _refusal(_name(url), answer)
            if isinstance(refusal, _Transient) and refusal.retry_after is not None:
                throttle.rest(refusal.retry_after.total_seconds())
            if self.turns and throttle.politeness.shared and refusal.retry_after:
                await self.turns.rest(throttle.politeness.shared, refusal.retry_after, str(answer.status_code))
        raise refusal

    def _shared_turn(self, politeness: Politeness) -> AbstractAsyncContextManager[None]:
        """Return what keeps other processes from asking meanwhile, where the host wants that."""
        if self.turns is None or not politeness.shared:
            return nullcontext()
        return self.turns.turn(politeness.shared, politeness.seconds_between, self._deadline)

    @asynccontextmanager
    async def _answer(self, url: httpx.URL, request: Request, headers: Mapping[str, str]) -> AsyncIterator[httpx.Response]:
        asked = self._client.build_request(request.method, url, headers=headers, json=request.json)
        answer = await self._client.send(asked, stream=True)
        try:
            yield answer
        finally:
            await answer.aclose()

    async def _check(self, url: httpx.URL) -> None:
        if self._guard is None:
            return
        port = _port(url)
        self._guard.check_url(url.host, port, bool(url.userinfo))
        if self._proxied:  # the proxy connects, so the name is all that can be looked at from here
            await self._guard.addresses(url.host, port)

    def _throttle(self, url: httpx.URL) -> Throttle:
        named = f"{url.host}:{_port(url)}"
        politeness = self._politeness.get(named) or self._politeness.get(url.host)
        key = politeness or named
        if key not in self._throttles:
            self._throttles[key] = Throttle(politeness or Politeness(), self._sleep, self._clock)
        return self._throttles[key]


class _GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects only to addresses that the guard has seen: between its look and the connection no name is asked again."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._plain = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (the library's signature)
        local_address: str | None = None,
        socket_options: object = None,
    ) -> httpcore.AsyncNetworkStream:
        async with asyncio.timeout(timeout):
            addresses = await self._guard.addresses(host, port)
        failure: Exception = OSError("no address")
        for address in addresses:
            try:
                return await self._plain.connect_tcp(address, port, timeout, local_address)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _client(user_agent: str, seconds: float, guard: Guard | None, proxy: str, ca_file: Path | None) -> httpx.AsyncClient:
    trust = ssl.create_default_context(cafile=ca_file) if ca_file else httpx.create_ssl_context(trust_env=False)
    transport = httpx.AsyncHTTPTransport(verify=trust, trust_env=False, proxy=proxy or None)
    if guard is not None and not proxy:
        # The library has no public way to hand its own transport a network backend.
        transport._pool = httpcore.AsyncConnectionPool(ssl_context=trust, network_backend=_GuardedBackend(guard))
    return httpx.AsyncClient(
        transport=transport,
        trust_env=False,
        timeout=httpx.Timeout(seconds, pool=None),
        headers={"User-Agent": user_agent, "Accept": "*/*", "Accept-Encoding": "gzip"},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),  # no source gets to recognise us
    )


class _Body:
    """Collects a body; never holds more than `max_bytes` of it, however small it was when compressed."""

    def __init__(self, encoding: str, max_bytes: int) -> None:
        coding = encoding.strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise SourceUnavailable(f"the answer is encoded as {coding[:40]!r}, which was not asked for")
        self._inflater = zlib.decompressobj(_AUTO) if coding not in ("", "identity") else None
        self._max = max_bytes
        self._parts: list[bytes] = []
        self.size = 0  # bytes that are kept
        self._came = 0

    def feed(self, chunk: bytes) -> Iterator[None]:
        """Take the next piece as it came, a step at a time; raises SourceUnavailable when too much has come."""
        self._came += len(chunk)
        if self._came > self._max:
            self._refuse()
        if self._inflater is None:
            self._keep(chunk)
            yield
        else:
            yield from self._inflate(chunk)

    def finish(self) -> bytes:
        """Return the whole body; raises SourceUnavailable when a compressed one was cut off."""
        if self._inflater is not None and self._came and not self._inflater.eof:
            raise SourceUnavailable("the compressed answer was cut off")
        return b"".join(self._parts)

    def _inflate(self, chunk: bytes) -> Iterator[None]:
        try:
            while chunk:
                assert self._inflater is not None  # noqa: S101 (for the type checker; feed() has looked)
                if self._inflater.eof:  # a further gzip member follows
                    self._inflater = zlib.decompressobj(_AUTO)
                self._keep(self._inflater.decompress(chunk, min(_STEP, self._max - self.size + 1)))
                chunk = self._inflater.unconsumed_tail or self._inflater.unused_data
                yield
        except zlib.error as error:
            raise SourceUnavailable("the compressed answer is damaged") from error

    def _keep(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > self._max:
            self._refuse()
        self._parts.append(piece)

    def _refuse(self) -> None:
        raise SourceUnavailable(f"the answer is larger than {self._max:,} bytes")


async def _read(answer: httpx.Response, max_bytes: int) -> bytes:
    if int(answer.headers.get("content-length", "0")) > max_bytes:
        raise SourceUnavailable(f"the answer is larger than {max_bytes:,} bytes")
    body = _Body(answer.headers.get("content-encoding", ""), max_bytes)
    steps = 0
    async for chunk in answer.aiter_raw():
        for _ in body.feed(chunk):
            steps += 1
            if steps % _STEPS == 0:
                await asyncio.sleep(0)
    return await asyncio.to_thread(body.finish) if body.size > _LARGE else body.finish()


@contextmanager
def _translated(name: str, method: str) -> Iterator[None]:
    """Turn whatever the libraries raise into a SourceUnavailable that names the host."""
    try:
        yield
    except SourceUnavailable as error:
        raise type(error)(f"{name}: {error}", retry_after=error.retry_after, fault=error.fault) from error.__cause__
    except FOREIGN as error:
        if isinstance(error, _FAULTS_OF_OURS):  # no cause: these quote the header that they cannot send, credentials too
            raise SourceUnavailable(f"{name} {_words(error)}") from None
        repeats = isinstance(error, _NOTHING_SENT) or method == "GET"
        kind = _Transient if repeats else SourceUnavailable
        raise kind(f"{name} {_words(error)}", fault=_network_fault(error)) from error


def _network_fault(error: BaseException) -> NetworkFault | None:
    """Return what of the network failed, by what the libraries raise and what they raise it from."""
    if isinstance(error, httpx.ProxyError | httpcore.ProxyError):
        return NetworkFault.PROXY
    if isinstance(error, _NO_ANSWER):
        return NetworkFault.TIMEOUT
    reasons: list[BaseException] = [error]
    while (reason := reasons[-1].__cause__ or reasons[-1].__context__) is not None and len(reasons) < _DEEPEST:
        reasons.append(reason)
    if any(isinstance(each, socket.gaierror) for each in reasons):
        return NetworkFault.NAME
    if any(isinstance(each, ssl.SSLError) for each in reasons):
        return NetworkFault.TLS
    return NetworkFault.CONNECTION if isinstance(error, (*_NOTHING_SENT, *_CUT_OFF)) else None


def _words(error: Exception) -> str:
    if isinstance(error, _NO_ANSWER):
        return "did not answer in time"
    if isinstance(error, httpx.ConnectError):
        return f"could not be reached ({str(error)[:200] or 'no connection'})"
    if isinstance(error, httpx.LocalProtocolError | ValueError):
        return "cannot be asked: the request has characters that cannot be sent"
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
        return "cannot be asked: its address is not a web address"
    return f"broke off the connection ({type(error).__name__})"


def _refusal(name: str, answer: httpx.Response) -> SourceUnavailable:
    status = answer.status_code
    wait = retry_after(answer.headers)
    text = f"{name} answered {status} {_phrase(status)}".rstrip()
    patient = wait is not None and wait <= PATIENCE
    if (status in _PASSING and (wait is None or patient)) or (status in _LIMITS and patient):
        return _Transient(text, retry_after=wait)
    return SourceUnavailable(text, retry_after=wait)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _url_of(request: Request) -> httpx.URL:
    joint = "&" if "?" in request.url else "?"
    text = request.url + (joint + urlencode(request.params, quote_via=quote) if request.params else "")
    return _checked_url(text)


def _checked_url(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError) as error:
        raise SourceUnavailable(f"{text[:200]!r} is not a web address") from error
    if url.scheme not in ("http", "https") or not _HOST.fullmatch(url.raw_host.decode("ascii")):
        raise SourceUnavailable(f"{text[:200]!r} is not a web address")
    return url


def _redirect_target(url: httpx.URL, request: Request, response: Response) -> httpx.URL:
    where = response.headers.get("location", "")
    if not where or request.method != "GET":
        raise SourceUnavailable(f"{_name(url)} has moved ({response.status}) to {where[:200] or 'nowhere'}")
    try:
        target = _checked_url(str(url.join(where)))
    except (httpx.InvalidURL, ValueError) as error:
        raise SourceUnavailable(f"{_name(url)} redirected to {where[:200]!r}, which is not a web address") from error
    if url.scheme == "https" and target.scheme == "http":
        raise SourceUnavailable(f"{_name(url)} redirected from https to plain http, which is refused")
    return target


def _port(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def _origin(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, _port(url)


def _name(url: httpx.URL) -> str:
    """Say whom we asked: scheme, host and path, without query and user information."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}{url.path}"[:200]
