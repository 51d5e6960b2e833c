"""What came from a chat before: known again when it is sent once more, to this process or to another one."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta

from bot.errors import StoreError
from bot.ports.chats import Chats

REMEMBERED = 20_000  # in memory: far more than come in the five minutes in which a signed request may be sent again
PATIENCE = 1.0  # seconds; a dialogue must be opened within three of the click
SKEW = timedelta(minutes=1)  # between the chat's clock and ours
_COMPLAIN = timedelta(minutes=1)  # that a busy database is complained of once

log = logging.getLogger(__name__)


class SeenEvents:
    """Says whether something is met for the first time."""

    def __init__(
        self,
        platform: str,
        chats: Chats,
        clock: Callable[[], datetime],
        *,
        patience: float = PATIENCE,
        is_shared: bool = False,
    ) -> None:
        """`platform` is the chat's word; `is_shared` says that other processes hear what comes from it, too."""
        self._platform, self._chats, self._clock = platform, chats, clock
        self._patience, self._is_shared = patience, is_shared
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

    async def is_first(self, name: str, sent_since: datetime) -> bool:
        """Say whether it is met for the first time in 24 hours, also by a process before this one or beside it.

        Where no other process hears, the database is not asked, but told, of what was sent after this one began: none before
        it can have met that. A database that is busy is not waited for for long: what this process has not met is then taken
        for new.
        """
        if not self.is_new_here(name):
            return False
        writing = asyncio.create_task(self._noted(name))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        if not self._is_shared and sent_since > self._begun + SKEW and not self._forgot:
            return True
        try:
            return await asyncio.wait_for(asyncio.shield(writing), self._patience)
        except TimeoutError:
            self._complain(self._clock())
            return True

    def _complain(self, now: datetime) -> None:
        if self._complained is None or abs(now - self._complained) >= _COMPLAIN:
            self._complained = now
            log.warning("the database is busy; what comes from %s is not compared with what came before", self._platform)

    async def _noted(self, name: str) -> bool:
        try:
            return await self._chats.first_time(self._platform, name, self._clock())
        except StoreError as error:
            log.error("what came from %s could not be noted: %s", self._platform, error)  # noqa: TRY400 - foreseen
            return True

    async def settle(self) -> None:
        """Wait until all is noted."""
        if self._writing:
            await asyncio.wait(self._writing)
