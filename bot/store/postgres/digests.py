"""The digests in PostgreSQL."""

from bot.store.postgres.connections import Tables


class PostgresDigests(Tables):
    """bot.ports.digests.Digests."""


class PostgresArchive(Tables):
    """bot.ports.digests.Archive."""
