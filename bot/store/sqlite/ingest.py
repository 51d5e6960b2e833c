"""How items come into the database: made ready beside the writer, then written a thousand to a statement.

Statements with many rows keep the writer inside SQLite, where it does not hold the interpreter's lock, so that the next
rows can be folded at the same time on another core.
"""

import itertools
import json
import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from hashlib import blake2b
from typing import NamedTuple

from sqlite_utils import Database

from bot.models import Item
from bot.models.vectors import text_digest
from bot.query.fields import TEXT, LabelValue, date_of, values_of
from bot.query.fold import VERSION
from bot.store.records import item_from_text, item_to_text, micros, newness
from bot.store.rules.abbreviations import abbreviations_in
from bot.store.rules.labels import labels_text
from bot.store.rules.search_terms import STEMS_VERSION, folded_texts
from bot.store.rules.spelling import is_word
from bot.store.sqlite import vectors
from bot.store.sqlite.key_values import set_fact
from bot.store.sqlite.search.full_text import COLUMNS, make_index

CHUNK = 1000  # items to a statement; 11 values each stay far below SQLite's 32766 parameters
# Raise the first number when the columns of the index or the spelling of labels change: the index is then made anew.
INDEX_VERSION = f"4 {VERSION} {STEMS_VERSION}"

NEXT_ONES: Mapping[str, int] = {}
SPELT = "spelt"  # the label that says what stands for what, in both directions
# So far apart are the numbers of two writes, by chance: where a backup is put back, what is written then has other numbers
# than what was written since the backup, and who had followed that sees that it is on another way.
_GAP = 1 << 32
FIRST = 1  # the number before the first change
KEPT_CHANGES = 100_000  # who is further behind reads all items anew, in about the time that so many changes take

_AUTHOR = TEXT.index("author")
_ROW = ("id", "key", "kind", "seen", "newest", "published", "updated", "stars", "forks", "upvotes", "fingerprint")


class IndexEntry(NamedTuple):
    """What the index holds of an item."""

    texts: tuple[str, ...]  # the columns of the search index
    values: tuple[LabelValue, ...]  # what the labels are counted by

    def fingerprint(self) -> int:
        """Return 63 bits of it, to see whether it changed; the stems follow from the texts."""
        names = (f"{field}:{value}" for field, value in self.values)
        whole = "\n".join((*self.texts[: len(TEXT)], self.texts[-1], *names))
        return int.from_bytes(blake2b(whole.encode(), digest_size=8).digest()) >> 1


_NOTHING = IndexEntry((), ())


@dataclass(frozen=True, slots=True)
class PreparedItem:
    """An item as it will be written."""

    key: str
    row: tuple[object, ...]  # the columns of `items` after the id
    data: str
    entry: IndexEntry
    aliases: tuple[str, ...]
    counts: tuple[int | None, int | None, int | None]
    read: int  # the digest of the text that its vector is made of


def chunks(items: Sequence[Item], now: datetime) -> list[list[Item]]:
    """Return the items as they will be stored, the last of each key, in runs of one statement each."""
    last = {item.key: item if item.seen else replace(item, seen=now) for item in items}
    rows = list(last.values())
    return [rows[at : at + CHUNK] for at in range(0, len(rows), CHUNK)]


def make_ready(items: Sequence[Item]) -> list[PreparedItem]:
    """Fold and encode some items. Pure, and the costly half of writing."""
    return list(map(_ready, items))


def index_entry(item: Item) -> IndexEntry:
    """Return what the index holds of the item."""
    folded = folded_texts(item)
    spelt = ((SPELT, f"{one}={other}") for pair in abbreviations_in(item) for one, other in (pair, pair[::-1]))
    return IndexEntry((*folded.texts, folded.title_stems, folded.other_stems, labels_text(item)), (*values_of(item), *spelt))


def _ready(item: Item) -> PreparedItem:
    assert item.seen is not None  # noqa: S101 - `chunks` sees to it
    inside = index_entry(item)
    dates = (item.seen, newness(item)[0], date_of(item, "published"), date_of(item, "updated"))
    times = [None if time is None else micros(time) for time in dates]
    counts = (item.stars, item.forks, item.upvotes)
    row = (item.key, str(item.kind), *times, *counts, inside.fingerprint())
    return PreparedItem(item.key, row, item_to_text(item), inside, item.aliases, counts, text_digest(item))


# --- writing; all of it inside the writer's transaction


def known(db: Database, keys: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return id and fingerprint of each key that is an item's own."""
    sql = "select key, id, fingerprint from items where key in (select value from json_each(?))"
    return {key: (number, mark) for key, number, mark in db.execute(sql, [json.dumps(list(keys))]).fetchall()}


def write(
    db: Database,
    chunks: Iterable[Sequence[PreparedItem]],
    known: Mapping[str, tuple[int, int]],
    day: date,
    arrivals: Mapping[str, int] = NEXT_ONES,
) -> None:
    """Insert or replace items with what belongs to them; `known` are those among them that are stored already.

    The others are given the next ids, or those that `arrivals` names by their keys.

    The search index comes first, chunk by chunk as they are made ready. The rows wait until nothing is left to fold, or
    until a changed text is taken out of the index, which may have to make it anew from the rows.
    """
    following = itertools.count(last_id(db) + 1)
    waiting: list[tuple[int, PreparedItem]] = []
    words = _Words()
    for chunk in chunks:
        numbers = [known[item.key][0] if item.key in known else arrivals.get(item.key) for item in chunk]
        pairs = [(next(following) if given is None else given, item) for given, item in zip(numbers, chunk, strict=True)]
        fresh = [(number, item) for number, item in pairs if known.get(item.key, ()) != (number, item.row[-1])]
        changed = [number for number, item in fresh if item.key in known]
        if changed:
            _write_rows(db, waiting, day)
            words.write(db)  # before the index may be made anew from the rows, which counts them, too
            unindex(db, changed)
            waiting = []
        _index(db, [(number, item.entry) for number, item in fresh])
        words.count(item.entry for _, item in fresh)
        waiting += [(number, replace(item, entry=_NOTHING)) for number, item in pairs]
    _write_rows(db, waiting, day)
    words.write(db)


class _Words:
    """Words of items that came into the index, counted until all of them are written together, each once."""

    def __init__(self) -> None:
        self._items, self._names = Counter[str](), Counter[str]()

    def count(self, entries: Iterable[IndexEntry]) -> None:
        """Count the words of these."""
        for entry in entries:
            self._items.update(set(" ".join(entry.texts[: len(TEXT)]).split()))
            self._names.update(set(entry.texts[_AUTHOR].split()))

    def taken(self) -> list[tuple[str, int, int]]:
        """Return each word, in how many items it stands, and in the names of how many's authors; and begin again."""
        words = [(word, self._items[word], self._names[word]) for word in sorted(filter(is_word, self._items))]
        self._items.clear()
        self._names.clear()
        return words

    def write(self, db: Database) -> None:
        """Add what was counted to the vocabulary, and begin again."""
        words = self.taken()
        more = " on conflict (word) do update set items = items + excluded.items, names = names + excluded.names"
        for at in range(0, len(words), CHUNK):
            _insert(db, "vocabulary", ("word", "items", "names"), words[at : at + CHUNK], behind=more)


def _write_rows(db: Database, pairs: Sequence[tuple[int, PreparedItem]], day: date) -> None:
    if pairs:
        note_change(db)
        _number_changes(db, [number for number, _ in pairs])
    for at in range(0, len(pairs), CHUNK):
        some = pairs[at : at + CHUNK]
        _replace(db, "items", _ROW, [(number, *item.row) for number, item in some])
        _replace(db, "records", ("id", "data"), [(number, item.data) for number, item in some])
        _write_aliases(db, some)
        _write_readings(db, some, day)
        vectors.forget_changed(db, {number: item.read for number, item in some})


def ids_of(db: Database, keys: Collection[str]) -> dict[str, int]:
    """Return the id of each key that is an item's own."""
    rows = db.execute("select key, id from items where key in (select value from json_each(?))", [json.dumps(list(keys))])
    return dict(rows.fetchall())


def retire(db: Database, keys: Collection[str], heirs: dict[str, str]) -> None:
    """Drop items; the readings of one that another names as its alias pass to that one. The heirs must be written."""
    gone = ids_of(db, keys)
    inherits = ids_of(db, list(heirs.values()))
    for key, number in sorted(gone.items()):
        heir = inherits.get(heirs.get(key, ""))
        if heir is not None:
            db.execute("update or ignore readings set item = ? where item = ?", [heir, number])
    drop(db, list(gone.values()))


def note_change(db: Database) -> None:
    """Count that items or readings are about to change."""
    db.execute("insert into facts (name, value) values ('changes', '1') on conflict (name) do update set value = value + 1")


def _number_changes(db: Database, numbers: Sequence[int]) -> None:
    """Give each of these items' changes a number."""
    first = last_change(db) + 1 + secrets.randbelow(_GAP)
    for at in range(0, len(numbers), CHUNK):
        some = numbers[at : at + CHUNK]
        _insert(db, "item_changes", ("number", "item"), [(first + at + each, item) for each, item in enumerate(some)])


def last_change(db: Database) -> int:
    """Return the number of the last change of items; FIRST where none is known, as in rows of a store without any."""
    return int(db.execute("select coalesce(max(number), ?) from item_changes", [FIRST]).fetchone()[0])


def is_known(db: Database, change: int) -> bool:
    """Say whether all that changed since the change with this number is known."""
    sql = (
        "select 1 from item_changes where number = ?"
        " union all select 1 where ? = ? and not exists (select 1 from item_changes)"
    )
    return db.execute(sql, [change, change, FIRST]).fetchone() is not None


def forget_changes(db: Database, kept: int = KEPT_CHANGES) -> None:
    """Forget all changes but the last one and so many before it."""
    sql = "delete from item_changes where number < (select number from item_changes order by number desc limit 1 offset ?)"
    db.execute(sql, [kept])


def last_id(db: Database) -> int:
    """Return the highest id that an item ever had, 0 before the first: none is given twice, so ids tell what came later."""
    row = db.execute(
        "select max(coalesce(max(id), 0), coalesce((select value from facts where name = 'last id'), 0) + 0) from items"
    ).fetchone()
    return int(row[0])


def give_arrival(db: Database) -> None:
    """Give the next id to no item: whatever is stored later has a higher one."""
    set_fact(db, "last id", str(last_id(db) + 1))


def drop(db: Database, numbers: Sequence[int]) -> None:
    """Drop the items of these ids with all that belongs to them."""
    if numbers:
        note_change(db)
        _number_changes(db, numbers)
        set_fact(db, "last id", str(last_id(db)))
    for at in range(0, len(numbers), CHUNK):
        some = numbers[at : at + CHUNK]
        unindex(db, some)
        vectors.forget(db, some)
        for table, column in (("items", "id"), ("records", "id"), ("aliases", "item"), ("readings", "item")):
            db.execute(f"delete from {table} where {column} in (select value from json_each(?))", [json.dumps(some)])


def unindex(db: Database, numbers: Sequence[int]) -> None:
    """Take items out of the search index, which needs to be told what it holds of them."""
    if not numbers:
        return
    rows = _stored(db, numbers)
    if any(inside.fingerprint() != fingerprint for _, inside, fingerprint in rows):
        rebuild(db)  # the index was made by other rules than ours; taking our words out of it would spoil it
    columns = ("words", "rowid", *COLUMNS)
    _insert(db, "words", columns, [("delete", number, *inside.texts) for number, inside, _ in rows])
    _discount_values(db, (value for _, inside, _ in rows for value in inside.values))
    words = _Words()
    words.count(inside for _, inside, _ in rows)
    gone = words.taken()
    less = "update vocabulary set items = items - ?, names = names - ? where word = ?"
    db.conn.executemany(less, [(items, names, word) for word, items, names in gone])
    db.conn.executemany("delete from vocabulary where word = ? and items <= 0", [(word,) for word, _, _ in gone])


def _index(db: Database, items: Sequence[tuple[int, IndexEntry]]) -> None:
    _insert(db, "words", ("rowid", *COLUMNS), [(number, *inside.texts) for number, inside in items])
    _count_values(db, (value for _, inside in items for value in inside.values))


def rebuild(db: Database) -> None:
    """Make the search index anew from the stored items."""
    make_index(db.conn)
    words = _Words()
    for rows in _all_rows(db):
        _index(db, [(number, inside) for number, inside, _ in rows])
        words.count(inside for _, inside, _ in rows)
        marks = [(inside.fingerprint(), number) for number, inside, _ in rows]
        db.conn.executemany("update items set fingerprint = ? where id = ?", marks)
    words.write(db)
    db.execute("insert or replace into facts (name, value) values ('index', ?)", [INDEX_VERSION])


_Stored = tuple[int, IndexEntry, int]  # id, what the index should hold, the fingerprint of what it does


def _stored(db: Database, numbers: Sequence[int]) -> list[_Stored]:
    sql = (
        "select items.id, data, fingerprint from items join records using (id)"
        " where items.id in (select value from json_each(?))"
    )
    rows = db.execute(sql, [json.dumps(list(numbers))]).fetchall()
    return [(number, index_entry(item_from_text(data)), fingerprint) for number, data, fingerprint in rows]


def _all_rows(db: Database) -> Iterator[list[_Stored]]:
    last = 0
    while True:
        sql = "select id from items where id > ? order by id limit ?"
        numbers = [number for (number,) in db.execute(sql, [last, CHUNK]).fetchall()]
        if not numbers:
            return
        yield _stored(db, numbers)
        last = numbers[-1]


def _write_aliases(db: Database, pairs: Sequence[tuple[int, PreparedItem]]) -> None:
    numbers = json.dumps([number for number, _ in pairs])
    db.execute("delete from aliases where item in (select value from json_each(?))", [numbers])
    rows = [(alias, number) for number, item in pairs for alias in item.aliases]
    db.conn.executemany("insert or replace into aliases (alias, item) values (?, ?)", rows)


def _write_readings(db: Database, pairs: Sequence[tuple[int, PreparedItem]], day: date) -> None:
    rows = [(number, day.isoformat(), *item.counts) for number, item in pairs if item.counts != (None, None, None)]
    _replace(db, "readings", ("item", "day", "stars", "forks", "upvotes"), rows)


def _replace(db: Database, table: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    _insert(db, table, columns, rows, "insert or replace")


def _insert(
    db: Database,
    table: str,
    columns: Sequence[str],
    rows: Sequence[tuple[object, ...]],
    verb: str = "insert",
    behind: str = "",
) -> None:
    if not rows:
        return
    places = f"({', '.join('?' * len(columns))})"
    sql = f"{verb} into {table} ({', '.join(columns)}) values {', '.join([places] * len(rows))}{behind}"
    db.conn.execute(sql, [value for row in rows for value in row])


def _count_values(db: Database, values: Iterable[LabelValue]) -> None:
    """Count values of items that come into the index, as often as they are given."""
    db.conn.executemany(
        "insert into labels (field, value, items) values (?, ?, ?)"
        " on conflict (field, value) do update set items = items + excluded.items",
        [(*value, number) for value, number in Counter(values).items()],
    )


def _discount_values(db: Database, values: Iterable[LabelValue]) -> None:
    """Take values of items that leave the index out of the count."""
    rows = [(number, *value) for value, number in Counter(values).items()]
    db.conn.executemany("update labels set items = items - ? where field = ? and value = ?", rows)
    db.conn.executemany("delete from labels where field = ? and value = ? and items <= 0", [row[1:] for row in rows])
