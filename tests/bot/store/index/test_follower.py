"""The index beside the database has what the rows have, whatever happened to it and to whoever wrote it."""

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.models import And, Item, Label, Query, Term, Tree
from bot.ports.items import Making
from bot.query.match import matches
from bot.store.index.follower import IndexFollower, giving_way
from bot.store.sqlite.locks import FileLock
from bot.store.sqlite.store import SqliteStore, index_folder
from tests.conftest import NOW
from tests.contract.records import paper

TREES: tuple[Tree, ...] = (And(()), Term("even"), Label("category", "cs.lg"), Term("third", field="title"))


def some(number: int, first: int = 1, word: str = "") -> list[Item]:
    return [
        paper(at, title=f"P{at} {word} {'third' if at % 3 == 0 else ''}", abstract="even" if at % 2 == 0 else "odd")
        for at in range(first, first + number)
    ]


async def opened(path: Path, *, exclusive: bool = False) -> SqliteStore:
    store = SqliteStore(path, exclusive=exclusive, follower=IndexFollower)
    await store.open()
    assert store.follower is not None
    await store.follower.built()
    return store


async def expect_the_rows(store: SqliteStore, trees: tuple[Tree, ...] = TREES) -> None:
    """Expect that the index answers, and as the tree on each of the rows does."""
    assert store.follower is not None
    await store.follower.built()
    await store.follower.view()  # what is behind is brought up, what cannot be is made anew
    await store.follower.built()
    rows = dict(await store.items.arrived(0))
    view = await store.follower.view()
    assert view is not None
    for tree in trees:
        held = {number for number, item in rows.items() if matches(tree, item, NOW)}
        assert set(await asyncio.to_thread(lambda t: view.ids(view.condition(t, NOW)), tree)) == held


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    made = await opened(path, exclusive=True)
    yield made
    await made.close()


async def test_what_was_stored_changed_and_dropped_is_so_in_the_index_when_add_returns(store: SqliteStore) -> None:
    assert store.follower is not None
    await store.items.add(some(9), NOW)
    assert store.follower.progress.number == await store.items.last_change()
    await store.items.add([*some(1, 2, "third"), paper(20)], NOW, retired=[paper(4).key])
    assert store.follower.progress.number == await store.items.last_change()
    await expect_the_rows(store)
    await store.maintenance.prune(items_before=NOW.replace(year=2027), readings_before=NOW.date(), now=NOW)
    await expect_the_rows(store)


async def test_an_index_is_made_of_what_is_stored_already_and_meanwhile_all_is_found(path: Path) -> None:
    plain = SqliteStore(path)
    await plain.open()
    await plain.items.add(some(1200), NOW)
    assert await plain.index.making() is None
    await plain.close()
    other = FileLock(index_folder(path), ".lock")
    await asyncio.to_thread(other.take)  # as a process does that makes it
    store = await opened(path)
    assert store.follower is not None
    assert await store.index.making() == Making(0, 1200)
    assert await store.index.count(Term("even"), NOW) == 600
    await store.items.add(some(3, 1201), NOW)
    assert await store.index.count(Term("even"), NOW) == 601
    assert store.follower.answered == 0
    await store.follower.built()  # the last search had it tried again, which may still be going on
    await asyncio.to_thread(other.close)
    assert await store.index.count(Term("even"), NOW) == 601
    await store.follower.built()
    assert await store.index.making() is None
    await expect_the_rows(store)
    await store.close()


def _older_progress(folder: Path) -> None:
    """As where somebody is killed behind the index's commit, before what it has followed is written."""
    told, then = (json.loads((folder / name).read_text()) for name in ("progress.json", "then"))
    (folder / "progress.json").write_text(json.dumps({**told, "number": then["number"]}))


def _older_commit(folder: Path) -> None:
    """As where somebody is killed within the index's commit, when its files are written and not yet part of it."""
    _older_progress(folder)
    shutil.copy(folder / "meta.then", folder / "meta.json")


def _begun(folder: Path) -> None:
    told = json.loads((folder / "then").read_text())
    (folder / "progress.json").write_text(json.dumps({**told, "reached": 3}))


def _other_version(folder: Path) -> None:
    told = json.loads((folder / "progress.json").read_text())
    (folder / "progress.json").write_text(json.dumps({**told, "version": "0"}))


def _cut(folder: Path) -> None:
    for each in folder.glob("*.idx"):
        each.write_bytes(each.read_bytes()[:9])


_DAMAGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda folder: None,
    "killed before it was noted": _older_progress,
    "killed within the commit": _older_commit,
    "killed while it was made": _begun,
    "another version": _other_version,
    "no folder": shutil.rmtree,
    "no note": lambda folder: (folder / "progress.json").unlink(),
    "half a note": lambda folder: (folder / "progress.json").write_text("{"),
    "no directory of the index": lambda folder: (folder / "meta.json").unlink(),
    "a directory that is none": lambda folder: (folder / "meta.json").write_text("[]"),
    "cut off": _cut,
}


@pytest.mark.parametrize("damage", _DAMAGES.values(), ids=_DAMAGES)
async def test_whatever_is_found_in_the_folder_the_index_has_what_the_rows_have(
    path: Path, damage: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    store = await opened(path)
    await store.items.add(some(6), NOW)
    folder = index_folder(path)
    for name, kept in (("progress.json", "then"), ("meta.json", "meta.then")):
        await asyncio.to_thread(shutil.copy, folder / name, folder / kept)
    await store.items.add([*some(2, 3, "third"), *some(3, 7)], NOW, retired=[paper(1).key])
    await store.close()
    await asyncio.to_thread(damage, folder)
    again = await opened(path)
    await expect_the_rows(again)
    await again.items.add(some(1, 30), NOW)
    await expect_the_rows(again)
    await again.close()
    if damage in (_older_progress, _older_commit):
        assert not caplog.records  # it went on, and was not made anew


async def test_after_a_restore_the_index_has_what_is_there_now(path: Path, tmp_path: Path) -> None:
    store = await opened(path)
    await store.items.add(some(4), NOW)
    await store.maintenance.backup(tmp_path / "copy.db")
    await store.items.add(some(4, 5), NOW, retired=[paper(2).key])
    await store.close()
    await asyncio.to_thread(store.maintenance.restore, tmp_path / "copy.db", NOW)
    again = await opened(path)
    await again.items.add(some(2, 20), NOW)
    await expect_the_rows(again)
    await again.close()


async def test_of_two_who_have_it_open_one_writes_it_and_both_find_all(store: SqliteStore, path: Path) -> None:
    await store.items.add(some(4), NOW)
    second = await opened(path)
    await expect_the_rows(second)
    await store.items.add(some(4, 5), NOW)
    await expect_the_rows(second)
    await second.items.add(some(4, 9), NOW)
    assert second.follower is not None
    answered = second.follower.answered
    found = await second.index.search(Query("", Term("even"), "new"), NOW, limit=20)
    assert len(found.hits) == 6
    assert second.follower.answered == answered
    await expect_the_rows(store)
    await expect_the_rows(second)
    await second.close()


async def test_of_two_commands_either_writes_it_in_turn_and_leaves_it_to_the_service(path: Path) -> None:
    first, second = await opened(path), await opened(path)
    for at, each in enumerate((first, second, first, second)):
        await each.items.add(some(4, 1 + 4 * at), NOW)
        assert each.follower is not None
        assert each.follower.progress.number == await each.items.last_change()
    service = await opened(path, exclusive=True)
    await service.items.add(some(4, 40), NOW)
    for each in (service, first, second):
        await expect_the_rows(each)
    for each in (first, second, service):
        await each.close()


async def test_who_comes_after_the_service_writes(path: Path) -> None:
    service, second = await opened(path, exclusive=True), await opened(path)
    await service.items.add(some(4), NOW)
    await service.close()
    await second.items.add(some(4, 5), NOW)
    await expect_the_rows(second)
    await second.close()


_WRITER = """
import asyncio, sys
from pathlib import Path
from tests.bot.store.index.test_follower import NOW, opened, some

async def write():
    store = await opened(Path(sys.argv[1]))
    print("open", flush=True)
    for at in range(10_000):
        await store.items.add(some(5, 1 + at % 50, str(at)), NOW, retired=[item.key for item in some(2, 90 - at % 30)])

asyncio.run(write())
"""


@pytest.mark.long
async def test_whoever_is_killed_whenever_the_index_has_what_the_rows_have(path: Path) -> None:
    chance = random.Random(7)
    for _ in range(8):
        killed = await asyncio.to_thread(_write_and_be_killed, path, chance.uniform(0.05, 0.6))
        assert killed == -signal.SIGKILL
        store = await opened(path)
        await expect_the_rows(store)
        await store.close()


def _write_and_be_killed(path: Path, after: float) -> int:
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, env=found)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"open\n"
    time.sleep(after)
    writer.kill()
    writer.stdout.close()
    return writer.wait()


async def test_where_a_search_meets_what_it_cannot_read_the_answer_is_fts5s_and_the_index_is_made_anew(path: Path) -> None:
    store = await opened(path)
    await store.items.add(some(40), NOW)
    await store.close()
    for each in index_folder(path).glob("*.pos"):
        size = each.stat().st_size
        each.write_bytes(b"\\xff" * size)
    again = await opened(path)
    assert again.follower is not None
    found = await again.index.search(Query("", Term("P4 third", quoted=True), "new"), NOW)
    expected = await again.index.search(Query("", Term("P6 third", quoted=True), "new"), NOW)
    assert not found.hits
    assert [hit.item.key for hit in expected.hits] == [paper(6).key]
    await again.follower.built()
    await expect_the_rows(again, (*TREES, Term("P6 third", quoted=True)))
    await again.close()


_WITHOUT = """
import sys
sys.modules["tantivy"] = None
from bot.app import store_of
from bot.errors import SettingsError
from bot.settings.load import Settings
store_of(Settings())
try:
    store_of(Settings(search={"engine": "tantivy"}))
except SettingsError as error:
    print(error)
"""


async def test_without_the_library_everything_works_but_what_needs_it_which_says_what_to_install() -> None:
    made = await asyncio.create_subprocess_exec(sys.executable, "-c", _WITHOUT, stdout=subprocess.PIPE)
    said, _ = await made.communicate()
    assert made.returncode == 0
    assert "tantivy is not installed: install the extra `search`" in said.decode()


def test_other_threads_get_their_turn_after_each_few_documents() -> None:
    paused: list[float] = []
    assert [*giving_way(range(25), paused.append)] == [*range(25)]
    assert len(paused) == 3
    assert min(paused) > 0
