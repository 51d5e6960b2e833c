"""The vectors of items in the database, and their copy in memory, which follows what is written by whomever.

Every write has a number, one higher than the last, and what it wrote or took away carries it: so a copy that knows all up
to a number asks for what came after.
"""

import json
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from sqlite_utils import Database

from bot.models import Item, Near
from bot.models.vectors import Floats, text_digest, unpack
from bot.ports.vectors import Embedded
from bot.store.records.items import item_from_text
from bot.store.rules.nearest import Close, Ids, Nearest

_AT_ONCE = 4096  # rows that are read into the copy at a time
_SAMPLE = 100  # vectors that show how long all of their space are
_CHANGES = "vector changes"  # the fact that has the number of the last write
# Of so many bytes, and with a scale that `bot.models.vectors.sound` takes: not negative, and below 1/32, as its last byte
# tells.
_SOUND = "typeof(vector) = 'blob' and length(vector) = ? and substr(vector, -1) < x'3d'"
_SINCE = "vector changes known since"  # a copy that knows less is made anew: what went before is forgotten


def lacking(db: Database, space: str, limit: int, *, better: bool) -> list[Item]:
    """Return the newest items without a vector of the space, or those with a quick one."""
    kept = "select item from vectors where space = ?" + (" and quick" if better else "")
    sql = (
        f"select data from (select id from items where +id {'in' if better else 'not in'} ({kept})"
        " order by newest desc, key desc limit ?) join records using (id)"
    )
    return [item_from_text(data) for (data,) in db.execute(sql, [_space(db, space), limit]).fetchall()]


def save(db: Database, space: str, items: Sequence[Item], vectors: Sequence[bytes], *, quick: bool) -> int:
    """Keep the vectors of those items whose text is still the same."""
    change = _next_change(db)
    number = _space(db, space, change)
    stored = _stored(db, [item.key for item in items])
    rows = [
        (stored[item.key][0], number, quick, change, read, vector)
        for item, vector in zip(items, vectors, strict=True)
        if item.key in stored and stored[item.key][1] == (read := text_digest(item))
    ]
    sql = "insert or replace into vectors (item, space, quick, change, read, vector) values (?, ?, ?, ?, ?, ?)"
    db.conn.executemany(sql, rows)
    db.conn.executemany("delete from gone_vectors where item = ?", [(row[0],) for row in rows])
    return len(rows)


def _stored(db: Database, keys: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return id and digest of the text of each key that is an item's own."""
    sql = "select id, data from items join records using (id) where key in (select value from json_each(?))"
    rows = [(number, item_from_text(data)) for number, data in db.execute(sql, [json.dumps(list(keys))]).fetchall()]
    return {item.key: (number, text_digest(item)) for number, item in rows}


def of_keys(db: Database, space: str, keys: Collection[str]) -> Mapping[str, bytes]:
    """Return the vectors of the space by the items' own keys, those left out that are damaged."""
    number = _space(db, space)
    sql = (
        "select key, vector from items join vectors on item = items.id"
        # A plus keeps SQLite from going through all vectors of the space instead.
        f" where key in (select value from json_each(?)) and +space = ? and {_SOUND}"
    )
    return dict(db.execute(sql, [json.dumps(list(keys)), number, _length(db, number)]).fetchall())


def _length(db: Database, space: int) -> int:
    """Return how many bytes a vector of the space has, as most of a few do; 0 where there is none."""
    sql = (
        "select length(vector) from (select vector from vectors where space = ? limit ?) where typeof(vector) = 'blob'"
        " group by 1 order by count(*) desc, 1 desc limit 1"
    )
    row = db.execute(sql, [space, _SAMPLE]).fetchone()
    return int(row[0]) if row else 0


def mark(db: Database) -> str:
    """Return the number of the last write."""
    return str(_fact(db, _CHANGES))


def embedded(db: Database, space: str) -> Embedded:
    """Return how far the space is filled."""
    rows = db.execute("select quick, count(*) from vectors where space = ? group by quick", [_space(db, space)])
    counts = dict(rows.fetchall())
    items = int(db.execute("select count(*) from items").fetchone()[0])
    whole, quick = counts.get(0, 0), counts.get(1, 0)
    return Embedded(whole, quick, items - whole - quick)


def forget_changed(db: Database, digests: Mapping[int, int]) -> None:
    """Take the vectors of those items, by id, that were made of a text with another digest."""
    sql = "select item, read from vectors where item in (select value from json_each(?))"
    rows = db.execute(sql, [json.dumps(list(digests))]).fetchall()
    forget(db, [item for item, read in rows if digests[item] != read])


def forget(db: Database, numbers: Sequence[int]) -> None:
    """Take the vectors of the items of these ids."""
    sql = "select item from vectors where item in (select value from json_each(?))"
    gone = [number for (number,) in db.execute(sql, [json.dumps(list(numbers))]).fetchall()]
    if not gone:
        return
    change = _next_change(db)
    db.conn.executemany(
        "insert or replace into gone_vectors (item, change) values (?, ?)", [(each, change) for each in gone]
    )
    db.conn.executemany("delete from vectors where item = ?", [(each,) for each in gone])


def prune(db: Database) -> None:
    """Take what is damaged, so that its item gets another, and forget which vectors went; then every copy is made anew."""
    forget(db, _damaged(db))
    if db.execute("select 1 from gone_vectors limit 1").fetchone():
        _set_fact(db, _SINCE, _next_change(db))
        db.execute("delete from gone_vectors")


def _damaged(db: Database) -> list[int]:
    """Return the ids of the items whose vector has another size than its space, or is none."""
    spaces = [number for (number,) in db.execute("select number from vector_spaces").fetchall()]
    sql = f"select item from vectors where space = ? and not ({_SOUND})"
    return [item for space in spaces for (item,) in db.execute(sql, [space, _length(db, space)]).fetchall()]


def _space(db: Database, name: str, change: int = 0) -> int:
    """Return the number of a space; with a change, one that is not known is given the number of it. 0 is none's."""
    row = db.execute("select number from vector_spaces where name = ?", [name]).fetchone()
    if row is None and change:
        db.execute("insert into vector_spaces (number, name) values (?, ?)", [change, name])
        return change
    return int(row[0]) if row else 0


def _next_change(db: Database) -> int:
    change = _fact(db, _CHANGES) + 1
    _set_fact(db, _CHANGES, change)
    return change


def _fact(db: Database, name: str) -> int:
    row = db.execute("select value from facts where name = ?", [name]).fetchone()
    return int(row[0]) if row else 0


def _set_fact(db: Database, name: str, value: int) -> None:
    db.execute("insert or replace into facts (name, value) values (?, ?)", [name, str(value)])


class Copy:
    """The vectors of one space in memory, the one that was asked for last; for any threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._space = 0
        self._change = -1
        self._nearest = Nearest(0)

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
        number, change = _space(db, space), _fact(db, _CHANGES)
        with self._lock:
            if (number, size) != (self._space, self._nearest.size) or self._change < _fact(db, _SINCE):
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
        sql = f"select item from {changed} and not (space = ? and {_SOUND})"
        gone += [item for (item,) in db.execute(sql, fitting).fetchall()]
        self._nearest.remove(np.array(gone, np.int64))
        rows = db.execute(f"select item, vector from {changed} and space = ? and {_SOUND}", fitting)
        while some := rows.fetchmany(_AT_ONCE):
            self._nearest.put(np.array([item for item, _ in some], np.int64), [vector for _, vector in some])
