"""What is owed, on the disk: carried over from before, damaged, and how much of it is looked at."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from bot.errors import Reach
from bot.models import Notice, Presses, Refusal
from bot.store.sqlite.connections import connect
from bot.store.sqlite.migrations import migrations
from bot.store.sqlite.outbox import SqliteOutbox
from bot.store.sqlite.store import SqliteStore
from tests.conftest import NOW
from tests.contract.test_standing_messages import says, stand, to_edit
from tests.stores.direct import Direct, answer

OLD = {
    "notices": [
        {
            "workspace": "T1",
            "person": "U1",
            "text": "Pausiert: für \ud83d.",
            "since": "2026-04-01T07:00:00+00:00",
            "channel": "",
        },
        {"workspace": "T1", "person": "", "text": "Look.", "since": "2026-04-01T07:00:00.000005+00:00", "channel": "C9"},
        {"workspace": "T1", "person": "", "text": "Nobody.", "since": "2026-04-01T07:00:00+00:00", "channel": ""},
    ],
    "refusals": [{"workspace": "T2", "channel": "C1", "reach": "workspace", "reason": "Revoked.", "topic": ""}],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "b.db"


def eighth_edition(path: Path, owed: str) -> None:
    """Write a database as it was when all that was owed stood in one fact."""
    db = connect(path)
    migrations.apply(db, stop_before="m009_outbox")
    db.execute("insert into facts (name, value) values ('owed', ?)", [owed])
    db.conn.commit()
    db.close()


async def test_what_was_owed_before_there_were_rows_for_it_is_still_owed_and_ends_as_the_rest(path: Path) -> None:
    await asyncio.to_thread(eighth_edition, path, json.dumps(OLD))
    store = SqliteStore(path)
    await store.open()
    found = (await store.outbox.notices())["T1"]
    assert [(each.recipient, each.text) for each in found] == [("C9", "Look."), ("U1", "Pausiert: für \ud83d.")]
    assert found[1].since == NOW
    for each in found:
        await store.outbox.remove_notice(each)
    (refusal,) = await store.outbox.refusals()
    assert refusal == Refusal("T2", "C1", Reach.WORKSPACE, "Revoked.")
    await store.outbox.replace_refusal(refusal, [])
    assert (await store.outbox.notices(), list(await store.outbox.refusals())) == ({}, [])
    assert await store.facts.get("owed") == ""
    await store.close()


@pytest.mark.parametrize("damaged", ["{", "[]", '{"notices": [{"person": 1}], "refusals": []}', '{"notices": 5}', "null"])
async def test_a_fact_that_is_damaged_keeps_no_database_from_being_opened(path: Path, damaged: str) -> None:
    await asyncio.to_thread(eighth_edition, path, damaged)
    store = SqliteStore(path)
    await store.open()
    assert (await store.outbox.notices(), list(await store.outbox.refusals())) == ({}, [])
    await store.close()


@pytest.mark.parametrize("text", ["{", "[]", '{"person": 3}'])
async def test_a_damaged_row_holds_up_nobody_and_is_counted(path: Path, text: str) -> None:
    store = SqliteStore(path)
    await store.open()
    good = [Notice("T1", "U1", "Second.", NOW), Notice("T1", "U2", "Other.", NOW)]
    refused = Refusal("T1", "C2", Reach.CHANNEL, "Archived.")
    await store.outbox.add_notices([Notice("T1", "U1", "First.", NOW), *good])
    await store.outbox.add_refusal(Refusal("T1", "C1", Reach.CHANNEL, "Archived."))
    await store.outbox.add_refusal(refused)

    def damage() -> None:
        db = connect(path)
        for table in ("notices", "refusals"):
            db.execute(f"update {table} set data = '{text}' where number = 1")
        db.close()

    await asyncio.to_thread(damage)
    assert list((await store.outbox.notices())["T1"]) == good
    assert list(await store.outbox.refusals()) == [refused]
    await store.outbox.remove_notice(good[0])
    await store.outbox.replace_refusal(refused, [])
    assert (await store.outbox.notices(), list(await store.outbox.refusals())) == ({"T1": good[1:]}, [])
    if text == "{":
        assert {"1 notices cannot be read.", "1 refusals cannot be read."} <= set(await store.maintenance.check())
    await store.close()


@pytest.mark.parametrize("column", ["keys", "data"])
@pytest.mark.parametrize("text", ["{", "[]", "5", "null", ""])
async def test_a_damaged_message_keeps_no_other_from_being_edited_and_is_counted(path: Path, column: str, text: str) -> None:
    store = SqliteStore(path)
    await store.open()
    for number in (1, 2):
        await stand(store, number)
        await says(store, channel=f"C{number}", person=f"U{number}")
    hurt, whole = await to_edit(store)
    assert await store.outbox.update_message(replace(hurt, shown=Presses(more=7)), replaces=hurt)

    def damage() -> None:
        db = connect(path)
        db.execute(f"update standing set {column} = ? where id = ?", [text, hurt.delivery.id])
        db.close()

    await asyncio.to_thread(damage)
    assert [each.delivery.id for each in await to_edit(store) if each.keys] == [whole.delivery.id]
    counted = "1 messages that may be edited cannot be read." in await store.maintenance.check()
    assert counted is (text in ("{", ""))
    await store.close()


_MANY = """
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < {count})
insert into notices (workspace, recipient, data) select 'T' || (n % 3), {recipient}, {data} from numbers
"""
_DATA = "json_object('person', 'U', 'text', 'n' || n, 'since', '2026-04-01T07:00:00+00:00', 'channel', '')"


@pytest.mark.parametrize("recipient", ["'U' || n", "'U'"], ids=["of many", "all of one"])
async def test_of_thousands_of_notices_only_the_next_are_looked_at(path: Path, recipient: str) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.close()

    def steps(db: Database) -> int:
        counted: list[None] = []
        db.conn.set_progress_handler(lambda: counted.append(None), 10)
        assert answer(SqliteOutbox(Direct(db)).notices({"T1": "U5"}, limit=10))
        db.conn.set_progress_handler(None, 0)
        return len(counted)

    def count() -> list[int]:
        db, found = connect(path), list[int]()
        for more in (100, 20_000):
            db.execute("delete from notices")
            db.conn.execute(_MANY.format(count=more, recipient=recipient, data=_DATA))
            db.conn.commit()
            found.append(steps(db))
        db.close()
        return found

    few, many = await asyncio.to_thread(count)
    assert many <= 1.2 * few + 5


async def test_what_is_to_be_published_is_found_without_a_look_at_what_was_posted_besides(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.close()
    asked: list[str] = []

    def plan() -> list[str]:
        db = connect(path)
        with db.tracer(lambda sql, _: asked.append(sql)):
            answer(SqliteOutbox(Direct(db)).publications(NOW))
        rows = db.execute(f"explain query plan {asked[-1]}", [0, 0, 50]).fetchall()
        db.close()
        return [detail for *_, detail in rows]

    assert not any(detail.startswith("SCAN deliveries") for detail in await asyncio.to_thread(plan))
