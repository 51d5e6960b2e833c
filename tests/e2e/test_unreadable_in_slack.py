"""What slack_bolt and slack_sdk cannot read costs nothing else: acknowledged, logged, and the socket stays."""

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.connection.socket_mode import TIMEOUTS
from tests.conftest import tries
from tests.e2e import slack_rooms
from tests.e2e.slack_rooms import Room, connected, service
from tests.fakes import slack
from tests.fakes.malformed import malformed, put, without
from tests.fakes.slack import payloads
from tests.fakes.slack.posted import signed

SAID = "in a form that I could not read"
SOON = 5.0  # seconds for an acknowledgement; Slack gives three, on a machine that is not busy


def things(fake: slack.FakeSlack) -> Mapping[str, tuple[str, Any]]:
    """Return what Slack sends, by name: by which kind of envelope, and what it carries."""
    team, anna, general = fake.world.teams[fake.general.team], fake.anna, fake.general
    who = payloads.command(
        team, anna, general, {"command": "/digest", "text": "help", "response_url": "", "trigger_id": "1.2"}
    )
    view = {
        "id": "V1",
        "type": "modal",
        "callback_id": "topic",
        "private_metadata": "",
        "state": {"values": {}},
        "blocks": [],
    }
    acts = {
        "user": {"id": anna.id, "team_id": team.id},
        "team": {"id": team.id, "domain": "broad"},
        "enterprise": None,
        "is_enterprise_install": False,
        "trigger_id": "3.4",
    }
    happened: Mapping[str, Mapping[str, Any]] = {
        "app_home_opened": {"user": anna.id, "channel": general.id, "tab": "home"},
        "link_shared": {"channel": general.id, "message_ts": "1.2", "links": [{"url": "https://arxiv.org/abs/2603.00001"}]},
        "channel_rename": {"channel": {"id": general.id, "name": "g"}},
        "something_new": {"channel": general.id},
    }
    return {
        "command": ("slash_commands", who),
        "block_actions": (
            "interactive",
            {"type": "block_actions", **acts, "channel": {"id": general.id}, "actions": [{"action_id": "a", "value": "v"}]},
        ),
        "view_submission": ("interactive", {"type": "view_submission", **acts, "view": view, "response_urls": [{}]}),
        "view_closed": ("interactive", {"type": "view_closed", **acts, "view": view}),
        "message_action": ("interactive", {"type": "message_action", **acts, "callback_id": "similar", "message": {}}),
        **{name: ("events_api", payloads.event(team, {"type": name, **more}, at=1.0)) for name, more in happened.items()},
    }


class Both:
    """A workspace that is connected, by socket or by HTTP."""

    def __init__(self, fake: slack.FakeSlack, room: Room, *, by_http: bool) -> None:
        self.fake, self.room, self.by_http = fake, room, by_http
        self._post = fake.delivers_to(f"{room.url}/slack/events") if by_http else None

    @property
    def unreadable(self) -> int:
        return self.room.line.unreadable["slack"]

    async def send(self, kind: str, payload: Any) -> Any:
        """Send it as Slack would; return what it was acknowledged with, None when it was not."""
        if self._post is None:
            return await self.fake.link.deliver(kind, payload, SOON, 0, "")
        if kind == "slash_commands" and not isinstance(payload, dict):
            kind = "interactive"
        return await self._post.deliver(kind, payload, SOON, 0, "")

    async def send_body(self, body: bytes) -> int:
        """Post it, signed; return the status."""
        assert self._post is not None
        headers = {"Content-Type": "application/json", **signed(self.fake.signing_secret, body, time.time())}
        return (await self._post.send(body, headers))[0]

    async def is_helped(self) -> None:
        """Ask, and be answered by the socket that was there from the beginning."""
        await (await self.fake.command("help")).answer_with("search")
        assert len(self.fake.link.all) == (0 if self.by_http else 1)
        assert self.room.trouble == ""


@asynccontextmanager
async def hearing(folder: Path, *, by_http: bool) -> AsyncIterator[Both]:
    async with slack.running(tiers=False) as fake, service(folder) as app:
        more = {"mode": "http", "signing_secret": fake.signing_secret, "port": 0} if by_http else {}
        async with connected(app, slack_rooms.settings(fake, **more), timeouts=TIMEOUTS) as room:
            if not by_http:
                await fake.connected()
                await room.until(lambda: not room.trouble)
            yield Both(fake, room, by_http=by_http)


@pytest.mark.parametrize("by_http", [False, True], ids=["socket", "http"])
@settings(max_examples=tries(24))
@given(data=st.data())
def test_whatever_is_malformed_is_acknowledged_and_the_next_command_answered(by_http: bool, data: st.DataObject) -> None:
    async def law(folder: Path) -> None:
        async with hearing(folder, by_http=by_http) as both:
            every, sent = things(both.fake), set()
            for _ in range(8):
                name = data.draw(st.sampled_from(sorted(every)))
                kind, payload = every[name]
                drawn = data.draw(malformed(payload))
                if (text := json.dumps(drawn)) not in sent:  # signed twice in a second it is the same, and refused
                    sent.add(text)
                    assert await both.send(kind, drawn) is not None, name
            await both.is_helped()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(law(Path(folder)))


@pytest.mark.parametrize("by_http", [False, True], ids=["socket", "http"])
@pytest.mark.parametrize(
    ("name", "place", "other"),
    [
        ("command", ("team_id",), None),
        ("app_home_opened", ("authorizations",), [None]),
        ("block_actions", ("user",), 7),
        ("view_submission", ("response_urls",), 7),
        ("link_shared", ("event",), 7),
    ],
)
async def test_what_cannot_be_read_is_named_in_the_log_and_counted(
    by_http: bool, name: str, place: tuple[str], other: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with hearing(tmp_path, by_http=by_http) as both:
        kind, payload = things(both.fake)[name]
        if name == "command":
            kind, payload = "slash_commands", {**payload, "authorizations": "x"}
        said = await both.send(kind, put(payload, place, other))
        await both.is_helped()
        word = "event_callback" if name == "link_shared" else name
        assert f"slack: {word} (" in caplog.text
        assert both.unreadable == 1
        if name == "command":
            assert SAID in said["text"]
        if name == "view_submission":
            assert SAID in json.dumps(said["view"])


@pytest.mark.parametrize("lacks", ["payload", "type", "null", "list"])
async def test_an_envelope_that_lacks_something_is_acknowledged(
    lacks: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with hearing(tmp_path, by_http=False) as both:
        envelope = {"envelope_id": "e-1", "type": "events_api", "payload": {}, "accepts_response_payload": False}
        other: Mapping[str, Any] = {"null": None, "list": []}
        sent = put(envelope, ("payload",), other[lacks]) if lacks in other else without(envelope, (lacks,))
        assert await both.fake.link.send(sent, SOON) == {}
        await both.is_helped()
        assert both.unreadable == 1
        assert "could not be read" in caplog.text


@pytest.mark.parametrize("text", ["{", "[]", "nothing", '{"type": []}', '{"type": "new", "envelope_id": 7, "payload": {}}'])
async def test_a_socket_survives_what_is_no_envelope(text: str, tmp_path: Path) -> None:
    async with hearing(tmp_path, by_http=False) as both:
        for each in both.fake.link.connections:
            await each.socket.send_str(text)
        await both.is_helped()


@pytest.mark.parametrize("body", [b"[]", b"{", b"null", b"7", b"payload=%5B%5D", b"payload=x", b"\xff", b"[" * 100_000])
async def test_a_signed_body_that_is_no_request_is_not_asked_for_again(body: bytes, tmp_path: Path) -> None:
    async with hearing(tmp_path, by_http=True) as both:
        assert await both.send_body(body) in (200, 401)
        await both.is_helped()
