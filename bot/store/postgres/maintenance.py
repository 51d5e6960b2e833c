"""The maintenance in PostgreSQL."""

from bot.store.postgres.connections import Tables


class PostgresMaintenance(Tables):
    """bot.ports.maintenance.Maintenance."""
