"""The ledger as methods of the SQLite store."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from sqlite_utils import Database

from bot.models import Delivery, DeliveryState, Digest, Occurrence, OccurrenceState, Subscription
from bot.ports.ledger import NO_TURNS
from bot.store.sqlite import digests, ledger, workspaces

T = TypeVar("T")


class SqliteLedger(ABC):
    """bot.ports.ledger.Ledger of a database; what it does stands in bot.store.sqlite.ledger."""

    @abstractmethod
    async def _read(self, job: Callable[[Database], T]) -> T: ...

    @abstractmethod
    async def _write(self, job: Callable[[Database], T]) -> T: ...

    @abstractmethod
    async def _write_shared(self, job: Callable[[Database], T]) -> T: ...

    async def subscriptions_due(self, now: datetime, *, limit: int = 500) -> Sequence[tuple[Subscription, datetime | None]]:
        """Return subscriptions whose next occurrence is due or not known, with that instant."""
        return await self._read(lambda db: ledger.subscriptions_due(db, now, limit))

    async def every_subscription(self) -> Sequence[Subscription]:
        """Return the subscriptions of all workspaces."""
        return await self._read(workspaces.every_subscription)

    async def open_occurrences(self, found: Sequence[Occurrence], subscription: Subscription, next_due: datetime) -> int:
        """Keep the occurrences that are not yet kept, and when the subscription is due next."""
        return await self._write_shared(lambda db: ledger.open_occurrences(db, found, subscription, next_due))

    async def occurrences(
        self,
        now: datetime,
        *,
        state: OccurrenceState = OccurrenceState.DUE,
        limit: int = 100,
        had: Mapping[str, int] = NO_TURNS,
    ) -> Sequence[Occurrence]:
        """Return occurrences in this state whose time has come; the workspaces take turns."""
        return await self._read(lambda db: ledger.occurrences(db, now, state, limit, had))

    async def close_occurrence(
        self, occurrence: Occurrence, now: datetime, *, digest: Digest | None = None, deliveries: Sequence[Delivery] = ()
    ) -> bool:
        """Record what became of an occurrence that is due, with its digest and the deliveries of it."""
        return await self._write_shared(lambda db: ledger.close_occurrence(db, occurrence, now, digest, deliveries))

    async def due_deliveries(
        self, now: datetime, *, limit: int = 100, had: Mapping[str, int] = NO_TURNS
    ) -> Sequence[Delivery]:
        """Return pending deliveries whose time has come and whose earlier parts are done; the workspaces take turns."""
        return await self._read(lambda db: ledger.due_deliveries(db, now, limit, had))

    async def unsettled_deliveries(
        self, now: datetime, *, limit: int = 100, had: Mapping[str, int] = NO_TURNS
    ) -> Sequence[Delivery]:
        """Return ambiguous ones whose time has come, and those being sent whose lease ran out; in turns."""
        return await self._read(lambda db: ledger.unsettled_deliveries(db, now, limit, had))

    async def claim(self, delivery: Delivery, now: datetime, lease: timedelta) -> Delivery | None:
        """Take the delivery for sending; None when it may not be taken."""
        return await self._write_shared(lambda db: ledger.claim(db, delivery, now, lease))

    async def record(self, delivery: Delivery, *, unposted: bool = False) -> bool:
        """Record a claimed delivery as it is given; False when its token is no longer the latest."""
        return await self._write_shared(lambda db: ledger.record(db, delivery, unposted))

    async def unposted_since(self, workspace: str, channel: str, topic: str) -> datetime | None:
        """Return from when on the digests of the topic looked that were dropped, where no later one does."""
        return await self._read(lambda db: digests.unposted_since(db, workspace, channel, topic))

    async def release(self, now: datetime, *, workspace: str = "") -> int:
        """Let what waits for a later time than now have its turn at once."""
        return await self._write(lambda db: ledger.release(db, now, workspace))

    async def expire_parts(self, delivery: Delivery, reason: str) -> int:
        """End the pending parts of the same occurrence that come after this one."""
        return await self._write_shared(lambda db: ledger.expire_parts(db, delivery, reason))

    async def deliveries(
        self, workspace: str, *, channel: str = "", states: Collection[DeliveryState] = (), limit: int = 20
    ) -> Sequence[Delivery]:
        """Return the workspace's deliveries, the latest first."""
        return await self._read(lambda db: ledger.deliveries(db, workspace, channel, states, limit))

    async def recent_occurrences(self, workspace: str, *, channel: str = "", limit: int = 20) -> Sequence[Occurrence]:
        """Return the workspace's occurrences, the latest first."""
        return await self._read(lambda db: ledger.recent_occurrences(db, workspace, channel, limit))

    async def ledger_counts(self) -> Mapping[str, int]:
        """Return how many deliveries there are in each state, and as `due` the occurrences that are due."""
        return await self._read(ledger.counts)
