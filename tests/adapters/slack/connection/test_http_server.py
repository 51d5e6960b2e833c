"""The HTTP door: whoever is not Slack is refused, whatever comes twice too."""

import asyncio
import hashlib
import hmac
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chat.seen import SeenEvents
from adapters.slack.connection.dispatch import Dispatcher
from adapters.slack.connection.http_server import LARGEST, EventsEndpoint, serving
from bot.errors import SettingsError
from tests.adapters.slack.conftest import Room
from tests.conftest import NOW
from tests.fakes.patience import PATIENCE
from tests.stores.memory import MemoryStore

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
COMMAND = {
    "command": "/digest",
    "text": "help",
    "team_id": "T0BROAD",
    "user_id": "U0ANNA",
    "channel_id": "C1",
    "trigger_id": "1.2",
}


def signed(body: bytes, at: datetime, secret: str = SECRET) -> dict[str, str]:
    """As https://docs.slack.dev/authentication/verifying-requests-from-slack says."""
    stamp = str(int(at.timestamp()))
    made = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={made}",
        "Content-Type": "application/json" if body.startswith(b"{") else "application/x-www-form-urlencoded",
    }


def command(**values: str) -> bytes:
    return urlencode(COMMAND | values).encode()


class Visitor:
    """Sends to the door, and counts what came through."""

    def __init__(self, url: str, session: aiohttp.ClientSession, heard: list[str]) -> None:
        self.url, self.heard = f"{url}/slack/events", heard
        self._session = session

    async def send(self, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
        async with self._session.post(self.url, data=io.BytesIO(body), headers=headers) as response:
            return response.status, await response.text()


@asynccontextmanager
async def visiting(room: Room, *, slowest: float = 5.0) -> AsyncIterator[Visitor]:
    heard: list[str] = []

    @room.app.command("/digest")
    async def listener(ack: Any, payload: dict[str, Any]) -> None:
        await ack()
        heard.append(payload["text"])

    once = SeenEvents("slack", room.store.chats, lambda: NOW)
    door = Dispatcher(room.app, once, lambda: NOW)
    events = EventsEndpoint(SECRET, door, once, lambda: NOW, slowest=slowest)
    async with (
        serving("127.0.0.1", 0, events, None, slowest=slowest) as (host, port),
        aiohttp.ClientSession() as session,
    ):
        yield Visitor(f"http://{host}:{port}", session, heard)
        await door.close()


async def test_what_slack_signed_is_taken_and_done(room: Room) -> None:
    async with visiting(room) as visitor:
        assert await visitor.send(command(), signed(command(), NOW)) == (200, "")

    assert visitor.heard == ["help"]


@pytest.mark.parametrize("age", [-301, 301, 86_400])
async def test_what_is_stale_or_of_the_future_is_refused(room: Room, age: int) -> None:
    async with visiting(room) as visitor:
        status, text = await visitor.send(command(), signed(command(), NOW - timedelta(seconds=age)))

    assert (status, text, visitor.heard) == (401, "", [])


@pytest.mark.parametrize(
    "headers",
    [
        {},
        signed(command(), NOW, secret="another"),
        signed(command(text="other"), NOW),
        {**signed(command(), NOW), "X-Slack-Signature": "v0="},
        {**signed(command(), NOW), "X-Slack-Signature": "v0=\xfc"},
        {**signed(command(), NOW), "X-Slack-Request-Timestamp": "now"},
        {**signed(command(), NOW), "X-Slack-Request-Timestamp": str(int(NOW.timestamp()) + 1)},
    ],
    ids=["unsigned", "another secret", "another body", "empty", "not ASCII", "no time", "another time"],
)
async def test_what_is_forged_is_refused(room: Room, headers: dict[str, str]) -> None:
    async with visiting(room) as visitor:
        status, text = await visitor.send(command(), headers)

    assert (status, text, visitor.heard) == (401, "", [])


async def test_what_is_no_text_is_refused(room: Room) -> None:
    body = b"\xff\xfe\xfd"
    async with visiting(room) as visitor:
        assert (await visitor.send(body, signed(body, NOW)))[0] == 401


async def test_a_replayed_request_is_refused_and_one_that_slack_sends_again_is_ignored(room: Room) -> None:
    async with visiting(room) as visitor:
        first = await visitor.send(command(), signed(command(), NOW))
        replayed = await visitor.send(command(), signed(command(), NOW))
        again = await visitor.send(command(), signed(command(), NOW + timedelta(seconds=60)))

    assert (first[0], replayed[0], again[0]) == (200, 401, 200)
    assert visitor.heard == ["help"]


async def test_a_replay_to_a_process_that_has_just_started_is_ignored(room: Room) -> None:
    async with visiting(room) as before:
        await before.send(command(), signed(command(), NOW))
    async with visiting(room) as after:
        await after.send(command(), signed(command(), NOW))

    assert (before.heard, after.heard) == (["help"], [])


@given(st.binary(max_size=60), st.integers(-300, 300), st.integers(min_value=0), st.integers(1, 255))
def test_a_signature_is_good_for_its_own_body_alone(body: bytes, age: int, at: int, by: int) -> None:
    text = body.hex().encode()
    events = EventsEndpoint(SECRET, None, None, lambda: NOW)  # type: ignore[arg-type] # it looks at neither
    headers = signed(text, NOW - timedelta(seconds=age))
    changed = bytearray(text or b"a")
    changed[at % len(changed)] ^= by

    assert events.is_signed(text, headers)
    assert not events.is_signed(bytes(changed), headers)


async def test_slack_finds_the_address(room: Room) -> None:
    body = json.dumps(
        {"type": "url_verification", "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}
    ).encode()
    async with visiting(room) as visitor:
        status, text = await visitor.send(body, signed(body, NOW))
        unsigned, _ = await visitor.send(body, {"Content-Type": "application/json"})
        certificate = await visitor.send(b"ssl_check=1&token=x", {"Content-Type": "application/x-www-form-urlencoded"})

    assert (status, json.loads(text)["challenge"][:6]) == (200, "3eZbrw")
    assert unsigned == 401
    assert certificate == (200, "")


async def test_a_body_that_is_too_large_is_not_read(room: Room) -> None:
    body = b"a" * (LARGEST + 1)
    async with visiting(room) as visitor:
        assert (await visitor.send(body, signed(body, NOW)))[0] == 413


async def test_nothing_else_is_answered_and_nothing_is_told_of_what_answers(room: Room) -> None:
    async with visiting(room) as visitor, aiohttp.ClientSession() as session:
        async with session.get(visitor.url) as wrong_method, session.get(visitor.url.replace("events", "install")) as other:
            assert (wrong_method.status, other.status) == (405, 404)
            assert other.headers["Server"] == "broadsheet"


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /slack/events HTTP/1.1\r\nHost: a\r\n",
        b"POST /slack/events HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
    ],
    ids=["nothing", "half a head", "half a body"],
)
async def test_who_is_slow_is_cut_off(room: Room, sent: bytes) -> None:
    async with visiting(room, slowest=0.2) as visitor:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(visitor.url.split(":")[2].split("/")[0]))
        writer.write(sent)
        answer = await asyncio.wait_for(reader.read(), PATIENCE)  # until it is closed
        writer.close()
        await writer.wait_closed()

    assert answer == b"" or answer.startswith(b"HTTP/1.1 408")


async def test_an_address_that_is_taken_is_said_in_a_sentence() -> None:
    async with serving("127.0.0.1", 0, None, None) as (host, port):
        with pytest.raises(SettingsError, match="change `port` or `host`"):
            async with serving(host, port, None, None):
                pass


async def test_a_signature_needs_a_secret(room: Room) -> None:
    seen = SeenEvents("slack", MemoryStore().chats, lambda: NOW)
    with pytest.raises(ValueError, match="must not be empty"):
        EventsEndpoint("", Dispatcher(room.app, seen, lambda: NOW), seen, lambda: NOW)
