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

from adapters.slack.client.clients import Clients
from adapters.slack.client.failures import FAILURES, reason
from adapters.slack.render import messages
from adapters.slack.render.messages import Posting
from adapters.slack.render.mrkdwn import FLAGS
from bot.errors import BotError
from bot.models import Attachment, Reply
from bot.ports.chats import Chats

log = logging.getLogger(__name__)

PATIENCE = 2.0  # seconds after which it is said that something is being done
_USES = 5
_AT_ONCE = 2  # answers that are laid out: more would only take the processor from each other
_SPAN = timedelta(minutes=29)
_LOOKING = Posting("Looking…", ())
Block = dict[str, Any]
TROUBLES = (BotError, *FAILURES)  # asking Slack may raise these


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the answer to one interaction goes."""

    workspace: str
    channel: str
    person: str
    url: str = ""  # the interaction's response_url
    thread: str = ""  # the thread that was acted in
    replaces: bool = False  # the message that was acted upon is for this person alone, and makes room for the answer
    may_replace: bool = True  # no message was acted upon: what stands there later is ours


class Answers:
    """Takes answers where they belong."""

    def __init__(self, clients: Clients, chats: Chats, clock: Callable[[], datetime]) -> None:
        self._clients = clients
        self._chats = chats
        self._clock = clock
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def answer(self, address: Address, asking: Awaitable[Reply], beside: Sequence[Block] = ()) -> Reply:
        """Tell the reply when it is there, and that it is looked for when that takes long. Raises nothing of Slack's.

        The blocks `beside` stand at the end of it.
        """
        letter = Letter(self._clients, address, self._clock)
        waited = asyncio.ensure_future(asking)
        if not (await asyncio.wait({waited}, timeout=PATIENCE))[0]:
            await letter.looking()
        reply = await waited
        await self._tell(letter, reply, beside)
        return reply

    async def give(self, address: Address, reply: Reply, beside: Sequence[Block] = ()) -> None:
        """Tell a reply that is there already."""
        await self._tell(Letter(self._clients, address, self._clock), reply, beside)

    async def hand_over(self, address: Address, file: Attachment) -> None:
        """Send a file to the person alone. Failures are logged."""
        await Letter(self._clients, address, self._clock).hand_over(file)

    async def postings(self, workspace: str, reply: Reply) -> Sequence[Posting]:
        """Return the reply's messages; what their buttons have no room for is kept."""
        # In a thread: a page of entries takes some tens of milliseconds, for which nothing else would be acknowledged.
        async with self._turns:
            postings = await asyncio.to_thread(messages.reply, reply, self._clock().date())
        if texts := [text for posting in postings for text in posting.keep]:
            await self._chats.keep_texts(workspace, texts, self._clock())
        return postings

    async def _tell(self, letter: "Letter", reply: Reply, beside: Sequence[Block] = ()) -> None:
        *others, last = await self.postings(letter.address.workspace, reply)
        for posting in (*others, replace(last, blocks=(*last.blocks, *beside))):
            await letter.send(posting, public=not reply.private)
            if posting.file is not None:
                await letter.hand_over(posting.file)


class Letter:
    """The answer to one interaction: one or more messages, with a word before that it is looked for."""

    def __init__(self, clients: Clients, address: Address, clock: Callable[[], datetime]) -> None:
        self.address = address
        self._clients = clients
        self._clock = clock
        self._until = clock() + _SPAN
        self._uses = _USES
        self._replaces = address.replaces

    async def looking(self) -> None:
        """Say that the answer is being looked for. The answer takes its place where Slack lets it."""
        if await self._by_url(_LOOKING, public=False) and self.address.may_replace:
            self._replaces = True

    async def send(self, posting: Posting, *, public: bool) -> None:
        """Post one message: for the one who asked alone, or for all in the channel. Failures are logged."""
        if await self._by_url(posting, public=public):
            self._replaces = False  # what follows stands beside it
            return
        try:
            await self._by_api(posting, public=public)
        except TROUBLES as error:
            log.warning("An answer in %s could not be told: %s", self.address.workspace, reason(error))

    async def hand_over(self, file: Attachment) -> None:
        """Send a file to the person alone: in a channel everybody would see it. Failures are logged."""
        try:
            client = await self._clients.client(self.address.workspace)
            channel = await self._direct(client)
            await client.files_upload_v2(channel=channel, filename=file.name, title=file.name, content=file.text)
        except TROUBLES as error:
            log.warning("A file in %s could not be handed over: %s", self.address.workspace, reason(error))

    async def _by_url(self, posting: Posting, *, public: bool) -> bool:
        """Post through the response_url; False where it took nothing."""
        if not self.address.url or not self._uses or self._clock() > self._until:
            return False
        self._uses -= 1
        try:
            async with self._clients.session.post(self.address.url, json=self._message(posting, public=public)) as answer:
                body = await answer.text()
        except FAILURES as error:
            log.warning("An answer could not be told by its response_url: %s", reason(error))
            return False
        if answer.ok:
            return True
        log.info("A response_url answered %d: %s", answer.status, body[:100])
        return bool(posting.blocks) and "block" in body and await self._by_url(messages.plain(posting), public=public)

    def _message(self, posting: Posting, *, public: bool) -> dict[str, Any]:
        return {
            **content(posting),
            **self._thread,
            "response_type": "in_channel" if public else "ephemeral",
            "replace_original": self._replaces and not public,
        }

    @property
    def _thread(self) -> dict[str, Any]:
        return {"thread_ts": self.address.thread} if self.address.thread else {}

    async def _by_api(self, posting: Posting, *, public: bool) -> None:
        client, address = await self._clients.client(self.address.workspace), self.address
        try:
            if public:
                await client.chat_postMessage(channel=address.channel, **self._thread, **content(posting))
            else:
                said = {name: value for name, value in content(posting).items() if not name.startswith("unfurl")}
                await client.chat_postEphemeral(channel=address.channel, user=address.person, **self._thread, **said)
        except SlackApiError as error:
            log.info("An answer goes to the person alone, as its channel took none: %s", reason(error))
            await client.chat_postMessage(channel=await self._direct(client), **content(posting))

    async def _direct(self, client: AsyncWebClient) -> str:
        """Return the direct message with the person."""
        opened = await client.conversations_open(users=self.address.person)
        return str(opened["channel"]["id"])


def content(posting: Posting) -> dict[str, Any]:
    """Return what a message of any kind says, and how."""
    return {"text": posting.text, **({"blocks": list(posting.blocks)} if posting.blocks else {}), **FLAGS}
