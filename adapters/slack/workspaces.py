"""Slack's workspaces as the core names them. Pure."""

PLATFORM = "slack"


def workspace_of(team: str) -> str:
    """Return the workspace's name in the core: slack:T0123."""
    return f"{PLATFORM}:{team}"


def team_of(workspace: str) -> str:
    """Return Slack's identifier of a workspace of the core."""
    return workspace.partition(":")[2]
