"""Following the numbered changes of a database's items and vectors, some at a time.

A copy that knows nothing, or nothing that the database still knows, looks at all items by their arrivals, and at all
vectors after that. What it has from before stays until it was looked at, and what changes meanwhile is followed all along:
so what was stored last is found first, also while the rest is still missing.

What is read is written before anything else is read. So of each item a copy never has an older text than of its vector,
and what it has of either only ever becomes newer.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from sqlite_utils import Database

from bot.models import Item
from bot.ports.items import Items
from bot.ports.vectors import VectorChange, Vectors
from bot.store.sqlite.connections import Connections
from bot.store.sqlite.copy import rows
from bot.store.sqlite.copy.rows import NOWHERE, Position, begun, damage_told, save_position
from bot.store.sqlite.ingest import last_id

T = TypeVar("T")

_AT_ONCE = 500  # changes or arrivals that are read and written at a time: a few tenths of a second of one thread


class CopyFollower:
    """Brings a copy up to the database; one call at a time, by one process at a time."""

    def __init__(self, items: Items, vectors: Vectors, copy: Connections, at_once: int = _AT_ONCE) -> None:
        """`copy` are the connections to the file of the copy, `items` and `vectors` those of the database."""
        self._items, self._vectors, self._copy, self._at_once = items, vectors, copy, at_once
        self.position = Position()
        self.last_arrival = 0  # of the database, as far as it is known
        self._copied = 0  # the arrival up to which the copy has what was stored, unless that is still looked at

    @property
    def lacking(self) -> int:
        """How many arrivals the copy has not looked at, as far as that is known."""
        reached = self._copied if self.position.is_complete else self.position.reached or 0
        return max(0, self.last_arrival - reached)

    async def look(self) -> None:
        """Read how far the copy is, which another process may have brought further."""
        self.position, self._copied = await self._read(lambda db: (rows.read_position(db), last_id(db)))

    async def follow_space(self, space: str) -> None:
        """Follow the vectors of this space from now on, and of no other."""
        if space != self.position.space:
            await self._write(replace(self.position, space=space, write=NOWHERE, vectors_reached=0))

    async def has_items(self) -> bool:
        """Say whether the copy has all items as they are, without bringing it any further."""
        self.last_arrival = await self._items.last_arrival()
        return self.position.reached is None and self.position.number == await self._items.last_change()

    async def has_all(self) -> bool:
        """Say whether the copy has all there is, without bringing it any further."""
        position = self.position
        if not await self.has_items():
            return False
        if not position.space:
            return True
        return position.vectors_reached is None and position.write == await self._vectors.last_change(position.space)

    async def follow_some(self) -> bool:
        """Bring the copy a little further, and return whether it has all there is; raises StoreError."""
        if not await self.follow_items():
            return False
        if self.position.reached is not None:
            await self._look_through_items(self.position.reached)
            return False
        if self.position.space and not await self._follow_vectors():
            return False
        return self.position.reached is None

    async def follow_items(self) -> bool:
        """Write some changes of items, and return whether none is left; raises StoreError."""
        if self.position.number == await self._items.last_change():
            return True
        arrival = self.last_arrival = await self._items.last_arrival()
        changes = None
        if self.position.number != NOWHERE:
            changes = await self._items.changes(self.position.number, limit=self._at_once)
        if changes is None:
            await self._write(begun(self.position, await self._items.last_change()))
            return True
        if changes:
            latest = {change.arrival: change.item for change in changes}
            last = arrival if len(changes) < self._at_once else None
            await self._put(latest, replace(self.position, number=changes[-1].number), last)
        return len(changes) < self._at_once

    async def _look_through_items(self, reached: int) -> None:
        """Let the copy have the next items by arrival as the database has them now, and no others there."""
        last = self.last_arrival = await self._items.last_arrival()
        until = min(reached + self._at_once, last)
        some = dict(sorted(await self._items.arrived(reached, until)))
        is_last = until >= last

        def write(db: Database) -> None:
            rows.drop_others(db, reached, None if is_last else until, some)
            if is_last:
                rows.set_last_arrival(db, last)

        position = replace(self.position, reached=None) if is_last else replace(self.position, reached=until)
        await self._put(some, replace(position, is_complete=position.is_complete or is_last), None, write)
        if is_last:
            self._copied = last

    async def _put(
        self,
        given: Mapping[int, Item | None],
        position: Position,
        arrival: int | None,
        besides: Callable[[Database], None] = lambda db: None,
    ) -> None:
        """Write these items, none for None, and with `arrival` that the copy has all that was stored up to there."""
        there = await self._read(lambda db: rows.texts_of(db, given))
        ready = await asyncio.get_running_loop().run_in_executor(self._copy.folder, rows.prepared, given, there)

        def write(db: Database) -> None:
            besides(db)
            rows.put_items(db, ready)
            if arrival is not None:
                rows.set_last_arrival(db, arrival)

        await self._write(position, write)
        self._copied = max([self._copied, *given]) if arrival is None else arrival

    async def _follow_vectors(self) -> bool:
        """Write some changes of vectors, and return whether none is left and those of all items were looked at."""
        space, position = self.position.space, self.position
        if position.vectors_reached is None and position.write == await self._vectors.last_change(space):
            return True
        changes = None
        if position.write != NOWHERE:
            changes = await self._vectors.changed(space, position.write, limit=self._at_once)
        if changes is None:
            write = await self._vectors.last_change(space)
            await self._write(replace(position, write=write, vectors_reached=0))
            return False
        if changes and not await self._put_changes(space, changes):
            return False
        if self.position.vectors_reached is not None:
            await self._look_through_vectors(space, self.position.vectors_reached)
        return len(changes) < self._at_once and self.position.vectors_reached is None

    async def _put_changes(self, space: str, changes: Sequence[VectorChange]) -> bool:
        """Write these; return whether that could be done, which it cannot before all items were looked at."""
        vectors = {each.arrival: None if each.packed is None else (each.packed, each.quick) for each in changes}
        return await self._put_vectors(space, vectors, replace(self.position, write=changes[-1].number))

    async def _look_through_vectors(self, space: str, reached: int) -> None:
        """Let the next items by arrival have the vectors that they have in the database now."""
        keys = await self._read(lambda db: rows.keys_after(db, reached, self._at_once))
        found = await self._vectors.find(space, list(keys.values()))
        vectors = {number: (found[key], False) if key in found else None for number, key in keys.items()}
        reached_now = max(keys) if len(keys) == self._at_once else None
        await self._put_vectors(space, vectors, replace(self.position, vectors_reached=reached_now))

    async def _put_vectors(self, space: str, vectors: Mapping[int, tuple[bytes, bool] | None], position: Position) -> bool:
        """Write vectors that were just read, once the items are as new as they are."""
        while not await self.follow_items():
            pass
        if self.position.reached is not None:
            return False
        position = replace(position, number=self.position.number)
        await self._write(position, lambda db: rows.put_vectors(db, space, vectors))
        return True

    async def _write(self, position: Position, job: Callable[[Database], None] = lambda db: None) -> None:
        """Do the job in one transaction with the note of how far the copy is then."""

        def write(db: Database) -> None:
            job(db)
            save_position(db, position)

        with damage_told():
            await self._copy.write(write)
        self.position = position

    async def _read(self, job: Callable[[Database], T]) -> T:
        with damage_told():
            return await self._copy.read_long(job)
