"""Answers that do not arrive whole."""

import socket
import struct

from aiohttp import web


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
