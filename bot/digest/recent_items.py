"""What digests look at: the items of the last days, indexed once and kept for whoever asks next."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bot.digest.selection import Selection, ToSelect, select, select_together
from bot.models import Item, Reading, Window
from bot.ports.items import Items
from bot.ports.vectors import Vectors
from bot.rank import Candidates, ItemIndex
from bot.rank.events import LATELY, Event, events

T = TypeVar("T")

# One index serves every digest that looks at what was first seen within so many days, from the beginning of the first of
# them: it is made anew where what is stored changed, and once a day.
DAYS = timedelta(days=7)
# Digests that reach further back share an index where they begin within as many arrivals of each other.
STEP = 1000
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

# Digests that are selected together, where so many wait: what a person asks for meanwhile waits for no more.
TOGETHER = 16
_WINDOWS = 16  # of an index whose items are kept: channels that are due at the same hour look at the same ones

# How far back readings are asked for.
READINGS = timedelta(days=30)

_Key = tuple[int, date, timedelta]  # of an index: the arrival after which it begins, its day, the age of what is news


@dataclass(frozen=True)
class IndexedItems:
    """All items that came after an arrival, the newest first, and the index of those that were news then.

    Behind them stand the repositories that came before, and to which something happened of late.
    `partners` are the papers and repositories that items name as their other halves, of the time or not. One thread at a
    time uses the index.
    """

    mark: str  # of the store, when they were read
    items: Sequence[Item]
    arrivals: Mapping[str, int]  # of the items by key
    index: ItemIndex
    readings: Mapping[str, Sequence[Reading]]  # of the last weeks
    partners: Mapping[str, Item]
    vectors_mark: str = ""  # of the store, when the index was told its items' vectors
    lacking: frozenset[str] = frozenset()  # the keys of those of the index that had no vector then
    lock: Lock = field(default_factory=Lock)
    _waiting: "list[_Waiting]" = field(default_factory=list, init=False)  # each index has its own
    _looked_at: dict[tuple[Window, frozenset[str]], Candidates] = field(default_factory=dict, init=False)

    async def in_thread(self, task: Callable[[], T]) -> T:
        """Return what the task makes of the index; it runs in a thread, when no other does."""

        def alone() -> T:
            with self.lock:
                return task()

        return await asyncio.to_thread(alone)

    async def select(self, asked: ToSelect) -> Selection:
        """Return the selection of a digest of the index; those that wait meanwhile are made together, each as alone."""
        waits = _Waiting(asked)
        self._waiting.append(waits)

        def done() -> Selection | Exception:
            while waits.found is None:
                _select_waiting(self._waiting)
            return waits.found

        found = await self.in_thread(done)
        if isinstance(found, Exception):
            raise found
        return found

    def candidates(self, window: Window, besides: Collection[str] = ()) -> Candidates:
        """Return the items that arrived in the window, and besides them those of these keys."""
        asked = (Window(window.after, window.through), frozenset(besides))
        found = self._looked_at.get(asked)
        if found is None:
            if len(self._looked_at) >= _WINDOWS:
                self._looked_at.clear()
            found = self._looked_at[asked] = self._find_candidates(*asked)
        return found

    def _find_candidates(self, window: Window, besides: Collection[str]) -> Candidates:
        among = _are_in(self._indexed, window)
        among[[number for number in map(self.index.number, besides) if number is not None]] = True
        looked_at = _are_in(self._arrived, window)
        looked_at[[self._places[key] for key in besides if key in self._places]] = True
        return Candidates([self.items[place] for place in np.flatnonzero(looked_at).tolist()], self.index, among)

    def item(self, key: str) -> Item | None:
        """Return the item of this key, None where there is none; no alias counts."""
        place = self._places.get(key)
        return None if place is None else self.items[place]

    def arrived_in(self, item: Item, window: Window) -> bool:
        """Say whether one of the items arrived in the window."""
        return _is_in(self.arrivals[item.key], window)

    def happened_to(self, window: Window, since: datetime) -> Sequence[Item]:
        """Return the repositories that arrived before the window, and to which something happened since.

        What came with its paper was looked at with it.
        """

        def is_news(item: Item, event: Event) -> bool:
            return event.when >= since and not (event.of_paper and item.seen and event.when <= item.seen)

        return [
            item
            for item, happened in self._eventful
            if self.arrivals[item.key] <= window.after and any(is_news(item, each) for each in happened)
        ]

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
    def _eventful(self) -> list[tuple[Item, tuple[Event, ...]]]:
        """What had something happen to it of late: few of the items, asked about for every digest."""
        events = ((item, self.index.events(number)) for number, item in enumerate(self.index.items))
        return [(item, happened) for item, happened in events if happened]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {item.key: place for place, item in enumerate(self.items)}

    @cached_property
    def _arrived(self) -> NDArray[np.int64]:
        return np.array([self.arrivals[item.key] for item in self.items], np.int64)

    @cached_property
    def _indexed(self) -> NDArray[np.int64]:
        return np.array([self.arrivals[item.key] for item in self.index.items], np.int64)


@dataclass
class _Waiting:
    """A digest that is to be selected, and its selection, or why there is none."""

    asked: ToSelect
    found: Selection | Exception | None = None


def _select_waiting(waiting: list[_Waiting]) -> None:
    """Select the first of those that wait; where one of them cannot be, each by itself."""
    now = waiting[:TOGETHER]
    del waiting[: len(now)]  # who comes meanwhile stands behind them
    try:
        found: Sequence[Selection | Exception] = select_together([each.asked for each in now])
    except Exception:  # noqa: BLE001 - each is told what is wrong with it alone
        found = [_alone(each.asked) for each in now]
    for each, one in zip(now, found, strict=True):
        each.found = one


def _alone(asked: ToSelect) -> Selection | Exception:
    try:
        return select(*asked)
    except Exception as error:  # noqa: BLE001 - raised where it was asked for
        return error


class RecentItems:
    """Reads what is stored, indexes it, and keeps the index while the store says that nothing changed."""

    def __init__(self, stored: Items, vectors: Vectors, most: int = MOST, space: str = "") -> None:
        """Keep indexes of at most so many items in all, with their vectors of the space, if there is one."""
        self._stored, self._stored_vectors = stored, vectors
        self._space = space
        self._most = most
        self._kept: dict[_Key, tuple[IndexedItems, datetime]] = {}  # and when it was last asked for
        self._usual: tuple[str, date, int] = ("", date.min, 0)  # of a mark and a day: after which arrival indexes begin
        self._making = asyncio.Lock()  # who asks for what is just being made waits for it

    async def indexed(self, after: int, max_age: timedelta, now: datetime, *, exact: bool = False) -> IndexedItems:
        """Return what arrived after that, and some days before; what was older than `max_age` when it came is no news.

        Ages and paces are those of a few minutes ago at most; with `exact`, of now.
        """
        day = (now - DAYS).astimezone(UTC).date()
        async with self._making:
            mark = await self._stored.mark()
            key = (await self._begin(after, mark, day, now), day, max_age)
            indexed, _ = self._kept.pop(key, (None, now))
            if indexed is None or indexed.mark != mark or indexed.index.now - now > FRESH:  # the clock was set back
                indexed = await self._built(indexed, mark, key, now)
            elif indexed.index.now != now and (exact or not timedelta(0) <= now - indexed.index.now < FRESH):
                indexed = await asyncio.to_thread(indexed.at, now)
            indexed = await self._with_vectors(indexed)
            self._keep(key, indexed, now)
            return indexed

    async def _begin(self, after: int, mark: str, day: date, now: datetime) -> int:
        """Return after which arrival an index begins that holds what arrived after that one."""
        if self._usual[:2] != (mark, day):
            self._usual = (mark, day, await self._stored.arrival_before(_midnight(day), now))
        usual = self._usual[2]
        return usual if usual <= after else after // STEP * STEP

    async def beside(self, indexed: IndexedItems, items: Sequence[Item]) -> ItemIndex:
        """Return an index of other items, judged as if they were of the indexed ones."""
        readings, vectors = await self._readings(items, indexed.index.now), await self._vectors(items)
        return await asyncio.to_thread(indexed.index.beside, items, readings, vectors)

    async def _built(self, before: IndexedItems | None, mark: str, key: _Key, now: datetime) -> IndexedItems:
        begin, day, max_age = key
        arrived = await self._stored.arrived(begin)
        arrived = [*arrived, *await self._happened_to(begin, [item for _, item in arrived], now)]
        items = [item for _, item in arrived]
        arrivals = {item.key: arrival for arrival, item in arrived}
        news = await asyncio.to_thread(lambda: [item for item in items if _was_news(item, max_age, _midnight(day), now)])
        readings = await self._readings(news, now)
        taken_over = before.index if before else None
        index = await asyncio.to_thread(lambda: ItemIndex(news, readings, now, before=taken_over))
        partners = await self._stored.find({key for item in news for key in (item.repo, item.paper) if key})
        return IndexedItems(mark, items, arrivals, index, readings, partners)

    async def _happened_to(self, begin: int, items: Sequence[Item], now: datetime) -> Sequence[tuple[int, Item]]:
        """Return the repositories that arrived up to then and to which something happened of late, each with its arrival.

        `items` came later: a paper among them may have its code in such a repository.
        """
        known = await self._stored.repositories(now - LATELY, begin)
        readings = await self._readings([item for _, item in known], now)
        papers = {item.repo: item for item in reversed(items) if item.repo}
        return [each for each in known if events(each[1], readings.get(each[1].key, ()), now, papers.get(each[1].key))]

    async def _with_vectors(self, indexed: IndexedItems) -> IndexedItems:
        """The index with its items' vectors as they are now; texts are not indexed again."""
        mark = await self._stored_vectors.mark(self._space) if self._space else ""
        if mark == indexed.vectors_mark:
            return indexed
        vectors, shipped = await self._vectors(indexed.index.items), self._space.startswith(SHIPPED)
        index = await asyncio.to_thread(indexed.index.with_vectors, vectors, measured=not shipped)
        lacking = frozenset(item.key for item in index.items) - vectors.keys()
        return replace(indexed, index=index, vectors_mark=mark, lacking=lacking, lock=Lock())

    async def _vectors(self, items: Sequence[Item]) -> Mapping[str, bytes]:
        return await self._stored_vectors.find(self._space, [item.key for item in items]) if self._space else {}

    async def _readings(self, items: Sequence[Item], now: datetime) -> Mapping[str, Sequence[Reading]]:
        return await self._stored.readings([item.key for item in items], (now - READINGS).date())

    def _keep(self, key: _Key, indexed: IndexedItems, now: datetime) -> None:
        """Keep the index, and of the others those that were used last and not long ago, as far as there is room."""
        room = self._most
        others = reversed(self._kept.items())
        self._kept = {}
        for each, (kept, asked) in ((key, (indexed, now)), *others):
            room -= len(kept.items)
            if room >= 0 and abs(now - asked) <= UNASKED:  # whatever the clock showed meanwhile
                self._kept = {each: (kept, asked), **self._kept}


def _is_in(arrival: int, window: Window) -> bool:
    return window.after < arrival <= window.through


def _are_in(arrivals: NDArray[np.int64], window: Window) -> NDArray[np.bool_]:
    claims: NDArray[np.bool_] = (arrivals > window.after) & (arrivals <= window.through)
    return claims


def _was_news(item: Item, max_age: timedelta, since: datetime, now: datetime) -> bool:
    """Say whether the item was news when it was first seen, or since: not where a clock had run ahead, or after long."""
    seen = item.seen or now
    return not item.is_old(max_age, max(since, min(seen, now)))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
