"""The outbox in PostgreSQL."""

from bot.store.postgres.connections import Tables


class PostgresOutbox(Tables):
    """bot.ports.outbox.Outbox."""
