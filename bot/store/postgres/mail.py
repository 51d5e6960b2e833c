"""The mail in PostgreSQL."""

from bot.store.postgres.connections import Tables


class PostgresRecipients(Tables):
    """bot.ports.mail.Recipients."""
