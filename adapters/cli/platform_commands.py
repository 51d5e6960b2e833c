"""`broadsheet slack …` and `broadsheet discord …`: what an administrator needs to bring Broadsheet into a workspace."""

import base64
import binascii

import click

from adapters.cli.session import echo_json, settings_of
from bot.errors import UsageError


@click.group()
def slack() -> None:
    """Set up Slack."""


@slack.command()
@click.option("--socket", is_flag=True, help="For an app that needs no public address.")
@click.option("--url", default="", metavar="URL", help="For an app that Slack reaches at this address.")
@click.option("--name", default="Broadsheet", show_default=True, help="What people see the app as.")
@click.pass_context
def manifest(context: click.Context, socket: bool, url: str, name: str) -> None:
    """Print the manifest to paste into Slack: it makes the app with exactly our commands and the fewest rights."""
    if socket and url:
        raise UsageError("Give either --socket or --url: an app is heard in one way.")
    settings = settings_of(context).slack
    from adapters.slack.install.manifest import manifest as made

    echo_json(made(settings, socket=socket, url=url, name=name))


@click.group()
def discord() -> None:
    """Set up Discord."""


@discord.command()
@click.argument("application", default="", metavar="[APPLICATION]")
@click.pass_context
def invite(context: click.Context, application: str) -> None:
    """Print the link that brings the bot into a server, with the fewest permissions.

    APPLICATION is the application's identifier; without one it is read from the token in the settings.
    """
    from adapters.discord.install.invite import invite as made

    click.echo(made(application or _application_of(settings_of(context).discord.token.get_secret_value())))


def _application_of(token: str) -> str:
    """Return the identifier that is a token's first part, in base64 (discord.com/developers/docs/reference)."""
    first = token.partition(".")[0]
    try:
        found = base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        found = ""
    if not found.isdigit():
        raise UsageError("Name the application's identifier: it stands in Discord's developer portal.")
    return found
