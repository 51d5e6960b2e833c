"""How long what answers a person is tried again, and when.

What surely was not taken is sent again after a wait, and so is what may have been taken where a second one does no harm.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from bot.errors import Delayed, Uncertain

T = TypeVar("T")

ANY_NUMBER = 1_000_000  # of repetitions: of what changes nothing when it is done twice


@dataclass(frozen=True, slots=True)
class Patience:
    """How time passes while an answer waits, and how long each wait is. Times are in seconds of a clock of its own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    first: float = 0.5  # the first wait; each one after it is twice as long
    longest: float = 30.0
    left: Callable[[], float] = lambda: math.inf  # how long the service goes on: no wait is longer, and `sleep` ends with it

    def after(self, seconds: float) -> float:
        """Return the time in so many seconds."""
        return self.clock() + seconds

    def has(self, seconds: float, until: float) -> bool:
        """Say whether there is so much time until then, and before the service ends."""
        return self.after(seconds) <= until and seconds <= self.left()

    def wait_before(self, again: int) -> float:
        """Return how long to wait before the try of this number, from 1, is repeated."""
        return float(min(self.longest, self.first * 2 ** min(again - 1, 20)))

    async def keep_trying(self, send: Callable[[], Awaitable[T]], until: float, *, repeats: int = 0) -> T:
        """Return what `send` returns, tried again until that time while it raises Delayed, after the wait that it names.

        What raises Uncertain is tried again so many times at most. Raises the last DeliveryError where no time is left, and
        any other error at once.
        """
        tries = 0
        while True:
            tries += 1
            try:
                return await send()
            except Delayed as error:
                asked = error.retry_after.total_seconds() if error.retry_after else 0.0
                wait = max(asked, self.wait_before(tries))
                if not self.has(wait, until):
                    raise
            except Uncertain:
                repeats -= 1
                wait = self.wait_before(tries)
                if repeats < 0 or not self.has(wait, until):
                    raise
            await self.sleep(wait)
