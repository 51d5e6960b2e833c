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

_WIDEST = 400_000  # items within the dates that are looked through for the first id and the last: 4 ms


@dataclass(frozen=True, slots=True)
class Window:
    """The ids above `after`, up to `last`."""

    after: int
    last: int

    def of(self, name: str) -> str:
        """Return the condition on a column of ids, which has nothing but numbers in it."""
        return f"{name} > {self.after:d} and {name} <= {self.last:d}"


def window_of(db: Database, tree: Tree, now: datetime) -> Window | None:
    """Return where the ids stand of all items within the dates of publication that must hold; None for anywhere."""
    sql, values = ["published is not null"], list[int]()
    for part in parts_of(tree):
        if isinstance(part, When) and part.field == "published":
            first, before, last = bounds(part, now)
            limits = [(">= ?", first), ("< ?", before), ("<= ?", last)]
            sql += [f"published {limit}" for limit, time in limits if time is not None]
            values += [micros(time) for _, time in limits if time is not None]
    if not values:
        return None
    within = f"select id from items indexed by items_published where {' and '.join(sql)} limit ?"
    found, first_id, last_id = db.execute(
        f"select count(*), min(id), max(id) from ({within})", [*values, _WIDEST]
    ).fetchone()
    if found == _WIDEST:
        return None
    return Window(first_id - 1, last_id) if found else Window(0, 0)
