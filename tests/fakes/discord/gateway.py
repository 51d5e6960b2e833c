"""The gateway: sessions that are begun, resumed and lost, and events told to them."""

import asyncio
import json
import math
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from tests.fakes.discord.things import Guild
from tests.fakes.discord.world import Wrong
from tests.fakes.patience import PATIENCE

if TYPE_CHECKING:
    from tests.fakes.discord.fake import FakeDiscord

_DISPATCH, _HEARTBEAT, _IDENTIFY, _RESUME, _RECONNECT, _MEMBERS, _INVALID, _HELLO, _ACK = 0, 1, 2, 6, 7, 8, 9, 10, 11
GUILDS, MESSAGE_CONTENT = 1 << 0, 1 << 15
PRIVILEGED = 1 << 1 | 1 << 8 | MESSAGE_CONTENT
# Which intent an event needs: in a server, in private. What is not named here needs GUILDS; interactions need none.
_INTENTS = {
    "MESSAGE_CREATE": (1 << 9, 1 << 12),
    "MESSAGE_UPDATE": (1 << 9, 1 << 12),
    "MESSAGE_DELETE": (1 << 9, 1 << 12),
    "MESSAGE_REACTION_ADD": (1 << 10, 1 << 13),
    "MESSAGE_REACTION_REMOVE": (1 << 10, 1 << 13),
    "INTERACTION_CREATE": (0, 0),
}
_HIDDEN: Mapping[str, Any] = {"content": "", "embeds": [], "components": [], "attachments": []}
_MOST, _WINDOW = 120, 60.0  # events that a client may send in so many seconds


@dataclass(slots=True, eq=False)
class Session:
    """What a client was told, connected or not."""

    id: str
    intents: int
    shard: tuple[int, int]
    events: list[dict[str, Any]] = field(default_factory=list)
    line: "Connection | None" = None

    def tell(self, event: str, data: Any) -> None:
        """Tell it now, or when it resumes."""
        said = {"op": _DISPATCH, "t": event, "s": len(self.events) + 1, "d": data}
        self.events.append(said)
        if self.line is not None:
            self.line.send(said)


class Connection:
    """One socket."""

    def __init__(self, socket: web.WebSocketResponse, transport: asyncio.Transport | None, *, compressed: bool) -> None:
        self.socket = socket
        self.transport = transport
        self.session: Session | None = None
        self.came: deque[float] = deque()
        self._zlib = zlib.compressobj() if compressed else None
        self._out: asyncio.Queue[str | int] = asyncio.Queue()

    def send(self, said: Mapping[str, Any] | str) -> None:
        """Send a payload, in turn."""
        self._out.put_nowait(said if isinstance(said, str) else json.dumps(said))

    def close(self, code: int) -> None:
        """Close with that code after what was sent before."""
        self._out.put_nowait(code)

    async def write(self) -> None:
        """Write what is to be sent, until the socket is closed."""
        while isinstance(text := await self._out.get(), str):
            if self._zlib is None:
                await self.socket.send_str(text)
            else:
                await self.socket.send_bytes(self._zlib.compress(text.encode()) + self._zlib.flush(zlib.Z_SYNC_FLUSH))
        await self.socket.close(code=text)


class Gateway:
    """All sessions. What may be set while it runs says how it fails."""

    def __init__(self, fake: "FakeDiscord") -> None:
        self._fake = fake
        self.sessions: dict[str, Session] = {}
        self.lines: set[Connection] = set()
        self.is_down = False  # takes no connections
        self.is_deaf = False  # acknowledges no heartbeat
        self.interval = 41.25  # seconds between heartbeats
        # So many seconds between two IDENTIFYs of shards with the same remainder by max_concurrency; what comes earlier
        # makes an invalid session; Discord's: 5.
        self.identify_every = 0.0
        self.identifies: list[float] = []  # when, in the event loop's time
        self.too_soon = 0  # IDENTIFYs that were refused for that
        self.doubled: list[int] = []  # shards of which a session began while another one was connected
        self.garble: dict[str, Callable[[Any], Any]] = {}  # by event: what is told instead of what it carries
        self.resumes = 0
        self.heartbeats = 0
        self.changed = asyncio.Event()
        self._taken: dict[int, float] = {}  # by remainder: when the last IDENTIFY came

    # --- what tests do

    @property
    def connected(self) -> list[int]:
        """The shards that are connected and identified, one for each of their sessions."""
        return sorted(each.shard[0] for each in self.sessions.values() if each.line is not None)

    @property
    def is_heard(self) -> bool:
        """Whether a client is connected, identified and was told that it is."""
        return any(each.session is not None and not each.socket.closed for each in self.lines)

    async def heard(self, seconds: float = PATIENCE, *, no_more: bool = False) -> None:
        """Wait until a client is connected and identified, or none is any more; raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while self.is_heard is no_more:
                self.changed.clear()
                await self.changed.wait()

    def drop(self, code: int | None = None) -> None:
        """Cut every connection; with a code, close them with that."""
        for each in list(self.lines):
            if each.session is not None:
                each.session.line = None
            if code is not None:
                each.close(code)
            elif each.transport is not None:
                each.transport.abort()

    def invalidate(self, *, resumable: bool = False) -> None:
        """Tell every client that its session is invalid; unless it is `resumable`, forget it."""
        for each in list(self.lines):
            each.send({"op": _INVALID, "d": resumable})
            if each.session is not None and not resumable:
                self.sessions.pop(each.session.id, None)
                each.session.line = None
                each.session = None

    def forget(self) -> None:
        """Forget every session, so that none can be resumed."""
        self.sessions.clear()

    def ask_to_reconnect(self) -> None:
        """Ask every client to come back."""
        for each in self.lines:
            each.send({"op": _RECONNECT, "d": None})

    def send_raw(self, text: str) -> None:
        """Send every client something that may be no payload at all."""
        for each in self.lines:
            each.send(text)

    def send_event(self, event: Any, data: Any) -> None:
        """Send every client an event as it stands, whatever it heard of and whether or not it can be read."""
        for each in self.sessions.values():
            each.tell(event, data)

    def end_clients(self) -> None:
        """Close every connection with a code after which discord.py's client ends."""
        self.drop(4010)

    # --- what the fake does

    def dispatch(self, event: str, data: Mapping[str, Any], guild: Guild | None) -> None:
        """Tell the sessions that listen for it."""
        for each in self.sessions.values():
            shard, shards = each.shard
            needed = _INTENTS.get(event, (GUILDS, 0))[0 if guild is not None else 1]
            if shard != (0 if guild is None else (guild.id >> 22) % shards) or each.intents & needed != needed:
                continue
            is_hidden = "content" in data and guild is not None and not each.intents & MESSAGE_CONTENT
            bot = str(self._fake.bot.id)
            is_meant = is_hidden and (data["author"]["id"] == bot or f"<@{bot}>" in data["content"])
            self._tell(each, event, {**data, **_HIDDEN} if is_hidden and not is_meant else data)

    def _tell(self, session: Session, event: str, data: Mapping[str, Any]) -> None:
        session.tell(event, self.garble[event](data) if event in self.garble else data)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Hold one connection."""
        if self.is_down:
            return web.Response(status=503, text="upstream connect error")
        socket = web.WebSocketResponse(max_msg_size=4096 * 4)
        await socket.prepare(request)
        line = Connection(socket, request.transport, compressed=request.query.get("compress") == "zlib-stream")
        self.lines.add(line)
        writer = asyncio.create_task(line.write())
        line.send({"op": _HELLO, "s": None, "t": None, "d": {"heartbeat_interval": int(self.interval * 1000)}})
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._take(line, json.loads(message.data))
        finally:
            self._lose(line)
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        return socket

    def _lose(self, line: Connection) -> None:
        self.lines.discard(line)
        if line.session is not None and line.session.line is line:
            line.session.line = None
        self.changed.set()

    def _take(self, line: Connection, said: Mapping[str, Any]) -> None:
        """Take one payload of a client."""
        now = asyncio.get_running_loop().time()
        line.came.append(now)
        while line.came[0] <= now - _WINDOW:
            line.came.popleft()
        if len(line.came) > _MOST:
            self._fake.wrong.append(Wrong("gateway", f"More than {_MOST} events in a minute."))
            line.close(4008)
        match said["op"]:
            case 1:
                self.heartbeats += 1
                if not self.is_deaf:
                    line.send({"op": _ACK, "d": None})
            case 2:
                self._identify(line, said["d"], now)
            case 6:
                self._resume(line, said["d"])
            case 8:
                self._members(line, said["d"])
            case 3 | 4:
                pass
            case other:
                self._fake.wrong.append(Wrong("gateway", f"A client sends no payload of type {other}."))
                line.close(4001)

    def _identify(self, line: Connection, said: Mapping[str, Any], now: float) -> None:
        if line.session is not None:
            line.close(4005)
            return
        if said["token"] != self._fake.token:
            line.close(4004)
            return
        if said["intents"] & PRIVILEGED & ~self._fake.privileged:
            line.close(4014)
            return
        shard, shards = said.get("shard", (0, 1))
        place = shard % self._fake.max_concurrency
        too_soon = now - self._taken.get(place, -math.inf) < self.identify_every
        self._taken[place] = now
        self.identifies.append(now)
        self.too_soon += too_soon
        if too_soon or self._fake.identifies_left <= 0:
            line.send({"op": _INVALID, "d": False})
            return
        self._fake.identifies_left -= 1
        self.doubled += [shard] if shard in self.connected else []
        session = Session(f"s{self._fake.new_id()}", said["intents"], (shard, shards), line=line)
        self.sessions[session.id] = line.session = session
        self._welcome(session)
        self.changed.set()

    def _welcome(self, session: Session) -> None:
        fake, (shard, shards) = self._fake, session.shard
        mine = [each for each in fake.guilds.values() if fake.bot.id in each.members and (each.id >> 22) % shards == shard]
        ready = {
            "v": 10,
            "user": fake.bot.shape() | {"mfa_enabled": False, "verified": True, "email": None},
            "guilds": [{"id": str(each.id), "unavailable": True} for each in mine],
            "session_id": session.id,
            "resume_gateway_url": fake.gateway_url,
            "shard": [shard, shards],
            "application": {"id": str(fake.application), "flags": fake.application_flags},
        }
        self._tell(session, "READY", ready)
        for each in mine if session.intents & GUILDS else ():
            gone = {"id": str(each.id), "unavailable": True}
            self._tell(session, "GUILD_CREATE", gone if each.is_gone else each.event(fake.bot))

    def _resume(self, line: Connection, said: Mapping[str, Any]) -> None:
        session = self.sessions.get(said["session_id"])
        if said["token"] != self._fake.token or session is None or (said["seq"] or 0) > len(session.events):
            line.send({"op": _INVALID, "d": False})
            return
        if session.line is not None:
            session.line.session = None
            session.line.close(4000)
        session.line, line.session = line, session
        self.resumes += 1
        for each in session.events[said["seq"] or 0 :]:
            line.send(each)
        session.tell("RESUMED", {})
        self.changed.set()

    def _members(self, line: Connection, said: Mapping[str, Any]) -> None:
        guild = self._fake.guilds[int(said["guild_id"])]
        wanted = {int(each) for each in said.get("user_ids") or ()}
        found = [each.shape() for each in guild.members.values() if not wanted or each.user.id in wanted]
        chunk = {"guild_id": str(guild.id), "members": found, "chunk_index": 0, "chunk_count": 1, "not_found": []}
        if line.session is not None:
            line.session.tell("GUILD_MEMBERS_CHUNK", chunk | ({"nonce": said["nonce"]} if "nonce" in said else {}))
