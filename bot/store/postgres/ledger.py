"""The ledger in PostgreSQL."""

from bot.store.postgres.connections import Tables


class PostgresLedger(Tables):
    """bot.ports.ledger.Ledger."""


class PostgresLanes(Tables):
    """bot.ports.lanes.Lanes."""
