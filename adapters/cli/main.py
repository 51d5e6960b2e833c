"""The `broadsheet` command.

Nothing heavy is imported until a command needs it, so that `broadsheet version` and a wrong option answer at once.
"""

import errno
import io
import logging
import os
import secrets
import shlex
import sys
from collections.abc import Sequence
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path

import click

from adapters.cli import ask, commands, database, init, mail, mcp, site
from adapters.cli.exits import Exit, sentence_of, status_of
from bot.errors import BotError

log = logging.getLogger(__name__)

_UNWRITABLE = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class _Commands(click.Group):
    """The commands; a link or an identifier in a command's place asks for the card of what it names."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        from bot.commands import names_item

        if args[0] not in self.commands and names_item(args[0]):
            args = ["ask", *args]
        if not ctx.resilient_parsing and self._is_search(args):
            raise click.UsageError(f"No such command '{args[0]}'. To search: broadsheet search {shlex.join(args)}", ctx)
        return super().resolve_command(ctx, args)

    def _is_search(self, words: Sequence[str]) -> bool:
        """Say whether these words begin with no command, nor with a misspelt one, and hold no option."""
        return not get_close_matches(words[0], self.commands) and not any(word.startswith("-") for word in words)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The settings file.")
@click.option("-v", "--verbose", is_flag=True, help="Write what is done to standard error.")
@click.option("--now", type=datetime.fromisoformat, hidden=True, help="Take this for the time, to replay a day.")
@click.pass_context
def cli(context: click.Context, config: Path | None, verbose: bool, now: datetime | None) -> None:
    """Your team's daily paper of papers.

    Settings are read from --config, $BROADSHEET_CONFIG, ./broadsheet.toml or ~/.config/broadsheet/broadsheet.toml, the
    first that is there; without any, the defaults hold.

    Exit status: 0 done, 1 a fault of ours, 2 wrong use, 3 wrong settings, 4 database, 5 a source did not deliver,
    6 something to mend (doctor, db check, a damaged installation).
    """
    context.obj = {"config": config, "verbose": verbose, "now": now}


for command in (
    init.init,
    *commands.COMMANDS,
    *ask.commands(),
    ask.ask,
    database.db,
    mail.mail,
    mcp.mcp,
    site.site,
):
    cli.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with a status from `Exit`; a person never sees a traceback of their own mistake."""
    sys.exit(int(_status(arguments)))


def _status(arguments: list[str] | None) -> int:
    output = sys.stdout
    for stream in (output, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")  # an encoding that lacks our dashes is no reason to fail
    try:
        return int(cli.main(args=arguments, prog_name="broadsheet", standalone_mode=False) or Exit.OK)
    except click.ClickException as error:
        error.show()
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED
    except BotError as error:
        click.echo(f"broadsheet: {sentence_of(error)}", err=True)
        return status_of(error)
    except SystemExit:
        if sys.stdout is output:
            raise
        return Exit.OK  # click met a broken pipe, for which it wraps the output and ends with status 1
    except OSError as error:
        return _unwritten(error) if error.errno in _UNWRITABLE else _unforeseen(error)
    except Exception as error:  # noqa: BLE001 - logged whole, told in a sentence
        return _unforeseen(error)


def _unwritten(error: OSError) -> Exit:
    # Nothing more goes to standard output, or Python would fail once again when it flushes at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:  # whoever read our output (`| head`) has gone; what they did not want is not an error
        return Exit.OK
    click.echo(f"broadsheet: The output cannot be written: {error.strerror}.", err=True)
    return Exit.USAGE


def _unforeseen(error: Exception) -> Exit:
    reference = secrets.token_hex(4)
    log.error("unforeseen [%s]", reference, exc_info=error)
    click.echo(f"broadsheet: something went wrong that should not have [{reference}]; the log above says what.", err=True)
    return Exit.BUG
