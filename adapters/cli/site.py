"""`broadsheet site …`: what everybody may read, as files for any host of files."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from adapters.cli.session import as_json, clock_of, echo_json, now_of, with_app
from bot.errors import UsageError
from bot.wording import counted, listed

if TYPE_CHECKING:
    from adapters.web.static import Built
    from bot.app import App


@click.group()
def site() -> None:
    """Write what everybody may read as files."""


@site.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--workspace", default="", metavar="NAME", help="Of several with public channels, this one.")
@click.option("--url", default="", metavar="URL", help="Where the folder will be read; for feeds and previews.")
@as_json
@click.pass_context
def build(context: click.Context, folder: Path, workspace: str, url: str, as_json: bool) -> None:
    """Write the public part of the archive into FOLDER: pages that any web server sends as they are.

    Only channels that were made public (`settings web public`) are in it. The folder is replaced whole, or not at all; one
    that holds anything else is refused. It may run beside the service.
    """
    _require_address(url)
    from adapters.cli.platforms import asked
    from adapters.web.folder import replaced
    from adapters.web.static import build as built
    from adapters.web.static import chosen_workspace
    from bot.handlers.links import LinkSigner

    with replaced(folder) as fresh:

        async def work(app: "App") -> "Built":
            whose = await chosen_workspace(app.handler_context, workspace)
            signer = LinkSigner(await app.store.recipients.key(), url)
            platform = whose.partition(":")[0]
            async with asked(app.settings, app.platform_context(clock_of(context)), app.messengers, platform):
                return await built(app.handler_context, signer, whose, fresh, now_of(context), url=url)

        found = with_app(context, work)
    echo_json(_values(found, folder)) if as_json else click.echo("\n".join(_lines(found, folder, url)))


def _require_address(url: str) -> None:
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment):
        raise UsageError(f"{url} is no address of pages; one looks like https://papers.lab.example/archive")


def _values(built: "Built", folder: Path) -> dict[str, Any]:
    return {"folder": str(folder), **asdict(built)}


def _lines(built: "Built", folder: Path, url: str) -> list[str]:
    named = ((built.pages, "page"), (built.feeds, "feed"), (built.pictures, "picture"))
    counts = listed([counted(count, name) for count, name in named if count])
    said = [f"{counts} written to {folder}."]
    said.append("Left out: search, saved lists and forms, which need a server.")
    if not url:
        said.append("Left out: feeds and the pictures beside links, which need a whole address: give it with --url.")
    if built.closed:
        channels = counted(built.closed, "channel")
        said.append(f"Left out: {channels} made public before, where not everybody may read now.")
    if built.gone:
        said.append(f"{counted(built.gone, 'permalink')} of what is not kept any more: the page says so.")
    return said
