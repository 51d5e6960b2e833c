"""The items that are stored."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from bot.models import Item, Reading, SourceState


class Items(Protocol):
    """The stored items by their keys, and their readings of each day."""

    async def find(self, keys: Collection[str]) -> Mapping[str, Item]:
        """Return the item known under each key or alias; a key that nobody knows is absent."""
        ...

    async def add(
        self, items: Sequence[Item], now: datetime, *, retired: Collection[str] = (), state: SourceState | None = None
    ) -> None:
        """Insert or replace whole items by key, keep today's reading of each, drop the `retired` keys, in one transaction.

        The search index is in step when this returns. `state` is saved in the same transaction.
        An item whose `seen` is None is stored as seen at `now`.
        """
        ...

    async def seen_between(self, since: datetime, until: datetime) -> Sequence[Item]:
        """Return the items first seen at or after `since` and before `until`, newest first."""
        ...

    async def mark(self) -> str:
        """Return a text that changes with every change of items or readings, whoever made it.

        While it is the same, what is found of them is the same.
        """
        ...

    async def counts(self) -> Mapping[str, int]:
        """Return how many there are: items, papers, repos, posts."""
        ...

    async def readings(self, keys: Collection[str], since: date) -> Mapping[str, Sequence[Reading]]:
        """Return each item's readings from `since` on, oldest first; an item without any is absent."""
        ...
