"""The vectors of what topics are told: examples and marked items; worked out once and kept for who asks next."""

import asyncio
import logging
from collections.abc import Mapping, Sequence

from bot.errors import EmbeddingUnavailable
from bot.models import Item
from bot.models.vectors import pack, text_of_item
from bot.ports.vectors import Embedder, Vectors

# Texts whose vectors are kept, 0.4 kB each and the text; a few hundred topics have no more.
MOST = 4096
# How long one waits for vectors of a few texts: an endpoint that does not answer holds up no digest and no search.
PATIENCE = 5.0  # seconds

_log = logging.getLogger(__name__)


class TopicVectors:
    """Makes vectors of what the store has none of."""

    def __init__(self, vectors: Vectors, embedder: Embedder | None, *, most: int = MOST, patience: float = PATIENCE) -> None:
        """Without an embedder nothing has a vector."""
        self._most = most
        self._patience = patience
        self._vectors = vectors
        self._embedder = embedder
        self._kept: dict[str, bytes] = {}  # by text, in the order of use

    async def vectors(self, items: Sequence[Item], texts: Sequence[str]) -> Mapping[str, bytes]:
        """Return the vectors of the items, by key, and of the texts; those that cannot be had now are left out."""
        if self._embedder is None:
            return {}
        stored = await self._vectors.find(self._embedder.space, [item.key for item in items]) if items else {}
        wanted = {item.key: text_of_item(item) for item in items if item.key not in stored} | {text: text for text in texts}
        await self._embed(self._embedder, [text for text in dict.fromkeys(wanted.values()) if text not in self._kept])
        # Those of now are the last that are let go.
        self._kept |= {text: self._kept.pop(text) for text in set(wanted.values()) & self._kept.keys()}
        found = {name: self._kept[text] for name, text in wanted.items() if text in self._kept}
        for text in list(self._kept)[: max(len(self._kept) - self._most, 0)]:
            del self._kept[text]
        return {**stored, **found}

    async def _embed(self, embedder: Embedder, texts: Sequence[str]) -> None:
        if not texts:
            return
        try:
            async with asyncio.timeout(self._patience):
                rows = await embedder.embed(texts)
        except (EmbeddingUnavailable, TimeoutError) as error:
            _log.warning("no vectors of %d texts, words alone rank them: %s", len(texts), str(error) or "no answer in time")
            return
        self._kept |= dict(zip(texts, pack(rows), strict=True))
