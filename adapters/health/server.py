"""The small server: liveness, readiness, metrics. It tells nothing that is secret, and takes nothing but three GETs."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from adapters.health.metrics import exposition
from bot.errors import SettingsError
from bot.service.health import HealthCheck, ServiceHealth

CLOSING = 2.0  # seconds that an answer may still take when the service ends


@asynccontextmanager
async def serving(health: ServiceHealth, host: str, port: int) -> AsyncIterator[tuple[str, int]]:
    """Answer at the address until the block ends; port 0 takes a free one. Yields where it really is.

    Raises SettingsError when the address cannot be used.
    """
    runner = web.AppRunner(_application(health), access_log=None, shutdown_timeout=CLOSING, handle_signals=False)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            why = os.strerror(error.errno) if error.errno and error.errno > 0 else "it is no address of this machine"
            raise SettingsError(
                f"Nothing can be told at {host}:{port}: {why}; change `port` or `host` in [health]."
            ) from error
        place = runner.addresses[0]
        yield str(place[0]), int(place[1])
    finally:
        await runner.cleanup()


def _application(health: ServiceHealth) -> web.Application:
    async def healthz(_: web.Request) -> web.Response:
        return _told([health.alive()])

    async def readyz(_: web.Request) -> web.Response:
        return _told(await health.ready())

    async def metrics(_: web.Request) -> web.Response:
        measures = await health.measure()
        body = await asyncio.to_thread(exposition, measures)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})

    application = web.Application()
    application.add_routes([web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", metrics)])
    application.on_response_prepare.append(_plain)
    return application


async def _plain(_: web.Request, response: web.StreamResponse) -> None:
    """No version to look up holes for, and nothing that is kept and told again when it is no longer true."""
    response.headers["Server"] = "broadsheet"
    response.headers["Cache-Control"] = "no-store"


def _told(signs: Sequence[HealthCheck]) -> web.Response:
    """Answer 200 when all is well, otherwise 503, with what was looked at."""
    well = all(sign.well for sign in signs)
    told = {sign.name: {"well": sign.well, "text": sign.text} for sign in signs}
    return web.json_response({"well": well, "signs": told}, status=200 if well else 503)
