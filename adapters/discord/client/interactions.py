"""The requests that answer an interaction: its first reply, what is said by its token after that, and what needs no token.

Discord waits three seconds for the first reply, and takes the rest for fifteen minutes
(docs.discord.com/developers/interactions/receiving-and-responding). Messages by the token have no nonce
(discord/discord-api-docs#6647), and nobody can list them: one whose answer was lost is not sent again. Everything else may
be: a second first reply is refused, a change is the same change, and a message that needs no token has its nonce.
"""

import asyncio
import io
import logging
import math
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from discord import File
from discord.errors import HTTPException
from discord.http import MultipartParameters, Route

from adapters.chat.patience import ANY_NUMBER, Patience
from adapters.discord.client.api import RestClient, as_json
from adapters.discord.client.errors import discord_delivery_error
from adapters.discord.render.components import NO_MENTIONS, DiscordMessage
from adapters.discord.render.limits import ALT, length
from adapters.text import clean, cut
from bot.errors import Delayed, DeliveryError, Refused, Rejected, Uncertain

log = logging.getLogger(__name__)

MESSAGE, DEFERRED, DEFERRED_UPDATE, CHOICES, MODAL = 4, 5, 6, 8, 9  # kinds of first replies
PRIVATE = 1 << 6  # flag of a message that one person alone sees
_FIRST = 2.8  # seconds after the interaction came in which its first reply is tried; Discord waits for three
_TRY = 1.0  # seconds for one try at it
_SETTLED = 3.5  # seconds after the interaction came when it stands fast whether its first reply was taken
_SPAN = timedelta(minutes=14)
_INSISTS = 120.0  # seconds for which what is refused without a known reason is sent again: nothing of it was taken
_ALONE = 300.0  # seconds for which a message that needs no token is tried
_NONCE_HOLDS = 3  # repetitions of one of those that may have been taken
_REMEMBERED = 120.0  # seconds after such a one in which its nonce surely is: "the past few minutes", says Discord

Message = DiscordMessage | str  # a text stands alone, as plain as it is


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
    begun: float = field(default_factory=time.monotonic)  # when it came, by the monotonic clock
    is_elsewhere: bool = False  # with what a person installed, in a place where nothing else of ours can be given
    is_spoken: bool = False  # what is answered is a message, whose identifier `id` is, or a button below such an answer


class InteractionExpired(Refused):
    """The interaction has no first reply and cannot have one any more, as Discord has told the person."""


class NotAsWritten(Rejected):
    """Discord does not take what was sent as it was written; nothing was posted."""


class InteractionRequests:
    """Sends what answers interactions, tried again for as long as that is safe and helps.

    Raises Refused and Rejected where Discord does not take it; Uncertain where it may have; Delayed when the time is over.
    """

    def __init__(self, client: RestClient, clock: Callable[[], datetime], patience: Patience) -> None:
        self._client = client
        self._clock = clock
        self._patience = patience

    def left(self, callback: Callback) -> float:
        """Return for how many seconds the token is good."""
        return (_SPAN - (self._clock() - callback.at)).total_seconds()

    async def reply_first(self, callback: Callback, kind: int, data: Mapping[str, Any]) -> bool:
        """Give the first reply; say whether it stands, False where another one did before. Raises InteractionExpired too."""
        route = Route(
            "POST",
            "/interactions/{webhook_id}/{webhook_token}/callback",
            webhook_id=callback.id,
            webhook_token=callback.token,
        )
        lost, tries = False, 0  # `lost`: a try may have been taken
        while (left := callback.begun + _FIRST - time.monotonic()) > 0:
            tries += 1
            wait = 0.05 * 2**tries
            try:
                async with asyncio.timeout(min(_TRY, left)):
                    await _translated(self._client.request(route, json={"type": kind, "data": dict(data)}))
            except _Answered:
                return lost
            except NotAsWritten:
                raise
            except Refused as error:
                if not lost and not isinstance(error, InteractionExpired):
                    raise
                break
            except (Rejected, Delayed, Uncertain, TimeoutError) as error:
                log.info("A first reply was not taken, or that is not known: %s", error)
                lost = lost or isinstance(error, Uncertain | TimeoutError)
                if isinstance(error, Delayed) and error.retry_after:
                    wait = max(wait, error.retry_after.total_seconds())
            else:
                return True
            await asyncio.sleep(min(wait, max(0.0, callback.begun + _FIRST - time.monotonic())))
        if not lost or kind in (CHOICES, MODAL) or not await self._has_reply(callback):
            raise InteractionExpired("Discord waited no longer for an answer.")
        return True

    async def _has_reply(self, callback: Callback) -> bool:
        """Look whether a first reply stands whose answers were lost."""
        await asyncio.sleep(max(0.0, callback.begun + _SETTLED - time.monotonic()))
        try:
            await self._tried(callback, lambda: self._client.request(self._original("GET", callback)), ANY_NUMBER)
        except (Refused, Rejected):
            return False
        return True

    async def edit(self, callback: Callback, message: Message) -> None:
        """Change what the first reply said, or what the interaction acted upon."""
        await self._written(callback, self._original("PATCH", callback), message, 0, ANY_NUMBER)

    async def follow(self, callback: Callback, message: Message, *, private: bool, repeats: int = 0) -> None:
        """Say more; with `repeats` it is sent again where it may have been taken, and may stand there more than once."""
        route = Route("POST", "/webhooks/{webhook_id}/{webhook_token}", **_webhook(callback))
        await self._written(callback, route, message, PRIVATE if private else 0, repeats)

    async def _written(self, callback: Callback, route: Route, message: Message, flags: int, repeats: int) -> None:
        async def send(written: Callable[[], MultipartParameters]) -> None:
            await self._tried(callback, lambda: self._request(route, written()), repeats)

        if isinstance(message, str):
            await send(lambda: MultipartParameters(_plain(message, flags), None, None))
            return
        try:
            await send(lambda: _params(message, flags))
        except NotAsWritten as error:
            log.warning("Discord does not take an answer as it was written: %s", error)
            plain = message.plain_body()
            await send(lambda: _with_file({**plain, "flags": plain["flags"] | flags}, message))

    async def write_to(self, person: str, message: Message) -> None:
        """Say it to a person in a direct message."""
        until = self._patience.after(_ALONE)
        conversation = await self._sent(lambda: self._client.start_private_message(person), until, ANY_NUMBER)
        await self.post(str(conversation["id"]), message)

    async def post(self, channel: str, message: Message, *, below: str = "") -> None:
        """Say it in a channel, without an interaction, below the message that is named. It may stand there once at most."""
        nonce: dict[str, Any] = {"nonce": secrets.token_hex(12), "enforce_nonce": True}
        if below:
            nonce["message_reference"] = {"message_id": below, "fail_if_not_exists": False}

        def request() -> Awaitable[Any]:
            body = _plain(message, 0) if isinstance(message, str) else message.body()
            file = None if isinstance(message, str) else message
            return self._client.send_message(channel, params=_with_file({**body, **nonce}, file))

        await self._sent(request, self._patience.after(_ALONE), _NONCE_HOLDS, _REMEMBERED)

    async def _tried(self, callback: Callback, request: Callable[[], Awaitable[Any]], repeats: int) -> None:
        await self._sent(request, self._patience.after(self.left(callback)), repeats)

    async def _sent(self, request: Callable[[], Awaitable[Any]], until: float, repeats: int, holds: float = math.inf) -> Any:
        """Return what is answered; what is refused without a known reason is sent again for a while.

        What may have been taken is sent again for `holds` seconds, and stays uncertain where that is not for ever.
        """
        insisting, forgotten = self._patience.after(_INSISTS), math.inf

        async def send() -> Any:
            nonlocal forgotten
            if (begun := self._patience.clock()) > forgotten:
                raise Uncertain("Discord did not say whether it took the message.")
            try:
                return await _translated(request())
            except Uncertain:
                forgotten = min(forgotten, begun + holds)
                raise
            except (NotAsWritten, _Answered):
                raise
            except Rejected as error:
                if self._patience.clock() > insisting:
                    raise
                raise Delayed(str(error)) from error

        try:
            return await self._patience.keep_trying(send, until, repeats=repeats)
        except DeliveryError as error:
            if forgotten < math.inf and not isinstance(error, Uncertain):
                raise Uncertain(str(error)) from error
            raise

    async def _request(self, route: Route, params: MultipartParameters) -> None:
        if params.files:
            await self._client.request(route, files=params.files, form=params.multipart)
        else:
            await self._client.request(route, json=params.payload)

    def _original(self, method: str, callback: Callback) -> Route:
        return Route(method, "/webhooks/{webhook_id}/{webhook_token}/messages/@original", **_webhook(callback))


class _Answered(Rejected):
    """The interaction has its first reply."""


async def _translated(request: Awaitable[Any]) -> Any:
    """Return what is answered; raises DeliveryError."""
    try:
        return await request
    except HTTPException as error:
        raise (_of_interaction(error) or discord_delivery_error(error)) from error
    except Exception as error:
        raise discord_delivery_error(error) from error


def _of_interaction(error: HTTPException) -> DeliveryError | None:
    """Return what a refusal means that interactions alone have, None for any other."""
    failure = f"status {error.status}, code {error.code}"
    match error.code:
        case 50035 | 40005 | 50006 | 50109 | 20009 | 200000 | 200001 | 240000:  # as in client.errors: of this message
            return NotAsWritten(error.text, failure=failure)
        case 40060:
            return _Answered("The interaction has its first reply.", failure=failure)
        case 10062:
            return InteractionExpired("Discord waited no longer for an answer.")
        case 10015 | 50027:
            return Refused(f"The interaction cannot be answered any more ({failure}).")
        case _:
            return None


def _webhook(callback: Callback) -> dict[str, str]:
    return {"webhook_id": callback.application, "webhook_token": callback.token}


def _plain(text: str, flags: int) -> dict[str, Any]:
    return {"content": text, "flags": flags, "allowed_mentions": NO_MENTIONS}


def _params(message: DiscordMessage, flags: int) -> MultipartParameters:
    body = message.body()
    return _with_file({**body, "flags": body["flags"] | flags}, message)


def _with_file(body: dict[str, Any], message: DiscordMessage | None) -> MultipartParameters:
    """Return the message, with its files where it has any; each try needs its own."""
    sent = list(_files(message)) if message is not None else []
    if not sent:
        return MultipartParameters(body, None, None)
    listed = [
        {"id": at, "filename": name} | ({"description": alt} if alt else {}) for at, (name, _, _, alt) in enumerate(sent)
    ]
    form: list[dict[str, Any]] = [
        {"name": "payload_json", "value": as_json({**body, "attachments": listed}), "content_type": "application/json"}
    ]
    files = []
    for at, (name, media_type, content, _) in enumerate(sent):
        files.append(File(io.BytesIO(content), name))
        form.append({"name": f"files[{at}]", "value": files[-1].fp, "filename": name, "content_type": media_type})
    return MultipartParameters(None, form, files)


def _files(message: DiscordMessage) -> Iterator[tuple[str, str, bytes, str]]:
    """Yield name, media type, content and description of each file that goes with the message."""
    if (found := message.attachment) is not None:
        yield found.name, found.media_type, found.text.encode("utf-8", "replace"), ""
    for each in message.pictures:
        yield each.name, "image/png", each.png, cut(clean(each.alt), ALT, length)
