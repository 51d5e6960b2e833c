"""`broadsheet mail …`: what comes back by mail, one message at a time, and addresses in all workspaces at once."""

import logging
import os
import sys
from typing import TYPE_CHECKING

import click

from adapters.cli.session import now_of, settings_of, with_app
from bot.errors import BotError, UsageError
from bot.wording import counted

if TYPE_CHECKING:
    from bot.app import App

log = logging.getLogger(__name__)

TRY_AGAIN = os.EX_TEMPFAIL  # 75 of sysexits.h: the mail server keeps the message, and gives it again later
_LIFTED = {"bounced": "what came back is forgotten", "complained": "the complaint of who reads it is lifted"}
_OFF = "No e-mail is set up: set `host` and `sender` under [email], or take the alias away."


@click.group()
def mail() -> None:
    """Take what comes back by mail; let an address be written to again, or forget it, in every workspace."""


@mail.command()
@click.pass_context
def receive(context: click.Context) -> int:
    """Read one message from standard input: a bounce, a complaint, or a mail that unsubscribes.

    For the pipe or the alias of the address `inbox` in [email]. What is not understood is left alone. Ends with 0, or with
    75 where the database cannot be written now, or [email] or the settings are not there: mail servers try again then.
    """
    from adapters.email.receive import MOST, read
    from bot.handlers.surfaces.returned import follow_up

    raw = sys.stdin.buffer.read(MOST)
    while sys.stdin.buffer.read(MOST):  # who writes into a pipe that nobody reads fails
        pass
    try:
        settings = settings_of(context, quiet=False)
    except BotError as error:
        return _again(error)
    if not settings.email.enabled:
        return _again(_OFF)
    returned = read(raw, settings.email.domain)
    if returned is None:
        log.info("a mail came in that says nothing to us")
        return 0
    kind = type(returned).__name__

    async def work(app: "App") -> str:
        return await follow_up(app.handler_context, returned, now_of(context))

    try:
        done = with_app(context, work, quiet=False)
    except BotError as error:
        return _again(error)
    log.info("%s", done or f"a mail came in ({kind}) that proves nothing")
    return 0


@mail.command()
@click.argument("address")
@click.pass_context
def allow(context: click.Context, address: str) -> None:
    """Let ADDRESS be written to again after bounces or a complaint, in every workspace.

    That it unsubscribed or was forgotten stays: who reads it confirms it again by a new code.
    """

    async def work(app: "App") -> tuple[str, ...]:
        return tuple(await app.store.recipients.allow(_normal(address)))

    lifted = [_LIFTED[each] for each in with_app(context, work)]
    if not lifted:
        click.echo("Neither bounces nor a complaint kept anything from that address.")
        return
    click.echo(f"Mail may be sent there again: {' and '.join(lifted)}.")
    click.echo("What was paused for it goes on by itself within six hours. What a complaint ended is subscribed anew.")


@mail.command()
@click.argument("address")
@click.confirmation_option(prompt="The address is erased from every workspace, with its subscriptions and codes. Go on?")
@click.pass_context
def forget(context: click.Context, address: str) -> None:
    """Erase ADDRESS from every workspace: what is subscribed there, and codes that wait, also of one that was mistyped.

    What is kept is a hash that tells that it was forgotten.
    """
    from bot.handlers.addresses.forgetting import forget_everywhere

    async def work(app: "App") -> int:
        return await forget_everywhere(app.handler_context, _normal(address), now_of(context))

    ended = with_app(context, work)
    click.echo(f"The address is erased; {counted(ended, 'subscription')} ended with it.")


def _normal(address: str) -> str:
    """Return the address; raises UsageError, which does not quote what was typed."""
    from bot.models import normal_address

    try:
        return normal_address(address)
    except ValueError:
        raise UsageError("That is no e-mail address.") from None


def _again(why: BotError | str) -> int:
    log.warning("a mail is to be given again later: %s", why)
    return TRY_AGAIN
