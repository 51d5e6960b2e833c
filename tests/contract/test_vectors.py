"""What every store keeps of vectors: one for an item, as long as its text is the same."""

import struct
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from math import inf, nan

import numpy as np
import pytest

from bot.models import Item, Kind, Near
from bot.models.vectors import pack, unpack
from bot.ports.vectors import Embedded, VectorChange
from bot.query import parse
from tests.conftest import NOW
from tests.stores import AnyStore

SPACE = "small-1"


def paper(number: int, **changes: object) -> Item:
    plain = Item(key=f"arxiv:{number}", kind=Kind.PAPER, title=f"Paper {number}", abstract="A cache.", seen=NOW)
    plain = replace(plain, published=NOW - timedelta(days=30 - number))
    return replace(plain, **changes)  # type: ignore[arg-type]


def vector(*numbers: float) -> bytes:
    row = np.array([numbers], np.float32)
    return pack(row / np.linalg.norm(row))[0]


UNSOUND = [vector(1, 2)[:-4] + struct.pack("<f", wrong) for wrong in (inf, -inf, nan, 1 / 32, -0.01, 3e38)]


async def keep(store: AnyStore, items: Sequence[Item], *, space: str = SPACE, quick: bool = False) -> int:
    return await store.vectors.save(space, items, [vector(1, len(item.key)) for item in items], quick=quick)


async def lacking(store: AnyStore, space: str = SPACE, *, better: bool = False) -> list[str]:
    return [item.key for item in await store.vectors.lacking(space, limit=9, better=better)]


async def test_items_without_a_vector_are_told_the_newest_first(store: AnyStore) -> None:
    items = [paper(number) for number in range(4)]
    await store.items.add(items, NOW)
    assert await lacking(store) == ["arxiv:3", "arxiv:2", "arxiv:1", "arxiv:0"]
    assert await keep(store, items[1:3]) == 2
    assert await lacking(store) == ["arxiv:3", "arxiv:0"]
    assert await store.vectors.lacking(SPACE, limit=1) == [items[3]]
    assert await store.vectors.embedded(SPACE) == Embedded(whole=2, quick=0, lacking=2)


async def test_a_quick_vector_is_kept_until_a_better_one_takes_its_place(store: AnyStore) -> None:
    items = [paper(number) for number in range(3)]
    await store.items.add(items, NOW)
    await keep(store, items, quick=True)
    assert (await lacking(store), await lacking(store, better=True)) == ([], ["arxiv:2", "arxiv:1", "arxiv:0"])
    assert await store.vectors.embedded(SPACE) == Embedded(whole=0, quick=3, lacking=0)
    await store.vectors.save(SPACE, items[:1], [vector(3, 4)], quick=False)
    assert await lacking(store, better=True) == ["arxiv:2", "arxiv:1"]
    assert (await store.vectors.find(SPACE, ["arxiv:0"]))["arxiv:0"] == vector(3, 4)


async def test_vectors_are_given_by_key_and_within_their_space_alone(store: AnyStore) -> None:
    items = [paper(1), paper(2, aliases=("doi:10.1/x",))]
    await store.items.add(items, NOW)
    await keep(store, items)
    found = await store.vectors.find(SPACE, ["arxiv:1", "arxiv:2", "doi:10.1/x", "arxiv:9"])
    assert found.keys() == {"arxiv:1", "arxiv:2"}
    assert np.allclose(unpack([found["arxiv:1"]]), np.array([[1, 7]]) / np.sqrt(50), atol=0.01)
    assert not await store.vectors.find("other-1", ["arxiv:1"])
    assert await lacking(store, "other-1") == ["arxiv:2", "arxiv:1"]


async def test_a_vector_of_another_space_takes_the_place_of_what_an_item_had(store: AnyStore) -> None:
    await store.items.add([paper(1)], NOW)
    await keep(store, [paper(1)])
    await keep(store, [paper(1)], space="other-1")
    assert not await store.vectors.find(SPACE, ["arxiv:1"])
    assert await lacking(store) == ["arxiv:1"]
    assert await store.vectors.embedded("other-1") == Embedded(whole=1, quick=0, lacking=0)


async def test_an_item_whose_text_changed_has_no_vector_any_more(store: AnyStore) -> None:
    items = [paper(1), paper(2), paper(3)]
    await store.items.add(items, NOW)
    await keep(store, items)
    await store.items.add(
        [paper(1, title="Another"), paper(2, abstract="Two caches."), paper(3, upvotes=9, authors=("Ada",))], NOW
    )
    assert await lacking(store) == ["arxiv:2", "arxiv:1"]
    assert (await store.vectors.find(SPACE, ["arxiv:1", "arxiv:2", "arxiv:3"])).keys() == {"arxiv:3"}


async def test_what_was_read_before_the_text_changed_is_not_kept(store: AnyStore) -> None:
    await store.items.add([paper(1), paper(2)], NOW)
    read = await store.vectors.lacking(SPACE, limit=9)
    await store.items.add([paper(1, abstract="Something else.")], NOW, retired=["arxiv:2"])
    assert await keep(store, read) == 0
    assert await lacking(store) == ["arxiv:1"]


async def test_a_vector_goes_with_its_item(store: AnyStore) -> None:
    items = [paper(3, seen=NOW - timedelta(days=9)), paper(1), paper(2)]
    await store.items.add(items, NOW)
    await keep(store, items)
    await store.items.add([], NOW, retired=["arxiv:1"])
    await store.maintenance.prune(items_before=NOW - timedelta(days=1), readings_before=NOW.date(), now=NOW)
    assert (await store.vectors.find(SPACE, [item.key for item in items])).keys() == {"arxiv:2"}
    assert await store.vectors.embedded(SPACE) == Embedded(whole=1, quick=0, lacking=0)
    assert (await store.maintenance.statistics())["vectors"] == 1
    assert await store.maintenance.check() == []


@pytest.mark.parametrize("wrong", UNSOUND)
async def test_a_vector_whose_scale_is_no_scale_is_none(store: AnyStore, wrong: bytes) -> None:
    items = [paper(1), paper(2)]
    await store.items.add(items, NOW)
    await store.vectors.save(SPACE, items, [wrong, vector(1, 2)], quick=False)
    assert (await store.vectors.find(SPACE, ["arxiv:1", "arxiv:2"])).keys() == {"arxiv:2"}
    near = Near(SPACE, vector(1, 2), 0.0)
    page = await store.index.search(parse("nothing"), NOW, limit=9, near=near)
    assert [hit.item.key for hit in page.hits] == ["arxiv:2"]
    await store.vectors.save(SPACE, items, [vector(1, 2), wrong], quick=False)
    page = await store.index.search(parse("nothing"), NOW, limit=9, near=near)
    assert [hit.item.key for hit in page.hits] == ["arxiv:1"]


async def test_the_mark_changes_with_the_vectors_and_with_nothing_else(store: AnyStore) -> None:
    marks = [await store.vectors.mark(SPACE)]

    async def changed() -> bool:
        marks.append(await store.vectors.mark(SPACE))
        return marks[-1] != marks[-2]

    await store.items.add([paper(1), paper(2)], NOW)
    assert not await changed()
    await keep(store, [paper(1), paper(2)], quick=True)
    assert await changed()
    await store.items.add([paper(1, stars=3)], NOW)
    assert not await changed()
    await store.items.add([paper(1, title="Another")], NOW)
    assert await changed()
    await store.items.add([], NOW, retired=["arxiv:2"])
    assert await changed()
    assert len(set(marks)) == 4


async def changed(store: AnyStore, after: int, *, limit: int = 99, space: str = SPACE) -> Sequence[VectorChange]:
    found = await store.vectors.changed(space, after, limit=limit)
    assert found is not None
    return found


async def test_what_was_kept_and_went_is_told_in_the_order_of_the_writes(store: AnyStore) -> None:
    items = [paper(1), paper(2), paper(3), paper(4)]
    await store.items.add(items, NOW)
    empty = await store.vectors.last_change(SPACE)
    assert not await changed(store, empty)
    await keep(store, items[:3], quick=True)
    first = await store.vectors.last_change(SPACE)
    kept = vector(1, 7)
    assert [(each.key, each.packed, each.quick) for each in await changed(store, empty)] == [
        (f"arxiv:{number}", kept, True) for number in (1, 2, 3)
    ]
    await keep(store, items[1:2])
    await store.items.add([paper(3, title="Another")], NOW)
    await store.items.add([], NOW, retired=["arxiv:1"])
    found = await changed(store, empty)
    assert [(each.key, each.packed, each.quick) for each in found] == [
        ("arxiv:2", kept, False),
        ("arxiv:3", None, False),
        ("", None, False),
    ]
    assert found == await changed(store, first)
    numbers = [each.number for each in found]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == await store.vectors.last_change(SPACE)
    arrivals = {item.key: arrival for arrival, item in await store.items.arrived(0)}
    assert [each.arrival for each in found] == [arrivals["arxiv:2"], arrivals["arxiv:3"], 1]
    assert not await changed(store, numbers[-1])


async def test_what_one_write_did_is_told_together(store: AnyStore) -> None:
    items = [paper(number) for number in range(5)]
    await store.items.add(items, NOW)
    empty = await store.vectors.last_change(SPACE)
    await keep(store, items[:3])
    first = await store.vectors.last_change(SPACE)
    await keep(store, items[3:])
    for limit in (1, 2, 3):
        found = await changed(store, empty, limit=limit)
        assert {each.number for each in found} == {first}
        assert len(found) == 3
    assert len(await changed(store, empty, limit=4)) == 5
    assert [each.key for each in await changed(store, first, limit=1)] == ["arxiv:3", "arxiv:4"]


async def test_a_vector_of_another_space_and_one_that_is_damaged_are_told_as_none(store: AnyStore) -> None:
    items = [paper(1), paper(2)]
    await store.items.add(items, NOW)
    await keep(store, items)
    before = await store.vectors.last_change(SPACE)
    await keep(store, items[:1], space="other-1")
    assert [(each.key, each.packed) for each in await changed(store, before)] == [("arxiv:1", None)]
    assert [(each.key, each.packed) for each in await changed(store, before, space="other-1")] == [("arxiv:1", vector(1, 7))]
    await store.vectors.save(SPACE, items[1:], [UNSOUND[0]], quick=False)
    assert [(each.key, each.packed) for each in await changed(store, before)] == [("arxiv:1", None), ("arxiv:2", None)]


async def test_after_a_number_of_no_write_nothing_is_known(store: AnyStore) -> None:
    await store.items.add([paper(1)], NOW)
    await keep(store, [paper(1)])
    last = await store.vectors.last_change(SPACE)
    assert await store.vectors.changed(SPACE, last, limit=9) == []
    for unknown in (0, -1, last + 1):
        assert await store.vectors.changed(SPACE, unknown, limit=9) is None
