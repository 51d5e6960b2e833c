"""What is asked for by its meaning, and the copy of the vectors that it is held against.

The copy follows what is written by whomever. Many vectors lie in a file beside the database, which is read where it is
looked at; those that were written since, or all where they are few, are in memory.
"""

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from bot.models import Near
from bot.models.vectors import Floats, unpack
from bot.store.rules.nearest import NOTHING, Close, Ids, Nearest
from bot.store.sqlite.search.vector_file import Contents, VectorFileError, map_vectors, read_contents, write_vectors
from bot.store.sqlite.vectors import SOUND, is_known, last_change, space_number

# So many vectors are kept in memory at most, 45 MB of those of the shipped model, or this part of what is in the file.
IN_MEMORY = 100_000
_PART = 8
_AT_ONCE = 4096  # rows that are read at a time
_log = logging.getLogger(__name__)


class _StoppedError(Exception):
    """The database is being closed."""


class VectorCopy:
    """The vectors of one space, the one that was asked for last; for any threads."""

    def __init__(self, database: Path | None = None, in_memory: int = IN_MEMORY) -> None:
        """More vectors than `in_memory` lie in a file beside the database; without one, all stay in memory."""
        self._database, self._most = database, in_memory
        self._lock = threading.Lock()
        self._space = ""
        self._change = -1
        self._nearest = Nearest(0)
        self._allowed = in_memory  # in memory, before the file is made anew
        self._mapped = -1  # the last change that is in the file, as far as it is in use
        self._stopped = False

    def is_due(self) -> bool:
        """Say whether so many vectors are in memory that the file is to be made."""
        return self._database is not None and self._nearest.beside > self._allowed

    def stop(self) -> None:
        """Make no file any more, also where that was begun."""
        self._stopped = True

    def remake(self, db: Database) -> None:
        """Put all vectors into the file and go on with it, as well as where another process has done so since.

        Searches go on meanwhile. Where the file cannot be written, the vectors stay in memory.
        """
        with self._lock:
            space, size, mapped = self._space, self._nearest.size, self._mapped
        contents = self._contents(db, space, size)
        if contents is None or contents.change <= mapped:
            contents = self._written(db, space, size)
        with self._lock:
            same = (space, size) == (self._space, self._nearest.size)
            if same and (contents is None or not self._use(contents)):
                self._allowed = 2 * self._nearest.beside

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
        change = last_change(db)
        with self._lock:
            is_behind = self._change < change and not is_known(db, self._change)
            if (space, size) != (self._space, self._nearest.size) or is_behind:
                self._begin(db, space, size)
            # A reader whose view of the database is older than the copy finds a few vectors of what it does not see.
            if self._change < change:
                self._follow(db)
                self._change = change
            yield self._nearest

    def _begin(self, db: Database, space: str, size: int) -> None:
        """Go on from the file, which is made first where there is none and the vectors are many; otherwise from nothing."""
        self._space, self._change, self._mapped, self._nearest = space, -1, -1, Nearest(size)
        self._allowed = self._most
        if self._database is None:
            return
        contents = self._contents(db, space, size)
        if contents is not None and self._use(contents):
            return
        if self._stored(db, space) > self._most:
            contents = self._written(db, space, size)
            if contents is None or not self._use(contents):
                self._allowed = 2 * self._stored(db, space)

    def _contents(self, db: Database, space: str, size: int) -> Contents | None:
        """Return what is in the file, None where it cannot be gone on from."""
        try:
            contents = read_contents(self._path())
        except VectorFileError as error:
            _log.debug("the file of vectors is not used: %s", error)
            return None
        fits = (contents.space, contents.size) == (space, size) and contents.change <= last_change(db)
        return contents if fits and is_known(db, contents.change) else None

    def _use(self, contents: Contents) -> bool:
        """Go on from the file; False where it is not as it was written."""
        try:
            ids, table = map_vectors(self._path(), contents)
        except VectorFileError as error:
            _log.warning("the file of vectors cannot be used: %s", error)
            return False
        self._nearest = Nearest(contents.size, ids, table)
        self._change = self._mapped = contents.change
        self._allowed = max(self._most, len(ids) // _PART)
        return True

    def _written(self, db: Database, space: str, size: int) -> Contents | None:
        """Put the vectors that the database has into the file; None where that cannot be done."""
        contents = Contents(space, size, last_change(db), self._stored(db, space))
        sql = f"select item, vector from vectors where +space = ? and {SOUND} order by item"
        rows = db.execute(sql, [space_number(db, space), size + 4])

        def some() -> Iterator[tuple[Sequence[int], Sequence[bytes]]]:
            while found := rows.fetchmany(_AT_ONCE):
                if self._stopped:
                    raise _StoppedError
                yield [item for item, _ in found], [vector for _, vector in found]

        try:
            contents = write_vectors(self._path(), contents, some())
        except _StoppedError:
            return None
        except OSError as error:
            _log.warning("the file of vectors cannot be made, they stay in memory: %s", error)
            return None
        _log.info("the file of vectors is made, of %d", contents.count)
        return contents

    def _path(self) -> Path:
        assert self._database is not None  # noqa: S101 - otherwise nobody asks
        return Path(f"{os.path.realpath(self._database)}.vectors")

    def _stored(self, db: Database, space: str) -> int:
        return int(db.execute("select count(*) from vectors where space = ?", [space_number(db, space)]).fetchone()[0])

    def _follow(self, db: Database) -> None:
        sql = "select item from gone_vectors where change > ?"
        gone = [item for (item,) in db.execute(sql, [self._change]).fetchall()]
        fitting = [self._change, space_number(db, self._space), self._nearest.size + 4]
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
