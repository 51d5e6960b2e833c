"""What runs here, offline: the model and the small table that come with Broadsheet, and the embedder that uses them.

Both are read once, when something is first asked of them. By the table a text's vector is the sum of its pieces' own, turned
into the transformer's space: it was fitted to the transformer's vectors (training/static.py), so both lie in one space
(Tulkens and van Dongen, "Model2Vec", 2024, and Wieting et al., arXiv:1511.08198, on averages that hold their own against
deeper models).
"""

import asyncio
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from bot.embed.minilm import SIZE, Floats, Layer, Linear, MiniLm, Norm, unit
from bot.embed.wordpiece import LONGEST, WordPieces
from bot.errors import EmbeddingUnavailable
from bot.models.vectors import NEAR

T = TypeVar("T")
N = TypeVar("N", np.int8, np.float32)

VERSION = 1  # counts up whenever a text would get another vector

# Among 3,000 papers, 14 searches for something else come as near as .47 to one, and 10 for a field of theirs come
# to .47 to .82 of the nearest. docs/decisions/0028-hybrid-search.md has the transformer's.
_ENOUGH_IN_TABLE = 0.48

_AT_ONCE = 8  # texts between two looks at who else waits
_REMEMBERED = 512  # texts that were asked alone: searches, examples of a topic
_SHORT = 400  # characters of a text that is worth remembering
_MARKS = slice(1, -1)  # the pieces between those of the start and the end

FOLDER = Path(__file__).parent / "models"
LAYERS = 6

# What numpy, zipfile and zlib raise for bytes that are not what was written, and this module for arrays that do not fit;
# RuntimeError is zipfile's, of a broken header.
_DAMAGE = (OSError, EOFError, ValueError, LookupError, TypeError, RuntimeError, BadZipFile, zlib.error)

Arrays = Mapping[str, NDArray[Any]]

_reading = Lock()  # two threads that ask at the same time read once


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


def is_word(word: str) -> bool:
    """Say whether it is a common word of English, spelt as it should be: one of those that the table has whole."""
    return table().words.has(word)


def _encoded(texts: Sequence[str], quick: bool) -> Floats:
    return (table() if quick else minilm()).encode(texts)


@dataclass(frozen=True, slots=True)
class Table:
    """Per piece a row of steps and what to multiply it with; `turn` takes the sum into the space, from `centre` on."""

    words: WordPieces
    rows: NDArray[np.int8]
    scales: Floats
    turn: Floats
    centre: Floats

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return a row of length 1 per text; one without a word gets zeros."""
        made = np.zeros((len(texts), len(self.centre)), np.float32)
        for at, text in enumerate(texts):
            pieces = self.words.numbers(text)[_MARKS]
            if pieces:
                made[at] = self._sum(pieces) @ self.turn + self.centre
        return unit(made)

    def _sum(self, pieces: Sequence[int]) -> Floats:
        which, weights = weighted(pieces)
        total: Floats = (weights * self.scales[which]) @ self.rows[which].astype(np.float32)
        return total


def weighted(pieces: Sequence[int]) -> tuple[NDArray[np.int64], Floats]:
    """Return each piece once, and what it counts: the root of how often it stands there, over the root of all."""
    which, counts = np.unique(np.asarray(pieces, np.int64), return_counts=True)
    return which, np.sqrt(counts.astype(np.float32) / np.float32(max(len(pieces), 1)))


# --- reading the files -------------------------------------------------------------------------------------------------


def minilm() -> MiniLm:
    """Return the transformer: 17 MB as a file, 60 MB in memory. Raises EmbeddingUnavailable as `read_from` does."""
    with _reading:
        return _minilm()


def table() -> Table:
    """Return the small table. Raises EmbeddingUnavailable as `read_from` does."""
    with _reading:
        return _table()


@cache
def _minilm() -> MiniLm:
    return read_from(FOLDER / "minilm.npz", minilm_of)


@cache
def _table() -> Table:
    return read_from(FOLDER / "static.npz", table_of)


def read_from(path: Path, made: Callable[[Arrays], T]) -> T:
    """Return what is made of the file's arrays; raises EmbeddingUnavailable where it is missing or damaged."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            return made(file)
    except _DAMAGE as error:
        text = f"The model file {path} is missing or damaged"
        raise EmbeddingUnavailable(f'{text}: install Broadsheet again, or set "embeddings.use" to "off".') from error


def minilm_of(arrays: Arrays) -> MiniLm:
    """Return the model whose arrays are named as training/embedder.py names them; raises ValueError for other shapes."""
    pieces = pieces_of(arrays["pieces"])
    return MiniLm(
        WordPieces(pieces),
        _shaped(loosened(arrays["table"]), len(pieces), SIZE),
        _shaped(arrays["table_scales"].astype(np.float32), len(pieces)),
        _shaped(_whole(arrays["places"], arrays["places_scales"]), LONGEST, SIZE),
        _norm(arrays["norm"]),
        tuple(_layer({name: arrays[f"{name}{at}"] for name in _NAMES}) for at in range(LAYERS)),
    )


def table_of(arrays: Arrays) -> Table:
    """Return the table whose arrays are named as training/static.py names them; raises ValueError for other shapes."""
    pieces, rows = pieces_of(arrays["pieces"]), loosened(arrays["rows"])
    return Table(
        WordPieces(pieces),
        _shaped(rows, len(pieces), rows.shape[1]),
        _shaped(arrays["scales"].astype(np.float32), len(pieces)),
        _shaped(arrays["turn"].astype(np.float32), rows.shape[1], SIZE),
        _shaped(arrays["centre"], SIZE),
    )


def pieces_of(written: NDArray[np.uint8]) -> list[str]:
    """Return the pieces, which are written one a line."""
    return written.tobytes().decode().split("\n")


def loosened(tight: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Return rows of steps from -31 to 31, of which each four are written in three bytes."""
    first, second, third = tight[:, 0::3], tight[:, 1::3], tight[:, 2::3]
    steps = np.stack([first >> 2, (first & 3) << 4 | second >> 4, (second & 15) << 2 | third >> 6, third & 63], axis=2)
    loose: NDArray[np.int8] = steps.reshape(len(tight), -1).astype(np.int8)
    loose -= 32
    return loose


_LINEAR = {"ask": (SIZE, 3 * SIZE), "gather": (SIZE, SIZE), "widen": (SIZE, 4 * SIZE), "narrow": (4 * SIZE, SIZE)}
_PARTS = tuple(f"{name}{part}" for name in _LINEAR for part in ("", "_scales", "_shift"))
_NAMES = (*_PARTS, "norm_attention", "norm")


def _layer(arrays: Arrays) -> Layer:
    ask, gather, widen, narrow = (
        Linear(_shaped(_whole(arrays[name], arrays[f"{name}_scales"]).T, *shape), _shaped(arrays[f"{name}_shift"], shape[1]))
        for name, shape in _LINEAR.items()
    )
    return Layer(ask, gather, _norm(arrays["norm_attention"]), widen, narrow, _norm(arrays["norm"]))


def _whole(steps: NDArray[np.int8], scales: Floats) -> Floats:
    made: Floats = steps.astype(np.float32)
    made *= _shaped(scales, len(steps))[:, None]
    return made


def _norm(rows: Floats) -> Norm:
    scale, shift = _shaped(rows, 2, SIZE)
    return Norm(scale, shift)


def _shaped(array: NDArray[N], *shape: int) -> NDArray[N]:
    if array.shape != shape:
        raise ValueError(f"an array of {array.shape} where one of {shape} belongs")
    return array
