"""What waits, by lane: what several processes share out the work of posting by."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.models import LaneBacklog
from bot.ports.ledger import Ledger

MAKE, DELIVER = "make", "deliver"


class Lanes(Protocol):
    """The lanes of a store that several processes work on."""

    async def waiting(self, now: datetime) -> Sequence[LaneBacklog]:
        """Return what has work now, by verb and lane: due occurrences to make, deliveries to send or to look for."""
        ...

    def ledger(self, lane: str) -> Ledger:
        """Return the ledger, whose lists of what waits hold only what is in the lane; everything else is as in the whole."""
        ...


@dataclass(frozen=True, slots=True)
class LaneJob:
    """That a lane is to be worked on, or is."""

    verb: str
    lane: str
    runs: bool  # whether a worker has it, else it waits for one


LaneWork = Callable[[str, str], Awaitable[None]]
"""Works on a lane for a verb, until it is empty or for a while."""


class LaneJobs(Protocol):
    """What wakes a worker, wherever it is, for a lane. All of it may raise StoreError, and all of it may be lost."""

    async def defer(self, verb: str, lane: str) -> bool:
        """Have the lane worked on as soon as somebody can, after who works on it now; False where that is so already."""
        ...

    async def work(self, verbs: Sequence[str], do: LaneWork, at_once: int) -> None:
        """Work on lanes for these verbs, on so many at the same time, until this is cancelled or the connection is lost.

        Cancelled, it takes no further one, and ends when those that it has are done.
        """
        ...

    async def jobs(self) -> Sequence[LaneJob]:
        """Return which lanes are worked on or wait for it."""
        ...

    async def rescue(self) -> Sequence[LaneJob]:
        """Have worked on again what a worker had that is gone; return what that was."""
        ...
