"""Backups that the service makes by itself."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.errors import StoreError
from bot.service.backups import Backups
from bot.store.sqlite.store import SqliteStore
from tests.stores.memory import MemoryStore

DAY = timedelta(days=1)


@pytest.fixture
async def store(tmp_path: Path) -> SqliteStore:
    store = SqliteStore(tmp_path / "b.sqlite3")
    await store.open()
    await store.facts.set("who", "we")
    return store


async def test_one_is_made_when_the_newest_is_old_enough(store: SqliteStore, tmp_path: Path, now: datetime) -> None:
    backups = Backups(tmp_path / "kept" / "here", DAY, keep=7)

    first = await backups.make_due(store.maintenance, now)
    assert first is not None
    assert first.name == "broadsheet-20260401T070000Z.sqlite3"
    assert await backups.make_due(store.maintenance, now + DAY - timedelta(seconds=1)) is None
    assert await backups.make_due(store.maintenance, now + DAY) is not None
    await store.close()

    copy = SqliteStore(first)
    await copy.open()
    assert await copy.facts.get("who") == "we"
    await copy.close()


async def test_what_another_kind_of_database_writes_is_named_for_it(
    store: SqliteStore, tmp_path: Path, now: datetime
) -> None:
    backups = Backups(tmp_path / "kept", DAY, keep=2, ending="dump")
    made = [await backups.make_due(store.maintenance, now + day * DAY) for day in range(3)]
    await store.close()

    assert [path.name for path in made if path] == [f"broadsheet-2026040{day}T070000Z.dump" for day in (1, 2, 3)]
    assert [path for _, path in await asyncio.to_thread(backups.made)] == made[1:]


async def test_the_newest_few_are_kept_and_nothing_else_is_touched(
    store: SqliteStore, tmp_path: Path, now: datetime
) -> None:
    backups = Backups(tmp_path / "kept", DAY, keep=2)
    (tmp_path / "kept").mkdir()
    others = ["mine.sqlite3", "broadsheet-20260101.sqlite3", "broadsheet-20261399T000000Z.sqlite3"]
    for name in others:
        (tmp_path / "kept" / name).write_text("a person's own")

    for day in range(4):
        await backups.make_due(store.maintenance, now + day * DAY)
    await store.close()

    made = sorted(path.name for path in (tmp_path / "kept").iterdir() if path.name not in others)
    assert made == ["broadsheet-20260403T070000Z.sqlite3", "broadsheet-20260404T070000Z.sqlite3"]
    assert {path.name for path in (tmp_path / "kept").iterdir()} > set(others)


async def test_one_from_a_clock_that_had_run_ahead_holds_no_other_up(
    store: SqliteStore, tmp_path: Path, now: datetime
) -> None:
    backups = Backups(tmp_path / "kept", DAY, keep=7)
    await backups.make_due(store.maintenance, now + 300 * DAY)

    assert await backups.make_due(store.maintenance, now) is not None
    await store.close()


async def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(tmp_path: Path, now: datetime) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="The folder for backups cannot be made"):
        await Backups(tmp_path / "file" / "kept", DAY, keep=7).make_due(MemoryStore().maintenance, now)


async def test_what_a_killed_service_left_of_a_backup_goes_with_the_next_look(
    store: SqliteStore, tmp_path: Path, now: datetime
) -> None:
    backups = Backups(tmp_path / "kept", DAY, keep=7)
    made = await backups.make_due(store.maintenance, now)
    (tmp_path / "kept" / ".broadsheet-20260401T060000Z.sqlite3.0f.partial").touch()
    assert await backups.make_due(store.maintenance, now) is None
    await store.close()
    assert list((tmp_path / "kept").iterdir()) == [made]
