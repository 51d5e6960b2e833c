"""Writes a file wholly or not at all, whoever is stopped meanwhile. Not on the event loop."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.private_files import PRIVATE


@contextmanager
def in_place(path: Path, *, mode: int = PRIVATE) -> Iterator[Path]:
    """Give an empty file beside `path`: what is written to it takes its place when the block ends, and goes where it fails.

    It is on the disk before, and its name is afterwards. `mode` is what may be done with it, as far as the umask lets.
    Raises OSError.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    # Nobody may have opened it before, nor may a link that stands there lead elsewhere.
    partial.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode))
    try:
        yield partial
        _sync(partial)
        partial.replace(path)
        _sync(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def write_whole(path: Path, text: str, *, mode: int = PRIVATE) -> None:
    """Write the text, as UTF-8, in the place of `path`; raises OSError.

    Half a character, which a source's broken escape can bring, becomes "?".
    """
    with in_place(path, mode=mode) as partial:
        partial.write_text(text, encoding="utf-8", errors="replace")


def _sync(path: Path) -> None:
    """Make sure that a file, or a folder's list of names, is on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
