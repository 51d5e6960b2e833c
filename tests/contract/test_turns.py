"""What waits is found in fair turns, the same by every store, whoever waits, for what, and however many turns were had."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.models import FOREVER, DeliveryState, OccurrenceState
from tests.conftest import NOW, tries
from tests.contract.both import with_both, with_postgres
from tests.contract.test_ledger import DAY, LEASE, MINUTE, done, made, occurrence, part, subscribed, taken
from tests.stores import AnyStore

WORKSPACES = ("chat:T1", "chat:T10", "chat:T2")  # one's name begins with another's


@dataclass(frozen=True)
class Waiting:
    """A digest of some messages, due so many minutes ago, that waits so many minutes from now; some of it is done."""

    workspace: str
    due: int
    waits: int
    parts: int
    done: int
    is_made: bool


waiting = st.builds(
    Waiting,
    workspace=st.sampled_from(WORKSPACES),
    due=st.integers(0, 3),
    waits=st.integers(-2, 1),
    parts=st.integers(1, 3),
    done=st.integers(0, 2),
    is_made=st.booleans(),
)


cases = {
    "each": st.lists(waiting, max_size=12),
    "had": st.dictionaries(st.sampled_from(WORKSPACES), st.integers(0, 40)),
    "limit": st.integers(1, 20),
}


@settings(max_examples=60, deadline=None)
@given(**cases)
def test_what_waits_is_found_in_the_same_turns_by_every_store(each: list[Waiting], had: dict[str, int], limit: int) -> None:
    asyncio.run(compare(with_both, each, had, limit))


@settings(max_examples=tries(120), deadline=None)
@given(**cases)
def test_what_waits_is_found_in_the_same_turns_in_postgres(
    postgres: str, each: list[Waiting], had: dict[str, int], limit: int
) -> None:
    asyncio.run(compare(partial(with_postgres, postgres), each, had, limit))


async def compare(on: Callable[..., Awaitable[None]], each: list[Waiting], had: dict[str, int], limit: int) -> None:
    found: list[object] = []

    async def ask(store: AnyStore) -> None:
        for number, what in enumerate(each):
            await wait(store, number, what)
        deliveries = await store.ledger.due_deliveries(NOW, limit=limit, had=had)
        found.append((deliveries, await store.ledger.occurrences(NOW, limit=limit, had=had)))

    await on(ask)
    assert found[0] == found[1]


async def wait(store: AnyStore, number: int, what: Waiting) -> None:
    ours = await subscribed(store, f"s{number}", what.workspace)
    due = occurrence(ours, due=NOW - what.due * MINUTE)
    waits = NOW + what.waits * MINUTE
    await store.ledger.open_occurrences([due], ours, NOW + DAY)
    if not what.is_made:
        if what.waits != 0:
            await store.ledger.close_occurrence(replace(due, next_at=waits), NOW)
        return
    parts = [part(due, at, what.parts, next_at=waits if at == 1 else FOREVER) for at in range(1, what.parts + 1)]
    await store.ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), NOW, deliveries=parts)
    for each in parts[: what.done]:
        (held,) = [one for one in await store.ledger.deliveries(what.workspace, limit=99) if one.id == each.id]
        await store.ledger.record(done(await taken(store, held)))


async def test_workspaces_and_platforms_that_are_left_out_give_nothing_and_take_nobodys_turn(store: AnyStore) -> None:
    at = NOW + LEASE
    for number, workspace in enumerate(("chat:T1", "chat:T1", "chat:T10", "talk:T1", "talk:T1")):
        ours = await subscribed(store, f"s{number}", workspace)
        await made(store, ours)
        (sending,) = await made(store, ours, slot=1)
        await taken(store, sending)

    async def found(*without: str, limit: int = 100) -> list[list[str]]:
        read = (store.ledger.due_deliveries, store.ledger.unsettled_deliveries)
        return [[each.workspace for each in await ask(at, limit=limit, without=without)] for ask in read]

    assert await found("chat:T1") == [["chat:T10", "talk:T1", "talk:T1"]] * 2
    assert await found("chat:", "T") == [["talk:T1", "talk:T1"]] * 2
    assert await found("chat:T1", limit=2) == [["chat:T10", "talk:T1"]] * 2
    assert await found("chat:", "talk:T1") == [[]] * 2


async def test_who_was_put_off_comes_after_those_of_its_workspace_that_have_waited_since_before(store: AnyStore) -> None:
    ours = await subscribed(store)
    (first,) = await made(store, ours, due=NOW - 2 * MINUTE)
    (second,) = await made(store, ours, slot=1)
    held = await taken(store, first)
    back = replace(held, state=DeliveryState.PENDING, lease_until=None, next_at=NOW + MINUTE)
    await store.ledger.record(back)
    assert await store.ledger.due_deliveries(NOW) == [second]
    assert await store.ledger.due_deliveries(NOW + MINUTE) == [second, back]


async def test_a_later_part_that_waits_for_the_one_before_has_its_turn_when_that_is_done(store: AnyStore) -> None:
    ours = await subscribed(store)
    due = occurrence(ours)
    await store.ledger.open_occurrences([due], ours, NOW + DAY)
    parts = [part(due, number, 3, next_at=NOW if number == 1 else FOREVER) for number in (1, 2, 3)]
    await store.ledger.close_occurrence(replace(due, state=OccurrenceState.MADE), NOW, deliveries=parts)
    for number in (1, 2, 3):
        at = NOW + number * timedelta(seconds=1)
        (next_one,) = await store.ledger.due_deliveries(at)
        assert next_one.part == number
        held = await store.ledger.claim(next_one, at, LEASE)
        assert held is not None
        assert await store.ledger.due_deliveries(at) == []
        assert await store.ledger.record(done(held))
    assert await store.ledger.due_deliveries(NOW + DAY) == []
