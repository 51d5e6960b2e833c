"""The values that label fields have, each with the number of items that have it: for what is suggested while a person types.

The search index knows them too, but would have to count through its lists for every question. So a table keeps the counts,
in step with the index.
"""

from collections import Counter
from collections.abc import Iterable

from sqlite_utils import Database

from bot.models import Item
from bot.query.fields import fold_label, labels_of

Value = tuple[str, str]  # the field, and the value as it is compared

_FIELDS = ("category", "source", "language", "license")
_LONGEST = 100  # characters; a longer value is no name, and no list of suggestions can show it


def values_of(item: Item) -> tuple[Value, ...]:
    """Return the item's values, each once: its labels, and its keywords as values of `topic`."""
    labels = [(field, value) for field in _FIELDS for value in labels_of(item, field)]
    keywords = [("topic", fold_label(keyword)) for keyword in item.keywords]
    return tuple(
        pair for pair in dict.fromkeys([*labels, *keywords]) if 0 < len(pair[1]) <= _LONGEST and pair[1].isprintable()
    )


def commonest(counts: Iterable[tuple[str, int]], limit: int) -> list[tuple[str, int]]:
    """Return the values with the highest counts, those of one count in the order of the alphabet."""
    return sorted(counts, key=lambda pair: (-pair[1], pair[0]))[: max(0, limit)]


def values(db: Database, field: str, beginning: str, limit: int) -> list[tuple[str, int]]:
    """Return the commonest values of the field that begin so, with their counts."""
    start = fold_label(beginning)
    if not start:
        sql = "select value, items from labels where field = ? order by items desc, value limit ?"
        return [*db.execute(sql, [field, max(0, limit)]).fetchall()]
    if not start.isprintable():
        return []
    # No value holds the highest character of all, which is not printable.
    sql = "select value, items from labels where field = ? and value >= ? and value < ? order by items desc, value limit ?"
    return [*db.execute(sql, [field, start, f"{start}\U0010ffff", max(0, limit)]).fetchall()]


def tally(db: Database, values: Iterable[Value]) -> None:
    """Count values of items that come into the index, as often as they are given."""
    db.conn.executemany(
        "insert into labels (field, value, items) values (?, ?, ?)"
        " on conflict (field, value) do update set items = items + excluded.items",
        [(*value, number) for value, number in Counter(values).items()],
    )


def untally(db: Database, values: Iterable[Value]) -> None:
    """Take values of items that leave the index out of the count."""
    rows = [(number, *value) for value, number in Counter(values).items()]
    db.conn.executemany("update labels set items = items - ? where field = ? and value = ?", rows)
    db.conn.executemany("delete from labels where field = ? and value = ? and items <= 0", [row[1:] for row in rows])
