"""The key_values in PostgreSQL."""

from bot.store.postgres.connections import Tables


class PostgresFacts(Tables):
    """bot.ports.facts.Facts."""


class PostgresSourceStates(Tables):
    """bot.ports.source.SourceStates."""


class PostgresSummaries(Tables):
    """bot.ports.summaries.Summaries."""
