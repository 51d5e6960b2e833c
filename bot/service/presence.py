"""What a process tells the others on its database: that it lives, when the service last did, and what it was told of."""

import asyncio
import json
import os
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from bot import __version__
from bot.delivery import notice_restored
from bot.models import ProcessState
from bot.ports.facts import HEARTBEAT, Facts, time_of_fact
from bot.ports.shared.processes import Leases, Processes
from bot.service.heartbeat_file import read_alive, write_alive

PRESENT = timedelta(seconds=5)  # between two signs of a process's life

_OPENED = "opened"  # the fact, and the lease to change it by, that holds what may be open again
_SPAN = timedelta(seconds=10)
_MOST = 1000  # places that are kept for who asks about them: further ones it finds out by and by


def new_process_id() -> str:
    """Return an identifier for this process that no other one has, on any machine."""
    return f"{socket.gethostname()[:60]}-{os.getpid()}-{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True)
class Presence:
    """This process among the others."""

    processes: Processes
    id: str
    roles: Sequence[str]
    schema: int  # of the database that this version was made for
    begun: datetime
    figures: Callable[[], Mapping[str, float]]  # what is told of it with each sign of life

    async def beat(self) -> None:
        """Show that it lives. Raises StoreError."""
        await self.processes.beat(
            ProcessState(
                id=self.id,
                roles=tuple(self.roles),
                version=__version__,
                schema=self.schema,
                host=socket.gethostname(),
                begun=self.begun,
                beat=self.begun,  # the database puts its own time there
                figures=dict(self.figures()),
            )
        )

    async def leave(self) -> None:
        """Tell that it has ended, which gives its leases back. Raises StoreError."""
        await self.processes.remove(self.id)


class SharedHeartbeat:
    """The heartbeat of a service of several processes, of which one at a time writes it.

    Each keeps the latest that it knows of in a file of its own. So whichever writes the next one sees whether the database
    is older than that, and was restored: also when it was while the process went on.
    """

    def __init__(self, facts: Facts, database: Path) -> None:
        """`database` is the path beside which the file lies."""
        self._facts = facts
        self._database = database

    async def beat(self, now: datetime) -> None:
        """Show that the service lives, by the one process that does so now. Raises StoreError."""
        alive = await asyncio.to_thread(read_alive, self._database)
        # A clock that had run ahead must not put in doubt what is not even due yet.
        await notice_restored(self._facts, alive and min(alive, now), now)
        await self._facts.set(HEARTBEAT, now.isoformat())
        await asyncio.to_thread(_written, self._database, now)

    async def follow(self) -> None:
        """Keep what another process wrote. Raises StoreError."""
        beat = await time_of_fact(self._facts, HEARTBEAT)
        alive = await asyncio.to_thread(read_alive, self._database)
        if beat is not None and (alive is None or alive < beat):
            await asyncio.to_thread(_written, self._database, beat)


def _written(database: Path, at: datetime) -> None:
    """Write the file, in a folder that nothing else may have made yet. Raises StoreError."""
    with suppress(OSError):  # then the file cannot be written either, and that says why
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_alive(database, at)


class OpenedPlaces:
    """What may be open again: told by whichever process hears of it, to the one that asks about what is paused."""

    def __init__(self, facts: Facts, leases: Leases, process: str) -> None:
        self._facts, self._leases, self._process = facts, leases, process
        self._heard: dict[tuple[str, str], None] = {}

    def hear(self, workspace: str, channel: str) -> None:
        """Note a channel of a workspace, "" for all of it; the platform's word with the colon stands for all of its own."""
        self._heard[workspace, channel] = None

    async def tell(self) -> None:
        """Hand over what was heard; where another process is just doing so, the next time. Raises StoreError."""
        if self._heard:
            heard, self._heard = self._heard, {}
            if await self._changed(lambda there: list(dict.fromkeys([*there, *heard]))[:_MOST]) is None:
                self._heard = heard | self._heard

    async def taken(self) -> Sequence[tuple[str, str]]:
        """Return what was handed over since the last time. Raises StoreError."""
        if not await self._facts.get(_OPENED):
            return ()
        return await self._changed(lambda there: []) or ()

    async def _changed(
        self, change: Callable[[list[tuple[str, str]]], list[tuple[str, str]]]
    ) -> Sequence[tuple[str, str]] | None:
        """Change what is handed over and return what it was; None, and nothing changed, where somebody else does."""
        lease = await self._leases.take(_OPENED, self._process, _SPAN)
        if lease is None:
            return None
        try:
            there = _places(await self._facts.get(_OPENED))
            changed = change(there)
            await self._facts.set(_OPENED, json.dumps(changed) if changed else "")
        finally:
            await self._leases.give_back(lease)
        return there


def _places(text: str) -> list[tuple[str, str]]:
    try:
        return [(str(workspace), str(channel)) for workspace, channel in json.loads(text or "[]")]
    except (ValueError, TypeError):
        return []
