"""`broadsheet db …`: the database as a thing to keep: migrate, check, embed, back up, restore, prune, vacuum."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapters.cli.exits import Exit
from adapters.cli.session import as_json, echo_json, now_of, settings_of, with_app
from bot.errors import EmbeddingUnavailable, UsageError

if TYPE_CHECKING:
    from bot.app import App
    from bot.ports.vectors import Embedded
    from bot.store.transfer import Moved

_SQLITE = b"SQLite format 3\0"  # how each of its files begins (https://sqlite.org/fileformat2.html)
_DUMP = b"PGDMP"  # and each that pg_dump writes in its custom format

_OFF = 'Embeddings are switched off: set "use" in [embeddings] of the settings to "on" or "fast" first.'
_AGAIN = "Mend what `broadsheet doctor` says of it and run this again: it goes on where it was."


@click.group()
def db() -> None:
    """Look after the database."""


@db.command()
@click.pass_context
def migrate(context: click.Context) -> None:
    """Bring the database to this version's schema; every other command does so too."""

    async def work(app: "App") -> tuple[str, Sequence[str]]:
        """Opening it is all there is to do."""
        return app.maintenance.name, app.maintenance.taken

    name, taken = with_app(context, work, exclusive=True)
    for step in taken:
        click.echo(f"Took the step: {step}.")
    click.echo(f"{name} is up to date.")


@db.command()
@as_json
@click.pass_context
def check(context: click.Context, as_json: bool) -> int:
    """Verify the database and its search index."""

    async def work(app: "App") -> tuple[list[str], dict[str, int]]:
        return await app.maintenance.check(), dict(await app.maintenance.statistics())

    faults, counts = with_app(context, work)
    if as_json:
        echo_json({"sound": not faults, "faults": faults, "counts": counts})
    else:
        for fault in faults or ["The database is sound."]:
            click.echo(fault)
        click.echo(" · ".join(f"{name} {count:,}" for name, count in counts.items()))
    return Exit.UNWELL if faults else Exit.OK


@db.command()
@click.pass_context
def embed(context: click.Context) -> None:
    """Give every item its vector, so that it is found by its meaning; the service does so by itself, at leisure."""
    from adapters.cli.progress import ProgressBars
    from bot.embed.backfill import in_words

    async def work(app: "App") -> "Embedded":
        filler = app.filler()
        if filler is None:
            raise UsageError(_OFF)
        with ProgressBars() as bars:
            return await filler.fill(progress=bars.embedded)

    try:
        click.echo(f"{in_words(with_app(context, work))}.")
    except EmbeddingUnavailable as error:
        raise EmbeddingUnavailable(f"{error} {_AGAIN}", retry_after=error.retry_after) from error


@db.command()
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_context
def backup(context: click.Context, path: Path) -> None:
    """Write a consistent copy to PATH; the service may go on running. An older backup there is replaced."""
    settings = settings_of(context)
    _refuse_to_replace(path, settings.database_path, _DUMP if settings.database_address else _SQLITE)

    async def work(app: "App") -> None:
        await app.maintenance.backup(path)

    with_app(context, work)
    click.echo(f"Wrote {path} ({path.stat().st_size / 2**20:,.1f} MiB).")


def _refuse_to_replace(path: Path, database: Path, beginning: bytes) -> None:
    """A copy in the place of the open database would take all that is written from then on with the old file.

    A backup is known by how it begins. One of the other kind of database is left alone: it may be the database of before.
    """
    try:
        if database.exists() and path.samefile(database):
            raise UsageError(f"{path} is the database itself; a backup needs a place of its own.")
        with path.open("rb") as file:
            begins = file.read(len(beginning))
    except OSError:  # not there, or not to be read: the store says what is wrong when it writes
        return
    if begins not in (b"", beginning):
        raise UsageError(f"{path} is there and is no backup of this database; it is left as it is. Choose another name.")


@db.command(name="copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@as_json
@click.pass_context
def copy_rows(context: click.Context, source: str, target: str, as_json: bool) -> int:
    """Copy everything from the database FROM to the database TO, and compare every row.

    Each is a file, an address (postgresql://user@host/name), or the word `settings` for that of the settings. The
    password of an address is better left to ~/.pgpass or PGPASSWORD: other users of this machine can read a command
    line. Stop every service on both first. What is stopped in the middle goes on where it was when it is run again.
    """
    settings = settings_of(context)
    own = settings.database_address or str(settings.database_path)
    names = [own if each == "settings" else each for each in (source, target)]
    if names[0] == names[1]:
        raise UsageError("FROM and TO are the same database.")
    moved = asyncio.run(_copied(*names))
    if as_json:
        echo_json({"rows": moved.rows, "written": moved.written, "differences": moved.differences})
    elif moved.differences:
        click.echo(f"{moved.differences:,} parts are not the same: something writes to one of them. Run it again.")
    else:
        click.echo(f"Copied {moved.written:,} rows; all {moved.rows:,} were compared and are the same.")
    return Exit.UNWELL if moved.differences else Exit.OK


async def _copied(source: str, target: str) -> "Moved":
    from adapters.cli.progress import RowsBar
    from bot.app import bare_store
    from bot.store.transfer import moved

    async with bare_store(source, is_new=False) as theirs, bare_store(target, is_new=True) as ours:
        with RowsBar() as bar:
            return await moved((theirs.rows, theirs.facts), (ours.rows, ours.facts), bar.moved)


@db.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.confirmation_option(prompt="The present database is set aside and this copy takes its place. Go on?")
@click.pass_context
def restore(context: click.Context, path: Path) -> None:
    """Put the backup at PATH in the database's place; what was there is kept beside it."""
    from bot.app import put_back

    # Not quiet: it is said where an earlier restore that was interrupted is finished first.
    settings = settings_of(context, quiet=False)
    done = asyncio.run(put_back(settings, path, now_of(context)))
    click.echo(f"Restored {done.name}." + (f" The old one is {done.aside}." if done.aside else ""))
    if done.dropped_by:
        click.echo(f"When nobody misses it, drop it by psql: {done.dropped_by};")
    if settings.database_address:  # opening it brings its tables up to date, and notes what may have been posted since
        with_app(context, _nothing, quiet=False)


async def _nothing(_: "App") -> None:
    """Opening it is all there is to do."""


@db.command()
@click.argument("choice", type=click.Choice(["keep", "aside"]))
@click.pass_context
def wal(context: click.Context, choice: str) -> None:
    """Say whether the write-ahead log belongs to the database, when Broadsheet asks: keep it, or put it aside."""
    from bot.app import file_store_of

    store = file_store_of(settings_of(context))
    aside = store.maintenance.settle_log(keep=choice == "keep")
    click.echo(f"The log is now {aside}." if aside is not None else "The database is opened with what lies beside it.")


@db.command()
@click.pass_context
def vacuum(context: click.Context) -> None:
    """Give unused space back to the disk."""

    async def work(app: "App") -> int:
        return await app.maintenance.vacuum()

    click.echo(f"Saved {with_app(context, work, exclusive=True) / 2**20:,.1f} MiB.")


@db.command()
@click.pass_context
def prune(context: click.Context) -> None:
    """Drop what is older than the settings keep; `run` does it every day."""
    keep = settings_of(context).keep
    at = now_of(context)

    async def work(app: "App") -> dict[str, int]:
        items, readings = at - timedelta(days=keep.items_days), (at - timedelta(days=keep.readings_days)).date()
        return dict(await app.maintenance.prune(items_before=items, readings_before=readings, now=at))

    dropped = with_app(context, work)
    click.echo("Dropped " + ", ".join(f"{count:,} {name}" for name, count in dropped.items()) + ".")
