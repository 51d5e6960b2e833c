"""Vectors of the judged texts by the embedder that ships, kept in a folder between runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from bot.embed import shipped
from bot.embed.shipped import LocalEmbedder
from bot.models import Item
from bot.models.vectors import Floats, pack, text_of_item
from bot.ports.vectors import Embedder

_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Embedding:
    """An embedder whose answers are kept in `folder`: a file for some hundred texts, named by these and the space."""

    embedder: Embedder
    folder: Path | None = None

    @property
    def space(self) -> str:
        """The space of its vectors."""
        return self.embedder.space

    async def texts(self, texts: Sequence[str], *, quick: bool = False) -> Floats:
        """Return a row per text."""
        rows = [await self._some(texts[at : at + _AT_ONCE], quick=quick) for at in range(0, len(texts), _AT_ONCE)]
        return np.concatenate(rows) if rows else np.zeros((0, self.embedder.size), np.float32)

    async def _some(self, texts: Sequence[str], *, quick: bool) -> Floats:
        kept = self.folder / f"vectors-{_name(self._maker(quick=quick), texts)}.npz" if self.folder else None
        if kept and kept.exists():
            with np.load(kept, allow_pickle=False) as file:
                return np.asarray(file["rows"], np.float32)
        rows = await self.embedder.embed(texts, quick=quick)
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            np.savez(kept, rows=rows)
        return rows

    def _maker(self, *, quick: bool) -> str:
        """The space and the model that a text is read with: a model that was made anew is asked anew."""
        file = shipped.FOLDER / ("static.npz" if quick or "table" in self.space else "minilm.npz")
        return f"{self.space} {quick} {_digest(file)}"

    async def packed(self, items: Sequence[Item], *, quick: bool = False) -> dict[str, bytes]:
        """Return the items' vectors by key, as the store keeps them."""
        rows = await self.texts([text_of_item(item) for item in items], quick=quick)
        return dict(zip((item.key for item in items), pack(rows), strict=True))


@cache
def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest() if file.exists() else ""


def _name(maker: str, texts: Sequence[str]) -> str:
    digest = sha256(maker.encode())
    for text in texts:
        digest.update(b"\0" + text.encode(errors="surrogatepass"))
    return digest.hexdigest()[:20]


def as_set(how: str) -> Embedder | None:
    """Return the embedder as the setting `embeddings` names it: on, fast, off."""
    return None if how == "off" else LocalEmbedder(table_only=how == "fast")
