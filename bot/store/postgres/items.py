"""The items in PostgreSQL."""

from bot.store.postgres.connections import Tables


class PostgresItems(Tables):
    """bot.ports.items.Items."""
