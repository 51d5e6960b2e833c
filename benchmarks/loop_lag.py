"""How long the event loop was kept from what waits for it: a ticker beside what is measured."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

TICK = 0.01  # seconds


@dataclass(slots=True)
class Lag:
    """What a ticker saw, in milliseconds, a value for each tick."""

    late: list[float] = field(default_factory=list)  # how much too late it came, whoever had the processor
    busy: list[float] = field(default_factory=list)  # processor time that the loop's own thread used since the tick before


@asynccontextmanager
async def watched() -> AsyncIterator[Lag]:
    """Tick on the loop while the block runs."""
    lag = Lag()
    ticker = asyncio.create_task(_tick(lag))
    try:
        yield lag
    finally:
        ticker.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ticker


async def _tick(lag: Lag) -> None:
    while True:
        start, used = time.perf_counter(), time.thread_time()
        await asyncio.sleep(TICK)
        lag.late.append((time.perf_counter() - start - TICK) * 1000)
        lag.busy.append((time.thread_time() - used) * 1000)
