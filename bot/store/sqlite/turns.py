"""Rows that wait, in turns: of each workspace the oldest first, and no more rows read than have a turn.

What cannot be read is passed over: a damaged row must not stop the others.
"""

import contextlib
import heapq
import itertools
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlite_utils import Database

from bot.errors import StoreError
from bot.models import Delivery, DeliveryState
from bot.ports.ledger import is_left_out
from bot.store.records import delivery_from_text

T = TypeVar("T")

log = logging.getLogger(__name__)


_IS_NEXT = (
    "(part = 1 or not exists (select 1 from deliveries as earlier where earlier.workspace = deliveries.workspace"
    " and earlier.subscription = deliveries.subscription and earlier.day = deliveries.day"
    f" and earlier.slot = deliveries.slot and earlier.part < deliveries.part and earlier.state <> '{DeliveryState.DONE}'))"
)


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits, in an index by workspace and then by age: of each workspace only the oldest are looked at."""

    table: str
    index: str
    waits: str  # what a row is that waits, whether its time has come or not
    come: str
    age: str  # of the index; its last columns name a row within its workspace
    name: str

    @property
    def _rows(self) -> str:
        return f"{self.table} indexed by {self.index} where {self.waits}"

    @property
    def workspaces(self) -> str:
        """The statement that gives the workspaces in which something waits, those first whose oldest has its turn first.

        Each is found by one step in the index from the one before.
        """
        oldest = f"select {self.name} from {self._rows} and workspace = waiting.workspace and {self.come}"
        return (
            f"with recursive waiting (workspace) as (select min(workspace) from {self._rows} union all"
            f" select (select min(workspace) from {self._rows} and workspace > waiting.workspace) from waiting"
            " where workspace is not null)"
            f" select waiting.workspace from waiting cross join {self.table} as head"
            f" on turns_had(waiting.workspace) is not null and head.workspace = waiting.workspace"
            f" and ({self.name}) = ({oldest} order by {self.age} limit 1)"
            f" order by turns_had(waiting.workspace), {self.age}, waiting.workspace limit :most"
        )

    @property
    def oldest(self) -> str:
        """The statement that gives one workspace's, the oldest first."""
        return f"select {self.age} from {self._rows} and workspace = :workspace and {self.come} order by {self.age}"


PENDING = Queue(
    "deliveries",
    "deliveries_pending",
    f"state = '{DeliveryState.PENDING}'",
    f"next_at <= :now and {_IS_NEXT}",
    "next_at, due, id",
    "id",
)
OCCURRENCES = Queue(
    "occurrences",
    "occurrences_state",
    "state = :state",
    "ifnull(next_at, 0) <= :now",
    "ifnull(next_at, 0), due, subscription, day, slot",
    "subscription, day, slot",
)


def in_turns(
    db: Database,
    queue: Queue,
    most: int,
    had: Mapping[str, int],
    given: Mapping[str, object],
    without: Collection[str] = (),
) -> Iterator[tuple[Any, ...]]:
    """Yield the turn, the age and the workspace of at most so many that wait: the oldest of each workspace, and so on.

    A workspace whose oldest is not among the first `most` oldest has none among the first `most`.
    """

    def waiting_in(workspace: str) -> Iterator[tuple[Any, ...]]:
        rows = db.execute(queue.oldest, {**given, "workspace": workspace})
        for turn, age in enumerate(rows, had.get(workspace, 0)):
            yield turn, *age, workspace

    _let_count_turns(db, had, without)
    workspaces = db.execute(queue.workspaces, {**given, "most": most}).fetchall()
    return itertools.islice(heapq.merge(*(waiting_in(workspace) for (workspace,) in workspaces)), most)


def all_in_turns(
    db: Database, waiting: str, limit: int, had: Mapping[str, int], without: Collection[str], *values: object
) -> list[Delivery]:
    """Return at most so many deliveries in turns, of a table with its condition, `waiting`, which is given the `values`."""
    turns = (
        "select number, due, id, workspace, row_number() over (partition by workspace order by due, id) as turn"
        f" from {waiting}"
    )
    order = "line, due, id, workspace"
    line = "turn + turns_had(workspace) as line"
    chosen = f"select number, {line} from ({turns}) where line is not null order by {order} limit ?"
    sql = (
        f"with chosen as materialized ({chosen})"
        " select data, payload from chosen cross join deliveries using (number)"
        f" left join payloads using (number) order by {order}"
    )
    _let_count_turns(db, had, without)
    return readable(lambda most: db.execute(sql, [*values, most]).fetchall(), delivery_from_text, limit)


def _let_count_turns(db: Database, had: Mapping[str, int], without: Collection[str]) -> None:
    """Let a statement ask how many turns a workspace has had, null for one that is left out.

    Joined as a table, they would be searched row by row.
    """

    def turns_had(workspace: str | None) -> int | None:
        return None if workspace is None or is_left_out(workspace, without) else had.get(workspace, 0)

    db.conn.create_function("turns_had", 1, turns_had)


def readable(rows: Callable[[int], Sequence[tuple[object, ...]]], read: Callable[..., T], limit: int) -> list[T]:
    """Return what can be read of what there is to do for all workspaces, as many as were asked for where there are so many.

    A damaged row must not stop the others, and however many there are must not take their turns.
    """
    most = limit
    while True:
        given = rows(most)
        found = [each for row in given for each in if_readable(row, read)]
        if len(given) < most or len(found) >= limit:
            break
        most *= 2
    if len(found) < len(given):
        log.error(
            "rows of the ledger that cannot be read are passed over: %d; `db check` counts them", len(given) - len(found)
        )
    return found[:limit]


def if_readable(row: tuple[object, ...], read: Callable[..., T]) -> Iterator[T]:
    """Yield what the row says, nothing where that cannot be read."""
    with contextlib.suppress(StoreError):
        yield read(*row)
