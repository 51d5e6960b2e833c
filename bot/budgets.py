"""When something may be posted: so often over a platform, in a workspace, in a channel, and not while one of them rests.

What is known lives with the process: after a restart the platform's own "too many" teaches the rests again. A clock that
was set back makes nothing wait: what was noted at a later time than now is forgotten.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.errors import Reach
from bot.models import Abilities

SHARE = 0.9  # of what a platform allows: Discord's 50 a second are kept at 45
# After a delay, what was missed may be made up for by so much of the period: 45 a second are then at most 48 in any second.
_SLACK = 0.05
GATED = 0.94  # of what a platform allows, within the window: a little above the pace, which it is not to slow down
WINDOW = timedelta(seconds=1.02)  # a little more than the second in which the platform counts
_FORGET = 1000  # postings between two searches for what binds nobody any more

Pause = Callable[[float], Awaitable[object]]

_Place = tuple[str, ...]  # (platform,), (platform, workspace), (platform, workspace, channel)


@dataclass(slots=True)
class _Pace:
    """The last posting of a place, and from when on the next is in time."""

    at: datetime
    next: datetime


@dataclass(frozen=True, slots=True)
class _Rest:
    begun: datetime
    until: datetime


class Budgets:
    """What each platform takes, by the word before the colon of its workspaces' names."""

    def __init__(self, abilities: Mapping[str, Abilities]) -> None:
        self._abilities = abilities
        self._paces: dict[_Place, _Pace] = {}
        self._rests: dict[_Place, _Rest] = {}
        self._taken = 0

    def when(self, workspace: str, channel: str, now: datetime) -> datetime:
        """Return the earliest moment, not before now, at which something may be posted there."""
        free = now
        for place, period, interval in self._places(workspace, channel):
            pace, rest = self._paces.get(place), self._rests.get(place)
            if pace is not None and interval and pace.at <= now:
                free = max(free, pace.next - period * _SLACK)
            if rest is not None and rest.begun <= now:
                free = max(free, rest.until)
        return free

    def take(self, workspace: str, channel: str, now: datetime) -> None:
        """Count one posting, now."""
        for place, period, interval in self._places(workspace, channel):
            if not interval:
                continue
            pace = self._paces.get(place)
            begins = pace.next if pace is not None and pace.at <= now else now
            self._paces[place] = _Pace(now, max(begins, now - period * _SLACK) + interval)
        self._taken += 1
        if self._taken % _FORGET == 0:
            self._forget(now)

    def rest(self, workspace: str, channel: str, reach: Reach, until: datetime, now: datetime) -> None:
        """Let the channel, the workspace, or the whole platform rest; a rest is never shortened."""
        whole = (_platform(workspace), workspace, channel)
        place = whole[: {Reach.PLATFORM: 1, Reach.WORKSPACE: 2, Reach.CHANNEL: 3}[reach]]
        before = self._rests.get(place)
        if before is not None and before.begun <= now:
            until = max(until, before.until)
        self._rests[place] = _Rest(now, until)

    def _places(self, workspace: str, channel: str) -> tuple[tuple[_Place, timedelta, timedelta | None], ...]:
        """Return the places that a posting counts in, each with its period and how far apart postings are to be."""
        platform = _platform(workspace)
        able = self._abilities.get(platform, Abilities())
        second, minute = timedelta(seconds=1), timedelta(minutes=1)
        return (
            ((platform,), second, _apart(second, able.per_second)),
            ((platform, workspace), minute, _apart(minute, able.per_workspace_minute)),
            ((platform, workspace, channel), second, _apart(second, able.per_channel_second)),
        )

    def _forget(self, now: datetime) -> None:
        """Drop what binds nobody any more, or was noted by a clock that ran ahead."""
        self._rests = {place: rest for place, rest in self._rests.items() if rest.begun <= now < rest.until}
        self._paces = {place: pace for place, pace in self._paces.items() if pace.at <= now < pace.next}


class Gate:
    """Lets no more requests through within a second than a platform takes, counted when they leave.

    Budgets pace what is handed out; between that and the request lies a claim, which takes longer for some than for others.
    """

    def __init__(self, abilities: Mapping[str, Abilities], pause: Pause) -> None:
        """`pause` waits for so many seconds of the clock that `enter` is given."""
        self._most = {name: int(GATED * able.per_second) for name, able in abilities.items() if able.per_second}
        self._left: dict[str, deque[datetime]] = {name: deque() for name in self._most}
        self._pause = pause

    async def enter(self, workspace: str, clock: Callable[[], datetime]) -> None:
        """Return when one more request may leave; at once where no limit is known, or where the clock does not move."""
        platform = _platform(workspace)
        most, left = self._most.get(platform, 0), self._left.get(platform)
        if left is None or most < 1:
            return
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


def _apart(period: timedelta, most: float | None) -> timedelta | None:
    return period / (SHARE * most) if most else None


def _platform(workspace: str) -> str:
    return workspace.partition(":")[0]
