"""Moving every row from one store to another, of whatever kinds; what was moved already is compared and left as it is.

Both are read in the order of their keys, some hundred rows at a time. Where a part is the same on both sides nothing is
written, so that a second run goes on where the first one was stopped, and a last one, which writes nothing, is the proof.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.errors import StoreError, UsageError
from bot.ports.facts import Facts
from bot.ports.maintenance import COPYING, Kind, Row, Rows, Table, Value

AT_ONCE = 500  # rows of a part


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is: rows that were looked at of how many in the table."""

    table: str
    done: int
    of: int


@dataclass(frozen=True, slots=True)
class Moved:
    """What came of it, in rows."""

    rows: int  # that there are
    written: int  # that were not there before
    differences: int = 0  # parts that are still not the same


Told = Callable[[Progress], None]


def _nothing(_: Progress) -> None:
    """Nobody looks."""


async def moved(source: tuple[Rows, Facts], target: tuple[Rows, Facts], told: Told = _nothing) -> Moved:
    """Copy, and then compare, every row; return how many there are, how many were written, and what is not the same.

    The target must be empty, or one that an earlier copy from there has begun: raises UsageError. Until all is the same, a
    fact of its keeps every service away from it. Raises StoreError.
    """
    (theirs, _), (ours, facts) = source, target
    begun = await facts.get(COPYING)
    if begun != theirs.name:
        if begun or await _has_rows(ours):
            raise UsageError(f"{ours.name} holds something already; a copy needs an empty database.")
        await facts.set(COPYING, theirs.name)
    written = (await copied(theirs, ours, told)).written
    proof = await compared(theirs, ours, told)
    if not proof.differences:
        await facts.set(COPYING, "")
    return replace(proof, written=written)


async def _has_rows(rows: Rows) -> bool:
    # Times of heartbeats and first numbers stand in every database that was ever opened.
    always = ("facts", "item_changes", "vector_changes")
    return any([await rows.count(table) for table in (await rows.tables()).values() if table.name not in always])


async def copied(source: Rows, target: Rows, told: Told = _nothing) -> Moved:
    """Let the target have the source's rows and no others, and make anew what follows from them; raises StoreError."""
    found = await _each(source, target, told, write=True)
    await target.finish()
    return found


async def compared(source: Rows, target: Rows, told: Told = _nothing) -> Moved:
    """Compare every row of both, and write nothing; `differences` counts the parts that are not the same."""
    return await _each(source, target, told, write=False)


async def _each(source: Rows, target: Rows, told: Told, *, write: bool) -> Moved:
    theirs, ours = await source.tables(), await target.tables()
    if theirs.keys() != ours.keys():
        odd = ", ".join(sorted(theirs.keys() ^ ours.keys()))
        raise StoreError(f"{source.name} and {target.name} are not of the same version: only one of them has {odd}.")
    rows = written = differences = 0
    for name in sorted(theirs):
        one = await _table(source, target, _Pair(theirs[name], ours[name]), told, write=write)
        rows, written, differences = rows + one.rows, written + one.written, differences + one.differences
    return Moved(rows, written, differences)


class _Pair:
    """One table on both sides, whose columns may hold the same in other ways."""

    def __init__(self, source: Table, target: Table) -> None:
        if source.columns.keys() != target.columns.keys() or source.key != target.key:
            raise StoreError(f"The tables {source.name} of the two databases are not of the same version.")
        self.source, self.target = source, target
        self.columns = list(source.columns)
        self._kinds = [(source.columns[each], target.columns[each]) for each in self.columns]
        self._places = [self.columns.index(each) for each in source.key]

    def key(self, row: Row) -> Row:
        """Return the key of a row."""
        return tuple(row[place] for place in self._places)

    def as_target(self, row: Row) -> Row:
        """Return a row of the source as the target holds it."""
        return tuple(_as(value, ours) for value, (_, ours) in zip(row, self._kinds, strict=True))

    def key_as_target(self, key: Row | None) -> Row | None:
        """Return a key of the source as the target holds it."""
        if key is None:
            return None
        return tuple(_as(value, self._kinds[place][1]) for value, place in zip(key, self._places, strict=True))


def _as(value: Value, kind: Kind) -> Value:
    if kind is Kind.BYTES and isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if kind is Kind.TEXT and isinstance(value, bytes):
        return value.decode("utf-8", "surrogatepass")
    return value


async def _table(source: Rows, target: Rows, pair: _Pair, told: Told, *, write: bool) -> Moved:
    of = await source.count(pair.source)
    rows = written = differences = 0
    after: Row | None = None
    while True:
        part = await source.page(pair.source, pair.columns, after, limit=AT_ONCE)
        is_last = len(part) < AT_ONCE or not pair.source.key
        through = None if is_last else pair.key(part[-1])
        wanted = [pair.as_target(row) for row in part]
        there = await _there(target, pair, after, through)
        if not _same(wanted, there, ordered=bool(pair.source.key)):
            differences += 1
            if write:
                # Whatever comes later goes, too: it could be in the way of what is unique beside the key.
                await target.replace(pair.target, pair.columns, pair.key_as_target(after), wanted)
                written += len(wanted)
        rows += len(part)
        told(Progress(pair.source.name, rows, max(of, rows)))
        if is_last:
            return Moved(rows, written, 0 if write else differences)
        after = through


async def _there(target: Rows, pair: _Pair, after: Row | None, through: Row | None) -> Sequence[Row]:
    """Return the target's rows of the part; one more than there may be shows that there are others."""
    found = await target.page(pair.target, pair.columns, pair.key_as_target(after), limit=AT_ONCE + 1)
    if through is None:
        return found
    last, places = pair.key_as_target(through), [pair.columns.index(each) for each in pair.target.key]
    keys = [tuple(row[place] for place in places) for row in found]
    return found[: keys.index(last) + 1] if last in keys else found


def _same(wanted: Sequence[Row], there: Sequence[Row], *, ordered: bool) -> bool:
    if ordered:
        return list(wanted) == list(there)
    return sorted(map(repr, wanted)) == sorted(map(repr, there))
