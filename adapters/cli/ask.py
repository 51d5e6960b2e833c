"""What one may ask in a chat, asked in the terminal: a subcommand for each command, and `ask` for whole lines."""

import getpass
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from difflib import get_close_matches
from shlex import quote
from typing import TYPE_CHECKING

import click

from adapters.cli.session import NOTHING_YET, as_json, console, echo_json, has_items, now_of, with_app
from bot.commands import TABLE, Usage, help_for, search_meant
from bot.errors import UsageError

if TYPE_CHECKING:
    from datetime import datetime

    from bot.app import App
    from bot.commands import Command
    from bot.models import Reply

# A query may begin with a minus: `broadsheet search -survey "KV cache"`. No `-h`, which click would find within `-theory`.
_TAKES_QUERIES = {"ignore_unknown_options": True, "help_option_names": ["--help"]}


@click.command(context_settings=_TAKES_QUERIES)
@click.argument("words", nargs=-1, required=True, metavar="LINE", type=click.UNPROCESSED)
@as_json
@click.pass_context
def ask(context: click.Context, words: Sequence[str], as_json: bool) -> None:
    """Ask as one would in a chat: broadsheet ask 'subscribe gpu-systems weekdays at 09:00'."""
    _answer(context, " ".join(words), as_json=as_json)


def commands() -> list[click.Command]:
    """Return a subcommand for each command that is declared; those of two words in a group."""
    made: dict[str, click.Command] = {}
    for usage in TABLE:
        first, _, second = usage.words.partition(" ")
        if not second:
            made[first] = _command(first, usage)
            continue
        group = made.setdefault(first, click.Group(first, help=f"Show, make and change a {first}."))
        assert isinstance(group, click.Group)  # noqa: S101 - no word is both
        group.add_command(_command(second, usage))
    return list(made.values())


def _command(name: str, usage: Usage) -> click.Command:
    @click.pass_context
    def callback(context: click.Context, /, words: Sequence[str], as_json: bool) -> None:
        if words == ("-h",):
            click.echo(context.get_help())
            return
        _answer(context, f"{usage.words} {line(words)}", as_json=as_json)

    metavar = usage.syntax.removeprefix(usage.words).strip()
    words = click.Argument(["words"], nargs=-1, metavar=metavar, type=click.UNPROCESSED)
    made = click.Command(
        name,
        callback=callback,
        params=[words],
        help=f"{usage.help}\n\n\b\nFor example: broadsheet {usage.example}",
        context_settings=_TAKES_QUERIES,
    )
    return as_json(made)


def line(words: Sequence[str]) -> str:
    """Join the words as the shell gave them; of several, one that holds a space was quoted there, and is here too.

    Raises click.NoSuchOption for `--word`: nobody negates twice, it is an option that was misspelt.
    """
    for word in words:
        if re.fullmatch(r"--[a-z][a-z-]*(=.*)?", word):
            name = word.partition("=")[0]
            raise click.NoSuchOption(name, possibilities=get_close_matches(name, ("--json", "--help")))
    if len(words) == 1:
        return words[0]
    return " ".join(f'"{word}"' if " " in word and not set(word) & set('":()') else word for word in words)


def _answer(context: click.Context, text: str, *, as_json: bool) -> None:
    from bot.commands import Now, Search, Similar, parse

    at = now_of(context)
    try:
        command = parse(text)

        async def work(app: "App") -> "tuple[Reply, bool]":
            reply = await _done(app, command, at)
            return reply, not isinstance(command, Now | Search | Similar) or await has_items(app)

        reply, enough = with_app(context, work)
    except UsageError as error:
        raise _with_help(error, text) from error
    _show(reply, at, as_json=as_json)
    if not enough and not as_json:
        click.echo(NOTHING_YET, err=True)


async def _done(app: "App", command: "Command", at: "datetime") -> "Reply":
    """Do what was asked; e-mail can be sent meanwhile where that is about an address."""
    from bot.commands import Confirm
    from bot.commands.words import is_mail_place
    from bot.handlers.handle import handle

    async with AsyncExitStack() as stack:
        if isinstance(command, Confirm) or is_mail_place(command.place):
            from adapters.cli.platforms import mail_opened

            opened = mail_opened(app.settings, app.platform_context(lambda: at), app.messengers)
            await stack.enter_async_context(opened)
        return await handle(app.handler_context, command, app.terminal(local_person()), at)


def local_person() -> str:
    """Return the name of who uses this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a user that nobody named
        return "local"


def _with_help(error: UsageError, text: str) -> UsageError:
    """Say below what went wrong where it stands how the command goes, and the search that may have been meant."""
    usage = help_for(text)
    told = f"How it goes: broadsheet help {usage.words}" if usage else ""
    meant = search_meant(text, error)
    search = f"To search: broadsheet search {quote(meant.search.query)}" if meant and "To search" not in error.hint else ""
    return UsageError(str(error), position=error.position, hint="\n".join(filter(None, (error.hint, told, search))))


def _show(reply: "Reply", at: "datetime", *, as_json: bool) -> None:
    from adapters.cli.render.reply import ReplyView

    if as_json:
        from adapters.cli.render.json_values import reply_value

        echo_json(reply_value(reply))
        return
    if reply.attachment is None:
        console().print(ReplyView(reply, at.date()), crop=False)  # an address stays whole
        return
    # The file alone goes to standard output, so that it can be sent into one; what is told about it goes beside.
    click.echo(reply.attachment.text, nl=False)
    console(stderr=True).print(ReplyView(replace(reply, attachment=None), at.date()))
