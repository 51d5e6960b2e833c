"""Serving one assistant over standard input and output, as programs start it."""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST

from adapters.mcp.server import Asked, AssistantServer, Reader
from bot.errors import SettingsError, UsageError
from bot.handlers.assistants import token_of
from bot.handlers.context import HandlerContext
from bot.models import AssistantAccess

LONGEST_LINE = 1 << 20  # bytes of one message: no call needs more


def of(access: AssistantAccess) -> Reader:
    """Return for whom every request asks: this one."""

    async def reader(_asked: Asked) -> AssistantAccess:
        return access

    return reader


async def by_token(context: HandlerContext, text: str, clock: Callable[[], datetime]) -> Reader:
    """Return for whom requests ask by a token, which is looked up each time. Raises SettingsError where it opens nothing."""

    async def reader(_asked: Asked) -> AssistantAccess:
        token = await token_of(context.store, text, clock())
        if token is None:
            raise MCPError(INVALID_REQUEST, "The token of this assistant opens nothing any more.")
        return token.access

    if await token_of(context.store, text, clock()) is None:
        raise SettingsError("The token that this assistant was given opens nothing, or not any more.")
    return reader


async def serve(context: HandlerContext, reader: Reader, clock: Callable[[], datetime]) -> None:
    """Answer until standard input ends, or SIGTERM or SIGINT comes. Raises UsageError where nobody could ask.

    What anything else writes to standard output goes to standard error meanwhile, so that it spoils no message.
    """
    server = AssistantServer(context, reader, clock).server()
    async with _streams() as (lines, answers):
        serving = asyncio.ensure_future(_served(server, lines, answers))
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signum, serving.cancel)
        with suppress(asyncio.CancelledError):
            await serving


async def _served(server: Any, lines: "_Lines", answers: "_Answers") -> None:
    given, taken = cast("anyio.AsyncFile[str]", lines), cast("anyio.AsyncFile[str]", answers)  # of a file what is used of it
    try:
        async with stdio_server(given, taken) as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())
    except* (ConnectionError, anyio.BrokenResourceError):
        pass  # whoever asked has gone, or this is stopped in the middle of an answer


class _Lines:
    """The lines that are asked. A thread that waits for one could not be told to stop; this can."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream

    def __aiter__(self) -> "_Lines":
        return self

    async def __anext__(self) -> str:
        try:
            line = await self._stream.readline()
        except ValueError:  # longer than LONGEST_LINE: what is no message is answered as such
            return "\n"
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


class _Answers:
    """Where the answers go; a client that does not read them holds up its own answers alone."""

    def __init__(self, stream: asyncio.StreamWriter) -> None:
        self._stream = stream

    async def write(self, text: str) -> None:
        self._stream.write(text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        await self._stream.drain()


@asynccontextmanager
async def _streams() -> AsyncIterator[tuple[_Lines, _Answers]]:
    """Take standard input and output, and give them back. Raises UsageError where nobody talks through them."""
    if not (_is_pipe(0) and _is_pipe(1)):
        raise UsageError(
            "An assistant's program starts this command, and talks to it through pipes.", hint="docs/agents.md says how."
        )
    sys.stdout.flush()
    wire = os.dup(1)
    os.dup2(2, 1)
    try:
        yield await _piped(wire)
    finally:
        os.dup2(wire, 1)
        for descriptor in (0, wire):
            os.set_blocking(descriptor, True)  # whoever started us may go on with them
        os.close(wire)


def _is_pipe(descriptor: int) -> bool:
    """Say whether somebody is at its other end, who can be waited for."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:  # it is closed
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


async def _piped(wire: int) -> tuple[_Lines, _Answers]:
    loop, stream = asyncio.get_running_loop(), asyncio.StreamReader(LONGEST_LINE)
    flowing: Any = asyncio.streams.FlowControlMixin
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(os.dup(0), "rb", 0))
    transport, protocol = await loop.connect_write_pipe(flowing, os.fdopen(os.dup(wire), "wb", 0))
    transport.set_write_buffer_limits(high=0)  # an answer has gone out when it is flushed
    return _Lines(stream), _Answers(asyncio.StreamWriter(transport, protocol, None, loop))
