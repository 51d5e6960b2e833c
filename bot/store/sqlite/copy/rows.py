"""What a copy holds: items and vectors under the arrivals that they have in the database, and up to which change.

It has the tables of bot.store.sqlite, of which it fills those that a search reads. Rows and position are written in one
transaction: a process that is killed leaves a copy that says truly how far it is.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from sqlite_utils import Database

from bot import __version__
from bot.errors import StoreError
from bot.models import Item
from bot.models.vectors import text_digest
from bot.store.records import item_from_text, item_to_text
from bot.store.sqlite import ingest, vectors
from bot.store.sqlite.ingest import PreparedItem
from bot.store.sqlite.key_values import fact, set_fact
from bot.store.sqlite.migrations import migrate

NOWHERE = -1
# Another version may keep more of an item: all of them are looked at anew, those that differ written.
VERSION = f"1 {__version__}"
_FACT = "copy"
_NO_DAY = datetime(1970, 1, 1, tzinfo=UTC).date()  # of readings, of which a copy has none


@dataclass(frozen=True, slots=True)
class Position:
    """How far a copy is: up to which change of items, and up to which write of the vectors of a space.

    `reached` is the arrival up to which all items were looked at, None once all were; `vectors_reached` likewise that up to
    which the vectors of all items were. `is_complete` says that nothing is missing but what changed after `number`.
    """

    number: int = NOWHERE
    reached: int | None = 0
    space: str = ""
    write: int = NOWHERE
    vectors_reached: int | None = 0
    is_complete: bool = False
    version: str = VERSION


class CopyDamagedError(StoreError):
    """The file of the copy is none that can be gone on with."""


@contextmanager
def damage_told() -> Iterator[None]:
    """Raise CopyDamagedError where the file of the copy is none that SQLite can read."""
    try:
        yield
    except StoreError as error:
        # The errors of what passes by itself, as of a full disk, are of classes below this one.
        if type(error.__cause__) is sqlite3.DatabaseError or "damaged" in str(error):
            raise CopyDamagedError(str(error)) from error
        raise


def make_ready(db: Database) -> None:
    """Make the tables, and the index anew where other rules made it.

    Raises CopyDamagedError for a file of another program or of a newer Broadsheet.
    """
    try:
        migrate(db)
    except StoreError as error:
        raise CopyDamagedError(str(error)) from error
    if fact(db, "index") != ingest.INDEX_VERSION:
        ingest.rebuild(db)


def read_position(db: Database) -> Position:
    """Return how far the copy is, from the beginning where another version made it."""
    try:
        position = Position(**json.loads(fact(db, _FACT)))
    except (ValueError, TypeError):
        return Position()
    if position.version == VERSION:
        return position
    return replace(position, version=VERSION, reached=0, vectors_reached=0)


def save_position(db: Database, position: Position) -> None:
    """Keep how far the copy is."""
    set_fact(db, _FACT, json.dumps(asdict(position)))


def begun(position: Position, number: int) -> Position:
    """Return the position of who looks at all items anew, and follows what changed after that number."""
    return replace(position, number=number, reached=0, write=NOWHERE, vectors_reached=0, is_complete=False)


def prepared(items: Mapping[int, Item | None], there: Mapping[int, tuple[str, str]]) -> dict[int, PreparedItem | None]:
    """Return those that are not as they are `there`, as they will be written, None for what is to go. Pure.

    What no search reads is left out: other names of an item, and its counts of each day.
    """
    fresh = {
        number: item
        for number, item in items.items()
        if item is not None and there.get(number) != (item.key, item_to_text(item))
    }
    ready = {
        number: replace(item, aliases=(), counts=(None, None, None))
        for number, item in zip(fresh, ingest.make_ready(list(fresh.values())), strict=True)
    }
    return {number: ready.get(number) for number, item in items.items() if item is None or number in ready}


def put_items(db: Database, given: Mapping[int, PreparedItem | None]) -> None:
    """Let the copy have these items under these ids, the last of each key, and none where None is given."""
    numbers = {item.key: number for number, item in given.items() if item is not None}
    gone = {number for number, (key, _) in texts_of(db, given).items() if numbers.get(key) != number}
    known = ingest.known(db, list(numbers))
    # A key that was dropped and stored again has another arrival.
    gone |= {number for key, (number, _) in known.items() if number != numbers[key]}
    ingest.drop(db, sorted(gone))
    if some := [item for number in numbers.values() if (item := given[number]) is not None]:
        standing = {key: pair for key, pair in known.items() if pair[0] not in gone}
        ingest.write(db, [some], standing, _NO_DAY, numbers)


def drop_others(db: Database, after: int, through: int | None, kept: Collection[int]) -> None:
    """Drop what has an id after one and up to another, or whatever has a higher one, and is not among those kept."""
    sql = "select id from items where id > ?1 and id <= coalesce(?2, 9e18)"
    numbers = [number for (number,) in db.execute(sql, [after, through]).fetchall()]
    ingest.drop(db, [number for number in numbers if number not in kept])


def set_last_arrival(db: Database, arrival: int) -> None:
    """Say up to which arrival the copy has what was stored: marks of pages speak of it."""
    set_fact(db, "last id", str(arrival))


def keys_after(db: Database, after: int, limit: int) -> dict[int, str]:
    """Return ids and keys of so many items after an id, the lowest first."""
    return dict(db.execute("select id, key from items where id > ? order by id limit ?", [after, limit]).fetchall())


def put_vectors(db: Database, space: str, given: Mapping[int, tuple[bytes, bool] | None]) -> None:
    """Let the items of these ids have these vectors of the space, each with whether it is a quick one; none for None."""
    wanted = json.dumps(list(given))
    sql = "select item, vector from vectors where space = ? and item in (select value from json_each(?))"
    there = dict(db.execute(sql, [vectors.space_number(db, space), wanted]).fetchall())
    vectors.forget(db, [number for number, vector in given.items() if vector is None])
    fresh = {number: each for number, each in given.items() if each is not None and there.get(number) != each[0]}
    texts = texts_of(db, fresh)
    rows = [
        (number, quick, text_digest(item_from_text(texts[number][1])), packed)
        for number, (packed, quick) in fresh.items()
        if number in texts
    ]
    if rows:
        vectors.keep(db, space, rows)


def texts_of(db: Database, numbers: Collection[int]) -> dict[int, tuple[str, str]]:
    """Return the key and the text of each of these ids that is an item's."""
    sql = "select items.id, key, data from items join records using (id) where items.id in (select value from json_each(?))"
    rows: Sequence[tuple[int, str, str]] = db.execute(sql, [json.dumps(list(numbers))]).fetchall()
    return {number: (key, data) for number, key, data in rows}
