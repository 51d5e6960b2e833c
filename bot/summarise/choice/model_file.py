"""Reads the models of this room that come with Broadsheet, and says which file is to blame where one cannot be read."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from zipfile import BadZipFile

from bot.errors import SummaryUnavailable

T = TypeVar("T")

# What numpy, zipfile and json raise for bytes that are not what was written; RuntimeError is zipfile's, of a broken header.
_DAMAGE = (OSError, EOFError, ValueError, LookupError, TypeError, RuntimeError, BadZipFile, zlib.error)


def read_model(path: Path, read: Callable[[Path], T]) -> T:
    """Return what `read` makes of the file; raises SummaryUnavailable where it is missing or damaged."""
    try:
        return read(path)
    except _DAMAGE as error:
        raise SummaryUnavailable(f"The model file {path} is missing or damaged: install Broadsheet again.") from error
