"""Files that nobody but their owner may read: so from the moment they are made, and made so where they were not."""

import contextlib
import logging
import os
import stat
from collections.abc import Iterable
from enum import Enum
from pathlib import Path

PRIVATE = 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO

log = logging.getLogger(__name__)


class Exposed(Enum):
    """Who can mend it that others may read a file, or put another in its place."""

    OURS = "ours"
    THEIRS = "theirs"


def make_private(path: Path) -> None:
    """Make an empty file that its owner alone may read, where a link leads if it is one; raises FileExistsError, OSError.

    One that is there is not even opened: to close a file again lets go of every lock that SQLite holds on it in this
    process (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    os.close(os.open(os.path.realpath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE))


def files_of(database: Path) -> list[Path]:
    """Return the files that are named after a database: it, its logs, locks and heartbeat, and what was put aside.

    Of a link also those named after what it leads to, where SQLite has its logs.
    """
    names = dict.fromkeys((database, Path(os.path.realpath(database))))
    found = dict.fromkeys(path for name in names for path in (name, *_beside(name)))
    return [path for path in found if path.is_file() and (path == database or not path.is_symlink())]


def _beside(database: Path) -> list[Path]:
    name = database.name
    try:
        return sorted(path for path in database.parent.iterdir() if path.name.startswith((f"{name}-", f"{name}.")))
    except OSError:
        return []


def is_open_to_others(path: Path) -> bool:
    """Say whether anybody but the owner may do something with the file."""
    with contextlib.suppress(OSError):
        return bool(path.stat().st_mode & _OTHERS)
    return False


def tighten(paths: Iterable[Path]) -> None:
    """Take from all but the owner what they may do with these files, and log of which; leave what cannot be changed."""
    taken = [str(path) for path in paths if _is_tightened(path)]
    if taken:
        log.warning("others could read %s; from now on nobody but the owner can (mode 0600)", ", ".join(taken))


def exposed(mode: int, owner: int, us: int) -> Exposed | None:
    """Say whether others may read a file, or put files into a folder, of this mode, and who can mend it.

    What another owner gives us by its group, to be read only, is not exposed: so root hands a service its settings.
    """
    ours = us in (owner, 0)
    if stat.S_ISDIR(mode):
        many = 0 if mode & stat.S_ISVTX else stat.S_IWGRP | stat.S_IWOTH
    else:
        many = _OTHERS if ours else stat.S_IRWXO | stat.S_IWGRP
    if not mode & many:
        return None
    return Exposed.OURS if ours else Exposed.THEIRS


def _is_tightened(path: Path) -> bool:
    with contextlib.suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & _OTHERS:
            path.chmod(mode & ~_OTHERS)
            # Some mounted file systems take the call and keep their modes.
            return not path.stat().st_mode & _OTHERS
    return False
