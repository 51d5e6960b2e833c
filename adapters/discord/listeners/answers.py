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

from adapters.discord.client.errors import INVALID_FORM, translated
from adapters.discord.client.http import Door
from adapters.discord.render.messages import NO_MENTIONS, Posting, reply_postings
from adapters.forms import Form
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


@dataclass(frozen=True, slots=True)
class Call:
    """One interaction, as it is to be answered."""

    id: str
    token: str
    application: str
    channel: str
    person: str
    at: datetime


class Gone(Exception):  # noqa: N818 - the name says what happened
    """The interaction cannot be answered any more: what it asks for is not done, as Discord has told the person so."""


class Answers:
    """Takes answers where they belong."""

    def __init__(self, door: Door, chats: Chats, clock: Callable[[], datetime]) -> None:
        self._door = door
        self._chats = chats
        self._clock = clock

    async def answer(
        self,
        call: Call,
        workspace: str,
        asking: Callable[[], Awaitable[Reply]],
        *,
        replaces: bool = False,
        form: Callable[[], Form | None] = lambda: None,
    ) -> None:
        """Say at once that the answer is coming, then ask, then tell it, with a button for the form beside it.

        With `replaces` the message that was acted upon makes room for it. Raises nothing of Discord's.
        """
        try:
            await self._first(call, {"type": _DEFERRED_UPDATE if replaces else _DEFERRED, "data": {"flags": PRIVATE}})
        except Gone:
            log.warning("Discord waited no longer for an answer in %s", workspace)
            return
        try:
            reply = await asking()
        except Exception as error:  # noqa: BLE001 - it is told, and logged
            reply = failed(error, "")
        await self.tell(call, workspace, reply, form())

    async def tell(self, call: Call, workspace: str, reply: Reply, form: Form | None = None) -> None:
        """Tell the answer to an interaction that was told that it is coming. Failures are logged."""
        postings = reply_postings(reply, self._clock().date(), form)
        try:
            if texts := [text for posting in postings for text in posting.keep]:
                await self._chats.keep_texts(workspace, texts, self._clock())
            if self._clock() - call.at > _SPAN:
                await self._by_itself(call, postings, private=reply.private)
            elif reply.private:
                await self._private(call, postings)
            else:
                await self._public(call, postings)
        except Exception as error:  # noqa: BLE001 - translated raises what it does not know
            log.warning("An answer in %s could not be told: %s", workspace, translated(error))

    async def choices(self, call: Call, found: Sequence[tuple[str, str]]) -> None:
        """Answer with what completes an option: (label, value) pairs."""
        listed = [{"name": label, "value": value} for label, value in found]
        await self._quietly(call, {"type": _CHOICES, "data": {"choices": listed}})

    async def modal(self, call: Call, form: Mapping[str, Any]) -> None:
        """Answer with a form."""
        await self._quietly(call, {"type": _MODAL, "data": dict(form)})

    async def at_once(self, call: Call, workspace: str, reply: Reply) -> None:
        """Answer with a reply that is there already, for the person alone."""
        (posting, *_) = reply_postings(reply, self._clock().date())
        if posting.keep:
            await self._chats.keep_texts(workspace, posting.keep, self._clock())
        body = posting.body()
        await self._quietly(call, {"type": _MESSAGE, "data": {**body, "flags": body["flags"] | PRIVATE}})

    async def _quietly(self, call: Call, answer: dict[str, Any]) -> None:
        try:
            await self._first(call, answer)
        except Gone:
            log.info("Discord waited no longer for an answer")

    async def _first(self, call: Call, answer: dict[str, Any]) -> None:
        """Give the first answer, twice where the first try was lost. Raises Gone."""
        route = Route(
            "POST",
            "/interactions/{webhook_id}/{webhook_token}/callback",
            webhook_id=call.id,
            webhook_token=call.token,
        )
        for last in (False, True):
            try:
                async with asyncio.timeout(_PROMPT):
                    await self._door.request(route, json=answer)
            except HTTPException as error:
                if error.code == _ANSWERED:
                    return  # by the first try, whose answer was lost
                if error.code == _UNKNOWN or last:
                    raise Gone from error
            except Exception as error:
                log.info("A first answer was lost: %s", translated(error))
                if last:
                    raise Gone from error
            else:
                return

    async def _private(self, call: Call, postings: Sequence[Posting]) -> None:
        first, *others = postings
        await self._edit(call, first)
        for posting in others:
            await self._follow(call, posting, PRIVATE)

    async def _public(self, call: Call, postings: Sequence[Posting]) -> None:
        """Tell everybody in the channel.

        What said that the answer is coming is for one person, and would take the first thing that follows for its own.
        """
        await self._patch(call, {"content": _LEFT, "allowed_mentions": NO_MENTIONS}, None)
        for posting in postings:
            await self._follow(call, posting, 0)

    async def _by_itself(self, call: Call, postings: Sequence[Posting], *, private: bool) -> None:
        """Tell it without the interaction, which is over: in the channel, or what is for one person in a direct message."""
        channel = call.channel
        if private:
            conversation: Any = await self._door.start_private_message(call.person)
            channel = str(conversation["id"])
        for posting in postings:
            await self._door.send_message(channel, params=_params(posting.body(), posting))

    async def _edit(self, call: Call, posting: Posting) -> None:
        try:
            await self._patch(call, posting.body(), posting)
        except HTTPException as error:
            if error.code != INVALID_FORM:
                raise
            log.warning("Discord does not take an answer as it was written: %s", error.text)
            await self._patch(call, posting.plain_body(), None)

    async def _patch(self, call: Call, body: dict[str, Any], posting: Posting | None) -> None:
        route = Route("PATCH", "/webhooks/{webhook_id}/{webhook_token}/messages/@original", **_webhook(call))
        await self._request(route, _params(body, posting))

    async def _follow(self, call: Call, posting: Posting, flags: int) -> None:
        body = posting.body()
        route = Route("POST", "/webhooks/{webhook_id}/{webhook_token}", **_webhook(call))
        await self._request(route, _params({**body, "flags": body["flags"] | flags}, posting))

    async def _request(self, route: Route, params: MultipartParameters) -> None:
        if params.files:
            await self._door.request(route, files=params.files, form=params.multipart)
        else:
            await self._door.request(route, json=params.payload)


def _webhook(call: Call) -> dict[str, str]:
    return {"webhook_id": call.application, "webhook_token": call.token}


def _params(body: dict[str, Any], posting: Posting | None) -> MultipartParameters:
    """Return the message, with its file where it has one."""
    if posting is None or posting.attachment is None:
        return MultipartParameters(body, None, None)
    found = posting.attachment
    file = File(io.BytesIO(found.text.encode("utf-8", "replace")), found.name)
    body = {**body, "attachments": [{"id": 0, "filename": found.name}]}
    # As discord.py writes bodies itself, with orjson where that is installed; it has no public name for it.
    described = {"name": "payload_json", "value": utils._to_json(body), "content_type": "application/json"}
    content = {"name": "files[0]", "value": file.fp, "filename": found.name, "content_type": found.media_type}
    return MultipartParameters(None, [described, content], [file])
