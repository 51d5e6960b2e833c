"""What a start finds that somebody changed while nobody had the database open, or that another account made."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.errors import StoreError
from bot.private_files import files_of
from bot.store.sqlite.store import SqliteStore
from tests.bot.store.sqlite.recovery.kills import BACKED_UP, BACKUP, DATABASE, NOW, OLD, forked
from tests.bot.store.sqlite.recovery.test_restore import kills, number_in

NOBODY = 65534  # the usual number of an account that owns nothing


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    kills(tmp_path / "staged")
    return tmp_path / "staged"


def own_again(folder: Path) -> None:
    """As a container does at its start that gives all files to its account."""
    subprocess.run(["chown", "-R", f"{os.getuid()}:{os.getgid()}", str(folder)], check=True)


def close_to_others(folder: Path) -> None:
    subprocess.run(["chmod", "-R", "go-rwx", str(folder)], check=True)


@pytest.mark.parametrize("change", [own_again, close_to_others])
async def test_a_killed_service_goes_on_after_all_its_files_were_given_to_its_account_again(
    staged: Path, change: object
) -> None:
    before = (staged / DATABASE).stat().st_ctime_ns
    assert callable(change)
    await asyncio.to_thread(change, staged)
    assert (staged / DATABASE).stat().st_ctime_ns != before
    assert await number_in(staged / DATABASE) == OLD


async def test_a_service_that_made_its_files_private_and_was_killed_before_it_wrote_goes_on(staged: Path) -> None:
    (staged / DATABASE).chmod(0o644)
    (staged / f"{DATABASE}.turn").write_text("")  # as an earlier version left it

    async def open_and_die() -> None:
        await SqliteStore(staged / DATABASE).open()
        os.kill(os.getpid(), 9)

    await asyncio.to_thread(forked, lambda: asyncio.run(open_and_die()))
    assert (staged / DATABASE).stat().st_mode & 0o777 == 0o600
    assert await number_in(staged / DATABASE) == OLD


# --- links


@pytest.fixture
def link(staged: Path, tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.db"
    link.symlink_to(staged / DATABASE)
    return link


async def test_a_database_that_is_open_is_kept_from_who_names_it_by_a_link(staged: Path, link: Path) -> None:
    store = SqliteStore(staged / DATABASE, exclusive=True)
    await store.open()
    with pytest.raises(StoreError, match="already running"):
        await number_in(link)
    with pytest.raises(StoreError, match="stop it first"):
        await asyncio.to_thread(SqliteStore(link).maintenance.restore, staged / BACKUP, NOW)
    await store.close()


async def test_what_lies_beside_the_database_behind_a_link_is_found(staged: Path, link: Path) -> None:
    maintenance = SqliteStore(link).maintenance
    aside = await asyncio.to_thread(maintenance.restore, staged / BACKUP, NOW)
    assert aside is not None
    assert await maintenance.put_aside() == [aside.name]
    assert {link, staged / DATABASE, aside} <= set(await asyncio.to_thread(files_of, link))
    assert await asyncio.to_thread(link.is_symlink)
    assert await number_in(link) == BACKED_UP


async def test_no_empty_database_is_made_behind_a_link_that_a_heartbeat_stands_beside(link: Path, staged: Path) -> None:
    await asyncio.to_thread(shutil.rmtree, staged)
    await asyncio.to_thread(staged.mkdir)
    link.with_name("link.db.alive").write_text("x")
    with pytest.raises(StoreError, match=r"link\.db\.alive.*broadsheet db restore"):
        await number_in(link)
    assert not (staged / DATABASE).exists()


# --- accounts


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder of an account that is not root's, wherever this runs."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def as_somebody(folder: Path, text: str) -> str:
    """Open the database there as the folder's account, which is not root's; return how many items it has, or the error."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    told = folder / text

    def work() -> None:
        if os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        try:
            told.write_text(str(asyncio.run(number_in(folder / DATABASE))))
        except StoreError as error:
            told.write_text(str(error))

    forked(work)
    return told.read_text()


async def test_a_lock_that_another_account_made_is_named_and_nothing_is_opened_without_it(shared: Path) -> None:
    await asyncio.to_thread(kills, shared / "staged")
    shutil.copytree(shared / "staged", shared, dirs_exist_ok=True)
    shutil.copyfile(shared / BACKUP, shared / DATABASE)
    (shared / f"{DATABASE}.open").chmod(0)
    said = await asyncio.to_thread(as_somebody, shared, "said")
    assert f"{DATABASE}.open cannot be opened (Permission denied)" in said
    assert "chown" in said
    (shared / f"{DATABASE}.open").chmod(0o600)
    assert await asyncio.to_thread(as_somebody, shared, "said") == str(BACKED_UP)


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives files away")
async def test_what_root_restores_belongs_to_whom_the_database_belonged(staged: Path) -> None:
    os.chown(staged / DATABASE, NOBODY, NOBODY)
    await asyncio.to_thread(SqliteStore(staged / DATABASE).maintenance.restore, staged / BACKUP, NOW)
    assert ((staged / DATABASE).stat().st_uid, (staged / DATABASE).stat().st_gid) == (NOBODY, NOBODY)


async def test_what_was_committed_is_not_called_failed_where_the_note_of_it_cannot_be_written(tmp_path: Path) -> None:
    for said in ("first", "second"):
        store = SqliteStore(tmp_path / DATABASE)
        await store.open()
        turn = tmp_path / f"{DATABASE}.turn"
        turn.unlink()
        turn.symlink_to("/dev/full")
        await store.facts.set("said", said)
        assert await store.facts.get("said") == said
        await store.close()
        turn.unlink()
