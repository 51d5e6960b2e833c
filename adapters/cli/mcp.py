"""`broadsheet mcp`: answers assistants by the Model Context Protocol."""

from typing import TYPE_CHECKING

import click

from adapters.cli.ask import local_person
from adapters.cli.session import clock_of, settings_of, with_app
from bot.errors import SettingsError, UsageError
from bot.models import AssistantAccess

if TYPE_CHECKING:
    from bot.app import App


@click.group(invoke_without_command=True)
@click.option(
    "--workspace", metavar="ID", help="Whose collection and digests: slack:T0123, discord:4567; else the terminal's."
)
@click.option("--channel", default="", metavar="ID", help="Which channel's digests it reads, and where it follows.")
@click.option("--person", default="", metavar="ID", help="For whom it saves.")
@click.option("--write", is_flag=True, help="Let it follow, save, and fetch what is not known yet.")
@click.pass_context
def mcp(context: click.Context, workspace: str | None, channel: str, person: str, write: bool) -> None:
    """Answer an assistant by the Model Context Protocol, over standard input and output.

    An assistant's program starts this; docs/agents.md says how each is told to. It reads beside a running service.
    """
    if context.invoked_subcommand is not None:
        return
    access = _access(workspace, channel, person, may_write=write)
    _check(context)
    clock = clock_of(context)

    async def work(app: "App") -> None:
        from adapters.mcp.stdio import serve

        await serve(app.handler_context, access, clock)

    with_app(context, work)


def _access(workspace: str | None, channel: str, person: str, *, may_write: bool) -> AssistantAccess:
    """Return for whom it asks who started it at this machine; without a workspace, for the terminal's own."""
    from bot.app import LOCAL

    if workspace in (None, LOCAL):
        if channel or person:
            raise UsageError("The terminal has one channel and one person.", hint="Name a --workspace with them.")
        return AssistantAccess(workspace=LOCAL, channel=LOCAL, person=local_person(), may_write=may_write)
    return AssistantAccess(workspace=str(workspace), channel=channel, person=person, may_write=may_write)


def _check(context: click.Context) -> None:
    """Raise SettingsError where the extra is not installed, or nothing was collected yet."""
    try:
        import adapters.mcp.server  # noqa: F401 - whether it is there
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("mcp"):
            raise
        raise SettingsError(
            "The library for assistants is not installed: `pipx install '.[mcp]'` or `pip install mcp` brings it."
        ) from error
    database = settings_of(context).database_path
    if not database.exists():
        raise SettingsError(f"There is no database at {database}: run `broadsheet collect` first, or name the settings.")
