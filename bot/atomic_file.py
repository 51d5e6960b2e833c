"""Writes a file wholly or not at all, whoever is stopped meanwhile. Not on the event loop."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def in_place(path: Path) -> Iterator[Path]:
    """Give a path beside `path`: what is written there takes its place when the block ends, and goes where it fails.

    It is on the disk before, and its name is afterwards; raises OSError.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        _sync(partial)
        partial.replace(path)
        _sync(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write the text, as UTF-8, in the place of `path`; raises OSError.

    Half a character, which a source's broken escape can bring, becomes "?".
    """
    with in_place(path) as partial:
        partial.write_text(text, encoding="utf-8", errors="replace")


def _sync(path: Path) -> None:
    """Make sure that a file, or a folder's list of names, is on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
