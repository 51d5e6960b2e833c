import pytest

from bot.ports.facts import HEARTBEAT, time_of_fact
from tests.conftest import NOW
from tests.stores.memory import MemoryStore


async def test_a_time_that_was_noted_is_told() -> None:
    store = MemoryStore()
    await store.facts.set(HEARTBEAT, NOW.isoformat())
    assert await time_of_fact(store.facts, HEARTBEAT) == NOW


@pytest.mark.parametrize("damaged", ["", "yesterday", "2026-04-01T07:00:00", "5"])
async def test_what_is_no_moment_is_none(damaged: str) -> None:
    store = MemoryStore()
    await store.facts.set(HEARTBEAT, damaged)
    assert await time_of_fact(store.facts, HEARTBEAT) is None
