"""Writes a file wholly or not at all, whoever is stopped meanwhile. Not on the event loop."""

import contextlib
import fcntl
import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.private_files import PRIVATE

_ENDING = ".partial"  # SQLite's own files beside one that it writes have an ending behind it


@contextmanager
def in_place(path: Path, *, mode: int = PRIVATE) -> Iterator[Path]:
    """Give an empty file beside `path`: what is written to it takes its place when the block ends, and goes where it fails.

    It is on the disk before, and its name is afterwards. `mode` is what may be done with it, as far as the umask lets.
    Raises OSError.
    """
    partial, lock = _new_partial(path, mode)
    try:
        yield partial
        sync(partial)
        partial.replace(path)
        sync(path.parent)
    finally:
        partial.unlink(missing_ok=True)
        os.close(lock)


def drop_partials(folder: Path, beginning: str) -> None:
    """Remove what writers of files whose names begin so left in the folder, who were stopped; keep what one writes now.

    A number of a process says little: in containers it is often the same. So each writer holds a lock on its file.
    What cannot be removed stays.
    """
    for path in folder.glob(f".{glob.escape(beginning)}*{_ENDING}*"):
        with contextlib.suppress(OSError):  # made by another account, or gone meanwhile
            _drop(path, path.with_name(path.name[: path.name.rindex(_ENDING) + len(_ENDING)]))


def write_whole(path: Path, text: str, *, mode: int = PRIVATE) -> None:
    """Write the text, as UTF-8, in the place of `path`; raises OSError.

    Half a character, which a source's broken escape can bring, becomes "?".
    """
    with in_place(path, mode=mode) as partial:
        partial.write_text(text, encoding="utf-8", errors="replace")


def write_new(path: Path, text: str, *, mode: int = PRIVATE) -> None:
    """Write the text, as UTF-8, to a file that is not there yet; raises FileExistsError where one is, and OSError.

    Who finds the file finds it whole. A file system without links takes the text only in the place of nothing: there, one
    that somebody else makes in the very same moment would be lost.
    """
    partial, lock = _new_partial(path, mode)
    try:
        partial.write_text(text, encoding="utf-8")
        sync(partial)
        _put_where_nothing_is(partial, path)
        sync(path.parent)
    finally:
        partial.unlink(missing_ok=True)
        os.close(lock)


def _put_where_nothing_is(partial: Path, path: Path) -> None:
    try:
        path.hardlink_to(partial)
    except FileExistsError:
        raise
    except OSError:
        if path.exists() or path.is_symlink():
            raise
        partial.replace(path)


def sync(path: Path) -> None:
    """Make sure that a file, or a folder's list of names, is on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _new_partial(path: Path, mode: int) -> tuple[Path, int]:
    """Make a file that nobody may have opened before, nor a link lead elsewhere, and lock it."""
    while True:
        partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_ENDING}")
        file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        # Who drops partials may have locked it first, and may have removed it by now.
        if _is_locked(file) and partial.exists():
            return partial, file
        os.close(file)
        partial.unlink(missing_ok=True)


def _drop(path: Path, partial: Path) -> None:
    """Remove the file unless the partial, which it is or belongs to, is being written; raises OSError."""
    try:
        lock = os.open(partial, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        path.unlink()
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    finally:
        os.close(lock)


def _is_locked(file: int) -> bool:
    """Lock the file, and say whether nobody else had it; where the file system has no locks nobody looks at them either."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return not isinstance(error, BlockingIOError)
    return True
