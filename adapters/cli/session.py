"""What the commands share: the settings, the service built for one command, and JSON."""

import asyncio
import errno
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from bot.app import App
    from bot.ports.messenger import Messenger
    from bot.settings.load import Settings

T = TypeVar("T")

NOTHING_YET = "Nothing has been collected yet: run `broadsheet collect` first."

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def now_of(context: click.Context) -> datetime:
    """The time, in UTC; that of the hidden option `--now` where it is given, to replay a day."""
    given: datetime | None = context.find_root().obj["now"]
    if given is None:
        return datetime.now(UTC)
    return given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)


def clock_of(context: click.Context, app: "App | None" = None) -> Callable[[], datetime]:
    """The clock, in UTC: the database's where several processes work on it, else this machine's.

    With `--now` it is one that shows that time at first and goes on from there.
    """
    begun, first = datetime.now(UTC), now_of(context)
    if context.find_root().obj["now"] is None:
        return app.database.clock if app is not None and app.database is not None else lambda: datetime.now(UTC)
    return lambda: first + (datetime.now(UTC) - begun)


def settings_of(context: click.Context, *, quiet: bool = True) -> "Settings":
    """Load the settings once, and send the log where they say; `quiet` keeps it to what went wrong unless -v is given."""
    from bot import log
    from bot.settings.load import load, secrets_of

    shared = context.find_root().obj
    if "settings" not in shared:
        shared["settings"] = load(shared["config"])
    found: Settings = shared["settings"]
    level = found.log.level if shared["verbose"] or not quiet else "ERROR"
    log.configure(level, found.log.format, secrets_of(found))
    return found


def with_app(
    context: click.Context,
    work: "Callable[[App], Awaitable[T]]",
    *,
    exclusive: bool = False,
    searching: bool = False,
    quiet: bool = True,
    messengers: "Mapping[str, Messenger] | None" = None,
) -> T:
    """Build the service, do the work with it, take it down again; return what the work returned.

    `exclusive` keeps a second writing service away from the database, and refuses while there is one; `searching` keeps a
    search copy from the beginning, where the database is PostgreSQL's; `messengers` post.
    """
    from bot.app import built

    settings = settings_of(context, quiet=quiet)

    async def run() -> T:
        async with built(settings, exclusive=exclusive, searching=searching, messengers=messengers) as app:
            return await work(app)

    return asyncio.run(run())


async def has_items(app: "App") -> bool:
    """Say whether anything was ever collected."""
    return (await app.store.items.counts())["items"] > 0


def echo_json(value: object) -> None:
    """Print a value as JSON, for scripts; in ASCII where the output's encoding has not all of Unicode."""
    plain = not str(getattr(sys.stdout, "encoding", "")).lower().startswith("utf")
    click.echo(json.dumps(value, ensure_ascii=plain, indent=2))


def console(*, stderr: bool = False) -> Any:
    """The terminal, or whatever standard output (or standard error) is."""
    from rich.console import Console

    class Terminal(Console):
        """One that leaves it to `main` what it means when nobody reads on; rich's own ends with status 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    return Terminal(highlight=False, markup=False, stderr=stderr)
