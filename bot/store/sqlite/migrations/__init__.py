"""The tables and their migrations, and bringing a file to this version.

Each migration stays as it was released: files of every version are brought up from it.
"""

import contextlib

from sqlite_utils import Database

from bot.errors import StoreError
from bot.store.sqlite.migrations.before_arrivals import APPLICATION_ID
from bot.store.sqlite.migrations.since_arrivals import migrations

__all__ = ["is_current", "migrate", "migration_names", "migrations", "refuse_strangers"]


def migrate(db: Database) -> None:
    """Bring the database to this version's schema, wholly or not at all; the caller holds a transaction.

    Raises StoreError for a file of another program or of a newer Broadsheet.
    """
    refuse_strangers(db)
    migrations.apply(db)


def refuse_strangers(db: Database) -> None:
    """Raise StoreError when the file is not ours or was written by a newer version."""
    if db.execute("pragma application_id").fetchone()[0] != APPLICATION_ID and db.table_names():
        raise StoreError("The database file belongs to another program; give Broadsheet a path of its own.")
    newer = {migration.name for migration in migrations.applied(db)} - set(migration_names())
    if newer:
        raise StoreError(
            f"The database was written by a newer Broadsheet (it has {min(newer)}); install that version or later."
        )


def migration_names() -> list[str]:
    """Return the names of this version's migrations, in order."""
    with contextlib.closing(Database(memory=True)) as nothing:
        return [migration.name for migration in migrations.pending(nothing)]


def is_current(db: Database) -> bool:
    """Say whether nothing is left to migrate; raises StoreError as `migrate` does."""
    refuse_strangers(db)
    return db.table(migrations.migrations_table).exists() and not migrations.pending(db)
