"""What chat platforms keep, as methods of the SQLite store."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.models import Delivery, Installation
from bot.store.sqlite import chats
from bot.store.sqlite.sqlite_ledger import SqliteLedger


class SqliteChats(SqliteLedger):
    """bot.ports.chats.Chats beside the ledger; what it does stands in bot.store.sqlite.chats."""

    async def first_time(self, platform: str, what: str, now: datetime, span: timedelta = timedelta(hours=24)) -> bool:
        """Note that this was met, and say whether it is the first time within the span."""
        return await self._write_shared(lambda db: chats.first_time(db, platform, what, now, span))

    async def keep_texts(self, workspace: str, texts: Sequence[str], now: datetime) -> Sequence[str]:
        """Keep the texts and return the key of each."""
        if not texts:
            return []
        return await self._write_shared(lambda db: chats.keep_texts(db, workspace, texts, now))

    async def kept_text(self, workspace: str, key: str) -> str | None:
        """Return the workspace's text of that key."""
        return await self._read(lambda db: chats.kept_text(db, workspace, key))

    async def save_installation(self, installation: Installation) -> None:
        """Keep the installation instead of that of the same platform and place."""
        await self._write(lambda db: chats.save_installation(db, installation))

    async def installations(self, platform: str, *, place: str = "") -> Sequence[Installation]:
        """Return the platform's installations, or the one of that place; by place."""
        return await self._read(lambda db: chats.installations(db, platform, place))

    async def drop_installation(self, platform: str, place: str) -> bool:
        """Forget the installation; say whether there was one."""
        return await self._write(lambda db: chats.drop_installation(db, platform, place))

    async def delivery_posted(self, workspace: str, channel: str, message: str) -> Delivery | None:
        """Return the delivery that was posted as this message."""
        return await self._read(lambda db: chats.delivery_posted(db, workspace, channel, message))
