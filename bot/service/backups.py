"""Backups that the service makes by itself: one every so often, the newest few are kept."""

import asyncio
import logging
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.atomic_file import drop_partials
from bot.errors import StoreError
from bot.ports.maintenance import Maintenance
from bot.private_files import tighten

log = logging.getLogger(__name__)

_FORM = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"broadsheet-(\d{8}T\d{6}Z)\.(?:sqlite3|dump)")


@dataclass(frozen=True, slots=True)
class Backups:
    """The backups of one folder. What else lies there is left alone: only names that were given here count."""

    folder: Path
    every: timedelta
    keep: int
    ending: str = "sqlite3"  # of their names; "dump" for what pg_dump writes

    async def make_due(self, maintenance: Maintenance, now: datetime) -> Path | None:
        """Make one when the newest is old enough, then drop the oldest; return what was made. Raises StoreError."""
        await asyncio.to_thread(self._make_folder)
        newest = (await asyncio.to_thread(self._made_private))[-1:]
        # A newest one that is of tomorrow was made by a clock that had run ahead: it says nothing about today.
        if any(timedelta(0) <= now - at < self.every for at, _ in newest):
            return None
        path = self.folder / f"broadsheet-{now.astimezone(UTC):{_FORM}}.{self.ending}"
        await maintenance.backup(path)
        await asyncio.to_thread(self._drop_old)
        log.info("wrote the backup %s", path)
        return path

    def made(self) -> list[tuple[datetime, Path]]:
        """Return the backups that are there with their times, the oldest first; raises StoreError."""
        try:
            names = [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"The backups in {self.folder} cannot be listed: {error.strerror}.") from error
        return sorted((at, path) for path in names if (at := _time(path)) is not None)

    def _made_private(self) -> list[tuple[datetime, Path]]:
        made = self.made()
        tighten(path for _, path in made)
        return made

    def _make_folder(self) -> None:
        try:
            # What people save and follow is nobody else's to read on a machine that several use.
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"The folder for backups cannot be made: {self.folder}: {error.strerror}.") from error
        drop_partials(self.folder, "broadsheet-")

    def _drop_old(self) -> None:
        for _, path in self.made()[: -self.keep]:
            try:
                path.unlink()
            except OSError as error:
                raise StoreError(f"The old backup {path} cannot be deleted: {error.strerror}.") from error


def _time(path: Path) -> datetime | None:
    """Return the time in a backup's name, None when it is no time: 20261399T000000Z."""
    match = _NAME.fullmatch(path.name)
    try:
        return datetime.strptime(match[1], _FORM).replace(tzinfo=UTC) if match else None
    except ValueError:
        return None
