"""Connections that break, servers that go and come back, and what is said of it."""

import asyncio
import signal
import threading
from collections.abc import Iterator

import psycopg
import pytest

from bot.errors import StoreError
from bot.store.postgres.connections import Connections, Db, locked, named
from tests.stores import postgres_server
from tests.stores.postgres_server import Server

SECRET = "correct-horse"


@pytest.fixture
def server(postgres_address: str) -> Iterator[Server]:
    """Return a server of this test's own, which may be ended."""
    own = postgres_server.start()
    yield own
    own.remove()


async def one(db: Db) -> int:
    row = await (await db.execute("select 1")).fetchone()
    assert row is not None
    return int(row[0])


async def pid(db: Db) -> int:
    return db.info.backend_pid


async def test_a_read_is_done_on_another_connection_where_its_own_was_ended(postgres: str) -> None:
    connections = Connections(postgres, most=1)
    await connections.open()
    theirs = await connections.read(pid)
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute("select pg_terminate_backend(%s, 5000)", [theirs])
    assert await connections.read(one) == 1
    assert await connections.read(pid) != theirs
    await connections.close()


async def test_a_write_whose_connection_was_ended_fails_and_the_next_one_does_not(postgres: str) -> None:
    connections = Connections(postgres, most=1)
    await connections.open()

    async def ended_in_the_middle(db: Db) -> None:
        with psycopg.connect(postgres, autocommit=True) as other:
            other.execute("select pg_terminate_backend(%s, 5000)", [db.info.backend_pid])
        await one(db)

    with pytest.raises(StoreError, match="made anew by itself"):
        await connections.write(ended_in_the_middle)
    assert await connections.write(one) == 1
    await connections.close()


async def test_a_server_that_comes_back_is_used_again_without_a_restart(server: Server) -> None:
    connections = Connections(server.address)
    await connections.open()
    assert await connections.read(one) == 1
    await asyncio.to_thread(server.stop, signal.SIGQUIT)
    with pytest.raises(StoreError):
        await connections.write(one)
    back = await asyncio.to_thread(postgres_server.start_again, server)
    assert await connections.read(one) == 1
    assert await connections.write(one) == 1
    await connections.close()
    await asyncio.to_thread(back.stop)


async def test_where_the_primary_is_gone_its_standby_takes_the_writes(server: Server) -> None:
    standby = await asyncio.to_thread(postgres_server.standby_of, server)
    both = f"postgresql://broadsheet@127.0.0.1:{server.port},127.0.0.1:{standby.port}/postgres"
    connections = Connections(both)
    await connections.open()

    async def port(db: Db) -> int:
        await db.execute("create table if not exists t (a int)")
        return db.info.port

    assert await connections.write(port) == server.port
    await asyncio.to_thread(server.stop, signal.SIGQUIT)
    await asyncio.to_thread(postgres_server.promote, standby)
    with pytest.raises(StoreError):  # what was connected to the one that is gone
        await connections.write(port)
    assert await connections.write(port) == standby.port
    await connections.close()
    await asyncio.to_thread(standby.remove)


async def test_transactions_that_come_in_each_others_way_are_done_one_after_the_other(postgres: str) -> None:
    connections = Connections(postgres, most=2)
    await connections.open()
    both, begun = threading.Barrier(2), 0

    async def crossing(db: Db, first: str, second: str) -> None:
        nonlocal begun
        await locked(db, first)
        begun += 1
        if begun <= 2:
            both.wait()
        await locked(db, second)

    await asyncio.gather(
        connections.write(lambda db: crossing(db, "a", "b")), connections.write(lambda db: crossing(db, "b", "a"))
    )
    assert begun == 3  # one of them was ended by the server and begun anew
    await connections.close()


async def test_a_transaction_that_fails_leaves_nothing_behind(postgres: str) -> None:
    connections = Connections(postgres)
    await connections.open()

    async def half(db: Db) -> None:
        await db.execute("create table half (a int)")
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        await connections.write(half)

    async def is_there(db: Db) -> bool:
        row = await (await db.execute("select to_regclass('half') is null")).fetchone()
        return row == (True,)

    assert await connections.read(is_there)
    await connections.close()


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://somebody:{SECRET}@127.0.0.1:1/papers",
        f"postgresql://somebody:{SECRET}@/papers?host=/nowhere",
        f"postgresql://somebody:{SECRET}@127.0.0.1:1/papers?password={SECRET}",
    ],
)
async def test_what_is_said_of_a_server_that_does_not_answer_holds_no_secret(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    connections = Connections(address)
    with pytest.raises(StoreError) as raised:
        await connections.open()
    assert "/papers cannot be reached" in str(raised.value)
    assert SECRET not in f"{raised.value!r} {raised.value.__cause__!r} {caplog.text}"


async def test_a_database_that_is_not_there_is_told_so(server: Server) -> None:
    connections = Connections(server.address.replace("/postgres", "/nowhere"))
    with pytest.raises(StoreError, match="nowhere or its user does not exist"):
        await connections.open()


def test_a_database_is_named_without_who_uses_it() -> None:
    assert named(f"postgresql://somebody:{SECRET}@db.example:6432/papers") == "db.example:6432/papers"
    assert named(f"host=a,b user=somebody password={SECRET} dbname=papers") == "a,b/papers"
    assert named("postgresql://[broken") == "PostgreSQL"
