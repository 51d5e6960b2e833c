"""The tables, in numbered steps that are never changed once released.

A step first adds what the new version needs and leaves what the old one reads (expand); a later version takes away what
nobody reads any more (contract). `oldest_reader` says which is the oldest version of the tables whose processes may go on
beside it: a process refuses only a database whose steps are past it so.
"""

from dataclasses import dataclass

from bot.errors import StoreError, Superseded
from bot.store.postgres.connections import Db
from bot.store.postgres.migrations import items, ledger, people, processes


@dataclass(frozen=True, slots=True)
class Step:
    """One change of the tables, in one transaction. No step writes rows: an empty table is what a new database has."""

    number: int
    name: str
    oldest_reader: int  # the number of the oldest step whose programs can still work on the database after this one
    statements: tuple[str, ...]


STEPS = (Step(1, "tables", 1, (*items.TABLES, *ledger.TABLES, *people.TABLES, *processes.TABLES)),)
SCHEMA = STEPS[-1].number
OLDEST_SERVER = 14  # of PostgreSQL's versions: older ones are mended by nobody any more

_STEPS_TABLE = """
create table if not exists schema_steps (
    number integer primary key,
    name text not null,
    oldest_reader integer not null,
    applied_at timestamptz not null default clock_timestamp()
)"""
# One process at a time looks which steps are missing; the others wait for it.
LOCK = "hashtextextended('broadsheet migrations', 0)"
_LOCK = f"select pg_advisory_lock({LOCK})"
_UNLOCK = f"select pg_advisory_unlock({LOCK})"


async def migrate(db: Db, steps: tuple[Step, ...] = STEPS) -> list[str]:
    """Take the steps that are missing and return their names; `db` is in no transaction.

    Raises Superseded, and changes nothing, for a database that a newer version has made unreadable for this one; StoreError
    for a server that is too old.
    """
    expect_server(db.info.server_version)
    await db.execute("set statement_timeout = 0")
    await db.execute("set lock_timeout = '10min'")  # as long as another process may take for the steps
    await db.execute(_LOCK)
    try:
        await db.execute(_STEPS_TABLE)
        applied = await applied_steps(db)
        expect_readable(applied, steps[-1].number)
        missing = [step for step in steps if step.number not in applied]
        for step in missing:
            async with db.transaction():
                for statement in step.statements:
                    await db.execute(statement.encode())
                values = [step.number, step.name, step.oldest_reader]
                await db.execute("insert into schema_steps (number, name, oldest_reader) values (%s, %s, %s)", values)
        return [step.name for step in missing]
    finally:
        await db.execute(_UNLOCK)
        await db.execute("reset lock_timeout")
        await db.execute("reset statement_timeout")


async def applied_steps(db: Db) -> dict[int, int]:
    """Return the numbers of the steps that were taken, each with its oldest reader; none where there are no tables."""
    cursor = await db.execute("select to_regclass('schema_steps')")
    if (await cursor.fetchone()) == (None,):
        return {}
    return dict(await (await db.execute("select number, oldest_reader from schema_steps order by number")).fetchall())


def expect_server(version: int) -> None:
    """Raise StoreError for a server that is too old, by its version as libpq tells it."""
    if (major := version // 10_000) < OLDEST_SERVER:
        raise StoreError(f"The server is PostgreSQL {major}, and has to be {OLDEST_SERVER} or newer.")


def expect_readable(applied: dict[int, int], ours: int = SCHEMA) -> None:
    """Raise Superseded where the steps that were taken are past a program made for step `ours`."""
    oldest = max(applied.values(), default=0)
    if oldest > ours:
        raise Superseded(
            f"The database was upgraded by a newer Broadsheet (its tables are at step {max(applied)}, and nobody older than"
            f" step {oldest} may use them; this one is at {ours}). Install that version, or restore the backup made before."
        )
