"""What goes on after an interaction was acknowledged: followed to its end, and waited for when the service stops."""

import asyncio
import logging
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

log = logging.getLogger(__name__)

_GRACE = timedelta(seconds=10)


class Work:
    """The tasks that are under way. Nothing that fails in one of them reaches another, or is lost."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def under_way(self) -> int:
        """How many are not done."""
        return len(self._tasks)

    def begin(self, doing: Coroutine[Any, Any, None], what: str) -> None:
        """Go on with this while the caller returns; `what` names it in the log, should it fail."""
        task = asyncio.create_task(_followed(doing, what), name=what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self, grace: timedelta = _GRACE) -> None:
        """Wait for what is under way, and for what it begins, at most so long; the rest is cancelled."""
        end = asyncio.get_running_loop().time() + grace.total_seconds()
        while self._tasks and (left := end - asyncio.get_running_loop().time()) > 0:
            await asyncio.wait(self._tasks, timeout=left)
        for task in self._tasks:
            log.warning("%s was not done in time and is given up", task.get_name())
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _followed(doing: Coroutine[Any, Any, None], what: str) -> None:
    try:
        await doing
    except Exception:
        log.exception("%s failed", what)
