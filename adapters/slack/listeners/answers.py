"""How an answer reaches the one who asked: through the interaction's response_url, else by the Web API.

A response_url takes five messages within thirty minutes, also in channels where the app is not a member
(docs.slack.dev, "Handling user interaction").
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client.api import Clients
from adapters.slack.client.errors import CLIENT_FAILURES, FAILURES, failure_reason
from adapters.slack.render import messages as render
from adapters.slack.render.blocks import FLAGS, SlackMessage
from bot.models import Attachment, Reply
from bot.ports.chats import Chats

log = logging.getLogger(__name__)

PATIENCE = 2.0  # seconds after which it is said that something is being done
_USES = 5
_AT_ONCE = 2  # answers that are laid out: more would only take the processor from each other
_SPAN = timedelta(minutes=29)
_LOOKING = SlackMessage("Looking…", ())
Block = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTarget:
    """Where the answer to one interaction goes."""

    workspace: str
    channel: str
    person: str
    url: str = ""  # the interaction's response_url
    thread: str = ""  # the thread that was acted in
    replaces: bool = False  # the message that was acted upon is for this person alone, and makes room for the answer
    may_replace: bool = True  # no message was acted upon: what stands there later is ours


class SlackAnswers:
    """Sends answers where they belong."""

    def __init__(self, clients: Clients, chats: Chats, clock: Callable[[], datetime]) -> None:
        self._clients = clients
        self._chats = chats
        self._clock = clock
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def answer(self, target: AnswerTarget, asking: Awaitable[Reply], beside: Sequence[Block] = ()) -> Reply:
        """Send the reply when it is there, and that it is looked for when that takes long. Raises nothing of Slack's.

        The blocks `beside` stand at the end of it.
        """
        pending = PendingAnswer(self._clients, target, self._clock)
        waited = asyncio.ensure_future(asking)
        if not (await asyncio.wait({waited}, timeout=PATIENCE))[0]:
            await pending.say_looking()
        reply = await waited
        await self._send(pending, reply, beside)
        return reply

    async def send_reply(self, target: AnswerTarget, reply: Reply, beside: Sequence[Block] = ()) -> None:
        """Send a reply that is there already."""
        await self._send(PendingAnswer(self._clients, target, self._clock), reply, beside)

    async def send_file(self, target: AnswerTarget, file: Attachment) -> None:
        """Send a file to the person alone. Failures are logged."""
        await PendingAnswer(self._clients, target, self._clock).send_file(file)

    async def messages(self, workspace: str, reply: Reply) -> Sequence[SlackMessage]:
        """Return the reply's messages; what their buttons have no room for is kept."""
        # In a thread: a page of entries takes some tens of milliseconds, for which nothing else would be acknowledged.
        async with self._turns:
            messages = await asyncio.to_thread(render.reply, reply, self._clock().date())
        if texts := [text for message in messages for text in message.keep]:
            await self._chats.keep_texts(workspace, texts, self._clock())
        return messages

    async def _send(self, pending: "PendingAnswer", reply: Reply, beside: Sequence[Block] = ()) -> None:
        *others, last = await self.messages(pending.target.workspace, reply)
        for message in (*others, replace(last, blocks=(*last.blocks, *beside))):
            await pending.send(message, public=not reply.private)
            if message.file is not None:
                await pending.send_file(message.file)


class PendingAnswer:
    """The answer to one interaction: one or more messages, and before them that it is looked for."""

    def __init__(self, clients: Clients, target: AnswerTarget, clock: Callable[[], datetime]) -> None:
        self.target = target
        self._clients = clients
        self._clock = clock
        self._until = clock() + _SPAN
        self._uses = _USES
        self._replaces = target.replaces

    async def say_looking(self) -> None:
        """Say that the answer is being looked for. The answer takes its place where Slack lets it."""
        if await self._by_url(_LOOKING, public=False) and self.target.may_replace:
            self._replaces = True

    async def send(self, message: SlackMessage, *, public: bool) -> None:
        """Post one message: for the one who asked alone, or for all in the channel. Failures are logged."""
        if await self._by_url(message, public=public):
            self._replaces = False  # what follows stands beside it
            return
        try:
            await self._by_api(message, public=public)
        except CLIENT_FAILURES as error:
            log.warning("An answer in %s could not be told: %s", self.target.workspace, failure_reason(error))

    async def send_file(self, file: Attachment) -> None:
        """Send a file to the person alone: in a channel everybody would see it. Failures are logged."""
        try:
            client = await self._clients.client(self.target.workspace)
            channel = await self._direct(client)
            await client.files_upload_v2(channel=channel, filename=file.name, title=file.name, content=file.text)
        except CLIENT_FAILURES as error:
            log.warning("A file in %s could not be handed over: %s", self.target.workspace, failure_reason(error))

    async def _by_url(self, message: SlackMessage, *, public: bool) -> bool:
        """Post through the response_url; False where it took nothing."""
        if not self.target.url or not self._uses or self._clock() > self._until:
            return False
        self._uses -= 1
        try:
            async with self._clients.session.post(self.target.url, json=self._message(message, public=public)) as answer:
                body = await answer.text()
        except FAILURES as error:
            log.warning("An answer could not be told by its response_url: %s", failure_reason(error))
            return False
        if answer.ok:
            return True
        log.info("A response_url answered %d: %s", answer.status, body[:100])
        return bool(message.blocks) and "block" in body and await self._by_url(render.plain(message), public=public)

    def _message(self, message: SlackMessage, *, public: bool) -> dict[str, Any]:
        return {
            **message_fields(message),
            **self._thread,
            "response_type": "in_channel" if public else "ephemeral",
            "replace_original": self._replaces and not public,
        }

    @property
    def _thread(self) -> dict[str, Any]:
        return {"thread_ts": self.target.thread} if self.target.thread else {}

    async def _by_api(self, message: SlackMessage, *, public: bool) -> None:
        client, target = await self._clients.client(self.target.workspace), self.target
        try:
            if public:
                await client.chat_postMessage(channel=target.channel, **self._thread, **message_fields(message))
            else:
                said = {name: value for name, value in message_fields(message).items() if not name.startswith("unfurl")}
                await client.chat_postEphemeral(channel=target.channel, user=target.person, **self._thread, **said)
        except SlackApiError as error:
            log.info("An answer goes to the person alone, as its channel took none: %s", failure_reason(error))
            await client.chat_postMessage(channel=await self._direct(client), **message_fields(message))

    async def _direct(self, client: AsyncWebClient) -> str:
        """Return the direct message with the person."""
        opened = await client.conversations_open(users=self.target.person)
        return str(opened["channel"]["id"])


def message_fields(message: SlackMessage) -> dict[str, Any]:
    """Return what a message of any kind says, and how."""
    return {"text": message.text, **({"blocks": list(message.blocks)} if message.blocks else {}), **FLAGS}
