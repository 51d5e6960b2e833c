"""The heartbeat beside the database, by which a database is known that is older than what was last written.

A restored copy brings its old heartbeat along; this file stays where it is.
"""

from datetime import UTC, datetime
from pathlib import Path

from bot.atomic_file import write_whole
from bot.errors import StoreError


def alive_path(database: Path) -> Path:
    """Return where the file of a database lies: beside it, named as it is with `.alive`."""
    return database.with_name(f"{database.name}.alive")


def read_alive(database: Path) -> datetime | None:
    """Return the last heartbeat; None when there is no file, or none that can be read as a time."""
    try:
        at = datetime.fromisoformat(alive_path(database).read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        return None
    return at.astimezone(UTC) if at.tzinfo is not None else None


def write_alive(database: Path, at: datetime) -> None:
    """Write the heartbeat, wholly or not at all; raises StoreError. To be written into the database first."""
    path = alive_path(database)
    try:
        write_whole(path, at.astimezone(UTC).isoformat())
    except OSError as error:
        raise StoreError(f"The heartbeat cannot be written to {path}: {error.strerror}.") from error
