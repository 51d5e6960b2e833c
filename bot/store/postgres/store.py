"""The store in one PostgreSQL database."""

from pathlib import Path
from typing import TYPE_CHECKING

from bot.store.postgres.chats import PostgresChats
from bot.store.postgres.connections import Connections, Db
from bot.store.postgres.digests import PostgresArchive, PostgresDigests
from bot.store.postgres.items import PostgresItems
from bot.store.postgres.jobs import PostgresLaneJobs, prepare_jobs
from bot.store.postgres.key_values import PostgresFacts, PostgresSourceStates, PostgresSummaries
from bot.store.postgres.ledger import PostgresLanes, PostgresLedger
from bot.store.postgres.mail import PostgresRecipients
from bot.store.postgres.maintenance import PostgresMaintenance
from bot.store.postgres.migrations import SCHEMA, applied_steps, expect_readable, migrate
from bot.store.postgres.outbox import PostgresOutbox
from bot.store.postgres.processes import PostgresBudgets, PostgresLeases, PostgresProcesses
from bot.store.postgres.recovery.rows import PostgresRows
from bot.store.postgres.vectors import PostgresVectors
from bot.store.postgres.workspaces import PostgresAssistants, PostgresPeople, PostgresWorkspaces
from bot.store.sqlite.copy.search_copy import SearchCopy

if TYPE_CHECKING:  # the library is there where the settings ask for it
    from bot.store.index.follower import IndexFollower


class PostgresStore:
    """bot.ports.store.Store on one database, with its maintenance, for any number of processes."""

    def __init__(
        self,
        address: str,
        folder: Path,
        *,
        most: int = 8,
        exclusive: bool = False,
        follower: "type[IndexFollower] | None" = None,
    ) -> None:
        """`folder` is this process's own, for its search copy; `most` is how many connections it may have.

        With `exclusive` no other process writes the copy; `follower` is the index beside it, where there is to be one.
        """
        self.folder = folder
        self.connections = connections = Connections(address, most=most)
        self.items = PostgresItems(connections)
        self.vectors = PostgresVectors(connections)
        self.index = SearchCopy(folder, self.items, self.vectors, exclusive=exclusive, follower=follower)
        self.items.followed = self.index.added
        self.source_states = PostgresSourceStates(connections)
        self.digests = PostgresDigests(connections)
        self.archive = PostgresArchive(connections)
        self.workspaces = PostgresWorkspaces(connections)
        self.people = PostgresPeople(connections)
        self.summaries = PostgresSummaries(connections)
        self.facts = PostgresFacts(connections)
        self.ledger = PostgresLedger(connections)
        self.lanes = PostgresLanes(connections)
        self.lane_jobs = PostgresLaneJobs(connections)
        self.outbox = PostgresOutbox(connections)
        self.rows = PostgresRows(connections)
        self.chats = PostgresChats(connections)
        self.recipients = PostgresRecipients(connections)
        self.assistants = PostgresAssistants(connections)
        self.leases = PostgresLeases(connections)
        self.budgets = PostgresBudgets(connections)
        self.processes = PostgresProcesses(connections)
        self.maintenance = PostgresMaintenance(connections)

    async def open(self) -> None:
        """Connect, and take the steps of the tables that are missing; the search copy is opened by who first asks it.

        Raises StoreError, also for a database that a newer version made unreadable for this one.
        """
        if self.connections.is_open:
            return
        await self.connections.open()
        try:
            self.maintenance.taken = await self.connections.bare(migrate)
            await self.connections.bare(prepare_jobs)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Finish what is being done and let go of everything."""
        await self.index.close()
        await self.lane_jobs.close()
        await self.connections.close()

    async def expect_usable(self) -> None:
        """Raise Superseded where a newer version has made the database unreadable for this one since it was opened."""
        expect_readable(await self.connections.read(applied_steps))

    async def described(self) -> str:
        """Return what the database is, in words: the server, the step of its tables, its connections. Raises StoreError."""
        server, used, most, step = await self.connections.read(_figures)
        return (
            f"PostgreSQL {server} at {self.connections.name}: tables at step {step} (this version's is {SCHEMA}),"
            f" {used} of {most} connections in use"
        )


async def _figures(db: Db) -> tuple[str, int, int, int]:
    asked = (
        "select current_setting('server_version'), (select count(*) from pg_stat_activity where backend_type ="
        " 'client backend'), current_setting('max_connections')::integer, (select max(number) from schema_steps)"
    )
    server, used, most, step = await (await db.execute(asked.encode())).fetchone() or ("", 0, 0, 0)
    return server, used, most, step
