"""Vectors of several processes on one database."""

import asyncio
from dataclasses import replace
from pathlib import Path

from bot.models import Item, Kind
from bot.ports.vectors import Embedded
from bot.store.postgres import vectors
from bot.store.postgres.store import PostgresStore
from tests.bot.store.postgres.opened import executed, two
from tests.conftest import NOW

SPACE = "small-1"
SOUND = bytes(4) + b"\0\0\0\x3c"


def paper(number: int, **changes: object) -> Item:
    plain = Item(key=f"arxiv:{number}", kind=Kind.PAPER, title=f"Paper {number}", abstract="A cache.", seen=NOW)
    return replace(plain, **changes)  # type: ignore[arg-type]


async def followed(store: PostgresStore, number: int, copy: dict[int, bytes]) -> int:
    """Bring the vectors up to what the store has, by its changes from that number on; return the last number."""
    while changes := await store.vectors.changed(SPACE, number, limit=3):
        for number, _, arrival, packed, _ in changes:  # noqa: B007 - the last one is returned
            copy.pop(arrival, None)
            if packed is not None:
                copy[arrival] = packed
    return number


async def test_who_follows_while_two_processes_write_has_every_vector_and_none_that_went(
    postgres: str, tmp_path: Path
) -> None:
    async with two(postgres, tmp_path) as stores:
        items = [paper(number) for number in range(60)]
        await stores[0].items.add(items, NOW)
        number, copy = await stores[0].vectors.last_change(SPACE), dict[int, bytes]()

        async def embed(at: int) -> None:
            some = items[at * 5 : at * 5 + 5]
            await stores[at % 2].vectors.save(SPACE, some, [bytes([at]) * 4 + SOUND[4:]] * 5, quick=bool(at % 2))
            await stores[1 - at % 2].items.add([replace(some[0], title="Another"), some[1]], NOW, retired=[some[2].key])

        writing = asyncio.gather(*map(embed, range(12)))
        while not writing.done():
            number = await followed(stores[1], number, copy)
        await writing
        await followed(stores[1], number, copy)
        keys = {item.key: arrival for arrival, item in await stores[0].items.arrived(0)}
        found = await stores[0].vectors.find(SPACE, list(keys))
        assert copy == {keys[key]: packed for key, packed in found.items()}
        assert len(found) == 36
        assert await stores[1].vectors.embedded(SPACE) == Embedded(whole=18, quick=18, lacking=12)
        assert await stores[0].maintenance.check() == []


async def test_a_vector_of_a_text_that_another_process_changes_at_the_same_time_is_never_kept(
    postgres: str, tmp_path: Path
) -> None:
    async with two(postgres, tmp_path) as (one, other):
        for number in range(20):
            item = paper(number)
            await one.items.add([item], NOW)
            await asyncio.gather(
                one.vectors.save(SPACE, [item], [SOUND], quick=False),
                other.items.add([replace(item, title="Another")], NOW),
            )
            assert not await one.vectors.find(SPACE, [item.key])


async def test_two_that_begin_a_space_at_the_same_time_give_it_one_number(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, other):
        await one.items.add([paper(1), paper(2)], NOW)
        saves = (
            one.vectors.save(SPACE, [paper(1)], [SOUND], quick=False),
            other.vectors.save(SPACE, [paper(2)], [SOUND], quick=False),
            other.vectors.save("other-1", [], [], quick=False),
        )
        assert [*await asyncio.gather(*saves)] == [1, 1, 0]
        assert (await one.vectors.find(SPACE, ["arxiv:1", "arxiv:2"])).keys() == {"arxiv:1", "arxiv:2"}


async def test_the_last_writes_are_kept_and_damaged_vectors_go(postgres: str, tmp_path: Path) -> None:
    async with two(postgres, tmp_path) as (one, other):
        items = [paper(number) for number in range(4)]
        await one.items.add(items, NOW)
        begin = await one.vectors.last_change(SPACE)
        for item in items:
            await one.vectors.save(SPACE, [item], [SOUND], quick=False)
        await one.items.add([], NOW, retired=["arxiv:0"])
        await executed(postgres, "update vectors set vector = '' where item = 2")
        assert await other.maintenance.check() == ["1 vectors have not the size of their kind."]
        assert set(await other.vectors.find(SPACE, [item.key for item in items])) == {"arxiv:2", "arxiv:3"}
        changes = await other.vectors.changed(SPACE, begin, limit=99)
        assert changes is not None
        assert [(each.key, each.packed) for each in changes] == [
            ("arxiv:1", None),
            ("arxiv:2", SOUND),
            ("arxiv:3", SOUND),
            ("", None),
        ]
        await one.connections.write(lambda db: vectors.prune(db, 1))
        assert await other.vectors.changed(SPACE, begin, limit=99) is None
        last = await other.vectors.changed(SPACE, changes[-1].number, limit=99)
        assert last is not None
        assert [(each.key, each.packed) for each in last] == [("arxiv:1", None)]
        assert await other.vectors.lacking(SPACE, limit=9) == [items[1]]
        assert await other.maintenance.check() == []
