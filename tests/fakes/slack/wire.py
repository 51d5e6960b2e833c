"""Answers that do not arrive whole, or are none of Slack's."""

import socket
import struct

from aiohttp import web

from tests.fakes.platform import Fault
from tests.fakes.slack.faults import Failure


def cut(request: web.Request) -> None:
    """Cut the connection by a reset."""
    if request.transport is not None:
        plug = request.transport.get_extra_info("socket")
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()


async def half(request: web.Request) -> web.StreamResponse:
    """Begin an answer, and close the connection in its middle."""
    response = web.StreamResponse(headers={"Content-Length": "100", "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"ok": tr')
    if request.transport is not None:
        request.transport.close()
    return response


async def broken(request: web.Request, failure: Failure) -> web.StreamResponse:
    """Answer as a failure without a word of Slack's does: not at all, by half, or with somebody's page of HTML."""
    if failure.cut is Fault.HALF:
        return await half(request)
    if failure.cut is not None and failure.cut is not Fault.STALL:
        cut(request)
    kind = "application/json" if failure.page.startswith("{") else "text/html"
    return web.Response(status=failure.status or 504, text=failure.page, content_type=kind)
