"""What Discord refused, counted over the processes of one address: PostgreSQL's budgets, and a clock that the test moves."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.discord.client.api import BREAK, BREAK_TOGETHER, WINDOW, InvalidRequests, counted_together
from bot.service.platforms import Cluster
from bot.store.postgres.store import PostgresStore
from tests.fakes.patience import PATIENCE
from tests.stores.postgres_server import emptied_aside

SPAN = timedelta(seconds=WINDOW)
HERE = "192.0.2.1"
ENOUGH = BREAK - 1  # for a process not to stop by itself


class Process:
    def __init__(self, store: PostgresStore) -> None:
        self.store, self.now = store, 0.0
        self.invalid = InvalidRequests(lambda: self.now)

    def refused(self, times: int) -> None:
        for _ in range(times):
            self.invalid.note(403, {})

    async def share(self, address: str = HERE) -> float:
        """Share, and return for how long nothing is sent then."""
        await self.invalid.share(self.store.budgets, address)
        return self.invalid.paused_for()


@pytest.fixture
async def processes(postgres: str, tmp_path: Path) -> AsyncIterator[list[Process]]:
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(5):
            store = PostgresStore(await emptied_aside(postgres), tmp_path, most=1)
            await store.open()
            stack.push_async_callback(store.close)
            made.append(Process(store))
        yield made


async def test_processes_that_stay_below_their_own_limit_stop_at_that_of_their_address(processes: list[Process]) -> None:
    for each in processes[:-1]:
        each.refused(ENOUGH)
        assert await each.share() == 0
    processes[-1].refused(BREAK_TOGETHER - 4 * ENOUGH)
    assert await processes[-1].share() > 0
    assert [await each.share() > 0 for each in processes] == [True] * 5


async def test_another_address_has_a_count_of_its_own(processes: list[Process]) -> None:
    for each in processes:
        each.refused(ENOUGH)
        await each.share()
    assert await processes[-1].share() > 0
    elsewhere = Process(processes[0].store)
    assert await elsewhere.share("198.51.100.7") == 0


async def test_what_was_told_once_is_not_told_again(processes: list[Process]) -> None:
    processes[0].refused(7)
    await processes[0].share()
    await processes[0].share()
    assert await processes[1].store.budgets.spent(f"discord invalid {HERE}") == 7


async def test_a_process_sends_again_soon_after_the_count_has_fallen(processes: list[Process]) -> None:
    one, two = processes[:2]
    await two.store.budgets.spend(f"discord invalid {HERE}", BREAK_TOGETHER, 10**9, SPAN)
    assert await one.share() > 0
    await two.store.budgets.spend(f"discord invalid {HERE}", -BREAK_TOGETHER, 10**9, SPAN)
    one.now = 14.0
    assert await one.share() == 1.0
    one.now = 16.0
    assert await one.share() == 0


async def test_while_the_database_is_gone_it_stays_as_it_was(processes: list[Process]) -> None:
    one, two = processes[:2]
    await two.store.budgets.spend(f"discord invalid {HERE}", BREAK_TOGETHER, 10**9, SPAN)
    assert await one.share() > 0
    await one.store.close()
    await two.store.close()
    one.now = 14.0
    assert await one.share() == 15.0
    two.refused(3)
    assert await two.share() == 0


async def test_what_is_refused_is_told_by_itself_and_the_rest_at_the_end(processes: list[Process]) -> None:
    one, two = processes[:2]
    cluster = Cluster("one", one.store.leases, one.store.budgets, one.store.processes)
    one.refused(2)
    async with counted_together(one.invalid, cluster):
        async with asyncio.timeout(PATIENCE):
            while await two.store.budgets.spent(f"discord invalid {socket.gethostname()}") < 2:  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.02)
        one.refused(3)
    assert await two.store.budgets.spent(f"discord invalid {socket.gethostname()}") == 5


async def test_one_process_alone_tells_nobody(processes: list[Process]) -> None:
    one = processes[0]
    one.refused(2)
    async with counted_together(one.invalid, None):
        pass
    assert (one.invalid.count, one.invalid.paused_for()) == (2, 0.0)
