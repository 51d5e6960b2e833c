import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot import windows
from bot.models import Item
from bot.store.memory import MemoryStore
from bot.windows import Picked, Window, Windows
from tests.fakes.works import paper

MINUTE = timedelta(minutes=1)


@pytest.fixture
async def store(now: datetime) -> MemoryStore:
    store = MemoryStore()
    await store.add([paper(f"2603.{number:05}") for number in range(5)], now - timedelta(hours=1))
    return store


async def asked(kept: Windows, now: datetime, *, what: str = "all") -> Window:
    return await kept.kept(what, await kept.items(now - timedelta(days=1), now), Picked, now)


async def test_an_index_is_used_again_for_the_same_items(store: MemoryStore, now: datetime) -> None:
    kept = Windows(store)

    first, second = await asked(kept, now), await asked(kept, now + MINUTE)

    assert second.edition is first.edition
    assert list(second.items) == list(first.items)
    assert len(first.items) == 5


@pytest.mark.parametrize(
    "change",
    [
        paper("2603.00009"),  # one more
        paper("2603.00001", upvotes=7),  # one that is otherwise than it was
        paper("2603.00001", withdrawn=True),
        paper("2603.00001", aliases=("doi:10.1/x",)),
    ],
)
async def test_what_is_stored_in_between_is_never_missed(store: MemoryStore, now: datetime, change: Item) -> None:
    kept = Windows(store)
    first = await asked(kept, now)

    await store.add([replace(change, seen=now)], now)
    second = await asked(kept, now)

    assert second.edition is not first.edition
    assert replace(change, seen=now) in second.edition.items


async def test_an_index_grows_old(store: MemoryStore, now: datetime) -> None:
    kept = Windows(store)
    first = await asked(kept, now)

    soon = await asked(kept, now + windows.FRESH - MINUTE)
    late = await asked(kept, now + windows.FRESH)
    clock_set_back = await asked(kept, now)

    assert soon.edition is first.edition
    assert late.edition.now == now + windows.FRESH
    assert clock_set_back.edition.now == now


async def test_what_is_picked_otherwise_is_indexed_otherwise(store: MemoryStore, now: datetime) -> None:
    kept = Windows(store)
    assert (await asked(kept, now)).edition is not (await asked(kept, now, what="some")).edition


async def test_the_indexes_used_last_are_kept_as_far_as_there_is_room(store: MemoryStore, now: datetime) -> None:
    await store.add([paper(f"2604.{number:05}", abstract="") for number in range(495)], now)
    kept, count = Windows(store), windows.MOST // 500
    first, second, *_ = [await asked(kept, now, what=str(number)) for number in range(count)]

    assert (await asked(kept, now, what="0")).edition is first.edition
    await asked(kept, now, what="one too many")

    assert (await asked(kept, now, what="0")).edition is first.edition
    assert (await asked(kept, now, what="1")).edition is not second.edition


async def test_an_index_of_very_many_items_is_not_kept(store: MemoryStore, now: datetime) -> None:
    many = [paper(f"2604.{number:05}", title="", abstract="") for number in range(windows.MOST)]
    await store.add(many, now)
    kept = Windows(store)
    assert (await asked(kept, now)).edition is not (await asked(kept, now)).edition


async def test_one_index_is_made_for_all_who_ask_at_once(store: MemoryStore, now: datetime) -> None:
    kept = Windows(store)

    found = await asyncio.gather(*(asked(kept, now) for _ in range(8)))

    assert len({id(each.edition) for each in found}) == 1


async def test_one_thread_at_a_time_works_on_an_index(store: MemoryStore, now: datetime) -> None:
    window = await asked(Windows(store), now)
    inside: list[int] = []
    most: list[int] = []

    def task(items: Sequence[Item], _: object) -> int:
        inside.append(1)
        most.append(len(inside))
        sum(range(20_000))
        inside.pop()
        return len(items)

    assert await asyncio.gather(*(window.work(task) for _ in range(8))) == [5] * 8
    assert set(most) == {1}
