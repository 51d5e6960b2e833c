"""What is found by the file of vectors is what is found by the rows, whatever happened to it and to whoever wrote it."""

import asyncio
import contextlib
import logging
import random
import resource
import shutil
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from bot.models import Item, Kind, Near
from bot.models.vectors import pack
from bot.query import parse
from bot.store.sqlite.connections import connect
from bot.store.sqlite.search.index import SqliteIndex
from bot.store.sqlite.search.meaning import VectorCopy
from bot.store.sqlite.store import SqliteStore
from tests.bot.store.sqlite.recovery.kills import forked, killed_before
from tests.conftest import NOW

SPACE = "random-1"
ASKED_FOR = parse("nothing")
FEW = 4  # vectors in memory at most
SIZE = 8
CHANCE = np.random.default_rng(3)


def vectors(count: int) -> list[bytes]:
    made = CHANCE.standard_normal((count, SIZE)).astype(np.float32)
    return pack(made / np.linalg.norm(made, axis=1, keepdims=True))


ASKED = [Near(SPACE, vector, 0.0) for vector in vectors(3)]


def papers(count: int, first: int = 0, title: str = "Paper") -> list[Item]:
    numbers = range(first, first + count)
    return [Item(key=f"arxiv:{at}", kind=Kind.PAPER, title=f"{title} {at}", seen=NOW) for at in numbers]


@contextlib.asynccontextmanager
async def opened(path: Path, in_memory: int = FEW) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path)
    store.index = SqliteIndex(store.connections, vectors=VectorCopy(path, in_memory))
    await store.open()
    yield store
    await store.close()


def do(path: Path, *steps: Callable[[SqliteStore], Awaitable[object]], in_memory: int = FEW) -> None:
    """Take the steps on the store, one after the other, and close it."""

    async def work() -> None:
        async with opened(path, in_memory) as store:
            for step in steps:
                await step(store)

    asyncio.run(work())


def keep(items: list[Item]) -> Callable[[SqliteStore], Awaitable[object]]:
    """Return the step that stores the items, each with a vector."""

    async def step(store: SqliteStore) -> None:
        await store.items.add(items, NOW)
        await store.vectors.save(SPACE, items, vectors(len(items)), quick=False)

    return step


async def search(store: SqliteStore) -> None:
    await store.index.search(ASKED_FOR, NOW, near=ASKED[0])


async def prune(store: SqliteStore) -> None:
    await store.maintenance.prune(items_before=NOW - timedelta(days=9), readings_before=NOW.date(), now=NOW)


def found(path: Path, copy: VectorCopy) -> list[list[tuple[int, float]]]:
    """Return for each vector that is asked about which ids are closest, and how close."""
    db = connect(path, read_only=True)
    db.execute("begin")
    close = [copy.closest(db, near, 99) for near in ASKED]
    db.close()
    return [list(zip(each.ids.tolist(), each.cosines.round(5).tolist(), strict=True)) for each in close]


def expect_the_rows(path: Path, copy: VectorCopy | None = None) -> None:
    assert found(path, copy or VectorCopy(path, FEW)) == found(path, VectorCopy(path))


def file_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.vectors")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


def filled(path: Path, count: int = 20) -> None:
    do(path, keep(papers(count)), search)


def test_few_vectors_make_no_file_and_many_are_read_from_one(path: Path) -> None:
    filled(path, FEW)
    assert not file_of(path).exists()
    filled(path, FEW + 1)
    assert file_of(path).stat().st_mode & 0o777 == 0o600
    before = file_of(path).stat().st_ino
    expect_the_rows(path)
    assert file_of(path).stat().st_ino == before


def remake(path: Path, copy: VectorCopy) -> None:
    db = connect(path, read_only=True)
    db.execute("begin")
    copy.remake(db)
    db.close()


def test_a_copy_follows_what_is_written_dropped_and_pruned(path: Path) -> None:
    """Beside it others are opened anew, and make the file anew."""
    chance = random.Random(5)
    filled(path)
    copy = VectorCopy(path, FEW)
    for number in range(20):
        retired = [f"arxiv:{chance.randrange(40)}" for _ in range(3)]
        steps = (
            keep(papers(chance.randrange(1, 7), chance.randrange(40))),
            keep(papers(2, chance.randrange(40), f"Other {number}")),
            lambda store, retired=retired: store.items.add([], NOW, retired=retired),
            prune,
            search,
        )
        do(path, *chance.sample(steps, 2))
        expect_the_rows(path, copy)
        if copy.is_due() and number % 2:
            remake(path, copy)
            assert not copy.is_due()
            expect_the_rows(path, copy)
        expect_the_rows(path)


def test_the_file_is_made_anew_in_the_background_and_by_one_process_for_both(path: Path) -> None:
    filled(path)
    other = VectorCopy(path, FEW)
    found(path, other)
    before = file_of(path).stat().st_ino

    async def work() -> None:
        async with opened(path) as store:
            await search(store)
            await keep(papers(FEW + 1, 100))(store)
            while (await asyncio.to_thread(file_of(path).stat)).st_ino == before:
                await search(store)

    asyncio.run(work())
    made = file_of(path).stat().st_ino
    found(path, other)
    assert other.is_due()
    remake(path, other)
    assert not other.is_due()
    assert file_of(path).stat().st_ino == made
    expect_the_rows(path, other)


def _shorter(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: -random.Random(1).randrange(1, 4000)])


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _other_version(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"vectors 1 ", b"vectors 0 "))


def _no_text(file: Path) -> None:
    file.write_bytes(b"\xff" * len(file.read_bytes()))


@pytest.mark.parametrize("spoil", [_shorter, _empty, _other_version, _no_text, Path.unlink])
def test_a_file_that_is_not_as_it_was_written_is_made_anew(path: Path, spoil: Callable[[Path], None]) -> None:
    filled(path)
    spoil(file_of(path))
    expect_the_rows(path)
    whole = file_of(path).read_bytes()
    expect_the_rows(path)
    assert file_of(path).read_bytes() == whole


def test_no_byte_of_the_file_can_change_what_is_found(path: Path) -> None:
    filled(path)
    whole = file_of(path).read_bytes()
    right = found(path, VectorCopy(path))
    text = len(whole[:4096].rstrip(b"\0"))
    chance = random.Random(2)
    for at in [*range(0, text, 7), *(chance.randrange(text, len(whole)) for _ in range(40))]:
        spoilt = bytearray(whole)
        spoilt[at] ^= 1 << chance.randrange(8)
        file_of(path).write_bytes(spoilt)
        assert found(path, VectorCopy(path, FEW)) == right
        assert file_of(path).read_bytes() != spoilt


def test_after_a_restore_the_file_of_what_was_undone_is_not_gone_on_from(path: Path) -> None:
    backup = path.with_name("b.db")
    do(path, keep(papers(10)), lambda store: store.maintenance.backup(backup), keep(papers(10, 5, "Undone")), search)
    assert file_of(path).exists()
    SqliteStore(path).maintenance.restore(backup, NOW)
    do(path, keep(papers(10, 5, "Done")))
    expect_the_rows(path)
    do(path, keep(papers(3, 30)), search)
    shutil.copy(backup, path)  # by hand
    do(path, keep(papers(3, 30)))
    expect_the_rows(path)


def test_whoever_is_killed_while_the_file_is_made_leaves_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    staged = tmp_path / "staged" / "a.db"
    staged.parent.mkdir()
    filled(staged)
    do(staged, keep(papers(FEW + 1, 15, "Later")))
    old, new, killed, number = file_of(staged).read_bytes(), 0, True, 0
    while killed:
        number += 1
        path = tmp_path / str(number) / "a.db"
        shutil.copytree(staged.parent, path.parent)

        def make(path: Path = path, number: int = number) -> None:
            copy = VectorCopy(path, FEW)
            found(path, copy)
            db = connect(path, read_only=True)
            db.execute("begin")
            killed_before(number, path.parent)
            copy.remake(db)

        killed = forked(make) != 0
        new += file_of(path).read_bytes() != old
        expect_the_rows(path)
    assert number > 3
    assert 1 <= new < number


def test_where_no_file_can_be_written_vectors_stay_in_memory_and_one_line_says_so(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filled(path, FEW)
    file_of(path).mkdir()
    with caplog.at_level(logging.WARNING):
        do(path, search, keep(papers(2, FEW)), search, *[keep(papers(1, FEW + 2)), search] * 2)
        assert len(caplog.messages) == 1
        assert "stay in memory" in caplog.text
        caplog.clear()
        expect_the_rows(path)
        assert len(caplog.messages) == 1
    assert list(path.parent.glob(".*partial*")) == []


def test_on_a_full_disk_vectors_stay_in_memory(path: Path) -> None:
    do(path, keep(papers(50)), in_memory=999)
    expect_the_rows(path, VectorCopy(path))

    def ask() -> None:
        held = connect(path, read_only=True)  # who comes first makes SQLite's own files
        held.execute("select count(*) from items").fetchone()
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, resource.RLIM_INFINITY))
        expect_the_rows(path)

    assert forked(ask) == 0
    assert not file_of(path).exists()
