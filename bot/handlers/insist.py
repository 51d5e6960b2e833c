"""Writing although others write the same: read again, and try again."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from bot.errors import Conflict

ATTEMPTS = 5  # whoever gets in the way has done their change when ours is tried again

Made = TypeVar("Made")


async def insist(attempt: Callable[[], Awaitable[Made]]) -> Made:
    """Return what the attempt makes; it reads anew each time, and the last Conflict is raised."""
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(Conflict):
            return await attempt()
    return await attempt()
