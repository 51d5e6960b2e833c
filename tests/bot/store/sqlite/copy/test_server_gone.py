"""A process whose PostgreSQL server is gone goes on searching, and follows it once it is there again."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.errors import StoreError
from bot.models import Query, Term
from bot.store.postgres.store import PostgresStore
from bot.store.sqlite.connections import Connections
from bot.store.sqlite.copy.search_copy import COPY
from tests.bot.store.sqlite.copy.test_follower import SPACE, expect_the_same, some, vectors_of
from tests.bot.store.sqlite.copy.test_search_copy import copy_of, even, meant, until_found
from tests.conftest import NOW
from tests.contract.records import paper
from tests.stores import postgres_server
from tests.stores.postgres_server import Server, emptied_aside


@pytest.fixture
def server(postgres_address: str) -> Iterator[Server]:
    """Return a server of this test's own, which may be ended."""
    own = postgres_server.start()
    yield own
    own.remove()


@pytest.mark.long
async def test_while_the_server_is_gone_the_copy_answers_and_says_so_and_follows_it_again(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.store.sqlite.copy.search_copy.TOLD_SPAN", timedelta(0))
    store = PostgresStore(server.address, tmp_path, most=2, exclusive=True)
    await store.open()
    await store.items.add(some([1, 2]), NOW)
    await store.index.follow()
    await asyncio.to_thread(server.stop, signal.SIGQUIT)  # as in a crash
    with pytest.raises(StoreError):
        await store.index.follow()
    page = await store.index.search(Query("", Term("even")), NOW)
    assert len(page.hits) == 1
    assert page.behind is not None
    back = await asyncio.to_thread(postgres_server.start_again, server)
    other = PostgresStore(back.address, tmp_path / "other", most=2)
    await other.open()
    await other.items.add(some([3, 4]), NOW)
    await until_found(store.index, 2)
    await other.close()
    await store.close()
    await asyncio.to_thread(back.stop)


_FOLLOWER = """
import asyncio, sys
from pathlib import Path
from datetime import timedelta
from bot.store.postgres.store import PostgresStore
from tests.bot.store.sqlite.copy.test_search_copy import copy_of, meant

async def follow():
    store = PostgresStore(sys.argv[1], Path(sys.argv[2]), most=2)
    await store.open()
    copy = copy_of(store, Path(sys.argv[2]), every=timedelta(milliseconds=1))
    await copy.open()
    await meant(copy)
    print("open", flush=True)
    await asyncio.sleep(60)

asyncio.run(follow())
"""


def _followed_and_killed(address: str, folder: Path, after: float) -> int:
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", _FOLLOWER, address, str(folder)], stdout=subprocess.PIPE, env=found)
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"
    time.sleep(after)
    process.kill()
    process.stdout.close()
    return process.wait()


@pytest.mark.long
async def test_whoever_follows_postgresql_is_killed_whenever_the_copy_comes_to_have_what_the_database_has(
    postgres: str, tmp_path: Path
) -> None:
    chance, at = random.Random(6), 0
    store = PostgresStore(await emptied_aside(postgres), tmp_path / "unused", most=2)
    await store.open()
    for _ in range(4):
        dying = asyncio.create_task(
            asyncio.to_thread(_followed_and_killed, postgres, tmp_path / "copy", chance.uniform(0.05, 0.6))
        )
        while not dying.done():
            at += 1
            items = some([1 + (at * 5 + each) % 60 for each in range(5)], f"{at % 3}")
            await store.items.add(items, NOW, retired=[paper(1 + (at * 7) % 60).key] if at % 4 == 0 else [])
            await store.vectors.save(SPACE, items[:3], vectors_of(items[:3], chance), quick=False)
        assert await dying == -signal.SIGKILL
    copy = copy_of(store, tmp_path / "copy")
    await meant(copy)
    await copy.follow()
    assert await even(copy) > 0
    await copy.close()
    connections = Connections(tmp_path / "copy" / COPY)
    connections.open()
    await expect_the_same(store, connections, SPACE)
    await connections.close()
    await store.close()
