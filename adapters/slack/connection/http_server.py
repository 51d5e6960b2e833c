"""The HTTP server: what Slack sends, signed, and the two pages of an installation. Plain HTTP: a proxy before it speaks TLS.

Everyone can reach it, so: bodies of at most 1 MiB, five seconds to send one, one request a connection, and nothing is told
to who has no signature.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_sdk.signature import Clock, SignatureVerifier

from adapters import http_server
from adapters.chat.seen import SeenEvents
from adapters.http_server import SLOWEST
from adapters.slack.connection.dispatch import Dispatcher
from adapters.slack.install.manifest import EVENTS_PATH, INSTALL_PATH, REDIRECT_PATH
from adapters.slack.install.oauth import InstallPages

LARGEST = 2**20  # bytes; the largest of Slack's payloads, a click in a full dialogue, has a fifth of it


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


@asynccontextmanager
async def serving(
    host: str, port: int, events: EventsEndpoint | None, pages: InstallPages | None, *, slowest: float = SLOWEST
) -> AsyncIterator[tuple[str, int]]:
    """Answer at the address until the block ends; port 0 takes a free one. Yields where it really is.

    Raises SettingsError when the address cannot be used.
    """

    def refused(why: str) -> str:
        return f"Slack cannot be heard at {host}:{port}: {why}; change `port` or `host` in [slack]."

    async with http_server.serving(_application(events, pages), host, port, refused, slowest=slowest) as place:
        yield place


def _application(events: EventsEndpoint | None, pages: InstallPages | None) -> web.Application:
    application = web.Application(client_max_size=LARGEST)
    if events is not None:
        application.router.add_post(EVENTS_PATH, events.answer)
    if pages is not None:
        application.router.add_get(INSTALL_PATH, pages.begin, allow_head=False)
        application.router.add_get(REDIRECT_PATH, pages.finish, allow_head=False)
    return application
