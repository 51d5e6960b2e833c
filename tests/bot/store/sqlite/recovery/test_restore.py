"""A restore that is killed anywhere, and what the next one finds."""

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.errors import StoreError
from bot.store.sqlite.store import SqliteStore
from tests.bot.store.sqlite.recovery.kills import BACKED_UP, BACKUP, DATABASE, NOW, OLD, ROOT
from tests.conftest import stride


def kills(*arguments: object) -> list[Path]:
    command = [sys.executable, "-m", "tests.bot.store.sqlite.recovery.kills", *map(str, arguments)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return [Path(line) for line in ran.stdout.splitlines()]


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("restore") / "staged"
    kills(folder)
    return folder


async def number_in(path: Path) -> int:
    """Open as the next start does; return how many items there are, with all that belongs to them."""
    store = SqliteStore(path, exclusive=True)
    await store.open()
    try:
        assert await store.maintenance.check() == []
        return (await store.items.counts())["items"]
    finally:
        await store.close()


def partials(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*partial*"))


def put_aside(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(f"{DATABASE}.before-*") if not path.name.endswith(("-wal", "-shm")))


def held_by(path: Path) -> int:
    """Return how many items a database has, read as SQLite reads it: with the log beside it, from a copy of both."""
    copy = path.with_name(f"look-{path.name}")
    for ending in ("", "-wal"):
        if path.with_name(path.name + ending).exists():
            shutil.copyfile(path.with_name(path.name + ending), copy.with_name(copy.name + ending))
    with closing(sqlite3.connect(copy)) as db:
        number = db.execute("select count(*) from items").fetchone()[0]
    for each in copy.parent.glob(f"{copy.name}*"):
        each.unlink()
    return int(number)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MiB, where this process may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


async def restored_again(folder: Path) -> None:
    """Restore after whatever happened: what is said is true, and the database from before is somewhere."""
    aside = await asyncio.to_thread(SqliteStore(folder / DATABASE).maintenance.restore, folder / BACKUP, NOW)
    assert aside is not None
    assert await number_in(folder / DATABASE) == BACKED_UP
    assert OLD in await asyncio.to_thread(lambda: [held_by(each) for each in put_aside(folder)])
    assert partials(folder) == []


async def test_a_restore_killed_before_any_change_leaves_the_old_database_or_the_backup_to_the_next_start(
    staged: Path,
) -> None:
    left = await asyncio.to_thread(kills, staged, "restore")
    assert len(left) > 20
    found = []
    for folder in left:
        found.append(await number_in(folder / DATABASE))
        assert partials(folder) == [], folder
    assert set(found) == {OLD, BACKED_UP}
    assert found == sorted(found, reverse=True)  # once it is the backup, it stays so
    for folder in left:
        await restored_again(folder)


async def test_a_restore_killed_before_any_change_can_be_run_again_and_says_what_is_true(
    staged: Path, tmp_path: Path
) -> None:
    await asyncio.to_thread(shutil.copytree, staged, tmp_path / "staged")
    left = await asyncio.to_thread(kills, tmp_path / "staged", "restore")
    for folder in left:
        await restored_again(folder)


async def test_a_start_that_is_killed_while_it_ends_a_killed_restore_is_ended_by_the_next(
    staged: Path, tmp_path: Path
) -> None:
    await asyncio.to_thread(shutil.copytree, staged, tmp_path / "staged")
    left = await asyncio.to_thread(kills, tmp_path / "staged", "restore")
    decided = [folder for folder in left if (folder / f"{DATABASE}.restoring").exists()]
    assert len(decided) >= 4
    for folder in decided[:: -stride()]:
        for again in await asyncio.to_thread(kills, folder, "start"):
            assert await number_in(again / DATABASE) == BACKED_UP
            assert OLD in await asyncio.to_thread(lambda aside: [held_by(each) for each in aside], put_aside(again))
            assert (partials(again), list(again.glob("*.restoring"))) == ([], [])


async def test_a_start_killed_before_any_change_leaves_what_there_was(staged: Path) -> None:
    for folder in await asyncio.to_thread(kills, staged, "start"):
        assert await number_in(folder / DATABASE) == OLD
        assert partials(folder) == []


@pytest.mark.parametrize("trace", ["alive", "before-20260401T070000", "restoring"])
async def test_no_empty_database_is_made_where_something_tells_of_one(tmp_path: Path, trace: str) -> None:
    path = tmp_path / DATABASE
    (tmp_path / f"{DATABASE}.{trace}").write_text("x")
    with pytest.raises(StoreError, match=rf"{trace}.*broadsheet db restore"):
        await number_in(path)
    assert not path.exists()
    (tmp_path / f"{DATABASE}.{trace}").unlink()
    assert await number_in(path) == 0


async def test_of_two_disks_the_one_that_is_full_is_named_and_the_database_is_left_as_it_was(
    staged: Path, small_disk: Path
) -> None:
    await asyncio.to_thread(shutil.copyfile, staged / BACKUP, small_disk / DATABASE)
    (small_disk / "other").write_bytes(bytes(1_650_000))
    with pytest.raises(StoreError, match=rf"The disk with {small_disk} is full"):
        await asyncio.to_thread(SqliteStore(small_disk / DATABASE).maintenance.restore, staged / BACKUP, NOW)
    (small_disk / "other").unlink()
    assert await number_in(small_disk / DATABASE) == BACKED_UP
    assert (partials(small_disk), put_aside(small_disk)) == ([], [])
