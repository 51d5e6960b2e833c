"""The ledger that decides about deliveries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Protocol

from bot.models import Delivery, DeliveryState, Digest, Occurrence, OccurrenceState, Subscription

NO_TURNS: Mapping[str, int] = {}  # that anybody has had


def is_left_out(workspace: str, without: Collection[str]) -> bool:
    """Say whether a workspace is among these: by its name, or by its platform's word with the colon (`slack:`)."""
    return workspace in without or f"{workspace.partition(':')[0]}:" in without


@dataclass(frozen=True, slots=True)
class Planned:
    """What is due of a subscription as it was read, and when it is due next."""

    subscription: Subscription
    found: tuple[Occurrence, ...]
    next_due: datetime


class Ledger(Protocol):
    """What is due, what was posted, and what may have been. Every write is one transaction.

    The protocol that uses it is bot.delivery's.
    """

    async def subscriptions_due(self, now: datetime, *, limit: int = 500) -> Sequence[tuple[Subscription, datetime | None]]:
        """Return subscriptions of all workspaces whose next occurrence is due or not known, each with that instant.

        Paused ones are left out until their pause ends.
        """
        ...

    async def every_subscription(self) -> Sequence[Subscription]:
        """Return the subscriptions of all workspaces, paused ones too, by workspace, channel, topic and rhythm.

        For what the operator's service does for all of them; nothing of it may be told in a workspace.
        """
        ...

    async def paused_by_service(self) -> Sequence[Subscription]:
        """Return the subscriptions of all workspaces that the service paused, by workspace and id; whoever can be read."""
        ...

    async def open_occurrences(self, found: Sequence[Occurrence], subscription: Subscription, next_due: datetime) -> int:
        """Keep the occurrences that are not yet kept, and when the subscription is due next; return how many were new.

        Nothing is kept for a subscription that is gone, and of one that was changed since not when it is due next.
        """
        ...

    async def open_on_request(self, occurrence: Occurrence) -> bool:
        """Keep an occurrence beside those of the schedule, which stays as it is.

        False, and nothing kept, where one of its day and slot is kept already, or its subscription is gone.
        """
        ...

    async def subscriptions_at_once(self, now: datetime) -> Sequence[Subscription]:
        """Return the subscriptions of all workspaces that post at once, but paused ones; by workspace and id."""
        ...

    async def open_at_once(self, found: Sequence[Occurrence]) -> int:
        """Keep occurrences of what is posted at once that are not yet kept, in one transaction; return how many were new.

        Those of the same subscription that are due and end at an earlier arrival are skipped: overtaken. Nothing is kept
        for a subscription that is gone.
        """
        ...

    async def open_planned(self, planned: Sequence[Planned]) -> Sequence[int]:
        """Do as `open_occurrences` for each, all in one transaction; return how many were new of each."""
        ...

    async def occurrences(
        self,
        now: datetime,
        *,
        state: OccurrenceState = OccurrenceState.DUE,
        limit: int = 100,
        had: Mapping[str, int] = NO_TURNS,
    ) -> Sequence[Occurrence]:
        """Return occurrences of all workspaces in this state whose `next_at` has come; in turns, as `due_deliveries`.

        What was put off comes after what was not, in its workspace.
        """
        ...

    async def close_occurrence(
        self, occurrence: Occurrence, now: datetime, *, digest: Digest | None = None, deliveries: Sequence[Delivery] = ()
    ) -> bool:
        """Record what became of an occurrence that is due, with its digest and the deliveries of it, in one transaction.

        Returns False, and writes nothing, when somebody else has closed it. What the digest shows counts as posted. Raises
        Conflict, and writes nothing, when another digest of its channel, topic and rhythm was saved or dropped since it was
        made, or one of another rhythm posted what it shows.
        With the state DUE it is put off instead, until its `next_at`.
        """
        ...

    async def due_deliveries(
        self, now: datetime, *, limit: int = 100, had: Mapping[str, int] = NO_TURNS, without: Collection[str] = ()
    ) -> Sequence[Delivery]:
        """Return pending deliveries whose time has come and whose earlier parts are done; the workspaces take turns.

        With W workspaces waiting, the delivery of each whose time came first is among the first W. `had` says how many turns
        a workspace has had already, by its name: the first of one that has had none comes before all of who has had one.
        `without` names workspaces that are left out, or with a colon behind it a platform (`slack:`).
        """
        ...

    async def unsettled_deliveries(
        self, now: datetime, *, limit: int = 100, had: Mapping[str, int] = NO_TURNS, without: Collection[str] = ()
    ) -> Sequence[Delivery]:
        """Return ambiguous ones whose `next_at` has come, and those being sent whose lease ran out; in turns."""
        ...

    async def claim(self, delivery: Delivery, now: datetime, lease: timedelta) -> Delivery | None:
        """Take the delivery for sending: state, lease, token + 1, first and last try, attempts + 1, and `late` as given.

        `unbegun` as given, too, where no try may have begun before.
        Returns it as claimed, or None when it is not any more as it was given (another token or state), when it is settled,
        when somebody's lease still runs, or when an earlier part is not done.
        """
        ...

    async def begin(self, delivery: Delivery) -> bool:
        """Note that a claimed delivery is begun to be sent; False, and nothing noted, when its token is not the latest.

        Whoever is told False sends nothing. Noted again, it is still so.
        """
        ...

    async def record(self, delivery: Delivery, *, unposted: bool = False, edited_until: datetime | None = None) -> bool:
        """Record a claimed delivery as it is given; False, and nothing written, when its token is no longer the latest.

        `edited_until`: of one that is DONE and lists something, the outbox keeps until then what it says, to edit it.
        One that `publishes` and is DONE is kept in the outbox, in the same transaction, until it is published.
        `unposted`: surely nothing of it was ever posted. Where that is a part one that FAILED or EXPIRED, its digest goes
        too: what it would have shown does not count as posted any more, and the next one begins where it began.
        A claim is recorded once; what the message says stays as it was made. Part one's message becomes the `thread` of the
        parts after it. Those after a part that FAILED or EXPIRED expire with its reason. What would wait again expires when
        its subscription is gone.
        """
        ...

    async def release(self, now: datetime, *, workspace: str = "") -> int:
        """Let what waits for a later time than now, in one workspace or in all, have its turn at once; return how much.

        For when what it waits for is not true any more. What is held for longer than any lease lasts, by a clock that had
        run ahead, is held no more; what is not to be tried again waits on. Of much it may be done a part at a time, each
        in a transaction: when that is stopped halfway, the next call finds the rest.
        """
        ...

    async def expire_parts(self, delivery: Delivery, reason: str) -> int:
        """End the pending parts of the same occurrence that come after this one; return how many."""
        ...

    async def deliveries(
        self, workspace: str, *, channel: str = "", states: Collection[DeliveryState] = (), limit: int = 20
    ) -> Sequence[Delivery]:
        """Return the workspace's deliveries, the latest first, of one channel and in these states where named."""
        ...

    async def posted_on(self, workspace: str, days: Collection[tuple[str, date]]) -> Sequence[Delivery]:
        """Return what was posted of each subscription, by its id, on a local day: by subscription, day, slot and part."""
        ...

    async def recent_occurrences(self, workspace: str, *, channel: str = "", limit: int = 20) -> Sequence[Occurrence]:
        """Return the workspace's occurrences, the latest first.

        But those of what is posted at once that had nothing to post, or were overtaken: there is one for each collection.
        """
        ...

    async def counts(self) -> Mapping[str, int]:
        """Return how many deliveries there are in each state, and occurrences that are due: for metrics and `doctor`."""
        ...
