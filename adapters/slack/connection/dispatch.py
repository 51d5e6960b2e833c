"""What becomes of everything that comes from Slack, by socket or by HTTP: acknowledged, known again, then worked on.

Slack gives three seconds. What needs no content in its acknowledgement is acknowledged before anything is looked up, so that
neither a busy database nor a long answer can miss them; a dialogue's submission and a menu's options, whose answer is the
acknowledgement, are answered as soon as their listener gives it.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.chat.answers import unreadable
from adapters.chat.seen import SeenEvents
from adapters.chat.unreadable import UnreadableEvents
from adapters.slack.workspaces import PLATFORM

AGE = timedelta(minutes=15)  # that a command or a click may have when it comes; Slack repeats none for longer than six

log = logging.getLogger(__name__)


def request_id(body: dict[str, Any]) -> str:
    """Return by what a request is known when it is sent once more, by whomever; "" where it may be repeated."""
    if event := body.get("event_id"):
        return f"event:{event}"
    kind = str(body.get("type") or "command")
    if trigger := body.get("trigger_id"):
        (action, *_) = _objects(body.get("actions")) or [{}]
        return f"{kind}:{trigger}:{action.get('action_ts', '')}"
    if kind == "view_closed":
        (view, *_) = _objects([body.get("view")]) or [{}]
        return f"{kind}:{view.get('id')}:{view.get('hash')}"
    return ""


def _objects(found: object) -> list[dict[str, Any]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def sent_since(body: dict[str, Any], now: datetime) -> datetime:
    """Return the earliest time at which a request can have been sent first; events may be repeated for a day."""
    try:
        return datetime.fromtimestamp(int(body["event_time"]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return now - (timedelta(days=1) if "event_id" in body else AGE)


_UNHANDLED = 404
_UNREADABLE = unreadable("Slack")


def _decoded(body: object) -> dict[str, Any]:
    """Return what came by HTTP or by socket, as far as that can be told."""
    try:
        said = json.loads(body) if isinstance(body, str) and body.startswith("{") else body
        if isinstance(said, str):
            said = dict(parse_qsl(said, keep_blank_values=True))
            said = json.loads(said["payload"]) if "payload" in said else said
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _told(said: dict[str, Any]) -> dict[str, Any] | str:
    """Return what tells who acted that it could not be read, where an acknowledgement can; a dialogue would just close."""
    if said.get("type") == "view_submission":
        blocks = [{"type": "section", "text": {"type": "plain_text", "text": _UNREADABLE}}]
        view = {"type": "modal", "title": {"type": "plain_text", "text": "Not read"}, "blocks": blocks}
        return {"response_action": "update", "view": view}
    return {"response_type": "ephemeral", "text": _UNREADABLE} if "command" in said else ""


CLOSING = 5.0  # seconds that listeners may still take when the service ends
_ANSWERED = frozenset({"view_submission", "block_suggestion", "dialog_suggestion", "dialog_submission", "url_verification"})


class _Ack(AsyncAck):
    """Tells when it was called: its caller may have more to do afterwards."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.called = asyncio.Event()

    async def __call__(self, *args: Any, **values: Any) -> BoltResponse:
        response = await super().__call__(*args, **values)
        self.called.set()
        return response


def event_name(body: object) -> str:
    """Return what was sent, in Slack's word for it: an event's type, an interaction's, "command"; "" for anything else."""
    said = body if isinstance(body, dict) else {}
    event = said.get("event")
    kind = event.get("type") if isinstance(event, dict) else said.get("type", "command" if "command" in said else "")
    return kind if isinstance(kind, str) else ""


class Dispatcher:
    """Takes requests that are known to be Slack's. The app must be one that answers after its listener: `built_app`."""

    def __init__(
        self, app: AsyncApp, seen: SeenEvents, clock: Callable[[], datetime], unreadable: Counter[str] | None = None
    ) -> None:
        """`unreadable` is told of each request that could not be read, by the platform's name."""
        self._app, self._seen, self._clock = app, seen, clock
        self._going: set[asyncio.Task[BoltResponse]] = set()
        counts = Counter[str]() if unreadable is None else unreadable
        self.unreadable = UnreadableEvents(PLATFORM, counts, {"slack_bolt", "slack_sdk"})
        app.error(self._failed)

    async def receive(self, body: Any, **given: Any) -> BoltResponse:
        """Return what is to be answered at once to what Slack sent, as AsyncBoltRequest takes it.

        What cannot be read is acknowledged all the same: Slack would send it again, for nothing.
        """
        try:
            request = AsyncBoltRequest(body=body, **given)
        except Exception as error:  # noqa: BLE001 - whatever slack_bolt makes of it
            said = _decoded(body)
            self.unreadable.note(event_name(said), error)
            return BoltResponse(status=200, body=_told(said))
        return await self.dispatch(request)

    async def dispatch(self, request: AsyncBoltRequest) -> BoltResponse:
        """Return what is to be answered at once; the work goes on."""
        kind = str(request.body.get("type", ""))
        if kind == "app_rate_limited":
            log.warning("Slack holds events back: more came in an hour than it sends (%s)", request.body.get("team_id"))
            return BoltResponse(status=200)
        name = request_id(request.body)
        if kind in _ANSWERED:
            return await self._answered(request, name)
        self._begin(self._worked(request, name))
        return BoltResponse(status=200)

    async def _answered(self, request: AsyncBoltRequest, name: str) -> BoltResponse:
        ack = _Ack()
        request.context["ack"] = ack
        work = self._begin(self._worked(request, name))
        called = asyncio.create_task(ack.called.wait())
        await asyncio.wait([work, called], return_when=asyncio.FIRST_COMPLETED)
        called.cancel()
        return ack.response if ack.response is not None else work.result()

    async def _worked(self, request: AsyncBoltRequest, name: str) -> BoltResponse:
        if name and not await self._seen.is_first(name, sent_since(request.body, self._clock())):
            log.info("something from Slack came again and is ignored (%s)", name.partition(":")[0])
            return BoltResponse(status=200)
        try:
            response = await self._app.async_dispatch(request)
        except Exception as error:  # noqa: BLE001 - slack_bolt's own handling of an error may fail as its reading did
            return await self._failed(error, request.body) or BoltResponse(status=500)
        # What no listener is for is logged by slack_bolt.
        return response if response.status != _UNHANDLED else BoltResponse(status=200, body=_told(request.body))

    async def _failed(self, error: Exception, body: Any) -> BoltResponse | None:
        """Log what slack_bolt could not read, or a listener could not do; return what the former is answered with."""
        if not self.unreadable.is_its_own(error):
            log.error("something from Slack could not be handled", exc_info=error)
            return None
        self.unreadable.note(event_name(body), error)
        return BoltResponse(status=200, body=_told(body))

    def _begin(self, work: Any) -> asyncio.Task[BoltResponse]:
        task: asyncio.Task[BoltResponse] = asyncio.create_task(work)
        self._going.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[BoltResponse]) -> None:
        self._going.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("something from Slack could not be handled", exc_info=error)

    async def close(self, grace: float = CLOSING) -> None:
        """Let what is going on end, and cut off what takes too long."""
        if self._going:
            await asyncio.wait(self._going, timeout=grace)
        late = list(self._going)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)
        await self._seen.settle()
