"""`broadsheet mail …`: what comes back by mail, one message at a time."""

import logging
import os
import sys
from typing import TYPE_CHECKING

import click

from adapters.cli.session import now_of, settings_of, with_app
from bot.errors import BotError

if TYPE_CHECKING:
    from bot.app import App

log = logging.getLogger(__name__)

TRY_AGAIN = os.EX_TEMPFAIL  # 75 of sysexits.h: the mail server keeps the message, and gives it again later
_OFF = "No e-mail is set up: set `host` and `sender` under [email], or take the alias away."


@click.group()
def mail() -> None:
    """Take what comes back by mail."""


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


def _again(why: BotError | str) -> int:
    log.warning("a mail is to be given again later: %s", why)
    return TRY_AGAIN
