"""How an answer reaches the one who asked: within three seconds that it is coming, and then itself.

It is tried until the interaction's token ends; then it goes to the channel, or to the person alone where it is for nobody
else. Whoever was told that an answer comes is told the answer, or what is missing of it.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, TypeVar

from adapters.chat.answers import NOT_POSTED, may_be_missing, may_not_be_posted, not_opened, not_taken, stopped, takes_long
from adapters.chat.context import BackgroundTasks
from adapters.chat.forms import FormRequest
from adapters.chat.patience import ANY_NUMBER, Patience
from adapters.chat.pictures import drawn_charts
from adapters.chat.spoken import SpokenState
from adapters.discord.client.api import RestClient
from adapters.discord.client.interactions import (
    CHOICES,
    DEFERRED,
    DEFERRED_UPDATE,
    MESSAGE,
    MODAL,
    PRIVATE,
    Callback,
    InteractionExpired,
    InteractionRequests,
    Message,
    NotAsWritten,
)
from adapters.discord.install.command_tree import PERSONAL
from adapters.discord.render.components import DiscordMessage, Picture
from adapters.discord.render.hints import UNKNOWN_IDS, CommandIds, in_server
from adapters.discord.render.messages import reply_messages
from adapters.discord.workspaces import PLATFORM
from bot.errors import BotError, DeliveryError, Refused, Rejected, Uncertain
from bot.handlers.handle import failed
from bot.models import Reply
from bot.ports.chats import Chats
from bot.service.platforms import Cluster

log = logging.getLogger(__name__)

Sent = TypeVar("Sent", DiscordMessage, Message)

_CHAT = "Discord"
_KEEPING = 10.0  # seconds for what an answer's buttons have no room for to be kept
_KEEPING_FIRST = 1.0  # seconds, where Discord still waits for the first reply
_NOTICE = 30.0  # seconds before the token ends in which it is said that the answer comes later
_AT_ONCE = 2  # answers that are laid out: more would only take the processor from each other
_POSTING = "It is being posted in the channel."
_STANDS = "It stands in the channel."


@dataclass(slots=True)
class _Parts:
    """What became of the messages of an answer, by their numbers from 1."""

    standing: list[int] = field(default_factory=list)
    doubtful: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    failure: DeliveryError | None = None  # why nothing more of it can be sent


class DiscordAnswers:
    """Sends answers where they belong."""

    def __init__(
        self,
        client: RestClient,
        chats: Chats,
        clock: Callable[[], datetime],
        tasks: BackgroundTasks | None = None,
        untold: Counter[str] | None = None,
        ids: CommandIds = UNKNOWN_IDS,
        *,
        cluster: Cluster | None = None,
    ) -> None:
        """`tasks` are those in which answers are given: they end with the service; in `untold` those that reached nobody are
        counted, by platform. `ids` are the identifiers of our commands, which may become known later;
        with a cluster other processes answer too.
        """
        self._chats = chats
        self._ids = ids
        self._clock = clock
        self._tasks = BackgroundTasks() if tasks is None else tasks
        patience = Patience(sleep=self._tasks.pause, left=lambda: self._tasks.left)
        self._requests = InteractionRequests(client, clock, patience)
        self._untold = Counter[str]() if untold is None else untold
        self.spoken = SpokenState(chats, clock, cluster)
        self._turns = asyncio.Semaphore(_AT_ONCE)

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
            await self._requests.reply_first(callback, DEFERRED_UPDATE if replaces else DEFERRED, {"flags": PRIVATE})
        except InteractionExpired:
            # Nothing is done: Discord has told the person that there was no answer.
            log.warning("Discord waited no longer for an answer in %s", callback.workspace)
        except DeliveryError as error:
            self._count_untold(callback, error)
        else:
            await self.send_reply(callback, await self._asked(callback, asking), form)

    async def _asked(self, callback: Callback, asking: Callable[[], Awaitable[Reply]]) -> Reply:
        """Return the reply, whatever becomes of asking and however long that takes."""
        work = asyncio.ensure_future(asking())
        try:
            if not await self._tasks.has_ended(work, self._requests.left(callback) - _NOTICE):
                if not self._tasks.stopping.is_set():
                    await self.send_reply(callback, takes_long())
                if not await self._tasks.has_ended(work):
                    return stopped()
            return work.result()
        except Exception as error:  # noqa: BLE001 - it is told, and logged
            return failed(error, "")
        finally:
            work.cancel()

    async def send_reply(
        self, callback: Callback, reply: Reply, form: Callable[[], FormRequest | None] = lambda: None
    ) -> None:
        """Send the answer to an interaction that was told that it is coming. Failures are told and logged."""
        messages = await self._messages(callback, reply, form(), _KEEPING)
        try:
            if self._requests.left(callback) <= 0:
                await self._by_itself(callback, messages, private=reply.private)
            elif reply.private:
                await self._private(callback, messages)
            else:
                await self._public(callback, messages)
        except DeliveryError as error:
            self._count_untold(callback, error)

    async def reply_below(self, callback: Callback, reply: Reply, form: FormRequest | None = None) -> None:
        """Answer a message below it, for whoever reads there; the person alone where nothing may stand there."""
        messages = await self._messages(callback, reply, form, _KEEPING)
        first = messages[0]

        async def send(message: DiscordMessage) -> None:
            try:
                await self._requests.post(callback.channel, message, below=callback.id if message is first else "")
            except Refused:
                if message is not first:
                    raise
                await self._requests.post(callback.channel, message)  # to refer to a message takes a right of its own

        parts = await _sent_in_turn(messages, range(1, len(messages) + 1), send)
        try:
            if len(parts.lost) == len(messages):
                await self._directly(callback, (NOT_POSTED, *messages))
            elif parts.lost:
                await self._requests.write_to(callback.person, _plain(may_be_missing(_CHAT, parts.lost, len(messages))))
        except DeliveryError as error:
            self._count_untold(callback, error)

    async def post(self, workspace: str, channel: str, reply: Reply, form: FormRequest | None = None) -> None:
        """Post in a channel what nobody asked for, once at most; nobody is told of a failure, which is logged."""
        unasked = Callback(
            id="", token="", application="", workspace=workspace, channel=channel, person="", at=self._clock()
        )
        try:
            for message in await self._messages(unasked, reply, form, _KEEPING):
                await self._requests.post(channel, message)
        except DeliveryError as error:
            log.info("What nobody asked for could not be posted in %s: %s", workspace, error)

    async def send_choices(self, callback: Callback, found: Sequence[tuple[str, str]]) -> None:
        """Answer with what completes an option: (label, value) pairs. Where that fails, nothing completes it."""
        listed = [{"name": label, "value": value} for label, value in found]
        try:
            await self._requests.reply_first(callback, CHOICES, {"choices": listed})
        except DeliveryError as error:
            log.info("Discord did not take what completes an option: %s", error)

    async def open_modal(self, callback: Callback, form: Mapping[str, Any]) -> None:
        """Answer with a form, or with a message where Discord does not take the form."""
        try:
            await self._requests.reply_first(callback, MODAL, form)
        except InteractionExpired:
            log.info("Discord waited no longer for a form")
        except DeliveryError as error:
            log.warning("Discord did not take a form: %s", error)
            await self.reply_now(callback, not_opened(_CHAT))

    async def reply_now(self, callback: Callback, reply: Reply) -> None:
        """Answer with a reply that is there already, for the person alone, also where it was said that one comes."""
        first, *others = await self._messages(callback, reply, None, _KEEPING_FIRST)
        try:
            stands = await self._replied(callback, first)
            if not stands:
                await self._private(callback, [first, *others])
            elif others:
                await self._follow_alone(callback, others, begin=2)
        except InteractionExpired:
            log.info("Discord waited no longer for an answer")
        except DeliveryError as error:
            self._count_untold(callback, error)

    async def _replied(self, callback: Callback, message: DiscordMessage) -> bool:
        """Give the message as the first reply; False where there was one before."""
        try:
            return await self._requests.reply_first(callback, MESSAGE, _for_one(message.body()))
        except NotAsWritten as error:
            log.warning("Discord does not take an answer as it was written: %s", error)
            return await self._requests.reply_first(callback, MESSAGE, _for_one(message.plain_body()))

    def _ids_elsewhere(self) -> CommandIds:
        return {PERSONAL: self._ids.get(PERSONAL, "")}

    async def fail(self, callback: Callback, error: Exception) -> None:
        """Tell of a failure that nobody caught."""
        await self.reply_now(callback, failed(error, ""))

    async def _messages(
        self, callback: Callback, reply: Reply, form: FormRequest | None, seconds: float
    ) -> Sequence[DiscordMessage]:
        """Return the reply's messages; what their buttons have no room for is kept, unless the store fails or is slow."""
        today = self._clock().date()
        ids = self._ids_elsewhere() if callback.is_elsewhere else in_server(self._ids)
        try:
            if callback.is_spoken:
                reply = await self.spoken.words.named(callback.workspace, reply)
            if seconds > _KEEPING_FIRST:
                messages = await self._laid_out(reply, today, form, ids)
            else:
                messages = reply_messages(reply, today, form, ids)
        except Exception as error:  # noqa: BLE001 - it is told, and logged
            messages = reply_messages(failed(error, ""), today, ids=ids)
        if texts := [text for message in messages for text in message.keep]:
            try:
                async with asyncio.timeout(seconds):
                    await self._chats.keep_texts(callback.workspace, texts, self._clock())
            except (BotError, TimeoutError) as error:
                log.warning("Buttons of an answer in %s do nothing, as they cannot be kept: %s", callback.workspace, error)
        return messages

    async def _laid_out(
        self, reply: Reply, today: date, form: FormRequest | None, ids: CommandIds
    ) -> Sequence[DiscordMessage]:
        """Return the messages with their pictures.

        In a thread: a page of entries takes some tens of milliseconds, for which nothing else would be acknowledged.
        """
        pictures = await self._pictures(reply)
        async with self._turns:
            return await asyncio.to_thread(reply_messages, reply, today, form, ids, pictures)

    async def _pictures(self, reply: Reply) -> Sequence[Picture | None]:
        """Return the pictures of the charts; None for one that cannot be drawn, whose numbers are told all the same."""
        drawn = await drawn_charts(reply.charts)
        return [
            Picture(f"{number}-{chart.name}.png", png, chart.alt) if png else None
            for number, (chart, png) in enumerate(zip(reply.charts, drawn, strict=True), start=1)
        ]

    # --- where it is told

    async def _private(self, callback: Callback, messages: Sequence[DiscordMessage]) -> None:
        """Tell the person alone."""
        first, *others = messages
        try:
            await self._requests.edit(callback, first)
        except NotAsWritten as error:
            log.warning("Discord does not take an answer in %s: %s", callback.workspace, error)
            await self._requests.edit(callback, not_taken(_CHAT))
        except DeliveryError as error:
            log.warning("An answer in %s goes by direct message: %s", callback.workspace, error)
            await self._by_itself(callback, messages, private=True)
            return
        await self._follow_alone(callback, others, begin=2)

    async def _follow_alone(self, callback: Callback, messages: Sequence[DiscordMessage], *, begin: int) -> None:
        """Tell the person more, and in the end what may be missing of it; what the token is too short for goes directly."""
        parts = await self._followed(callback, messages, private=True)
        rest = [messages[at - 1] for at in parts.lost] if parts.failure else ()
        if parts.doubtful or (parts.lost and not rest):
            which = [at + begin - 1 for at in (*parts.doubtful, *([] if rest else parts.lost))]
            await self._note(callback, may_be_missing(_CHAT, which, begin - 1 + len(messages)))
        if rest:
            log.warning("The rest of an answer in %s goes by direct message: %s", callback.workspace, parts.failure)
            await self._by_itself(callback, rest, private=True)

    async def _followed(self, callback: Callback, messages: Sequence[DiscordMessage], *, private: bool) -> _Parts:
        """Send one message after the other, and return what became of them."""
        every = range(1, len(messages) + 1)
        return await _sent_in_turn(messages, every, lambda each: self._requests.follow(callback, each, private=private))

    async def _note(self, callback: Callback, reply: Reply) -> None:
        """Say what is missing; it may be said twice rather than not at all."""
        for message in reply_messages(reply, self._clock().date(), ids=in_server(self._ids)):
            try:
                await self._requests.follow(callback, message, private=True, repeats=ANY_NUMBER)
            except DeliveryError:
                await self._requests.write_to(callback.person, message)

    async def _public(self, callback: Callback, messages: Sequence[DiscordMessage]) -> None:
        """Tell everybody in the channel, and then the person that it stands there, or what of it does.

        What said that the answer is coming is for one person, and would take the first thing that follows for its own.
        """
        try:
            await self._requests.edit(callback, _POSTING)
        except DeliveryError as error:
            log.warning("An answer in %s goes without its interaction: %s", callback.workspace, error)
            await self._by_itself(callback, messages, private=False)
            return
        parts = await self._followed(callback, messages, private=False)
        if parts.failure is not None:
            log.warning("The rest of an answer in %s goes without its interaction: %s", callback.workspace, parts.failure)
            await self._in_channel(callback, messages, parts)
        elif len(parts.lost) == len(messages):
            await self._requests.edit(callback, NOT_POSTED)
            await self._follow_alone(callback, messages, begin=1)
        else:
            await self._tell_of_post(callback, parts, len(messages))

    async def _tell_of_post(self, callback: Callback, parts: _Parts, of: int) -> None:
        missing = sorted((*parts.doubtful, *parts.lost))
        try:
            if not missing:
                await self._requests.edit(callback, _STANDS)
                return
            await self._requests.edit(callback, _plain(may_not_be_posted(_CHAT, missing, of)))
        except DeliveryError as error:
            if missing:
                await self._requests.write_to(callback.person, _plain(may_not_be_posted(_CHAT, missing, of)))
            else:  # what is there is seen
                log.info("It could not be said that an answer stands in %s: %s", callback.workspace, error)

    async def _by_itself(self, callback: Callback, messages: Sequence[DiscordMessage], *, private: bool) -> None:
        """Tell it without the interaction: in the channel, or what is for one person in a direct message."""
        if private:
            await self._directly(callback, messages)
        else:
            await self._in_channel(callback, messages, _Parts(lost=[*range(1, len(messages) + 1)]))

    async def _in_channel(self, callback: Callback, messages: Sequence[DiscordMessage], so_far: _Parts) -> None:
        """Tell everybody what is lost so far; where nothing gets into the channel, the person alone is told all of it."""
        parts = await _sent_in_turn(messages, so_far.lost, lambda each: self._requests.post(callback.channel, each))
        if len(parts.lost) == len(messages):
            log.warning("An answer in %s goes by direct message: %s", callback.workspace, parts.failure)
            await self._directly(callback, (NOT_POSTED, *messages))
            return
        parts.doubtful += so_far.doubtful
        await self._tell_of_post(callback, parts, len(messages))

    async def _directly(self, callback: Callback, messages: Sequence[Message]) -> None:
        """Tell the person in direct messages, and whether something of it may be missing. Raises DeliveryError."""
        every = range(1, len(messages) + 1)
        parts = await _sent_in_turn(messages, every, lambda each: self._requests.write_to(callback.person, each))
        if parts.failure is not None:
            raise parts.failure
        if len(parts.lost) == len(messages):
            raise Rejected("Discord takes nothing of it.", failure="every part")
        if parts.lost or parts.doubtful:
            await self._requests.write_to(callback.person, _plain(may_be_missing(_CHAT)))

    def _count_untold(self, callback: Callback, error: Exception) -> None:
        self._untold[PLATFORM] += 1
        log.error("An answer in %s could not be told: %s", callback.workspace, error)


async def _sent_in_turn(messages: Sequence[Sent], numbers: Sequence[int], send: Callable[[Sent], Awaitable[None]]) -> _Parts:
    """Send the messages of these numbers, and return what became of them; none after what takes nothing more."""
    parts = _Parts()
    for number in numbers:
        if parts.failure is not None:
            parts.lost.append(number)
            continue
        try:
            await send(messages[number - 1])
        except Uncertain:
            parts.doubtful.append(number)
        except Rejected as error:
            log.warning("Discord does not take part of an answer: %s", error)
            parts.lost.append(number)
        except DeliveryError as error:
            parts.failure = error
            parts.lost.append(number)
        else:
            parts.standing.append(number)
    return parts


def _for_one(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "flags": body["flags"] | PRIVATE}


def _plain(reply: Reply) -> str:
    """Return a reply of a few sentences as a plain text."""
    return "\n".join((f"**{reply.title}**", *reply.text))
