"""A folder that is written wholly or not at all, whoever is stopped meanwhile. Not on the event loop."""

import ctypes
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.errors import UsageError

MARKER = ".broadsheet-site"  # stands in each folder that is ours to replace

_SAYS = "This folder is written by `broadsheet site build`, which replaces it whole.\n"
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of renameat2(2)


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """Give an empty folder beside `folder`; it takes its place when the block ends, and goes where that fails.

    Raises UsageError where the folder holds what is not ours, where another run writes beside it now, and where it cannot
    be written.
    """
    try:
        folder = folder.resolve()  # where it is a link, that stays
        with _alone(folder.parent):
            fresh, before = (folder.parent / f".{folder.name}.{each}" for each in ("new", "before"))
            _begin(folder, fresh, before)
            try:
                yield fresh
                _swap(fresh, folder, before)
            finally:
                for each in (fresh, before):
                    shutil.rmtree(each, ignore_errors=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}.") from error


def _begin(folder: Path, fresh: Path, before: Path) -> None:
    for each in (folder, fresh, before):
        if each.exists() and not _is_ours(each):
            raise UsageError(
                f"{each} holds what `broadsheet site build` did not write: name another folder, or empty this one."
            )
    if before.exists() and not folder.exists():  # somebody was stopped between two names
        before.rename(folder)
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    (fresh / MARKER).write_text(_SAYS, encoding="utf-8")


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and ((folder / MARKER).is_file() or not any(folder.iterdir()))


@contextmanager
def _alone(parent: Path) -> Iterator[None]:
    handle = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise UsageError(f"Another run writes in {parent} now: try again when it has ended.") from error
    try:
        yield
    finally:
        os.close(handle)


def _swap(fresh: Path, folder: Path, before: Path) -> None:
    """Put the fresh folder in the place of the other; in one step where the system can."""
    if not folder.exists():
        fresh.rename(folder)
    elif not _exchanged(fresh, folder):
        folder.rename(before)
        fresh.rename(folder)


def _exchanged(one: Path, other: Path) -> bool:
    """Let two names change places at once; False where the system or its library does not know how."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    failed: int = rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)
    return not failed
