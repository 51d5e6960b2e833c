"""The vectors of items in the database.

Every write has a number, higher than the last, and what it wrote or took away carries it: so a copy that knows all up to a
number asks for what came after. The numbers themselves are kept too, for a copy that lies outside the database: one that it
does not find is of a database that this one was put in place of.
"""

import json
import secrets
from collections.abc import Collection, Mapping, Sequence

from sqlite_utils import Database

from bot.models import Item
from bot.models.vectors import text_digest
from bot.ports.vectors import Embedded, VectorChange
from bot.store.records import item_from_text
from bot.store.sqlite.connections import Connections, Tables, reading, reading_long, writing
from bot.store.sqlite.key_values import fact

_SAMPLE = 100  # vectors that show how long all of their space are
# So far apart are the numbers of two writes, by chance: where a backup is put back, what is written then has others than
# what was written since the backup.
_GAP = 1 << 24
FIRST = 1  # the number before the first write
KEPT_CHANGES = 100_000  # writes, each of some vectors; a copy that is further behind is made anew
# Of so many bytes, and with a scale that `bot.models.vectors.sound` takes: not negative, and below 1/32, as its last byte
# tells.
SOUND = "typeof(vector) = 'blob' and length(vector) = ? and substr(vector, -1) < x'3d'"

# Left to itself, SQLite goes through all vectors of the space for the few that are new.
_NTH_CHANGE = """
    select change from (
        select change from vectors indexed by vectors_change where change > :after
        union all select change from gone_vectors where change > :after
    ) order by change limit 1 offset :before"""
_SOUND = SOUND.replace("?", ":length")
_CHANGED = f"""
    select change, coalesce(key, ''), item, packed, quick from (
        select change, item, case when space = :space and {_SOUND} then vector end as packed,
            space = :space and quick as quick
            from vectors indexed by vectors_change where change > :after and change <= :through
        union all select change, item, null, 0 from gone_vectors where change > :after and change <= :through
    ) left join items on id = item order by change, item"""


class SqliteVectors(Tables):
    """bot.ports.vectors.Vectors."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._counted: tuple[tuple[str, ...], Embedded] | None = None  # at which marks, and what

    @reading_long
    def lacking(self, db: Database, space: str, *, limit: int, better: bool = False) -> Sequence[Item]:
        kept = "select item from vectors where space = ?" + (" and quick" if better else "")
        sql = (
            f"select data from (select id from items where +id {'in' if better else 'not in'} ({kept})"
            " order by newest desc, key desc limit ?) join records using (id)"
        )
        return [item_from_text(data) for (data,) in db.execute(sql, [space_number(db, space), limit]).fetchall()]

    @writing
    def save(self, db: Database, space: str, items: Sequence[Item], packed: Sequence[bytes], *, quick: bool) -> int:
        stored = _stored(db, [item.key for item in items])
        rows = [
            (stored[item.key][0], quick, read, vector)
            for item, vector in zip(items, packed, strict=True)
            if item.key in stored and stored[item.key][1] == (read := text_digest(item))
        ]
        keep(db, space, rows)
        return len(rows)

    @reading_long
    def find(self, db: Database, space: str, keys: Collection[str]) -> Mapping[str, bytes]:
        number = space_number(db, space)
        sql = (
            "select key, vector from items join vectors on item = items.id"
            # A plus keeps SQLite from going through all vectors of the space instead.
            f" where key in (select value from json_each(?)) and +space = ? and {SOUND}"
        )
        return dict(db.execute(sql, [json.dumps(list(keys)), number, _length(db, number)]).fetchall())

    @reading
    def mark(self, db: Database, space: str) -> str:
        return str(last_change(db))

    @reading
    def last_change(self, db: Database, space: str) -> int:
        return last_change(db)

    @reading_long
    def changed(self, db: Database, space: str, after: int, *, limit: int) -> Sequence[VectorChange] | None:
        if not is_known(db, after):
            return None
        number = space_number(db, space)
        through = db.execute(_NTH_CHANGE, {"after": after, "before": max(1, limit) - 1}).fetchone()
        given = {"after": after, "through": through[0] if through else last_change(db), "space": number}
        rows = db.execute(_CHANGED, {**given, "length": _length(db, number)}).fetchall()
        return [VectorChange(change, key, item, packed, bool(quick)) for change, key, item, packed, quick in rows]

    @reading_long
    def embedded(self, db: Database, space: str) -> Embedded:
        marks = (space, fact(db, "changes"), str(last_change(db)))
        counted = self._counted  # other threads count too
        if counted is None or counted[0] != marks:
            self._counted = counted = (marks, _embedded(db, space_number(db, space)))
        return counted[1]


def _embedded(db: Database, space: int) -> Embedded:
    """Count through all of them: some milliseconds for 54,000."""
    rows = db.execute("select quick, count(*) from vectors where space = ? group by quick", [space])
    counts = dict(rows.fetchall())
    items = int(db.execute("select count(*) from items").fetchone()[0])
    whole, quick = counts.get(0, 0), counts.get(1, 0)
    return Embedded(whole, quick, items - whole - quick)


def _stored(db: Database, keys: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return id and digest of the text of each key that is an item's own."""
    sql = "select id, data from items join records using (id) where key in (select value from json_each(?))"
    rows = [(number, item_from_text(data)) for number, data in db.execute(sql, [json.dumps(list(keys))]).fetchall()]
    return {item.key: (number, text_digest(item)) for number, item in rows}


def _length(db: Database, space: int) -> int:
    """Return how many bytes a vector of the space has, as most of a few do; 0 where there is none."""
    sql = (
        "select length(vector) from (select vector from vectors where space = ? limit ?) where typeof(vector) = 'blob'"
        " group by 1 order by count(*) desc, 1 desc limit 1"
    )
    row = db.execute(sql, [space, _SAMPLE]).fetchone()
    return int(row[0]) if row else 0


def keep(db: Database, space: str, rows: Sequence[tuple[int, bool, int, bytes]]) -> None:
    """Keep vectors: of each the item's id, whether it is a quick one, the digest of the text it was made of, and itself."""
    change = _next_change(db)
    number = space_number(db, space) or _new_space(db, space)
    sql = "insert or replace into vectors (item, space, quick, change, read, vector) values (?, ?, ?, ?, ?, ?)"
    db.conn.executemany(sql, [(item, number, quick, change, read, vector) for item, quick, read, vector in rows])
    db.conn.executemany("delete from gone_vectors where item = ?", [(row[0],) for row in rows])


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


def prune(db: Database, kept: int = KEPT_CHANGES) -> None:
    """Take what is damaged, so that its item gets another; forget all writes but the last one and so many before it."""
    forget(db, _damaged(db))
    sql = (
        "delete from vector_changes where number < (select number from vector_changes order by number desc limit 1 offset ?)"
    )
    db.execute(sql, [kept])
    db.execute("delete from gone_vectors where change <= (select min(number) from vector_changes)")


def _damaged(db: Database) -> list[int]:
    """Return the ids of the items whose vector has another size than its space, or is none."""
    spaces = [number for (number,) in db.execute("select number from vector_spaces").fetchall()]
    sql = f"select item from vectors where space = ? and not ({SOUND})"
    return [item for space in spaces for (item,) in db.execute(sql, [space, _length(db, space)]).fetchall()]


def space_number(db: Database, name: str) -> int:
    """Return the number of a space, 0 where nothing is in it."""
    row = db.execute("select number from vector_spaces where name = ?", [name]).fetchone()
    return int(row[0]) if row else 0


def _new_space(db: Database, name: str) -> int:
    sql = (
        "insert into vector_spaces (number, name) select coalesce(max(number), 0) + 1, ? from vector_spaces returning number"
    )
    return int(db.execute(sql, [name]).fetchone()[0])


def last_change(db: Database) -> int:
    """Return the number of the last write; FIRST where none is known, as in rows of a store without any."""
    return int(db.execute("select coalesce(max(number), ?) from vector_changes", [FIRST]).fetchone()[0])


def is_known(db: Database, change: int) -> bool:
    """Say whether the database knows all that was written since the write with this number."""
    sql = (
        "select 1 from vector_changes where number = ?"
        " union all select 1 where ? = ? and not exists (select 1 from vector_changes)"
    )
    return db.execute(sql, [change, change, FIRST]).fetchone() is not None


def _next_change(db: Database) -> int:
    change = last_change(db) + 1 + secrets.randbelow(_GAP)
    db.execute("insert into vector_changes (number) values (?)", [change])
    return change
