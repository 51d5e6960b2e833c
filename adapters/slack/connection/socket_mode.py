"""Socket Mode: one web socket to Slack, watched, and given up for a new one when it has gone silent.

slack_sdk's client keeps the protocol. Its own reconnecting is off but for the refresh that Slack asks for, because clients
have been seen that stay deaf until they are built anew (slackapi/python-slack-sdk#1110, #1446, #1462, #1922): here whatever
is wrong ends the client, and the runner begins with a new one, after a while that grows.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aiohttp import ClientSession
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from adapters.chat.connection import Outage
from adapters.slack.client.api import Clients, library_log
from adapters.slack.client.errors import FAILURES, failure_reason
from adapters.slack.connection.dispatch import Dispatcher
from bot.errors import BotError, Delayed, Reach, SettingsError

CLOSING = 2.0  # seconds for saying goodbye

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SocketTimeouts:
    """How long a socket is trusted, in seconds."""

    opening: float = 30.0  # until Slack has said hello
    silence: float = 60.0  # without a pong or a message
    gap: float = 10.0  # without a connection, while Slack moves us to another
    ping: float = 10.0  # between pings
    look: float = 1.0  # between looks


TIMEOUTS = SocketTimeouts()


class _Client(SocketModeClient):
    """slack_sdk's client on a session that is not its own."""

    def __init__(self, session: ClientSession, **values: Any) -> None:
        super().__init__(logger=library_log, auto_reconnect_enabled=False, **values)
        self._made, self.aiohttp_client_session = self.aiohttp_client_session, session

    async def connect(self) -> None:
        """Connect once. slack_sdk's goes on for ever with an address that is good for one attempt."""
        if self.current_session is not None:
            await self.current_session.close()
        self.current_session = await self.aiohttp_client_session.ws_connect(
            str(self.wss_uri), autoping=False, heartbeat=self.ping_interval, proxy=self.proxy
        )
        for task in (self.current_session_monitor, self.message_receiver):
            if task is not None:
                task.cancel()
        self.current_session_monitor = asyncio.ensure_future(self.monitor_current_session())
        self.message_receiver = asyncio.ensure_future(self.receive_messages())

    async def close(self) -> None:
        """End everything of it, and leave the session alone."""
        self.closed = True
        await self._made.close()
        tasks = [each for each in (self.message_processor, self.current_session_monitor, self.message_receiver) if each]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.current_session is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSING):  # the other side may be silent
                    await self.current_session.close()


class SocketMode:
    """Listens to Slack by a socket, for as long as it is left running."""

    def __init__(
        self,
        clients: Clients,
        dispatcher: Dispatcher,
        clock: Callable[[], datetime],
        *,
        timeouts: SocketTimeouts = TIMEOUTS,
    ) -> None:
        self._clients, self._dispatcher, self._clock, self._timeouts = clients, dispatcher, clock, timeouts
        self._outage = Outage("Slack", clock)
        self._heard_at = 0.0  # of the loop's clock

    def trouble(self, now: datetime) -> str:
        """Return why nobody is heard now, "" while all is well."""
        return " ".join(filter(None, (self._outage.sentence(), self._clients.trouble())))

    async def run(self) -> None:
        """Listen until something is wrong, which is raised as a BotError."""
        try:
            await self._listen()
        except BotError as error:
            self._outage.begin(str(error).rstrip("."))
            raise

    async def _listen(self) -> None:
        client = _Client(
            self._clients.session,
            app_token=self._clients.settings.app_token.get_secret_value(),
            web_client=self._clients.new_client(),
            ping_interval=self._timeouts.ping,
        )
        client.proxy = client.web_client.proxy
        client.message_listeners.append(self._noticed)
        client.socket_mode_request_listeners.append(self._take)
        try:
            await self._open(client)
            await self._watch(client)
        finally:
            await client.close()

    async def _open(self, client: _Client) -> None:
        try:
            async with asyncio.timeout(self._timeouts.opening):
                await self._identify()
                # Asked here, and not by `connect`, which would go on asking for ever.
                client.wss_uri = await client.issue_new_wss_url()
                await client.connect()
        except FAILURES as error:
            raise _connection_error(error) from error
        self._heard_at = asyncio.get_running_loop().time()

    async def _identify(self) -> None:
        """Find out who we are. A token in the settings that Slack refuses keeps no other workspace from being heard."""
        try:
            await self._clients.identify_own_token()
        except SlackApiError:
            if not self._clients.is_heard_without_own_token:
                raise
            log.error("%s", self._clients.trouble())  # noqa: TRY400 - foreseen

    async def _watch(self, client: _Client) -> None:
        loop, timeouts = asyncio.get_running_loop(), self._timeouts
        opened = connected = loop.time()
        pong: float | None = None
        while True:
            await asyncio.sleep(timeouts.look)
            now = loop.time()
            # In a slack_sdk without that name an open socket counts as heard: aiohttp closes one that answers no ping.
            latest = getattr(client, "last_ping_pong_time", now)
            if latest != pong:
                pong, self._heard_at = latest, now
            if client.current_session is not None and not client.current_session.closed:
                connected = now
            if now - connected >= timeouts.gap:
                raise Delayed("the connection was closed", reach=Reach.PLATFORM)
            if now - self._heard_at >= timeouts.silence:
                raise Delayed(f"nothing was heard for {timeouts.silence:.0f} seconds", reach=Reach.PLATFORM)
            if self._outage.lasts and now - opened >= timeouts.opening:
                raise Delayed("Slack did not say hello", reach=Reach.PLATFORM)

    async def _noticed(self, client: AsyncBaseSocketModeClient, message: dict[str, Any], raw: str | None) -> None:
        self._heard_at = asyncio.get_running_loop().time()
        if message.get("type") == "hello":
            log.info("Slack is heard, by a new socket")
            self._outage.end()
        envelope = message.get("envelope_id")
        if isinstance(envelope, str) and not ("type" in message and isinstance(message.get("payload"), dict | str)):
            # slack_sdk makes no request of it, and Slack would send it again.
            self._dispatcher.unreadable.note(message.get("type"), KeyError("payload" if "type" in message else "type"))
            await _acknowledge(client, envelope, BoltResponse(status=200))

    async def _take(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        response = await self._dispatcher.receive(request.payload, mode="socket_mode")
        await _acknowledge(client, request.envelope_id, response)


async def _acknowledge(client: AsyncBaseSocketModeClient, envelope: str, response: BoltResponse) -> None:
    """Answer an envelope with what is to be said; with nothing, so that who acted reads of it, where a listener failed."""
    if response.status != 200:
        return
    is_json = response.first_headers().get("content-type", "").startswith("application/json")
    payload = json.loads(response.body) if is_json and response.body else {"text": response.body} if response.body else None
    await client.send_socket_mode_response(SocketModeResponse(envelope_id=envelope, payload=payload))


def _connection_error(error: BaseException) -> BotError:
    """Return the failure to connect as a sentence: what the operator must mend, or what may pass."""
    why = failure_reason(error)
    if isinstance(error, SlackApiError) and why in {"invalid_auth", "not_authed", "token_revoked", "account_inactive"}:
        return SettingsError(
            f"Slack refuses `app_token` or `bot_token` in [slack] ({why}): copy them anew from the app's page"
        )
    if why in {"not_allowed_token_type", "missing_scope"}:
        return SettingsError(f"`app_token` in [slack] must be an app-level token (xapp-…) with connections:write ({why})")
    return Delayed(f"it could not be connected ({why})", reach=Reach.PLATFORM)
