"""When to ask each source: when it may have something new, a little after it, and never all sources of the world at once."""

import random
from datetime import datetime, timedelta

from bot.models import SourceState
from bot.ports.source import Source

SHARE = 0.1  # of the time since the source was last asked, at most …
MOST = timedelta(minutes=10)  # … and no more than this is waited beyond the time that the source names


class PollingSchedule:
    """Remembers for each source by how much this service is late, so that all who run one do not ask in the same second."""

    def __init__(self, every: timedelta, chance: random.Random) -> None:
        """`every` is the time between two collections from a source that names no time of its own."""
        self._every = every
        self._chance = chance
        self._late: dict[str, tuple[datetime, timedelta]] = {}

    def is_due(self, source: Source, state: SourceState, now: datetime) -> bool:
        """Say whether to ask the source now."""
        return self.due(source, state, now) <= now

    def due(self, source: Source, state: SourceState, now: datetime) -> datetime:
        """Return when to ask the source: now at the latest when it was never asked, or by a clock that had run ahead.

        One that failed is asked when its rest is over, whatever it would name.
        """
        if state.asked is None or state.asked > now:
            return now
        if state.failures and state.rest_until is not None:
            return state.rest_until
        at = source.next_ask(state, now, self._every)
        return at + self._lateness(source.name, at, at - state.asked)

    def _lateness(self, name: str, at: datetime, since: timedelta) -> timedelta:
        """Return the same for the same time, so that asking every minute whether it is due does not draw anew."""
        known = self._late.get(name)
        if known is None or known[0] != at:
            most = max(timedelta(0), min(since * SHARE, MOST))
            known = self._late[name] = at, most * self._chance.random()
        return known[1]
