"""Locks between processes: one writing service per database, one writing transaction at a time, and who has it open.

All are `flock` on files beside the database, so they end with their process, however it ends. The second one makes
writers and their checkpoints take turns: SQLite before 3.51.3 can lose a transaction when one connection restarts the
write-ahead log in the moment in which another writes to it (https://sqlite.org/changes.html, 3.51.3 and 3.53.0).
"""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from bot.errors import StoreError
from bot.private_files import PRIVATE

PATIENCE = 15.0  # seconds that a write waits for another process
_STEP = 0.005
_LINE = 120  # bytes


class FileLock:
    """A lock on one file, which is made when it is missing and left there.

    It lies beside the database itself, so that who names this by a link has the same lock.
    """

    def __init__(self, database: Path, ending: str) -> None:
        self._database, self._ending = database, ending
        self._file: int | None = None

    def take(self, patience: float = 0.0, *, shared: bool = False) -> bool:
        """Take the lock within so many seconds and say whether that went well; raises OSError without the file.

        One that is held is changed: a shared one to ours alone, or back, which lets others in for a moment.
        """
        if self._file is None:
            # Whoever may open it, even to read, can hold it and so hold up every writer.
            self._file = os.open(self._path(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        end = time.monotonic() + patience
        while not _flock(self._file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX):
            if time.monotonic() >= end:
                return False
            time.sleep(_STEP)
        return True

    def release(self) -> None:
        """Let go, keeping the file open for the next time."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go for good."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def sign(self) -> None:
        """Write our process id into the file, for whoever finds it locked."""
        self.write(str(os.getpid()))

    def write(self, text: str) -> None:
        """Write a line into the file, at most 119 characters, in one piece whoever is killed; the lock is held."""
        if self._file is not None:
            os.pwrite(self._file, f"{text:<{_LINE - 1}}\n".encode("ascii"), 0)

    def read(self) -> str:
        """Return the line in the file; the lock is held."""
        return os.pread(self._file, _LINE, 0).decode("ascii", "replace").strip() if self._file is not None else ""

    def signature(self) -> str:
        """Return what the holder wrote, "" when nothing can be read."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return self._path().read_text("ascii").strip()
        return ""

    def _path(self) -> Path:
        return Path(os.path.realpath(self._database) + self._ending)

    @contextlib.contextmanager
    def turn(self, patience: float = PATIENCE) -> Iterator[None]:
        """Hold the lock inside the block; raises StoreError when another process keeps it for longer than `patience`."""
        if not self.take(patience):
            raise StoreError(
                f"Another process has been writing to the database for {patience:.0f} seconds, or holds {self._path()} for"
                " another reason; try again when it is done, or look which it is (`fuser` tells)."
            )
        try:
            yield
        finally:
            self.release()


def service_lock(database: Path) -> FileLock:
    """Return the lock that a writing service holds for its life."""
    return FileLock(database, ".lock")


def turn_lock(database: Path) -> FileLock:
    """Return the lock that each writing transaction holds; in it stands `recovery.wal.note_of` both files after the last."""
    return FileLock(database, ".turn")


def presence_lock(database: Path) -> FileLock:
    """Return the lock that everybody holds who has the database open; who has it alone may move the files themselves."""
    return FileLock(database, ".open")


def _flock(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True
