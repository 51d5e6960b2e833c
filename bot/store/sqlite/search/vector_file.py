"""The vectors of a space in a file beside the database, which is mapped into memory and shared by who reads it.

The file is whole or not there, is never written again, and tells up to which write of vectors it goes: what came later is
read from the database. Another version, a file that is damaged or of another database is none. Its first page says what it
holds, the others are the arrays themselves, in the machine's order of bytes.
"""

import contextlib
import json
import mmap
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from bot.atomic_file import in_place
from bot.models.vectors import split
from bot.store.rules.nearest import Ids, Table, signs_of

VERSION = f"broadsheet vectors 1 {sys.byteorder}"
_PAGE = 4096
_CHECK = 8  # hexadecimal digits of the first page's checksum, which it begins with
_SUMMED = 8192  # words of 8 bytes that are summed at a time


class VectorFileError(Exception):
    """There is no such file, or what is in it is not what was written."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What the file holds: the vectors of this size of a space, up to a write; `room` is how many it was made for."""

    space: str
    size: int
    change: int
    room: int
    count: int = 0
    check: int = 0
    version: str = VERSION


def write_vectors(path: Path, contents: Contents, some: Iterable[tuple[Sequence[int], Sequence[bytes]]]) -> Contents:
    """Write the file in the place of what is there, of ids, each once, and their packed vectors; return what it holds.

    Whoever has the one of before open keeps it. It is written piece by piece, not through memory that maps it: on a full
    disk that would end the process. Raises OSError.
    """
    places, end = _places(contents)
    with in_place(path) as partial, partial.open("r+b") as file:
        file.truncate(end)
        count = 0
        for ids, packed in some:
            steps, scales = split(packed)
            arrays = (np.array(ids, np.int64), scales, steps, *signs_of(steps))
            for place, array in zip(places, arrays, strict=True):
                file.seek(place + count * (array.itemsize if array.ndim == 1 else contents.size))
                file.write(np.ascontiguousarray(array).data)
            count += len(ids)
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            whole = replace(contents, count=count, check=_check(mapped))
        file.seek(0)
        file.write(_first_page(whole))
    return whole


def read_contents(path: Path) -> Contents:
    """Return what the file says that it holds; raises VectorFileError."""
    try:
        with path.open("rb") as file:
            page = file.read(_PAGE)
        contents = Contents(**json.loads(page[_CHECK:].rstrip(b"\0")))
        if page != _first_page(contents) or contents.version != VERSION:
            raise VectorFileError("it is of another version, or damaged")
    except FileNotFoundError as error:
        raise VectorFileError("there is none") from error
    except (OSError, ValueError, TypeError) as error:
        raise VectorFileError(f"it cannot be read: {error}") from error
    return contents


def map_vectors(path: Path, contents: Contents) -> tuple[Ids, Table]:
    """Return ids and vectors of the file that has these contents; raises VectorFileError.

    All of it is looked through first, at some gigabytes a second.
    """
    places, end = _places(contents)
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise VectorFileError(f"it cannot be read: {error}") from error
    if len(mapped) != end or mapped[:_PAGE] != _first_page(contents) or _check(mapped) != contents.check:
        raise VectorFileError("it is damaged")
    count, size = contents.count, contents.size
    ids = np.frombuffer(mapped, np.int64, count, places[0])
    scales = np.frombuffer(mapped, np.float32, count, places[1])
    steps = np.frombuffer(mapped, np.int8, count * size, places[2]).reshape(count, size)
    words = np.frombuffer(mapped, np.uint64, (end - places[3]) // 8, places[3]).reshape(len(places) - 3, -1)
    with contextlib.suppress(OSError):
        mapped.madvise(mmap.MADV_WILLNEED)
    return ids, Table(steps, scales, words[:, :count])


def _places(contents: Contents) -> tuple[list[int], int]:
    """Return where each array begins, and where the file ends: ids, scales, steps, and signs word by word."""
    words = -(-contents.size // 64)
    places, at = [], _PAGE
    for width in (8, 4, contents.size, *[8] * words):
        places.append(at)
        at += -(-contents.room * width // _PAGE) * _PAGE
    return places, at


def _first_page(contents: Contents) -> bytes:
    text = json.dumps(asdict(contents)).encode()
    if len(text) > _PAGE - _CHECK:
        raise OSError("The name of the vectors' space is too long for a file of them.")
    return (b"%08x" % zlib.crc32(text) + text).ljust(_PAGE, b"\0")


def _check(mapped: mmap.mmap) -> int:
    """Return the checksum of all but the first page: of sums, each of a part, so that it takes a tenth of the time."""
    words = np.frombuffer(mapped, np.uint64, offset=_PAGE)
    whole = len(words) // _SUMMED * _SUMMED
    sums = words[:whole].reshape(-1, _SUMMED).sum(axis=1)
    return zlib.crc32(words[whole:].tobytes(), zlib.crc32(sums.tobytes()))
