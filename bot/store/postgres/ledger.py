"""The ledger in SQL: what is due, what was posted, and what may have been.

Whoever decides by what stands in a row locks the row first and reads it then; or changes it only where its record still is
the one that was decided by. Locks are taken in one order: subscriptions, the channel's name, occurrences, deliveries by
part.
Every statement names the workspace, except those that ask what there is to do for all of them.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from bot.errors import StoreError
from bot.models import Delivery, DeliveryState, Digest, LaneBacklog, Occurrence, OccurrenceState, Subscription
from bot.models.deliveries import OccurrenceKey
from bot.ports.ledger import NO_TURNS, Planned
from bot.store.postgres import digests, outbox
from bot.store.postgres.connections import ONE_GO, Connections, Db, Tables, aside, reading, writing, writing_piped
from bot.store.postgres.ledger_rows import closing
from bot.store.postgres.ledger_rows import deliveries as delivery_rows
from bot.store.postgres.ledger_rows import occurrences as occurrence_rows
from bot.store.postgres.ledger_rows.deliveries import BEGIN, CLAIM, IS_HELD, NAMED, progress
from bot.store.postgres.ledger_rows.occurrences import AMONG, KEY, PLACE, Place, all_rows, columns, place, places_of, run
from bot.store.postgres.ledger_rows.turns import (
    OCCURRENCES,
    PENDING,
    all_in_turns,
    backlog,
    delivery_of,
    if_readable,
    in_turns,
    readable,
    with_turns,
)
from bot.store.records import (
    delivery_from_text,
    delivery_to_text,
    micros,
    occurrence_from_text,
    subscription_from_text,
    time_of,
    to_text,
    wakes,
)
from bot.store.rules.revisions import with_news
from bot.store.rules.transitions import (
    KEPT,
    KEPT_AT_ONCE,
    UNSUBSCRIBED,
    after,
    begun,
    claimed,
    closed,
    expired,
    is_undone,
    overtaken,
    publication,
    recorded,
    released,
    standing,
)

log = logging.getLogger(__name__)

_MOST_HELD = 1000  # deliveries of this process's, with what they say: some megabytes
_MOST_READ = 2000  # occurrences that are remembered as they were read: more than are read at once
_AT_ONCE = 500  # rows that are changed in one transaction, where all that wait may be
_LATER = (
    f"(state in ('{DeliveryState.PENDING}', '{DeliveryState.AMBIGUOUS}') and next_at > %(now)s"
    f" or state = '{DeliveryState.SENDING}' and lease_until > %(now)s)"
)
_PUT_OFF = f"state = '{OccurrenceState.DUE}' and next_at > %(now)s"
# `number` joins each delivery to its payload, which is written once and read only where it is sent or shown.
DELIVERIES = "select data, payload from deliveries left join payloads using (number)"


class PostgresLedger(Tables):
    """bot.ports.ledger.Ledger; of one lane, where it is given one, in what it lists that waits."""

    def __init__(self, connections: Connections, lane: str = "") -> None:
        super().__init__(connections)
        self.lane = lane
        self._held: dict[tuple[str, str], tuple[Delivery, str]] = {}  # what was claimed here, as it was stored last
        self._read: dict[OccurrenceKey, tuple[Occurrence, str]] = {}  # what was read here, with its record

    @reading
    async def subscriptions_due(
        self, db: Db, now: datetime, *, limit: int = 500
    ) -> Sequence[tuple[Subscription, datetime | None]]:
        some = "select data, next_due, workspace, id from subscriptions where wakes <= %(now)s and next_due"
        in_order = "order by next_due, workspace, id limit %(most)s"
        sql = (
            f"select data, next_due from (({some} is null {in_order}) union all ({some} <= %(now)s {in_order})) as come"
            " order by next_due nulls first, workspace, id limit %(most)s"
        )

        async def rows(most: int) -> list[tuple[Any, ...]]:
            return await all_rows(db, sql, now=micros(now), most=most)

        def read(data: str, at: int | None) -> tuple[Subscription, datetime | None]:
            return subscription_from_text(data), None if at is None else time_of(at)

        return await readable(rows, read, limit)

    @reading
    async def every_subscription(self, db: Db) -> Sequence[Subscription]:
        rows = await all_rows(db, "select data from subscriptions order by workspace, channel, topic, rhythm")
        return await aside(lambda: [subscription_from_text(data) for (data,) in rows])

    @reading
    async def paused_by_service(self, db: Db) -> Sequence[Subscription]:
        sql = (
            "select workspace, id, data from subscriptions where wakes = %(never)s"
            " and strpos(data, '\"paused_because\":') > 0 order by workspace, id"
        )
        found = []
        for workspace, name, data in await all_rows(db, sql, never=wakes(True, None)):
            try:
                found.append(subscription_from_text(data))
            except StoreError:
                log.error("the subscription %s of %s cannot be read and is passed over", name, workspace)  # noqa: TRY400
        return [each for each in found if each.is_held_by_service]

    @writing
    async def open_occurrences(
        self, db: Db, found: Sequence[Occurrence], subscription: Subscription, next_due: datetime
    ) -> int:
        return (await _open(db, [Planned(subscription, tuple(found), next_due)]))[0]

    @writing
    async def open_planned(self, db: Db, planned: Sequence[Planned]) -> Sequence[int]:
        return await _open(db, planned)

    @reading
    async def subscriptions_at_once(self, db: Db, now: datetime) -> Sequence[Subscription]:
        sql = "select data from subscriptions where rhythm = 'at once' and wakes <= %(now)s order by workspace, id"
        rows = await all_rows(db, sql, now=micros(now))
        return await aside(lambda: [each for row in rows for each in if_readable(row, subscription_from_text)])

    @writing
    async def open_at_once(self, db: Db, found: Sequence[Occurrence]) -> int:
        wanted = await _hold_subscriptions(db, {(each.workspace, each.subscription) for each in found})
        new = await occurrence_rows.keep(db, [each for each in found if (each.workspace, each.subscription) in wanted])
        await _overtake(db, new)
        return len(new)

    @writing
    async def open_on_request(self, db: Db, occurrence: Occurrence) -> bool:
        wanted = await _hold_subscriptions(db, {(occurrence.workspace, occurrence.subscription)})
        return bool(wanted and await occurrence_rows.keep(db, [occurrence]))

    @reading
    async def occurrences(
        self,
        db: Db,
        now: datetime,
        *,
        state: OccurrenceState = OccurrenceState.DUE,
        limit: int = 100,
        had: Mapping[str, int] = NO_TURNS,
    ) -> Sequence[Occurrence]:
        given = {**with_turns(had, (), self.lane), "now": micros(now), "state": str(state)}

        def read(data: str) -> Occurrence:
            found = occurrence_from_text(data)
            self._read[found.key] = found, data
            return found

        found = await readable(lambda most: in_turns(db, OCCURRENCES, most, given), read, limit)
        for key in [*self._read][:-_MOST_READ]:
            self._read.pop(key, None)
        return found

    async def close_occurrence(
        self, occurrence: Occurrence, now: datetime, *, digest: Digest | None = None, deliveries: Sequence[Delivery] = ()
    ) -> bool:
        """As in the port: in one statement where it stands as it was read here, and its digest has one delivery."""
        read, said = self._read.pop(occurrence.key, (None, ""))
        fresh = closed(read, occurrence)
        if fresh is not None and digest is not None and not digest.news and len(deliveries) == 1:
            is_closed = await self._close_as_read(fresh, said, digest, now, deliveries[0])
            if is_closed:
                return True
        return await self._close(occurrence, now, digest, deliveries)

    async def _close_as_read(self, fresh: Occurrence, said: str, digest: Digest, now: datetime, delivery: Delivery) -> bool:
        async def write(db: Db) -> bool:
            await digests.hold_channel(db, fresh.workspace, fresh.channel)
            return await closing.close(db, fresh, said, digest, now, delivery)

        return await self.connections.write(write, how=ONE_GO)

    @writing_piped
    async def _close(
        self, db: Db, occurrence: Occurrence, now: datetime, digest: Digest | None, deliveries: Sequence[Delivery]
    ) -> bool:
        if digest is not None and digest.news:  # the subscription will be told so: held first, as everywhere
            await _hold_subscriptions(db, {(occurrence.workspace, occurrence.subscription)})
        asked = f"select data from occurrences where {PLACE} for update"
        if digest is not None:
            await digests.hold_channel(db, occurrence.workspace, occurrence.channel)
        held = await db.execute(asked.encode(), place(occurrence))
        before = await digests.stands(db, occurrence.workspace, occurrence.channel, digest) if digest is not None else None
        row = await held.fetchone()
        fresh = closed(occurrence_from_text(row[0]) if row else None, occurrence)
        if fresh is None:
            return False
        await occurrence_rows.update(db, [fresh])
        if digest is not None and before is not None:
            await digests.expect_fresh(db, fresh.workspace, fresh.channel, digest, before)
            posted = 0 if deliveries else None
            await digests.keep(db, fresh.workspace, fresh.channel, digest, now, posted=posted)
            if digest.news:
                await _note_told(db, fresh.workspace, fresh.subscription, told=True)
        if deliveries:
            await delivery_rows.insert(db, deliveries)
        return True

    @reading
    async def due_deliveries(
        self,
        db: Db,
        now: datetime,
        *,
        limit: int = 100,
        had: Mapping[str, int] = NO_TURNS,
        without: Collection[str] = (),
    ) -> Sequence[Delivery]:
        given = {**with_turns(had, without, self.lane), "now": micros(now)}
        return await readable(lambda most: in_turns(db, PENDING, most, given), delivery_of, limit)

    @reading
    async def unsettled_deliveries(
        self,
        db: Db,
        now: datetime,
        *,
        limit: int = 100,
        had: Mapping[str, int] = NO_TURNS,
        without: Collection[str] = (),
    ) -> Sequence[Delivery]:
        given = {**with_turns(had, without, self.lane), "now": micros(now)}
        return await readable(lambda most: all_in_turns(db, most, given), delivery_from_text, limit)

    async def claim(self, delivery: Delivery, now: datetime, lease: timedelta) -> Delivery | None:
        """As in the port: in one statement where it stands as it was read, which is nearly always."""
        fresh = claimed(delivery, delivery, now, lease) if delivery.state is DeliveryState.PENDING else None
        if fresh is not None:
            # A claimer may say another thing about `unbegun` and `late` than is stored, where it says that it is late.
            plain = delivery_to_text(replace(delivery, unbegun=False, late=False))
            late = delivery_to_text(replace(delivery, unbegun=False)) if delivery.late else plain
            given = progress(fresh)
            rows = await self.connections.tell(lambda db: all_rows(db, CLAIM, **given, said=plain, said_late=late))
            if rows:
                return self._hold(delivery_from_text(given["data"], rows[0][0]), given["data"])
        fresh = await self._claim(delivery, now, lease)
        return self._hold(fresh) if fresh is not None else None

    @writing
    async def _claim(self, db: Db, delivery: Delivery, now: datetime, lease: timedelta) -> Delivery | None:
        parts = await delivery_rows.hold(db, delivery)
        fresh = claimed(parts.own, delivery, now, lease)
        if fresh is None or not all(each.state is DeliveryState.DONE for each in parts.others if each.part < fresh.part):
            return None
        await delivery_rows.update(db, [fresh])
        return fresh

    def _hold(self, stored: Delivery, said: str = "") -> Delivery:
        """Remember a delivery as it was stored, so that it need not be read again; of many the last ones."""
        self._held.pop((stored.workspace, stored.id), None)
        self._held[stored.workspace, stored.id] = (stored, said or delivery_to_text(stored))
        if len(self._held) > _MOST_HELD:
            self._held.pop(next(iter(self._held)), None)
        return stored

    async def begin(self, delivery: Delivery) -> bool:
        """As in the port: in one statement where it stands as it was claimed here."""
        held, said = self._held.get((delivery.workspace, delivery.id), (None, ""))
        fresh = begun(held, delivery)
        if fresh is not None:
            given = {"workspace": delivery.workspace, "id": delivery.id, "said": said, "data": delivery_to_text(fresh)}
            if await self.connections.bare(lambda db: all_rows(db, IS_HELD if fresh == held else BEGIN, **given)):
                self._hold(fresh, given["data"])
                return True
        return await self._begin(delivery)

    @writing
    async def _begin(self, db: Db, delivery: Delivery) -> bool:
        stored = (await delivery_rows.hold(db, delivery)).own
        fresh = begun(stored, delivery)
        if fresh is not None and fresh != stored:
            await delivery_rows.update(db, [fresh])
        return fresh is not None

    async def record(self, delivery: Delivery, *, unposted: bool = False, edited_until: datetime | None = None) -> bool:
        """As in the port: in one statement where it stands as it was claimed here, and nothing else hangs on it."""
        held, said = self._held.pop((delivery.workspace, delivery.id), (None, ""))
        is_plain = delivery.parts == 1 and delivery.state is not DeliveryState.PENDING and not unposted
        fresh = recorded(held, delivery, wanted=True) if is_plain else None
        if held is not None and fresh is not None and await self._record_held(held, said, fresh, edited_until):
            return True
        return await self._record(delivery, unposted=unposted, edited_until=edited_until)

    async def _record_held(self, held: Delivery, said: str, fresh: Delivery, edited_until: datetime | None) -> bool:
        """Record what is stored as it said, of a digest of one part; say whether it was stored so."""

        async def write(db: Db) -> bool:
            if not await delivery_rows.replace(db, fresh, said):
                return False
            await _keep_what_is_owed(db, held, fresh, edited_until)
            return True

        alone = standing(held, fresh, edited_until) is None and publication(fresh) is None
        return await (self.connections.tell if alone else self.connections.write)(write)

    @writing
    async def _record(self, db: Db, delivery: Delivery, *, unposted: bool, edited_until: datetime | None) -> bool:
        wanted = await _hold_what_it_is_of(db, delivery, unposted=unposted)
        parts = await delivery_rows.hold(db, delivery)
        fresh = recorded(parts.own, delivery, wanted=wanted)
        if parts.own is None or fresh is None:
            return False
        await delivery_rows.update(db, [fresh, *after(fresh, parts.others)], posted=fresh)
        await _keep_what_is_owed(db, parts.own, fresh, edited_until)
        if is_undone(fresh, delivery, unposted=unposted):
            await _drop(db, fresh)
        return True

    async def release(self, now: datetime, *, workspace: str = "") -> int:
        """As in the port, a part at a time, so that others write in between."""
        deliveries, occurrences = await self._waiting_for_later(now, workspace)
        released = 0
        for start in range(0, len(deliveries), _AT_ONCE):
            released += await self._release_deliveries(now, deliveries[start : start + _AT_ONCE])
        for start in range(0, len(occurrences), _AT_ONCE):
            released += await self._release_occurrences(now, occurrences[start : start + _AT_ONCE])
        return released

    @reading
    async def _waiting_for_later(self, db: Db, now: datetime, workspace: str) -> tuple[list[int], list[Place]]:
        """Return the deliveries by number, and the occurrences by their places."""
        where, given = (" and workspace = %(workspace)s" if workspace else ""), {"workspace": workspace, "now": micros(now)}
        sql = f"select number from deliveries where {_LATER}{where} order by number"
        numbers = [number for (number,) in await all_rows(db, sql, **given)]
        some = "select workspace, subscription, day, slot from occurrences"
        return numbers, await all_rows(db, f"{some} where {_PUT_OFF}{where} order by 1, 2, 3, 4", **given)

    @writing
    async def _release_deliveries(self, db: Db, now: datetime, numbers: Sequence[int]) -> int:
        sql = f"select data from deliveries where number = any(%(numbers)s) and {_LATER} order by number for update"
        rows = await all_rows(db, sql, numbers=list(numbers), now=micros(now))
        found = [each for (data,) in rows for each in if_readable((data, None), delivery_from_text)]
        changed = [after for before, after in ((each, released(each, now)) for each in found) if after != before]
        await delivery_rows.update(db, changed)
        return len(changed)

    @writing
    async def _release_occurrences(self, db: Db, now: datetime, places: Sequence[Place]) -> int:
        sql = f"select data from occurrences where {AMONG} and {_PUT_OFF} order by {KEY} for update"
        rows = await all_rows(db, sql, **places_of(places), now=micros(now))
        put_off = [each for row in rows for each in if_readable(row, occurrence_from_text)]
        await occurrence_rows.update(db, [replace(each, next_at=None) for each in put_off])
        return len(put_off)

    @writing
    async def expire_parts(self, db: Db, delivery: Delivery, reason: str) -> int:
        others = (await delivery_rows.hold(db, delivery)).others
        later = [each for each in others if each.part > delivery.part and each.state is DeliveryState.PENDING]
        await delivery_rows.update(db, [expired(each, reason) for each in later])
        return len(later)

    @reading
    async def deliveries(
        self, db: Db, workspace: str, *, channel: str = "", states: Collection[DeliveryState] = (), limit: int = 20
    ) -> Sequence[Delivery]:
        where = " and channel = %(channel)s" if channel else ""
        where += " and state = any(%(states)s)" if states else ""
        order = "due desc, subscription, day, slot, part"
        sql = f"{DELIVERIES} where workspace = %(workspace)s{where} order by {order} limit %(limit)s"
        given = {"workspace": workspace, "channel": channel, "states": [str(each) for each in states], "limit": limit}
        return [delivery_from_text(*row) for row in await all_rows(db, sql, **given)]

    @reading
    async def posted_on(self, db: Db, workspace: str, days: Collection[tuple[str, date]]) -> Sequence[Delivery]:
        sql = (
            f"{DELIVERIES} where workspace = %(workspace)s and state = '{DeliveryState.DONE}' and (subscription, day) in"
            " (select * from unnest(%(subscriptions)s::text[], %(days)s::text[]))"
            " order by subscription, day, slot, part"
        )
        wanted = {"subscriptions": [number for number, _ in days], "days": [day.isoformat() for _, day in days]}
        return [delivery_from_text(*row) for row in await all_rows(db, sql, workspace=workspace, **wanted)]

    @reading
    async def recent_occurrences(
        self, db: Db, workspace: str, *, channel: str = "", limit: int = 20
    ) -> Sequence[Occurrence]:
        where = " and channel = %(channel)s" if channel else ""
        sql = (
            f"select data from occurrences where workspace = %(workspace)s{where} and not came_to_nothing"
            " order by due desc, day desc, subscription, slot limit %(limit)s"
        )
        return [
            occurrence_from_text(data)
            for (data,) in await all_rows(db, sql, workspace=workspace, channel=channel, limit=limit)
        ]

    @reading
    async def counts(self, db: Db) -> Mapping[str, int]:
        known = dict(await all_rows(db, "select state, count(*) from deliveries group by state"))
        ((due,),) = await all_rows(db, f"select count(*) from occurrences where state = '{OccurrenceState.DUE}'")
        return {**{str(state): known.get(state, 0) for state in DeliveryState}, "due": due}


class PostgresLanes(Tables):
    """bot.ports.shared.lanes.Lanes."""

    @reading
    async def waiting(self, db: Db, now: datetime) -> Sequence[LaneBacklog]:
        return await backlog(db, now)

    def ledger(self, lane: str) -> PostgresLedger:
        """As in the port."""
        return PostgresLedger(self.connections, lane)


# --- subscriptions, and what is due of them


async def _hold_subscriptions(db: Db, wanted: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return which of the subscriptions there are; none of them is changed or deleted before the transaction ends.

    Who deletes one waits for that, and finds then what was opened for it.
    """
    sql = (
        "select workspace, id from subscriptions where (workspace, id) in"
        " (select * from unnest(%(workspaces)s::text[], %(ids)s::text[])) order by workspace, id for no key update"
    )
    given = {"workspaces": [workspace for workspace, _ in wanted], "ids": [number for _, number in wanted]}
    return set(await all_rows(db, sql, **given))


async def _open(db: Db, planned: Sequence[Planned]) -> list[int]:
    """Keep what is due of the subscriptions that there still are; return how much of each is new."""
    wanted = await _hold_subscriptions(db, {(each.subscription.workspace, each.subscription.id) for each in planned})
    held = [(each.subscription.workspace, each.subscription.id) in wanted for each in planned]
    ours = [each for each, is_held in zip(planned, held, strict=True) if is_held]
    if not ours:
        return [0] * len(planned)
    await _plan_next(db, ours)
    new = {each.key for each in await occurrence_rows.keep(db, [each for of in ours for each in of.found])}
    counted = []
    for each, is_held in zip(planned, held, strict=True):
        fresh = {found.key for found in each.found} & new if is_held else set()
        new -= fresh
        counted.append(len(fresh))
    return counted


async def _plan_next(db: Db, planned: Sequence[Planned]) -> None:
    """Note when subscriptions are due next that were not changed since; of one that is named twice the last counts."""
    nexts = {(of.workspace, of.id, of.revision): micros(each.next_due) for each in planned for of in (each.subscription,)}
    workspaces, ids, revisions = ([place[column] for place in nexts] for column in range(3))
    sql = (
        "update subscriptions set next_due = fresh.next_due from unnest(%(workspaces)s::text[], %(ids)s::text[],"
        " %(revisions)s::bigint[], %(nexts)s::bigint[]) as fresh (workspace, id, revision, next_due)"
        " where (subscriptions.workspace, subscriptions.id, subscriptions.revision)"
        " = (fresh.workspace, fresh.id, fresh.revision)"
    )
    await run(db, sql, workspaces=workspaces, ids=ids, revisions=revisions, nexts=list(nexts.values()))


async def _overtake(db: Db, fresh: Sequence[Occurrence]) -> None:
    """Skip what is due of subscriptions that are held, and ends at an earlier arrival than what is fresh."""
    sql = f"""
        select data from occurrences join
            (select workspace, subscription, max(slot) as reached from
                unnest(%(workspaces)s::text[], %(subscriptions)s::text[], %(slots)s::bigint[])
                as given (workspace, subscription, slot) group by workspace, subscription) as fresh
            using (workspace, subscription)
        where slot > 0 and slot < reached and state = '{OccurrenceState.DUE}' order by {KEY} for update of occurrences
    """
    if fresh:
        rows = await all_rows(db, sql, **columns(fresh))
        waiting = [each for row in rows for each in if_readable(row, occurrence_from_text)]
        await occurrence_rows.update(db, [overtaken(each) for each in waiting])


async def _note_told(db: Db, workspace: str, subscription: str, *, told: bool) -> None:
    """Note whether a subscription, which is held, was told the news."""
    place = {"workspace": workspace, "id": subscription}
    rows = await all_rows(db, f"select data from subscriptions where {NAMED} for no key update", **place)
    if rows:
        fresh = with_news(subscription_from_text(rows[0][0]), told=told)
        sql = f"update subscriptions set revision = %(revision)s, data = %(data)s where {NAMED}"
        await run(db, sql, **place, revision=fresh.revision, data=to_text(fresh))


async def _hold_what_it_is_of(db: Db, delivery: Delivery, *, unposted: bool) -> bool:
    """Say whether the subscription is still wanted by whom that matters to; it and the channel are held where need be.

    What waits again is not to outlive its subscription: who deletes that waits for this, and ends it then. A digest that is
    taken back leaves its channel as nobody else sees it meanwhile, and its news to be told again.
    """
    may_end = delivery.part == 1 and unposted
    if delivery.state is not DeliveryState.PENDING and not may_end:
        return True
    of = {(delivery.workspace, delivery.occurrence[0])}
    wanted = bool(await _hold_subscriptions(db, of))
    if may_end or (delivery.part == 1 and not wanted):
        await digests.hold_channel(db, delivery.workspace, delivery.channel)
    return wanted


async def _keep_what_is_owed(db: Db, stored: Delivery, fresh: Delivery, edited_until: datetime | None) -> None:
    await outbox.keep_standing(db, standing(stored, fresh, edited_until))
    await outbox.keep_publication(db, publication(fresh))


async def _drop(db: Db, ended: Delivery) -> None:
    """Drop the digest of a delivery, in a channel that is held; what it would have told once is to be told again."""
    if await digests.drop(db, ended):
        await _note_told(db, ended.workspace, ended.occurrence[0], told=False)


# --- what ends


async def end(db: Db, workspace: str, subscriptions: Iterable[str]) -> None:
    """Post nothing more for subscriptions that were deleted before in the same transaction, named by their ids."""
    given = {"workspace": workspace, "subscriptions": list(subscriptions)}
    where = "workspace = %(workspace)s and subscription = any(%(subscriptions)s)"
    waits = f"{where} and state = '{DeliveryState.PENDING}'"
    for (channel,) in await all_rows(db, f"select distinct channel from deliveries where {waits} order by channel", **given):
        await digests.hold_channel(db, workspace, channel)
    due = f"select data from occurrences where {where} and state = '{OccurrenceState.DUE}' order by {KEY} for update"
    occurrences = [occurrence_from_text(data) for (data,) in await all_rows(db, due, **given)]
    ended = [replace(each, state=OccurrenceState.SKIPPED, reason=UNSUBSCRIBED) for each in occurrences]
    await occurrence_rows.update(db, ended)
    pending = f"select data from deliveries where {waits} order by {KEY}, part for update"
    deliveries = [expired(delivery_from_text(data, None), UNSUBSCRIBED) for (data,) in await all_rows(db, pending, **given)]
    await delivery_rows.update(db, deliveries)
    for each in deliveries:
        if each.part == 1:
            await digests.hold_channel(db, workspace, each.channel)  # of one that came in between it is not held yet
            await _drop(db, each)


_PLACE_JOINED = " and ".join(
    f"deliveries.{name} = occurrences.{name}" for name in ("workspace", "subscription", "day", "slot")
)
_OPEN_STILL = f"{_PLACE_JOINED} and deliveries.state in ('{DeliveryState.PENDING}', '{DeliveryState.SENDING}')"
# No row is needed any more to keep its occurrence from being posted twice.
_SETTLED = (
    f"occurrences.state <> '{OccurrenceState.DUE}' and (due < %(kept)s or due < %(kept_at_once)s and came_to_nothing)"
    f" and not exists (select from deliveries where {_OPEN_STILL})"
)


async def settled(db: Db, now: datetime) -> list[Place]:
    """Return the places of the occurrences that were settled long ago."""
    return await all_rows(db, f"select {KEY} from occurrences where {_SETTLED} order by {KEY}", **_long_ago(now))


async def forget(db: Db, now: datetime, places: Sequence[Place]) -> None:
    """Drop those of the places that still are as `settled` found them.

    Their deliveries are held before that is looked at.
    """
    given = {**places_of(places), **_long_ago(now)}
    await run(db, f"select from deliveries where {AMONG} order by {KEY}, part for update", **given)
    sql = f"""
        with old as (delete from occurrences where {AMONG} and {_SETTLED} returning {KEY}),
        parts as (delete from deliveries using old where (deliveries.workspace, deliveries.subscription, deliveries.day,
            deliveries.slot) = (old.workspace, old.subscription, old.day, old.slot) returning number)
        delete from payloads using parts where payloads.number = parts.number
    """
    await run(db, sql, **given)


def _long_ago(now: datetime) -> dict[str, int]:
    return {"kept": micros(now - KEPT), "kept_at_once": micros(now - KEPT_AT_ONCE)}
