"""The workspaces in PostgreSQL."""

from bot.store.postgres.connections import Tables


class PostgresWorkspaces(Tables):
    """bot.ports.workspaces.Workspaces."""


class PostgresPeople(Tables):
    """bot.ports.workspaces.People."""


class PostgresAssistants(Tables):
    """bot.ports.workspaces.Assistants."""
