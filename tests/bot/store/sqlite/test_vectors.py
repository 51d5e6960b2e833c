"""Databases with no vectors yet, of an older edition, and with damaged ones."""

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bot.models import Near
from bot.models.vectors import unpack
from bot.ports.vectors import Embedded
from bot.query import parse
from bot.store.sqlite.connections import connect
from bot.store.sqlite.store import SqliteStore
from bot.store.sqlite.vectors import is_known, last_change, prune
from tests.conftest import NOW
from tests.contract.made import digest, paper
from tests.contract.test_vectors import SPACE, UNSOUND, keep, lacking, vector

LATER = (
    "m005_unposted",
    "m006_vectors",
    "m007_releases",
    "m008_arrivals",
    "m010_layouts",
    "m011_rhythms",
    "m012_followed",
    "m013_at_once",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "broadsheet.db"


SUBSCRIPTIONS = """
create table subscriptions (
    workspace text not null, channel text not null, topic text not null, id text not null, revision integer not null,
    data text not null, next_due integer, wakes integer not null default 0, primary key (workspace, channel, topic)
) without rowid;
create unique index subscriptions_id on subscriptions (workspace, id);
create index subscriptions_topic on subscriptions (workspace, topic);
create index subscriptions_next on subscriptions (next_due, workspace, id, wakes)
"""


def made_older(path: Path) -> None:
    """Take from a database what the fourth schema did not have."""
    db = connect(path)
    for table in ("unposted", "vectors", "gone_vectors", "vector_spaces"):
        db.execute(f"drop table {table}")
    db.execute("drop index digests_place")
    for column in ("after", "through", "rhythm", "subscription"):
        db.execute(f"alter table digests drop column {column}")
    db.execute("create index digests_place on digests (workspace, channel, topic, until)")
    db.execute("drop table subscriptions")
    for statement in SUBSCRIPTIONS.split(";"):
        db.execute(statement)
    db.execute(f"delete from _sqlite_migrations where name in {LATER}")
    db.conn.commit()
    db.close()


async def test_items_of_the_fourth_edition_are_kept_and_wait_for_their_vectors(path: Path) -> None:
    older = SqliteStore(path)
    await older.open()
    items = [paper(1), paper(2)]
    await older.items.add(items, NOW)
    await older.digests.save("T1", "C1", digest(0.5), NOW)
    await older.close()
    await asyncio.to_thread(made_older, path)

    store = SqliteStore(path)
    await store.open()
    assert await store.maintenance.check() == []
    assert await store.vectors.embedded(SPACE) == Embedded(whole=0, quick=0, lacking=2)
    assert await store.digests.unposted("T1", "C1", "kv") is None
    assert await keep(store, items) == 2
    assert await lacking(store) == []
    await store.items.add([paper(1, title="Another")], NOW)
    assert await lacking(store) == [items[0].key]
    await store.close()


def damaged(path: Path, vector: bytes | str) -> None:
    """Put these bytes in the place of the oldest item's vector."""
    db = connect(path)
    db.execute("update vectors set vector = ? where item = (select min(item) from vectors)", [vector])
    db.conn.commit()
    db.close()


@pytest.mark.parametrize("wrong", [b"", b"\1", vector(1, 2)[:-1], vector(1, 2, 3), "1", "abcdef", *UNSOUND])
async def test_a_damaged_vector_is_as_none_until_a_pruning_takes_it_and_its_item_waits_for_another(
    path: Path, wrong: bytes | str
) -> None:
    store = SqliteStore(path)
    await store.open()
    items = [paper(1), paper(2), paper(3)]
    await store.items.add(items, NOW)
    await keep(store, items)
    await asyncio.to_thread(damaged, path, wrong)
    found = await store.vectors.find(SPACE, [item.key for item in items])
    assert len(found) == 2
    assert {len(packed) for packed in found.values()} == {len(vector(1, 2))}
    assert unpack(list(found.values())).shape == (2, 2)
    near = Near(SPACE, vector(1, 2), 0.0)
    page = await store.index.search(parse("nothing"), NOW, limit=9, near=near)
    assert {hit.item.key for hit in page.hits} == found.keys()
    assert await lacking(store) == []
    await store.maintenance.prune(items_before=NOW - timedelta(days=9999), readings_before=NOW.date(), now=NOW)
    assert await lacking(store) == [items[0].key]
    assert await keep(store, items[:1]) == 1
    assert len(await store.vectors.find(SPACE, [item.key for item in items])) == 3
    await store.close()


async def test_a_database_of_before_goes_on_from_the_number_that_its_vectors_had(path: Path) -> None:
    older = SqliteStore(path)
    await older.open()
    await older.items.add([paper(1), paper(2)], NOW)
    await keep(older, [paper(1)])
    await older.close()

    def make_older() -> None:
        db = connect(path)
        db.execute("drop table vector_changes")
        db.execute("update vectors set change = 41")
        db.execute("insert into facts (name, value) values ('vector changes', '41'), ('vector changes known since', '7')")
        db.execute("delete from _sqlite_migrations where name = 'm023_vector_changes'")
        db.conn.commit()
        db.close()

    await asyncio.to_thread(make_older)
    store = SqliteStore(path)
    await store.open()
    assert await store.vectors.mark(SPACE) == "41"
    assert await keep(store, [paper(2)]) == 1
    assert int(await store.vectors.mark(SPACE)) > 41
    page = await store.index.search(parse("nothing"), NOW, limit=9, near=Near(SPACE, vector(1, 2), 0.0))
    assert {hit.item.key for hit in page.hits} == {paper(1).key, paper(2).key}
    await store.close()


async def test_who_followed_vectors_that_a_restore_undid_sees_that_the_database_does_not_know_them(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.items.add([paper(1), paper(2)], NOW)
    await keep(store, [paper(1)])
    known = int(await store.vectors.mark(SPACE))
    await store.maintenance.backup(path.with_name("b.db"))
    await keep(store, [paper(2)])
    undone = int(await store.vectors.mark(SPACE))
    await store.close()
    await asyncio.to_thread(store.maintenance.restore, path.with_name("b.db"), NOW)
    await store.open()
    await keep(store, [paper(1)])
    await keep(store, [paper(2)])
    assert await store.connections.read(lambda db: (is_known(db, known), is_known(db, undone))) == (True, False)
    await store.close()


async def test_a_copy_goes_on_over_a_pruning_and_is_made_anew_where_too_much_was_forgotten(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    items = [paper(number) for number in range(1, 6)]
    await store.items.add(items, NOW)
    await keep(store, items)

    async def found() -> set[str]:
        page = await store.index.search(parse("nothing"), NOW, limit=9, near=Near(SPACE, vector(1, 2), 0.0))
        return {hit.item.key for hit in page.hits}

    assert await found() == {item.key for item in items}
    for kept in (9, 1, 0):
        await store.items.add([], NOW, retired=[items.pop().key])
        begun = await store.connections.read(last_change)
        await store.connections.write(partial(prune, kept=kept))
        assert await store.connections.read(partial(is_known, change=begun))
        assert await found() == {item.key for item in items}
    await store.items.add([], NOW, retired=[items.pop().key])
    await store.items.add([paper(9)], NOW)
    await keep(store, [paper(9)])
    await store.connections.write(lambda db: prune(db, 0))
    assert await found() == {item.key for item in items} | {paper(9).key}
    counted = "select count(*) from gone_vectors"
    assert await store.connections.read(lambda db: db.execute(counted).fetchone()) == (0,)
    await store.close()


async def test_rows_of_a_store_without_any_change_are_as_those_of_a_new_file(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    numbers = await store.items.last_change(), await store.vectors.last_change(SPACE)
    await store.close()

    def forget() -> None:
        db = connect(path)
        for table in ("item_changes", "vector_changes"):
            db.execute(f"delete from {table}")
        db.conn.commit()
        db.close()

    await asyncio.to_thread(forget)
    await store.open()
    assert (await store.items.last_change(), await store.vectors.last_change(SPACE)) == numbers
    assert await store.items.changes(numbers[0], limit=9) == []
    assert await store.vectors.changed(SPACE, numbers[1], limit=9) == []
    await store.items.add([paper(1)], NOW)
    await keep(store, [paper(1)])
    assert await store.items.last_change() > numbers[0]
    assert await store.vectors.last_change(SPACE) > numbers[1]
    await store.close()
