"""The HTTP server: what Slack sends, signed, and the two pages of an installation. Plain HTTP: a proxy before it speaks TLS.

Everyone can reach it, so: bodies of at most 1 MiB, five seconds to send one, one request a connection, and nothing is told
to who has no signature.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime

from aiohttp import web
from aiohttp.typedefs import Handler
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_sdk.signature import Clock, SignatureVerifier

from adapters.slack.connection.dispatch import Dispatcher, SeenEvents
from adapters.slack.install.manifest import EVENTS_PATH, INSTALL_PATH, REDIRECT_PATH
from adapters.slack.install.oauth import InstallPages
from bot.errors import SettingsError

LARGEST = 2**20  # bytes; the largest of Slack's payloads, a click in a full dialogue, has a fifth of it
SLOWEST = 5.0  # seconds for a request's head and its body each; Slack itself waits three for the answer
CLOSING = 2.0


class EventsEndpoint:
    """Answers what comes to /slack/events, when Slack has signed it."""

    def __init__(
        self,
        secret: str,
        dispatcher: Dispatcher,
        seen: SeenEvents,
        clock: Callable[[], datetime],
        *,
        slowest: float = SLOWEST,
    ) -> None:
        self._verifier = SignatureVerifier(secret, _Clock(clock))
        self._dispatcher, self._seen, self._slowest = dispatcher, seen, slowest

    async def answer(self, request: web.Request) -> web.Response:
        """Answer 401 to what is not signed, signed more than five minutes ago, or was taken before."""
        try:
            async with asyncio.timeout(self._slowest):
                body = await request.read()
        except TimeoutError:
            return web.Response(status=408)
        if body == b"ssl_check=1" or body.startswith(b"ssl_check=1&"):
            return web.Response()
        signature = request.headers.get("X-Slack-Signature", "")
        if not self.is_signed(body, request.headers) or not self._seen.is_new_here(f"signature:{signature}"):
            return web.Response(status=401)
        said = await self._dispatcher.receive(body.decode(), query=request.query_string, headers=dict(request.headers))
        return await to_aiohttp_response(said)

    def is_signed(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Say whether Slack signed it within the last five minutes."""
        try:
            return self._verifier.is_valid_request(body, dict(headers))
        except (ValueError, TypeError):  # a time that is no number, a signature or a body in no encoding
            return False


class _Clock(Clock):
    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock

    def now(self) -> float:
        return self._clock().timestamp()


class _Connections:
    """Closes connections on which no whole head of a request has come in time: aiohttp itself would wait for ever."""

    def __init__(self, slowest: float) -> None:
        self._slowest = slowest
        self._begun: set[object] = set()

    def made_by(self, server: web.Server) -> Callable[[], asyncio.Protocol]:
        def made() -> asyncio.Protocol:
            protocol = server()
            asyncio.get_running_loop().call_later(self._slowest, self._look, protocol)
            return protocol

        return made

    def _look(self, protocol: web.RequestHandler) -> None:
        # Every connection takes one request: one on which none has begun by now is still waiting for its head.
        if protocol in self._begun:
            self._begun.discard(protocol)
        else:
            protocol.force_close()

    @web.middleware
    async def noted(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self._begun.add(request.protocol)
        return await handler(request)


@asynccontextmanager
async def serving(
    host: str, port: int, events: EventsEndpoint | None, pages: InstallPages | None, *, slowest: float = SLOWEST
) -> AsyncIterator[tuple[str, int]]:
    """Answer at the address until the block ends; port 0 takes a free one. Yields where it really is.

    Raises SettingsError when the address cannot be used.
    """
    connections = _Connections(slowest)
    application = _application(connections, events, pages)
    runner = web.AppRunner(
        application, access_log=None, shutdown_timeout=CLOSING, lingering_time=slowest, handle_signals=False
    )
    await runner.setup()
    try:
        assert runner.server is not None  # noqa: S101 - setup made it
        server = await _listening(connections.made_by(runner.server), host, port)
        try:
            place = server.sockets[0].getsockname()
            yield str(place[0]), int(place[1])
        finally:
            server.close()
    finally:
        await runner.cleanup()


async def _listening(made: Callable[[], asyncio.Protocol], host: str, port: int) -> asyncio.Server:
    try:
        return await asyncio.get_running_loop().create_server(made, host, port)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else "it is no address of this machine"
        raise SettingsError(f"Slack cannot be heard at {host}:{port}: {why}; change `port` or `host` in [slack].") from error


def _application(connections: _Connections, events: EventsEndpoint | None, pages: InstallPages | None) -> web.Application:
    application = web.Application(client_max_size=LARGEST, middlewares=[connections.noted])
    if events is not None:
        application.router.add_post(EVENTS_PATH, events.answer)
    if pages is not None:
        application.router.add_get(INSTALL_PATH, pages.begin, allow_head=False)
        application.router.add_get(REDIRECT_PATH, pages.finish, allow_head=False)
    application.on_response_prepare.append(_plain)
    return application


async def _plain(_: web.Request, response: web.StreamResponse) -> None:
    """No version to look up holes for, nothing kept on the way, and the connection ends with the answer."""
    response.headers["Server"] = "broadsheet"
    response.headers["Cache-Control"] = "no-store"
    response.headers["Connection"] = "close"  # said, as well as done: the other side would use it again
    response.force_close()
