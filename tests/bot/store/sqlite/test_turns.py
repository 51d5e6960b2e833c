"""How much of what waits is looked at, in steps of SQLite's machine: behind a hundred thousand as much as behind few."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from bot.models import FOREVER
from bot.store.records import micros
from bot.store.sqlite.connections import connect
from bot.store.sqlite.ledger import SqliteLedger
from bot.store.sqlite.maintenance import AT_ONCE, SqliteMaintenance
from bot.store.sqlite.store import SqliteStore
from tests.conftest import NOW
from tests.contract.test_ledger import DAY, MINUTE, made, occurrence, subscribed
from tests.stores.direct import Direct, answer

WORKSPACES = 20
FEW, MANY = 1_000, 100_000
STEPS = 50  # of SQLite's machine between two counts

Ask = Callable[[SqliteLedger], Coroutine[Any, Any, Any]]


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A database with a delivery that is due, and an occurrence, in a workspace whose name comes last."""
    store = SqliteStore(tmp_path / "b.db")
    await store.open()
    ours = await subscribed(store, workspace="Z")
    await made(store, ours)
    await store.ledger.open_occurrences([occurrence(ours, slot=1)], ours, NOW + DAY)
    await store.close()
    return tmp_path / "b.db"


_CLONES = """
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < {count})
insert into {table} ({columns}) select {values} from numbers, (select * from {table} where workspace = 'Z' limit 1) as one
"""


def clone(db: Database, table: str, count: int, **instead: str) -> None:
    """Let so many rows stand there in several workspaces, some columns of which are other expressions of `n`."""
    columns = [each.name for each in db.table(table).columns if each.name != "number"]
    values = {"workspace": f"'T' || (n % {WORKSPACES})", "subscription": "'s' || n", **instead}
    named = ", ".join(values.get(each, each) for each in columns)
    db.conn.execute(_CLONES.format(count=count, table=table, columns=", ".join(columns), values=named))
    db.conn.commit()


def steps(path: Path, ask: Ask) -> int:
    counted = 0

    def count() -> None:
        nonlocal counted
        counted += 1

    db = connect(path)
    db.conn.set_progress_handler(count, STEPS)
    assert answer(ask(SqliteLedger(Direct(db))))
    db.close()
    return counted


LATER = {
    "all are due": "next_at",
    "all but some are put off": f"case when n <= {WORKSPACES} then next_at else {micros(NOW + DAY)} end",
}


@pytest.mark.parametrize("later", LATER.values(), ids=LATER)
@pytest.mark.parametrize("table", ["deliveries", "occurrences"])
async def test_a_reading_looks_at_no_more_of_a_hundred_thousand_that_wait_than_of_a_thousand(
    path: Path, table: str, later: str
) -> None:
    def count() -> tuple[int, int]:
        named = {"deliveries": {"id": "'d' || n"}, "occurrences": {"state": "'due'"}}[table]
        db, found = connect(path), []
        for more in (FEW, MANY):
            db.execute(f"delete from {table} where workspace <> 'Z'")
            clone(db, table, more, next_at=later, **named)
            found.append(steps(path, ASKED[table]))
        db.close()
        return found[0], found[1]

    few, many = await asyncio.to_thread(count)
    assert many <= 1.2 * few + 5


async def test_a_reading_looks_past_no_later_parts_that_wait_for_the_ones_before(path: Path) -> None:
    def count() -> tuple[int, int]:
        db, found = connect(path), []
        for more in (FEW, MANY):
            db.execute("delete from deliveries where workspace <> 'Z'")
            clone(db, "deliveries", more, id="'d' || n", part="1 + n % 2", subscription="'s' || (n / 2)", next_at=PARTS)
            found.append(steps(path, ASKED["deliveries"]))
        db.close()
        return found[0], found[1]

    few, many = await asyncio.to_thread(count)
    assert many <= 1.2 * few + 5


PARTS = f"case n % 2 when 1 then {micros(FOREVER)} else {micros(NOW + MINUTE)} end"
ASKED: dict[str, Ask] = {
    "deliveries": lambda ledger: ledger.due_deliveries(NOW, limit=64),
    "occurrences": lambda ledger: ledger.occurrences(NOW, limit=64),
}


async def test_what_is_due_of_thousands_of_subscriptions_is_read_without_sorting_them(path: Path) -> None:
    def count() -> tuple[int, int]:
        db, found = connect(path), []
        for more in (FEW, MANY):
            db.execute("delete from subscriptions where workspace <> 'Z'")
            clone(db, "subscriptions", more, id="'s' || n", channel="'C' || n", next_due=f"nullif({micros(NOW)}, n % 2)")
            found.append(steps(path, lambda ledger: ledger.subscriptions_due(NOW, limit=100)))
        db.close()
        return found[0], found[1]

    few, many = await asyncio.to_thread(count)
    assert many <= 1.2 * few + 5


async def test_thousands_that_wait_are_released_in_many_short_transactions(path: Path) -> None:
    def released() -> list[int]:
        db, later = connect(path), str(micros(NOW + DAY))
        there = f"'$.workspace', 'T' || (n % {WORKSPACES})"
        data = f"json_set(data, '$.next_at', '{(NOW + DAY).isoformat()}', {there}, '$.id', 'd' || n)"
        place = f"json_set(data, {there}, '$.subscription', 's' || n)"
        clone(db, "occurrences", 2 * FEW, state="'due'", next_at=later, data=place)
        clone(db, "deliveries", 2 * FEW, id="'d' || n", next_at=later, data=data)
        counted = Counted(db)
        assert answer(SqliteLedger(counted).release(NOW)) == 4 * FEW
        assert answer(SqliteLedger(counted).release(NOW)) == 0
        db.close()
        return counted.changed

    changed = await asyncio.to_thread(released)
    assert (sum(changed), max(changed)) == (4 * FEW, AT_ONCE)


class Counted(Direct):
    """A connection that counts the rows that each transaction changes."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.changed: list[int] = []

    async def write(self, job: Callable[[Database], Any]) -> Any:
        before = self._db.conn.total_changes
        done = job(self._db)
        self._db.conn.commit()
        self.changed.append(self._db.conn.total_changes - before)
        return done


async def test_what_was_settled_of_thousands_of_channels_is_forgotten_in_many_short_transactions(path: Path) -> None:
    def pruned() -> Counted:
        db = connect(path)
        long_ago = str(micros(NOW - 50 * DAY))
        clone(db, "occurrences", FEW, state="'made'", due=long_ago)
        clone(db, "deliveries", FEW, id="'d' || n", state="'done'", due=long_ago)
        counted = Counted(db)
        maintenance = SqliteMaintenance(counted)
        answer(maintenance.prune(items_before=NOW - DAY, readings_before=NOW.date(), now=NOW))
        assert db.execute("select count(*) from occurrences").fetchone() == (2,)
        assert db.execute("select count(*) from deliveries").fetchone() == (1,)
        db.close()
        return counted

    changed = (await asyncio.to_thread(pruned)).changed
    assert sum(changed) >= 2 * FEW
    assert max(changed) <= 2 * AT_ONCE
