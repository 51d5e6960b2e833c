"""Lanes: what waits is shared out by workspace, the same by every process, and each row of it is in one lane."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import (
    FOREVER,
    OVERTAKEN,
    Delivery,
    DeliveryState,
    LaneBacklog,
    LeftOut,
    Occurrence,
    OccurrenceState,
    Rhythm,
    lane_of,
)
from bot.ports.shared.lanes import DELIVER, MAKE
from bot.store.postgres.store import PostgresStore
from bot.store.records import occurrence_to_text
from bot.store.rules.transitions import came_to_nothing
from tests.bot.store.postgres.opened import two
from tests.conftest import NOW, tries
from tests.contract.made import digest
from tests.contract.test_ledger import LEASE, done, made, occurrence, part, subscribed, taken

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
Both = tuple[PostgresStore, PostgresStore]
names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))  # as PostgreSQL keeps them


@pytest.fixture
async def both(postgres: str, tmp_path: Path) -> AsyncIterator[Both]:
    async with two(postgres, tmp_path) as stores:
        yield stores


async def some(store: PostgresStore, many: int) -> list[str]:
    """Return workspaces of two platforms, in each of which a delivery and an occurrence are due."""
    workspaces = [f"{('slack', 'discord')[number % 2]}:T{number}" for number in range(many)]
    for workspace in workspaces:
        ours = await subscribed(store, workspace=workspace)
        await made(store, ours)
        await store.ledger.open_occurrences([occurrence(ours, slot=1)], ours, NOW + DAY)
    return workspaces


@settings(max_examples=tries(200), deadline=None)
@given(given=st.lists(names | st.tuples(names, names).map(":".join), min_size=1, max_size=20, unique=True))
def test_the_tables_tell_the_lane_of_any_workspace_as_the_model_does(postgres: str, given: list[str], opened: None) -> None:
    with psycopg.connect(postgres) as db:
        sql = (
            "insert into occurrences (workspace, subscription, day, slot, channel, due, state, data)"
            " values (%s, '', '', 0, '', 0, '', '') returning lane"
        )
        lanes = [db.execute(sql, [workspace]).fetchone() for workspace in given]
        db.rollback()
    assert lanes == [(lane_of(workspace),) for workspace in given]


@pytest.fixture(scope="module")
def opened(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The tables are there."""

    async def run() -> None:
        async with two(postgres, tmp_path_factory.mktemp("lanes")):
            pass

    asyncio.run(run())


async def test_what_waits_is_listed_in_its_own_lane_and_in_no_other(both: Both) -> None:
    workspaces = await some(both[0], 40)
    lanes = {lane_of(workspace) for workspace in workspaces}
    found: list[Delivery | Occurrence] = []
    for lane in sorted(lanes):
        ledger = both[1].lanes.ledger(lane)
        here: list[Delivery | Occurrence] = [*await ledger.due_deliveries(NOW)]
        here += await ledger.occurrences(NOW)
        assert {lane_of(each.workspace) for each in here} == {lane}
        found += here
    assert sorted(each.workspace for each in found) == sorted(2 * workspaces)
    assert await both[1].lanes.ledger("slack:none").due_deliveries(NOW) == []


async def test_what_has_to_be_looked_for_is_listed_in_its_own_lane(both: Both) -> None:
    workspaces = await some(both[0], 12)
    for each in await both[0].ledger.due_deliveries(NOW):
        await taken(both[0], each)
    later = NOW + LEASE
    for lane in {lane_of(workspace) for workspace in workspaces}:
        found = await both[1].lanes.ledger(lane).unsettled_deliveries(later)
        assert sorted(each.workspace for each in found) == sorted(each for each in workspaces if lane_of(each) == lane)


async def test_the_workspaces_of_a_lane_take_turns_as_all_do(both: Both) -> None:
    first = "slack:T0"
    second = next(name for name in (f"slack:T{number}" for number in range(1, 999)) if lane_of(name) == lane_of(first))
    for workspace in (first, second):
        ours = await subscribed(both[0], workspace=workspace)
        for slot in range(3):
            await made(both[0], ours, slot=slot, due=NOW - (6 - slot) * MINUTE)
    ledger = both[1].lanes.ledger(lane_of(first))
    assert [each.workspace for each in await ledger.due_deliveries(NOW)] == [first, second] * 3
    had = {first: 2}
    assert [each.workspace for each in await ledger.due_deliveries(NOW, had=had)] == [
        second,
        second,
        *[first, second],
        first,
        first,
    ]
    assert [each.workspace for each in await ledger.due_deliveries(NOW, without=[first])] == [second] * 3


async def test_everything_else_of_a_lane_is_as_of_the_whole(both: Both) -> None:
    (workspace, *_) = await some(both[0], 2)
    other = both[1].lanes.ledger("slack:none")
    (pending,) = await both[0].ledger.deliveries(workspace)
    held = await other.claim(pending, NOW, LEASE)
    assert held is not None
    assert await other.begin(held)
    assert await both[0].ledger.record(done(held))
    assert (await other.counts())["done"] == 1


async def test_the_backlog_counts_by_verb_and_lane_what_has_work_now(both: Both) -> None:
    store, at = both[0], NOW + LEASE
    ours = await subscribed(store, workspace="slack:T1")
    lane = lane_of("slack:T1")
    (sending,) = await made(store, ours, slot=1, due=NOW - 5 * MINUTE)
    await taken(store, sending)
    (unclear,) = await made(store, ours, slot=2)
    held = await taken(store, unclear)
    await store.ledger.record(replace(held, state=DeliveryState.AMBIGUOUS, lease_until=None, next_at=at))
    (settled,) = await made(store, ours, slot=3)
    await store.ledger.record(done(await taken(store, settled)))
    await made(store, ours, slot=4, parts=3)  # of its parts the first one
    waits = occurrence(ours, slot=5)
    await store.ledger.open_occurrences([waits, occurrence(ours, slot=6)], ours, NOW + DAY)
    await store.ledger.close_occurrence(replace(waits, next_at=NOW + DAY), NOW)
    await store.ledger.open_on_request(occurrence(ours, slot=7))
    later = [part(occurrence(ours, slot=7), number, 2, next_at=NOW + DAY if number == 1 else FOREVER) for number in (1, 2)]
    await store.ledger.close_occurrence(replace(occurrence(ours, slot=7), state=OccurrenceState.MADE), NOW, deliveries=later)
    assert await both[1].lanes.waiting(at) == [
        LaneBacklog(MAKE, lane, 1, NOW),
        LaneBacklog(DELIVER, lane, 3, NOW - 5 * MINUTE),
    ]
    assert [each.waiting for each in await both[1].lanes.waiting(NOW + DAY)] == [2, 4]
    assert [each.verb for each in await both[1].lanes.waiting(NOW - DAY)] == [MAKE]  # is opened once it is due


async def test_each_lane_has_as_much_to_do_as_it_is_told(both: Both) -> None:
    await some(both[0], 30)
    for each in (await both[0].ledger.due_deliveries(NOW))[:10]:
        await taken(both[0], each)
    backlog = await both[1].lanes.waiting(NOW + LEASE)
    assert {each.verb for each in backlog} == {MAKE, DELIVER}
    for lane in backlog:
        ledger = both[1].lanes.ledger(lane.lane)
        unsettled = await ledger.unsettled_deliveries(NOW + LEASE)
        deliveries = [*await ledger.due_deliveries(NOW + LEASE), *unsettled]
        assert lane.waiting == len(deliveries if lane.verb == DELIVER else await ledger.occurrences(NOW + LEASE))


# --- what else the tables derive from records


@pytest.mark.parametrize("state", OccurrenceState)
@pytest.mark.parametrize("reason", ["", OVERTAKEN, f"It was {OVERTAKEN}", f'"reason":"{OVERTAKEN}"'])
@pytest.mark.parametrize("slot", [0, 7])
async def test_the_tables_tell_what_came_to_nothing_as_the_rules_do(
    both: Both, postgres: str, state: OccurrenceState, reason: str, slot: int
) -> None:
    ours = await subscribed(both[0])
    each = occurrence(ours, slot=slot, state=state, reason=reason)
    async with await psycopg.AsyncConnection.connect(postgres) as db:
        sql = (
            "insert into occurrences (workspace, subscription, day, slot, channel, due, state, data)"
            " values ('T', '', '', %s, '', 0, %s, %s) returning came_to_nothing"
        )
        row = await (await db.execute(sql, [slot, str(state), occurrence_to_text(each)])).fetchone()
    assert row == (came_to_nothing(each),)


async def test_the_tables_tell_which_digests_show_and_say_nothing(both: Both, postgres: str) -> None:
    left = LeftOut("arxiv:2604.00009", "cap", 2, 0.4)
    said = {
        "shows": replace(digest(0.5), title='"entries":[] and "left_out":[]'),
        "shows and leaves out": replace(digest(0.5), left_out=(left,)),
        "leaves out": replace(digest(), left_out=(left,)),
        "says nothing": digest(),
    }
    found = {}
    for name, each in said.items():
        await both[0].digests.save("T1", name, replace(each, rhythm=Rhythm.AT_ONCE), NOW)
        async with await psycopg.AsyncConnection.connect(postgres) as db:
            sql = "select shows_nothing, says_nothing from digests where channel = %s"
            found[name] = await (await db.execute(sql, [name])).fetchone()
    assert found == {
        "shows": (False, False),
        "shows and leaves out": (False, False),
        "leaves out": (True, False),
        "says nothing": (True, True),
    }
