"""Rows that wait, in turns: of each workspace the oldest first, and about as many rows read as have a turn.

What cannot be read is passed over: a damaged row must not stop the others.
"""

import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from bot.errors import StoreError
from bot.models import Delivery, DeliveryState, LaneBacklog, OccurrenceState
from bot.ports.shared.lanes import DELIVER, MAKE
from bot.store.postgres.connections import Db
from bot.store.records import delivery_from_text, micros, time_of

T = TypeVar("T")
Row = tuple[Any, ...]

log = logging.getLogger(__name__)

IS_NEXT = (
    "(part = 1 or not exists (select from deliveries as earlier where earlier.workspace = deliveries.workspace"
    " and earlier.subscription = deliveries.subscription and earlier.day = deliveries.day"
    f" and earlier.slot = deliveries.slot and earlier.part < deliveries.part and earlier.state <> '{DeliveryState.DONE}'))"
)
# Without an `in` that says the same the index of what is unsettled is not found.
UNSETTLED = (
    f"state in ('{DeliveryState.SENDING}', '{DeliveryState.AMBIGUOUS}')"
    f" and (state = '{DeliveryState.AMBIGUOUS}' and next_at <= %(now)s"
    f" or state = '{DeliveryState.SENDING}' and (lease_until is null or lease_until <= %(now)s))"
)
_WIDER = 4  # times as many turns are looked at where those looked at were too few
_HAD = "coalesce((%(had)s::jsonb ->> workspace)::bigint, 0)"  # turns, of whoever has had any
_LEFT_OUT = "(workspace = any(%(without)s) or split_part(workspace, ':', 1) || ':' = any(%(without)s))"


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits, in an index by lane, workspace and then age: of each workspace only the oldest are looked at."""

    table: str
    waits: str  # what a row is that waits, whether its time has come or not
    come: str
    age: str  # columns of the index; its last ones name a row within its workspace
    says: tuple[str, ...]  # columns: what the answer has of each row
    payload: bool = False  # and whether what it says

    def statement(self, lane: str) -> str:
        """Return the statement that gives the turn, whether there may be more, and what it says, of those that wait.

        Workspaces are found by one step in the index each. A workspace whose oldest is not among the first `most` oldest
        has none among the first `most`. Of those chosen the rows before a certain turn are read, so many turns that there
        are `most` where all have enough: whatever has a later turn comes behind all of these.
        """
        rows = f"select lane, workspace from {self.table} where {self.waits}"
        ours = " and lane = %(lane)s" if lane else ""
        # Of one lane the index is entered at the workspace, of all at both: as one row it would be read from its beginning.
        behind = (
            f"{ours} and workspace > places.workspace" if lane else "and (lane, workspace) > (places.lane, places.workspace)"
        )
        first = "order by lane, workspace limit 1"
        said, payload = ", ".join(self.says), ", payload" if self.payload else ""
        return f"""
            with recursive places (lane, workspace) as (
                ({rows}{ours} {first})
                union all
                select next.lane, next.workspace from places cross join lateral
                    ({rows} {behind} {first}) as next
            ),
            chosen as materialized (
                select lane, workspace, {_HAD} as had from places
                cross join lateral ({self._waiting("places", "1")}) as head
                where not {_LEFT_OUT} order by had, {self.age}, workspace limit %(most)s
            ),
            level as materialized (
                select min(had) + (%(most)s + count(*) - 1) / greatest(count(*), 1) * %(wider)s as top from chosen
            ),
            held as materialized (
                select workspace, had - 1 + row_number() over (partition by workspace order by {self.age}) as turn, own.*
                from chosen cross join level
                cross join lateral ({self._waiting("chosen", "greatest(top - had, 0)")}) as own
            ),
            found as materialized (select * from held order by turn, {self.age}, workspace limit %(most)s),
            more as materialized (
                select exists (select from chosen cross join level where greatest(top - had, 0)
                    <= (select count(*) from held where held.workspace = chosen.workspace)) as may_be
            )
            select may_be, {said}{payload} from found cross join more
            {"left join payloads using (number)" if self.payload else ""} order by turn, {self.age}, workspace
        """

    def _waiting(self, place: str, most: str) -> str:
        return (
            f"select {self.age}, {', '.join(self.says)} from {self.table} where {self.waits} and lane = {place}.lane"
            f" and workspace = {place}.workspace and {self.come} order by {self.age} limit {most}"
        )


PENDING = Queue(
    "deliveries",
    f"state = '{DeliveryState.PENDING}'",
    f"next_at <= %(now)s and {IS_NEXT}",
    "next_at, due, id",
    ("data", "number"),
    payload=True,
)
OCCURRENCES = Queue("occurrences", "state = %(state)s", "ready <= %(now)s", "ready, due, subscription, day, slot", ("data",))


def with_turns(had: Mapping[str, int], without: Collection[str], lane: str) -> dict[str, object]:
    """Return what every statement of this module is given of whose turn it is."""
    return {"had": json.dumps(dict(had)), "without": list(without), "lane": lane}


async def in_turns(db: Db, queue: Queue, most: int, given: Mapping[str, object]) -> list[Row]:
    """Return at most so many that wait, the oldest of each workspace, and so on: what the queue says of each."""
    wider, statement = 1, queue.statement(str(given["lane"])).encode()
    while True:
        rows = await (await db.execute(statement, {**given, "most": most, "wider": wider}, binary=True)).fetchall()
        if len(rows) >= most or not rows or not rows[0][0]:
            return [row[1:] for row in rows]
        wider *= _WIDER


async def all_in_turns(db: Db, most: int, given: Mapping[str, object]) -> list[Row]:
    """Return record and payload of at most so many unsettled deliveries, in turns."""
    turn = f"row_number() over (partition by workspace order by due, id) + {_HAD}"
    ours = " and lane = %(lane)s" if given["lane"] else ""
    sql = f"""
        with chosen as materialized (
            select number, {turn} as line, due, id, workspace from deliveries
            where {UNSETTLED}{ours} and not {_LEFT_OUT} order by line, due, id, workspace limit %(most)s
        )
        select data, payload from chosen join deliveries using (number) left join payloads using (number)
        order by line, chosen.due, chosen.id, chosen.workspace
    """
    return await (await db.execute(sql.encode(), {**given, "most": most}, binary=True)).fetchall()


async def readable(rows: Callable[[int], Awaitable[Sequence[Row]]], read: Callable[..., T], limit: int) -> list[T]:
    """Return what can be read of what there is to do for all workspaces, as many as were asked for where there are so many.

    A damaged row must not stop the others, and however many there are must not take their turns.
    """
    most = limit
    while True:
        given = await rows(most)
        found = [each for row in given for each in if_readable(row, read)]
        if len(given) < most or len(found) >= limit:
            break
        most *= 2
    if len(found) < len(given):
        log.error(
            "rows of the ledger that cannot be read are passed over: %d; `db check` counts them", len(given) - len(found)
        )
    return found[:limit]


def if_readable(row: Row, read: Callable[..., T]) -> Iterator[T]:
    """Yield what the row says, nothing where that cannot be read."""
    with contextlib.suppress(StoreError):
        yield read(*row)


def delivery_of(data: str, number: int, payload: bytes | None) -> Delivery:
    """Return the delivery of a row of PENDING."""
    return delivery_from_text(data, payload)


# What is counted for a lane is read from the indexes alone; of later parts few have their turn: most wait for one before.
_TO_MAKE = (
    f"select lane, count(*), min(due) from occurrences where state = '{OccurrenceState.DUE}' and ready <= %(now)s"
    " group by lane order by lane"
)
_TO_DELIVER = f"""
    select lane, sum(many)::bigint, min(first) from (
        select lane, count(*) as many, min(due) as first from deliveries
        where state = '{DeliveryState.PENDING}' and part = 1 and next_at <= %(now)s group by lane
        union all
        select lane, count(*), min(due) from deliveries
        where state = '{DeliveryState.PENDING}' and part > 1 and next_at <= %(now)s and {IS_NEXT} group by lane
        union all
        select lane, count(*), min(due) from deliveries where {UNSETTLED} group by lane
    ) as kinds group by lane order by lane
"""


async def backlog(db: Db, now: datetime) -> list[LaneBacklog]:
    """Return what has work now, by verb and lane."""
    given = {"now": micros(now)}
    return [
        LaneBacklog(verb, lane, many, time_of(oldest))
        for verb, sql in ((MAKE, _TO_MAKE), (DELIVER, _TO_DELIVER))
        for lane, many, oldest in await (await db.execute(sql.encode(), given)).fetchall()
    ]
