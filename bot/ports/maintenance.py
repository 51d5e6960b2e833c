"""Looking after a store: for the service and the operator."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
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
