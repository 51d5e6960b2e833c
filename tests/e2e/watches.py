"""What listens, kept going as the service's runner does, only sooner."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from bot.ports.runner import Watch
from bot.service.supervise import keep_going

_SOON = timedelta(seconds=0.1)


@asynccontextmanager
async def kept(watches: Sequence[Watch]) -> AsyncIterator[None]:
    """Run what listens, and begin it again when it ends."""
    tasks = [asyncio.create_task(keep_going(watch, _SOON)) for watch in watches]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
