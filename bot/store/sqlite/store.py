"""The store in one SQLite file."""

import asyncio
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from sqlite_utils import Database

from bot.errors import StoreError
from bot.store.single_process import SoleBudgets, SoleLeases, SoleProcesses
from bot.store.sqlite import ingest
from bot.store.sqlite.chats import SqliteChats
from bot.store.sqlite.connections import Connections, store_errors
from bot.store.sqlite.digests import SqliteArchive, SqliteDigests
from bot.store.sqlite.items import SqliteItems
from bot.store.sqlite.key_values import SqliteFacts, SqliteSourceStates, SqliteSummaries, fact
from bot.store.sqlite.ledger import SqliteLedger
from bot.store.sqlite.locks import presence_lock, service_lock
from bot.store.sqlite.mail import SqliteRecipients
from bot.store.sqlite.maintenance import SqliteMaintenance
from bot.store.sqlite.migrations import is_current, migrate
from bot.store.sqlite.outbox import SqliteOutbox
from bot.store.sqlite.recovery.network_disk import refuse_network_disk
from bot.store.sqlite.recovery.opening import enter, tighten_all
from bot.store.sqlite.recovery.rows import SqliteRows
from bot.store.sqlite.search.index import SqliteIndex
from bot.store.sqlite.search.meaning import VectorCopy
from bot.store.sqlite.vectors import SqliteVectors
from bot.store.sqlite.workspaces import SqliteAssistants, SqlitePeople, SqliteWorkspaces

if TYPE_CHECKING:  # the library is there where the settings ask for it
    from bot.store.index.follower import IndexFollower


class SqliteStore:
    """bot.ports.store.Store on one file, with its maintenance.

    `exclusive` is for the service that collects and posts: it keeps every other such service out for its life. A store
    opened without it may read, and write a little, beside it.
    """

    sqlite_version = sqlite3.sqlite_version  # of the library in use: "3.53.0"

    def __init__(self, path: Path, *, exclusive: bool = False, follower: "type[IndexFollower] | None" = None) -> None:
        """`follower` is the search index beside the file, where there is to be one."""
        self.path = path
        self._exclusive = exclusive
        self._lock, self._presence = service_lock(path), presence_lock(path)
        self.connections = connections = Connections(path)
        self.items = SqliteItems(connections)
        self.follower = follower(index_folder(path), self.items, keeps=exclusive) if follower is not None else None
        self.items.followed = self.follower.follow if self.follower is not None else None
        self.index = SqliteIndex(connections, follower=self.follower, vectors=VectorCopy(path))
        self.vectors = SqliteVectors(connections)
        self.source_states = SqliteSourceStates(connections)
        self.digests = SqliteDigests(connections)
        self.archive = SqliteArchive(connections)
        self.workspaces = SqliteWorkspaces(connections)
        self.people = SqlitePeople(connections)
        self.summaries = SqliteSummaries(connections)
        self.facts = SqliteFacts(connections)
        self.ledger = SqliteLedger(connections)
        self.outbox = SqliteOutbox(connections)
        self.rows = SqliteRows(connections)
        self.chats = SqliteChats(connections)
        self.recipients = SqliteRecipients(connections)
        self.assistants = SqliteAssistants(connections)
        self.maintenance = SqliteMaintenance(connections)
        self.leases, self.budgets = SoleLeases(), SoleBudgets()
        self.processes = SoleProcesses(self.leases)

    async def open(self) -> None:
        """Take the locks, end what a killed process left, migrate, and make the search index anew where other rules made it.

        Raises StoreError, also for a file of another program or of a newer version.
        """
        connections = self.connections
        if connections.is_open:
            return
        try:
            with store_errors(self.path):
                await asyncio.to_thread(self._enter)
            connections.open()
            if not await self._is_ready():
                await connections.write(_make_ready)
            # Only now is it known for ours: what somebody named by mistake keeps its mode.
            await asyncio.to_thread(tighten_all, self.path)
            if self.follower is not None:
                await self.follower.open()
        except BaseException:
            await self._leave()
            raise

    def _enter(self) -> None:
        refuse_network_disk(self.path)
        if self.path.is_dir():
            raise StoreError(f"The database {self.path} cannot be opened: it is a folder; name a file in it.")
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._exclusive:
            if not self._lock.take():
                holder = self._lock.signature()
                raise StoreError(
                    f"Another Broadsheet{f' (process {holder})' if holder else ''} is already running on {self.path};"
                    " stop it first, or give this one a database of its own."
                )
            self._lock.sign()
        enter(self.path, self._presence)

    async def _is_ready(self) -> bool:
        """Look without writing, so that a file that only may be read can be searched."""
        if not await asyncio.to_thread(self.path.exists):
            return False
        return await self.connections.read(lambda db: is_current(db) and fact(db, "index") == ingest.INDEX_VERSION)

    async def close(self) -> None:
        """Finish what is being written and let go of everything."""
        if self.connections.is_open:
            await self._leave()

    async def _leave(self) -> None:
        if self.follower is not None:
            await self.follower.close()
        await self.index.close()
        if self.connections.is_open:
            await self.connections.close()
        await asyncio.to_thread(self._presence.close)
        await asyncio.to_thread(self._lock.close)


def index_folder(database: Path) -> Path:
    """Return the folder of the search index beside a database."""
    return database.with_name(f"{database.name}.search")


def _make_ready(db: Database) -> None:
    migrate(db)
    if fact(db, "index") != ingest.INDEX_VERSION:
        ingest.rebuild(db)
