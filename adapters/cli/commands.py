"""The commands of `broadsheet`: each translates its options, calls the core, and prints what comes back."""

import asyncio
import base64
import binascii
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adapters.cli.exits import Exit
from adapters.cli.session import (
    NOTHING_YET,
    as_json,
    clock_of,
    console,
    echo_json,
    has_items,
    now_of,
    settings_of,
    with_app,
)
from bot import __version__
from bot.errors import EmbeddingUnavailable, SettingsError, UsageError
from bot.models import MOST_ENTRIES, Layout

if TYPE_CHECKING:
    from adapters.cli.progress import ProgressBars
    from bot.app import App
    from bot.collect.collector import Collected
    from bot.models import Digest, Topic
    from bot.service.health import ServiceHealth
    from bot.settings.sections import HealthSettings, Role

log = logging.getLogger(__name__)

brief = click.option(
    "brief", "--brief/--full", "--compact", default=True, help="A line or two for each entry, or each as a card."
)
html = click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Also write a page that any browser shows."
)


class DaysType(click.FloatRange):
    """A number of days; the range alone lets "nan" through."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or fail as click does."""
        number = super().convert(value, param, ctx)
        return self.fail(f"{value} is not a number of days.", param, ctx) if number != number else number


@click.command()
@as_json
def version(as_json: bool) -> None:
    """Print the version."""
    echo_json({"version": __version__}) if as_json else click.echo(f"broadsheet {__version__}")


@click.command()
@click.argument("names", nargs=-1, metavar="[SOURCE]...")
@click.option("--force", is_flag=True, help="Ask sources that are resting after a failure, too.")
@as_json
@click.pass_context
def collect(context: click.Context, names: Sequence[str], force: bool, as_json: bool) -> int:
    """Fetch what is new from every source.

    Or from those that are named: for example arxiv, or feed:NAME.
    """
    from adapters.cli.progress import ProgressBars

    async def work(app: "App") -> list["Collected"]:
        if not app.sources:
            raise SettingsError("Every source is switched off in the settings: there is nothing to collect from.")
        with ProgressBars(shown=not as_json) as bars:
            found = await app.collector.collect(app.sources_named(names), now_of(context), force=force, progress=bars.update)
            await _embed_some(app, bars)
            return found

    results = with_app(context, work, exclusive=True)
    if as_json:
        echo_json([_collected(result) for result in results])
    else:
        _print_collected(results)
    return Exit.SOURCE if any(result.error is not None or not result.asked for result in results) else Exit.OK


async def _embed_some(app: "App", bars: "ProgressBars") -> None:
    """Give the newest items their vectors. An endpoint that gives none is told of and fails nothing: it is asked again."""
    filler = app.filler()
    try:
        if filler is not None:
            await filler.fill_some(bars.embedded)
    except EmbeddingUnavailable as error:
        click.echo(str(error), err=True)


@click.command()
@click.argument("names", nargs=-1, metavar="[TOPIC]...")
@click.option("--days", type=DaysType(min=0.05, max=366), help="Look back so many days instead of to the last digest.")
@click.option("--entries", type=click.IntRange(1, MOST_ENTRIES), help="At most so many entries.")
@click.option("--record", is_flag=True, help="Count the entries as posted: later digests leave them out.")
@brief
@html
@as_json
@click.pass_context
def digest(context: click.Context, /, names: Sequence[str], html: Path | None, as_json: bool, **options: Any) -> None:
    """Print the digest of each TOPIC, or of those subscribed here; without any, of the topics in the settings."""

    async def work(app: "App") -> tuple[list["Digest"], bool]:
        chosen = names or await app.followed()
        if not chosen:
            raise UsageError("No topic is followed: name one here, subscribe to one, or set `topics`.")
        window = timedelta(days=options["days"]) if options["days"] else None
        requests = [await app.request(name, entries=options["entries"], window=window) for name in chosen]
        digests = await app.publisher.publish(requests, now_of(context), record=options["record"])
        return digests, await has_items(app)

    digests, collected = with_app(context, work)
    _show(digests, layout=_layout(brief=options["brief"]), as_json=as_json)
    _also_write(digests, html, as_json=as_json)  # after them: a page that fails costs no digest
    if not collected and not as_json:
        click.echo(NOTHING_YET, err=True)


@click.command()
@click.option(
    "--as",
    "platform",
    type=click.Choice(["terminal", "slack", "discord", "email"]),
    help="Show the digests only as this one gets them.",
)
@click.option("--relay", metavar="HOST:PORT", help="Also send them as e-mails through a mail server on this machine.")
@html
@brief
@as_json
def demo(platform: str | None, relay: str | None, html: Path | None, brief: bool, as_json: bool) -> None:
    """Print one day's digests from recorded answers: no network, no settings, nothing kept.

    At the end the first of them stands as Slack and Discord would get it, in short. With --as and --json the messages are
    printed as the platform is sent them.
    """
    from adapters.cli.demo.recorded_run import run_demo

    digests, layout = run_demo(shown=not as_json), _layout(brief=brief)
    page = html or (None if as_json else Path("demo.html"))
    if platform == "email" or relay:
        _show_mails(digests, relay, as_json=as_json)
        page = html
    elif platform in ("slack", "discord"):
        _show_messages(platform, digests, layout=layout, as_json=as_json)
        page = html
    else:
        _show(digests, layout=layout, as_json=as_json)
        if platform is None and not as_json:
            _show_excerpts(digests[0], layout=layout)
    _also_write(digests, page, as_json=as_json)


def _show_mails(digests: Sequence["Digest"], relay: str | None, *, as_json: bool) -> None:
    """Print the mails of the digests as plain text, or say where they were sent."""
    from adapters.cli.demo.mails import as_sent, sent_to

    if relay:
        found = asyncio.run(sent_to(relay, digests))
        click.echo("\n".join([f"{len(found)} e-mails are at {relay}:", *found]))
    elif as_json:
        echo_json([as_sent(each) for each in digests])
    else:
        click.echo("\n\n".join(f"Subject: {mail['subject']}\n\n{mail['text']}" for mail in map(as_sent, digests)))


def _show_messages(platform: str, digests: Sequence["Digest"], *, layout: Layout, as_json: bool) -> None:
    from adapters.cli.render import chat_preview

    if as_json:
        echo_json([chat_preview.sent_messages(each, platform, layout=layout) for each in digests])
        return
    for number, each in enumerate(chat_preview.whole_messages(digests, platform, layout=layout)):
        console().print(*([""] if number else []), each, sep="\n")


def _show_excerpts(digest: "Digest", *, layout: Layout) -> None:
    from adapters.cli.render import chat_preview

    for each in chat_preview.excerpts(digest, layout=layout):
        console().print("", each, sep="\n")


@click.command()
@click.argument("name")
@click.pass_context
def pack(context: click.Context, name: str) -> None:
    """Print the topic NAME as a pack: a file to keep, to change and to put into a folder of your own."""
    from bot.app import LOCAL
    from bot.settings.topic_packs import pack_as_written, pack_text

    async def work(app: "App") -> "Topic":
        return await app.handler_context.topic_named(LOCAL, name)

    topic = with_app(context, work)
    written = "" if topic.revision else pack_as_written(topic.name, settings_of(context).topics_dir)
    click.echo(written or pack_text(topic), nl=False)


@click.command()
@click.option("--offline", is_flag=True, help="Leave out what needs a network.")
@click.option("--health", is_flag=True, help="Only tell whether a running service is alive (for containers).")
@click.option("--mail", default="", metavar="ADDRESS", help="Also send a test message to this address.")
@as_json
@click.pass_context
def doctor(context: click.Context, offline: bool, health: bool, mail: str, as_json: bool) -> int:
    """Try the settings, the database, the topics and every source, and say what to mend."""
    from adapters.cli.doctor import Finding, Grade, examine, healthy
    from bot.settings.load import find_file

    if mail and (offline or health):
        raise UsageError(
            f"`--mail` sends a test message, and `{'--offline' if offline else '--health'}` sends none: leave one out."
        )
    at, file = now_of(context), context.find_root().obj["config"] or find_file(os.environ)

    async def work(app: "App") -> list["Finding"]:
        return [await healthy(app, at)] if health else await examine(app, at, file, offline=offline, test_mail=mail)

    findings = with_app(context, work)
    if as_json:
        echo_json([{"name": each.name, "grade": each.grade, "text": each.text} for each in findings])
    else:
        for each in findings:
            click.echo(f"{each.grade:<5} {each.name}: {each.text}")
    return Exit.UNWELL if any(each.grade is Grade.BAD for each in findings) else Exit.OK


@click.command()
@click.option(
    "--roles", default="", metavar="ROLE,…", help="Do only this, where several processes work on one PostgreSQL database."
)
@click.pass_context
def run(context: click.Context, roles: str) -> None:
    """Run the service: collect, post digests on schedule, answer in chats, until SIGTERM or Ctrl-C."""
    from adapters.cli.folder_messenger import PLATFORM, FolderMessenger
    from bot.service.roles import chosen_roles

    settings = settings_of(context, quiet=False)
    chosen = chosen_roles(settings, roles)

    async def work(app: "App") -> None:
        await _run(app, clock_of(context, app), chosen)

    messengers = {PLATFORM: FolderMessenger(settings.digests_path)}
    searching = bool(_SEARCHING & set(chosen))
    with_app(context, work, exclusive=True, searching=searching, quiet=False, messengers=messengers)


_SEARCHING = frozenset({"make", "front", "gateway"})  # roles that search


async def _run(app: "App", clock: Callable[[], datetime], roles: Sequence["Role"]) -> None:
    """Run the service in this process until it is told to end."""
    from adapters.cli.platforms import opened
    from bot.service.runner import LocalRunner, settled

    runner = LocalRunner()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, runner.stop)
    async with opened(app.settings, app.platform_context(clock, roles), app.messengers) as found:
        service = await app.service(clock, found.platforms, found.pending, roles)
        async with _serving_health(app.settings.health, service.health), _serving_pages(app, clock):
            for sentence in app.settings.retired:
                log.warning("%s", sentence)
            where = "PostgreSQL: " + ", ".join(roles) if app.database is not None else app.settings.database_path
            log.info("Broadsheet %s runs on %s", __version__, where)
            with settled():
                await service.run(runner)
    log.info("ended; what was due and not sent is sent by the next run")


@asynccontextmanager
async def _serving_health(settings: "HealthSettings", health: "ServiceHealth") -> AsyncIterator[None]:
    """Tell over HTTP how the service is, where the settings ask for it."""
    if not settings.port:
        yield
        return
    from adapters.health.server import serving

    async with serving(health, settings.host, settings.port) as (host, port):
        log.info("health and metrics are told at %s:%d", host, port)
        yield


@asynccontextmanager
async def _serving_pages(app: "App", clock: Callable[[], datetime]) -> AsyncIterator[None]:
    """Serve what is read in a browser, where the settings say at which address."""
    settings = app.settings.web
    if not settings.url:
        yield
        return
    from adapters.web.server import serving
    from bot.handlers.links import LinkSigner

    signer = LinkSigner(await app.store.recipients.key(), settings.url)
    async with serving(app.handler_context, signer, clock, settings.host, settings.port) as (host, port):
        log.info("pages are served at %s:%d for %s", host, port, settings.url)
        yield


@click.group()
def slack() -> None:
    """Set up Slack."""


@slack.command()
@click.option("--socket", is_flag=True, help="For an app that needs no public address.")
@click.option("--url", default="", metavar="URL", help="For an app that Slack reaches at this address.")
@click.option("--name", default="Broadsheet", show_default=True, help="What people see the app as.")
@click.option("--agent", is_flag=True, help="For Slack's pane for agents, too; set `agent` in [slack] with it.")
@click.option("--workflow-steps", is_flag=True, help="With the steps for Workflow Builder.")
@click.pass_context
def manifest(context: click.Context, socket: bool, url: str, name: str, agent: bool, workflow_steps: bool) -> None:
    """Print the manifest to paste into Slack: it makes the app with exactly our commands and the fewest rights."""
    if socket and url:
        raise UsageError("Give either --socket or --url: an app is heard in one way.")
    settings = settings_of(context).slack
    settings = settings.model_copy(
        update={"agent": agent or settings.agent, "workflow_steps": workflow_steps or settings.workflow_steps}
    )
    from adapters.slack.install.manifest import manifest as made

    echo_json(made(settings, socket=socket, url=url, name=name))


@click.group()
def discord() -> None:
    """Set up Discord."""


@discord.command()
@click.argument("application", default="", metavar="[APPLICATION]")
@click.option("--user", is_flag=True, help="For a person, not a server: see `user_install` in [discord].")
@click.pass_context
def invite(context: click.Context, application: str, user: bool) -> None:
    """Print the link that brings the bot into a server, with the fewest permissions.

    APPLICATION is the application's identifier; without one it is read from the token in the settings.
    """
    from adapters.discord.install.invite import endpoint
    from adapters.discord.install.invite import invite as made

    settings = settings_of(context).discord if not application else None
    number = application or _application_of(settings.token.get_secret_value() if settings else "")
    click.echo(made(number, user=user))
    if settings and settings.interactions == "http":
        click.echo(f"Interactions Endpoint URL: {endpoint(settings.public_url)}", err=True)


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


COMMANDS = (demo, run, collect, digest, pack, doctor, version, slack, discord)


def _layout(*, brief: bool) -> Layout:
    return Layout.BRIEF if brief else Layout.FULL


def _show(digests: Sequence["Digest"], *, layout: Layout, as_json: bool) -> None:
    if as_json:
        from adapters.cli.render.json_values import digest_value

        echo_json({"version": __version__, "digests": [digest_value(each) for each in digests]})
        return
    from adapters.cli.render.digest import DigestView

    for number, each in enumerate(digests):
        console().print(*([""] if number else []), DigestView(each, layout), sep="\n")


def _also_write(digests: Sequence["Digest"], path: Path | None, *, as_json: bool) -> None:
    if path is not None:
        _write_page(digests, path)
        if not as_json:
            click.echo(f"The same as a page: {path}", err=True)


def _write_page(digests: Sequence["Digest"], path: Path) -> None:
    from adapters.cli.render.page import page

    try:
        path.write_text(page(digests, made_at=datetime.now(UTC), version=__version__), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The page cannot be written to {path}: {error.strerror}.") from error


def _collected(result: "Collected") -> dict[str, Any]:
    state = result.state
    return {
        "source": state.name,
        "health": state.health,
        "asked": result.asked,
        "read": result.read,
        "new": result.fresh,
        "note": state.note,
        "rest_until": state.rest_until.isoformat() if state.rest_until else None,
    }


def _print_collected(results: Sequence["Collected"]) -> None:
    for result in results:
        if not result.asked:
            until = result.state.rest_until
            click.echo(f"{result.title}: resting until {until:%H:%M} UTC; --force asks all the same. {result.state.note}")
            continue
        told = f"{result.read:,} read, {result.fresh:,} new" if result.error is None or result.read else "nothing"
        note = f". {result.state.note}" if result.state.note else ""
        click.echo(f"{result.title}: {told}{note}")
