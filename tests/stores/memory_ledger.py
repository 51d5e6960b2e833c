"""The ledger in dictionaries. Nothing waits here, so each method is a transaction."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

from bot.errors import StoreError
from bot.models import (
    Delivery,
    DeliveryState,
    Digest,
    Occurrence,
    OccurrenceState,
    Publication,
    Rhythm,
    StandingMessage,
    Subscription,
)
from bot.models.deliveries import OccurrenceKey
from bot.ports.ledger import NO_TURNS, Planned, is_left_out
from bot.store.rules.revisions import with_news
from bot.store.rules.transitions import (
    KEPT,
    KEPT_AT_ONCE,
    OPEN,
    UNSUBSCRIBED,
    after,
    begun,
    came_to_nothing,
    claimed,
    closed,
    expect_latest,
    expect_unposted,
    expired,
    is_undone,
    overtaken,
    publication,
    ran_out,
    recorded,
    released,
    standing,
)
from tests.stores.memory_digests import MemoryDigests
from tests.stores.memory_workspaces import MemoryWorkspaces

_EVER = datetime(1970, 1, 1, tzinfo=UTC)
Waiting = TypeVar("Waiting", Delivery, Occurrence)


class MemoryLedger:
    """bot.ports.ledger.Ledger."""

    def __init__(self, digests: MemoryDigests) -> None:
        self.workspaces = MemoryWorkspaces(self.end, digests.heir)
        self._digests = digests
        self._next: dict[tuple[str, str], tuple[int, datetime]] = {}  # by subscription: its revision, when it is due next
        self._occurrences: dict[OccurrenceKey, Occurrence] = {}
        self._due: dict[OccurrenceKey, None] = {}
        self._deliveries: dict[tuple[str, str], Delivery] = {}  # by workspace and id
        self._parts: dict[OccurrenceKey, dict[int, str]] = {}  # the ids of an occurrence's deliveries by part
        self._open: dict[tuple[str, str], None] = {}  # those that may still become something else
        self.standing: dict[tuple[str, str], StandingMessage] = {}  # what may be edited; of the outbox
        self.publications: dict[tuple[str, str], Publication] = {}  # what is to be published; of the outbox

    # --- when

    async def subscriptions_due(self, now: datetime, *, limit: int = 500) -> Sequence[tuple[Subscription, datetime | None]]:
        """Return subscriptions whose next occurrence is due or not known, with that instant."""
        awake = [(each, self._next_of(each)) for each in self.workspaces.every_subscription() if not each.is_paused(now)]
        due = [(each, at) for each, at in awake if at is None or at <= now]
        due.sort(key=lambda found: (found[1] is not None, found[1] or now, found[0].workspace, found[0].id))
        return due[:limit]

    async def every_subscription(self) -> Sequence[Subscription]:
        """Return the subscriptions of all workspaces."""
        return sorted(
            self.workspaces.every_subscription(), key=lambda each: (each.workspace, each.channel, each.topic, each.rhythm)
        )

    async def paused_by_service(self) -> Sequence[Subscription]:
        """Return those that the service paused."""
        held = [each for each in self.workspaces.every_subscription() if each.is_held_by_service]
        return sorted(held, key=lambda each: (each.workspace, each.id))

    def _next_of(self, subscription: Subscription) -> datetime | None:
        """What was found of an earlier revision holds no more."""
        revision, at = self._next.get((subscription.workspace, subscription.id), (0, None))
        return at if revision == subscription.revision else None

    async def open_occurrences(self, found: Sequence[Occurrence], subscription: Subscription, next_due: datetime) -> int:
        """Keep the occurrences that are not yet kept, and when the subscription is due next."""
        revision = self._revision(subscription.workspace, subscription.id)
        if revision is None:
            return 0
        if revision == subscription.revision:
            self._next[subscription.workspace, subscription.id] = (revision, next_due)
        fresh = {each.key: each for each in reversed(found) if each.key not in self._occurrences}
        for each in fresh.values():
            self._put_occurrence(each)
        return len(fresh)

    async def open_on_request(self, occurrence: Occurrence) -> bool:
        """Keep an occurrence beside those of the schedule."""
        if self._revision(occurrence.workspace, occurrence.subscription) is None or occurrence.key in self._occurrences:
            return False
        self._put_occurrence(occurrence)
        return True

    async def subscriptions_at_once(self, now: datetime) -> Sequence[Subscription]:
        """Return those that post at once, but paused ones."""
        found = [
            each
            for each in self.workspaces.every_subscription()
            if each.rhythm is Rhythm.AT_ONCE and not each.is_paused(now)
        ]
        return sorted(found, key=lambda each: (each.workspace, each.id))

    async def open_at_once(self, found: Sequence[Occurrence]) -> int:
        """Keep the occurrences that are not yet kept, and skip those that they overtake."""
        wanted = [each for each in found if self._revision(each.workspace, each.subscription) is not None]
        new = {each.key: each for each in wanted if each.key not in self._occurrences}
        for each in new.values():
            self._put_occurrence(each)
            for place in [*self._due]:
                waiting = self._occurrences[place]
                same = (waiting.workspace, waiting.subscription) == (each.workspace, each.subscription)
                if same and 0 < waiting.slot < each.slot:
                    self._put_occurrence(overtaken(waiting))
        return len(new)

    async def open_planned(self, planned: Sequence[Planned]) -> Sequence[int]:
        return [await self.open_occurrences(each.found, each.subscription, each.next_due) for each in planned]

    def _revision(self, workspace: str, number: str) -> int | None:
        """Return the stored revision of a subscription, None when it is no more."""
        standing = self.workspaces.every_subscription()
        return next((each.revision for each in standing if (each.workspace, each.id) == (workspace, number)), None)

    def _put_occurrence(self, occurrence: Occurrence) -> None:
        place = occurrence.key
        self._occurrences[place] = occurrence
        self._due.pop(place, None)
        if occurrence.state is OccurrenceState.DUE:
            self._due[place] = None

    def _drop(self, ended: Delivery) -> None:
        if self._digests.drop(ended):
            self._note_told(ended.workspace, ended.occurrence[0], told=False)

    def _note_told(self, workspace: str, number: str, *, told: bool) -> None:
        before = self.workspaces.subscription(workspace, number)
        if before is None:
            return
        fresh = with_news(before, told=told)
        self.workspaces.put(fresh)
        due = self._next_of(before)
        if due is not None:  # the schedule is as it was
            self._next[workspace, number] = (fresh.revision, due)

    # --- occurrences

    async def occurrences(
        self,
        now: datetime,
        *,
        state: OccurrenceState = OccurrenceState.DUE,
        limit: int = 100,
        had: Mapping[str, int] = NO_TURNS,
    ) -> Sequence[Occurrence]:
        """Return occurrences in this state whose time has come; the workspaces take turns."""
        places: Iterable[OccurrenceKey] = self._due if state is OccurrenceState.DUE else self._occurrences
        some = (self._occurrences[place] for place in places)
        come = (each for each in some if each.state is state and (each.next_at is None or each.next_at <= now))
        return occurrences_in_turns(come, limit, had)

    async def close_occurrence(
        self, occurrence: Occurrence, now: datetime, *, digest: Digest | None = None, deliveries: Sequence[Delivery] = ()
    ) -> bool:
        """Record what became of an occurrence that is due, with its digest and the deliveries of it."""
        fresh = closed(self._occurrences.get(occurrence.key), occurrence)
        if fresh is None:
            return False
        if digest is not None:
            expect_latest(digest, self._digests.reach(fresh.workspace, fresh.channel, digest.topic, digest.rhythm))
            expect_unposted(self._digests.posted_of(fresh.workspace, fresh.channel, digest))
            expect_unposted(self._digests.posted_beside(fresh.workspace, fresh.channel, digest))
        for each in deliveries:
            if (each.workspace, each.id) in self._deliveries or each.part in self._parts.get(each.key, ()):
                raise StoreError(f"The delivery {each.id} stands in the ledger already.")
        self._put_occurrence(fresh)
        if digest is not None:
            self._digests.keep(fresh.workspace, fresh.channel, digest, now)
            if digest.news:
                self._note_told(fresh.workspace, fresh.subscription, told=True)
        for each in deliveries:
            self._put_delivery(each)
        return True

    async def recent_occurrences(self, workspace: str, *, channel: str = "", limit: int = 20) -> Sequence[Occurrence]:
        """Return the workspace's occurrences, the latest first."""
        everywhere = (each for each in self._occurrences.values() if each.workspace == workspace)
        own = [each for each in everywhere if channel in ("", each.channel) and not came_to_nothing(each)]
        own.sort(key=lambda each: (each.subscription, each.slot))
        return sorted(own, key=lambda each: (each.due, each.day), reverse=True)[:limit]

    # --- deliveries

    def _put_delivery(self, delivery: Delivery) -> None:
        key = (delivery.workspace, delivery.id)
        self._deliveries[key] = delivery
        self._parts.setdefault(delivery.key, {})[delivery.part] = delivery.id
        self._open.pop(key, None)
        if delivery.state in OPEN:
            self._open[key] = None

    def _opened(self, state: DeliveryState) -> list[Delivery]:
        found = (self._deliveries[key] for key in self._open)
        return [each for each in found if each.state is state]

    def _siblings(self, delivery: Delivery) -> list[Delivery]:
        """Return all parts of the delivery's digest, in order."""
        parts = self._parts.get(delivery.key, {})
        return [self._deliveries[delivery.workspace, parts[number]] for number in sorted(parts)]

    def _is_next(self, delivery: Delivery) -> bool:
        """Say whether the parts before it are done."""
        return all(each.state is DeliveryState.DONE for each in self._siblings(delivery) if each.part < delivery.part)

    async def due_deliveries(
        self, now: datetime, *, limit: int = 100, had: Mapping[str, int] = NO_TURNS, without: Collection[str] = ()
    ) -> Sequence[Delivery]:
        """Return pending deliveries whose time has come and whose earlier parts are done; the workspaces take turns."""
        come = (each for each in self._opened(DeliveryState.PENDING) if each.next_at <= now and self._is_next(each))
        asked = (each for each in come if not is_left_out(each.workspace, without))
        return _in_turns(asked, lambda each: (each.next_at, each.due, each.id), limit, had)

    async def unsettled_deliveries(
        self, now: datetime, *, limit: int = 100, had: Mapping[str, int] = NO_TURNS, without: Collection[str] = ()
    ) -> Sequence[Delivery]:
        """Return ambiguous ones whose time has come, and those being sent whose lease ran out; in turns."""
        unclear = [each for each in self._opened(DeliveryState.AMBIGUOUS) if each.next_at <= now]
        left = [each for each in self._opened(DeliveryState.SENDING) if ran_out(each, now)]
        asked = (each for each in unclear + left if not is_left_out(each.workspace, without))
        return deliveries_in_turns(asked, limit, had)

    async def claim(self, delivery: Delivery, now: datetime, lease: timedelta) -> Delivery | None:
        """Take the delivery for sending; None when it may not be taken."""
        fresh = claimed(self._deliveries.get((delivery.workspace, delivery.id)), delivery, now, lease)
        if fresh is None or not self._is_next(fresh):
            return None
        self._put_delivery(fresh)
        return fresh

    async def begin(self, delivery: Delivery) -> bool:
        """Note that a claimed delivery is begun to be sent; False when its token is no longer the latest."""
        fresh = begun(self._deliveries.get((delivery.workspace, delivery.id)), delivery)
        if fresh is not None:
            self._put_delivery(fresh)
        return fresh is not None

    async def record(self, delivery: Delivery, *, unposted: bool = False, edited_until: datetime | None = None) -> bool:
        """Record a claimed delivery as it is given; False when its token is no longer the latest."""
        again = delivery.state is DeliveryState.PENDING
        wanted = not again or self._revision(delivery.workspace, delivery.occurrence[0]) is not None
        stored = self._deliveries.get((delivery.workspace, delivery.id))
        fresh = recorded(stored, delivery, wanted=wanted)
        if stored is None or fresh is None:
            return False
        if message := standing(stored, fresh, edited_until):
            self.standing[delivery.workspace, delivery.id] = message
        for each in (fresh, *after(fresh, self._siblings(fresh))):
            self._put_delivery(each)
        if owed := publication(fresh):
            self.publications.setdefault((delivery.workspace, delivery.id), owed)
        self._digests.note_posted(fresh)
        if is_undone(fresh, delivery, unposted=unposted):
            self._drop(fresh)
        return True

    async def release(self, now: datetime, *, workspace: str = "") -> int:
        """Let what waits for a later time than now have its turn at once."""
        waiting = [self._deliveries[key] for key in self._open if workspace in ("", key[0])]
        changed = [fresh for each in waiting if (fresh := released(each, now)) != each]
        for each in changed:
            self._put_delivery(each)
        due = [self._occurrences[place] for place in self._due if workspace in ("", place[0])]
        put_off = [each for each in due if each.next_at is not None and each.next_at > now]
        for occurrence in put_off:
            self._put_occurrence(replace(occurrence, next_at=None))
        return len(changed) + len(put_off)

    async def expire_parts(self, delivery: Delivery, reason: str) -> int:
        """End the pending parts of the same occurrence that come after this one."""
        later = [
            each for each in self._siblings(delivery) if each.part > delivery.part and each.state is DeliveryState.PENDING
        ]
        for each in later:
            self._put_delivery(expired(each, reason))
        return len(later)

    async def deliveries(
        self, workspace: str, *, channel: str = "", states: Collection[DeliveryState] = (), limit: int = 20
    ) -> Sequence[Delivery]:
        """Return the workspace's deliveries, the latest first."""
        own = (each for each in self._deliveries.values() if each.workspace == workspace)
        some = [each for each in own if channel in ("", each.channel) and (not states or each.state in states)]
        some.sort(key=lambda each: (each.occurrence, each.part))
        return sorted(some, key=lambda each: each.due, reverse=True)[:limit]

    async def posted_on(self, workspace: str, days: Collection[tuple[str, date]]) -> Sequence[Delivery]:
        """Return what was posted of each subscription on a local day."""
        done = (each for each in self._deliveries.values() if each.state is DeliveryState.DONE)
        found = [each for each in done if each.workspace == workspace and each.occurrence[:2] in days]
        return sorted(found, key=lambda each: (each.occurrence, each.part))

    async def counts(self) -> Mapping[str, int]:
        """Return how many deliveries there are in each state, and as `due` the occurrences that are due."""
        states = [each.state for each in self._deliveries.values()]
        return {**{str(state): states.count(state) for state in DeliveryState}, "due": len(self._due)}

    def end(self, gone: Iterable[Subscription]) -> None:
        """Post nothing more for subscriptions that are no more."""
        names = {(each.workspace, each.id) for each in gone}
        for place in [place for place in self._due if place[:2] in names]:
            self._put_occurrence(replace(self._occurrences[place], state=OccurrenceState.SKIPPED, reason=UNSUBSCRIBED))
        for each in self._opened(DeliveryState.PENDING):
            if (each.workspace, each.occurrence[0]) in names:
                self._put_delivery(ended := expired(each, UNSUBSCRIBED))
                if ended.part == 1:
                    self._drop(ended)
        for name in names:
            self._next.pop(name, None)

    def prune(self, now: datetime) -> None:
        """Drop what was settled long ago."""
        kept = {True: now - KEPT_AT_ONCE, False: now - KEPT}
        for place in [place for place, each in self._occurrences.items() if each.due < kept[came_to_nothing(each)]]:
            keys = [(place[0], number) for number in self._parts.get(place, {}).values()]
            states = {self._deliveries[key].state for key in keys}
            if place in self._due or states & {DeliveryState.PENDING, DeliveryState.SENDING}:
                continue
            del self._occurrences[place]
            self._parts.pop(place, None)
            for key in keys:
                del self._deliveries[key]
                self._open.pop(key, None)
                self.publications.pop(key, None)
        subscribed = self.workspaces.every_subscription()
        self._digests.prune({(each.workspace, each.channel, each.topic) for each in subscribed}, now)
        for name in [name for name, each in self.standing.items() if each.until <= now]:
            del self.standing[name]

    async def posted_as(self, workspace: str, channel: str, message: str) -> Delivery | None:
        sought = (workspace, channel, message)
        found = (each for each in self._deliveries.values() if (each.workspace, each.channel, each.message) == sought)
        return max(found, key=lambda each: (each.due, each.id), default=None) if message else None


def deliveries_in_turns(found: Iterable[Delivery], limit: int, had: Mapping[str, int]) -> list[Delivery]:
    """Return the oldest of each workspace, then the second of each, and so on, `limit` in all.

    Where a workspace has had turns already, its oldest comes with those of the others that come after as many.
    """
    return _in_turns(found, lambda each: (each.due, each.id), limit, had)


def occurrences_in_turns(found: Iterable[Occurrence], limit: int, had: Mapping[str, int]) -> list[Occurrence]:
    """Do the same for occurrences."""
    return _in_turns(
        found,
        lambda each: (each.next_at or _EVER, each.due, each.subscription, each.day, each.slot),
        limit,
        had,
    )


def _in_turns(
    found: Iterable[Waiting], age: Callable[[Waiting], tuple[Any, ...]], limit: int, had: Mapping[str, int]
) -> list[Waiting]:
    waiting = Counter(had)
    turns = []
    for each in sorted(found, key=age):
        waiting[each.workspace] += 1
        turns.append((waiting[each.workspace], each))
    turns.sort(key=lambda turn: (turn[0], *age(turn[1]), turn[1].workspace))
    return [each for _, each in turns[:limit]]
