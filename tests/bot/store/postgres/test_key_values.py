"""Facts, states and spent tokens of several processes on one database."""

import asyncio
from pathlib import Path

from psycopg import AsyncConnection

from bot.models import SourceState
from tests.bot.store.postgres.opened import two
from tests.conftest import NOW


async def test_what_several_spend_at_the_same_time_adds_up(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as stores:
        await asyncio.gather(*(stores[at % 2].summaries.spend(NOW.date(), at) for at in range(40)))
        assert await stores[0].summaries.spent(NOW.date()) == sum(range(40))


async def test_of_two_that_save_a_state_at_the_same_time_one_stays_whole(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as stores:
        states = [SourceState(name="arxiv", items=at, note=f"note {at}") for at in range(10)]
        await asyncio.gather(*(stores[state.items % 2].source_states.save(state) for state in states))
        assert await stores[0].source_states.get("arxiv") in states


async def test_the_version_is_the_same_for_two_processes_and_stays_while_nobody_writes(
    postgres: str, tmp_path: Path
) -> None:
    async with two(postgres, tmp_path) as (one, other):
        await one.facts.set("a", "1")
        versions = [await store.facts.version() for store in (one, other, one)]
        assert all(0 <= version < 2**32 for version in versions)
        # Another database of the same server may be written at any moment, which counts as well: then it is another number.
        before = versions[-1]
        await other.facts.set("a", "2")
        assert await one.facts.version() != before


async def test_a_write_that_is_not_committed_is_in_no_version_that_comes_after_it(postgres: str, tmp_path: Path) -> None:
    """What is read at a version is what was committed: the commit makes another one, whatever was written before it."""
    async with two(postgres, tmp_path) as (one, _):
        await one.facts.set("a", "old")
        async with await AsyncConnection.connect(postgres) as db:  # it takes its time
            await db.execute("update facts set value = 'new' where name = 'a'")
            during, read = await one.facts.version(), await one.facts.get("a")
        assert read == "old"
        assert await one.facts.get("a") == "new"
        assert await one.facts.version() != during
