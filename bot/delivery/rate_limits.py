"""When a platform may be asked for something: so often over all, in a workspace, in a channel, and not while that rests.

Each method has limits and rests of its own: what is looked for too often does not hold up what is posted. What is known
lives with the process: after a restart the platform's own "too many" teaches the rests again. A clock that was set back
makes nothing wait: what was noted at a later time than now is forgotten.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.errors import Reach
from bot.models import Abilities, Method

SHARE = 0.9  # of what a platform allows: Discord's 50 a second are kept at 45
# After a delay, what was missed may be made up for by so much of the period: 45 a second are then at most 48 in any second.
_SLACK = 0.05
GATED = 0.9  # of what a platform allows, within the window: what is held up on the way for a tenth of it is not too much yet
WINDOW = timedelta(seconds=1.02)  # a little more than the second in which the platform counts
_FORGET = 1000  # calls between two searches for what binds nobody any more
_SECOND, _MINUTE = timedelta(seconds=1), timedelta(minutes=1)

Pause = Callable[[float], Awaitable[object]]

_Place = tuple[str, ...]


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
        everything, platform, workspace, channel = _rests(call)
        whole = everything if call.able.per_second else platform
        place = {Reach.PLATFORM: whole, Reach.WORKSPACE: workspace, Reach.CHANNEL: channel}[reach]
        before = self._rests.get(place)
        if before is not None and before.begun <= now:
            until = max(until, before.until)
        self._rests[place] = _Rest(now, until)

    def _forget(self, now: datetime) -> None:
        """Drop what binds nobody any more, or was noted by a clock that ran ahead."""
        self._rests = {place: rest for place, rest in self._rests.items() if rest.begun <= now < rest.until}
        self._paces = {place: pace for place, pace in self._paces.items() if pace.at <= now < pace.next}


Departures = dict[str, deque[datetime]]  # by platform: when requests left, within the last window


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
    rate = call.able.rate(call.method)
    places = (
        ((call.platform,), _SECOND, call.able.per_second),
        ((call.method, call.workspace), _MINUTE, rate.per_workspace_minute),
        ((call.method, call.workspace, call.channel), _SECOND, rate.per_channel_second),
    )
    for place, period, most in places:
        if most:
            yield place, period, period / (SHARE * most)


def _rests(call: PlatformCall) -> tuple[_Place, _Place, _Place, _Place]:
    """Return the places whose rest holds up a call: the platform, for everything and for its method, and its own."""
    return (
        (call.platform,),
        (call.method, call.platform, "", ""),
        (call.method, call.workspace),
        (call.method, call.workspace, call.channel),
    )
