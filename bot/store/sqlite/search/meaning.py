"""What is asked for by its meaning, and the copy of the vectors in memory that it is held against.

The copy follows what is written by whomever.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from sqlite_utils import Database

from bot.models import Near
from bot.models.vectors import Floats, unpack
from bot.store.rules.nearest import NOTHING, Close, Ids, Nearest
from bot.store.sqlite.vectors import SOUND, is_known, last_change, space_number

_AT_ONCE = 4096  # rows that are read into the copy at a time


class VectorCopy:
    """The vectors of one space in memory, the one that was asked for last; for any threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._space = 0
        self._change = -1
        self._nearest = Nearest(0)

    def follow(self, db: Database, near: Near) -> None:
        """Read what changed since the copy was last used; all vectors of the space at first."""
        with self._of(db, near.space, len(unpack([near.vector])[0])):
            pass

    def closest(self, db: Database, near: Near, number: int, among: Ids | None = None) -> Close:
        """Return so many of the items that are closest, of these ids alone where they are given."""
        (vector,) = unpack([near.vector])
        with self._of(db, near.space, len(vector)) as nearest:
            return nearest.closest(vector, number, among)

    def near(self, db: Database, near: Near) -> tuple[Close, bool]:
        """Return the items that are near enough, the closest first, and whether these are all of them."""
        (vector,) = unpack([near.vector])
        with self._of(db, near.space, len(vector)) as nearest:
            return nearest.near(vector, near.enough)

    def cosines(self, db: Database, near: Near, ids: Ids) -> Floats:
        """Return how close each of the items is, nan for one without a vector."""
        (vector,) = unpack([near.vector])
        with self._of(db, near.space, len(vector)) as nearest:
            return nearest.cosines(vector, ids)

    def alike(self, db: Database, near: Near, first: Ids, ids: Ids) -> Floats:
        """Return how close each of the items is to what the first ones mean together, nan for one without a vector."""
        with self._of(db, near.space, len(unpack([near.vector])[0])) as nearest:
            return nearest.cosines(nearest.together(first), ids)

    @contextmanager
    def _of(self, db: Database, space: str, size: int) -> Iterator[Nearest]:
        """Give the vectors as the database has them now, those alone that have this size; nobody else has them meanwhile."""
        number, change = space_number(db, space), last_change(db)
        with self._lock:
            is_behind = self._change < change and not is_known(db, self._change)
            if (number, size) != (self._space, self._nearest.size) or is_behind:
                self._space, self._change, self._nearest = number, -1, Nearest(size)
            # A reader whose view of the database is older than the copy finds a few vectors of what it does not see.
            if self._change < change:
                self._follow(db)
                self._change = change
            yield self._nearest

    def _follow(self, db: Database) -> None:
        sql = "select item from gone_vectors where change > ?"
        gone = [item for (item,) in db.execute(sql, [self._change]).fetchall()]
        fitting = [self._change, self._space, self._nearest.size + 4]
        # Left to itself, SQLite goes through all vectors of the space for the few that are new.
        changed = "vectors indexed by vectors_change where change > ?"
        sql = f"select item from {changed} and not (space = ? and {SOUND})"
        gone += [item for (item,) in db.execute(sql, fitting).fetchall()]
        self._nearest.remove(np.array(gone, np.int64))
        rows = db.execute(f"select item, vector from {changed} and space = ? and {SOUND}", fitting)
        while some := rows.fetchmany(_AT_ONCE):
            self._nearest.put(np.array([item for item, _ in some], np.int64), [vector for _, vector in some])


@dataclass(frozen=True, slots=True)
class Meaning:
    """A vector, and the copy of those of the items."""

    copy: VectorCopy
    near: Near

    @property
    def finds(self) -> bool:
        """Whether anything can be near enough; otherwise it only says how close something is."""
        return self.near.enough <= 1

    def follow(self, db: Database) -> None:
        """Bring the copy up to what the database holds."""
        self.copy.follow(db, self.near)

    def closest(self, db: Database, number: int, among: Ids | None = None) -> Close:
        """Return so many of the closest items, of these ids alone where they are given, as far as they are near enough."""
        if not self.finds:
            return NOTHING
        found = self.copy.closest(db, self.near, number, among)
        near = found.cosines >= self.near.enough
        return Close(found.ids[near], found.cosines[near])

    def all_near(self, db: Database) -> tuple[Close, bool]:
        """Return the items that are near enough, the closest first, and whether these are all of them."""
        return self.copy.near(db, self.near)

    def cosines(self, db: Database, ids: Ids) -> Floats:
        """Return how close each of the items is, nan for one without a vector."""
        return self.copy.cosines(db, self.near, ids)

    def alike(self, db: Database, first: Ids, ids: Ids) -> Floats:
        """Return how close each of the items is to what the first ones mean together, nan for one without a vector."""
        return self.copy.alike(db, self.near, first, ids)
