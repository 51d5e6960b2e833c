"""Looking after a store, for the service and the operator; and its bare rows, for moving all of them to another kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol


class Maintenance(Protocol):
    """Counting, checking, pruning, copying."""

    @property
    def name(self) -> str:
        """Where the database is, for people; no secret."""
        ...

    @property
    def taken(self) -> Sequence[str]:
        """The steps by which the tables were brought to this version when it was opened, as far as a store names them."""
        ...

    async def statistics(self) -> Mapping[str, int]:
        """Return row counts and sizes for `doctor` and `db`: items, papers, repos, posts, readings, digests,
        topics, subscriptions, saved, vectors, bytes.
        """
        ...

    async def prune(self, *, items_before: datetime, readings_before: date, now: datetime) -> Mapping[str, int]:
        """Drop items first seen before the date that nobody holds, and older readings; say how many of each.

        What arrived after an item that was seen since is not dropped, whatever time it was stored with: it may not have been
        looked at yet.

        A digest holds its entries, a person what they saved, a topic its examples and the items that feedback was given on.
        What the ledger settled goes 40 days after it was due.
        """
        ...

    async def check(self) -> list[str]:
        """Verify the database and its search index; a sentence per fault, none when sound."""
        ...

    async def backup(self, path: Path) -> None:
        """Write a consistent copy to `path` while others read and write; never leaves half a file there."""
        ...

    async def put_aside(self) -> Sequence[str]:
        """Name what was moved away when a backup took the database's place; it can go when nobody misses it."""
        ...

    async def vacuum(self) -> int:
        """Give unused space back; return the bytes saved."""
        ...


# The fact that says that a database does not have all rows yet, and of what it is to get them.
COPYING = "copying from"
OWN_FACTS = (COPYING, "index")  # what a store says of itself alone
OWN_COLUMNS = {"items": ("fingerprint",)}  # and what follows from its own index, by table

Value = int | float | str | bytes | None
Row = tuple[Value, ...]


class Kind(StrEnum):
    """What a column holds."""

    NUMBER = "number"
    TEXT = "text"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns with what they hold, in an order of its own, and those by which a row is found."""

    name: str
    columns: Mapping[str, Kind]
    key: tuple[str, ...]  # () where nothing tells rows apart: it is then moved as a whole


class Rows(Protocol):
    """All rows of a store, but for OWN_FACTS and OWN_COLUMNS. Every store has the same tables and columns, those aside."""

    @property
    def name(self) -> str:
        """Where it is, for people; no secret."""
        ...

    async def tables(self) -> Mapping[str, Table]:
        """Return the tables whose rows make up the store, by name."""
        ...

    async def count(self, table: Table) -> int:
        """Return how many rows there are."""
        ...

    async def page(self, table: Table, columns: Sequence[str], after: Row | None, *, limit: int) -> Sequence[Row]:
        """Return so many rows whose keys come after one, in the order of the keys, text by its bytes in UTF-8.

        A row has the values of these columns, in their order. Without a key all rows are returned, in any order.
        """
        ...

    async def replace(self, table: Table, columns: Sequence[str], after: Row | None, rows: Sequence[Row]) -> None:
        """Let these be the only rows whose keys come after one, in one transaction; without a key: the only rows."""
        ...

    async def finish(self) -> None:
        """Make anew what follows from the rows: counters, and what is searched by."""
        ...
