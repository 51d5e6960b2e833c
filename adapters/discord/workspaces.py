"""Discord's servers and direct conversations as the core names them. Pure."""

PLATFORM = "discord"
_DIRECT = "@"


def workspace_of(guild: int | str | None, person: int | str) -> str:
    """Return the workspace's name in the core: discord:<server>, or discord:@<person> in a direct conversation."""
    return f"{PLATFORM}:{guild}" if guild else f"{PLATFORM}:{_DIRECT}{person}"


def guild_of(workspace: str) -> str:
    """Return the server of a workspace of the core, "" for a direct conversation."""
    place = workspace.partition(":")[2]
    return "" if place.startswith(_DIRECT) else place
