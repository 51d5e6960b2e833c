"""The ledger on the disk: upgraded, damaged, and claimed from by two programs at once."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlite_utils import Database

from bot.models import DeliveryState, OccurrenceState, Position
from bot.store.records import delivery_to_text, micros, to_text
from bot.store.sqlite.connections import connect
from bot.store.sqlite.ledger import SqliteLedger
from bot.store.sqlite.migrations import migrations
from bot.store.sqlite.store import SqliteStore
from tests.conftest import NOW
from tests.contract.made import FULL_SUBSCRIPTION, change
from tests.contract.test_ledger import LEASE, done, made, occurrence, part, subscribed, taken
from tests.contract.test_ledger_undone import printed
from tests.stores.direct import Direct, answer

DAY = timedelta(days=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "broadsheet.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    made = SqliteStore(path)
    await made.open()
    yield made
    await made.close()


async def damage(path: Path, sql: str) -> None:
    def run() -> None:
        db = connect(path)
        db.execute(sql)
        db.close()

    await asyncio.to_thread(run)


def second_edition(path: Path) -> None:
    """Write a database as the second schema has it: subscriptions that run, are paused, and cannot be read."""
    db = connect(path)
    migrations.apply(db, stop_before="m003_ledger")
    runs = replace(FULL_SUBSCRIPTION, paused=False, paused_until=None)
    texts = {
        "runs": to_text(runs),
        "a-day": to_text(replace(runs, paused=True, paused_until=NOW + DAY)),
        "for-ever": to_text(replace(runs, paused=True)),
        "damaged": "[",
        "odd": "[]",
    }
    for number, text in texts.items():
        row = ["T1", number, "kv", number, text.replace('"id":"s-1"', f'"id":"{number}"')]
        db.execute(
            "insert into subscriptions (workspace, channel, topic, id, revision, data) values (?, ?, ?, ?, 1, ?)", row
        )
    db.conn.commit()
    db.close()


async def test_subscriptions_of_the_second_edition_stay_paused_and_are_looked_at_anew(path: Path) -> None:
    await asyncio.to_thread(second_edition, path)
    store = SqliteStore(path)
    await store.open()
    assert [each.id for each, at in await store.ledger.subscriptions_due(NOW) if at is None] == ["runs"]
    assert [each.id for each, _ in await store.ledger.subscriptions_due(NOW + DAY)] == ["a-day", "runs"]
    assert [each.id for each, _ in await store.ledger.subscriptions_due(NOW + 9999 * DAY)] == ["a-day", "runs"]
    await store.close()


async def test_of_two_programs_that_claim_at_once_one_wins(store: SqliteStore, path: Path) -> None:
    other = SqliteStore(path)
    await other.open()
    pending = [(await made(store, await subscribed(store), slot=0))[0]]
    ours = (await store.workspaces.subscriptions("T1"))[0]
    pending += [(await made(store, ours, slot=slot))[0] for slot in range(1, 6)]
    claims = [each.ledger.claim(delivery, NOW, LEASE) for delivery in pending for each in (store, other)]
    outcomes = await asyncio.gather(*claims)
    assert sorted(each.id for each in outcomes if each) == sorted(each.id for each in pending)
    assert await other.ledger.due_deliveries(NOW) == []
    await other.close()


async def test_what_was_claimed_is_still_claimed_when_the_file_is_opened_again(store: SqliteStore) -> None:
    (only,) = await made(store, await subscribed(store))
    claimed = await taken(store, only)
    await store.close()
    await store.open()
    assert await store.ledger.due_deliveries(NOW) == []
    assert await store.ledger.unsettled_deliveries(NOW + LEASE) == [claimed]
    assert await store.ledger.record(done(claimed))


@pytest.mark.parametrize("text", ["{", "[]", '{"occurrence": 3}'])
async def test_a_damaged_row_of_one_workspace_does_not_stop_the_others(
    store: SqliteStore, path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    await made(store, await subscribed(store, "bad", "T1"))
    await store.ledger.open_occurrences(
        [occurrence(bad := (await store.workspaces.subscriptions("T1"))[0], slot=1)], bad, NOW
    )
    good = await subscribed(store, "good", "T2")
    pending = await made(store, good)
    await store.ledger.open_occurrences([occurrence(good, slot=1)], good, NOW)
    for table in ("deliveries", "occurrences", "subscriptions"):
        await damage(path, f"update {table} set data = '{text}' where workspace = 'T1'")
    with caplog.at_level(logging.ERROR):
        assert await store.ledger.due_deliveries(NOW) == pending
        assert await store.ledger.occurrences(NOW) == [occurrence(good, slot=1)]
        assert await store.ledger.subscriptions_due(NOW) == [(good, NOW)]
    said = "rows of the ledger that cannot be read are passed over: 1; `db check` counts them"
    assert [each.message for each in caplog.records] == [said] * 3
    if text == "{":
        assert {"1 deliveries cannot be read.", "2 occurrences cannot be read."} <= set(await store.maintenance.check())


async def test_however_many_rows_are_damaged_they_take_nobody_elses_turn(store: SqliteStore, path: Path) -> None:
    for number in range(9):
        bad = await subscribed(store, f"bad{number}", f"T{number}")
        await made(store, bad)
        await store.ledger.open_occurrences([occurrence(bad, slot=1)], bad, NOW)
    good = await subscribed(store, "good", "T9")
    pending = await made(store, good)
    await store.ledger.open_occurrences([occurrence(good, slot=1)], good, NOW)
    for table in ("deliveries", "occurrences", "subscriptions"):
        await damage(path, f"update {table} set data = '[' where workspace <> 'T9'")
    assert await store.ledger.due_deliveries(NOW, limit=2) == pending
    assert await store.ledger.occurrences(NOW, limit=2) == [occurrence(good, slot=1)]
    assert await store.ledger.subscriptions_due(NOW, limit=2) == [(good, NOW)]


async def test_a_payload_that_is_not_what_was_made_does_not_fit_its_seal(store: SqliteStore, path: Path) -> None:
    ours = await subscribed(store)
    due = occurrence(ours)
    await store.ledger.open_occurrences([due], ours, NOW + DAY)
    sealed = part(due, seal=hashlib.sha256(b"part 1").hexdigest())
    await store.ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), NOW, deliveries=[sealed])
    await damage(path, "update payloads set payload = x'70617274fe'")
    claimed = await taken(store, sealed)
    assert claimed.payload == "part�"
    assert claimed.seal == sealed.seal
    await damage(path, "delete from payloads")
    assert (await store.ledger.deliveries("T1"))[0].payload == ""
    assert await store.maintenance.check() == ["1 deliveries have lost what they say."]


async def test_what_waits_is_put_in_turns_without_being_read(store: SqliteStore, path: Path) -> None:
    asked: list[str] = []

    def plan() -> list[str]:
        db = connect(path)
        with db.tracer(lambda sql, _: asked.append(sql)):
            answer(SqliteLedger(Direct(db)).due_deliveries(NOW, limit=10, had={"T1": 3}))
        rows = db.execute(f"explain query plan {asked[-1]}", [micros(NOW), 10]).fetchall()
        db.close()
        return [detail for *_, detail in rows]

    assert any("USING COVERING INDEX deliveries_pending" in detail for detail in await asyncio.to_thread(plan))


async def payloads(path: Path) -> int:
    def count() -> int:
        db = connect(path)
        found: int = db.table("payloads").count
        db.close()
        return found

    return await asyncio.to_thread(count)


async def test_what_a_message_says_is_kept_until_it_is_settled_and_no_longer(store: SqliteStore, path: Path) -> None:
    ours = await subscribed(store)
    pending = [(await made(store, ours, slot=slot))[0] for slot in range(4)]
    unclear, posted, failed, _ = pending
    held = await taken(store, unclear)
    await store.ledger.record(replace(held, state=DeliveryState.AMBIGUOUS, lease_until=None))
    assert await payloads(path) == 4
    await store.ledger.record(done(await taken(store, posted)))
    await store.ledger.record(replace(await taken(store, failed), state=DeliveryState.FAILED, lease_until=None))
    assert await payloads(path) == 2
    assert await store.maintenance.check() == []
    await store.workspaces.delete_subscription(ours, change())
    assert await payloads(path) == 1
    assert {each.id for each in await store.ledger.deliveries("T1") if each.payload} == {unclear.id}
    assert await store.maintenance.check() == []


def eighth_edition(path: Path) -> None:
    """Write a database of when payloads stayed: one that shows one entry, one that shows two, one of another kind."""
    db = connect(path)
    migrations.apply(db, stop_before="m009_outbox")
    said = {
        "d1": '{"keys":[["arxiv:1","github:a/b"]]}',
        "d2": '{"keys":[["arxiv:1"],["arxiv:2"]]}',
        "d3": "Text",
        "d4": '{"keys":[["arxiv:4"]]}',
        "d5": "Text",
    }
    states = dict.fromkeys(("d1", "d2"), "done") | {"d3": "failed", "d4": "pending", "d5": "sending"}
    for slot, (name, payload) in enumerate(said.items()):
        one = replace(part(occurrence(FULL_SUBSCRIPTION, slot=slot)), id=name, state=DeliveryState(states[name]))
        place = [one.workspace, one.id, one.occurrence[0], "2026-04-01", slot, 1, one.channel, 1, one.state, 1]
        row = db.execute(
            "insert into deliveries (workspace, id, subscription, day, slot, part, channel, due, state, next_at, data)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [*place, delivery_to_text(one)],
        ).lastrowid
        late = b"\xffLate" if name == "d1" else b""
        db.execute("insert into payloads (number, payload) values (?, ?)", [row, payload.encode() + late])
    db.conn.commit()
    db.close()


async def test_of_what_was_settled_before_payloads_went_soon_only_what_it_shows_is_kept(path: Path) -> None:
    await asyncio.to_thread(eighth_edition, path)
    store = SqliteStore(path)
    await store.open()
    found = {each.id: (each.shows, each.payload) for each in await store.ledger.deliveries(FULL_SUBSCRIPTION.workspace)}
    settled = {"d1": (("arxiv:1", "github:a/b"), ""), "d2": ((), ""), "d3": ((), "")}
    assert found == settled | {"d4": (("arxiv:4",), '{"keys":[["arxiv:4"]]}'), "d5": ((), "Text")}
    assert await payloads(path) == 2
    assert await store.maintenance.check() == []
    await store.close()


async def test_a_damaged_row_of_the_eighth_edition_keeps_no_database_from_being_brought_up(path: Path) -> None:
    await asyncio.to_thread(eighth_edition, path)
    await damage(path, "update deliveries set data = 'torn' where id in ('d1', 'd4')")
    store = SqliteStore(path)
    await store.open()
    assert await store.maintenance.check() == ["2 deliveries cannot be read."]
    assert await payloads(path) == 2
    await store.close()


async def test_pruning_leaves_no_payload_behind(store: SqliteStore, path: Path) -> None:
    (only,) = await made(store, await subscribed(store))
    await store.ledger.record(replace(await taken(store, only), state=DeliveryState.FAILED))
    await store.maintenance.prune(items_before=NOW, readings_before=NOW.date(), now=NOW + 41 * DAY)

    def rows() -> list[int]:
        db: Database = connect(path)
        found = [db.table(name).count for name in ("occurrences", "deliveries", "payloads")]
        db.close()
        return found

    assert await asyncio.to_thread(rows) == [0, 0, 0]


@pytest.mark.parametrize("text", ["{", "[]", '{"since":null}', '{"since":"now"}', '{"since":"2026-06-01T00:00:00"}'])
async def test_a_digest_whose_record_is_damaged_is_dropped_and_what_it_looked_at_is_owed_all_the_same(
    store: SqliteStore, path: Path, text: str
) -> None:
    (gone,) = await printed(store, ours := await subscribed(store), parts=1)
    await damage(path, f"update digests set data = '{text}'")
    held = await taken(store, gone)
    assert await store.ledger.record(replace(held, state=DeliveryState.EXPIRED, reason="Too late."), unposted=True)
    assert await store.digests.last("T1", ours.channel, "kv") is None
    owed = await store.digests.unposted("T1", ours.channel, "kv")
    assert owed is not None
    assert owed.begins == Position(0, NOW)
