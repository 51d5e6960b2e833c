"""A copy that follows a database some changes at a time has what the database has, whatever happens in between."""

import asyncio
import random
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlite_utils import Database

from bot.models import And, Item, Label, Term, Tree
from bot.models.vectors import pack
from bot.query.match import matches
from bot.store.postgres.store import PostgresStore
from bot.store.records import item_to_text
from bot.store.sqlite.connections import Connections
from bot.store.sqlite.copy import rows
from bot.store.sqlite.copy.follower import CopyFollower
from bot.store.sqlite.ingest import last_id
from bot.store.sqlite.items import SqliteItems
from bot.store.sqlite.maintenance import SqliteMaintenance
from bot.store.sqlite.search.index import SqliteIndex
from bot.store.sqlite.store import SqliteStore
from bot.store.sqlite.vectors import SqliteVectors
from tests.conftest import NOW
from tests.contract.indexed import indexed
from tests.contract.records import paper
from tests.stores import AnyStore
from tests.stores.memory import MemoryStore
from tests.stores.postgres_server import emptied_aside

TREES: tuple[Tree, ...] = (And(()), Term("even"), Term("one"), Label("category", "cs.lg"), Term("again", field="title"))
SPACE, OTHER = "words 1", "words 2"


def some(numbers: list[int], word: str = "") -> list[Item]:
    return [paper(at, title=f"P{at} {word}", abstract="even" if at % 2 == 0 else "odd") for at in numbers]


def vectors_of(items: list[Item], dice: random.Random) -> list[bytes]:
    rows = np.array([[dice.uniform(-1, 1) for _ in range(8)] for _ in items], np.float32)
    return pack(rows / np.linalg.norm(rows, axis=1, keepdims=True)) if items else []


async def opened(path: Path) -> Connections:
    copy = Connections(path, durable=False)
    copy.open()
    await copy.write(rows.make_ready)
    return copy


@pytest.fixture
async def copy(tmp_path: Path) -> AsyncIterator[Connections]:
    made = await opened(tmp_path / "copy.sqlite3")
    yield made
    await made.close()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[AnyStore]:
    made: AnyStore
    if request.param == "postgres":
        made = PostgresStore(await emptied_aside(request.getfixturevalue("postgres")), tmp_path / "unused", most=4)
    else:
        made = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "a.db")
    await made.open()
    yield made
    await made.close()


def _counts(db: Database) -> list[object]:
    """Return what the index counts of words and of labels."""
    vocabulary = db.execute("select word, items, names from vocabulary order by word").fetchall()
    return [vocabulary, db.execute("select field, value, items from labels order by field, value").fetchall()]


async def level(follower: CopyFollower) -> None:
    while not await follower.follow_some():
        pass


async def expect_the_same(store: AnyStore, copy: Connections, space: str = "") -> None:
    """Expect the same items under the same arrivals, what finds them, and their vectors."""
    there = {number: item_to_text(item) for number, item in await store.items.arrived(0)}
    copied = SqliteItems(copy)
    assert {number: item_to_text(item) for number, item in await copied.arrived(0)} == there
    assert await copied.last_arrival() == await store.items.last_arrival()
    assert await SqliteMaintenance(copy).check() == []
    items = [item for _, item in await store.items.arrived(0)]
    assert await copy.read(_counts) == await asyncio.to_thread(lambda: _counts(indexed(items, NOW)))
    for tree in TREES:
        found = await SqliteIndex(copy).matching(tree, NOW, since=NOW - timedelta(days=9000))
        held = {item.key for _, item in await store.items.arrived(0) if matches(tree, item, NOW)}
        assert {item.key for item in found} == held
    if space:
        keys = [item.key for _, item in await store.items.arrived(0)]
        assert await SqliteVectors(copy).find(space, keys) == await store.vectors.find(space, keys)


async def test_a_copy_of_much_is_made_in_parts_and_what_is_stored_meanwhile_comes_first(
    store: AnyStore, copy: Connections
) -> None:
    await store.items.add(some(list(range(1, 8))), NOW)
    follower = CopyFollower(store.items, store.vectors, copy, at_once=3)
    await follower.look()
    assert not await follower.follow_some()
    assert (follower.position.reached, follower.lacking) == (3, 4)
    await store.items.add(some([20]), NOW)
    assert not await follower.follow_some()
    assert sorted(number for number, _ in await SqliteItems(copy).arrived(0)) == [1, 2, 3, 4, 5, 6, 8]
    await level(follower)
    assert (follower.position.is_complete, follower.lacking) == (True, 0)
    await expect_the_same(store, copy)


async def test_a_key_that_was_dropped_and_stored_again_has_its_new_arrival_alone(store: AnyStore, copy: Connections) -> None:
    follower = CopyFollower(store.items, store.vectors, copy, at_once=1)
    await follower.look()
    await store.items.add(some([1, 2, 3]), NOW)
    assert not await follower.follow_some()
    await store.items.add(some([9]), NOW, retired=[paper(1).key])
    await store.items.add(some([1]), NOW, happened=True)
    await level(follower)
    await expect_the_same(store, copy)
    await store.items.add(some([10]), NOW, retired=[paper(2).key, paper(1).key])
    await store.items.add(some([2], "again"), NOW)
    await level(follower)
    await expect_the_same(store, copy)


async def test_what_is_the_same_is_not_written_again(store: AnyStore, copy: Connections) -> None:
    await store.items.add(some([1, 2, 3]), NOW)
    follower = CopyFollower(store.items, store.vectors, copy)
    await follower.look()
    await level(follower)
    before = await SqliteItems(copy).last_change()
    await store.items.add([replace(each, seen=NOW) for each in some([1, 2, 3])], NOW)
    await level(follower)
    assert await SqliteItems(copy).last_change() == before


async def test_vectors_follow_and_go_with_the_texts_that_they_are_of(store: AnyStore, copy: Connections) -> None:
    dice, items = random.Random(1), some([1, 2, 3, 4, 5])
    await store.items.add(items, NOW)
    await store.vectors.save(SPACE, items[:4], vectors_of(items[:4], dice), quick=True)
    follower = CopyFollower(store.items, store.vectors, copy, at_once=2)
    await follower.look()
    await follower.follow_space(SPACE)
    await level(follower)
    await expect_the_same(store, copy, SPACE)
    await store.items.add(some([2], "another"), NOW, retired=[items[0].key])
    await store.vectors.save(SPACE, items[2:], vectors_of(items[2:], dice), quick=False)
    await level(follower)
    await expect_the_same(store, copy, SPACE)
    await store.vectors.save(OTHER, items[3:], vectors_of(items[3:], dice), quick=False)
    await level(follower)
    await expect_the_same(store, copy, SPACE)
    await follower.follow_space(OTHER)
    await level(follower)
    await expect_the_same(store, copy, OTHER)


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_happens_between_two_steps_the_copy_has_what_the_database_has(
    store: AnyStore, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    copy = await opened(tmp_path / "copy.sqlite3")
    follower = CopyFollower(store.items, store.vectors, copy, at_once=3)
    await follower.look()
    await follower.follow_space(SPACE)
    for _ in range(40):
        numbers = dice.sample(range(1, 25), dice.randrange(1, 5))
        gone = [paper(at).key for at in range(1, 25) if at not in numbers and dice.random() < 0.1]
        await store.items.add(some(numbers, dice.choice(["", "one", "two"])), NOW, retired=gone)
        if dice.random() < 0.5:
            items = [item for _, item in await store.items.arrived(0) if dice.random() < 0.5]
            await store.vectors.save(SPACE, items, vectors_of(items, dice), quick=dice.random() < 0.5)
        for _ in range(dice.randrange(3)):
            await follower.follow_some()
        if dice.random() < 0.1:  # as another process goes on that knows what is in the file alone
            follower = CopyFollower(store.items, store.vectors, copy, at_once=3)
            await follower.look()
    await level(follower)
    await expect_the_same(store, copy, SPACE)
    await copy.close()


async def test_a_backup_that_was_put_back_is_followed_from_the_beginning(tmp_path: Path, copy: Connections) -> None:
    path, backup = tmp_path / "a.db", tmp_path / "backup.db"
    store = SqliteStore(path)
    await store.open()
    dice, items = random.Random(2), some([1, 2, 3])
    await store.items.add(items, NOW)
    await store.vectors.save(SPACE, items, vectors_of(items, dice), quick=False)
    follower = CopyFollower(store.items, store.vectors, copy, at_once=2)
    await follower.look()
    await follower.follow_space(SPACE)
    await level(follower)
    await store.maintenance.backup(backup)
    await store.items.add(some([4, 5, 6, 1], "late"), NOW, retired=[paper(3).key])
    await level(follower)
    await store.close()
    await asyncio.to_thread(shutil.copy, backup, path)
    await store.open()
    await store.items.add(some([7, 8], "other"), NOW)  # under arrivals that others had
    await level(follower)
    await expect_the_same(store, copy, SPACE)
    await store.close()


async def test_another_version_looks_at_all_items_anew_and_answers_meanwhile(store: AnyStore, copy: Connections) -> None:
    await store.items.add(some([1, 2, 3]), NOW)
    follower = CopyFollower(store.items, store.vectors, copy)
    await follower.look()
    await level(follower)
    older = replace(follower.position, version="of before")

    def spoil(db: Database) -> None:
        rows.save_position(db, older)
        db.execute("update records set data = json_set(data, '$.title', 'lacks something') where id = 2")

    await copy.write(spoil)
    await follower.look()
    assert (follower.position.reached, follower.position.is_complete) == (0, True)
    await level(follower)
    assert await copy.read(last_id) == 3
    texts = [item.title for _, item in await SqliteItems(copy).arrived(0)]
    assert "lacks something" not in texts
