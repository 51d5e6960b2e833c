"""What processes on one database tell each other, in memory."""

import asyncio
from datetime import timedelta
from pathlib import Path

from bot.delivery.restored import read_unrecorded_until
from bot.ports.facts import HEARTBEAT
from bot.service.heartbeat_file import read_alive
from bot.service.presence import OpenedPlaces, Presence, SharedHeartbeat, new_process_id
from tests.conftest import NOW
from tests.stores.memory import MemoryStore

BEAT = timedelta(seconds=15)


def beside(folder: Path, name: str) -> Path:
    return folder / name / "search.sqlite3"


async def test_a_process_is_there_until_it_leaves_and_its_leases_with_it() -> None:
    store, name = MemoryStore(), new_process_id()
    presence = Presence(store.processes, name, ("clock", "make"), 7, NOW, lambda: {"lag": 0.5})
    await presence.beat()
    await store.leases.take("clock", name, timedelta(hours=1))

    (there,) = await store.processes.every()
    assert (there.id, there.roles, there.schema, there.begun, dict(there.figures)) == (
        name, ("clock", "make"), 7, NOW, {"lag": 0.5},
    )  # fmt: skip
    await presence.leave()
    assert await store.processes.every() == []
    assert await store.leases.held() == []
    assert new_process_id() != name


async def test_the_next_one_that_writes_the_heartbeat_sees_that_the_database_was_restored(tmp_path: Path) -> None:
    facts = MemoryStore().facts
    first, second = (SharedHeartbeat(facts, beside(tmp_path, name)) for name in ("first", "second"))
    await first.beat(NOW)
    await second.follow()
    await first.beat(NOW + BEAT)
    await second.follow()
    assert await read_unrecorded_until(facts) is None

    await facts.set(HEARTBEAT, (NOW - timedelta(days=1)).isoformat())  # a copy of yesterday
    await second.beat(NOW + 2 * BEAT)

    doubted = await read_unrecorded_until(facts)
    assert doubted is not None
    assert doubted >= NOW + BEAT


async def test_the_one_that_writes_it_sees_a_database_that_is_restored_while_it_runs(tmp_path: Path) -> None:
    facts = MemoryStore().facts
    only = SharedHeartbeat(facts, beside(tmp_path, "only"))
    await only.beat(NOW)
    await facts.set(HEARTBEAT, (NOW - timedelta(days=1)).isoformat())
    await only.follow()
    await only.beat(NOW + BEAT)

    assert await read_unrecorded_until(facts) is not None


async def test_a_process_that_was_away_takes_over_without_any_doubt(tmp_path: Path) -> None:
    facts = MemoryStore().facts
    first, second = (SharedHeartbeat(facts, beside(tmp_path, name)) for name in ("first", "second"))
    await second.beat(NOW)
    await first.beat(NOW + BEAT)
    await second.beat(NOW + 2 * BEAT)

    assert await read_unrecorded_until(facts) is None
    assert await asyncio.to_thread(read_alive, beside(tmp_path, "second")) == NOW + 2 * BEAT


async def test_what_one_process_hears_of_is_taken_by_another_once() -> None:
    store = MemoryStore()
    gateway, clock = (OpenedPlaces(store.facts, store.leases, name) for name in ("gateway", "clock"))
    gateway.hear("discord:1", "C1")
    gateway.hear("discord:1", "C1")
    gateway.hear("discord:", "")
    assert await clock.taken() == ()
    await gateway.tell()
    await gateway.tell()

    assert await clock.taken() == [("discord:1", "C1"), ("discord:", "")]
    assert await clock.taken() == ()


async def test_what_cannot_be_handed_over_now_is_the_next_time() -> None:
    store = MemoryStore()
    gateway, clock = (OpenedPlaces(store.facts, store.leases, name) for name in ("gateway", "clock"))
    held = await store.leases.take("opened", "another", timedelta(hours=1))
    gateway.hear("slack:T1", "")
    await gateway.tell()
    assert held is not None
    await store.leases.give_back(held)
    await store.facts.set("opened", "damaged")
    await gateway.tell()

    assert await clock.taken() == [("slack:T1", "")]
