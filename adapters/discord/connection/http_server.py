"""The HTTP server for what people do in Discord, which Discord signs. Plain HTTP: a proxy before it speaks TLS.

Discord takes the first reply as this request's answer or, as here, by the callback endpoint that replies to the gateway's
interactions too: then the request itself is answered with 202 and no body
(docs.discord.com/developers/interactions/receiving-and-responding#interaction-callback). So a first reply may be tried
again, and what becomes of it is known. Discord sends each interaction once, and now and then something with a wrong
signature, to see it refused.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from adapters import http_server
from adapters.discord.install.invite import INTERACTIONS_PATH
from adapters.http_server import SLOWEST

LARGEST = 2**20  # bytes; a form with five fields of 4,000 characters has a tenth of it
OLDEST = timedelta(minutes=5)  # since an interaction was signed
_PING, _PONG = 1, 1


class InteractionsEndpoint:
    """Answers what comes to the address that Discord sends interactions to, when Discord has signed it."""

    def __init__(
        self,
        public_key: str,
        take: Callable[[Mapping[str, Any]], bool],
        clock: Callable[[], datetime],
        *,
        slowest: float = SLOWEST,
    ) -> None:
        """`take` goes on with an interaction and returns at once; False where nothing can be done with one now."""
        self._key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        self._take, self._clock, self._slowest = take, clock, slowest

    async def answer(self, request: web.Request) -> web.Response:
        """Answer 401 to what is not signed, or was signed more than five minutes ago; 202 to what is worked on."""
        try:
            async with asyncio.timeout(self._slowest):
                body = await request.read()
        except TimeoutError:
            return web.Response(status=408)
        if not self.is_signed(body, request.headers):
            return web.Response(status=401)
        said = _read(body)
        if said is None:
            return web.Response(status=400)
        if said.get("type") == _PING:
            return web.json_response({"type": _PONG})
        return web.Response(status=202 if self._take(said) else 503)

    def is_signed(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Say whether Discord signed it within the last five minutes."""
        stamp, signature = headers.get("X-Signature-Timestamp", ""), headers.get("X-Signature-Ed25519", "")
        try:
            if abs(self._clock().timestamp() - int(stamp)) > OLDEST.total_seconds():
                return False
            self._key.verify(bytes.fromhex(signature), stamp.encode() + body)
        except (ValueError, InvalidSignature):  # no number, no signature in hexadecimal digits, not that of the body
            return False
        return True


def _read(body: bytes) -> dict[str, Any] | None:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


@asynccontextmanager
async def serving(
    host: str, port: int, endpoint: InteractionsEndpoint, *, slowest: float = SLOWEST
) -> AsyncIterator[tuple[str, int]]:
    """Answer at the address until the block ends; port 0 takes a free one. Yields where it really is.

    Raises SettingsError when the address cannot be used.
    """

    def refused(why: str) -> str:
        return f"Discord cannot be heard at {host}:{port}: {why}; change `port` or `host` in [discord]."

    application = web.Application(client_max_size=LARGEST)
    application.router.add_post(INTERACTIONS_PATH, endpoint.answer)
    async with http_server.serving(application, host, port, refused, slowest=slowest) as place:
        yield place
