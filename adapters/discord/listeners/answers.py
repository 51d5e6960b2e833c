"""How an answer reaches the one who asked: within three seconds that it is coming, and then itself.

Discord gives fifteen minutes for the answer (docs.discord.com/developers/interactions/receiving-and-responding); after
fourteen it goes to the channel, or to the person alone where it is for nobody else.
"""

import asyncio
import io
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from discord import File, utils
from discord.errors import HTTPException
from discord.http import MultipartParameters, Route

from adapters.chat.forms import FormRequest
from adapters.discord.client.api import RestClient
from adapters.discord.client.errors import INVALID_FORM, discord_delivery_error
from adapters.discord.render.messages import NO_MENTIONS, DiscordMessage, reply_messages
from bot.handlers.handle import failed
from bot.models import Reply
from bot.ports.chats import Chats

log = logging.getLogger(__name__)

PRIVATE = 1 << 6  # flag of a message that one person alone sees
_PROMPT = 1.2  # seconds for one try at the first answer: two of them fit into Discord's three
_SPAN = timedelta(minutes=14)
_MESSAGE, _DEFERRED, _DEFERRED_UPDATE, _CHOICES, _MODAL = 4, 5, 6, 8, 9  # kinds of first answers
_UNKNOWN, _ANSWERED = 10062, 40060
_LEFT = "It stands in the channel."


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """What one interaction is answered by."""

    id: str
    token: str
    application: str
    workspace: str  # its name in the core
    channel: str
    person: str
    at: datetime


class InteractionExpired(Exception):  # noqa: N818 - the name says what happened
    """The interaction cannot be answered any more: what it asks for is not done, as Discord has told the person so."""


class DiscordAnswers:
    """Sends answers where they belong."""

    def __init__(self, client: RestClient, chats: Chats, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._chats = chats
        self._clock = clock

    async def answer(
        self,
        callback: Callback,
        asking: Callable[[], Awaitable[Reply]],
        *,
        replaces: bool = False,
        form: Callable[[], FormRequest | None] = lambda: None,
    ) -> None:
        """Say at once that the answer is coming, then ask, then tell it, with a button for the form beside it.

        With `replaces` the message that was acted upon makes room for it. Raises nothing of Discord's.
        """
        try:
            await self._first(callback, {"type": _DEFERRED_UPDATE if replaces else _DEFERRED, "data": {"flags": PRIVATE}})
        except InteractionExpired:
            log.warning("Discord waited no longer for an answer in %s", callback.workspace)
            return
        try:
            reply = await asking()
        except Exception as error:  # noqa: BLE001 - it is told, and logged
            reply = failed(error, "")
        await self.send_reply(callback, reply, form())

    async def send_reply(self, callback: Callback, reply: Reply, form: FormRequest | None = None) -> None:
        """Send the answer to an interaction that was told that it is coming. Failures are logged."""
        messages = reply_messages(reply, self._clock().date(), form)
        try:
            if texts := [text for message in messages for text in message.keep]:
                await self._chats.keep_texts(callback.workspace, texts, self._clock())
            if self._clock() - callback.at > _SPAN:
                await self._by_itself(callback, messages, private=reply.private)
            elif reply.private:
                await self._private(callback, messages)
            else:
                await self._public(callback, messages)
        except Exception as error:  # noqa: BLE001 - translated raises what it does not know
            log.warning("An answer in %s could not be told: %s", callback.workspace, discord_delivery_error(error))

    async def send_choices(self, callback: Callback, found: Sequence[tuple[str, str]]) -> None:
        """Answer with what completes an option: (label, value) pairs."""
        listed = [{"name": label, "value": value} for label, value in found]
        await self._quietly(callback, {"type": _CHOICES, "data": {"choices": listed}})

    async def open_modal(self, callback: Callback, form: Mapping[str, Any]) -> None:
        """Answer with a form."""
        await self._quietly(callback, {"type": _MODAL, "data": dict(form)})

    async def reply_now(self, callback: Callback, reply: Reply) -> None:
        """Answer with a reply that is there already, for the person alone."""
        (message, *_) = reply_messages(reply, self._clock().date())
        if message.keep:
            await self._chats.keep_texts(callback.workspace, message.keep, self._clock())
        body = message.body()
        await self._quietly(callback, {"type": _MESSAGE, "data": {**body, "flags": body["flags"] | PRIVATE}})

    async def _quietly(self, callback: Callback, answer: dict[str, Any]) -> None:
        try:
            await self._first(callback, answer)
        except InteractionExpired:
            log.info("Discord waited no longer for an answer")

    async def _first(self, callback: Callback, answer: dict[str, Any]) -> None:
        """Give the first answer, twice where the first try was lost. Raises InteractionExpired."""
        route = Route(
            "POST",
            "/interactions/{webhook_id}/{webhook_token}/callback",
            webhook_id=callback.id,
            webhook_token=callback.token,
        )
        for last in (False, True):
            try:
                async with asyncio.timeout(_PROMPT):
                    await self._client.request(route, json=answer)
            except HTTPException as error:
                if error.code == _ANSWERED:
                    return  # by the first try, whose answer was lost
                if error.code == _UNKNOWN or last:
                    raise InteractionExpired from error
            except Exception as error:
                log.info("A first answer was lost: %s", discord_delivery_error(error))
                if last:
                    raise InteractionExpired from error
            else:
                return

    async def _private(self, callback: Callback, messages: Sequence[DiscordMessage]) -> None:
        first, *others = messages
        await self._edit(callback, first)
        for message in others:
            await self._follow(callback, message, PRIVATE)

    async def _public(self, callback: Callback, messages: Sequence[DiscordMessage]) -> None:
        """Tell everybody in the channel.

        What said that the answer is coming is for one person, and would take the first thing that follows for its own.
        """
        await self._patch(callback, {"content": _LEFT, "allowed_mentions": NO_MENTIONS}, None)
        for message in messages:
            await self._follow(callback, message, 0)

    async def _by_itself(self, callback: Callback, messages: Sequence[DiscordMessage], *, private: bool) -> None:
        """Tell it without the interaction, which is over: in the channel, or what is for one person in a direct message."""
        channel = callback.channel
        if private:
            conversation: Any = await self._client.start_private_message(callback.person)
            channel = str(conversation["id"])
        for message in messages:
            await self._client.send_message(channel, params=_params(message.body(), message))

    async def _edit(self, callback: Callback, message: DiscordMessage) -> None:
        try:
            await self._patch(callback, message.body(), message)
        except HTTPException as error:
            if error.code != INVALID_FORM:
                raise
            log.warning("Discord does not take an answer as it was written: %s", error.text)
            await self._patch(callback, message.plain_body(), None)

    async def _patch(self, callback: Callback, body: dict[str, Any], message: DiscordMessage | None) -> None:
        route = Route("PATCH", "/webhooks/{webhook_id}/{webhook_token}/messages/@original", **_webhook(callback))
        await self._request(route, _params(body, message))

    async def _follow(self, callback: Callback, message: DiscordMessage, flags: int) -> None:
        body = message.body()
        route = Route("POST", "/webhooks/{webhook_id}/{webhook_token}", **_webhook(callback))
        await self._request(route, _params({**body, "flags": body["flags"] | flags}, message))

    async def _request(self, route: Route, params: MultipartParameters) -> None:
        if params.files:
            await self._client.request(route, files=params.files, form=params.multipart)
        else:
            await self._client.request(route, json=params.payload)


def _webhook(callback: Callback) -> dict[str, str]:
    return {"webhook_id": callback.application, "webhook_token": callback.token}


def _params(body: dict[str, Any], message: DiscordMessage | None) -> MultipartParameters:
    """Return the message, with its file where it has one."""
    if message is None or message.attachment is None:
        return MultipartParameters(body, None, None)
    found = message.attachment
    file = File(io.BytesIO(found.text.encode("utf-8", "replace")), found.name)
    body = {**body, "attachments": [{"id": 0, "filename": found.name}]}
    # As discord.py writes bodies itself, with orjson where that is installed; it has no public name for it.
    described = {"name": "payload_json", "value": utils._to_json(body), "content_type": "application/json"}
    content = {"name": "files[0]", "value": file.fp, "filename": found.name, "content_type": found.media_type}
    return MultipartParameters(None, [described, content], [file])
