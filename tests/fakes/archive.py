"""A source that can be asked for single items: stands for arXiv, Hugging Face or GitHub behind the port."""

import asyncio
from collections.abc import Sequence

from bot.errors import SourceError
from bot.models import Item


class Archive:
    """A source that has what it is given, fails as it is told, and answers when it is let."""

    def __init__(self, title: str, *items: Item, prefix: str = "arxiv:", failure: SourceError | None = None) -> None:
        self.title, self.items, self.failure, self._prefix = title, items, failure, prefix
        self.asked: list[str] = []
        self.let = asyncio.Event()
        self.let.set()

    def has_keys_like(self, key: str) -> bool:
        return key.startswith(self._prefix)

    async def look_up(self, key: str) -> Sequence[Item]:
        self.asked.append(key)
        await self.let.wait()
        if self.failure is not None:
            raise self.failure
        return [item for item in self.items if key in (item.key, *item.aliases, item.paper)]
