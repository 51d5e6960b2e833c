"""The ledger in SQL: what is due, what was posted, and what may have been.

Each write is one transaction, begun IMMEDIATE: what it reads to decide and what it writes are one. Every
statement names the workspace, except those that ask what there is to do for all of them.
"""

import json
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import TypeVar

from sqlite_utils import Database

from bot.errors import StoreError
from bot.models import OVERTAKEN, Delivery, DeliveryState, Digest, Occurrence, OccurrenceState, Subscription
from bot.ports.ledger import NO_TURNS, Planned
from bot.store.records import (
    delivery_from_text,
    delivery_to_text,
    micros,
    occurrence_from_text,
    occurrence_to_text,
    payloads_to_bytes,
    subscription_from_text,
    time_of,
    to_text,
    wakes,
)
from bot.store.rules.revisions import with_news
from bot.store.rules.transitions import (
    KEPT,
    KEPT_AT_ONCE,
    OPEN,
    UNSUBSCRIBED,
    after,
    begun,
    claimed,
    closed,
    expect_latest,
    expect_unposted,
    expired,
    is_undone,
    overtaken,
    publication,
    recorded,
    released,
    standing,
)
from bot.store.sqlite import digests, outbox
from bot.store.sqlite.connections import Tables, reading, reading_long, writing, writing_shared
from bot.store.sqlite.turns import OCCURRENCES, PENDING, all_in_turns, if_readable, in_turns, readable

T = TypeVar("T")

log = logging.getLogger(__name__)

# Of what is posted at once: nothing to post, or overtaken.
_CAME_TO_NOTHING = (
    f"(slot > 0 and (state = '{OccurrenceState.EMPTY}' or state = '{OccurrenceState.SKIPPED}'"
    f" and json_valid(data) and json_extract(data, '$.reason') = '{OVERTAKEN}'))"
)
_PLACE = "workspace = ? and subscription = ? and day = ? and slot = ?"
_LATER = (
    f"state in ('{DeliveryState.PENDING}', '{DeliveryState.AMBIGUOUS}') and next_at > ?"
    f" or state = '{DeliveryState.SENDING}' and lease_until > ?"
)
_PUT_OFF = f"state = '{OccurrenceState.DUE}' and next_at > ?"
_AT_ONCE = 500  # rows that are changed in one transaction, where all that wait may be
_Place = tuple[object, ...]
# `number` joins each delivery to its payload, which is written once and read only where it is sent or shown.
DELIVERIES = "select data, payload from deliveries left join payloads using (number)"


class SqliteLedger(Tables):
    """bot.ports.ledger.Ledger."""

    @reading
    def subscriptions_due(
        self, db: Database, now: datetime, *, limit: int = 500
    ) -> Sequence[tuple[Subscription, datetime | None]]:
        some = "select data, next_due, workspace, id from subscriptions indexed by subscriptions_next where wakes <= :now"
        unknown = f"{some} and next_due is null order by workspace, id limit :most"
        come = f"{some} and next_due <= :now order by next_due, workspace, id limit :most"
        both = f"select * from ({unknown}) union all select * from ({come})"
        sql = f"select data, next_due from ({both}) order by next_due, workspace, id limit :most"
        return readable(
            lambda most: db.execute(sql, {"now": micros(now), "most": most}).fetchall(),
            lambda data, at: (subscription_from_text(data), None if at is None else time_of(at)),
            limit,
        )

    @reading
    def every_subscription(self, db: Database) -> Sequence[Subscription]:
        rows = db.execute("select data from subscriptions order by workspace, channel, topic, rhythm").fetchall()
        return [subscription_from_text(data) for (data,) in rows]

    @reading
    def paused_by_service(self, db: Database) -> Sequence[Subscription]:
        # The index holds when each wakes: of those that are not paused no row is read.
        some = (
            "select workspace, id, data from subscriptions indexed by subscriptions_next where wakes = :never"
            " and instr(data, '\"paused_because\":')"
        )
        sql = f"{some} and next_due is null union all {some} and next_due > 0 order by workspace, id"
        found = []
        for workspace, name, data in db.execute(sql, {"never": wakes(True, None)}).fetchall():
            try:
                found.append(subscription_from_text(data))
            except StoreError:
                log.error("the subscription %s of %s cannot be read and is passed over", name, workspace)  # noqa: TRY400
        return [each for each in found if each.is_held_by_service]

    @writing_shared
    def open_occurrences(
        self, db: Database, found: Sequence[Occurrence], subscription: Subscription, next_due: datetime
    ) -> int:
        return _open(db, Planned(subscription, tuple(found), next_due))

    @writing_shared
    def open_planned(self, db: Database, planned: Sequence[Planned]) -> Sequence[int]:
        return [_open(db, each) for each in planned]

    @reading
    def subscriptions_at_once(self, db: Database, now: datetime) -> Sequence[Subscription]:
        sql = (
            "select data from subscriptions indexed by subscriptions_at_once"
            " where rhythm = 'at once' and wakes <= ? order by workspace, id"
        )
        rows = db.execute(sql, [micros(now)]).fetchall()
        return [each for row in rows for each in if_readable(row, subscription_from_text)]

    @writing_shared
    def open_at_once(self, db: Database, found: Sequence[Occurrence]) -> int:
        wanted = [each for each in found if _is_wanted(db, each.workspace, each.subscription)]
        new = [each for each in wanted if _keep_occurrence(db, each)]
        for each in new:
            _overtake(db, each)
        return len(new)

    @writing_shared
    def open_on_request(self, db: Database, occurrence: Occurrence) -> bool:
        return _is_wanted(db, occurrence.workspace, occurrence.subscription) and _keep_occurrence(db, occurrence)

    @reading
    def occurrences(
        self,
        db: Database,
        now: datetime,
        *,
        state: OccurrenceState = OccurrenceState.DUE,
        limit: int = 100,
        had: Mapping[str, int] = NO_TURNS,
    ) -> Sequence[Occurrence]:
        given = {"now": micros(now), "state": state}

        def rows(most: int) -> list[tuple[object, ...]]:
            places = [(row[-1], *row[-4:-1]) for row in in_turns(db, OCCURRENCES, most, had, given)]
            sql = f"select data from occurrences where {_PLACE}"
            return [db.execute(sql, place).fetchone() for place in places]

        return readable(rows, occurrence_from_text, limit)

    @writing_shared
    def close_occurrence(
        self,
        db: Database,
        occurrence: Occurrence,
        now: datetime,
        *,
        digest: Digest | None = None,
        deliveries: Sequence[Delivery] = (),
    ) -> bool:
        row = db.execute(f"select data from occurrences where {_PLACE}", list(_place_of(occurrence))).fetchone()
        fresh = closed(occurrence_from_text(row[0]) if row else None, occurrence)
        if fresh is None:
            return False
        _update_occurrence(db, fresh)
        if digest is not None:
            expect_latest(digest, digests.reach(db, fresh.workspace, fresh.channel, digest.topic, digest.rhythm))
            expect_unposted(digests.posted_of(db, fresh.workspace, fresh.channel, digest))
            expect_unposted(digests.posted_beside(db, fresh.workspace, fresh.channel, digest))
            number = digests.keep(db, fresh.workspace, fresh.channel, digest, now)
            if deliveries:
                digests.archive(db, fresh.workspace, fresh.channel, number, digest, now)
            if digest.news:
                _note_told(db, fresh.workspace, fresh.subscription, told=True)
        for each in deliveries:
            _insert(db, each)
        return True

    @reading
    def due_deliveries(
        self,
        db: Database,
        now: datetime,
        *,
        limit: int = 100,
        had: Mapping[str, int] = NO_TURNS,
        without: Collection[str] = (),
    ) -> Sequence[Delivery]:
        def rows(most: int) -> list[tuple[object, ...]]:
            found = in_turns(db, PENDING, most, had, {"now": micros(now)}, without)
            sql = f"{DELIVERIES} where workspace = ? and id = ?"
            return [db.execute(sql, [workspace, number]).fetchone() for *_, number, workspace in found]

        return readable(rows, delivery_from_text, limit)

    @reading
    def unsettled_deliveries(
        self,
        db: Database,
        now: datetime,
        *,
        limit: int = 100,
        had: Mapping[str, int] = NO_TURNS,
        without: Collection[str] = (),
    ) -> Sequence[Delivery]:
        unclear = f"state = '{DeliveryState.AMBIGUOUS}' and next_at <= ?"
        left = f"state = '{DeliveryState.SENDING}' and (lease_until is null or lease_until <= ?)"
        at = micros(now)
        return all_in_turns(db, f"deliveries where {unclear} or {left}", limit, had, without, at, at)

    @writing_shared
    def claim(self, db: Database, delivery: Delivery, now: datetime, lease: timedelta) -> Delivery | None:
        fresh = claimed(_stored(db, delivery), delivery, now, lease)
        if fresh is None or not all(
            each.state is DeliveryState.DONE for each in _siblings(db, fresh) if each.part < fresh.part
        ):
            return None
        _update(db, fresh)
        return fresh

    @writing_shared
    def begin(self, db: Database, delivery: Delivery) -> bool:
        stored = _stored(db, delivery)
        fresh = begun(stored, delivery)
        if fresh is not None and fresh != stored:
            _update(db, fresh)
        return fresh is not None

    @writing_shared
    def record(
        self, db: Database, delivery: Delivery, *, unposted: bool = False, edited_until: datetime | None = None
    ) -> bool:
        wanted = delivery.state is not DeliveryState.PENDING or _is_wanted(db, delivery.workspace, delivery.occurrence[0])
        stored = _stored(db, delivery)
        fresh = recorded(stored, delivery, wanted=wanted)
        if stored is None or fresh is None:
            return False
        outbox.keep_standing(db, standing(stored, fresh, edited_until))
        for each in (fresh, *after(fresh, _siblings(db, fresh))):
            _update(db, each)
        outbox.keep_publication(db, publication(fresh))
        digests.note_posted(db, fresh)
        if is_undone(fresh, delivery, unposted=unposted):
            _drop(db, fresh)
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

    @reading_long
    def _waiting_for_later(self, db: Database, now: datetime, workspace: str) -> tuple[list[_Place], list[_Place]]:
        """Return the deliveries by workspace and id, and the occurrences by their places."""
        where, ours = (" and workspace = ?", [workspace]) if workspace else ("", [])
        at = micros(now)
        deliveries = f"select workspace, id from deliveries where ({_LATER}){where}"
        occurrences = f"select workspace, subscription, day, slot from occurrences where {_PUT_OFF}{where}"
        return db.execute(deliveries, [at, at, *ours]).fetchall(), db.execute(occurrences, [at, *ours]).fetchall()

    @writing
    def _release_deliveries(self, db: Database, now: datetime, places: Sequence[_Place]) -> int:
        sql, at = f"select data from deliveries where workspace = ? and id = ? and ({_LATER})", micros(now)
        found = [row for place in places for row in db.execute(sql, [*place, at, at]).fetchall()]
        fresh = [(each, released(each, now)) for row in found for each in if_readable((*row, None), delivery_from_text)]
        changed = [after for before, after in fresh if after != before]
        for delivery in changed:
            _update(db, delivery)
        return len(changed)

    @writing
    def _release_occurrences(self, db: Database, now: datetime, places: Sequence[_Place]) -> int:
        sql = f"select data from occurrences where {_PLACE} and {_PUT_OFF}"
        found = [row for place in places for row in db.execute(sql, [*place, micros(now)]).fetchall()]
        put_off = [each for row in found for each in if_readable(row, occurrence_from_text)]
        for each in put_off:
            _update_occurrence(db, replace(each, next_at=None))
        return len(put_off)

    @writing_shared
    def expire_parts(self, db: Database, delivery: Delivery, reason: str) -> int:
        later = [
            each for each in _siblings(db, delivery) if each.part > delivery.part and each.state is DeliveryState.PENDING
        ]
        for each in later:
            _update(db, expired(each, reason))
        return len(later)

    @reading
    def deliveries(
        self, db: Database, workspace: str, *, channel: str = "", states: Collection[DeliveryState] = (), limit: int = 20
    ) -> Sequence[Delivery]:
        where = " and channel = ?" if channel else ""
        where += f" and state in ({', '.join('?' * len(states))})" if states else ""
        sql = f"{DELIVERIES} where workspace = ?{where} order by due desc, subscription, day, slot, part limit ?"
        values = [workspace, *([channel] if channel else []), *states, limit]
        return [delivery_from_text(*row) for row in db.execute(sql, values).fetchall()]

    @reading
    def posted_on(self, db: Database, workspace: str, days: Collection[tuple[str, date]]) -> Sequence[Delivery]:
        wanted = json.dumps([(subscription, day.isoformat()) for subscription, day in days])
        sql = (
            f"{DELIVERIES} where workspace = ? and state = ? and (subscription, day) in"
            " (select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(?))"
            " order by subscription, day, slot, part"
        )
        return [delivery_from_text(*row) for row in db.execute(sql, [workspace, DeliveryState.DONE, wanted]).fetchall()]

    @reading
    def recent_occurrences(
        self, db: Database, workspace: str, *, channel: str = "", limit: int = 20
    ) -> Sequence[Occurrence]:
        where, values = ("", []) if not channel else (" and channel = ?", [channel])
        order = "due desc, day desc, subscription, slot"
        sql = f"select data from occurrences where workspace = ?{where} and not {_CAME_TO_NOTHING} order by {order} limit ?"
        return [occurrence_from_text(data) for (data,) in db.execute(sql, [workspace, *values, limit]).fetchall()]

    @reading
    def counts(self, db: Database) -> Mapping[str, int]:
        known = dict(db.execute("select state, count(*) from deliveries group by state").fetchall())
        due = db.execute("select count(*) from occurrences where state = ?", [OccurrenceState.DUE]).fetchone()[0]
        return {**{str(state): known.get(state, 0) for state in DeliveryState}, "due": due}


def _open(db: Database, planned: Planned) -> int:
    of = planned.subscription
    if not _is_wanted(db, of.workspace, of.id):
        return 0
    db.execute(
        "update subscriptions set next_due = ? where workspace = ? and id = ? and revision = ?",
        [micros(planned.next_due), of.workspace, of.id, of.revision],
    )
    return sum(_keep_occurrence(db, each) for each in planned.found)


def _overtake(db: Database, fresh: Occurrence) -> None:
    """Skip what is due of the subscription and ends at an earlier arrival."""
    sql = (
        "select data from occurrences where workspace = ? and subscription = ? and slot > 0 and slot < ?"
        f" and state = '{OccurrenceState.DUE}'"
    )
    for row in db.execute(sql, [fresh.workspace, fresh.subscription, fresh.slot]).fetchall():
        for each in if_readable(row, occurrence_from_text):
            _update_occurrence(db, overtaken(each))


def _is_wanted(db: Database, workspace: str, subscription: str) -> bool:
    sql = "select 1 from subscriptions where workspace = ? and id = ?"
    return db.execute(sql, [workspace, subscription]).fetchone() is not None


def _drop(db: Database, ended: Delivery) -> None:
    """Drop the digest of a delivery; what it would have told once is to be told again."""
    if digests.drop(db, ended):
        _note_told(db, ended.workspace, ended.occurrence[0], told=False)


def _note_told(db: Database, workspace: str, subscription: str, *, told: bool) -> None:
    row = db.execute("select data from subscriptions where workspace = ? and id = ?", [workspace, subscription]).fetchone()
    if row is None:
        return
    fresh = with_news(subscription_from_text(row[0]), told=told)
    values = [fresh.revision, to_text(fresh), workspace, subscription]
    db.execute("update subscriptions set revision = ?, data = ? where workspace = ? and id = ?", values)


def _keep_occurrence(db: Database, fresh: Occurrence) -> bool:
    """Keep the occurrence unless one of its key is kept; say whether it is new."""
    sql = (
        "insert or ignore into occurrences (workspace, subscription, day, slot, channel, due, state, next_at, data)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    given = [*_place_of(fresh), fresh.channel, micros(fresh.due), *_standing(fresh)]
    return bool(db.execute(sql, given).rowcount)


def _update_occurrence(db: Database, fresh: Occurrence) -> None:
    sql = f"update occurrences set state = ?, next_at = ?, data = ? where {_PLACE}"
    db.execute(sql, [*_standing(fresh), *_place_of(fresh)])


def _insert(db: Database, fresh: Delivery) -> None:
    sql = (
        "insert into deliveries (workspace, id, subscription, day, slot, part, channel, due,"
        " state, next_at, lease_until, message, data) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    _, *place = _place_of(fresh)
    what = [fresh.workspace, fresh.id, *place, fresh.part, fresh.channel, micros(fresh.due)]
    number = db.execute(sql, [*what, *_progress(fresh)]).lastrowid
    said = payloads_to_bytes(fresh.payload, fresh.if_late)
    db.execute("insert into payloads (number, payload) values (?, ?)", [number, said])


def _update(db: Database, fresh: Delivery) -> None:
    progress = "state = ?, next_at = ?, lease_until = ?, message = ?, data = ?"
    sql = f"update deliveries set {progress} where workspace = ? and id = ?"
    db.execute(sql, [*_progress(fresh), fresh.workspace, fresh.id])
    if fresh.state not in OPEN:
        sql = "delete from payloads where number = (select number from deliveries where workspace = ? and id = ?)"
        db.execute(sql, [fresh.workspace, fresh.id])


def _stored(db: Database, given: Delivery) -> Delivery | None:
    row = db.execute(f"{DELIVERIES} where workspace = ? and id = ?", [given.workspace, given.id]).fetchone()
    return delivery_from_text(*row) if row else None


def _siblings(db: Database, given: Delivery) -> list[Delivery]:
    """Return the other parts of the delivery's digest, without their payloads."""
    if given.parts == 1:
        return []
    sql = f"select data from deliveries where {_PLACE} and part <> ? order by part"
    rows = db.execute(sql, [*_place_of(given), given.part]).fetchall()
    return [delivery_from_text(data, None) for (data,) in rows]


# --- what ends


def end(db: Database, workspace: str, subscriptions: Iterable[str]) -> None:
    """Post nothing more for subscriptions that are no more, named by their ids."""
    for number in subscriptions:
        ours = [workspace, number]
        sql = "select data from {} where workspace = ? and subscription = ? and state = '{}'"
        for (data,) in db.execute(sql.format("occurrences", OccurrenceState.DUE), ours).fetchall():
            _update_occurrence(db, replace(occurrence_from_text(data), state=OccurrenceState.SKIPPED, reason=UNSUBSCRIBED))
        for (data,) in db.execute(sql.format("deliveries", DeliveryState.PENDING), ours).fetchall():
            ended = expired(delivery_from_text(data, None), UNSUBSCRIBED)
            _update(db, ended)
            if ended.part == 1:
                _drop(db, ended)


_PLACE_JOINED = " and ".join(
    f"deliveries.{name} = occurrences.{name}" for name in ("workspace", "subscription", "day", "slot")
)


_OPEN_STILL = f"{_PLACE_JOINED} and deliveries.state in ('{DeliveryState.PENDING}', '{DeliveryState.SENDING}')"
# No row is needed any more to keep its occurrence from being posted twice.
_SETTLED = (
    f"state <> '{OccurrenceState.DUE}' and (due < ? or due < ? and {_CAME_TO_NOTHING})"
    f" and not exists (select 1 from deliveries where {_OPEN_STILL})"
)


def settled(db: Database, now: datetime) -> list[tuple[object, ...]]:
    """Return the places of the occurrences that were settled long ago."""
    sql = f"select workspace, subscription, day, slot from occurrences where {_SETTLED}"
    return db.execute(sql, _long_ago(now)).fetchall()


def forget(db: Database, now: datetime, places: Sequence[tuple[object, ...]]) -> None:
    """Drop those of the places that still are as `settled` found them."""
    still = f"select 1 from occurrences where {_PLACE} and {_SETTLED}"
    old = [place for place in places if db.execute(still, [*place, *_long_ago(now)]).fetchone()]
    db.conn.executemany(f"delete from payloads where number in (select number from deliveries where {_PLACE})", old)
    db.conn.executemany(f"delete from deliveries where {_PLACE}", old)
    db.conn.executemany(f"delete from occurrences where {_PLACE}", old)


def _long_ago(now: datetime) -> list[object]:
    return [micros(now - KEPT), micros(now - KEPT_AT_ONCE)]


def _place_of(each: Occurrence | Delivery) -> tuple[str, str, str, int]:
    workspace, subscription, day, slot = each.key
    return workspace, subscription, day.isoformat(), slot


def _standing(occurrence: Occurrence) -> tuple[str, int | None, str]:
    return occurrence.state, _or_none(occurrence.next_at), occurrence_to_text(occurrence)


def _progress(delivery: Delivery) -> tuple[str, int, int | None, str, str]:
    times = (micros(delivery.next_at), _or_none(delivery.lease_until))
    return delivery.state, *times, delivery.message, delivery_to_text(delivery)


def _or_none(time: datetime | None) -> int | None:
    return None if time is None else micros(time)
