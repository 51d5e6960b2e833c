"""The runner of one process among several: it ends with what it has in hand, and where a newer version needs it to."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from bot.errors import StoreError, Superseded
from bot.ports.runner import Job
from bot.service.lane_runner import LaneRunner
from bot.service.leased import WorkLease, under_lease
from bot.service.presence import Presence
from bot.service.runner import LocalRunner
from bot.store.single_process import SoleLeases, SoleProcesses
from tests.conftest import NOW
from tests.fakes.patience import PATIENCE

SOON, SECOND = timedelta(milliseconds=5), timedelta(seconds=1)


async def usable() -> None:
    """Nothing is newer."""


class Bench:
    """A runner with one job under a lease."""

    def __init__(self, expect_usable: Callable[[], Awaitable[None]] = usable) -> None:
        self.leases = SoleLeases()
        self.processes = SoleProcesses(self.leases)
        self.local = LocalRunner(grace=SECOND)
        self.worked = asyncio.Event()
        lease = WorkLease(self.leases, "clock", "one", timedelta(hours=1))
        presence = Presence(self.processes, "one", ("clock",), 1, NOW, dict)
        self.runner = LaneRunner(self.local, presence, None, [lease], expect_usable, look=SOON)
        self.job = under_lease(Job("tick", SECOND, self.work, at_once=True), lease)

    async def work(self) -> None:
        self.worked.set()

    async def run(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.runner.run([self.job])


async def test_whoever_ends_gives_back_its_leases_and_is_not_among_the_processes_any_more() -> None:
    bench = Bench()
    running = asyncio.create_task(bench.run())
    async with asyncio.timeout(PATIENCE):
        await bench.worked.wait()
    assert [each.id for each in await bench.processes.every()] == ["one"]
    assert [each.holder for each in await bench.leases.held()] == ["one"]
    bench.runner.stop()
    await running
    assert (list(await bench.processes.every()), list(await bench.leases.held())) == ([], [])


async def test_a_process_of_a_version_that_may_not_go_on_hands_back_what_it_has_and_says_so() -> None:
    asked = 0

    async def newer() -> None:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise StoreError("The server is away.")
        if asked > 2 and bench.worked.is_set():
            raise Superseded("The database was upgraded.")

    bench = Bench(newer)
    with pytest.raises(Superseded, match="upgraded"):
        await bench.run()
    assert (list(await bench.processes.every()), list(await bench.leases.held())) == ([], [])
