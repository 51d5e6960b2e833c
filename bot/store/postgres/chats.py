"""The chats in PostgreSQL."""

from bot.store.postgres.connections import Tables


class PostgresChats(Tables):
    """bot.ports.chats.Chats."""
