"""Writes a file wholly or not at all, whoever is stopped meanwhile. Not on the event loop."""

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write the text, as UTF-8, beside `path` and through to the disk, and then in its place; raises OSError.

    Half a character, which a source's broken escape can bring, becomes "?".
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
