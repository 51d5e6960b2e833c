"""An occurrence is closed in one statement where it stands as it was read, and in several where it does not: alike."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.errors import Conflict, StoreError
from bot.models import Delivery, Occurrence, OccurrenceState, Subscription, Window
from bot.store.postgres.ledger import PostgresLedger
from bot.store.postgres.store import PostgresStore
from tests.bot.store.postgres.opened import executed, two
from tests.conftest import NOW
from tests.contract.made import digest
from tests.contract.test_ledger import DAY, occurrence, part, subscribed

Both = tuple[PostgresStore, PostgresStore]
OURS = digest(0.5, 0.25)
TABLES = ("occurrences", "deliveries", "payloads", "digests", "posted", "archive", "unposted")
_DROPPED = """
insert into unposted (workspace, channel, topic, rhythm, after, since, at, number)
values ('T1', 'C-s1', 'kv', '', 0, 0, 0, 7), ('T1', 'C-s1', 'kv', '', 0, 0, 0, 8)
"""
NUMBERS = {"number", "id", "digest"}  # columns that tell two rows that say the same apart


@pytest.fixture
async def both(postgres: str, tmp_path: Path) -> AsyncIterator[Both]:
    async with two(postgres, tmp_path) as stores:
        yield stores


async def due(store: PostgresStore, of: Subscription) -> Occurrence:
    """Return an occurrence of the subscription as it is read when it is due."""
    assert await store.ledger.open_occurrences([occurrence(of)], of, NOW + DAY) == 1
    (found,) = await store.ledger.occurrences(NOW)
    return found


def made(of: Occurrence) -> tuple[Occurrence, Delivery]:
    return replace(of, state=OccurrenceState.MADE, reason="", late=True), part(of)


def rows(address: str) -> dict[str, list[dict[str, Any]]]:
    """Return what stands in the tables, without the numbers."""
    found = {}
    with psycopg.connect(address, row_factory=psycopg.rows.dict_row) as db:
        for table in TABLES:
            read = db.execute(f"select * from {table} order by 1, 2".encode()).fetchall()
            named = table == "deliveries"  # whose id is no number
            found[table] = [{k: v for k, v in row.items() if k not in NUMBERS or (named and k == "id")} for row in read]
    return found


@pytest.fixture
def never_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slowly(*_: object) -> bool:
        raise AssertionError("several statements were taken")

    monkeypatch.setattr(PostgresLedger, "_close", slowly)


@pytest.mark.usefixtures("never_slowly")
async def test_what_was_read_here_is_closed_in_one_statement(both: Both) -> None:
    closing, delivery = made(await due(both[0], await subscribed(both[0])))
    assert await both[0].ledger.close_occurrence(closing, NOW, digest=OURS, deliveries=[delivery])
    assert await both[1].ledger.deliveries("T1") == [delivery]
    assert await both[1].ledger.occurrences(NOW, state=OccurrenceState.MADE) == [closing]
    assert await both[1].digests.posted("T1", "C-s1") == {each.ranked.item.key for each in OURS.entries}


async def test_it_leaves_the_same_rows_as_several_statements_do(both: Both, postgres: str) -> None:
    found = []
    for reader in both:  # the second one has not read what it closes
        ours = await subscribed(both[0])
        await executed(postgres, _DROPPED)
        closing, delivery = made(await due(both[0], ours))
        makes_up = replace(OURS, window=Window(makes_up=7))
        assert await reader.ledger.close_occurrence(closing, NOW, digest=makes_up, deliveries=[delivery])
        found.append(rows(postgres))
        await executed(postgres, f"truncate {', '.join(TABLES)}, subscriptions")
    assert found[0] == found[1]
    assert [len(found[0][table]) for table in TABLES] == [1, 1, 1, 1, 2, 1, 1]


async def test_what_was_changed_since_it_was_read_is_closed_as_it_is_now(both: Both) -> None:
    first, second = both
    read = await due(first, await subscribed(first))
    (theirs,) = await second.ledger.occurrences(NOW)
    assert await second.ledger.close_occurrence(replace(theirs, attempts=3, reason="later", next_at=NOW), NOW)
    closing, delivery = made(read)
    assert await first.ledger.close_occurrence(replace(closing, attempts=4), NOW, digest=OURS, deliveries=[delivery])
    (stored,) = await first.ledger.occurrences(NOW, state=OccurrenceState.MADE)
    assert (stored.attempts, stored.reason) == (4, "")


async def test_of_two_that_read_and_close_it_one_does(both: Both) -> None:
    read = await due(both[0], await subscribed(both[0]))
    (theirs,) = await both[1].ledger.occurrences(NOW)
    closed = []
    for store, each in zip(both, (read, theirs), strict=True):
        closing, delivery = made(each)
        closed.append(await store.ledger.close_occurrence(closing, NOW, digest=OURS, deliveries=[delivery]))
    assert closed == [True, False]
    assert len(await both[0].ledger.deliveries("T1")) == 1


async def test_a_digest_that_is_not_fresh_any_more_is_a_conflict_and_leaves_nothing(both: Both, postgres: str) -> None:
    first, second = both
    closing, delivery = made(await due(first, await subscribed(first)))
    await second.digests.save("T1", "C-s1", replace(OURS, window=Window(through=3)), NOW)
    before = rows(postgres)
    with pytest.raises(Conflict):
        await first.ledger.close_occurrence(closing, NOW, digest=OURS, deliveries=[delivery])
    assert rows(postgres) == before


async def test_what_cannot_be_kept_leaves_nothing_either(both: Both, postgres: str) -> None:
    first, _ = both
    closing, delivery = made(await due(first, await subscribed(first)))
    other = await subscribed(first, "s2")
    theirs = occurrence(other)
    assert await first.ledger.open_occurrences([theirs], other, NOW + DAY) == 1
    twin = replace(part(theirs), id=delivery.id)  # the same id as the first one's
    assert await first.ledger.close_occurrence(replace(theirs, state=OccurrenceState.MADE), NOW, deliveries=[twin])
    before = rows(postgres)
    with pytest.raises(StoreError, match="duplicate"):
        await first.ledger.close_occurrence(closing, NOW, digest=OURS, deliveries=[delivery])
    assert rows(postgres) == before
