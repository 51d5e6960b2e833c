"""`broadsheet mcp`: answers assistants by the Model Context Protocol."""

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import click

from adapters.cli.mcp_tokens import access_meant, token
from adapters.cli.session import clock_of, settings_of, with_app
from bot.errors import SettingsError, UsageError

if TYPE_CHECKING:
    from bot.app import App
    from bot.settings.load import Settings

PORT = 8766


@click.group(invoke_without_command=True)
@click.option(
    "--workspace", metavar="ID", help="Whose collection and digests: slack:T0123, discord:4567; else the terminal's."
)
@click.option("--channel", default="", metavar="ID", help="Which channel's digests it reads, and where it follows.")
@click.option("--person", default="", metavar="ID", help="For whom it saves.")
@click.option("--write", is_flag=True, help="Let it follow, save, and fetch what is not known yet.")
@click.option("--http", is_flag=True, help="Answer over HTTP, each request as whom its token stands for.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="HOST", help="With --http: where to listen.")
@click.option(
    "--port", default=PORT, show_default=True, type=click.IntRange(0, 65_535), help="With --http; 0 for a free one."
)
@click.option("--name", "names", multiple=True, metavar="HOST", help="With --http: by which name it is reached; repeatable.")
@click.pass_context
def mcp(
    context: click.Context,
    workspace: str | None,
    channel: str,
    person: str,
    write: bool,
    http: bool,
    host: str,
    port: int,
    names: tuple[str, ...],
) -> None:
    """Answer an assistant by the Model Context Protocol, over standard input and output.

    An assistant's program starts this; docs/agents.md says how each is told to. It reads beside a running service.
    """
    if context.invoked_subcommand is not None:
        return
    is_named = bool(workspace or channel or person or write)
    if http and is_named:
        raise UsageError(
            "Over HTTP each request's token says for whom it asks.",
            hint="`broadsheet mcp token create NAME` takes --workspace, --channel, --person and --write.",
        )
    if http:
        work = _over_http(context, (host, port), names)
    else:
        work = _over_pipes(context, workspace, channel, person, write=write, is_named=is_named)
    _check(context)
    context.find_root().obj["settings"] = asking_no_model(settings_of(context, quiet=not http))
    with_app(context, work, quiet=not http)


mcp.add_command(token)

Work = Callable[["App"], Awaitable[None]]


def _over_http(context: click.Context, address: tuple[str, int], names: tuple[str, ...]) -> Work:
    clock = clock_of(context)

    async def work(app: "App") -> None:
        from adapters.mcp.http import serve

        def told(url: str) -> None:
            click.echo(f"Assistants are answered at {url}, by the tokens of `broadsheet mcp token list`.", err=True)

        await serve(app.handler_context, clock, address, names, told)

    return work


def _over_pipes(
    context: click.Context, workspace: str | None, channel: str, person: str, *, write: bool, is_named: bool
) -> Work:
    from bot.settings.load import MCP_TOKEN, mcp_token

    text, clock = mcp_token(os.environ), clock_of(context)
    if text and is_named:
        raise UsageError(f"{MCP_TOKEN} says for whom the assistant asks.", hint="Leave out the options, or the variable.")
    access = None if text else access_meant(workspace, channel, person, may_write=write)

    async def work(app: "App") -> None:
        from adapters.mcp.stdio import by_token, of, serve

        context = app.handler_context
        await serve(context, of(access) if access else await by_token(context, text, clock), clock)

    return work


def asking_no_model(settings: "Settings") -> "Settings":
    """Return the settings by which no language model is asked: a program that calls on would use up the digests' budget."""
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"daily_tokens": 0})})


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
