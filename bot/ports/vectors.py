"""Vectors: who makes them, and what a store keeps of those of its items."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bot.models import Item


@dataclass(frozen=True, slots=True)
class Embedded:
    """How many items have a vector of a space, how many of these a quick one, and how many have none."""

    whole: int
    quick: int
    lacking: int


class Embedder(Protocol):
    """Makes vectors of texts. Those of one space compare with each other, and with no others."""

    @property
    def space(self) -> str:
        """The name and version of the model whose vectors these are."""
        ...

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        ...

    @property
    def enough(self) -> float:
        """The cosine from which on a text is found by its meaning alone; above 1 where nobody knows."""
        ...

    async def embed(self, texts: Sequence[str], *, quick: bool = False) -> NDArray[np.float32]:
        """Return one row of length 1 per text, in their order; a text without any word gets zeros.

        `quick` may give a rougher vector of the same space in far less time. Raises EmbeddingUnavailable.
        """
        ...


class Vectors(Protocol):
    """The vectors of the items. Every write is one transaction, every method may raise StoreError.

    An item has one vector at most; it goes with the item, and when the item's text
    (bot.models.vectors.text_of_item) changes.
    Vectors are packed as bot.models.vectors.pack does, and all those of one space have the same size.
    """

    async def lacking(self, space: str, *, limit: int, better: bool = False) -> Sequence[Item]:
        """Return items without a vector of the space, the newest first; with `better`, those that have a quick one."""
        ...

    async def save(self, space: str, items: Sequence[Item], packed: Sequence[bytes], *, quick: bool) -> int:
        """Keep the vector of each item, in place of what it had; return how many were kept.

        Left out are items that were dropped, or whose text changed, since they were read.
        """
        ...

    async def find(self, space: str, keys: Collection[str]) -> Mapping[str, bytes]:
        """Return the vectors of the space by the items' own keys; an item without one is absent."""
        ...

    async def mark(self, space: str) -> str:
        """Return a text that changes whenever a vector is kept or goes; while it is the same, the vectors are the same."""
        ...

    async def embedded(self, space: str) -> Embedded:
        """Return how far the space is filled."""
        ...
