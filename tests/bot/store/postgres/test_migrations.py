"""The numbered steps of the tables: taken once, by one process at a time, and refused where they are past this version."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import replace

import pytest

from bot.errors import StoreError
from bot.store.postgres.connections import Connections, Db
from bot.store.postgres.migrations import SCHEMA, STEPS, Step, applied_steps, expect_server, migrate
from tests.stores import postgres_server

EXPAND = Step(SCHEMA + 1, "a column more", SCHEMA, ("alter table facts add column more text not null default ''",))
CONTRACT = Step(SCHEMA + 2, "a column less", SCHEMA + 1, ("alter table facts drop column more",))


@pytest.fixture
async def connections(postgres_address: str, worker_id: str) -> AsyncIterator[Connections]:
    """Return an empty database of this test's own."""
    name = f"broadsheet_steps_{worker_id}"
    await asyncio.to_thread(postgres_server.dropped, postgres_address, name)
    made = Connections(await asyncio.to_thread(postgres_server.database, postgres_address, name))
    await made.open()
    yield made
    await made.close()
    await asyncio.to_thread(postgres_server.dropped, postgres_address, name)


async def test_every_step_is_taken_once_though_several_processes_begin_at_the_same_time(connections: Connections) -> None:
    found = await asyncio.gather(*(connections.bare(migrate) for _ in range(4)))
    assert sorted(found, key=len) == [[], [], [], [step.name for step in STEPS]]
    assert await connections.read(applied_steps) == {step.number: step.oldest_reader for step in STEPS}


async def test_a_step_that_fails_leaves_nothing_behind_and_is_taken_later(connections: Connections) -> None:
    await connections.bare(migrate)
    wrong = replace(EXPAND, statements=(*EXPAND.statements, "select nothing from nowhere"))
    with pytest.raises(StoreError):
        await connections.bare(lambda db: migrate(db, (*STEPS, wrong)))
    assert await connections.bare(lambda db: migrate(db, (*STEPS, EXPAND))) == [EXPAND.name]


async def test_an_older_program_goes_on_beside_what_was_added_and_is_refused_where_something_was_taken_away(
    connections: Connections,
) -> None:
    await connections.bare(lambda db: migrate(db, (*STEPS, EXPAND)))
    assert await connections.bare(migrate) == []
    await connections.bare(lambda db: migrate(db, (*STEPS, EXPAND, CONTRACT)))
    with pytest.raises(StoreError, match="upgraded by a newer Broadsheet"):
        await connections.bare(migrate)


async def test_a_step_may_take_longer_than_other_statements(connections: Connections) -> None:
    async def limits(db: Db) -> list[str]:
        return [
            str((await (await db.execute(f"show {name}_timeout".encode())).fetchall())[0][0])
            for name in ("statement", "lock")
        ]

    before = await connections.bare(limits)
    slow = Step(
        SCHEMA + 1,
        "slow",
        SCHEMA,
        ("select current_setting('statement_timeout')::interval / (current_setting('statement_timeout') = '0')::int",),
    )
    await connections.bare(lambda db: migrate(db, (*STEPS, slow)))
    assert await connections.bare(limits) == before == ["1min", "10s"]


@pytest.mark.parametrize(("version", "too_old"), [(90_624, True), (130_018, True), (140_000, False), (180_001, False)])
def test_a_server_that_is_too_old_is_refused(version: int, too_old: bool) -> None:
    with pytest.raises(StoreError, match=r"PostgreSQL \d+, .* 14 or newer") if too_old else nullcontext():
        expect_server(version)
