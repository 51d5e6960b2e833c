"""Which ids can be those of items within some dates.

Items are stored about as they appear, so what was published within some dates stands close together: from the first id of
it to the last there is little else. A search within dates looks at these ids alone. Whatever was stored late makes that
stretch longer, and loses nothing.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlite_utils import Database

from bot.models import Tree, When
from bot.query.match import bounds
from bot.store.records import micros
from bot.store.sqlite.search.effort import parts_of

WIDEST = 250_000  # items within the dates that are looked through for the first id and the last, 0.1 µs each
_LATEST = 50_000  # items stored last that are looked at for the last of very many


@dataclass(frozen=True, slots=True)
class Window:
    """The ids above `after`, up to `last`."""

    after: int
    last: int

    def of(self, name: str) -> str:
        """Return the condition on a column of ids, which has nothing but numbers in it."""
        return f"{name} > {self.after:d} and {name} <= {self.last:d}"

    def narrowed(self, other: "Window | None") -> "Window":
        """Return the ids that are in both."""
        return self if other is None else Window(max(self.after, other.after), min(self.last, other.last))


def window_of(db: Database, tree: Tree, now: datetime, since: datetime | None = None, widest: int = WIDEST) -> Window | None:
    """Return where the ids stand of all items within the dates that must hold, and seen since; None without any.

    Within dates that hold very many items it begins with the first id of all: the last of them alone are looked at, mostly.
    """
    found = None if since is None else _among(db, "seen", ["seen >= ?"], [micros(since)], widest)
    for field in ("published", "updated"):
        sql, values = [f"{field} is not null"], list[int]()
        for part in parts_of(tree):
            if isinstance(part, When) and part.field == field:
                first, before, last = bounds(part, now)
                limits = [(">= ?", first), ("< ?", before), ("<= ?", last)]
                sql += [f"{field} {limit}" for limit, time in limits if time is not None]
                values += [micros(time) for _, time in limits if time is not None]
        if values:
            found = _among(db, field, sql, values, widest).narrowed(found)
    return found


def _among(db: Database, field: str, sql: list[str], values: list[int], widest: int) -> Window:
    within = f"select id from items indexed by items_{field} where {' and '.join(sql)} limit ?"
    found, first, last = db.execute(f"select count(*), min(id), max(id) from ({within})", [*values, widest]).fetchone()
    if found == widest:
        return Window(0, _last_of_many(db, field, " and ".join(sql), values))
    return Window(first - 1, last) if found else Window(0, 0)


def _last_of_many(db: Database, field: str, sql: str, values: list[int]) -> int:
    """Return the last id of those within the dates: mostly it is found from the end, and not among all of them."""
    latest = f"select id, {field} from items order by id desc limit ?"
    row = db.execute(f"select id from ({latest}) where {sql} limit 1", [_LATEST, *values]).fetchone()
    if row is None:
        row = db.execute(f"select max(id) from items indexed by items_{field} where {sql}", values).fetchone()
    return int(row[0])
