"""The time of the database's clock, told without asking: this machine's steady clock plus an offset that is measured."""

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.errors import StoreError
from bot.ports.runner import Job
from bot.store.postgres.connections import Connections, Db
from bot.store.postgres.migrations.processes import NOW
from bot.store.records import time_of

log = logging.getLogger(__name__)

MEASURED = timedelta(seconds=10)  # between two measurements
_KEPT = 6  # measurements, of which the one with the shortest round trip counts
_FIRST = 3  # measurements at the beginning: the first one's connection may still be made
# Crystals of two machines run apart by up to so much; what was measured a minute ago is then wrong by 12 ms at most.
_DRIFT = 200e-6
_HELD = 1_000_000  # microseconds by which the clock stands still rather than going backwards


@dataclass(frozen=True, slots=True)
class _Measurement:
    """What the server's clock showed, in microseconds; it may be off by half of the round trip."""

    at: int  # by the steady clock, in the middle of the round trip
    offset: int  # of the server's clock from the steady one
    round_trip: int


class ServerClock:
    """The database's clock, by which all processes agree on leases, schedules and rests, whatever their own clocks show.

    It is off by at most half of the shortest round trip of the last minute and what two machines' clocks drift apart in that
    time: about a millisecond in one network (`error` tells it). A small step back of the server's clock makes this one stand
    still until that is past; it follows one of more than a second. Between a step of the server's clock and the next
    measurement, at most ten seconds, it is off by the step.
    """

    def __init__(self, connections: Connections, steady: Callable[[], int] | None = None) -> None:
        """`steady` shows microseconds that never go back; by default this machine's, which counts while it sleeps too."""
        self._connections = connections
        self._steady = steady or _steady
        self._kept: deque[_Measurement] = deque(maxlen=_KEPT)
        self._is_doubted = False  # whether the server may be another one since the last measurement
        self._latest = 0

    async def open(self) -> None:
        """Measure for the first time, on open connections; raises StoreError where the server does not answer."""
        for _ in range(_FIRST):
            await self.measure()

    def now(self) -> datetime:
        """Return the time of the database's clock, aware, in UTC; raises StoreError before the first measurement."""
        shown = self._steady() + self._best().offset
        if not 0 < self._latest - shown <= _HELD:
            self._latest = shown
        return time_of(self._latest)

    @property
    def error(self) -> timedelta:
        """By how much it may be off now; raises StoreError before the first measurement."""
        best = self._best()
        return timedelta(microseconds=best.round_trip / 2 + (self._steady() - best.at) * _DRIFT)

    async def measure(self) -> None:
        """Ask the server once; raises StoreError where it does not answer. After that all is measured anew."""
        try:
            measured = await self._connections.read(self._asked)
        except StoreError:
            self._is_doubted = True
            raise
        if self._is_doubted or not self._fits(measured):
            self._kept.clear()
        self._is_doubted = False
        self._kept.append(measured)

    def job(self) -> Job:
        """Return what measures again and again."""
        return Job("clock", MEASURED, self.measure)

    async def _asked(self, db: Db) -> _Measurement:
        before = self._steady()
        row = await (await db.execute(f"select {NOW}".encode())).fetchone()
        after = self._steady()
        middle = (before + after) // 2
        return _Measurement(middle, (row[0] if row is not None else 0) - middle, after - before)

    def _fits(self, measured: _Measurement) -> bool:
        """Say whether the earlier measurements can be right beside the new one: not after a step of the server's clock."""
        if not self._kept:
            return True
        best = self._best()
        allowed = (best.round_trip + measured.round_trip) / 2 + (measured.at - best.at) * _DRIFT
        if abs(measured.offset - best.offset) <= allowed + 1:
            return True
        log.warning("the database's clock was moved by %.3f s", (measured.offset - best.offset) / 1e6)
        return False

    def _best(self) -> _Measurement:
        if not self._kept:
            raise StoreError("The database's clock was not read yet.")
        return min(self._kept, key=lambda each: each.round_trip)


def _steady() -> int:
    """Return microseconds of a clock that nobody sets, which goes on while the machine sleeps where there is such a one."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
    return time.monotonic_ns() // 1000
