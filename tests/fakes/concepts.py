"""An embedder that knows what a few words mean, and nothing else: words of one concept point one way."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bot.errors import EmbeddingUnavailable
from bot.models.vectors import NEAR
from bot.query.fold import indexed

CONCEPTS = (
    ("cache", "caches", "caching", "kv", "memory"),
    ("cooking", "gas", "kitchen", "stove"),
    ("kernel", "kernels", "gpu", "cuda", "accelerator"),
    ("blockchain", "ledger", "bitcoin"),
)
_PLACES = {word: place for place, words in enumerate(CONCEPTS) for word in words}


class Concepts:
    """bot.ports.vectors.Embedder with a number for each concept.

    `down` makes it unavailable, `silent` keeps it from ever answering; `asked` is what it was given, and whether quickly.
    """

    space = "concepts-1"
    enough = NEAR
    size = len(CONCEPTS)

    def __init__(self) -> None:
        self.down = False
        self.silent = False
        self.asked: list[tuple[str, bool]] = []

    async def embed(self, texts: Sequence[str], *, quick: bool = False) -> NDArray[np.float32]:
        """Return how often each concept stands in each text, as rows of length 1; zeros for a text with none of them."""
        if self.silent:
            await asyncio.Event().wait()
        if self.down:
            raise EmbeddingUnavailable("The concepts are out.")
        self.asked += [(text, quick) for text in texts]
        rows = np.zeros((len(texts), self.size), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in indexed(text).split():
                if word in _PLACES:
                    row[_PLACES[word]] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        found: NDArray[np.float32] = np.divide(rows, lengths, out=rows, where=lengths > 0)
        return found
