"""The embedder that runs here, offline: bot.ports.vectors.Embedder over what is shipped."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from bot.embed import shipped
from bot.embed.minilm import SIZE, Floats
from bot.models.vectors import NEAR

VERSION = 1  # counts up whenever a text would get another vector

# Among 3,000 papers, 14 searches for something else come as near as .47 to one, and 10 for a field of theirs come
# to .47 to .82 of the nearest. docs/decisions/0028-hybrid-search.md has the transformer's.
_ENOUGH_IN_TABLE = 0.48

_AT_ONCE = 8  # texts between two looks at who else waits
_REMEMBERED = 512  # texts that were asked alone: searches, examples of a topic
_SHORT = 400  # characters of a text that is worth remembering


class LocalEmbedder:
    """The transformer, and for quick vectors the small table; with `table_only` the table for everything.

    Both are read from their files when first asked. Many texts go in turn, one asked alone does not wait for them.
    """

    size = SIZE

    def __init__(self, *, table_only: bool = False) -> None:
        self.space = f"minilm-{'table' if table_only else 'l6-v2'}-{VERSION}"
        self.enough = _ENOUGH_IN_TABLE if table_only else NEAR
        self._table_only = table_only
        self._many = asyncio.Lock()
        self._kept: OrderedDict[tuple[str, bool], Floats] = OrderedDict()

    async def embed(self, texts: Sequence[str], *, quick: bool = False) -> Floats:
        """Return one row of length 1 per text, in their order; a text without any word gets zeros."""
        quick = quick or self._table_only
        if len(texts) == 1:
            return (await self._one(texts[0], quick=quick)).copy()
        made = np.zeros((len(texts), SIZE), np.float32)
        # By length, so that a batch is of texts that take alike.
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        async with self._many:
            for start in range(0, len(order), _AT_ONCE):
                part = order[start : start + _AT_ONCE]
                made[part] = await asyncio.to_thread(_encoded, [texts[at] for at in part], quick)
        return made

    async def _one(self, text: str, *, quick: bool) -> Floats:
        key = (text, quick)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        row = await asyncio.to_thread(_encoded, [text], quick)
        if len(text) <= _SHORT:
            self._kept[key] = row
            if len(self._kept) > _REMEMBERED:
                self._kept.popitem(last=False)
        return row


def _encoded(texts: Sequence[str], quick: bool) -> Floats:
    return (shipped.table() if quick else shipped.minilm()).encode(texts)
