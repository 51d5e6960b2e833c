"""The vectors of a space in memory, and which of them are closest to one: exact, but for what a first pass leaves out.

Each vector takes its 8-bit row and a bit per number: 151,000 of 384 numbers take 67 MB. The first pass counts in how many
signs a vector differs from the one that is asked about, and the most alike are then measured exactly.
docs/decisions/0028-hybrid-search.md has what it finds and costs.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bot.models.vectors import Bytes, Floats, sound, split

Ids = NDArray[np.int64]
T = TypeVar("T", np.int8, np.int32, np.int64, np.uint64, np.float32)

EXACT = 4_000  # vectors that are all measured, in half a millisecond; of more, the most alike by their signs
_MEASURED = 12  # of so many one is measured: of the ten closest to a question all are, of a hundred 98
_BLOCK = 1024  # rows that are made float32 at a time: they stay near the processor
_ROOM = 1024  # rows at first; then a quarter more at a time
_NOBODY = -1  # the id of a row that is free, and the row of an id without a vector


class Close(NamedTuple):
    """Ids, the closest first, of equal ones the highest; and their cosines."""

    ids: Ids
    cosines: Floats


NOTHING = Close(np.empty(0, np.int64), np.empty(0, np.float32))


class Nearest:
    """Some vectors of one size by positive ids. To be used by one thread at a time."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._words = -(-size // 64)
        self._end = 0  # rows in use, the free ones among them
        self._free: list[int] = []
        self._ids: Ids = np.full(_ROOM, _NOBODY, np.int64)
        self._steps: Bytes = np.zeros((_ROOM, size), np.int8)
        self._scales: Floats = np.zeros(_ROOM, np.float32)
        self._signs = np.zeros((self._words, _ROOM), np.uint64)  # a row per 64 numbers, so that each is read in one go
        self._rows = np.full(_ROOM, _NOBODY, np.int32)  # by id

    def __len__(self) -> int:
        return self._end - len(self._free)

    def put(self, ids: Ids, packed: Sequence[bytes]) -> None:
        """Keep the vectors of these ids, each once, in place of those they had; raises ValueError for another size.

        One that is damaged is none.
        """
        steps, scales = split(packed)
        if len(ids) and steps.shape[1] != self.size:
            raise ValueError(f"A vector of {steps.shape[1]} numbers among those of {self.size}.")
        kept = sound(scales)
        if not kept.all():
            self.remove(ids[~kept])
            ids, steps, scales = ids[kept], steps[kept], scales[kept]
        if not len(ids):
            return
        self._make_room(len(ids), int(ids.max()))
        rows = self._rows[ids]
        strange = np.flatnonzero(rows == _NOBODY)
        rows[strange] = [self._free_row() for _ in strange]
        self._steps[rows], self._scales[rows] = steps, scales
        self._signs[:, rows] = _signs(steps, self._words)
        self._rows[ids], self._ids[rows] = rows, ids

    def remove(self, ids: Ids) -> None:
        """Forget the vectors of these ids; one without any is nothing to forget."""
        rows = self._rows_of(np.unique(ids))
        rows = rows[rows != _NOBODY]
        self._rows[self._ids[rows]] = _NOBODY
        self._ids[rows] = _NOBODY
        self._free += rows.tolist()

    def cosines(self, vector: Floats, ids: Ids) -> Floats:
        """Return the cosine of each with the vector, nan where an id has none."""
        rows = self._rows_of(ids)
        known = rows != _NOBODY
        found: Floats = np.full(len(ids), np.nan, np.float32)
        found[known] = self._measure(vector, rows[known])
        return found

    def together(self, ids: Ids) -> Floats:
        """Return the direction of what these mean together, those without a vector left out; zeros where none has one."""
        rows = self._rows_of(ids)
        rows = rows[rows != _NOBODY]
        mean: Floats = (self._steps[rows] * self._scales[rows][:, None]).sum(axis=0, dtype=np.float32)
        length = float(np.linalg.norm(mean))
        return mean / np.float32(length) if length else mean

    def closest(self, vector: Floats, number: int, among: Ids | None = None) -> Close:
        """Return so many of the closest, of these ids alone where they are given."""
        ids, cosines = self._measured(vector, 4 * number, among)
        best = _highest(cosines, number)
        found = _in_order(ids[best], cosines[best])
        return Close(found.ids[:number], found.cosines[:number])

    def near(self, vector: Floats, enough: float) -> tuple[Close, bool]:
        """Return what has such a cosine at least, and whether that is all; False where there may be more, all less close."""
        ids, cosines = self._measured(vector, EXACT)
        near = cosines >= enough
        return _in_order(ids[near], cosines[near]), len(ids) == len(self) or not near.all()

    def _measured(self, vector: Floats, number: int, among: Ids | None = None) -> tuple[Ids, Floats]:
        """Return ids and cosines of those that the first pass leaves, so many at least; in no order."""
        if among is None:
            rows = np.flatnonzero(self._ids[: self._end] != _NOBODY)
        else:
            known = self._rows_of(among)
            rows = known[known != _NOBODY].astype(np.intp)
        if len(rows) > EXACT:
            rows = rows[self._alike(vector, rows, max(EXACT, len(rows) // _MEASURED, number))]
        return self._ids[rows], self._measure(vector, rows)

    def _alike(self, vector: Floats, rows: NDArray[np.intp], number: int) -> NDArray[np.intp]:
        """Return the places of those rows whose signs differ least."""
        asked = _signs((np.sign(vector)[None]).astype(np.int8), self._words)[:, 0]
        every = len(rows) * 2 > self._end  # reading all is quicker than picking out half of them
        apart = np.zeros(self._end if every else len(rows), np.uint16)
        for word, signs in zip(asked, self._signs, strict=True):
            apart += np.bitwise_count((signs[: self._end] if every else signs[rows]) ^ word)
        apart = apart[rows] if every else apart
        most = np.searchsorted(np.bincount(apart).cumsum(), number)  # differences of the last that is wanted
        return np.flatnonzero(apart <= most)

    def _measure(self, vector: Floats, rows: NDArray[np.integer]) -> Floats:
        found: Floats = np.empty(len(rows), np.float32)
        shape = (min(_BLOCK, len(rows)), self.size)
        steps, plain = np.empty(shape, np.int8), np.empty(shape, np.float32)  # written over, block by block
        for at in range(0, len(rows), _BLOCK):
            some = rows[at : at + _BLOCK]
            here = slice(len(some))
            self._steps.take(some, axis=0, out=steps[here], mode="clip")  # every row is there; to look costs a copy
            plain[here] = steps[here]
            np.dot(plain[here], vector, out=found[at : at + _BLOCK])
        found *= self._scales[rows]
        return found

    def _rows_of(self, ids: Ids) -> NDArray[np.int32]:
        known = (ids >= 0) & (ids < len(self._rows))
        rows: NDArray[np.int32] = np.where(known, self._rows[np.where(known, ids, 0)], _NOBODY)
        return rows

    def _free_row(self) -> int:
        if self._free:
            return self._free.pop()
        self._end += 1
        return self._end - 1

    def _make_room(self, more: int, highest: int) -> None:
        needed = self._end + more
        if needed > len(self._ids):
            room = max(needed, len(self._ids) * 5 // 4)
            self._steps, self._scales = _grown(self._steps, room), _grown(self._scales, room)
            self._signs = np.ascontiguousarray(_grown(self._signs.T, room).T)
            self._ids = _grown(self._ids, room, _NOBODY)
        if highest >= len(self._rows):
            self._rows = _grown(self._rows, max(highest + 1, len(self._rows) * 5 // 4), _NOBODY)


def _in_order(ids: Ids, cosines: Floats) -> Close:
    order = np.lexsort((-ids, -cosines))
    return Close(ids[order], cosines[order])


def _grown(rows: NDArray[T], room: int, filling: int = 0) -> NDArray[T]:
    grown = np.full((room, *rows.shape[1:]), filling, rows.dtype)
    grown[: len(rows)] = rows
    return grown


def _signs(steps: Bytes, words: int) -> NDArray[np.uint64]:
    """Return a bit for each number, 64 of a row to a word; by word, then by row."""
    bits = np.zeros((len(steps), 64 * words), bool)
    bits[:, : steps.shape[1]] = steps > 0
    return np.packbits(bits, axis=1).view(np.uint64).T


def _highest(values: NDArray[np.float32], number: int) -> NDArray[np.intp]:
    """Return where the highest stand, so many and those that equal the last of them, in the order of their places."""
    if number < 1 or not len(values):
        return np.empty(0, np.intp)
    if len(values) <= number:
        return np.arange(len(values))
    return np.flatnonzero(values >= np.partition(values, -number)[-number])
