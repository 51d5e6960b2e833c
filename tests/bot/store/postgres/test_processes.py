"""Budgets of several processes on one PostgreSQL database: paces hold over all of them, and nobody waits for nobody."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.models import Lease, Pace
from bot.store.postgres.processes import PostgresBudgets
from bot.store.postgres.store import PostgresStore
from tests.conftest import tries
from tests.stores.postgres_server import emptied_aside

OVER, MINUTE, HOUR, DAYS = timedelta(0), timedelta(minutes=1), timedelta(hours=1), timedelta(days=9)
PROCESSES = 4


@asynccontextmanager
async def budgets_of(address: str, folder: Path) -> AsyncIterator[Sequence[PostgresBudgets]]:
    """Give the budgets of four processes, each on one connection of its own."""
    stores = [PostgresStore(await emptied_aside(address), folder, most=1) for _ in range(PROCESSES)]
    async with AsyncExitStack() as stack:
        for store in stores:
            await store.open()
            stack.push_async_callback(store.close)
        yield [store.budgets for store in stores]


@pytest.fixture
async def budgets(postgres: str, tmp_path: Path) -> AsyncIterator[Sequence[PostgresBudgets]]:
    async with budgets_of(postgres, tmp_path) as made:
        yield made


# When a call is to be made lies between these two, in seconds of this machine's clock: the answer took a while.
Moment = tuple[float, float]


async def moments(budgets: PostgresBudgets, calls: Sequence[Sequence[Pace]]) -> list[tuple[Sequence[Pace], Moment]]:
    made = []
    for paces in calls:
        before = time.monotonic()
        wait = (await budgets.reserve(paces, patience=DAYS)).total_seconds()
        made.append((paces, (before + wait, time.monotonic() + wait)))
    return made


def expect_paced(found: Sequence[Moment], pace: Pace) -> None:
    """Any so many calls in a row take as long as their intervals, but for the slack."""
    found = sorted(found)
    for (first, (earliest, _)), (last, (_, latest)) in itertools.combinations(enumerate(found), 2):
        assert latest - earliest >= ((last - first) * pace.interval - pace.slack).total_seconds() - 1e-5


_PACES = st.builds(
    lambda minutes, slack: (minutes * MINUTE, slack * MINUTE), st.integers(1, 60), st.one_of(st.just(0), st.integers(1, 90))
)


@settings(max_examples=tries(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    paces=st.lists(_PACES, min_size=3, max_size=3),
    calls=st.lists(st.lists(st.sets(st.integers(0, 2), min_size=1), max_size=6), min_size=PROCESSES, max_size=PROCESSES),
)
def test_the_calls_of_four_processes_are_never_closer_than_the_paces_allow(
    postgres: str,
    tmp_path: Path,
    paces: list[tuple[timedelta, timedelta]],
    calls: list[list[set[int]]],
) -> None:
    places = [Pace(f"place {each}", *pace) for each, pace in enumerate(paces)]

    async def run() -> list[tuple[Sequence[Pace], Moment]]:
        async with budgets_of(postgres, tmp_path) as budgets:
            asked = [[[places[each] for each in call] for call in of_one] for of_one in calls]
            found = await asyncio.gather(*map(moments, budgets, asked))
            return [each for of_one in found for each in of_one]

    found = asyncio.run(run())
    for place in places:
        expect_paced([moment for called, moment in found if place in called], place)


async def test_one_pace_is_kept_and_no_slower_over_four_processes(budgets: Sequence[PostgresBudgets]) -> None:
    pace = Pace("arxiv", HOUR)
    found = await asyncio.gather(*(moments(each, [[pace]] * 5) for each in budgets))
    latest = max(moment[0] for of_one in found for _, moment in of_one)
    assert latest - time.monotonic() <= (19 * HOUR).total_seconds()
    expect_paced([moment for of_one in found for _, moment in of_one], pace)


async def test_places_in_any_order_never_keep_each_other_waiting(budgets: Sequence[PostgresBudgets]) -> None:
    paces = [Pace(f"place {each}", timedelta(microseconds=1)) for each in range(5)]
    orders = list(itertools.permutations(paces))[: PROCESSES * 25]

    async def calls(of_one: PostgresBudgets, mine: Sequence[Sequence[Pace]]) -> None:
        for order in mine:
            await of_one.reserve(order, patience=DAYS)

    async with asyncio.timeout(30):
        await asyncio.gather(*(calls(each, orders[number::PROCESSES]) for number, each in enumerate(budgets)))


async def test_what_would_wait_for_longer_than_its_patience_is_not_counted(budgets: Sequence[PostgresBudgets]) -> None:
    slow, quick = Pace("slow", HOUR), Pace("quick", timedelta(seconds=1))
    assert await budgets[0].reserve([slow], patience=OVER) == OVER
    for _ in range(3):
        wait = await budgets[1].reserve([quick, slow], patience=MINUTE)
        assert HOUR - MINUTE < wait <= HOUR
    assert await budgets[2].reserve([quick], patience=OVER) == OVER
    assert await budgets[3].reserve([slow], patience=HOUR) <= HOUR


async def test_what_another_process_lets_rest_is_left_alone(budgets: Sequence[PostgresBudgets]) -> None:
    pace = Pace("slack post", MINUTE)
    await budgets[0].rest("slack", HOUR, "429")
    assert await budgets[1].reserve([pace], ["discord", "slack"], patience=MINUTE) > HOUR - MINUTE
    assert await budgets[1].reserve([pace], ["discord"], patience=OVER) == OVER
    assert [each.place for each in await budgets[2].rests()] == ["slack"]
    # Who has the patience calls when the rest is over, and the pace counts from there.
    first = await budgets[2].reserve([pace], ["slack"], patience=2 * HOUR)
    second = await budgets[3].reserve([pace], ["slack"], patience=2 * HOUR)
    assert first > HOUR - MINUTE
    assert second > first + MINUTE / 2


async def test_without_a_pace_only_rests_hold_up_a_call(budgets: Sequence[PostgresBudgets]) -> None:
    await budgets[0].rest("slack", HOUR)
    assert await budgets[1].reserve([], patience=OVER) == OVER
    assert await budgets[1].reserve([], ["slack"], patience=OVER) > HOUR / 2


async def test_what_was_noted_by_a_clock_that_had_run_ahead_holds_up_nobody(postgres: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        store = PostgresStore(await emptied_aside(postgres), tmp_path, most=1)
        await store.open()
        stack.push_async_callback(store.close)
        pace = Pace("call slack", MINUTE)
        await store.budgets.reserve([pace], patience=OVER)
        await store.budgets.rest("call slack", MINUTE)
        hour = HOUR // timedelta(microseconds=1)
        for ahead in ("update budgets set next = next + %s", "update rests set begun = begun + %s, until = until + %s"):
            await store.connections.write(lambda db, sql=ahead: db.execute(sql, [hour] * sql.count("%s")))

        assert await store.budgets.rests() == []
        assert await store.budgets.reserve([pace], ["call slack"], patience=OVER) == OVER
        assert OVER < await store.budgets.reserve([pace], ["call slack"], patience=OVER) <= MINUTE
        await store.budgets.rest("call slack", MINUTE / 2)
        assert OVER < await store.budgets.reserve([], ["call slack"], patience=OVER) <= MINUTE / 2


async def test_what_has_passed_long_ago_is_forgotten_and_nothing_else(postgres: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        store = PostgresStore(await emptied_aside(postgres), tmp_path, most=1)
        await store.open()
        stack.push_async_callback(store.close)
        for place, span in (("past", -2 * HOUR), ("now", HOUR)):
            await store.budgets.rest(place, span)
            await store.budgets.spend(place, 1, 9, span)
            await store.budgets.reserve([Pace(place, span)], patience=OVER)
        long_ago = datetime(2026, 1, 1, tzinfo=UTC)
        await store.maintenance.prune(items_before=long_ago, readings_before=date(2026, 1, 1), now=long_ago)

        async def keys(db: object) -> list[str]:
            asked = "select key from budgets union all select key from rests union all select key from spendings"
            return [row[0] for row in await (await db.execute(asked)).fetchall()]  # type: ignore[attr-defined]

        assert await store.connections.read(keys) == ["now"] * 3


async def test_the_leases_of_two_processes_are_by_the_databases_clock(postgres: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        one, two = [PostgresStore(await emptied_aside(postgres), tmp_path, most=1) for _ in range(2)]
        for store in (one, two):
            await store.open()
            stack.push_async_callback(store.close)
        lease = await one.leases.take("polling", "one", HOUR)
        assert isinstance(lease, Lease)
        assert await two.leases.take("polling", "two", HOUR) is None
        assert await two.leases.held() == [lease]
