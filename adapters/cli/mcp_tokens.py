"""`broadsheet mcp token …`: by which tokens assistants ask over HTTP, or in another's name."""

from typing import TYPE_CHECKING, Any

import click

from adapters.cli.session import as_json, echo_json, now_of, with_app
from bot.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.app import App
    from bot.models import AssistantAccess, AssistantToken

NONE_YET = "No assistant has a token: `broadsheet mcp token create NAME` gives one."


@click.group()
def token() -> None:
    """Give assistants tokens, list them, and revoke them."""


@token.command()
@click.argument("name")
@click.option(
    "--workspace", metavar="ID", help="Whose collection and digests: slack:T0123, discord:4567; else the terminal's."
)
@click.option("--channel", default="", metavar="ID", help="Which channel's digests it reads, and where it follows.")
@click.option("--person", default="", metavar="ID", help="For whom it saves.")
@click.option("--write", is_flag=True, help="Let it follow, save, and fetch what is not known yet.")
@click.pass_context
def create(context: click.Context, name: str, workspace: str | None, channel: str, person: str, write: bool) -> None:
    """Print a new token, which is told nowhere again, and keep its hash under NAME."""
    access = access_meant(workspace, channel, person, may_write=write)

    async def work(app: "App") -> tuple[str, bool]:
        from bot.handlers.assistants import give_token, idle_channel

        given = await give_token(app.store, name, access, now_of(context))
        return given, await idle_channel(app.store, access)

    given, is_idle = with_app(context, work)
    click.echo(given)
    click.echo("Keep it as a password: it is told nowhere again. Whoever has it asks as it stands for.", err=True)
    if is_idle:
        click.echo(f"Nothing is subscribed in {access.channel}, so there is no digest to read yet.", err=True)


@token.command("list")
@as_json
@click.pass_context
def list_tokens(context: click.Context, as_json: bool) -> None:
    """List the tokens with what each opens, and the last day on which something was asked by it."""

    async def work(app: "App") -> "Sequence[AssistantToken]":
        return await app.store.assistants.every()

    found = with_app(context, work)
    if as_json:
        echo_json([_values(each) for each in found])
        return
    for line in [_line(each) for each in found] or [NONE_YET]:
        click.echo(line)


@token.command()
@click.argument("name")
@click.pass_context
def revoke(context: click.Context, name: str) -> None:
    """End the token called NAME: what is asked by it from now on is refused."""

    async def work(app: "App") -> bool:
        return await app.store.assistants.revoke(name, now_of(context))

    if not with_app(context, work):
        raise UsageError("No token of that name holds.", hint="`broadsheet mcp token list` names them.")
    click.echo(f"The token {name} opens nothing any more.")


def access_meant(workspace: str | None, channel: str, person: str, *, may_write: bool) -> "AssistantAccess":
    """Return for whom an assistant asks; without a workspace, for the terminal's own. Raises UsageError."""
    from adapters.cli.ask import local_person
    from bot.app import LOCAL
    from bot.models import AssistantAccess

    if workspace in (None, LOCAL):
        if channel or person:
            raise UsageError("The terminal has one channel and one person.", hint="Name a --workspace with them.")
        return AssistantAccess(workspace=LOCAL, channel=LOCAL, person=local_person(), may_write=may_write)
    return AssistantAccess(workspace=str(workspace), channel=channel, person=person, may_write=may_write)


def _values(token: "AssistantToken") -> dict[str, Any]:
    access = token.access
    return {
        "name": token.name,
        "workspace": access.workspace,
        "channel": access.channel,
        "person": access.person,
        "may_write": access.may_write,
        "made_at": token.made_at.isoformat(),
        "used_on": token.used_on and token.used_on.isoformat(),
        "revoked_at": token.revoked_at and token.revoked_at.isoformat(),
    }


def _line(token: "AssistantToken") -> str:
    access = token.access
    whose = [access.workspace, access.channel, access.person]
    used = f"used last on {token.used_on.isoformat()}" if token.used_on else "not used yet"
    ended = [f"revoked on {token.revoked_at.date().isoformat()}"] if token.revoked_at else []
    told = [token.name, *filter(None, whose), "reads and writes" if access.may_write else "reads"]
    return " · ".join([*told, f"made on {token.made_at.date().isoformat()}", used, *ended])
