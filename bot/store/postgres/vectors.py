"""The vectors in PostgreSQL."""

from bot.store.postgres.connections import Tables


class PostgresVectors(Tables):
    """bot.ports.vectors.Vectors."""
