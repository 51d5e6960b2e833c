"""What chat platforms keep, met and kept by two processes at once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.store.postgres.store import PostgresStore
from tests.bot.store.postgres.opened import executed, two
from tests.conftest import NOW

DAY = timedelta(days=1)
Both = tuple[PostgresStore, PostgresStore]


@pytest.fixture
async def both(postgres: str, tmp_path: Path) -> AsyncIterator[Both]:
    async with two(postgres, tmp_path) as stores:
        yield stores


async def test_what_two_processes_meet_at_once_is_met_for_the_first_time_once_a_span(both: Both) -> None:
    for days in (0, 1, 2):
        now = NOW + days * DAY
        asked = [store.chats.first_time("slack", f"Ev{n % 5}", now, DAY) for n in range(20) for store in both]
        assert sum(await asyncio.gather(*asked)) == 5


async def test_what_is_forgotten_while_it_is_met_is_met_for_the_first_time_or_again_and_never_fails(
    both: Both, postgres: str
) -> None:
    async def forget() -> None:
        for _ in range(20):
            await executed(postgres, "delete from met")

    asked = [store.chats.first_time("slack", "Ev1", NOW) for _ in range(40) for store in both]
    *found, _ = await asyncio.gather(*asked, forget())
    assert any(found)


async def test_the_same_texts_that_are_kept_at_once_in_other_orders_are_kept(both: Both) -> None:
    texts = [f"text {n}" for n in range(50)]
    for number in range(5):
        now = NOW + number * DAY
        keys, others = await asyncio.gather(
            both[0].chats.keep_texts("T1", [*texts, texts[0]], now), both[1].chats.keep_texts("T1", texts[::-1], now)
        )
        assert keys == [*others[::-1], keys[0]]
    assert [await both[0].chats.kept_text("T1", key) for key in keys] == [*texts, texts[0]]
