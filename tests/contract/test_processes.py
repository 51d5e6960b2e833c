"""What processes agree by, on every store. How long things last is by the store's own clock: spans here are long or none."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bot.models import Lease, Pace, ProcessState
from tests.stores import AnyStore

HOUR, OVER = timedelta(hours=1), timedelta(0)
LONG_AGO = datetime(2026, 4, 1, 7, 0, tzinfo=UTC)


async def taken(store: AnyStore, name: str, holder: str, span: timedelta = HOUR) -> Lease:
    lease = await store.leases.take(name, holder, span)
    assert lease is not None
    return lease


class TestLeases:
    async def test_one_process_at_a_time_has_a_lease(self, store: AnyStore) -> None:
        await taken(store, "polling", "one")
        assert await store.leases.take("polling", "two", HOUR) is None
        assert (await taken(store, "other", "two")).holder == "two"

    async def test_of_many_who_ask_at_once_one_gets_it(self, store: AnyStore) -> None:
        got = await asyncio.gather(*(store.leases.take("polling", f"process {each}", HOUR) for each in range(12)))
        assert sum(each is not None for each in got) == 1

    async def test_the_holder_prolongs_it_and_keeps_the_token(self, store: AnyStore) -> None:
        first = await taken(store, "polling", "one")
        again = await taken(store, "polling", "one", 2 * HOUR)
        assert (again.token, again.holder) == (first.token, "one")
        assert again.until > first.until + HOUR / 2

    async def test_what_ran_out_is_anybodys_with_a_higher_token(self, store: AnyStore) -> None:
        first = await taken(store, "polling", "one", OVER)
        second = await taken(store, "polling", "two", OVER)
        third = await taken(store, "polling", "two")
        assert first.token < second.token < third.token

    async def test_what_is_given_back_is_anybodys_at_once_with_a_higher_token(self, store: AnyStore) -> None:
        first = await taken(store, "polling", "one")
        await store.leases.give_back(first)
        assert await store.leases.held() == []
        assert (await taken(store, "polling", "two")).token > first.token

    async def test_who_lost_a_lease_gives_nothing_back(self, store: AnyStore) -> None:
        lost = await taken(store, "polling", "one", OVER)
        held = await taken(store, "polling", "two")
        await store.leases.give_back(lost)
        assert await store.leases.held() == [held]

    async def test_held_are_those_that_last_and_begin_so_by_name(self, store: AnyStore) -> None:
        for name in ("shard 2", "shard 1", "shar_", "polling"):
            await taken(store, name, "one")
        await taken(store, "shard 3", "one", OVER)
        assert [each.name for each in await store.leases.held("shard ")] == ["shard 1", "shard 2"]
        assert [each.name for each in await store.leases.held("shar_")] == ["shar_"]
        assert len(await store.leases.held()) == 4


class TestRests:
    async def test_a_rest_holds_with_its_reason_until_its_end(self, store: AnyStore) -> None:
        await store.budgets.rest("slack", HOUR, "429")
        await store.budgets.rest("discord", OVER, "429")
        (rest,) = await store.budgets.rests()
        assert (rest.place, rest.reason) == ("slack", "429")

    async def test_a_rest_is_prolonged_and_never_shortened(self, store: AnyStore) -> None:
        await store.budgets.rest("slack", HOUR, "first")
        (first,) = await store.budgets.rests()
        await store.budgets.rest("slack", HOUR / 2, "shorter")
        assert await store.budgets.rests() == [first]
        await store.budgets.rest("slack", 2 * HOUR, "longer")
        (longer,) = await store.budgets.rests()
        assert longer.until > first.until
        assert longer.reason == "longer"

    async def test_a_rest_that_is_over_can_begin_anew(self, store: AnyStore) -> None:
        await store.budgets.rest("slack", OVER)
        await store.budgets.rest("slack", HOUR)
        assert [each.place for each in await store.budgets.rests()] == ["slack"]


class TestSpending:
    async def test_up_to_the_most_is_spent_and_nothing_past_it(self, store: AnyStore) -> None:
        assert await store.budgets.spend("tokens", 60, 100, HOUR)
        assert not await store.budgets.spend("tokens", 41, 100, HOUR)
        assert await store.budgets.spent("tokens") == 60
        assert await store.budgets.spend("tokens", 40, 100, HOUR)
        assert await store.budgets.spent("tokens") == 100
        assert await store.budgets.spent("others") == 0

    async def test_the_first_can_be_too_much_already(self, store: AnyStore) -> None:
        assert not await store.budgets.spend("tokens", 101, 100, HOUR)
        assert await store.budgets.spent("tokens") == 0

    async def test_what_is_given_back_can_be_spent_again_and_never_more(self, store: AnyStore) -> None:
        assert await store.budgets.spend("tokens", 100, 100, HOUR)
        assert await store.budgets.spend("tokens", -30, 100, HOUR)
        assert await store.budgets.spent("tokens") == 70
        assert await store.budgets.spend("tokens", -300, 100, HOUR)
        assert await store.budgets.spent("tokens") == 0
        assert not await store.budgets.spend("tokens", 101, 100, HOUR)

    async def test_after_its_span_spending_begins_anew(self, store: AnyStore) -> None:
        assert await store.budgets.spend("tokens", 100, 100, OVER)
        assert await store.budgets.spent("tokens") == 0
        assert await store.budgets.spend("tokens", 100, 100, HOUR)
        assert await store.budgets.spent("tokens") == 100

    async def test_many_at_once_spend_no_more_than_the_most(self, store: AnyStore) -> None:
        got = await asyncio.gather(*(store.budgets.spend("tokens", 10, 105, HOUR) for _ in range(20)))
        assert sum(got) == 10
        assert await store.budgets.spent("tokens") == 100


class TestReserving:
    async def test_the_first_call_of_a_place_is_made_at_once(self, store: AnyStore) -> None:
        paces = [Pace("slack post", HOUR), Pace("slack", HOUR)]
        assert await store.budgets.reserve(paces, ["slack"], patience=OVER) == OVER


def state(process: str, begun: datetime = LONG_AGO, **figures: float) -> ProcessState:
    return ProcessState(process, ("make", "deliver"), "1.0", 1, "host.example", begun, LONG_AGO, figures)


class TestProcesses:
    async def test_a_process_is_as_it_said_last_and_its_beat_is_the_stores(self, store: AnyStore) -> None:
        await store.processes.beat(state("one", lag=3.0))
        await store.processes.beat(state("one", lag=0.5))
        (one,) = await store.processes.every()
        assert (one.id, one.roles, one.version, one.schema, one.host) == (
            "one",
            ("make", "deliver"),
            "1.0",
            1,
            "host.example",
        )
        assert (one.begun, dict(one.figures)) == (LONG_AGO, {"lag": 0.5})
        assert one.beat > LONG_AGO

    async def test_those_who_show_that_they_live_come_by_their_beginnings(self, store: AnyStore) -> None:
        for each in (state("b"), state("a"), state("old", LONG_AGO - HOUR)):
            await store.processes.beat(each)
        assert [each.id for each in await store.processes.every()] == ["old", "a", "b"]
        assert await store.processes.every(-HOUR) == []

    async def test_the_leases_of_a_process_end_with_it(self, store: AnyStore) -> None:
        for process in ("one", "two"):
            await store.processes.beat(state(process))
            await taken(store, f"of {process}", process)
        await store.processes.remove("one")
        assert [each.id for each in await store.processes.every()] == ["two"]
        assert [each.name for each in await store.leases.held()] == ["of two"]

    @pytest.mark.parametrize("process", ["unknown", ""])
    async def test_whoever_is_unknown_can_be_removed(self, store: AnyStore, process: str) -> None:
        await store.processes.remove(process)
        assert await store.processes.every() == []
