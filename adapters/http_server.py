"""An HTTP server that everyone can reach: plain HTTP, as a proxy before it speaks TLS.

One request a connection, so many seconds for a request's head and for all of it, and no version to look up holes for.
Bodies are the application's: `client_max_size`, and `asyncio.timeout` around what reads one.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.errors import SettingsError

LONGEST = 60.0  # seconds for a whole connection: who takes no answer makes room in the end
SLOWEST = 5.0  # seconds for a request's head and its body each; Slack itself waits three for the answer
CLOSING = 2.0

_HEADERS = {"Server": "broadsheet", "Cache-Control": "no-store"}


class _Connections:
    """Closes connections on which no whole head of a request has come in time: aiohttp itself would wait for ever."""

    def __init__(self, slowest: float, longest: float, most: int | None) -> None:
        self._slowest, self._longest, self._most = slowest, longest, most
        self._begun: set[object] = set()

    def made_by(self, server: web.Server) -> Callable[[], asyncio.Protocol]:
        def made() -> asyncio.Protocol:
            if self._most is not None and len(server.connections) >= self._most:
                return _Refusal()
            loop = asyncio.get_running_loop()
            # None switches it off, as web.AppRunner does: who has a link may do what it says, so no log may have one.
            no_log: Any = None
            protocol = _Protocol(server, self._longest, loop=loop, access_log=no_log, lingering_time=self._slowest)
            loop.call_later(self._slowest, self._look, protocol)
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


class _Protocol(web.RequestHandler):
    """Tells who sends no HTTP that this is so, and nothing else: neither what they sent nor what answers.

    Ends a connection whose answer is not taken: closing it alone would wait for that.
    """

    __slots__ = ("_end", "_longest")

    def __init__(self, server: web.Server, longest: float, **given: Any) -> None:
        super().__init__(server, **given)
        self._longest = longest

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - TCP's
        self._end = self._loop.call_later(self._longest, transport.abort)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._end.cancel()
        super().connection_lost(exc)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        if status >= web.HTTPInternalServerError.status_code:
            return super().handle_error(request, status, exc, message)
        response = web.Response(status=status, headers=_HEADERS)
        response.force_close()
        return response


class _Refusal(asyncio.Protocol):
    """Ends a connection for which there is no room."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


@asynccontextmanager
async def serving(
    application: web.Application,
    host: str,
    port: int,
    refused: Callable[[str], str],
    *,
    slowest: float = SLOWEST,
    longest: float = LONGEST,
    most: int | None = None,
) -> AsyncIterator[tuple[str, int]]:
    """Answer at the address until the block ends; port 0 takes a free one. Yields where it really is.

    More than `most` connections at a time are closed unheard. Raises SettingsError when the address cannot be used, with
    what `refused` makes of the reason.
    """
    connections = _Connections(slowest, longest, most)
    application.middlewares.insert(0, connections.noted)
    application.on_response_prepare.append(_plain)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=CLOSING, handle_signals=False)
    await runner.setup()
    try:
        assert runner.server is not None  # noqa: S101 - setup made it
        try:
            server = await asyncio.get_running_loop().create_server(connections.made_by(runner.server), host, port)
        except OSError as error:
            why = os.strerror(error.errno) if error.errno and error.errno > 0 else "it is no address of this machine"
            raise SettingsError(refused(why)) from error
        try:
            place = server.sockets[0].getsockname()
            yield str(place[0]), int(place[1])
        finally:
            server.close()
    finally:
        await runner.cleanup()


async def _plain(_: web.Request, response: web.StreamResponse) -> None:
    """No version to look up holes for, nothing kept on the way, and the connection ends with the answer."""
    response.headers["Server"] = _HEADERS["Server"]
    response.headers.setdefault("Cache-Control", _HEADERS["Cache-Control"])
    response.headers["Connection"] = "close"  # said, as well as done: the other side would use it again
    response.force_close()
