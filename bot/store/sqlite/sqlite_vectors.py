"""What is kept of vectors, as methods of the SQLite store."""

from collections.abc import Collection, Mapping, Sequence

from bot.models import Item, Near
from bot.ports.vectors import Embedded
from bot.store.sqlite import vectors
from bot.store.sqlite.search.meaning import Meaning
from bot.store.sqlite.sqlite_chats import SqliteChats


class SqliteVectors(SqliteChats):
    """bot.ports.vectors.Vectors beside the chats; what it does stands in bot.store.sqlite.vectors."""

    def __init__(self) -> None:
        self._copy = vectors.Copy()

    def _meaning(self, near: Near | None) -> Meaning | None:
        return Meaning(self._copy, near) if near is not None else None

    async def lacking_vectors(self, space: str, *, limit: int, better: bool = False) -> Sequence[Item]:
        """Return items without a vector of the space, or with a quick one, the newest first."""
        return await self._read(lambda db: vectors.lacking(db, space, limit, better=better))

    async def save_vectors(self, space: str, items: Sequence[Item], packed: Sequence[bytes], *, quick: bool) -> int:
        """Keep the vector of each item whose text is still the same."""
        return await self._write(lambda db: vectors.save(db, space, items, packed, quick=quick))

    async def vectors(self, space: str, keys: Collection[str]) -> Mapping[str, bytes]:
        """Return the vectors of the space by the items' own keys."""
        return await self._read(lambda db: vectors.of_keys(db, space, keys))

    async def vectors_mark(self, space: str) -> str:
        """Return how often vectors were written or taken, of whatever space."""
        return await self._read(vectors.mark)

    async def embedded(self, space: str) -> Embedded:
        """Return how far the space is filled."""
        return await self._read(lambda db: vectors.embedded(db, space))
