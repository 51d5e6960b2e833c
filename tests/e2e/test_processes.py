"""Several `broadsheet run --roles …` on one PostgreSQL database: each a process of its own, and nothing posted twice."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from adapters.cli.exits import Exit
from tests.e2e.desk import Desk
from tests.fakes.forked import Forked
from tests.fakes.patience import PATIENCE
from tests.stores import postgres_server

BEFORE, NOW = ("--now", "2026-04-01T06:50:00+00:00"), ("--now", "2026-04-01T07:00:01+00:00")


@dataclass
class Cluster:
    """A desk whose database is a server's, and the processes that run on it."""

    desk: Desk
    address: str
    running: list[Forked] = field(default_factory=list)

    def settle(self, extra: str = "") -> None:
        """Write the settings: a database of the server's, and whatever else is given."""
        self.desk.settle(extra)
        file = self.desk.folder / "broadsheet.toml"
        file.write_text(file.read_text().replace(f'"{self.desk.database}"', f'"{self.address}"'))

    async def start(self, roles: str, *options: str) -> Forked:
        """Begin a process with these roles, in a folder of its own."""
        place = {
            "BROADSHEET_POSTGRES__FOLDER": str(self.desk.folder / f"process-{len(self.running)}"),
            "BROADSHEET_RUN__DIGESTS_DIR": str(self.digests),
        }
        process = await self.desk.start(*options, "-v", "run", "--roles", roles, **place)
        self.running.append(process)
        return process

    @property
    def digests(self) -> Path:
        return self.desk.folder / "digests"

    async def rows(self, query: str, *given: Any) -> Sequence[tuple[Any, ...]]:
        """Return what the database answers."""

        def asked() -> Sequence[tuple[Any, ...]]:
            with psycopg.connect(self.address) as db:
                return db.execute(query.encode(), given).fetchall()

        return await asyncio.to_thread(asked)

    async def end(self, process: Forked) -> str:
        """Tell a process to end, and return what it wrote when it has."""
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        _, err = await asyncio.wait_for(process.communicate(), PATIENCE)
        self.running.remove(process)
        said = err.decode()
        assert process.returncode == Exit.OK, said
        assert "Traceback" not in said, said
        return said


@pytest.fixture
async def cluster(desk: Desk, postgres_address: str, worker_id: str) -> AsyncIterator[Cluster]:
    name = f"broadsheet_processes_{worker_id}"
    await asyncio.to_thread(postgres_server.dropped, postgres_address, name)
    made = Cluster(desk, await asyncio.to_thread(postgres_server.database, postgres_address, name))
    made.settle()
    try:
        yield made
    finally:
        for process in list(made.running):
            print(await made.end(process))
        await asyncio.to_thread(postgres_server.dropped, postgres_address, name)


async def until(is_so: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await is_so():  # noqa: ASYNC110 - another process sets no event
            await asyncio.sleep(0.1)


async def test_what_is_due_is_noted_made_and_posted_by_three_processes_once(cluster: Cluster) -> None:
    desk = cluster.desk
    assert (await desk.run("subscribe", "gpu-systems", "at", "07:00", "in", "UTC", "full")).status == Exit.OK
    assert (await desk.run("collect")).status == Exit.OK
    first = await cluster.start("clock", *BEFORE)
    await until(lambda: cluster.rows("select value from facts where name = 'last tick'"))
    await cluster.end(first)

    for roles in ("clock", "make", "deliver"):
        await cluster.start(roles, *NOW)
    await until(lambda: _states(cluster, "done"))
    for process in list(cluster.running):
        await cluster.end(process)

    (posted,) = sorted(cluster.digests.glob("*.txt"))
    assert posted.name == "2026-04-01-gpu-systems.txt"
    assert await cluster.rows("select state, count(*) from occurrences group by state") == [("made", 1)]
    assert await cluster.rows("select * from processes") == []


async def _states(cluster: Cluster, state: str) -> bool:
    rows = await cluster.rows("select distinct state from deliveries")
    return rows == [(state,)]
