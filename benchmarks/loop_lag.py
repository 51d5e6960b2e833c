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
    # So much of what is too late at most is the process's own doing: no more than all of its threads used of the processor.
    own: list[float] = field(default_factory=list)
    due: float = 0.0  # when the next tick is to come, by time.perf_counter


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
        start, used, whole = time.perf_counter(), time.thread_time(), time.process_time()
        lag.due = start + TICK
        await asyncio.sleep(TICK)
        late = (time.perf_counter() - lag.due) * 1000
        lag.late.append(late)
        lag.busy.append((time.thread_time() - used) * 1000)
        lag.own.append(min(late, (time.process_time() - whole) * 1000))
