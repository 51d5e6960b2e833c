"""What digests look at: the items of the last days, indexed once and kept for whoever asks next."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from functools import cached_property
from threading import Lock
from typing import TypeVar

import numpy as np

from bot.models import Item, Reading
from bot.ports.items import Items
from bot.ports.vectors import Vectors
from bot.rank import Candidates, ItemIndex

T = TypeVar("T")

# One index serves every digest that begins within so many days, from the beginning of the first of them: it is made anew
# where what is stored changed, and once a day.
DAYS = timedelta(days=7)
# How long the ages and paces of an index may stand. Whoever asks "why" has just seen the digest; a few minutes move a score
# by less than a thousandth.
FRESH = timedelta(minutes=5)
# Items in all the indexes that are kept, those that are used last; a thousand papers take 17 MB, with themselves and
# their vectors.
MOST = 12_000
# What nobody has asked for in so long is let go: each day has an index of its own, and yesterday's is not asked for again.
UNASKED = timedelta(hours=3)

# Spaces of the transformer that is shipped: what is near in them was measured. Of others it is taken from the items.
SHIPPED = "minilm-l6"

# How far back readings are asked for.
READINGS = timedelta(days=30)

_FAR = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)  # later than any clock: all that is stored from a moment on


@dataclass(frozen=True)
class IndexedItems:
    """All items first seen since a moment, the newest first, and the index of those that were news then.

    `partners` are the papers and repositories that items name as their other halves, of the time or not. One thread at a
    time uses the index.
    """

    mark: str  # of the store, when they were read
    items: Sequence[Item]
    index: ItemIndex
    readings: Mapping[str, Sequence[Reading]]  # of the last weeks
    partners: Mapping[str, Item]
    vectors_mark: str = ""  # of the store, when the index was told its items' vectors
    lock: Lock = field(default_factory=Lock)

    async def in_thread(self, task: Callable[[], T]) -> T:
        """Return what the task makes of the index; it runs in a thread, when no other does."""

        def alone() -> T:
            with self.lock:
                return task()

        return await asyncio.to_thread(alone)

    def candidates(self, since: datetime, now: datetime) -> Candidates:
        """Return the items first seen from `since` on, those of a clock that runs ahead left out."""
        first, last = _cut(self._seen, since, now)
        among = np.zeros(len(self.index.items), bool)
        among[slice(*_cut(self._indexed, since, now))] = True
        return Candidates(self.items[first:last], self.index, among)

    def contains(self, item: Item) -> bool:
        """Say whether the index has the item, as it is."""
        number = self.index.number(item.key)
        return number is not None and self.index.items[number] == item

    def only(self, items: Sequence[Item]) -> Candidates:
        """Return those of the items that the index has."""
        numbers = [self.index.number(item.key) for item in items if self.contains(item)]
        among = np.zeros(len(self.index.items), bool)
        among[[number for number in numbers if number is not None]] = True
        return Candidates(items, self.index, among)

    def at(self, now: datetime) -> "IndexedItems":
        """Return the same at another time of the day."""
        return replace(self, index=self.index.at(now, self.readings), lock=Lock())

    @cached_property
    def _seen(self) -> list[float]:
        return _moments(self.items)

    @cached_property
    def _indexed(self) -> list[float]:
        return _moments(self.index.items)


class RecentItems:
    """Reads what is stored, indexes it, and keeps the index while the store says that nothing changed."""

    def __init__(self, stored: Items, vectors: Vectors, most: int = MOST, space: str = "") -> None:
        """Keep indexes of at most so many items in all, with their vectors of the space, if there is one."""
        self._stored, self._stored_vectors = stored, vectors
        self._space = space
        self._most = most
        self._kept: dict[tuple[datetime, timedelta], tuple[IndexedItems, datetime]] = {}  # and when it was last asked for
        self._making = asyncio.Lock()  # who asks for what is just being made waits for it

    async def indexed(self, since: datetime, max_age: timedelta, now: datetime, *, exact: bool = False) -> IndexedItems:
        """Return what there is from `since` on, and from some days before; what is older than `max_age` is no news.

        Ages and paces are those of a few minutes ago at most; with `exact`, of now.
        """
        begin = datetime.combine(min(since, now - DAYS).astimezone(UTC).date(), time(), UTC)
        async with self._making:
            mark = await self._stored.mark()
            indexed, _ = self._kept.pop((begin, max_age), (None, now))
            if indexed is None or indexed.mark != mark:
                indexed = await self._built(indexed, mark, begin, max_age, now)
            elif indexed.index.now != now and (exact or not timedelta(0) <= now - indexed.index.now < FRESH):
                indexed = await asyncio.to_thread(indexed.at, now)
            indexed = await self._with_vectors(indexed)
            self._keep((begin, max_age), indexed, now)
            return indexed

    async def beside(self, indexed: IndexedItems, items: Sequence[Item]) -> ItemIndex:
        """Return an index of other items, judged as if they were of the indexed ones."""
        readings, vectors = await self._readings(items, indexed.index.now), await self._vectors(items)
        return await asyncio.to_thread(indexed.index.beside, items, readings, vectors)

    async def _built(
        self, before: IndexedItems | None, mark: str, begin: datetime, max_age: timedelta, now: datetime
    ) -> IndexedItems:
        items = await self._stored.seen_between(begin, _FAR)
        news = await asyncio.to_thread(lambda: [item for item in items if not item.is_old(max_age, item.seen or now)])
        readings = await self._readings(news, now)
        taken_over = before.index if before else None
        index = await asyncio.to_thread(lambda: ItemIndex(news, readings, now, before=taken_over))
        partners = await self._stored.find({key for item in news for key in (item.repo, item.paper) if key})
        return IndexedItems(mark, items, index, readings, partners)

    async def _with_vectors(self, indexed: IndexedItems) -> IndexedItems:
        """The index with its items' vectors as they are now; texts are not indexed again."""
        mark = await self._stored_vectors.mark(self._space) if self._space else ""
        if mark == indexed.vectors_mark:
            return indexed
        vectors, shipped = await self._vectors(indexed.index.items), self._space.startswith(SHIPPED)
        index = await asyncio.to_thread(indexed.index.with_vectors, vectors, measured=not shipped)
        return replace(indexed, index=index, vectors_mark=mark, lock=Lock())

    async def _vectors(self, items: Sequence[Item]) -> Mapping[str, bytes]:
        return await self._stored_vectors.find(self._space, [item.key for item in items]) if self._space else {}

    async def _readings(self, items: Sequence[Item], now: datetime) -> Mapping[str, Sequence[Reading]]:
        return await self._stored.readings([item.key for item in items], (now - READINGS).date())

    def _keep(self, key: tuple[datetime, timedelta], indexed: IndexedItems, now: datetime) -> None:
        """Keep the index, and of the others those that were used last and not long ago, as far as there is room."""
        room = self._most
        others = reversed(self._kept.items())
        self._kept = {}
        for each, (kept, asked) in ((key, (indexed, now)), *others):
            room -= len(kept.items)
            if room >= 0 and abs(now - asked) <= UNASKED:  # whatever the clock showed meanwhile
                self._kept = {each: (kept, asked), **self._kept}


def _moments(items: Sequence[Item]) -> list[float]:
    """When each was first seen, as numbers that grow along the row."""
    return [-item.seen.timestamp() if item.seen else 0.0 for item in items]


def _cut(moments: Sequence[float], since: datetime, now: datetime) -> tuple[int, int]:
    return bisect_left(moments, -now.timestamp()), bisect_right(moments, -since.timestamp())
