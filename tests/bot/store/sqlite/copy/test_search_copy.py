"""A process searches in its own copy: what it stores is found at once, and whatever happens the copy comes right again."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.app import built, file_store_of
from bot.errors import StoreError, UsageError
from bot.models import Item, Near, Query, Term
from bot.ports.items import Making
from bot.settings.load import Settings
from bot.store.index.follower import IndexFollower
from bot.store.postgres.store import PostgresStore
from bot.store.sqlite.connections import Connections
from bot.store.sqlite.copy.search_copy import COPY, SearchCopy
from bot.store.sqlite.store import SqliteStore
from tests.bot.store.sqlite.copy.test_follower import SPACE, expect_the_same, some, vectors_of
from tests.conftest import NOW
from tests.contract.records import paper
from tests.fakes.patience import PATIENCE
from tests.stores.postgres_server import emptied_aside

NEVER = timedelta(days=1)  # a copy that does not follow by itself


def copy_of(
    store: SqliteStore | PostgresStore, folder: Path, *, exclusive: bool = True, every: timedelta = NEVER
) -> SearchCopy:
    return SearchCopy(folder, store.items, store.vectors, exclusive=exclusive, every=every)


async def expect_a_copy(store: SqliteStore, folder: Path, space: str = "") -> None:
    """Expect that the file in the folder has what the database has."""
    connections = Connections(folder / COPY)
    connections.open()
    await expect_the_same(store, connections, space)
    await connections.close()


async def even(copy: SearchCopy) -> int:
    return len((await copy.search(Query("", Term("even"), "new"), NOW, limit=100)).hits)


async def meant(copy: SearchCopy) -> None:
    """Ask for what is near to something, so that vectors are followed."""
    (packed,) = vectors_of(some([1]), random.Random(1))
    await copy.search(Query("", Term("words")), NOW, near=Near(SPACE, packed, 0.999))


async def until_found(copy: SearchCopy, number: int) -> None:
    while await even(copy) < number:  # noqa: ASYNC110 - it follows by itself, and tells nobody
        await asyncio.sleep(0.01)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    made = SqliteStore(tmp_path / "a.db")
    await made.open()
    yield made
    await made.close()


async def test_what_this_process_stored_is_found_when_add_returns(store: SqliteStore, tmp_path: Path) -> None:
    await store.items.add(some([1, 2, 3, 4]), NOW)
    copy = copy_of(store, tmp_path / "copy")
    store.items.followed = copy.added
    await copy.open()
    await copy.follow()
    await store.items.add(some([5, 6]), NOW, retired=[paper(2).key])
    assert await even(copy) == 2
    assert (await copy.search(Query("", Term("even")), NOW)).behind is None
    await copy.close()
    await store.items.add(some([8]), NOW)
    await copy.follow()
    assert await even(copy) == 3
    await copy.close()
    await expect_a_copy(store, tmp_path / "copy")


async def test_what_others_stored_is_found_soon(store: SqliteStore, tmp_path: Path) -> None:
    copy = copy_of(store, tmp_path / "copy", every=timedelta(milliseconds=5))
    await copy.open()
    await store.items.add(some([1, 2, 3, 4]), NOW)
    await until_found(copy, 2)
    await copy.close()


async def test_a_copy_is_opened_when_it_is_first_asked(store: SqliteStore, tmp_path: Path) -> None:
    copy = copy_of(store, tmp_path / "copy")
    store.items.followed = copy.added
    await store.items.add(some([1, 2]), NOW)
    assert copy.behind() is None
    assert not (tmp_path / "copy").exists()
    assert await even(copy) in (0, 1)  # it may be there already
    await copy.follow()
    assert await even(copy) == 1
    await copy.close()


async def test_a_copy_that_is_being_made_says_so_on_each_page_and_how_far_it_is(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db")
    copy = copy_of(store, tmp_path / "copy")
    page = await copy.search(Query("", Term("even")), NOW)  # the database cannot be reached yet
    assert page.behind is not None
    assert page.behind.is_being_made
    assert await copy.making() == Making(0, 0)
    await store.open()
    await store.items.add(some([1, 2]), NOW)
    await copy.follow()
    assert await copy.making() is None
    assert (await copy.search(Query("", Term("even")), NOW)).behind is None
    await copy.close()
    await store.close()


async def test_while_the_database_cannot_be_reached_the_copy_answers_and_goes_on_later(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.items.add(some([1, 2]), NOW)
    copy = copy_of(store, tmp_path / "copy", every=timedelta(milliseconds=5))
    await copy.follow()
    await store.close()
    with pytest.raises(StoreError):
        await copy.follow()
    assert await even(copy) == 1
    monkeypatch.setattr("bot.store.sqlite.copy.search_copy.TOLD_SPAN", timedelta(0))
    behind = (await copy.search(Query("", Term("even")), NOW)).behind
    assert behind is not None
    assert (behind.arrivals, behind.is_being_made) == (0, False)
    await store.open()
    await store.items.add(some([3, 4]), NOW)
    await until_found(copy, 2)
    await copy.close()
    await expect_a_copy(store, tmp_path / "copy")


async def test_two_services_do_not_share_a_folder(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.store.sqlite.copy.search_copy._TAKING", 0.1)
    first, second = copy_of(store, tmp_path / "copy"), copy_of(store, tmp_path / "copy")
    await first.open()
    with pytest.raises(StoreError, match=f"process {os.getpid()}.*folder of its own"):
        await second.open()
    await first.close()
    await second.open()
    await second.close()


async def test_a_command_searches_in_what_the_service_beside_it_copies(store: SqliteStore, tmp_path: Path) -> None:
    service, command = copy_of(store, tmp_path / "copy"), copy_of(store, tmp_path / "copy", exclusive=False)
    await store.items.add(some([1, 2]), NOW)
    await service.follow()
    assert await even(command) == 1
    await store.items.add(some([4]), NOW)
    waiting = asyncio.create_task(command.follow())
    await service.follow()
    await waiting
    assert await even(command) == 2
    await service.close()
    await store.items.add(some([6]), NOW)
    await command.follow()  # now it writes the copy itself
    assert await even(command) == 3
    again = copy_of(store, tmp_path / "copy")
    await again.open()  # and lets the next service have it
    await again.close()
    await command.close()
    await expect_a_copy(store, tmp_path / "copy")


async def test_a_page_that_another_process_began_goes_on_here(store: SqliteStore, tmp_path: Path) -> None:
    here, there = copy_of(store, tmp_path / "here"), copy_of(store, tmp_path / "there")
    await store.items.add(some([2, 4]), NOW)
    await here.follow()
    await store.items.add(some([6, 8]), NOW)
    await there.follow()
    asked = Query("", Term("even"), "new")
    first = await there.search(asked, NOW, limit=2)
    second = await here.search(asked, NOW, limit=2, offset=2, mark=first.mark)
    assert sorted(hit.item.key for hit in (*first.hits, *second.hits)) == [paper(at).key for at in (2, 4, 6, 8)]
    with pytest.raises(UsageError, match="no longer known"):
        await here.search(asked, NOW, mark="5")
    await store.items.add(some([10]), NOW)
    await there.follow()
    first = await there.search(asked, NOW, limit=2)
    await store.close()
    assert len((await here.search(asked, NOW, limit=4, offset=2, mark=first.mark)).hits) == 2  # as far as is known here
    await here.close()
    await there.close()


async def test_vectors_are_followed_once_they_are_asked_for_and_remembered(store: SqliteStore, tmp_path: Path) -> None:
    items = some([1, 2, 3])
    await store.items.add(items, NOW)
    packed = vectors_of(items, random.Random(1))
    await store.vectors.save(SPACE, items, packed, quick=False)
    near = Near(SPACE, packed[2], 0.999)
    copy = copy_of(store, tmp_path / "copy")
    await copy.follow()
    await copy.search(Query("", Term("words")), NOW, near=near)
    await copy.follow()
    page = await copy.search(Query("", Term("words")), NOW, near=near)
    assert [hit.item.key for hit in page.hits] == [items[2].key]
    await copy.close()
    await store.vectors.save(SPACE, items[:1], packed[2:], quick=False)
    again = copy_of(store, tmp_path / "copy")
    await again.follow()
    page = await again.search(Query("", Term("words")), NOW, near=near)
    assert {hit.item.key for hit in page.hits} == {items[0].key, items[2].key}
    await again.close()
    await expect_a_copy(store, tmp_path / "copy", SPACE)


async def test_vectors_that_are_expected_are_there_before_anybody_asks(store: SqliteStore, tmp_path: Path) -> None:
    items = some([1, 2, 3])
    await store.items.add(items, NOW)
    packed = vectors_of(items, random.Random(1))
    await store.vectors.save(SPACE, items, packed, quick=False)
    copy = copy_of(store, tmp_path / "copy")
    await copy.open()
    copy.expect(SPACE)
    async with asyncio.timeout(PATIENCE):
        while copy.following.position.space != SPACE:  # noqa: ASYNC110 - it goes on in the background
            await asyncio.sleep(0.005)
    await copy.follow()
    page = await copy.search(Query("", Term("words")), NOW, near=Near(SPACE, packed[2], 0.999))
    assert [hit.item.key for hit in page.hits] == [items[2].key]
    await copy.close()


@pytest.mark.parametrize("content", [b"", b"this is no database" * 999, b"SQLite format 3\0" + b"\7" * 9000])
async def test_a_file_that_is_no_copy_is_made_one(store: SqliteStore, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / COPY).write_bytes(content)
    await store.items.add(some([1, 2]), NOW)
    copy = copy_of(store, tmp_path / "copy")
    await copy.follow()
    assert await even(copy) == 1
    await copy.close()
    await expect_a_copy(store, tmp_path / "copy")


async def test_a_copy_that_is_damaged_while_it_is_open_is_made_anew(store: SqliteStore, tmp_path: Path) -> None:
    await store.items.add(some([1, 2]), NOW)
    copy = copy_of(store, tmp_path / "copy")
    await copy.follow()
    await copy.close()
    spoilt = copy_of(store, tmp_path / "copy")
    await spoilt.open()
    await store.items.add(some([3, 4]), NOW)
    path = tmp_path / "copy" / COPY
    size = path.stat().st_size
    path.write_bytes(b"\7" * size)
    (tmp_path / "copy" / f"{COPY}-wal").write_bytes(b"")
    for _ in range(3):
        try:
            await spoilt.follow()
        except StoreError:
            continue
        break
    assert await even(spoilt) == 2
    await spoilt.close()
    await expect_a_copy(store, tmp_path / "copy")


async def test_tantivys_index_follows_the_copy(store: SqliteStore, tmp_path: Path) -> None:
    await store.items.add(some([1, 2, 3, 4]), NOW)
    copy = SearchCopy(tmp_path / "copy", store.items, store.vectors, exclusive=True, follower=IndexFollower, every=NEVER)
    store.items.followed = copy.added
    await copy.follow()
    assert copy.beside is not None
    await copy.beside.built()
    assert await copy.making() is None
    await store.items.add(some([5, 6]), NOW, retired=[paper(2).key])
    answered = copy.beside.answered
    assert await copy.count(Term("even"), NOW) == 2
    assert copy.beside.answered == answered + 1
    await copy.close()


@pytest.fixture
async def address(postgres: str) -> str:
    return await emptied_aside(postgres)


async def test_what_one_process_stores_in_postgresql_another_finds(address: str, tmp_path: Path) -> None:
    here, there = (PostgresStore(address, tmp_path / name, most=2, exclusive=True) for name in ("here", "there"))
    for each in (here, there):
        await each.open()
        await each.index.open()
    await here.items.add(some([2, 3]), NOW)
    assert await even(here.index) == 1
    await until_found(there.index, 1)
    for each in (here, there):
        await each.close()


async def test_the_settings_say_where_the_database_is_and_where_its_copy(address: str, tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {"database": address, "postgres": {"folder": tmp_path / "own"}, "search": {"engine": "tantivy"}}
    )
    async with built(settings, exclusive=True, searching=True) as app:
        await app.store.items.add(some([2, 3]), NOW)
        assert await app.store.index.count(Term("even"), NOW) == 1
        assert settings.database_path.exists()
    async with built(settings) as app:
        assert len((await app.store.index.search(Query("", Term("even")), NOW)).hits) == 1
    with pytest.raises(UsageError, match="looks after its write-ahead log itself"):
        file_store_of(settings)


_FOLLOWER = """
import asyncio, sys
from pathlib import Path
from datetime import timedelta
from bot.store.sqlite.store import SqliteStore
from tests.bot.store.sqlite.copy.test_search_copy import copy_of, meant

async def follow():
    store = SqliteStore(Path(sys.argv[1]))
    await store.open()
    copy = copy_of(store, Path(sys.argv[2]), every=timedelta(milliseconds=1))
    await copy.open()
    await meant(copy)
    print("open", flush=True)
    await asyncio.sleep(60)

asyncio.run(follow())
"""


def _begun(store: Path, folder: Path) -> "subprocess.Popen[bytes]":
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", _FOLLOWER, str(store), str(folder)], stdout=subprocess.PIPE, env=found)
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"
    return process


def _killed(process: "subprocess.Popen[bytes]", after: float) -> int:
    time.sleep(after)
    process.kill()
    assert process.stdout is not None
    process.stdout.close()
    return process.wait()


@pytest.mark.long
async def test_whoever_follows_is_killed_whenever_the_copy_comes_to_have_what_the_database_has(
    store: SqliteStore, tmp_path: Path
) -> None:
    chance, at = random.Random(5), 0
    for _ in range(8):
        follower = await asyncio.to_thread(_begun, store.path, tmp_path / "copy")
        dying = asyncio.create_task(asyncio.to_thread(_killed, follower, chance.uniform(0.05, 0.6)))
        while not dying.done():
            at += 1
            items: list[Item] = some([1 + (at * 5 + each) % 60 for each in range(5)], f"{at % 3}")
            await store.items.add(items, NOW, retired=[paper(1 + (at * 7) % 60).key] if at % 4 == 0 else [])
            await store.vectors.save(SPACE, items[:3], vectors_of(items[:3], chance), quick=False)
        assert await dying == -signal.SIGKILL
    copy = copy_of(store, tmp_path / "copy")
    await copy.follow()
    await meant(copy)
    await copy.follow()
    await copy.close()
    await expect_a_copy(store, tmp_path / "copy", SPACE)
