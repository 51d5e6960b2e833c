"""Backups and their return."""

import asyncio
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlite_utils import Database

from bot.errors import StoreError
from bot.models import And, Item, Kind, Term
from bot.store.sqlite.ingest import forget_changes
from bot.store.sqlite.items import counts
from bot.store.sqlite.store import SqliteStore
from tests.bot.store.sqlite.test_store import content_of, many, put

NOW = datetime(2026, 4, 1, 7, tzinfo=UTC)
EVERYTHING = And(())


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def filled(path: Path, number: int) -> SqliteStore:
    store = SqliteStore(path)
    await store.open()
    await store.items.add(many(number), NOW)
    return store


async def number_in(path: Path) -> int:
    store = SqliteStore(path)
    await store.open()
    assert await store.maintenance.check() == []
    number = await store.index.count(EVERYTHING, NOW)
    assert await store.index.count(Term("caches"), NOW) == number
    await store.close()
    return number


async def test_a_backup_made_while_others_write_holds_whole_batches_and_opens(tmp_path: Path) -> None:
    store = await filled(tmp_path / "a.db", 500)
    writing = asyncio.gather(*(store.items.add(many(50, 500 + 50 * at), NOW) for at in range(8)))
    copies = [tmp_path / f"backup-{at}.db" for at in range(3)]
    for copy in copies:
        await store.maintenance.backup(copy)
    await writing
    await store.close()
    for copy in copies:
        assert await number_in(copy) in range(500, 901, 50)


async def test_a_backup_that_cannot_be_written_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    store = await filled(tmp_path / "a.db", 5)
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    for target in (folder / "sub", folder / "missing" / "b.db"):
        with pytest.raises(StoreError, match="cannot be"):
            await store.maintenance.backup(target)
    assert names_in(folder) == ["sub"]
    assert await store.index.count(EVERYTHING, NOW) == 5
    await store.close()


async def test_a_restored_backup_takes_the_place_of_the_database_which_is_kept_aside(tmp_path: Path) -> None:
    target, copy = tmp_path / "a.db", tmp_path / "b.db"
    store = await filled(target, 5)
    await store.maintenance.backup(copy)
    await store.items.add(many(4, 5), NOW)
    await store.close()
    aside = await asyncio.to_thread(SqliteStore(target).maintenance.restore, copy, NOW)
    assert aside == tmp_path / "a.db.before-20260401T070000"
    assert await number_in(target) == 5
    assert await number_in(aside) == 9
    assert await number_in(copy) == 5


async def test_nothing_is_restored_while_a_visitor_has_the_database_open(tmp_path: Path) -> None:
    target, copy = tmp_path / "a.db", tmp_path / "b.db"
    store = await filled(target, 5)
    await store.maintenance.backup(copy)
    await store.items.add([Item(key="arxiv:last", kind=Kind.PAPER, title="caches", seen=NOW)], NOW)
    with pytest.raises(StoreError, match=r"has .* open; end it first"):
        await asyncio.to_thread(SqliteStore(target).maintenance.restore, copy, NOW)
    await store.close()
    aside = await asyncio.to_thread(SqliteStore(target).maintenance.restore, copy, NOW)
    assert aside is not None
    assert await number_in(aside) == 6
    assert await number_in(target) == 5


async def test_who_followed_what_a_restore_undid_is_told_to_begin_anew(tmp_path: Path) -> None:
    store = await filled(tmp_path / "a.db", 5)
    known = await store.items.last_change()
    await store.maintenance.backup(tmp_path / "b.db")
    await store.items.add(many(3, 5), NOW)
    undone = await store.items.last_change()
    await store.close()
    await asyncio.to_thread(store.maintenance.restore, tmp_path / "b.db", NOW)
    await store.open()
    await store.items.add(many(3, 8), NOW)
    assert await store.items.changes(undone, limit=9) is None
    changes = await store.items.changes(known, limit=9)
    assert changes is not None
    assert [item for *_, item in changes] == [replace(item, seen=NOW) for item in many(3, 8)]
    await store.close()


async def test_the_last_changes_are_kept_and_who_is_further_behind_is_told_to_begin_anew(tmp_path: Path) -> None:
    store = await filled(tmp_path / "a.db", 1)
    begin = await store.items.last_change()
    await store.items.add(many(5, 1), NOW)
    changes = await store.items.changes(begin, limit=9)
    assert changes is not None
    await store.connections.write(lambda db: forget_changes(db, 3))
    assert await store.items.changes(begin, limit=9) is None
    assert await store.items.changes(changes[1].number, limit=9) == changes[2:]
    await store.connections.write(lambda db: forget_changes(db, 0))
    assert await store.items.last_change() == changes[-1].number
    await store.close()


async def test_a_backup_can_be_restored_where_there_was_no_database(tmp_path: Path) -> None:
    store = await filled(tmp_path / "a.db", 5)
    await store.maintenance.backup(tmp_path / "b.db")
    await store.close()
    assert await asyncio.to_thread(SqliteStore(tmp_path / "new.db").maintenance.restore, tmp_path / "b.db", NOW) is None
    assert await number_in(tmp_path / "new.db") == 5


async def test_nothing_is_restored_while_a_service_runs(tmp_path: Path) -> None:
    store = await filled(tmp_path / "a.db", 5)
    await store.maintenance.backup(tmp_path / "b.db")
    await store.close()
    service = SqliteStore(tmp_path / "a.db", exclusive=True)
    await service.open()
    with pytest.raises(StoreError, match="running service"):
        await asyncio.to_thread(SqliteStore(tmp_path / "a.db").maintenance.restore, tmp_path / "b.db", NOW)
    await service.close()


async def test_a_backup_that_is_not_sound_is_refused_and_the_database_stays(tmp_path: Path) -> None:
    target, copy = tmp_path / "a.db", tmp_path / "b.db"
    store = await filled(target, 900)
    await store.maintenance.backup(copy)
    await store.close()
    damaged = bytearray(content_of(copy))
    for at in range(30 * 4096, len(damaged) - 4096, 4 * 4096):
        damaged[at : at + 1000] = b"\xff" * 1000
    for content in (bytes(damaged), b"no database " * 500, b""):
        put(copy, content)
        with pytest.raises(StoreError):
            await asyncio.to_thread(SqliteStore(target).maintenance.restore, copy, NOW)
    with pytest.raises(StoreError):
        await asyncio.to_thread(SqliteStore(target).maintenance.restore, tmp_path / "missing.db", NOW)
    assert await number_in(target) == 900
    assert not [name for name in names_in(tmp_path) if "partial" in name]


async def test_a_database_of_another_program_is_no_backup(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as plain:
        plain.execute("create table items (id integer)")
    plain.close()
    with pytest.raises(StoreError, match="another program"):
        await asyncio.to_thread(SqliteStore(tmp_path / "a.db").maintenance.restore, tmp_path / "other.db", NOW)


async def test_counting_reads_no_paper(tmp_path: Path) -> None:
    store = await filled(tmp_path / "a.db", 10)
    effort = []
    for more in (0, 2000):
        await store.items.add([*many(more, 10), Item(key="github:a/b", kind=Kind.REPO, title="a/b")], NOW)
        counted: list[None] = []

        def count(db: Database, steps: list[None] = counted) -> Mapping[str, int]:
            db.conn.set_progress_handler(lambda: steps.append(None), 1)
            found = counts(db)
            db.conn.set_progress_handler(None, 0)
            return found

        assert await store.connections.write(count) == {"items": 11 + more, "papers": 10 + more, "repos": 1, "posts": 0}
        effort.append(len(counted))
    assert effort[0] == effort[1] > 0
    await store.close()


async def test_vacuum_gives_back_what_pruning_freed(tmp_path: Path) -> None:
    store = await filled(tmp_path / "a.db", 2000)
    size = (await store.maintenance.statistics())["bytes"]
    assert await store.maintenance.prune(items_before=NOW.replace(year=2027), readings_before=NOW.date(), now=NOW) == {
        "items": 2000,
        "readings": 0,
    }
    saved = await store.maintenance.vacuum()
    assert (await store.maintenance.statistics())["bytes"] < size / 4
    assert saved > size / 2
    assert await store.maintenance.check() == []
    await store.close()
