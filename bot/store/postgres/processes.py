"""The processes in PostgreSQL."""

from bot.store.postgres.connections import Tables


class PostgresLeases(Tables):
    """bot.ports.processes.Leases."""


class PostgresBudgets(Tables):
    """bot.ports.processes.Budgets."""


class PostgresProcesses(Tables):
    """bot.ports.processes.Processes."""
