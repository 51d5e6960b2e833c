"""How an answer reaches the one who asked: through the interaction's response_url, else by the Web API.

A response_url takes five messages within thirty minutes, also in channels where the app is not a member
(docs.slack.dev, "Handling user interaction"). For as long as it lives an answer is tried again. What may have been taken
is sent again where one person alone sees it, since an answer that comes twice is the lesser evil; where everybody sees it,
it is not, and the person is told.
"""

import asyncio
import json
import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.answers import NOT_POSTED, may_be_missing, may_not_be_posted, not_taken, stopped
from adapters.chat.patience import ANY_NUMBER, Patience
from adapters.chat.pictures import drawn_charts
from adapters.chat.spoken import SpokenState
from adapters.slack.client.api import Clients
from adapters.slack.client.errors import FAILURES, error_code, slack_delivery_error
from adapters.slack.render import messages as render
from adapters.slack.render.blocks import FLAGS, SlackMessage, exact
from adapters.slack.render.messages import NOTHING, HandedOver
from adapters.slack.workspaces import PLATFORM
from adapters.text import clean, cut
from adapters.words import COMMAND
from bot.errors import BotError, Delayed, DeliveryError, Refused, Rejected, StoreError, Uncertain
from bot.handlers.handle import failed
from bot.models import Reply
from bot.ports.chats import Chats
from bot.service.platforms import Cluster

log = logging.getLogger(__name__)

SPAN = 29 * 60.0  # seconds for which an answer is tried: a response_url lives thirty minutes
_SOON = 2.0  # seconds after which it is said that something is being done
_LOOK = 2.0  # seconds between two looks whether the service ends
_FILE_SPAN = 60.0  # seconds for which a file is tried: the answer, which says what became of it, waits for it
_FILE_TITLE = 200  # characters
_UNASKED = 60.0  # seconds for which what nobody asked for is tried
_LAST = 60.0  # seconds for telling what is missing, at least
_USES = 5
# Seconds before what one person alone sees, and which may have been taken, is sent again; so often it is at most, and
# all of them within a quarter of an hour, which is as long as anybody waits.
_PAUSES = (0.0, 2.0, 15.0, 60.0, 240.0, 540.0)
_UNSURE = 3  # tries after which a response_url that says nothing is left
_AT_ONCE = 2  # answers that are laid out: more would only take the processor from each other
_WAITS = 3  # for the response_url, before another way is tried
_LONG = 10.0  # seconds of a rest that are not waited out while there is another way
_LOOKING = SlackMessage("Looking…", ())
_APOLOGY = SlackMessage(not_taken("Slack"), ())
_CONTENT = frozenset(
    {
        *("invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text"),
        *("too_many_attachments", "invalid_arguments", "view_too_large", "invalid_attachments"),
    }
)
_ERROR = re.compile(r"[a-z_]{1,60}")
Block = dict[str, Any]


class Unacceptable(Rejected):
    """Slack does not take what is said as it is laid out; something plainer it may."""


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
    about: str = ""  # the message that is answered: what everybody may read stands in its thread
    is_direct: bool = False  # the channel is the direct message with the person: nobody else reads what stands there
    is_spoken: bool = False  # it answers what somebody said in a message, of which nothing is stored

    @property
    def before_commands(self) -> str:
        """What one types before a command there: nothing in a message, and Slack takes no slash commands in threads."""
        return "" if self.is_spoken or self.thread else COMMAND


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is handed over; `alt` is what a picture shows, for who does not see it."""

    name: str
    content: bytes
    title: str
    alt: str = ""


class SlackAnswers:
    """Sends answers where they belong."""

    def __init__(
        self,
        clients: Clients,
        chats: Chats,
        clock: Callable[[], datetime],
        patience: Patience | None = None,
        untold: Counter[str] | None = None,
        *,
        cluster: Cluster | None = None,
    ) -> None:
        """In `untold` the answers that reached nobody are counted, by platform; with a cluster others answer too."""
        self.clients = clients
        self.patience = patience or Patience()
        self.untold = Counter[str]() if untold is None else untold
        self.spoken = SpokenState(chats, clock, cluster)
        self._chats = chats
        self._clock = clock
        self._turns = asyncio.Semaphore(_AT_ONCE)

    @property
    def lost(self) -> int:
        """How many answers reached nobody, since the service began."""
        return self.untold[PLATFORM]

    async def answer(self, target: AnswerTarget, asking: Awaitable[Reply], beside: Sequence[Block] = ()) -> Reply:
        """Send the reply when it is there, and that it is looked for when that takes long. Raises nothing of Slack's.

        What nobody foresaw is logged, and told with a reference. The blocks `beside` stand at the end of the reply.
        """
        pending = PendingAnswer(self, target)
        making = asyncio.ensure_future(self._made(target, asking, beside))
        try:
            if not (await asyncio.wait({making}, timeout=_SOON))[0]:
                await pending.say_looking()
            while not making.done() and self.patience.left() > 0:
                await asyncio.wait({making}, timeout=_LOOK)
            reply, messages = making.result() if making.done() else await self._made(target, _now(stopped()))
        finally:
            making.cancel()
        await pending.send(messages, public=not reply.private)
        return reply

    async def send_reply(self, target: AnswerTarget, reply: Reply, beside: Sequence[Block] = ()) -> None:
        """Send a reply that is there already."""
        await self.answer(target, _now(reply), beside)

    async def post(self, target: AnswerTarget, reply: Reply, beside: Sequence[Block] = ()) -> None:
        """Post in a channel what nobody asked for, once at most; nobody is told of a failure, which is logged."""
        _, messages = await self._made(target, _now(reply), beside)
        client = await self.client(target.workspace)
        for message in messages:
            sending = partial(_posted, client, target.channel, message)
            try:
                await self.patience.keep_trying(sending, self.patience.after(_UNASKED), repeats=0)
            except DeliveryError as error:
                log.info("What nobody asked for could not be posted in %s: %s", target.workspace, error)
                return

    async def _made(
        self, target: AnswerTarget, asking: Awaitable[Reply], beside: Sequence[Block] = ()
    ) -> tuple[Reply, Sequence[SlackMessage]]:
        """Return the reply and its messages, or those that tell that there is none."""
        try:
            reply = await asking
            *others, last = await self.whole(target, reply)
        except Exception as error:  # noqa: BLE001 - it is told, and logged
            reply = failed(error, "")
            return reply, [SlackMessage(exact("\n".join((reply.title, *reply.text))), ())]
        return reply, (*others, replace(last, blocks=(*last.blocks, *beside)))

    async def whole(self, target: AnswerTarget, reply: Reply) -> Sequence[SlackMessage]:
        """Return the reply's messages; a file that does not fit is handed over first, and they say what came of it."""
        if target.is_spoken:
            reply = await self.spoken.words.named(target.workspace, reply)
        handed_over = HandedOver(await self._hand_over_file(target, reply), await self._hand_over_pictures(target, reply))
        return await self.messages(target.workspace, reply, handed_over, target.before_commands)

    async def messages(
        self, workspace: str, reply: Reply, handed_over: HandedOver = NOTHING, before: str = COMMAND
    ) -> Sequence[SlackMessage]:
        """Return the reply's messages; what their buttons have no room for is kept. `handed_over` tells of its files."""
        # In a thread: a page of entries takes some tens of milliseconds, for which nothing else would be acknowledged.
        async with self._turns:
            messages = await asyncio.to_thread(render.reply, reply, self._clock().date(), handed_over, before)
        await self.keep(workspace, [text for message in messages for text in message.keep])
        return messages

    async def keep(self, workspace: str, texts: Sequence[str]) -> None:
        """Keep what buttons and menus have no room for. Raises nothing: those then say that they do nothing."""
        try:
            await self._chats.keep_texts(workspace, texts, self._clock())
        except StoreError as error:  # what is to be read can be read
            log.error("What buttons stand for could not be kept: %s", error)  # noqa: TRY400 - foreseen

    # --- files

    async def _hand_over_file(self, target: AnswerTarget, reply: Reply) -> str:
        """Send a file that does not stand in the answer; return in a sentence what became of it, "" where there is none."""
        file = render.file_beside(reply)
        if file is None:
            return ""
        again = "Ask again in a minute, or for less: what is short stands in the answer itself."
        upload = Upload(file.name, file.text.encode(), file.name)
        return await self._hand_over(target, [upload], cut(clean(file.name), 100), again)

    async def _hand_over_pictures(self, target: AnswerTarget, reply: Reply) -> str:
        """Send the pictures of the charts; return what became of them as with a file. Their numbers stand in the answer."""
        drawn = zip(reply.charts, await drawn_charts(reply.charts), strict=True)
        uploads = [Upload(f"{chart.name}.png", png, chart.title, chart.alt) for chart, png in drawn if png]
        named = "The picture" if len(uploads) == 1 else f"{len(uploads)} pictures"
        return await self._hand_over(target, uploads, named, "What they show stands here in numbers.") if uploads else ""

    async def _hand_over(self, target: AnswerTarget, files: Sequence[Upload], named: str, otherwise: str) -> str:
        """Send files to the person alone: in a channel everybody would see them. Return in a sentence what became of it."""
        try:
            await self._upload(target, files, self.patience.after(_FILE_SPAN))
        except Uncertain as error:
            log.warning("A file in %s may not have been handed over: %s", target.workspace, error)
            return f"{named} may have come as a direct message, or not: Slack did not say. Look there before you ask again."
        except BotError as error:
            log.warning("A file in %s could not be handed over: %s", target.workspace, error)
            return f"{named} could not be sent as a direct message: {error} {otherwise}"
        return f"{named} came as a direct message to who asked for it."

    async def _upload(self, target: AnswerTarget, files: Sequence[Upload], until: float) -> None:
        client = await self.client(target.workspace)
        channel = await self.patience.keep_trying(lambda: direct_channel(client, target.person), until, repeats=ANY_NUMBER)
        shown: list[dict[str, str | None]] = []
        for file in files:
            # What is not completed is shown to nobody, so that it may be uploaded again.
            storing = partial(self._store, client, file)
            stored = await self.patience.keep_trying(storing, until, repeats=ANY_NUMBER)
            shown.append({"id": stored, "title": cut(clean(file.title), _FILE_TITLE)})
        await self.patience.keep_trying(
            lambda: called(client.files_completeUploadExternal(files=shown, channel_id=channel)), until
        )

    async def _store(self, client: AsyncWebClient, file: Upload) -> str:
        """Give Slack the bytes of a file; return its name for them. Raises DeliveryError."""
        content, more = file.content, {"alt_txt": clean(file.alt)} if file.alt else {}
        place = await called(client.files_getUploadURLExternal(filename=file.name, length=len(content), **more))
        try:
            async with self.clients.session.post(str(place["upload_url"]), data=content) as answer:
                await answer.read()
        except FAILURES as error:
            raise slack_delivery_error(error) from error
        if not answer.ok:
            raise Delayed(f"Slack did not take its bytes (status {answer.status}).", retry_after=_rest(answer.headers))
        return str(place["file_id"])

    async def client(self, workspace: str) -> AsyncWebClient:
        """Return the client of a workspace. Raises DeliveryError."""
        try:
            return await self.clients.client(workspace)
        except DeliveryError:
            raise
        except BotError as error:
            raise Delayed(str(error)) from error


async def called(asking: Awaitable[Any]) -> Any:
    """Return what a call of the Web API gives. Raises DeliveryError: Unacceptable where another content may be taken."""
    try:
        return await asking
    except DeliveryError:
        raise
    except FAILURES as error:
        raise _failure(error) from error
    except (LookupError, TypeError, ValueError, AttributeError) as error:  # of what slack_sdk cannot read
        raise Uncertain("What answered cannot be read as Slack's answer.") from error


async def _posted(client: AsyncWebClient, channel: str, message: SlackMessage) -> None:
    await called(client.chat_postMessage(channel=channel, **message_fields(message)))


async def direct_channel(client: AsyncWebClient, person: str) -> str:
    """Return the direct message with the person, which may be opened any number of times. Raises DeliveryError."""
    try:
        return str((await called(client.conversations_open(users=person)))["channel"]["id"])
    except Uncertain as error:
        raise Delayed(str(error)) from error


def _failure(error: BaseException) -> DeliveryError:
    found, code = slack_delivery_error(error), error_code(error)
    return Unacceptable(str(found), failure=code) if code in _CONTENT else found


class PendingAnswer:
    """The answer to one interaction: one or more messages, and before them that it is looked for."""

    def __init__(self, answers: SlackAnswers, target: AnswerTarget) -> None:
        self.target = target
        self._answers = answers
        self._patience = answers.patience
        self._until = self._patience.after(SPAN)
        self._uses = _USES
        self._rests = 0.0  # until when the response_url takes nothing
        self._waited = self._unsure = 0  # how often the response_url was waited for, and how often it said nothing
        self._doubts = 0  # how often the message that is being sent may have been taken
        self._in_doubt = False
        self._replaces = target.replaces
        ways = ((self._by_url, target.url), (self._in_channel, target.channel), (self._directly, target.person))
        self._ways: list[Callable[..., Awaitable[None]]] = [way for way, place in ways if place]
        self._rejected: list[Callable[..., Awaitable[None]]] = []  # the ways that did not take it, for no known reason

    async def say_looking(self) -> None:
        """Say that the answer is being looked for. The answer takes its place where Slack lets it."""
        if self.target.url:
            try:
                await self._by_url(_LOOKING, public=False)
            except DeliveryError as error:
                log.info("That an answer is looked for could not be told: %s", error)
            else:
                self._replaces = self._replaces or self.target.may_replace

    async def send(self, messages: Sequence[SlackMessage], *, public: bool) -> None:
        """Post the messages, for the one who asked alone or for all in the channel; what reaches nobody is counted.

        Which of them may be missing is told to the one who asked, where some of it may be there.
        """
        missing: list[int] = []
        unsure = False  # whether one for all in the channel may stand there
        for number, message in enumerate(messages, start=1):
            error = await self._sent(message, public=public)
            if error is None:
                continue
            missing.append(number)
            if public and isinstance(error, Uncertain):
                unsure = True
            else:
                self._count_lost(error)
        if missing and (unsure or len(missing) < len(messages)):
            await self._tell_missing(missing, len(messages), public=public)

    async def _tell_missing(self, missing: Sequence[int], of: int, *, public: bool) -> None:
        """Tell the one who asked what of the answer may be missing; for this alone there is time, however late it is."""
        log.warning("Parts of an answer in %s may be missing", self.target.workspace)
        self._until = max(self._until, self._patience.after(_LAST))
        said = may_not_be_posted("Slack", missing, of) if public else may_be_missing("Slack", missing, of)
        (message,) = render.reply(said, date.min)
        if (error := await self._sent(message, public=False)) is not None:
            self._count_lost(error)

    def _count_lost(self, error: DeliveryError) -> None:
        self._answers.untold[PLATFORM] += 1
        where, count = self.target.workspace, self._answers.lost
        log.error("An answer in %s reached nobody (%d since the start): %s", where, count, error)

    async def _sent(self, message: SlackMessage, *, public: bool) -> DeliveryError | None:
        """Send it, ever plainer where Slack does not take it; return why it could not be, None where it was."""
        error, self._doubts = None, 0
        for each, shared in ((message, public), (render.plain(message), public), (_APOLOGY, False)):
            try:
                sending = partial(self._once, each, public=shared)
                await self._patience.keep_trying(sending, self._until, repeats=0 if shared else len(_PAUSES))
            except Unacceptable as refused:
                log.warning("Slack does not take an answer as it is laid out: %s", refused)
                error = refused
            except DeliveryError as failure:
                return failure
            else:
                return None
        return error

    async def _once(self, message: SlackMessage, *, public: bool) -> None:
        """Try each way that is open, until one takes it. Raises Delayed while one may take it later, else why none did."""
        if self._in_doubt:
            await self._settle()
        delayed: Delayed | None = None
        refused: DeliveryError = Refused("There is no way to the person.")
        for way in tuple(self._ways):
            try:
                await way(message, public=public)
            except Unacceptable:
                raise
            except Uncertain:
                self._in_doubt = True
                raise
            except (Refused, Rejected) as error:
                log.info("An answer takes another way: %s", error)
                self._ways.remove(way)
                self._rejected += [way] if isinstance(error, Rejected) else []
                refused = error
            except Delayed as error:
                delayed = error
                if not self._goes_on(way, error):
                    break
            else:
                return
        if self._rejected and not self._ways:  # nothing took it, and nothing says that nothing ever will
            self._ways, self._rejected = self._rejected, []
            raise Delayed(str(refused)) from refused
        raise delayed or refused

    async def _settle(self) -> None:
        """Wait until Slack answers what does no harm, then longer each time. Raises DeliveryError where it does not."""
        client = await self._answers.client(self.target.workspace)
        try:
            await called(client.auth_test())
        except (Delayed, Uncertain) as error:
            raise Delayed(str(error)) from error
        except DeliveryError:
            pass  # it answers
        pause = _PAUSES[min(self._doubts, len(_PAUSES) - 1)]
        if not self._patience.has(pause, self._until):
            raise Uncertain("Slack did not say whether it took the answer.")
        self._doubts += 1
        await self._patience.sleep(pause)
        self._in_doubt = False

    def _goes_on(self, way: Callable[..., Awaitable[None]], error: Delayed) -> bool:
        """Say whether another way is tried while this one takes nothing."""
        if way != self._by_url:
            return False
        self._waited += 1
        return self._waited > _WAITS or bool(error.retry_after and error.retry_after.total_seconds() > _LONG)

    # --- the ways

    async def _by_url(self, message: SlackMessage, *, public: bool) -> None:
        if not self._uses or self._unsure >= _UNSURE:
            raise Refused("The response_url is used up.")
        if (left := self._rests - self._patience.clock()) > 0:
            raise Delayed("The response_url rests.", retry_after=timedelta(seconds=left))
        said = {
            **message_fields(message),
            **self._thread,
            "response_type": "in_channel" if public else "ephemeral",
            "replace_original": self._replaces and not public,
        }
        self._uses -= 1
        try:
            async with self._answers.clients.session.post(self.target.url, json=said) as answer:
                body = (await answer.read()).decode("utf-8", "replace").strip()
            _judge(answer.status, answer.headers, body)
        except (DeliveryError, *FAILURES) as error:
            failure = slack_delivery_error(error)
            self._unsure += isinstance(failure, Uncertain)
            if isinstance(failure, Delayed):
                self._uses += 1
                self._rests = self._patience.after(failure.retry_after.total_seconds() if failure.retry_after else 0.0)
            raise failure from error
        self._replaces = False  # what follows stands beside it

    async def _in_channel(self, message: SlackMessage, *, public: bool) -> None:
        client, said = await self._answers.client(self.target.workspace), message_fields(message) | self._thread
        if public or self.target.is_direct:
            about = {"thread_ts": self.target.about} if self.target.about else {}
            await called(client.chat_postMessage(channel=self.target.channel, **{**about, **said}))
            return
        quiet = {name: value for name, value in said.items() if not name.startswith("unfurl")}
        await called(client.chat_postEphemeral(channel=self.target.channel, user=self.target.person, **quiet))

    async def _directly(self, message: SlackMessage, *, public: bool) -> None:
        if public:
            said = {"type": "context", "elements": [{"type": "plain_text", "text": NOT_POSTED}]}
            blocks = (said, *message.blocks) if message.blocks else ()
            message = SlackMessage(f"{message.text}\n{NOT_POSTED}", blocks)
        client = await self._answers.client(self.target.workspace)
        channel = await direct_channel(client, self.target.person)
        await called(client.chat_postMessage(channel=channel, **message_fields(message)))

    @property
    def _thread(self) -> dict[str, Any]:
        return {"thread_ts": self.target.thread} if self.target.thread else {}


def _judge(status: int, headers: Mapping[str, str], body: str) -> None:
    """Raise what an answer to a response_url means, unless it was taken."""
    is_slack, code = not body.startswith("<"), _code(body, status)
    if status == 429:
        raise Delayed("Slack asked for a pause.", retry_after=_rest(headers))
    if status >= 500 or (status < 400 and not is_slack):
        raise Uncertain(f"Slack failed, and does not say whether the answer was taken ({status}).")
    if status < 400 and not code:
        return
    if not is_slack:
        raise Delayed(f"Slack was not there, but something that answered {status}.")
    if code in _CONTENT:
        raise Unacceptable(f"Slack does not take the answer: {code}.", failure=code)
    raise Rejected(f"The response_url takes nothing: {code or status}.", failure=code or str(status))


def _code(body: str, status: int) -> str:
    """Return the name of the error that a response_url answers, in JSON or bare; "" where there is none."""
    if _ERROR.fullmatch(body):
        return body if status >= 400 else ""
    try:
        said = json.loads(body)
    except ValueError:
        return ""
    return str(said.get("error") or "unknown") if isinstance(said, dict) and said.get("ok") is False else ""


def _rest(headers: Mapping[str, str]) -> timedelta | None:
    """Return how long Slack asks us to wait."""
    try:
        seconds = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return timedelta(seconds=seconds) if 0 <= seconds <= 86_400 else None


async def _now(reply: Reply) -> Reply:
    return reply


def message_fields(message: SlackMessage) -> dict[str, Any]:
    """Return what a message of any kind says, and how."""
    return {"text": message.text, **({"blocks": list(message.blocks)} if message.blocks else {}), **FLAGS}
