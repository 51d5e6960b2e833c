"""Each event, command and click once, for a day and across restarts, without making anybody wait for the database."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.slack.workspaces import PLATFORM
from bot.errors import StoreError
from bot.ports.chats import Chats

REMEMBERED = 20_000  # in memory: far more than come in the five minutes in which a signed request may be sent again
PATIENCE = 1.0  # seconds; a dialogue must be opened within three of the click
AGE = timedelta(minutes=15)  # that a command or a click may have when it comes; Slack repeats none for longer than six
SKEW = timedelta(minutes=1)  # between Slack's clock and ours
_COMPLAIN = timedelta(minutes=1)  # that a busy database is complained of once

log = logging.getLogger(__name__)


def name_of(body: dict[str, Any]) -> str:
    """Return by what a request is known when it is sent once more, by whomever; "" where it may be repeated."""
    if event := body.get("event_id"):
        return f"event:{event}"
    kind = str(body.get("type") or "command")
    if trigger := body.get("trigger_id"):
        actions = body.get("actions") or [{}]
        return f"{kind}:{trigger}:{actions[0].get('action_ts', '')}"
    if kind == "view_closed":
        view = body.get("view") or {}
        return f"{kind}:{view.get('id')}:{view.get('hash')}"
    return ""


def happened(body: dict[str, Any], now: datetime) -> datetime:
    """Return the earliest time at which a request can have been sent first; events may be repeated for a day."""
    try:
        return datetime.fromtimestamp(int(body["event_time"]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return now - (timedelta(days=1) if "event_id" in body else AGE)


class Once:
    """Says whether something is met for the first time."""

    def __init__(self, chats: Chats, clock: Callable[[], datetime], *, patience: float = PATIENCE) -> None:
        self._chats, self._clock, self._patience = chats, clock, patience
        self._met: OrderedDict[str, None] = OrderedDict()
        self._writing: set[asyncio.Task[bool]] = set()
        self._begun = clock()
        self._complained: datetime | None = None
        self._forgot = False

    def is_new_here(self, name: str) -> bool:
        """Say whether this process meets it for the first time, and note it."""
        if name in self._met:
            return False
        self._met[name] = None
        if len(self._met) > REMEMBERED:
            self._met.popitem(last=False)
            self._forgot = True
        return True

    async def is_first(self, name: str, happened: datetime) -> bool:
        """Say whether it is met for the first time in 24 hours, also by a process before this one.

        The database is not asked, but told, of what `happened` after this process began: none before it can have met that. A
        database that is busy is not waited for for long: what this process has not met is then taken for new.
        """
        if not self.is_new_here(name):
            return False
        writing = asyncio.create_task(self._noted(name))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        if happened > self._begun + SKEW and not self._forgot:
            return True
        try:
            return await asyncio.wait_for(asyncio.shield(writing), self._patience)
        except TimeoutError:
            self._complain(self._clock())
            return True

    def _complain(self, now: datetime) -> None:
        if self._complained is None or abs(now - self._complained) >= _COMPLAIN:
            self._complained = now
            log.warning("the database is busy; what comes from Slack is not compared with what came before the start")

    async def _noted(self, name: str) -> bool:
        try:
            return await self._chats.first_time(PLATFORM, name, self._clock())
        except StoreError as error:
            log.error("what came from Slack could not be noted: %s", error)  # noqa: TRY400 - foreseen
            return True

    async def settle(self) -> None:
        """Wait until all is noted."""
        if self._writing:
            await asyncio.wait(self._writing)
