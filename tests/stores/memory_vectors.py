"""The vectors of the memory store."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.models import Item, Near
from bot.models.vectors import sound, split, text_of_item, unpack
from bot.ports.vectors import Embedded, VectorChange
from bot.store.records import newness
from bot.store.rules.nearest import Nearest


@dataclass(frozen=True, slots=True)
class _Kept:
    space: str
    packed: bytes
    quick: bool


class MemoryVectors:
    """bot.ports.vectors.Vectors, in a dictionary beside that of the items."""

    def __init__(self, items: Mapping[str, Item], numbers: Mapping[str, int]) -> None:
        """`numbers` are the arrivals of the items by their keys."""
        self._items = items
        self._numbers = numbers
        self._vectors: dict[str, _Kept] = {}
        self._writes: list[list[int]] = []  # the arrivals of the items whose vectors each write kept or took

    def forget(self, key: str, becomes: Item | None = None) -> None:
        """Take the item's vector, unless the item becomes one of the same text."""
        before = self._items.get(key)
        same = before is not None and becomes is not None and text_of_item(before) == text_of_item(becomes)
        if not same and self._vectors.pop(key, None) is not None:
            self._writes.append([self._numbers[key]])

    async def lacking(self, space: str, *, limit: int, better: bool = False) -> Sequence[Item]:
        """Return the newest items without a vector of the space, or those with a quick one."""
        ordered = sorted(self._items.values(), key=newness, reverse=True)
        return [item for item in ordered if self._lacks(item.key, space, better=better)][: max(0, limit)]

    def _lacks(self, key: str, space: str, *, better: bool) -> bool:
        kept = self._vectors.get(key)
        if kept is None or kept.space != space:
            return not better
        return better and kept.quick

    async def save(self, space: str, items: Sequence[Item], packed: Sequence[bytes], *, quick: bool) -> int:
        """Keep the vectors of those items whose text is still the same."""
        fresh = {
            item.key: _Kept(space, vector, quick)
            for item, vector in zip(items, packed, strict=True)
            if (stored := self._items.get(item.key)) and text_of_item(stored) == text_of_item(item)
        }
        self._vectors.update(fresh)
        self._writes.append([self._numbers[key] for key in fresh])
        return len(fresh)

    async def find(self, space: str, keys: Collection[str]) -> Mapping[str, bytes]:
        """Return the vectors of the space by the items' own keys, those left out that are damaged."""
        found = {key: kept.packed for key in keys if (kept := self._vectors.get(key)) and kept.space == space}
        return {key: packed for key, packed in found.items() if sound(split([packed])[1]).all()}

    async def mark(self, space: str) -> str:
        """Return how often vectors were changed."""
        return str(len(self._writes))

    async def last_change(self, space: str) -> int:
        """Return one more than there were writes: the number 1 is that of a store without any."""
        return len(self._writes) + 1

    async def changed(self, space: str, after: int, *, limit: int) -> Sequence[VectorChange] | None:
        """Return what each write after that one did that no later write did again."""
        if not 0 < after <= len(self._writes) + 1:
            return None
        last = {arrival: at + 2 for at, arrivals in enumerate(self._writes) for arrival in arrivals}
        keys = {self._numbers[key]: key for key in self._items}
        ordered = sorted((number, arrival) for arrival, number in last.items() if number > after)
        through = ordered[:limit][-1][0] if ordered else 0
        return [self._change(space, *each, keys.get(each[1], "")) for each in ordered if each[0] <= through]

    def _change(self, space: str, number: int, arrival: int, key: str) -> VectorChange:
        kept = self._vectors.get(key)
        if kept is None or kept.space != space:
            return VectorChange(number, key, arrival, None, quick=False)
        packed = kept.packed if sound(split([kept.packed])[1]).all() else None
        return VectorChange(number, key, arrival, packed, kept.quick)

    async def embedded(self, space: str) -> Embedded:
        """Return how far the space is filled."""
        quick = [kept.quick for kept in self._vectors.values() if kept.space == space]
        return Embedded(quick.count(False), quick.count(True), len(self._items) - len(quick))

    def nearest(self, near: Near, numbers: Mapping[str, int]) -> Nearest:
        """Return the vectors of that space and size, by the items' numbers."""
        rows = {numbers[key]: kept.packed for key, kept in self._vectors.items() if kept.space == near.space}
        fitting = {number: packed for number, packed in rows.items() if len(packed) == len(near.vector)}
        nearest = Nearest(len(unpack([near.vector])[0]))
        nearest.put(np.array(list(fitting), np.int64), list(fitting.values()))
        return nearest

    def __len__(self) -> int:
        return len(self._vectors)
