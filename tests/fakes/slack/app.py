"""The smallest app that there is: slack_sdk's own clients, which answer as a test says."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack.running import FakeSlack
from tests.fakes.slack.state import Json

Answer = Callable[[Json], Json | None]


def client(fake: FakeSlack, token: str = "") -> AsyncWebClient:
    """Return slack_sdk's client of the Web API."""
    return AsyncWebClient(token=token or fake.bot_token, base_url=f"{fake.api_url}/", retry_handlers=[])


class App:
    """What it was sent; `answers` gives what each payload is acknowledged with, None for not at all."""

    def __init__(self) -> None:
        self.heard: list[SocketModeRequest] = []
        self.answers: Answer = lambda payload: {}

    async def hear(self, socket: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        self.heard.append(request)
        answer = self.answers(request.payload)
        if answer is not None:
            await socket.send_socket_mode_response(SocketModeResponse(request.envelope_id, answer or None))

    def payloads(self, kind: str) -> list[dict[str, Any]]:
        """Return what came of one type: "block_actions", "slash_commands", or an event's own."""
        return [each.payload for each in self.heard if kind in (each.type, each.payload.get("type"), _event(each.payload))]


def _event(payload: Json) -> object:
    return payload.get("event", {}).get("type")


@asynccontextmanager
async def listening(fake: FakeSlack) -> AsyncIterator[App]:
    """Connect an app."""
    app = App()
    socket = SocketModeClient(app_token=fake.app_token, web_client=client(fake, fake.app_token), ping_interval=0.2)
    socket.socket_mode_request_listeners.append(app.hear)
    await socket.connect()  # type: ignore[no-untyped-call]
    try:
        await fake.connected()
        yield app
    finally:
        await socket.close()  # type: ignore[no-untyped-call]
