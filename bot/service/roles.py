"""What a process is for: all of the service, or some of its roles, where several processes work on one database."""

import difflib

from bot.errors import SettingsError, UsageError
from bot.settings.load import Settings
from bot.settings.sections import ROLES, Role


def chosen_roles(settings: Settings, given: str = "") -> tuple[Role, ...]:
    """Return the roles of a process: those given, separated by commas, else those of the settings; in their usual order.

    Raises UsageError for a name that is none, and SettingsError where the database is a file and not all are chosen.
    """
    named = {_role(name.strip()) for name in given.split(",") if name.strip()} if given else set(settings.run.roles)
    chosen = tuple(role for role in ROLES if role in named)
    if not chosen:
        raise UsageError(f"A process needs a role. There are: {', '.join(ROLES)}.")
    if not settings.database_address and chosen != ROLES:
        raise SettingsError(
            "Roles are shared out among processes on one PostgreSQL database, and `database` is a file, on which one process"
            " does everything: leave out `--roles` and `roles` under [run], or set `database` to postgresql://…."
        )
    return chosen


def _role(name: str) -> Role:
    for role in ROLES:
        if role == name.lower():
            return role
    near = difflib.get_close_matches(name.lower(), ROLES, n=1)
    meant = f' Did you mean "{near[0]}"?' if near else ""
    raise UsageError(f'There is no role "{name}".{meant} There are: {", ".join(ROLES)}.')
