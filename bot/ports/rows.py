"""The bare rows of a store, for moving all of them to another kind of store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

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
