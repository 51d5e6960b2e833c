"""Files that hold what people save and follow, and tokens: nobody but their owner may read them."""

import asyncio
import contextlib
import logging
import os
import sqlite3
import stat
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.atomic_file import drop_partials, in_place, write_whole
from bot.errors import StoreError
from bot.private_files import Exposed, exposed, files_of, tighten
from bot.service.backups import Backups
from bot.service.heartbeat_file import write_alive
from bot.store.sqlite.connections import connect
from bot.store.sqlite.locks import turn_lock
from bot.store.sqlite.store import SqliteStore

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):04o}"


def modes(folder: Path) -> dict[str, str]:
    return {path.name: mode(path) for path in folder.iterdir()}


async def test_every_file_of_a_database_is_its_owners_alone_and_so_is_its_folder(tmp_path: Path, now: datetime) -> None:
    path = tmp_path / "data" / "b.sqlite3"
    store = SqliteStore(path, exclusive=True)
    await store.open()
    await store.facts.set("who", "we")
    await asyncio.to_thread(write_alive, path, now)

    assert mode(path.parent) == "0700"
    assert modes(path.parent) == dict.fromkeys(
        [f"b.sqlite3{ending}" for ending in ("", "-wal", "-shm", ".lock", ".turn", ".open", ".alive")], "0600"
    )
    await store.close()


def test_a_database_and_what_is_written_beside_another_file_are_private_before_anything_stands_in_them(
    tmp_path: Path,
) -> None:
    connect(tmp_path / "b.sqlite3").close()
    assert modes(tmp_path) == {"b.sqlite3": "0600"}

    with in_place(tmp_path / "copy") as partial:
        assert (mode(partial), partial.read_bytes()) == ("0600", b"")


def test_what_a_killed_process_left_under_the_name_of_a_partial_file_is_not_written_into(tmp_path: Path) -> None:
    left = tmp_path / ".copy.1.partial"
    left.symlink_to(tmp_path / "elsewhere")
    write_whole(tmp_path / "copy", "text")
    drop_partials(tmp_path, "copy")

    assert sorted(path.name for path in tmp_path.iterdir()) == [".copy.1.partial", "copy"]
    assert mode(tmp_path / "copy") == "0600"


def test_a_database_that_a_link_names_is_private_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real.sqlite3")
    connect(tmp_path / "link").close()
    assert mode(tmp_path / "real.sqlite3") == "0600"


async def test_backups_are_private_and_those_of_an_earlier_version_become_so(
    tmp_path: Path, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    store = SqliteStore(tmp_path / "b.sqlite3")
    await store.open()
    backups = Backups(tmp_path / "kept", DAY, keep=7)
    first = await backups.make_due(store.maintenance, now)
    assert first is not None
    first.chmod(0o644)
    (tmp_path / "kept" / "mine").touch(0o644)
    caplog.clear()
    second = await backups.make_due(store.maintenance, now + DAY)
    await store.maintenance.backup(tmp_path / "by-hand.sqlite3")
    await store.close()

    assert second is not None
    assert (mode(first), mode(second), mode(tmp_path / "by-hand.sqlite3")) == ("0600", "0600", "0600")
    assert mode(tmp_path / "kept" / "mine") == "0644"  # a person's own
    assert "others could read" in caplog.text


async def test_files_of_an_earlier_version_become_private_when_the_database_is_opened_with_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "b.sqlite3"
    store = SqliteStore(path)
    await store.open()
    ours = ["b.sqlite3", "b.sqlite3.turn", "b.sqlite3.alive", "b.sqlite3.before-20260401T070000", "b.sqlite3-wal"]
    others = ["b.sqlite30", "a.sqlite3", "b.sqlite"]
    await store.close()
    for name in (*ours, *others):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o664)
    with caplog.at_level(logging.WARNING):
        await store.open()
    found = modes(tmp_path)
    [line] = [each.getMessage() for each in caplog.records if each.name == "bot.private_files"]
    caplog.clear()
    await store.close()
    await store.open()
    await store.close()

    assert {name: found.get(name, "0600") for name in ours} == dict.fromkeys(ours, "0600")
    assert {found[name] for name in others} == {"0664"}
    assert "others could read" in line
    assert str(path) in line
    assert "others could read" not in caplog.text


def test_nobody_who_only_may_read_the_folder_can_take_a_turn_of_a_writer(tmp_path: Path) -> None:
    lock = turn_lock(tmp_path / "b.sqlite3")
    assert lock.take()
    lock.close()
    assert modes(tmp_path) == {"b.sqlite3.turn": "0600"}  # flock needs no more than that the file may be opened


def test_where_modes_cannot_be_changed_nothing_fails_and_nothing_is_claimed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tighten([tmp_path / "missing", Path("/proc/self/status"), Path("/dev/null/x")])
    assert caplog.text == ""


def test_who_writes_a_page_for_others_says_so(tmp_path: Path) -> None:
    write_whole(tmp_path / "page.html", "text", mode=0o666)
    assert mode(tmp_path / "page.html") == "0644"


def test_the_files_of_a_database_are_those_named_after_it(tmp_path: Path) -> None:
    for name in ("b", "b-wal", "b.turn", "bc", "a"):
        (tmp_path / name).touch()
    (tmp_path / "b.folder").mkdir()
    (tmp_path / "b.link").symlink_to(tmp_path / "a")
    assert [path.name for path in files_of(tmp_path / "b")] == ["b", "b-wal", "b.turn"]
    assert files_of(tmp_path / "missing" / "b") == []


@pytest.mark.parametrize(
    ("bits", "owner", "found"),
    [
        (0o600, 1000, None),
        (0o400, 1, None),
        (0o640, 1000, Exposed.OURS),  # the owner reads it as such, and needs no group for it
        (0o604, 1000, Exposed.OURS),
        (0o640, 1, None),  # by its group, root's file is given to the service
        (0o644, 1, Exposed.THEIRS),
        (0o660, 1, Exposed.THEIRS),  # who may change it decides what the service does
    ],
)
def test_a_file_that_others_may_read_is_told_apart_from_one_that_is_given_by_its_group(
    bits: int, owner: int, found: Exposed | None
) -> None:
    assert exposed(stat.S_IFREG | bits, owner, 1000) is found


@pytest.mark.parametrize(("bits", "found"), [(0o700, None), (0o755, None), (0o1777, None), (0o775, Exposed.OURS)])
def test_a_folder_is_exposed_where_others_may_put_files_in_the_place_of_ours(bits: int, found: Exposed | None) -> None:
    assert exposed(stat.S_IFDIR | bits, 1000, 1000) is found
    assert exposed(stat.S_IFDIR | bits, 1000, 0) is found  # root can mend everything


async def test_what_a_restore_writes_and_puts_aside_is_private(tmp_path: Path, now: datetime) -> None:
    path = tmp_path / "data" / "b.sqlite3"
    store = SqliteStore(path)
    await store.open()
    await store.maintenance.backup(tmp_path / "copy")
    await store.close()
    path.chmod(0o644)  # as an earlier version left it
    aside = await asyncio.to_thread(store.maintenance.restore, tmp_path / "copy", now)
    assert mode(path) == "0600"
    await store.open()
    await store.close()

    assert aside is not None
    assert set(modes(path.parent).values()) == {"0600"}, modes(path.parent)


@pytest.mark.parametrize("content", ["notes", "a table"])
async def test_a_file_of_another_program_keeps_its_mode(tmp_path: Path, content: str) -> None:
    path = tmp_path / "theirs"
    if content == "notes":
        path.write_text("no database, but what somebody named by mistake" * 100)
    else:
        with contextlib.closing(sqlite3.connect(path)) as conn:
            conn.execute("create table theirs (a)")
    path.chmod(0o644)
    with pytest.raises(StoreError):
        await SqliteStore(path).open()
    assert mode(path) == "0644"
