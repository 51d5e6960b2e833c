"""No database is opened with a log of another one, and none without its own."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bot.errors import StoreError
from bot.store.sqlite.recovery.wal import LogOwner, owner_of_log
from bot.store.sqlite.store import SqliteStore
from tests.bot.store.sqlite.recovery.kills import BACKED_UP, BACKUP, DATABASE, LATER, NOW, OLD, fill, forked, items
from tests.bot.store.sqlite.recovery.test_restore import kills, number_in
from tests.conftest import tries


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    kills(tmp_path / "staged")
    return tmp_path / "staged"


def copied(source: Path, target: Path) -> None:
    """As cp does: the same file, with another content."""
    shutil.copyfile(source, target)


def copied_with_times(source: Path, target: Path) -> None:
    """As cp -p does."""
    shutil.copy2(source, target)


def moved(source: Path, target: Path) -> None:
    """As mv does within a file system, and rsync."""
    shutil.copy2(source, source.with_name("moved"))
    source.with_name("moved").replace(target)


WAYS = [copied, copied_with_times, moved]
Way = Callable[[Path, Path], None]


def logs_aside(folder: Path, kind: str = "wal") -> list[Path]:
    return list(folder.glob(f"{DATABASE}-{kind}.before-*"))


@pytest.mark.parametrize("way", WAYS)
async def test_a_backup_put_over_the_database_of_a_killed_service_is_what_is_opened(
    staged: Path, way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    log = (staged / f"{DATABASE}-wal").read_bytes()
    way(staged / BACKUP, staged / DATABASE)
    assert await number_in(staged / DATABASE) == BACKED_UP
    (aside,) = logs_aside(staged)
    assert aside.read_bytes() == log
    assert f"which is now {aside}" in caplog.text
    assert await number_in(staged / DATABASE) == BACKED_UP


async def test_a_killed_service_keeps_what_is_in_its_log_however_often(staged: Path) -> None:
    for _ in range(3):
        kills(staged, "die")
        assert (staged / f"{DATABASE}-wal").stat().st_size
    assert await number_in(staged / DATABASE) == OLD + 3 * LATER
    assert logs_aside(staged) == []


@pytest.mark.parametrize("order", [("", "-wal"), ("-wal", "")])
@pytest.mark.parametrize("others", [(), (".turn", ".open", ".alive")])
@pytest.mark.parametrize("way", [copied, copied_with_times])
async def test_a_database_copied_with_its_log_holds_all_of_both(
    staged: Path, tmp_path: Path, order: tuple[str, ...], others: tuple[str, ...], way: Way
) -> None:
    (tmp_path / "there").mkdir()
    for ending in (*order, *others):
        way(staged / f"{DATABASE}{ending}", tmp_path / "there" / f"{DATABASE}{ending}")
    assert await number_in(tmp_path / "there" / DATABASE) == OLD
    assert logs_aside(tmp_path / "there") == []


@pytest.mark.parametrize(("keep", "number"), [(True, BACKED_UP + LATER), (False, BACKED_UP)])
@pytest.mark.parametrize("way", WAYS)
async def test_of_a_copy_made_by_hand_of_the_file_that_the_log_goes_on_from_a_person_decides(
    tmp_path: Path, way: Way, keep: bool, number: int
) -> None:
    await filled(tmp_path / DATABASE)
    shutil.copy2(tmp_path / DATABASE, tmp_path / "by hand")
    kills(tmp_path, "die")
    way(tmp_path / "by hand", tmp_path / DATABASE)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"db wal aside.*db wal keep"):
            await number_in(tmp_path / DATABASE)
    aside = await asyncio.to_thread(SqliteStore(tmp_path / DATABASE).maintenance.settle_log, keep=keep)
    assert (aside is None) == keep
    assert await number_in(tmp_path / DATABASE) == number


def copied_by_sqlite(source: Path, target: Path) -> None:
    """As `sqlite3 source ".backup target"` does."""
    with closing(sqlite3.connect(source)) as db, closing(sqlite3.connect(target)) as copy:
        db.backup(copy)


def vacuumed_into(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as db:
        db.execute("vacuum into ?", [str(target)])


def die_after_a_copy(folder: Path, copy: Way) -> None:
    """Fill a database, copy it by another program while it is written, and be killed with more in its log."""

    async def work() -> None:
        store = await fill(folder / DATABASE, items(BACKED_UP - 1, 1000))
        await store.close()
        store = await fill(folder / DATABASE, items(1, 2000))
        copy(folder / DATABASE, folder / "copy.db")
        await store.items.add(items(LATER), NOW)
        os.kill(os.getpid(), signal.SIGKILL)

    forked(lambda: asyncio.run(work()))


@pytest.mark.parametrize(("keep", "number"), [(True, BACKED_UP + LATER), (False, BACKED_UP)])
@pytest.mark.parametrize("way", WAYS)
async def test_of_a_copy_that_another_program_made_while_the_log_was_written_a_person_decides(
    tmp_path: Path, way: Way, keep: bool, number: int
) -> None:
    await asyncio.to_thread(die_after_a_copy, tmp_path, copied_by_sqlite)
    way(tmp_path / "copy.db", tmp_path / DATABASE)
    with pytest.raises(StoreError, match=r"db wal aside.*db wal keep"):
        await number_in(tmp_path / DATABASE)
    await asyncio.to_thread(SqliteStore(tmp_path / DATABASE).maintenance.settle_log, keep=keep)
    assert await number_in(tmp_path / DATABASE) == number


async def test_of_a_copy_put_back_after_several_kills_a_person_decides(tmp_path: Path) -> None:
    await filled(tmp_path / DATABASE)
    shutil.copy2(tmp_path / DATABASE, tmp_path / "by hand")
    for _ in range(3):
        kills(tmp_path, "die")  # each opening makes the log's index anew
    shutil.copyfile(tmp_path / "by hand", tmp_path / DATABASE)
    with pytest.raises(StoreError, match=r"db wal aside.*db wal keep"):
        await number_in(tmp_path / DATABASE)


async def test_who_is_killed_while_the_log_is_written_back_beside_a_reader_goes_on_by_itself(tmp_path: Path) -> None:
    path = tmp_path / DATABASE

    async def work() -> None:
        store = await fill(path, items(OLD))
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("begin")
        reader.execute("select count(*) from items").fetchone()
        await store.items.add(items(LATER, OLD), NOW)
        before = path.read_bytes()
        sqlite3.connect(path).execute("pragma wal_checkpoint(passive)")  # as far as the reader lets, and not noted
        assert path.read_bytes() != before
        os.kill(os.getpid(), signal.SIGKILL)

    await asyncio.to_thread(forked, lambda: asyncio.run(work()))
    assert await number_in(path) == OLD + LATER


@pytest.mark.parametrize("way", WAYS)
async def test_a_copy_that_was_vacuumed_into_another_file_is_never_mixed_with_the_log(tmp_path: Path, way: Way) -> None:
    await asyncio.to_thread(die_after_a_copy, tmp_path, vacuumed_into)
    way(tmp_path / "copy.db", tmp_path / DATABASE)
    assert await number_in(tmp_path / DATABASE) == BACKED_UP
    assert len(logs_aside(tmp_path)) == 1


async def test_a_copy_made_by_hand_before_the_log_was_last_written_back_is_opened_without_it(tmp_path: Path) -> None:
    await filled(tmp_path / DATABASE)
    shutil.copy2(tmp_path / DATABASE, tmp_path / "by hand")
    kills(tmp_path, "much")
    assert (tmp_path / DATABASE).stat().st_mtime_ns > (tmp_path / "by hand").stat().st_mtime_ns  # written back meanwhile
    kills(tmp_path, "much")
    shutil.copyfile(tmp_path / "by hand", tmp_path / DATABASE)
    assert await number_in(tmp_path / DATABASE) == BACKED_UP
    assert len(logs_aside(tmp_path)) == 1


@pytest.mark.parametrize("way", [None, *WAYS])
async def test_of_a_log_without_numbers_the_times_decide_or_a_person(tmp_path: Path, way: Way | None) -> None:
    plain = tmp_path / DATABASE
    shutil.copyfile(await without_numbers(tmp_path), plain)
    shutil.copy2(plain, tmp_path / "copy")
    assert await asyncio.to_thread(forked_insert, plain) == 1
    assert await asyncio.to_thread(owner_of_log, plain) is LogOwner.DATABASE
    if way is not None:
        way(tmp_path / "copy", plain)
        assert await asyncio.to_thread(owner_of_log, plain) is LogOwner.UNKNOWN


def test_a_log_of_another_size_of_pages_is_another_databases(tmp_path: Path) -> None:
    for name, size in (("a", 4096), ("b", 8192)):
        with closing(sqlite3.connect(tmp_path / name)) as db:
            db.execute(f"pragma page_size = {size}")
            db.execute("pragma journal_mode = wal")
            db.execute("create table t (a)")
            shutil.copyfile(tmp_path / f"{name}-wal", tmp_path / f"{name}.log")
    shutil.copyfile(tmp_path / "a.log", tmp_path / "b-wal")
    assert owner_of_log(tmp_path / "b") is LogOwner.ANOTHER


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 9000])
def test_what_is_no_log_belongs_to_nobody(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a-wal").write_bytes(content)
    assert owner_of_log(tmp_path / "a") is LogOwner.NOBODY


@pytest.mark.parametrize("way", [None, *WAYS])
async def test_a_rollback_journal_is_undone_by_the_next_start_and_only_in_its_own_database(
    staged: Path, way: Way | None
) -> None:
    """SQLite writes one for a moment when a restored copy is first opened; who then only reads could not undo it."""
    path = staged / DATABASE
    (staged / f"{DATABASE}-wal").unlink()
    shutil.copyfile(staged / BACKUP, path)
    code = (
        "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "db.execute('pragma synchronous = off'); db.execute('begin');"
        "db.execute('pragma application_id = 7'); os.kill(os.getpid(), 9)"
    )
    await asyncio.to_thread(lambda: subprocess.run([sys.executable, "-c", code, path], check=False))
    assert (staged / f"{DATABASE}-journal").stat().st_size
    if way is not None:
        store = await fill(staged / "other.db", items(OLD))
        await store.maintenance.backup(staged / "other")
        await store.close()
        way(staged / "other", path)
    assert await number_in(path) == (BACKED_UP if way is None else OLD)
    assert len(logs_aside(staged, "journal")) == (way is not None)


@pytest.mark.parametrize("seed", range(tries(24)))
def test_whatever_is_killed_copied_and_put_over_it_a_database_is_one_that_was(tmp_path: Path, seed: int) -> None:
    assert kills(tmp_path / "walk", f"walk:{seed}")


async def filled(path: Path) -> None:
    store = await fill(path, items(BACKED_UP))
    await store.close()


async def without_numbers(folder: Path) -> Path:
    """Make a database as versions did that numbered nothing."""
    await filled(folder / "plain")
    with closing(sqlite3.connect(folder / "plain")) as db:
        db.execute("pragma user_version = 0")
    return folder / "plain"


def forked_insert(path: Path) -> int:
    """Change the database in its log alone, in a process that is killed; return how many rows were changed."""
    code = (
        "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "print(db.execute('update items set stars = 7 where id = 1').rowcount, flush=True); os.kill(os.getpid(), 9)"
    )
    return int(subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=False).stdout)
