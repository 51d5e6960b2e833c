"""Vectors of texts: what of an item is embedded, and how its vector is written in few bytes. Pure.

A vector is a float32 row of length 1, so that the product of two is their cosine. Vectors compare only within one space: a
model and its version.
"""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from bot.models import Item, Kind

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]

NEAR = (
    0.42  # the cosine from which on a text is found by its meaning alone, read by the transformer that ships; decision 0028
)
LONGEST = 4000  # characters of a text; the models read less than half of it
README = 1000  # characters of a README that count: what it is stands first, then how it is installed
MOST_STEPS = 127  # of 8 bits, the sign apart
# The highest step of a row is 127, so its length is that at least and its scale 1/127 at most; this is told by one byte.
_LARGEST = 1 / 32
_SCALE = np.dtype("<f4")  # what stands behind the bytes of a row, the same on every machine


def text_of_item(item: Item) -> str:
    """Return what of an item is embedded: its title and text; of a repository its topics and README's opening as well."""
    parts = [item.title, item.abstract]
    if item.kind is Kind.REPO:
        parts += [", ".join(item.keywords), item.readme[:README]]
    return ". ".join(filter(None, (" ".join(part.split()).rstrip(".") for part in parts)))[:LONGEST]


def text_digest(item: Item) -> int:
    """Return 63 bits of the text that is embedded, to see whether it changed."""
    text = text_of_item(item).encode(errors="surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest()) >> 1


def pack(rows: Floats) -> list[bytes]:
    """Return each row in 8 bits per number, and behind them what to multiply these with: `size + 4` bytes."""
    highest = np.abs(rows).max(axis=1, initial=0, keepdims=True)
    steps = np.rint(rows * (MOST_STEPS / np.where(highest > 0, highest, 1))).astype(np.int8)
    lengths = np.sqrt(np.square(steps, dtype=np.float64).sum(axis=1))
    # A row of nothing but zeros stays so: it is close to nothing.
    scales = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0).astype(_SCALE)
    return [row.tobytes() + scale.tobytes() for row, scale in zip(steps, scales, strict=True)]


def unpack(packed: Sequence[bytes]) -> Floats:
    """Return the rows, of length 1 again; raises ValueError for what `pack` did not write or rows of several sizes."""
    steps, scales = split(packed)
    rows: Floats = steps.astype(np.float32)
    rows *= scales[:, None]
    return rows


def sound(scales: Floats) -> NDArray[np.bool_]:
    """Tell of each scale whether `pack` may have written it: one of damaged bytes may be no number, or any."""
    found: NDArray[np.bool_] = (scales >= 0) & (scales < _LARGEST)
    return found


def split(packed: Sequence[bytes]) -> tuple[Bytes, Floats]:
    """Return the rows in steps, and what to multiply each with; raises ValueError as `unpack` does."""
    size = len(packed[0]) - _SCALE.itemsize if packed else 0
    if size < 0 or any(len(row) != size + _SCALE.itemsize for row in packed):
        raise ValueError("Vectors of several sizes, or none at all.")
    table = np.frombuffer(b"".join(packed), np.int8).reshape(len(packed), size + _SCALE.itemsize if packed else 0)
    scales = np.ascontiguousarray(table[:, size:]).view(_SCALE).reshape(-1).astype(np.float32)
    return np.ascontiguousarray(table[:, :size]), scales
