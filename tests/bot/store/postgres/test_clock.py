"""The database's clock as a process tells it: by a steady clock that the test moves, and where its own is wrong."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from bot.errors import StoreError
from bot.store.postgres.clock import ServerClock
from bot.store.postgres.connections import Connections
from bot.store.records import time_of

T = TypeVar("T")
SECOND = 1_000_000
MINUTE = timedelta(minutes=1)


class Answers:
    """A server that shows its time in the middle of each round trip, and the steady clock of who asks."""

    def __init__(self) -> None:
        self.steady = 50 * SECOND
        self.ahead = 1_775_000_000 * SECOND  # of the server's clock
        self.there, self.back = 1000, 1000  # microseconds on the way
        self.fails = False

    async def read(self, job: Callable[[Any], Awaitable[T]], *, view: bool = False) -> T:
        if self.fails:
            raise StoreError("The connection was lost.")
        return await job(self)

    async def execute(self, statement: bytes) -> "Answers":
        self.steady += self.there
        self.shown = self.steady + self.ahead
        self.steady += self.back
        return self

    async def fetchone(self) -> tuple[int]:
        return (self.shown,)

    @property
    def now(self) -> datetime:
        return time_of(self.steady + self.ahead)


@pytest.fixture
def server() -> Answers:
    return Answers()


@pytest.fixture
async def clock(server: Answers) -> ServerClock:
    made = ServerClock(server, lambda: server.steady)  # type: ignore[arg-type]
    await made.open()
    return made


async def test_it_shows_the_servers_time_and_goes_with_the_steady_clock(server: Answers, clock: ServerClock) -> None:
    assert clock.now() == server.now
    server.steady += 90 * SECOND
    assert clock.now() == server.now


async def test_it_is_off_by_half_of_the_round_trip_at_most_and_says_so(server: Answers) -> None:
    server.there, server.back = 0, 40_000  # the worst of ways
    clock = ServerClock(server, lambda: server.steady)  # type: ignore[arg-type]
    await clock.open()
    assert abs(clock.now() - server.now) == timedelta(milliseconds=20)
    assert timedelta(milliseconds=20) <= clock.error < timedelta(milliseconds=21)


async def test_the_shortest_round_trip_of_the_last_few_counts(server: Answers, clock: ServerClock) -> None:
    server.back = 300_000
    await clock.measure()
    assert clock.now() == server.now
    for _ in range(6):
        await clock.measure()
    assert abs(clock.now() - server.now) == timedelta(microseconds=149_500)


async def test_what_was_measured_long_ago_counts_for_no_more_than_it_is_worth(server: Answers, clock: ServerClock) -> None:
    server.steady += 3600 * SECOND
    assert clock.error > timedelta(milliseconds=700)


async def test_before_it_was_measured_it_shows_nothing(server: Answers) -> None:
    with pytest.raises(StoreError, match="not read yet"):
        ServerClock(server, lambda: server.steady).now()  # type: ignore[arg-type]


async def test_it_follows_a_server_whose_clock_was_moved(server: Answers, clock: ServerClock) -> None:
    for moved in (300 * SECOND, -600 * SECOND):
        server.ahead += moved
        await clock.measure()
        assert clock.now() == server.now


async def test_it_stands_still_rather_than_going_back_a_little(server: Answers, clock: ServerClock) -> None:
    shown = clock.now()
    server.ahead -= SECOND // 2
    await clock.measure()
    assert clock.now() == shown
    server.steady += SECOND // 4
    assert clock.now() == shown
    server.steady += SECOND
    assert clock.now() == server.now > shown


async def test_after_the_connection_was_lost_all_is_measured_anew(server: Answers, clock: ServerClock) -> None:
    server.fails = True
    with pytest.raises(StoreError):
        await clock.measure()
    server.fails, server.back = False, 50_000
    server.ahead += 20_000  # another server, not so far off that one could tell
    await clock.measure()
    assert abs(clock.now() - server.now) == timedelta(microseconds=24_500)


@pytest.fixture
async def connections(postgres: str) -> AsyncIterator[Connections]:
    made = Connections(postgres, most=1)
    await made.open()
    yield made
    await made.close()


async def server_time(connections: Connections) -> datetime:
    async def job(db: Any) -> datetime:
        row = await (await db.execute("select clock_timestamp()")).fetchone()
        return row[0].astimezone(UTC)  # type: ignore[no-any-return]

    return await connections.read(job)


async def test_it_agrees_with_a_server_within_what_it_says(connections: Connections) -> None:
    clock = ServerClock(connections)
    await clock.open()
    before = clock.now()
    shown = await server_time(connections)
    after = clock.now()
    assert before - clock.error <= shown <= after + clock.error


# A process that believes it is five minutes later than it is, by every clock that tells the time of day.
_WRONG = """
import asyncio, datetime as real, sys, time
ahead = real.timedelta(minutes=5)
true_time = time.time
time.time = lambda: true_time() + ahead.total_seconds()
class Wrong(real.datetime):
    @classmethod
    def now(cls, tz=None):
        return real.datetime.fromtimestamp(time.time(), tz)
from bot.store.postgres import clock as tested
from bot.store.postgres.connections import Connections
async def main():
    connections = Connections(sys.argv[1], most=1)
    await connections.open()
    clock = tested.ServerClock(connections)
    await clock.open()
    print(clock.now().isoformat(), Wrong.now(real.UTC).isoformat())
    await connections.close()
asyncio.run(main())
"""


async def test_a_process_whose_own_clock_is_five_minutes_off_shows_the_servers_time(
    postgres: str, connections: Connections
) -> None:
    before = await server_time(connections)
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", _WRONG, postgres], capture_output=True, check=True, text=True, timeout=60
    )
    after = await server_time(connections)
    shown, own = map(datetime.fromisoformat, done.stdout.split())
    assert before <= shown <= after + MINUTE / 60
    assert own >= before + 5 * MINUTE
