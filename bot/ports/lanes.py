"""What waits, by lane: what several processes share out the work of posting by."""

from collections.abc import Sequence
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
