"""What chat platforms keep on the disk: upgraded, copied away with the rest, and found without a search."""

import asyncio
from pathlib import Path

import pytest

from bot.models import Installation, OccurrenceState
from bot.store.records import delivery_to_text, micros, occurrence_to_text
from bot.store.sqlite.connections import connect
from bot.store.sqlite.migrations import migrations
from bot.store.sqlite.store import SqliteStore
from tests.conftest import NOW
from tests.contract.made import FULL_SUBSCRIPTION
from tests.contract.test_ledger import done, occurrence, part


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "broadsheet.db"


def third_edition(path: Path) -> None:
    """Write a database as the third schema has it: deliveries that were posted, that wait, and that cannot be read."""
    db = connect(path)
    migrations.apply(db, stop_before="m004_chats")
    due = occurrence(FULL_SUBSCRIPTION, state=OccurrenceState.MADE)
    first, second = part(due, 1, 4), part(due, 2, 4)
    texts = [delivery_to_text(done(first, "m-1")), delivery_to_text(second), "{", "[]"]
    db.execute(
        "insert into occurrences (workspace, subscription, day, slot, channel, due, state, data) values"
        " ('T1', 's-1', ?, 0, 'C1', ?, 'made', ?)",
        [due.day.isoformat(), micros(due.due), occurrence_to_text(due)],
    )
    for number, text in enumerate(texts, 1):
        row = [f"d{number}", due.day.isoformat(), number, micros(due.due), "done" if number == 1 else "pending", text]
        db.execute(
            "insert into deliveries (workspace, id, subscription, day, slot, part, channel, due, state, next_at, data)"
            " values ('T1', ?, 's-1', ?, 0, ?, 'C1', ?, ?, 0, ?)",
            row,
        )
        db.execute("insert into payloads (number, payload) values (?, x'')", [number])
    db.conn.commit()
    db.close()


async def test_messages_posted_by_the_third_edition_are_found_and_damaged_rows_stop_nothing(path: Path) -> None:
    await asyncio.to_thread(third_edition, path)
    store = SqliteStore(path)
    await store.open()
    found = await store.chats.delivery_posted("T1", "C1", "m-1")
    assert found is not None
    assert (found.part, found.message) == (1, "m-1")
    assert await store.chats.delivery_posted("T1", "C1", "") is None
    assert await store.maintenance.check() == ["1 deliveries cannot be read."]
    await store.close()


async def test_a_backup_holds_what_the_chats_keep(path: Path) -> None:
    store, copy = SqliteStore(path), SqliteStore(path.with_name("copy.db"))
    await store.open()
    installed = Installation(platform="slack", place="T1", sealed=b"\x01", made_by="U1", at=NOW)
    await store.chats.save_installation(installed)
    (key,) = await store.chats.keep_texts("slack:T1", ["digest status"], NOW)
    await store.chats.first_time("slack", "Ev1", NOW)
    await store.maintenance.backup(copy.path)
    await store.close()
    await copy.open()
    assert list(await copy.chats.installations("slack")) == [installed]
    assert await copy.chats.kept_text("slack:T1", key) == "digest status"
    assert not await copy.chats.first_time("slack", "Ev1", NOW)
    await copy.close()


async def test_a_message_is_found_by_an_index(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.close()

    def plan() -> str:
        db = connect(path)
        where = "workspace = ? and channel = ? and message = ? and message <> ''"
        rows = db.execute(f"explain query plan select data from deliveries where {where}", ["T1", "C1", "m"]).fetchall()
        db.close()
        return str(rows)

    assert "deliveries_message" in await asyncio.to_thread(plan)


async def test_what_is_met_at_once_by_many_is_met_for_the_first_time_once(path: Path) -> None:
    store, other = SqliteStore(path), SqliteStore(path)
    await store.open()
    await other.open()
    asked = [each.chats.first_time("slack", f"Ev{number % 5}", NOW) for number in range(20) for each in (store, other)]
    assert sum(await asyncio.gather(*asked)) == 5
    await store.close()
    await other.close()
