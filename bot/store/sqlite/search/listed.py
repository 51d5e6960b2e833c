"""A list in an order of its own, the newest first or most stars first, of which little more is looked through than is shown.

First the items that were stored last are looked through, more and more of them, until it is known how many there are or that
these are more than are counted. What is found then of all items is put in order. Where there are more, the list is gone
along in its order instead, by an index of the items' table, and some ids at a time are held against the condition: as one
stretch of ids where they stand close together, as what was stored together does, each by itself where these are few, or
against all that the condition finds. What that may cost is bounded by bot.store.sqlite.search.cost; what is beyond is left
out, and how many items were looked at is said.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from bot.models.queries import COUNTED
from bot.store.rules.nearest import Ids
from bot.store.sqlite.ingest import last_id
from bot.store.sqlite.search.best import Answer, Span
from bot.store.sqlite.search.compile import ALL, Condition, each_of, satisfying
from bot.store.sqlite.search.effort import Effort
from bot.store.sqlite.search.window import Window

_NEWEST = "newest desc, key desc"
_FEW = 5_000  # ids that are put in order as a list
_CHUNK, _LARGEST = 100, 5_000  # ids that are held against the condition at a time, at first and at most
_ID, _ROW, _EACH = 0.005, 0.03, 4.0  # pages that an id of a narrow stretch, a row of an index, an id by itself may cost


@dataclass(slots=True)
class Listed:
    """What is listed: the items that satisfy a condition, by a column that most of them lack, or the newest first."""

    db: Database
    condition: Condition
    cost: Callable[[], float]  # pages that it takes among all items
    column: str  # stars, upvotes, or "" for the newest
    span: Span
    effort: Effort
    once: bool = False  # whether each look takes about as much as one at all items
    counted: int = COUNTED
    _last: int = field(init=False)
    _window: Window = field(init=False)
    _spent: float = field(init=False, default=0.0)
    _known: NDArray[np.bool_] | None = field(init=False, default=None)

    def answer(self) -> Answer:
        """Return the part of the list that the span asks for."""
        self._last = last_id(self.db)
        window = self.span.window or Window(0, self._last)
        ends = [window.last, self._last, *([] if self.span.last is None else [self.span.last])]
        self._window = Window(window.after, min(ends))
        ids, after = self._latest()
        missing = max(0, after - self._window.after)
        if len(ids) > (self.counted if missing else _FEW):
            if not missing:
                self._know(ids)
            walked, examined = self._walked()
            return Answer(_page(walked[self.span.offset :]), min(len(ids), self.counted + 1), examined=examined)
        examined = max(1, self._window.last - after) if missing else 0
        return Answer(self._sorted(ids), None if examined else min(len(ids), self.counted + 1), examined=examined)

    def _latest(self) -> tuple[Ids, int]:
        """Return the ids of what was found among those stored last, and the id behind which was looked."""
        found: list[Ids] = []
        last, width = self._window.last, self._window.last if self.once else self.effort.stretch
        while last > self._window.after and sum(map(len, found)) <= self.counted:
            after = max(self._window.after, last - width)
            if (most := self._affordable(last - after)) <= 0:
                break
            after = max(after, last - most)
            found.append(satisfying(self.db, self.condition, Window(after, last)))
            self._spent += self._share(last - after)
            last, width = after, 4 * width
        return np.concatenate([np.empty(0, np.int64), *found]), last

    def _share(self, width: int) -> float:
        """Return what looking through so many ids costs."""
        return width * _ID if width <= self.effort.stretch else self.cost() * width / max(1, self._last)

    def _affordable(self, width: int) -> int:
        """Return how many ids of that number can be looked through within the effort."""
        left, share = self.effort.reads - self._spent, self._share(width)
        return width if share <= left else int(width * left / share)

    def _sorted(self, ids: Ids) -> list[tuple[int, float]]:
        shown = ids[~np.isin(ids, self.span.without)]
        order = f"{self.column} desc, {_NEWEST}" if self.column else _NEWEST
        sql = f"select id, 0.0 from items where id in (select value from json_each(?)) order by {order} limit ? offset ?"
        return self.db.execute(sql, [json.dumps(shown.tolist()), self.span.limit, self.span.offset]).fetchall()

    def _walked(self) -> tuple[list[int], int]:
        """Return the first ids as far as they are asked for, and how many were looked at if these are not all."""
        found: list[int] = []
        wanted, examined = self.span.offset + self.span.limit, 0
        self._spent = 0.0  # what is shown may cost as much as what was counted
        for ids in self._along():
            self._spent += len(ids) * _ROW
            held = self._holds(ids) if self._spent <= self.effort.reads else None
            if held is None:
                return found, max(1, examined)
            examined += len(ids)
            found += ids[held & ~np.isin(ids, self.span.without)].tolist()
            if len(found) >= wanted:
                break
        return found[:wanted], 0

    def _along(self) -> Iterator[Ids]:
        """Give all ids of the window in the order of the list, some at a time."""
        within, with_it = self._window.of("id"), np.empty(0, np.int64)
        if self.column:
            has = f"items indexed by items_{self.column} where {self.column} is not null and {within}"
            rows = self.db.execute(f"select id from {has} order by {self.column} desc, {_NEWEST}")
            for ids in _chunks(rows):
                yield ids
                with_it = np.concatenate([with_it, ids])
        rows = self.db.execute(f"select id from items indexed by items_newest where {within} order by {_NEWEST}")
        for ids in _chunks(rows):
            yield ids[~np.isin(ids, with_it)] if len(with_it) else ids

    def _holds(self, ids: Ids) -> NDArray[np.bool_] | None:
        """Return for which of the ids the condition holds; None where finding out costs too much."""
        if self.condition == ALL or not len(ids):
            return np.ones(len(ids), bool)
        if self._known is None:
            stretch = Window(int(ids.min()) - 1, int(ids.max()))
            together, each = self._share(stretch.last - stretch.after), _EACH * len(ids)
            cheapest = min(together, each)
            if self._spent + cheapest <= self.effort.reads / 2 or self.cost() > self.effort.reads - self._spent:
                self._spent += cheapest
                if self._spent > self.effort.reads:
                    return None
                found = (
                    satisfying(self.db, self.condition, stretch)
                    if together <= each
                    else each_of(self.db, self.condition, ids)
                )
                return np.isin(ids, found)
            self._spent += self.cost()
            self._know(satisfying(self.db, self.condition, self._window))
        assert self._known is not None  # noqa: S101 - it is known by now
        return self._known[ids]

    def _know(self, ids: Ids) -> None:
        self._known = np.zeros(self._window.last + 1, bool)
        self._known[ids] = True


def _chunks(rows: sqlite3.Cursor) -> Iterator[Ids]:
    size = _CHUNK
    while some := rows.fetchmany(size):
        yield np.array([number for (number,) in some], np.int64)
        size = min(2 * size, _LARGEST)


def _page(ids: list[int]) -> list[tuple[int, float]]:
    return [(number, 0.0) for number in ids]
