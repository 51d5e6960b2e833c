"""Vectors: who makes them, and what a store keeps of those of its items."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bot.models import Item


@dataclass(frozen=True, slots=True)
class Embedded:
    """How many items have a vector of a space, how many of these a quick one, and how many have none."""

    whole: int
    quick: int
    lacking: int


class VectorChange(NamedTuple):
    """That an item's vector was kept or went: the number of the write that did it, and what the item has now.

    `key` is the item's own, "" where it is gone; `packed` is None where it has no sound vector of the space.
    """

    number: int
    key: str
    arrival: int
    packed: bytes | None
    quick: bool


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

    async def last_change(self, space: str) -> int:
        """Return the number of the last write of vectors.

        Each write is given a number in the transaction that does it, in the order in which these are committed. None is
        given twice, not even after a backup was put back.
        """
        ...

    async def changed(self, space: str, after: int, *, limit: int) -> Sequence[VectorChange] | None:
        """Return the vectors that were kept or went after the write of a number, the oldest write first; none twice.

        What one write did comes together, so it may be more than `limit`; where it is less, nothing is left that had
        changed when this was asked. None where nobody knows any more what came after that number, or no write has it: who
        follows begins anew with `last_change`, the vectors of all items by `find`, and then what changed after that number.
        """
        ...
