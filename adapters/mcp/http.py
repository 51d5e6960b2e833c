"""Assistants over HTTP, by the protocol's "streamable HTTP": each request has its token, and nothing is kept between two.

There are no sessions, so none can be asked by another's token, and what was revoked is refused at once.
"""

import asyncio
import json
import logging
import os
import signal
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address
from typing import Any

import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from adapters.mcp.server import AssistantServer
from adapters.rate_limit import RateLimit
from bot.errors import BotError, SettingsError
from bot.handlers.assistants import token_of
from bot.handlers.context import HandlerContext
from bot.models import AssistantAccess, AssistantToken

log = logging.getLogger(__name__)

PATH = "/mcp"
LARGEST = 64 * 1024  # bytes of a request; an argument has some thousand characters at most
A_MINUTE = 120  # requests by one token
AT_ONCE = 4  # requests by one token: others wait for no one's searches
CONNECTIONS = 64
_HEAD = 16 * 1024  # bytes
_CHECKS = logging.getLogger("mcp.server.transport_security")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_INVALID = -32600  # JSON-RPC's "invalid request"

_NOT_HERE = {
    400: "A request is JSON: application/json.",
    403: "No page of another address may ask here.",
    421: "This is none of the names under which assistants are answered.",
}

_ACCESS = "broadsheet.access"  # where a request's scope has for whom it asks

TokenOf = Callable[[str], Awaitable[AssistantToken | None]]


async def access_of(asked: ServerRequestContext[Any, Any]) -> AssistantAccess:
    """Return for whom a request asks that came over HTTP: what its token opens. Raises KeyError for any other."""
    request: Any = asked.request
    found: AssistantAccess = request.scope[_ACCESS]
    return found


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited, in seconds."""

    head: float = 5.0  # for a request's head, and for its body
    answer: float = 65.0  # for an answer to be made; a call is given up a little sooner
    stop: int = 2  # for answers that are being made when it is to stop
    connection: float = 90.0  # for all of it: who takes no answer makes room in the end


PATIENCE = Patience()


class _RefusalError(Exception):
    """A request is not answered."""

    def __init__(self, status: int, said: str, **headers: str) -> None:
        super().__init__(said)
        self.status, self.headers = status, {name.replace("_", "-"): value for name, value in headers.items()}


class AssistantEndpoint:
    """An ASGI application that answers POSTs to /mcp, each by who its bearer token stands for."""

    def __init__(
        self,
        token_of: TokenOf,
        server: Server[Any],
        hosts: tuple[str, ...] = (),
        patience: Patience = PATIENCE,
        limit: RateLimit | None = None,
    ) -> None:
        """`hosts` are names under which it is reached besides those of this machine, as a browser says them.

        The server reads for whom it is asked by `access_of`.
        """
        self._token_of, self._server, self._patience = token_of, server, patience
        self._limit = limit or RateLimit(A_MINUTE)
        self._running: Counter[str] = Counter()
        self._security = TransportSecurityMiddleware(_security(hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; raises nothing that is foreseen."""
        if scope["type"] != "http":
            return
        begun = _Begun(send)
        try:
            await self._answer(scope, receive, begun)
        except _RefusalError as refused:
            await _refusal(refused)(scope, receive, send)
        except TimeoutError:
            log.warning("an assistant's request took too long")
            if not begun.has_begun:
                await _refusal(_RefusalError(504, "That took too long. Ask for less, or again later."))(scope, receive, send)
        except asyncio.CancelledError:  # the server stops; this task is the request's own, and has no more to do
            if not begun.has_begun:
                await _refusal(_RefusalError(503, "This server stops. Ask again later."))(scope, receive, send)
        except BotError as error:
            log.warning("an assistant's request failed: %s", error)
            await _refusal(_RefusalError(503, "The database cannot be read just now. Ask again later."))(
                scope, receive, send
            )

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._require_address(scope, receive)
        token = await self._admitted(Headers(scope=scope))
        with self._counted(token.hashed):
            body = await self._body(receive)
            async with asyncio.timeout(self._patience.answer):
                await _unless_gone(self._answered({**scope, _ACCESS: token.access}, body, send), receive)

    async def _answered(self, scope: Scope, body: bytes, send: Send) -> None:
        manager = StreamableHTTPSessionManager(self._server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, _given(body), send)

    async def _require_address(self, scope: Scope, receive: Receive) -> None:
        """Raise _RefusalError for another path or method, and for a page that a browser was led here by (DNS rebinding)."""
        if scope["path"] != PATH:
            raise _RefusalError(404, f"Assistants are answered at {PATH} alone.")
        if refusal := await self._security.validate_request(Request(scope, receive)):
            raise _RefusalError(
                refusal.status_code, _NOT_HERE.get(refusal.status_code, "That is no request of an assistant.")
            )
        if scope["method"] != "POST":
            raise _RefusalError(405, "Ask by POST: nothing is sent here unasked.", Allow="POST")

    async def _admitted(self, headers: Headers) -> AssistantToken:
        given = headers.getlist("authorization")
        scheme, _, text = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        token = await self._token_of(text.strip()) if scheme.lower() == "bearer" else None
        if token is None:
            # RFC 6750, section 3.1: who shows nothing is told of no error.
            why = ', error="invalid_token"' if given else ""
            said = "The token opens nothing, or not any more." if given else "Assistants show a token."
            raise _RefusalError(401, said, WWW_Authenticate=f'Bearer realm="broadsheet"{why}')
        if not self._limit.takes(token.hashed):
            raise _RefusalError(429, f"That is more than {A_MINUTE} requests a minute. Wait a little.", Retry_After="10")
        return token

    @contextmanager
    def _counted(self, name: str) -> Iterator[None]:
        if self._running[name] >= AT_ONCE:
            raise _RefusalError(429, f"{AT_ONCE} requests by this token are being answered. Wait for one.", Retry_After="1")
        self._running[name] += 1
        try:
            yield
        finally:
            self._running[name] -= 1
            if not self._running[name]:
                del self._running[name]

    async def _body(self, receive: Receive) -> bytes:
        """Return the request's body; raises _RefusalError for one that is too large, or too slow."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._patience.head):
                while True:
                    message = await receive()
                    body += message.get("body", b"")
                    if len(body) > LARGEST:
                        raise _RefusalError(413, f"A request has {LARGEST // 1024} KiB at most.")
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError as error:
            raise _RefusalError(408, "The request came too slowly.") from error


class _Begun:
    """Sends on, and knows whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send, self.has_begun = send, False

    async def __call__(self, message: Message) -> None:
        self.has_begun = True
        await self._send(message)


def _given(body: bytes) -> Receive:
    """Return what hands over the body that was read, and then nothing: that somebody goes is looked at elsewhere."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return left.pop() if left else await asyncio.Future()

    return next_message


async def _unless_gone(work: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Do the work, and leave off where whoever waits for it has gone."""
    working, going = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait((working, going), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in (working, going):
            each.cancel()
        await asyncio.wait((working, going))
    if not working.cancelled():
        working.result()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _refusal(refused: _RefusalError) -> Response:
    """Return the refusal as JSON-RPC says an error, of no request in particular."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": _INVALID, "message": str(refused)}}
    return Response(json.dumps(error), refused.status, refused.headers, "application/json")


def _security(hosts: tuple[str, ...]) -> TransportSecuritySettings:
    """Return which Host and Origin a request may name: this machine at any port, and the names that were given."""
    own = [f"{host}:*" for host in _LOOPBACK]
    return TransportSecuritySettings(
        allowed_hosts=[*_LOOPBACK, *own, *hosts],
        allowed_origins=[f"http://{host}" for host in own] + [f"https://{host}" for host in hosts],
    )


# --- serving


class _Protocol(H11Protocol):
    """Ends a connection on which no head of a request came in time, or whose answer is not taken."""

    patience = PATIENCE

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        super().connection_made(transport)
        self._timers = (
            self.loop.call_later(self.patience.head, self._look),
            self.loop.call_later(self.patience.connection, transport.abort),
        )

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in self._timers:
            timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        if not self.headers:  # of the one request
            self.transport.abort()


class _Server(uvicorn.Server):
    """One that leaves signals to who runs it: uvicorn's own would raise them again before the database is closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    context: HandlerContext,
    clock: Callable[[], datetime],
    address: tuple[str, int],
    hosts: tuple[str, ...],
    told: Callable[[str], None],
) -> None:
    """Answer at the address (a host and a port) until SIGTERM or SIGINT comes; `told` is given where that really is.

    Raises SettingsError where the address cannot be used.
    """

    async def by_token(text: str) -> AssistantToken | None:
        return await token_of(context.store, text, clock())

    endpoint = AssistantEndpoint(by_token, AssistantServer(context, access_of, clock).server(), hosts)
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    async with serving(endpoint, *address) as (host, port):
        for signum in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signum, stopped.set)
        named = f"[{host}]" if ":" in host else host
        if not ip_address(host).is_loopback:
            log.warning("assistants are answered at %s, beyond this machine: their tokens need a proxy with TLS", named)
        told(f"http://{named}:{port}{PATH}")
        await stopped.wait()


@asynccontextmanager
async def serving(
    endpoint: AssistantEndpoint, host: str, port: int, patience: Patience = PATIENCE
) -> AsyncIterator[tuple[str, int]]:
    """Answer at the address until the block ends; port 0 takes a free one. Yields where it really is.

    One request a connection. Raises SettingsError where the address cannot be used.
    """
    for name in ("mcp", "uvicorn"):  # both tell of every request that it came and went
        logging.getLogger(name).setLevel(logging.WARNING)
    _CHECKS.setLevel(logging.ERROR)  # who has no token could fill the log with what it says of refused headers
    listening = await _listening(host, port)
    place = listening.getsockname()
    server = _Server(_config(endpoint, patience))
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield str(place[0]), int(place[1])
    finally:
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await running
        listening.close()


async def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens at the address; raises SettingsError."""
    made = None
    try:
        known = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, proto, _, address = known[0]
        made = socket.socket(family, kind, proto)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen()  # who asks from now on waits until the server stands
    except OSError as error:
        if made is not None:
            made.close()
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else "it is no address of this machine"
        raise SettingsError(f"Assistants cannot be answered at {host}, port {port}: {why}.") from error
    return made


def _config(endpoint: AssistantEndpoint, patience: Patience) -> uvicorn.Config:
    return uvicorn.Config(
        endpoint,
        http=type("_Protocol", (_Protocol,), {"patience": patience}),
        ws="none",
        loop="none",
        lifespan="off",
        log_config=None,
        access_log=False,  # no log of ours has a header or an address
        proxy_headers=False,
        server_header=False,
        headers=[("Connection", "close"), ("Cache-Control", "no-store")],
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=_HEAD,
        timeout_graceful_shutdown=patience.stop,
    )
