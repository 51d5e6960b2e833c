"""How much may be asked for in a while, by whoever asks."""

import time
from collections import OrderedDict
from collections.abc import Callable

_NAMES = 10_000  # that are remembered; of more, those that asked for nothing for the longest time are forgotten


class RateLimit:
    """So much a minute for each name, all at once or spread: a token bucket each."""

    def __init__(self, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def takes(self, name: str, cost: float = 1) -> bool:
        """Say whether there is room for one more thing of that cost, and count it if so."""
        now = self._clock()
        left, at = self._left.pop(name, (self._most, now))
        left = min(self._most, left + (now - at) * self._most / 60)
        fits = left >= cost
        self._left[name] = (left - cost if fits else left, now)
        if len(self._left) > _NAMES:
            self._left.popitem(last=False)
        return fits
