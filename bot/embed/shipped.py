"""Reads the model and the table that come with Broadsheet, once, when something is first asked of them."""

import zlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from bot.embed.minilm import SIZE, Floats, Layer, Linear, MiniLm, Norm
from bot.embed.static import Table
from bot.embed.wordpiece import LONGEST, WordPieces
from bot.errors import EmbeddingUnavailable

T = TypeVar("T")
N = TypeVar("N", np.int8, np.float32)

FOLDER = Path(__file__).parent / "models"
LAYERS = 6

# What numpy, zipfile and zlib raise for bytes that are not what was written, and this module for arrays that do not fit;
# RuntimeError is zipfile's, of a broken header.
_DAMAGE = (OSError, EOFError, ValueError, LookupError, TypeError, RuntimeError, BadZipFile, zlib.error)

Arrays = Mapping[str, NDArray[Any]]

_reading = Lock()  # two threads that ask at the same time read once


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
