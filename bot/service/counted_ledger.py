"""The ledger, with a count of what is written into it since the service began."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import cast

from bot.models import Delivery, DeliveryState, Digest, Occurrence, OccurrenceState, Subscription
from bot.ports.ledger import Ledger

# What is counted. A delivery that is put back or looked for again is counted each time.
POSTED, AMBIGUOUS, FAILED, EXPIRED, PUT_BACK = "posted", "ambiguous", "failed", "expired", "put_back"
MADE, EMPTY, SKIPPED, LATE = "made", "empty", "skipped", "late"

_STATES = {
    DeliveryState.DONE: POSTED,
    DeliveryState.AMBIGUOUS: AMBIGUOUS,
    DeliveryState.FAILED: FAILED,
    DeliveryState.EXPIRED: EXPIRED,
    DeliveryState.PENDING: PUT_BACK,
}
_HAPPENINGS = {OccurrenceState.MADE: MADE, OccurrenceState.EMPTY: EMPTY, OccurrenceState.SKIPPED: SKIPPED}


def count_writes(ledger: Ledger, counts: Counter[str]) -> Ledger:
    """Return the same ledger; what is recorded through it is counted by the words above."""
    return cast("Ledger", _Counted(ledger, counts))


class _Counted:
    """Stands before the ledger; what is not written here goes straight to it."""

    def __init__(self, ledger: Ledger, counts: Counter[str]) -> None:
        self._ledger = ledger
        self._counts = counts

    def __getattr__(self, name: str) -> object:
        return getattr(self._ledger, name)

    async def open_occurrences(self, found: Sequence[Occurrence], subscription: Subscription, next_due: datetime) -> int:
        new = await self._ledger.open_occurrences(found, subscription, next_due)
        # Of those that were not new it is not known which; they are the older ones, and so the skipped.
        self._counts[SKIPPED] += max(0, sum(each.state is OccurrenceState.SKIPPED for each in found) - (len(found) - new))
        return new

    async def close_occurrence(
        self, occurrence: Occurrence, now: datetime, *, digest: Digest | None = None, deliveries: Sequence[Delivery] = ()
    ) -> bool:
        closed = await self._ledger.close_occurrence(occurrence, now, digest=digest, deliveries=deliveries)
        if closed and occurrence.state in _HAPPENINGS:
            self._counts[_HAPPENINGS[occurrence.state]] += 1
            self._counts[LATE] += occurrence.state is OccurrenceState.MADE and occurrence.late
        return closed

    async def record(self, delivery: Delivery, *, unposted: bool = False) -> bool:
        recorded = await self._ledger.record(delivery, unposted=unposted)
        if recorded and delivery.state in _STATES:
            self._counts[_STATES[delivery.state]] += 1
        return recorded
