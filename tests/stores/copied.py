"""A database in which nothing is searched: what finds its items is a copy in another folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from bot.ports.items import SearchIndex
from bot.store.sqlite.copy.search_copy import SearchCopy
from bot.store.sqlite.store import SqliteStore


class Followed:
    """The index that a copy is, asked once it has all there is: what a test stored, whichever way, is to be found."""

    def __init__(self, copy: SearchCopy) -> None:
        self.copy = copy

    def __getattr__(self, name: str) -> Callable[..., Any]:
        asked: Callable[..., Any] = getattr(self.copy, name)
        if name in ("open", "close", "added"):
            return asked

        async def ask(*given: object, **named: object) -> object:
            await self.copy.follow()
            return await asked(*given, **named)

        return ask


def followed(copy: SearchCopy) -> SearchIndex:
    """Return the copy as an index that is always level."""
    return cast(SearchIndex, Followed(copy))


class CopiedStore(SqliteStore):
    """A store in one SQLite file that is searched by a copy of it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.copy = SearchCopy(path.parent / "copy", self.items, self.vectors, exclusive=True)
        self.items.followed = self.copy.added
        self.own_index, self.index = self.index, followed(self.copy)  # type: ignore[assignment]

    async def open(self) -> None:
        """Open both."""
        await super().open()
        await self.copy.open()

    async def close(self) -> None:
        """Close both."""
        await self.copy.close()
        self.index = self.own_index
        await super().close()
