"""Vectors of the judged texts by the embedder that ships, kept in a folder between runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from bot.models import Item
from bot.ports_vectors import Embedder
from bot.vectors import Floats, pack, text_of_item


@dataclass(frozen=True, slots=True)
class Embedding:
    """An embedder whose answers are kept in `cache`, one file per list of texts, named by what is asked and its space."""

    embedder: Embedder
    cache: Path | None = None

    @property
    def space(self) -> str:
        """The space of its vectors."""
        return self.embedder.space

    async def texts(self, texts: Sequence[str], *, quick: bool = False) -> Floats:
        """Return a row per text."""
        kept = self.cache / f"vectors-{_name(self.space, quick, texts)}.npz" if self.cache else None
        if kept and kept.exists():
            with np.load(kept, allow_pickle=False) as file:
                return np.asarray(file["rows"], np.float32)
        rows = await self.embedder.embed(texts, quick=quick)
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            np.savez(kept, rows=rows)
        return rows

    async def packed(self, items: Sequence[Item], *, quick: bool = False) -> dict[str, bytes]:
        """Return the items' vectors by key, as the store keeps them."""
        rows = await self.texts([text_of_item(item) for item in items], quick=quick)
        return dict(zip((item.key for item in items), pack(rows), strict=True))


def _name(space: str, quick: bool, texts: Sequence[str]) -> str:
    digest = sha256(f"{space}\0{quick}".encode())
    for text in texts:
        digest.update(b"\0" + text.encode(errors="surrogatepass"))
    return digest.hexdigest()[:20]


def shipped(how: str) -> Embedder | None:
    """Return the embedder as the setting `embeddings` names it: on, fast, off."""
    return None
