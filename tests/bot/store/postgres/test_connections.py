"""Connections that break, servers that go and come back, and what is said of it."""

import asyncio
import re
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from bot.errors import SettingsError, StoreError
from bot.store.postgres.connections import Connections, Db, locked
from bot.store.postgres.server.gathering import Gathering
from bot.store.postgres.server.sentences import named
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


# --- questions that are asked together


def square_of(number: int) -> Callable[[Db], Awaitable[int]]:
    """Return a job of two statements, of which the second is asked with what the first gave."""

    async def square(db: Db) -> int:
        row = await (await db.execute("select %s::int", [number])).fetchone()
        assert row is not None
        ((square,),) = await (await db.execute("select %s::int * %s::int", [row[0], row[0]])).fetchall()
        return int(square)

    return square


async def test_each_of_many_questions_at_once_has_its_own_answer_and_few_goes_are_made(postgres: str) -> None:
    connections = Connections(postgres)
    await connections.open()
    goes = 0
    run = connections._in_thread

    async def counted(job: Any) -> Any:
        nonlocal goes
        goes += 1
        return await run(job)

    connections._in_thread = counted  # type: ignore[method-assign, assignment]
    numbers = [*range(100), *range(100)]
    found = await asyncio.gather(*(connections.ask(square_of(number)) for number in numbers))
    assert found == [number * number for number in numbers]
    assert 0 < goes <= len(numbers) // 16 + 2
    await connections.close()


async def test_whoever_asks_as_the_others_have_just_been_answered_is_answered_too() -> None:
    async def alone(job: Callable[[int], Awaitable[int]]) -> int:
        return await job(1)

    async def together(jobs: Sequence[Callable[[int], Awaitable[int]]]) -> Sequence[int]:
        return [await job(1) for job in jobs]

    async def job(given: int) -> int:
        return given

    gathering = Gathering(together, alone, is_reading=True)
    first = asyncio.create_task(gathering.run(job))
    await asyncio.sleep(0)
    going = gathering._going
    assert going is not None
    while not going.done():  # noqa: ASYNC110 - in the very step in which it ends
        await asyncio.sleep(0)
    assert await gathering.run(job) == await first == 1


async def test_of_questions_asked_together_one_that_fails_fails_alone(postgres: str) -> None:
    connections = Connections(postgres)
    await connections.open()

    async def wrong(db: Db) -> int:
        await db.execute("select 1 / 0")
        return 0

    async def damaged(db: Db) -> int:
        await one(db)
        raise StoreError("This row is damaged.")

    jobs = [one, wrong, square_of(3), damaged, one]
    found = await asyncio.gather(*map(connections.ask, jobs), return_exceptions=True)
    assert [found[0], found[2], found[4]] == [1, 9, 1]
    assert "division by zero" in str(found[1])
    assert str(found[3]) == "This row is damaged."
    assert isinstance(found[1], StoreError)
    await connections.close()


@pytest.mark.parametrize("together", ["ask", "tell"])
async def test_a_connection_is_whole_after_what_went_together_failed(postgres: str, together: str) -> None:
    connections = Connections(postgres, most=1)
    await connections.open()
    ask = getattr(connections, together)

    async def wrong(db: Db) -> int:
        await db.execute("select 1 / 0")
        return 0

    def told(number: int) -> Callable[[Db], Awaitable[int]]:
        async def same_words(db: Db) -> int:  # psycopg prepares what it is given the sixth time, in whichever go
            row = await (await db.execute("select %s::int", [number])).fetchone()
            return -1 if row is None else int(row[0])

        return same_words

    jobs = [wrong, *map(told, range(10))]
    for _ in range(2):
        found = await asyncio.gather(*map(ask, jobs), return_exceptions=True)
        assert found[1:] == [*range(10)]
    await connections.close()


async def test_of_changes_sent_together_none_is_made_twice_where_one_cannot_be_sent(postgres: str) -> None:
    connections = Connections(postgres, most=1)
    await connections.open()

    async def table(db: Db) -> None:
        await db.execute("create table told (name text)")

    await connections.write(table)

    def told(name: str) -> Callable[[Db], Awaitable[bool]]:
        async def one_row(db: Db) -> bool:
            statement = "insert into told select %s where not exists (select from told where name = %s) returning 1"
            return await (await db.execute(statement, [name, name.strip("\ud800")])).fetchone() is not None

        return one_row

    found = await asyncio.gather(*(connections.tell(told(name)) for name in ("a", "b\ud800", "c")), return_exceptions=True)
    assert [found[0], found[2]] == [True, True]
    assert isinstance(found[1], StoreError)
    await connections.close()


async def test_what_nobody_waits_for_any_more_is_not_begun(postgres: str) -> None:
    connections = Connections(postgres, most=1)
    await connections.open()
    begun = []

    def noted(number: int) -> Callable[[Db], Awaitable[int]]:
        async def note(db: Db) -> int:
            begun.append(number)
            return await one(db)

        return note

    asked = [asyncio.create_task(connections.tell(noted(number))) for number in range(4)]
    await asyncio.sleep(0)
    asked[2].cancel()
    await asyncio.gather(*asked, return_exceptions=True)
    assert sorted(begun) == [0, 1, 3]
    await connections.close()


async def test_whoever_asks_while_everything_is_cancelled_is_cancelled_too(postgres: str) -> None:
    connections = Connections(postgres, most=1)
    await connections.open()
    asked = [asyncio.create_task(connections.ask(one)) for _ in range(40)]
    await asyncio.sleep(0)
    going = connections._questions._going
    assert going is not None
    going.cancel()
    found = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 10)
    assert all(isinstance(each, asyncio.CancelledError) for each in found)
    assert await connections.ask(one) == 1
    await connections.close()


async def test_whoever_waits_no_more_for_an_answer_keeps_nobody_else_from_his(postgres: str) -> None:
    connections = Connections(postgres)
    await connections.open()
    asked = [asyncio.create_task(connections.ask(square_of(number))) for number in range(40)]
    await asyncio.sleep(0)
    for task in asked[::2]:
        task.cancel()
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert found[1::2] == [number * number for number in range(1, 40, 2)]
    assert all(isinstance(each, asyncio.CancelledError) for each in found[::2])
    await connections.close()


async def test_questions_asked_together_are_asked_again_where_their_connection_was_ended(postgres: str) -> None:
    connections = Connections(postgres, most=1)
    await connections.open()
    theirs = await connections.read(pid)
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute("select pg_terminate_backend(%s, 5000)", [theirs])
    assert await asyncio.gather(*(connections.ask(one) for _ in range(20))) == [1] * 20
    await connections.close()


async def test_questions_to_a_server_that_is_away_are_all_told_so(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.store.postgres.connections.PATIENCE", timedelta(seconds=2))
    connections = Connections(server.address)
    await connections.open()
    await asyncio.to_thread(server.stop, signal.SIGQUIT)
    found = await asyncio.gather(*(connections.ask(one) for _ in range(40)), return_exceptions=True)
    assert all(isinstance(each, StoreError) for each in found)
    back = await asyncio.to_thread(postgres_server.start_again, server)
    assert await asyncio.gather(*(connections.ask(one) for _ in range(40))) == [1] * 40
    await connections.close()
    with pytest.raises(StoreError, match="not open"):
        await connections.ask(one)
    await asyncio.to_thread(back.stop)


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


@pytest.mark.parametrize("password", ["horse/battery", "horse@battery", "horse%zbattery", "12/battery@horse"])
async def test_an_address_whose_password_is_not_escaped_is_told_so_and_tells_nothing_of_it(password: str) -> None:
    address = f"postgresql://ada:{password}@127.0.0.1:1/papers"
    assert not {"horse", "battery"} & set(re.split(r"\W", named(address)))
    with pytest.raises(SettingsError, match="%2F") as raised:
        await Connections(address).open()
    assert not {"horse", "battery"} & set(re.split(r"\W", str(raised.value)))


def test_a_database_is_named_without_who_uses_it() -> None:
    assert named(f"postgresql://somebody:{SECRET}@db.example:6432/papers") == "db.example:6432/papers"
    assert named(f"host=a,b user=somebody password={SECRET} dbname=papers") == "a,b/papers"
    assert named("postgresql://[broken") == "PostgreSQL"


async def test_what_others_set_for_sessions_changes_neither_texts_nor_what_a_transaction_sees(
    postgres_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "broadsheet_test_settings"
    address = postgres_server.database(postgres_address, name)
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(f"alter database {name} set default_transaction_isolation = 'repeatable read'".encode())
        db.execute(f"alter database {name} set jit = on".encode())
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    connections = Connections(address, most=1)
    await connections.open()

    async def seen(db: Db) -> tuple[object, ...]:
        sql = "select current_setting('transaction_isolation'), current_setting('jit'), %s::text"
        return await (await db.execute(sql, ["漢"])).fetchone() or ()

    assert await connections.write(seen) == ("read committed", "off", "漢")
    await connections.close()
    postgres_server.dropped(postgres_address, name)
