"""The lanes of a ledger in memory: what waits there, by the workspaces' names."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot.models import LaneBacklog, lane_of
from bot.ports.ledger import Ledger
from bot.ports.shared.lanes import DELIVER, MAKE
from tests.stores.instead import instead

_ALL = 10_000


class MemoryLanes:
    """bot.ports.shared.lanes.Lanes, on any ledger that lists all of what waits."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def waiting(self, now: datetime) -> Sequence[LaneBacklog]:
        """As in the port."""
        found: defaultdict[tuple[str, str], list[datetime]] = defaultdict(list)
        for occurrence in await self._ledger.occurrences(now, limit=_ALL):
            found[MAKE, lane_of(occurrence.workspace)].append(occurrence.due)
        for read in (self._ledger.due_deliveries, self._ledger.unsettled_deliveries):
            for delivery in await read(now, limit=_ALL):
                found[DELIVER, lane_of(delivery.workspace)].append(delivery.due)
        return [LaneBacklog(verb, lane, len(due), min(due)) for (verb, lane), due in sorted(found.items())]

    def ledger(self, lane: str) -> Ledger:
        """As in the port."""

        def within(name: str) -> Any:
            read = getattr(self._ledger, name)

            async def limited(now: datetime, *, limit: int = 100, **more: Any) -> Sequence[Any]:
                return [each for each in await read(now, limit=_ALL, **more) if lane_of(each.workspace) == lane][:limit]

            return limited

        lists = ("occurrences", "due_deliveries", "unsettled_deliveries")
        return instead(self._ledger, **{name: within(name) for name in lists})
