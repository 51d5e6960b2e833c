"""The door through which everything from Slack comes in, by socket or by HTTP: acknowledge, compare, then work.

Slack gives three seconds. What needs no content in its acknowledgement is acknowledged before anything is looked up, so that
neither a busy database nor a long answer can miss them; a dialogue's submission and a menu's options, whose answer is the
acknowledgement, are answered as soon as their listener gives it.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.slack.connection.seen_events import Once, happened, name_of

CLOSING = 5.0  # seconds that listeners may still take when the service ends
_ANSWERED = frozenset({"view_submission", "block_suggestion", "dialog_suggestion", "dialog_submission", "url_verification"})

log = logging.getLogger(__name__)


class _Ack(AsyncAck):
    """Tells when it was called: its caller may have more to do afterwards."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.called = asyncio.Event()

    async def __call__(self, *args: Any, **values: Any) -> BoltResponse:
        response = await super().__call__(*args, **values)
        self.called.set()
        return response


class Door:
    """Takes requests that are known to be Slack's. The app must be one that answers after its listener: `built_app`."""

    def __init__(self, app: AsyncApp, once: Once, clock: Callable[[], datetime]) -> None:
        self._app, self._once, self._clock = app, once, clock
        self._going: set[asyncio.Task[BoltResponse]] = set()

    async def take(self, request: AsyncBoltRequest) -> BoltResponse:
        """Return what is to be answered at once; the work goes on."""
        kind = request.body.get("type")
        if kind == "app_rate_limited":
            log.warning("Slack holds events back: more came in an hour than it sends (%s)", request.body.get("team_id"))
            return BoltResponse(status=200)
        name = name_of(request.body)
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
        if name and not await self._once.is_first(name, happened(request.body, self._clock())):
            log.info("something from Slack came again and is ignored (%s)", name.partition(":")[0])
            return BoltResponse(status=200)
        return await self._app.async_dispatch(request)

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
        await self._once.settle()
