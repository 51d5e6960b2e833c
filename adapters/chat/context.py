"""What every listener works with, and the tasks that go on after an interaction was acknowledged."""

import asyncio
import contextlib
import logging
import math
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.service.platforms import PlatformContext

log = logging.getLogger(__name__)

_GRACE = timedelta(seconds=10)
_LONGEST = 3600.0  # seconds of one wait: the loop takes no endless ones
_AT_ONCE = 8  # questions that are being answered: with more, each takes longer, and what is acknowledged waits for them
_LAST_WORDS = 3.0  # seconds of the grace that are left to tell people what is not done any more


class BackgroundTasks:
    """The tasks that are under way. Nothing that fails in one of them reaches another, or is lost."""

    def __init__(self) -> None:
        self.stopping = asyncio.Event()  # that the service ends
        self._tasks: set[asyncio.Task[None]] = set()
        self._end = math.inf  # when the rest is given up, in the loop's time

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Go on with this while the caller returns; `name` stands in the log, should it fail."""
        task = asyncio.create_task(_logged(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def left(self) -> float:
        """For how many seconds what is under way may go on, before it says that it ends; infinite till the end."""
        return self._end - _LAST_WORDS - asyncio.get_running_loop().time()

    async def pause(self, seconds: float) -> None:
        """Wait so long, or until the service ends."""
        if self.stopping.is_set():
            await asyncio.sleep(seconds)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.stopping.wait()

    async def has_ended(self, work: "asyncio.Future[Any]", seconds: float = math.inf) -> bool:
        """Wait for it so long, and no longer than the service goes on; say whether it has ended."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not work.done() and (left := min(end - loop.time(), self.left)) > 0:
            stopping = asyncio.ensure_future(self.stopping.wait())
            waited = {work} if self.stopping.is_set() else {work, stopping}
            await asyncio.wait(waited, timeout=min(left, _LONGEST), return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
        return work.done()

    async def finish(self, grace: timedelta = _GRACE) -> None:
        """Wait for what is under way, and for what it begins, at most so long; the rest is cancelled."""
        end = self._end = asyncio.get_running_loop().time() + grace.total_seconds()
        self.stopping.set()
        while self._tasks and (left := end - asyncio.get_running_loop().time()) > 0:
            await asyncio.wait(self._tasks, timeout=left)
        for task in self._tasks:
            log.warning("%s was not done in time and is given up", task.get_name())
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _logged(work: Coroutine[Any, Any, None], name: str) -> None:
    try:
        await work
    except Exception:
        log.exception("%s failed", name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerContext:
    """What every listener works with; each chat adds its clients and how it answers."""

    platform: PlatformContext
    tasks: BackgroundTasks
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))  # to ask the core

    @property
    def now(self) -> datetime:
        """The time, aware and in UTC."""
        return self.platform.clock()
