"""An event that discord.py cannot read costs that event, and not the connection.

discord.py ends a client with whatever its reading of one event raises, and the same event comes again with every new client.
Where each event is read, `DiscordWebSocket.received_message`, is no documented name, but the only place through which all of
them pass. It is held for the whole process, as the addresses are; without it events are read as before, which is said once.
"""

import json
import logging
from contextvars import ContextVar
from functools import wraps
from typing import Any, Protocol

from discord.gateway import DiscordWebSocket

log = logging.getLogger(__name__)

_DISPATCH, _HELLO = 0, 10  # docs.discord.com/developers/topics/opcodes-and-status-codes
_NAME = "received_message"


class Reader(Protocol):
    """Who is told of what could not be read."""

    def left_out(self, event: object, data: object, error: Exception) -> None:
        """Take note of an event that could not be read: its name, and what it carried, of any type."""
        ...


_read_now: ContextVar[tuple[Reader, str] | None] = ContextVar("_read_now", default=None)
_said: set[str] = set()


def note_received(reader: Reader, text: str) -> None:
    """Note what is read next in this task; to be called by who hears `socket_raw_receive`, before it is read."""
    _read_now.set((reader, text))


def isolate_events() -> None:
    """Let discord.py go on after an event that it cannot read. May be called any number of times."""
    usual: Any = getattr(DiscordWebSocket, _NAME, None)
    if usual is None:
        if _NAME not in _said:
            _said.add(_NAME)
            log.warning("This discord.py reads events in another way: one that it cannot read will end the connection.")
        return
    if hasattr(usual, "__wrapped__"):
        return

    @wraps(usual)
    async def received_message(socket: DiscordWebSocket, *given: Any, **named: Any) -> None:
        before = _read_now.set(None)
        try:
            await usual(socket, *given, **named)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the event's or raised again
            await _leave_out(socket, error)
        finally:
            _read_now.reset(before)

    setattr(DiscordWebSocket, _NAME, received_message)


async def _leave_out(socket: DiscordWebSocket, error: Exception) -> None:
    """Return where the event alone is lost. Raises the error where it is the connection's."""
    if (read_now := _read_now.get()) is None:
        raise error
    reader, text = read_now
    said = _payload(text)
    op = said.get("op", _DISPATCH)
    if op == _HELLO and isinstance(error, LookupError | TypeError | ValueError | AttributeError):
        await socket.close()
        raise ConnectionError("Discord's greeting could not be read") from error  # without it there are no heartbeats
    if op != _DISPATCH:
        raise error
    reader.left_out(said.get("t"), said.get("d"), error)


def _payload(text: str) -> dict[str, Any]:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
