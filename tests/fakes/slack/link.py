"""Socket Mode: docs.slack.dev/apis/events-api/using-socket-mode."""

import asyncio
import itertools
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from tests.fakes.slack import wire
from tests.fakes.slack.call import Call
from tests.fakes.slack.state import Json
from tests.fakes.slack.world import World
from tests.fakes.slack.wrong import Wrong

_MOST = 10  # connections of an app
_TICKET = 30.0  # seconds that an address may be used, once


@dataclass(slots=True, eq=False)
class Connection:
    """One open socket."""

    request: web.Request
    socket: web.WebSocketResponse
    number: int
    is_silent: bool = False
    pings: int = 0
    waiting: dict[str, asyncio.Future[Json]] = field(default_factory=dict)

    async def say(self, what: Json) -> None:
        """Send it, unless nothing gets through."""
        if not self.is_silent:
            await self.socket.send_str(json.dumps(what))


class Link:
    """The sockets of the app."""

    def __init__(self, world: World) -> None:
        self.url = ""
        self.down = False  # no new connections
        self.all: list[Connection] = []  # every one there ever was
        self._open: list[Connection] = []
        self._tickets: dict[str, float] = {}
        self._turn = itertools.count()
        self._world = world

    @property
    def connections(self) -> Sequence[Connection]:
        """Those that are open, silent ones too."""
        return tuple(self._open)

    def connect(self, world: World, call: Call) -> Json:
        """apps.connections.open."""
        if self.down:
            raise Wrong("internal_error")
        ticket = secrets.token_hex(16)
        self._tickets[ticket] = world.now
        return {"url": f"{self.url}/link/?ticket={ticket}&app_id=A0BROAD"}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Hold one socket until it ends."""
        at = self._tickets.pop(request.query.get("ticket", ""), None)
        if self.down or at is None or self._world.now - at > _TICKET or len(self._open) >= _MOST:
            return web.Response(status=408 if at is None else 503)
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        connection = Connection(request, socket, len(self.all))
        self.all.append(connection)
        self._open.append(connection)
        try:
            await connection.say(_hello(len(self._open)))
            self._world.changed()
            await self._listen(connection)
        finally:
            self._forget(connection)
        return socket

    async def _listen(self, connection: Connection) -> None:
        async for message in connection.socket:
            if message.type is WSMsgType.PING:
                connection.pings += 1
                if not connection.is_silent:
                    await connection.socket.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._acknowledged(connection, json.loads(message.data))

    def _acknowledged(self, connection: Connection, said: Json) -> None:
        waiting = connection.waiting.pop(said.get("envelope_id", ""), None)
        if waiting is not None and not waiting.done():
            waiting.set_result(said.get("payload") or {})

    async def deliver(self, kind: str, payload: Json, within: float, attempt: int, reason: str) -> Json | None:
        """Send an envelope down one of the sockets; return what it was acknowledged with, None when it was not in time.

        Raises LookupError when no socket is open.
        """
        envelope: Json = {
            "envelope_id": f"{secrets.token_hex(4)}-{secrets.token_hex(2)}-4000-8000-{secrets.token_hex(6)}",
            "payload": payload,
            "type": kind,
            "accepts_response_payload": kind != "events_api",
        }
        if kind == "events_api":
            envelope |= {"retry_attempt": attempt, "retry_reason": reason}
        return await self.send(envelope, within)

    async def send(self, envelope: Json, within: float) -> Json | None:
        """Send an envelope as it stands, whether or not it can be read; return and raise as `deliver`."""
        if not self._open:
            raise LookupError("no socket is open")
        connection = self._open[next(self._turn) % len(self._open)]
        waiting = connection.waiting[envelope["envelope_id"]] = asyncio.get_running_loop().create_future()
        await connection.say(envelope)
        done, _ = await asyncio.wait([waiting], timeout=within)
        return waiting.result() if done and not waiting.cancelled() else None

    async def disconnect(self, reason: str) -> None:
        """Ask every client to connect anew, as Slack does some times a day; but for a warning the sockets close at once."""
        for each in self.connections:
            await each.say({"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-fake"}})
            if reason != "warning":
                await each.socket.close()

    def drop(self) -> None:
        """Cut every socket."""
        for each in self.connections:
            wire.cut(each.request)

    def silence(self) -> None:
        """Let nothing through any more on the sockets that are open now, not even an answer to a ping."""
        for each in self.connections:
            each.is_silent = True

    async def close(self) -> None:
        """Close what is open, politely."""
        for each in self.connections:
            await each.socket.close()

    def _forget(self, connection: Connection) -> None:
        if connection in self._open:
            self._open.remove(connection)
        for each in connection.waiting.values():
            each.cancel()
        self._world.changed()


def _hello(number: int) -> Json:
    return {
        "type": "hello",
        "num_connections": number,
        "debug_info": {"host": "applink-fake", "build_number": 1, "approximate_connection_time": 18060},
        "connection_info": {"app_id": "A0BROAD"},
    }
