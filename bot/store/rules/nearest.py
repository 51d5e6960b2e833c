"""The vectors of a space, and which of them are closest to one: exact, but for what two first passes leave out.

Each vector takes its 8-bit row and a bit per number. The first pass counts in how many signs a vector differs from the one
that is asked about; of what is left of many, the second one weighs these signs by how far the asked one is from having the
other; the most alike are then measured exactly. Most of many may lie in a table that stays as it is, such as one that a file
holds: what changes is then kept beside it.
docs/decisions/0028-hybrid-search.md and 0109-vectors-in-a-file.md have what it finds and costs.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bot.models.vectors import MOST_STEPS, Bytes, Floats, sound, split

Ids = NDArray[np.int64]
Words = NDArray[np.uint64]
Rows = NDArray[np.intp]
Counts = NDArray[np.uint16]
T = TypeVar("T", np.int8, np.int32, np.int64, np.uint64, np.float32)

# So many vectors are all measured, in a millisecond. Of more, that many and a part of them are, the most alike by their
# weighed signs; and these are weighed for more, the most alike by their signs. Of the ten closest to a question .998 are
# found so, of a hundred .991, among 54,000 as among a million.
EXACT, _MEASURED = 5_000, 200
_WEIGHED, _COMPARED = 10_000, 32
_BITS = 2  # of the weight of a sign
_BROAD = 4  # where more than one of so many that are measured is near, more may be near than is measured
_BLOCK = 1024  # rows that are made float32 at a time: they stay near the processor
_LONG_BLOCK = 32_768  # rows whose signs are compared at a time, likewise
_ROOM = 1024  # rows at first; then a quarter more at a time
_NOBODY = -1  # the id of a row that is free, and the row of an id without a vector


class Close(NamedTuple):
    """Ids, the closest first, of equal ones the highest; and their cosines."""

    ids: Ids
    cosines: Floats


NOTHING = Close(np.empty(0, np.int64), np.empty(0, np.float32))


class Table(NamedTuple):
    """Vectors by row: the steps of each, what to multiply these with, and its signs, in words of 64 numbers.

    The signs are by word, then by row, so that each word of all is read in one go.
    """

    steps: Bytes
    scales: Floats
    signs: Words

    @classmethod
    def empty(cls, size: int, room: int) -> "Table":
        """Return a table with so many rows that are nobody's."""
        signs = np.zeros((-(-size // 64), room), np.uint64)
        return cls(np.zeros((room, size), np.int8), np.zeros(room, np.float32), signs)


class Nearest:
    """Some vectors of one size by positive ids. To be used by one thread at a time."""

    def __init__(self, size: int, ids: Ids = NOTHING.ids, fixed: Table | None = None) -> None:
        """Begin with the vectors of a table, which is read and never written, by these ids, all different."""
        self.size = size
        self._fixed = fixed if fixed is not None else Table.empty(size, 0)
        self._first = len(ids)  # the first row that is kept here, behind those of the table
        self._own = Table.empty(size, _ROOM)
        self._ids = _grown(ids, self._first + _ROOM, _NOBODY)
        self._end = self._first  # rows in use, the free ones among them
        self._free: list[int] = []
        self._left = 0  # rows of the table that are nobody's any more
        self._rows = np.full(max(_ROOM, int(ids.max(initial=0)) + 1), _NOBODY, np.int32)  # by id
        self._rows[ids] = np.arange(self._first)

    def __len__(self) -> int:
        return self._end - len(self._free) - self._left

    @property
    def beside(self) -> int:
        """How many vectors are kept beside the table."""
        return self._end - self._first - len(self._free)

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
        self._leave(rows[(rows != _NOBODY) & (rows < self._first)])
        strange = np.flatnonzero(rows < self._first)
        rows[strange] = [self._free_row() for _ in strange]
        own = rows - self._first
        self._own.steps[own], self._own.scales[own] = steps, scales
        self._own.signs[:, own] = signs_of(steps)
        self._rows[ids], self._ids[rows] = rows, ids

    def remove(self, ids: Ids) -> None:
        """Forget the vectors of these ids; one without any is nothing to forget."""
        rows = self._rows_of(np.unique(ids))
        rows = rows[rows != _NOBODY]
        self._rows[self._ids[rows]] = _NOBODY
        self._leave(rows[rows < self._first])
        rows = rows[rows >= self._first]
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
        each = np.empty((len(rows), self.size), np.float32)
        for table, where, own in self._parts(rows):
            each[where] = table.steps[own] * table.scales[own][:, None]
        mean: Floats = each.sum(axis=0, dtype=np.float32)
        length = float(np.linalg.norm(mean))
        return mean / np.float32(length) if length else mean

    def closest(self, vector: Floats, number: int, among: Ids | None = None) -> Close:
        """Return so many of the closest, of these ids alone where they are given."""
        ids, cosines = self._measured(vector, 4 * number, among)
        best = _highest(cosines, number)
        found = _in_order(ids[best], cosines[best])
        return Close(found.ids[:number], found.cosines[:number])

    def near(self, vector: Floats, enough: float) -> tuple[Close, bool]:
        """Return what has such a cosine at least, and whether that is all; what is left out is less close, nearly always."""
        ids, cosines = self._measured(vector, EXACT)
        near = cosines >= enough
        complete = len(ids) == len(self) or _BROAD * int(near.sum()) <= len(ids)
        return _in_order(ids[near], cosines[near]), complete

    def _measured(self, vector: Floats, number: int, among: Ids | None = None) -> tuple[Ids, Floats]:
        """Return ids and cosines of those that the first passes leave, so many at least; in no order."""
        rows = None if among is None else self._rows_of(among)
        rows = None if rows is None else rows[rows != _NOBODY]
        count = len(self) if rows is None else len(rows)
        first = max(_WEIGHED + count // _COMPARED, number)
        second = max(EXACT + count // _MEASURED, number)
        if count > first:
            rows = self._alike(vector, rows, first)
        elif rows is None:
            rows = np.flatnonzero(self._ids[: self._end] != _NOBODY)
        if len(rows) > second:
            rows = rows[_least(self._apart(vector, rows, _weights(vector)), second)]
        return self._ids[rows], self._measure(vector, rows)

    def _alike(self, vector: Floats, rows: Rows | None, number: int) -> Rows:
        """Return those rows, of all where none are given, whose signs differ least."""
        if rows is not None and 2 * len(rows) <= self._end:  # reading all is quicker than picking out half of them
            return rows[_least(self._apart(vector, rows, [_every(vector)]), number)]
        apart = np.zeros(self._end, np.uint16)
        asked = _signs_of_one(vector)
        _count_apart(asked, self._fixed.signs, apart[: self._first])
        _count_apart(asked, self._own.signs, apart[self._first :])
        if rows is not None:
            return rows[_least(apart[rows], number)]
        if len(self) < self._end:
            apart[self._ids[: self._end] == _NOBODY] = 64 * len(asked) + 1
        return _least(apart, number)

    def _apart(self, vector: Floats, rows: Rows, weights: Sequence[Words]) -> Counts:
        """Return of each row in which signs it differs, each counted as often as the bits of its weight say."""
        apart = np.zeros(len(rows), np.uint16)
        asked = _signs_of_one(vector)
        for table, where, own in self._parts(rows):
            differing = [signs.take(own) ^ word for word, signs in zip(asked, table.signs, strict=True)]
            here = np.zeros(len(own), np.uint16)
            for weight in weights:
                here <<= 1
                for signs, word in zip(differing, weight, strict=True):
                    here += np.bitwise_count(signs & word)
            apart[where] = here
        return apart

    def _measure(self, vector: Floats, rows: Rows) -> Floats:
        found: Floats = np.empty(len(rows), np.float32)
        steps, scale = _in_steps(vector)
        for table, where, own in self._parts(rows):
            found[where] = _products(table, steps, own) * (table.scales[own] * scale)
        return found

    def _parts(self, rows: Rows) -> Iterator[tuple[Table, NDArray[np.bool_], Rows]]:
        """Give each table that has some of the rows: which ones, and where they stand in it."""
        fixed = rows < self._first
        if fixed.any():
            yield self._fixed, fixed, rows[fixed]
        if not fixed.all():
            yield self._own, ~fixed, rows[~fixed] - self._first

    def _rows_of(self, ids: Ids) -> Rows:
        known = (ids >= 0) & (ids < len(self._rows))
        rows: Rows = np.where(known, self._rows[np.where(known, ids, 0)], _NOBODY).astype(np.intp)
        return rows

    def _leave(self, rows: Rows) -> None:
        """Take these rows of the table from whose they are."""
        self._ids[rows] = _NOBODY
        self._left += len(rows)

    def _free_row(self) -> int:
        if self._free:
            return self._free.pop()
        self._end += 1
        return self._end - 1

    def _make_room(self, more: int, highest: int) -> None:
        needed = self._end + more - self._first
        if needed > len(self._own.scales):
            room = max(needed, len(self._own.scales) * 5 // 4)
            steps, scales, signs = self._own
            signs = np.ascontiguousarray(_grown(signs.T, room).T)
            self._own = Table(_grown(steps, room), _grown(scales, room), signs)
            self._ids = _grown(self._ids, self._first + room, _NOBODY)
        if highest >= len(self._rows):
            self._rows = _grown(self._rows, max(highest + 1, len(self._rows) * 5 // 4), _NOBODY)


def signs_of(steps: Bytes) -> Words:
    """Return a bit for each number, 64 of a row to a word; by word, then by row."""
    bits = np.zeros((len(steps), -(-steps.shape[1] // 64) * 64), bool)
    bits[:, : steps.shape[1]] = steps > 0
    return np.packbits(bits, axis=1).view(np.uint64).T


def _signs_of_one(vector: Floats) -> Words:
    return signs_of(np.sign(vector)[None].astype(np.int8))[:, 0]


def _every(vector: Floats) -> Words:
    return np.full(-(-len(vector) // 64), ~np.uint64(0))


def _weights(vector: Floats) -> list[Words]:
    """Return the weight of each sign, as words of its bits, the highest first: how high its number is beside a high one."""
    sizes = np.abs(vector)
    above = len(sizes) // 48 + 1  # a single number that is far above the others would make all their weights small
    high = np.partition(sizes, -above)[-above] or sizes.max(initial=0) or 1
    most = (1 << _BITS) - 1
    whole = np.minimum(np.rint(sizes * (most / high)), most).astype(np.int8)
    return [signs_of((whole >> bit & 1)[None])[:, 0] for bit in reversed(range(_BITS))]


def _count_apart(asked: Words, signs: Words, apart: Counts) -> None:
    """Add to each place in how many signs that row differs."""
    for at in range(0, len(apart), _LONG_BLOCK):
        here = apart[at : at + _LONG_BLOCK]
        for word, some in zip(asked, signs, strict=True):
            here += np.bitwise_count(some[at : at + len(here)] ^ word)


def _least(apart: Counts, number: int) -> Rows:
    """Return where the least stand, so many and those that equal the last of them, in the order of their places."""
    return np.flatnonzero(apart <= int(np.searchsorted(np.bincount(apart).cumsum(), number)))


def _in_steps(vector: Floats) -> tuple[Floats, np.float32]:
    """Return a vector that was packed in whole numbers and what to multiply these with, another one as it is.

    The sums of products of whole numbers are below 2**24, where float32 is exact: they are the same wherever a row lies.
    """
    scale = np.float32(np.abs(vector).max(initial=0) / MOST_STEPS or 1)
    steps: Floats = np.rint(vector / scale)
    return (steps, scale) if np.allclose(steps * scale, vector, rtol=0, atol=scale / 1000) else (vector, np.float32(1))


def _products(table: Table, vector: Floats, rows: Rows) -> Floats:
    """Return the products of the steps of these rows with the vector."""
    found: Floats = np.empty(len(rows), np.float32)
    shape = (min(_BLOCK, len(rows)), len(vector))
    steps, plain = np.empty(shape, np.int8), np.empty(shape, np.float32)  # written over, block by block
    for at in range(0, len(rows), _BLOCK):
        some = rows[at : at + _BLOCK]
        here = slice(len(some))
        table.steps.take(some, axis=0, out=steps[here], mode="clip")  # every row is there; to look costs a copy
        plain[here] = steps[here]
        np.dot(plain[here], vector, out=found[at : at + _BLOCK])
    return found


def _in_order(ids: Ids, cosines: Floats) -> Close:
    order = np.lexsort((-ids, -cosines))
    return Close(ids[order], cosines[order])


def _grown(rows: NDArray[T], room: int, filling: int = 0) -> NDArray[T]:
    grown = np.full((room, *rows.shape[1:]), filling, rows.dtype)
    grown[: len(rows)] = rows
    return grown


def _highest(values: NDArray[np.float32], number: int) -> Rows:
    """Return where the highest stand, so many and those that equal the last of them, in the order of their places."""
    if number < 1 or not len(values):
        return np.empty(0, np.intp)
    if len(values) <= number:
        return np.arange(len(values))
    return np.flatnonzero(values >= np.partition(values, -number)[-number])
