"""When a platform may be asked for something: so often over all, in a workspace, in a channel, and not while that rests.

Each method has limits and rests of its own: what is looked for too often does not hold up what is posted. What is known
lives with the process: after a restart the platform's own "too many" teaches the rests again. A clock that was set back
makes nothing wait: what was noted at a later time than now is forgotten.

Where several processes work on one database they share what a platform takes: `SharedLimits` counts each call there.
"""

import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.errors import Delayed, DeliveryError, Reach, Refused, StoreError
from bot.models import Abilities, Method, Pace, Rest
from bot.ports.shared.processes import Budgets

log = logging.getLogger(__name__)

SHARE = 0.9  # of what a platform allows: Discord's 50 a second are kept at 45
# After a delay, what was missed may be made up for by so much of the period: 45 a second are then at most 48 in any second.
_SLACK = 0.05
GATED = 0.9  # of what a platform allows, within the window: what is held up on the way for a tenth of it is not too much yet
WINDOW = timedelta(seconds=1.02)  # a little more than the second in which the platform counts
# Over all processes so much of what a platform takes is handed out, evenly. It is a little less than a process's window lets
# through: so no window holds up what has its moment; and with what is late by the bound below, 48 of 50 calls leave in any
# second at most.
_SHARED = 0.88
_OF_THE_WINDOW = 0.995
_HELD_UP = timedelta(milliseconds=60)  # who comes later than this after its moment takes another one
# With so many moments for each call, calls that are late by seconds are few enough all the same.
_MOMENTS = 3
_MOMENT_LASTS = 10.0  # seconds within which the first request of a call leaves
_FORGET = 1000  # calls between two searches for what binds nobody any more
_SECOND, _MINUTE = timedelta(seconds=1), timedelta(minutes=1)

Pause = Callable[[float], Awaitable[object]]

_Place = str  # by which all processes know it


@dataclass(frozen=True, slots=True)
class PlatformCall:
    """One request to a platform: what is asked, where, and how much the platform takes."""

    method: Method
    workspace: str
    channel: str  # or the person who is told something
    able: Abilities

    @property
    def platform(self) -> str:
        """The word before the colon of the workspace's name."""
        return self.workspace.partition(":")[0]


@dataclass(slots=True)
class _Pace:
    """The last call of a place, and from when on the next is in time."""

    at: datetime
    next: datetime


@dataclass(frozen=True, slots=True)
class _Rest:
    begun: datetime
    until: datetime


class RateLimits:
    """What each platform takes."""

    def __init__(self) -> None:
        self._paces: dict[_Place, _Pace] = {}
        self._rests: dict[_Place, _Rest] = {}
        self._taken = 0

    def earliest(self, call: PlatformCall, now: datetime) -> datetime:
        """Return the earliest moment, not before now, at which it may be asked."""
        free = self.rested(call, now)
        for place, period, _ in _paces(call):
            pace = self._paces.get(place)
            if pace is not None and pace.at <= now:
                free = max(free, pace.next - period * _SLACK)
        return free

    def rested(self, call: PlatformCall, now: datetime) -> datetime:
        """Return when the platform, the workspace or the channel has rested, now where none of them does."""
        found = (self._rests.get(place) for place in _rests(call))
        return max((each.until for each in found if each is not None and each.begun <= now), default=now)

    def take(self, call: PlatformCall, now: datetime) -> None:
        """Count one call, now."""
        for place, period, interval in _paces(call):
            pace = self._paces.get(place)
            begins = pace.next if pace is not None and pace.at <= now else now
            self._paces[place] = _Pace(now, max(begins, now - period * _SLACK) + interval)
        self._taken += 1
        if self._taken % _FORGET == 0:
            self._forget(now)

    def rest(self, call: PlatformCall, reach: Reach, until: datetime, now: datetime) -> None:
        """Let the channel, the workspace, or the whole platform rest from such calls; a rest is never shortened.

        A platform that counts all calls together, by the second, rests as a whole from all of them.
        """
        place = _resting(call, reach)
        before = self._rests.get(place)
        if before is not None and before.begun <= now:
            until = max(until, before.until)
        self._rests[place] = _Rest(now, until)

    def learn(self, rests: Sequence[Rest], now: datetime) -> None:
        """Let rest what other processes let rest too; a rest is never shortened."""
        for each in rests:
            before = self._rests.get(each.place)
            if each.until > now and (before is None or before.begun > now or before.until < each.until):
                self._rests[each.place] = _Rest(now, each.until)

    def _forget(self, now: datetime) -> None:
        """Drop what binds nobody any more, or was noted by a clock that ran ahead."""
        self._rests = {place: rest for place, rest in self._rests.items() if rest.begun <= now < rest.until}
        self._paces = {place: pace for place, pace in self._paces.items() if pace.at <= now < pace.next}


@dataclass(frozen=True, slots=True)
class SharedLimits:
    """What all processes on one database together may ask of a platform."""

    budgets: Budgets | None  # None: one process works alone, and its own rate limits are all that there is
    rate_limits: RateLimits  # this process's own

    async def wait(
        self, call: PlatformCall, clock: Callable[[], datetime], pause: Pause, patience: timedelta
    ) -> datetime | None:
        """Count the call, wait for its moment, and return None; or when to come again, where that would take too long.

        What asked to be left alone meanwhile is, too. Raises StoreError.
        """
        if self.budgets is None:
            return None
        ends = clock() + patience
        for _ in range(_MOMENTS):
            begun = clock()
            left = max(ends - begun, timedelta(0))
            wait = await self.budgets.reserve(_shared_paces(call), _rests(call), patience=left)
            moment = begun + wait
            if moment > ends:
                return moment
            if wait > timedelta(0):
                await pause(wait.total_seconds())
                rested = await self.budgets.reserve((), _rests(call), patience=timedelta(0))
                if rested > timedelta(0):
                    return clock() + rested
            if clock() - moment <= _HELD_UP:
                break
        _moment.set([time.monotonic()])
        return None

    async def rest(
        self, call: PlatformCall, reach: Reach, until: datetime, now: datetime, error: DeliveryError | None = None
    ) -> None:
        """Let the channel, the workspace or the platform rest as in RateLimits; for every process where all were meant."""
        self.rate_limits.rest(call, reach, until, now)
        if self.budgets is None or until <= now or not _is_everybodys(error):
            return
        try:
            await self.budgets.rest(_resting(call, reach), until - now, str(error))
        except StoreError as failed:  # this process rests; what follows in the ledger fails by itself where it must
            log.warning("no other process knows that %s is to be left alone: %s", call.platform, failed)

    async def refresh(self, now: datetime) -> None:
        """Learn what other processes were asked to leave alone. Raises StoreError."""
        if self.budgets is not None:
            self.rate_limits.learn(await self.budgets.rests(), now)


Departures = dict[str, deque[datetime]]  # by platform: when requests left, within the last window


# What a call was counted for: its first request, wherever that is made. A list, so that parts of the call share the one.
_moment: ContextVar[list[float] | None] = ContextVar("_moment", default=None)


def takes_moment() -> bool:
    """Say whether the request that is about to leave is the one that its call was counted for; the next one is not."""
    moment = _moment.get()
    return moment is not None and bool(moment) and time.monotonic() - moment.pop() < _MOMENT_LASTS


class SlidingWindow:
    """Lets no more requests through within a second than a platform takes, counted when they leave.

    Rate limits pace what is handed out; between that and the request lies a claim, which takes some longer than others.
    """

    def __init__(self, pause: Pause, left: Departures | None = None) -> None:
        """`pause` waits for so many seconds of the clock that `enter` is given. Who has the same `left` counts together."""
        self._left: Departures = {} if left is None else left
        self._pause = pause

    async def enter(self, call: PlatformCall, clock: Callable[[], datetime]) -> None:
        """Return when one more request may leave; at once where no limit is known, or where the clock does not move."""
        most = int(GATED * (call.able.per_second or 0.0))
        if most < 1:
            return
        left = self._left.setdefault(call.platform, deque())
        now = clock()
        while len(_since(left, now)) >= most:
            await self._pause((left[0] + WINDOW - now).total_seconds())
            before, now = now, clock()
            if now <= before:
                break
        left.append(now)


def _since(left: deque[datetime], now: datetime) -> deque[datetime]:
    """Drop what left more than a window ago, or by a clock that ran ahead."""
    while left and not left[0] <= now < left[0] + WINDOW:
        left.popleft()
    return left


def _paces(call: PlatformCall) -> Iterator[tuple[_Place, timedelta, timedelta]]:
    """Yield the places that a call counts in, each with its period and how far apart calls are to be."""
    rate, at = call.able.rate(call.method), f"call {call.method} {call.workspace}"
    places = (
        (f"call {call.platform}", _SECOND, call.able.per_second),
        (at, _MINUTE, rate.per_workspace_minute),
        (f"{at} {call.channel}", _SECOND, rate.per_channel_second),
    )
    for place, period, most in places:
        if most:
            yield place, period, period / (SHARE * most)


def _shared_paces(call: PlatformCall) -> list[Pace]:
    """Return the places that a call counts in over all processes; the whole platform's calls never come in a bunch."""
    paces = [Pace(place, interval, period * _SLACK) for place, period, interval in _paces(call)]
    if call.able.per_second:
        paces[0] = Pace(paces[0].place, _SECOND / _rate_together(call.able.per_second))
    return paces


def _rate_together(per_second: float) -> float:
    """Return how many calls a second all processes make of a platform that takes so many."""
    gated = int(GATED * per_second) / WINDOW.total_seconds()
    return min(_SHARED * per_second, _OF_THE_WINDOW * gated) if gated else _SHARED * per_second


def _rests(call: PlatformCall) -> tuple[_Place, _Place, _Place, _Place]:
    """Return the places whose rest holds up a call: the platform, for everything and for its method, and its own."""
    at = f"call {call.method} {call.workspace}"
    return f"call {call.platform}", f"call {call.method} {call.platform}:*", at, f"{at} {call.channel}"


def _is_everybodys(error: DeliveryError | None) -> bool:
    """Say whether a platform asked all processes to wait or refuses all: not for a machine's address, nor for its token."""
    if isinstance(error, Delayed):
        return error.retry_after is not None and not error.here
    return isinstance(error, Refused) and error.reach is not Reach.PLATFORM


def _resting(call: PlatformCall, reach: Reach) -> _Place:
    """Return the place that rests after the platform answered a call so."""
    everything, platform, workspace, channel = _rests(call)
    whole = everything if call.able.per_second else platform
    return {Reach.PLATFORM: whole, Reach.WORKSPACE: workspace, Reach.CHANNEL: channel}[reach]
