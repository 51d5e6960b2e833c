"""What digests look at: the items first seen in a time, indexed, and kept for a few minutes for who asks again."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import TypeVar

from bot.compose import is_old
from bot.models import Item
from bot.ports import Store
from bot.rank import Edition

T = TypeVar("T")

# How long an index may be used again. Whoever asks "why" has just seen the digest; a few minutes move a score by less than a
# thousandth, and what was stored since is never missed: see `Windows`.
FRESH = timedelta(minutes=5)
# Items in all the indexes that are kept, those that are used last; a thousand papers take 20 MB.
MOST = 4_000

# How far back readings are asked for.
READINGS = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Window:
    """The items of a time, and the index of those among them that are ranked. One thread at a time uses the index."""

    items: Sequence[Item]
    edition: Edition
    size: int  # items in the index, those that are not ranked too
    _turn: Lock = field(default_factory=Lock)

    async def work(self, task: Callable[[Sequence[Item], Edition], T]) -> T:
        """Return what the task makes of the items and their index; it runs in a thread, when no other does."""

        def alone() -> T:
            with self._turn:
                return task(self.items, self.edition)

        return await asyncio.to_thread(alone)

    def of(self, items: Sequence[Item]) -> "Window":
        """Return the same index for the same items read anew."""
        return Window(items, self.edition, self.size, self._turn)


@dataclass(frozen=True, slots=True)
class Picked:
    """Which items are ranked, and others that make the counting of rare words steadier."""

    items: Sequence[Item]
    extra: Sequence[Item] = ()


Pick = Callable[[Sequence[Item]], Picked]


class Windows:
    """Reads the items of a time from the store, and indexes them.

    The items are read each time, and an index is used again only for the very same ones, compared as a whole: so none is
    stale, whoever wrote to the store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[object, Window] = {}
        self._making = asyncio.Lock()  # who asks for what is just being made waits for it

    async def items(self, since: datetime, now: datetime) -> Sequence[Item]:
        """Return what was first seen from `since` on, the newest first."""
        # Until a moment past now: what was stored at `now` itself belongs to it.
        return await self._store.items_since(since, now + timedelta(microseconds=1))

    async def made(self, items: Sequence[Item], pick: Pick, now: datetime) -> Window:
        """Return the items with an index made now."""
        picked = await asyncio.to_thread(pick, items)
        readings = await self._store.readings([item.key for item in picked.items], (now - READINGS).date())
        edition = await asyncio.to_thread(Edition, picked.items, readings, now, picked.extra)
        return Window(items, edition, len(picked.items) + len(picked.extra))

    async def kept(self, asked: object, items: Sequence[Item], pick: Pick, now: datetime) -> Window:
        """Return the items with an index that may be a few minutes old; `asked` says, by its value, what `pick` picks."""
        async with self._making:
            key = (asked, await asyncio.to_thread(hash, tuple(items)))
            window = self._kept.pop(key, None)
            if window is None or not _is_fresh(window, now):
                window = await self.made(items, pick, now)
            self._keep(key, window, now)
            return window.of(items)

    def _keep(self, key: object, window: Window, now: datetime) -> None:
        """Keep the index, and of the others those that were used last, as far as there is room."""
        # Without the items: whoever asks again brings them.
        others = reversed([(each, kept) for each, kept in self._kept.items() if _is_fresh(kept, now)])
        room = MOST
        self._kept = {}
        for each, kept in ((key, window.of(())), *others):
            room -= kept.size
            if room >= 0:
                self._kept = {each: kept, **self._kept}


def _is_fresh(window: Window, now: datetime) -> bool:
    return timedelta(0) <= now - window.edition.now < FRESH


def fresh(max_age: timedelta, now: datetime) -> Pick:
    """Pick what is not too old to be news; after a long gap most of it is, and is only counted."""
    return lambda items: Picked([item for item in items if not is_old(item, max_age, now)])
