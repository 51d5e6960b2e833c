"""How often, and how many at a time, a host may be asked."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

Sleep = Callable[[float], Awaitable[object]]
Clock = Callable[[], float]

FIRST_BACKOFF, LONGEST_BACKOFF = 1.0, 30.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Politeness:
    """How one host, or several that share this very object, wants to be treated.

    Two hosts with the same object are one to it: the pause and the connections are counted over both together. Two equal
    objects are two (identity counts, not value).
    """

    seconds_between: float = 0.2  # from the start of one request to the start of the next
    connections: int = 2  # requests under way at the same time
    retries: int = 2  # further attempts after the first has failed in passing
    shared: str = ""  # the name under which all processes on one database take turns at it, one request at a time; "": none


class Throttle:
    """Lets requests through as one Politeness allows, in the order in which they came."""

    def __init__(self, politeness: Politeness, sleep: Sleep, clock: Clock) -> None:
        self.politeness = politeness
        self._sleep = sleep
        self._clock = clock
        self._slots = asyncio.Semaphore(politeness.connections)
        self._queue = asyncio.Lock()
        self._next = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a slot and for the pause to be over; the slot is kept for as long as the block runs."""
        async with self._slots:
            async with self._queue:
                await self._pause()
            yield

    async def _pause(self) -> None:
        wait = self._next - self._clock()
        if wait > 0:
            await self._sleep(wait)
        self._next = max(self._next, self._clock()) + self.politeness.seconds_between

    def rest(self, seconds: float) -> None:
        """Let nothing through for so long: what the host itself asked for."""
        self._next = max(self._next, self._clock() + seconds)


def backoff(attempt: int) -> float:
    """Return the pause before a further attempt, in seconds: full jitter below a bound that doubles (`attempt` from 0)."""
    return random.uniform(0, min(LONGEST_BACKOFF, FIRST_BACKOFF * 2**attempt))


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> timedelta | None:
    """Read Retry-After, in seconds or as a date (RFC 9110 section 10.2.3); None when it is missing or makes no sense.

    A date counts from the answer's own Date, so that two clocks need not agree; without one, from `now`. Header names are
    in lower case.
    """
    text = headers.get("retry-after", "").strip()
    try:
        if text.replace(".", "", 1).isdecimal():
            return timedelta(seconds=float(text))
        asked = parsedate_to_datetime(headers["date"]) if "date" in headers else now or datetime.now(UTC)
        return max(_aware(parsedate_to_datetime(text)) - _aware(asked), timedelta())
    except (ValueError, OverflowError):
        return None


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
