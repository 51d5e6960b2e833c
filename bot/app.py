"""Builds every part from the settings; the only file that sees them all."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot import __version__
from bot.collect.collector import Collector
from bot.collect.fetching import ItemFetcher
from bot.collect.polling import PollingSchedule
from bot.collect.requested import TopicRequests
from bot.delivery import (
    Deliverer,
    DeliveryContext,
    DeliverySettings,
    Preparer,
    Scheduler,
    SubscriptionPauser,
    SubscriptionResumer,
    notice_put_back,
    notice_restored,
)
from bot.digest.publisher import Publisher
from bot.digest.request import Layouts
from bot.embed.backfill import VectorBackfill
from bot.embed.remote import RemoteEmbedder
from bot.embed.shipped import LocalEmbedder
from bot.errors import SettingsError, StoreError, UsageError
from bot.handlers.addresses.letters import Letters
from bot.handlers.archive.channel_access import ChannelAccess
from bot.handlers.context import HandlerContext
from bot.http.client import Http, Politeness
from bot.http.turns import SharedTurns
from bot.models import EMAIL, Actor, DigestRequest, Layout, Limits, Topic
from bot.ports.digests import Previewer
from bot.ports.facts import Facts
from bot.ports.mail import Mailer
from bot.ports.maintenance import COPYING, Maintenance, Rows
from bot.ports.messenger import Messenger, Visibility
from bot.ports.runner import Job, Watch
from bot.ports.source import Fetcher, ItemLookup, Source
from bot.ports.store import Store
from bot.ports.summaries import Summariser
from bot.ports.vectors import Embedder
from bot.service.backups import Backups
from bot.service.health import ServiceHealth
from bot.service.heartbeat_file import read_alive, write_alive
from bot.service.jobs import TICK, DeliveryJobs, collecting, embedding, listening, upkeep, write_heartbeat
from bot.service.measurements import Measurements, count_writes
from bot.service.platforms import Cluster, PendingPlatform, Platform, PlatformContext
from bot.service.presence import OpenedPlaces, new_process_id
from bot.service.runner import LocalRunner
from bot.service.shared import ServiceParts, SharedDatabase, SharedService
from bot.settings.load import Settings
from bot.settings.sections import ROLES, Role, expanded
from bot.settings.topic_packs import load_packs
from bot.sources.registry import AUTHORITY, Parts, politeness_of, sources_of
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from bot.summarise.gist import gists
from bot.summarise.llm.summariser import LlmSummariser

if TYPE_CHECKING:  # the libraries are there where the settings ask for them
    from bot.store.index.follower import IndexFollower
    from bot.store.postgres.store import PostgresStore

LOCAL = "local"  # the workspace and the channel of the terminal


@dataclass(frozen=True, slots=True)
class Service:
    """What a running service does, and who looks at how it is."""

    jobs: Sequence[Job]
    watches: Sequence[Watch]
    health: ServiceHealth
    shared: SharedService | None = None  # where several processes work on the database

    async def run(self, local: LocalRunner) -> None:
        """Run it until the runner is stopped. Raises StoreError."""
        runner = local if self.shared is None else self.shared.runner(local)
        await runner.run(self.jobs, self.watches)


@dataclass(frozen=True, slots=True)
class BareStore:
    """A database whose rows are moved."""

    rows: Rows
    facts: Facts


@dataclass(frozen=True, slots=True)
class App:
    """The service's parts, ready to use."""

    settings: Settings
    store: Store
    maintenance: Maintenance
    sources: Sequence[Source]
    topics: Mapping[str, Topic]
    collector: Collector
    publisher: Publisher
    handler_context: HandlerContext
    delivery: DeliveryContext
    model: LlmSummariser | None = None  # where the settings switch one on
    embedder: Embedder | None = None  # None where the settings switch it off
    messengers: dict[str, Messenger] = field(default_factory=dict)  # by platform; none where nothing is posted
    unreadable: Counter[str] = field(default_factory=Counter)  # events that could not be read, by platform
    untold: Counter[str] = field(default_factory=Counter)  # answers that reached nobody, by platform
    database: SharedDatabase | None = None  # where several processes may work on it

    def sources_named(self, names: Sequence[str]) -> Sequence[Source]:
        """Return the sources of these names, all of them for none; raises UsageError for a name that is not there."""
        known = {source.name: source for source in self.sources}
        for name in names:
            if name not in known:
                raise UsageError(f'There is no source "{name}" in the settings. There are: {", ".join(known)}.')
        return [known[name] for name in dict.fromkeys(names)] if names else self.sources

    def terminal(self, person: str = LOCAL) -> Actor:
        """Return who asks in the terminal."""
        return Actor(
            platform="terminal",
            workspace=LOCAL,
            channel=LOCAL,
            person=person,
            may_administer=True,
            zone=self.settings.zone,
            is_direct=True,
        )

    async def followed(self) -> Sequence[str]:
        """Return the names of the topics that are subscribed in the terminal; without any, those in the settings."""
        subscribed = await self.store.workspaces.subscriptions(LOCAL, channel=LOCAL)
        return list(dict.fromkeys(each.topic for each in subscribed if not each.paused)) or self.settings.topics

    async def request(self, name: str, *, entries: int | None = None, window: timedelta | None = None) -> DigestRequest:
        """Return the terminal's request for the topic of that name, as it is subscribed there, but for what is given here.

        It may show what is older than the subscription: nothing of it is posted anywhere. Of several
        subscriptions it is the first, a daily one where there is one. Raises UsageError for a name that is not there.
        """
        topic, actor = await self.handler_context.topic_named(LOCAL, name), self.terminal()
        here = next(iter(await self.handler_context.subscriptions_here(actor, topic.name)), None)
        request = await self.handler_context.request(actor, topic, here)
        limits = replace(request.limits, entries=entries or request.limits.entries)
        return replace(request, limits=limits, window=window or request.window, since_last=window is None, baseline=None)

    def platform_context(self, clock: Callable[[], datetime], roles: Sequence[Role] = ROLES) -> PlatformContext:
        """Return what a chat platform is given to work with, in a process with these roles."""

        async def channel_closed(workspace: str, channel: str, reason: str) -> None:
            await SubscriptionPauser(self.delivery).pause_closed(workspace, channel, reason, clock())

        store, database = self.store, self.database
        return PlatformContext(
            self.handler_context,
            store.chats,
            clock,
            channel_closed,
            SubscriptionResumer(self.delivery).hint if database is None else database.opened.hear,
            self.unreadable,
            self.untold,
            web_url=self.settings.web.url,
            roles=roles,
            cluster=None if database is None else Cluster(database.process, store.leases, store.budgets, store.processes),
        )

    def filler(self) -> VectorBackfill | None:
        """Return what gives the items their vectors; None where the settings switch that off."""
        chosen = self.settings.embeddings
        if self.embedder is None:
            return None
        return VectorBackfill(self.store, self.embedder, quick=chosen.use == "on" and not chosen.base_url)

    async def service(
        self,
        clock: Callable[[], datetime],
        platforms: Sequence[Platform] = (),
        pending: Sequence[PendingPlatform] = (),
        roles: Sequence[Role] = ROLES,
    ) -> Service:
        """Return what runs until it is stopped; to be called once, as it compares the database with its last heartbeat.

        What the platforms post is posted, and what they listen to is heard, while it runs; those that stand by join it.
        """
        self.messengers.update({each.messenger.platform: each.messenger for each in platforms})
        troubles = {each.messenger.platform: each.trouble for each in platforms} | {
            each.name: each.trouble for each in pending
        }
        measurements = Measurements()
        measurements.unreadable, measurements.untold = self.unreadable, self.untold
        shared = None if self.database is None else self._shared(self.database, clock, roles, measurements)
        if shared is None:
            jobs: Sequence[Job] = [measurements.watched(job) for job in await self._jobs(measurements, troubles, clock)]
        else:
            jobs = shared.jobs(troubles)
        heard = [watch for each in platforms for watch in each.watches]
        heard += [watch for each in pending for watch in each.watches]
        duties = None if shared is None else shared.duties()
        health = ServiceHealth(
            measurements, self.store, self.sources, clock, ("tick", TICK), troubles, self.embedder, duties
        )
        return Service(jobs, [Watch("measuring the event loop", measurements.measure), *heard], health, shared)

    async def _jobs(
        self, measurements: Measurements, troubles: Mapping[str, Callable[[datetime], str]], clock: Callable[[], datetime]
    ) -> Sequence[Job]:
        """Return what a process that is alone on the database does."""
        settings, store = self.settings, self.store
        # A clock that had run ahead must not put in doubt what is not even due yet.
        alive = await asyncio.to_thread(read_alive, settings.database_path)
        await notice_restored(store.facts, alive and min(alive, clock()), clock())
        pace = PollingSchedule(timedelta(minutes=settings.run.collect_minutes), random.Random())
        keep = settings.keep
        return (
            *self._delivering(measurements).jobs(clock),
            *collecting(self.collector, store.source_states, self.sources, pace, clock, measurements.source_failed),
            *upkeep(
                store.facts,
                self.maintenance,
                timedelta(days=keep.items_days),
                timedelta(days=keep.readings_days),
                backups_of(settings),
                clock,
            ),
            *listening(troubles, clock),
            *embedding(self.filler(), clock),
        )

    def _shared(
        self, database: SharedDatabase, clock: Callable[[], datetime], roles: Sequence[Role], measurements: Measurements
    ) -> SharedService:
        parts = ServiceParts(
            self.settings,
            self.store,
            self.maintenance,
            self.delivery,
            self.publisher,
            self.handler_context.requests,
            self.collector,
            self.sources,
            self.filler(),
            backups_of(self.settings),
        )
        return SharedService(replace(database, clock=clock), parts, roles, measurements)

    def _delivering(self, measurements: Measurements) -> DeliveryJobs:
        database = self.settings.database_path
        delivery = replace(self.delivery, ledger=count_writes(self.store.ledger, measurements.counts))
        return DeliveryJobs(
            Scheduler(delivery),
            Preparer(delivery, self.publisher, self.handler_context.requests),
            Deliverer(delivery),
            SubscriptionResumer(delivery),
            lambda now: write_heartbeat(self.store.facts, write_alive, database, now),
        )


def store_of(settings: Settings, *, exclusive: bool = False) -> "SqliteStore | PostgresStore":
    """Return the store of the settings, to be opened; `exclusive` keeps a second writing service away.

    With PostgreSQL, that is from this process's search copy alone. Raises SettingsError where what it needs is not
    installed.
    """
    if not settings.database_address:
        return SqliteStore(settings.database_path, exclusive=exclusive, follower=_follower(settings))
    folder, most = settings.database_path.parent, settings.postgres.connections
    return _postgres_store(settings.database_address, folder, most, exclusive=exclusive, follower=_follower(settings))


def file_store_of(settings: Settings) -> SqliteStore:
    """Return the store in one file, to be restored or mended while it is closed; raises UsageError for PostgreSQL."""
    if settings.database_address:
        raise UsageError(
            "The database is PostgreSQL's, whose server looks after its write-ahead log itself: there is nothing to decide."
        )
    return SqliteStore(settings.database_path, follower=_follower(settings))


@dataclass(frozen=True, slots=True)
class PutBack:
    """What came of putting a backup in the database's place."""

    name: str  # of the database, for people
    aside: str  # what has the old data now, "" where there was none
    dropped_by: str = ""  # the statement that drops it, where it takes one


async def put_back(settings: Settings, path: Path, now: datetime) -> PutBack:
    """Put the backup at `path` in the place of the database that nobody works on; raises StoreError."""
    if settings.database_address:
        store = _postgres_store(settings.database_address, settings.database_path.parent, 2)
        schema = await store.maintenance.restore(path)
        name = store.maintenance.name
        return PutBack(name, f"schema {schema}", f"drop schema {schema} cascade") if schema else PutBack(name, "")
    file = file_store_of(settings)
    aside = await asyncio.to_thread(file.maintenance.restore, path, now)
    return PutBack(str(file.path), str(aside or ""))


@asynccontextmanager
async def bare_store(named: str, *, is_new: bool) -> AsyncIterator[BareStore]:
    """Open a database by its path or address, for its rows alone, while nobody else works on it.

    Where it may not be made, `is_new` is False. Raises StoreError, SettingsError.
    """
    is_address = named.startswith(("postgresql://", "postgres://"))
    if "://" in named and not is_address:  # a file of that name would hold the password in it
        raise SettingsError("A database is named by its path, or by an address that begins with postgresql://.")
    path = expanded(Path(named))
    if not is_address and not is_new and not await asyncio.to_thread(path.exists):
        raise StoreError(f"There is no database at {path}.")
    store = _postgres_store(named, path, 2) if is_address else SqliteStore(path, exclusive=True)
    async with AsyncExitStack() as stack:
        await store.open()
        stack.push_async_callback(store.close)
        if others := await store.processes.every(timedelta(minutes=1)):
            said = ", ".join(f"{each.host} ({', '.join(each.roles)})" for each in others)
            raise StoreError(f"Processes work on {store.rows.name}: {said}. Stop them first.")
        yield BareStore(store.rows, store.facts)


def _postgres_store(
    address: str,
    folder: Path,
    most: int,
    *,
    exclusive: bool = False,
    follower: "type[IndexFollower] | None" = None,
) -> "PostgresStore":
    """Return the store at an address, to be opened; raises SettingsError where what it needs is not installed."""
    try:
        from bot.store.postgres.store import PostgresStore
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"The database is an address of PostgreSQL's, and {error.name} is not installed: install the extra `postgres`"
            " (`pipx install '.[postgres]'`, or requirements-postgres.lock)."
        ) from error
    return PostgresStore(address, folder, most=most, exclusive=exclusive, follower=follower)


def _follower(settings: Settings) -> "type[IndexFollower] | None":
    """Return the search index beside the database, None where FTS5 is to find; raises SettingsError."""
    if settings.search.engine == "fts5":
        return None
    try:
        from bot.store.index.follower import IndexFollower
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"`engine` under [search] is tantivy, and {error.name} is not installed: install the extra `search`"
            " (`pipx install '.[search]'`, or requirements-search.lock), or leave the setting out."
        ) from error
    return IndexFollower


@asynccontextmanager
async def built(
    settings: Settings,
    *,
    exclusive: bool = False,
    searching: bool = False,
    messengers: Mapping[str, Messenger] | None = None,
) -> AsyncIterator[App]:
    """Build the service on an open database; everything is closed when the block ends.

    `exclusive` keeps a second writing service away; with `searching`, a search copy is kept from now on and not from the
    first search on; `messengers` post, by the platform's word before the colon of its workspaces' names. Raises
    SettingsError and StoreError.
    """
    topics = await asyncio.to_thread(load_packs, settings.topics_dir)
    async with AsyncExitStack() as stack:
        store = await _opened(settings, stack, exclusive=exclusive, searching=searching)
        database = None if isinstance(store, SqliteStore) else await _shared_database(store)
        turns = None if database is None else SharedTurns(store.leases, store.budgets, database.process)
        sources = await _sources(settings, store, topics, turns, stack)
        titles = {source.name: source.title for source in sources}
        model = await _model(settings, store, stack)
        embedder = await _embedder(settings, stack)
        if searching and embedder is not None and not isinstance(store, SqliteStore):
            store.index.expect(embedder.space)
        publisher = Publisher(store, model or Extractive(), titles, embedder)
        collector = Collector(store, AUTHORITY)
        fetcher = _fetcher(settings, store, collector, sources, stack)
        posting = dict(messengers or {})
        context = _handler_context(settings, store, publisher, topics, titles, embedder, fetcher)
        context = _with_platforms(context, posting, settings.web.url)
        budgets = None if database is None else store.budgets
        delivery = DeliveryContext(store, store.ledger, posting, _delivery_settings(settings), budgets=budgets)
        yield App(
            settings,
            store,
            store.maintenance,
            sources,
            topics,
            collector,
            publisher,
            context,
            delivery,
            model,
            embedder,
            posting,
            database=database,
        )


async def _opened(
    settings: Settings, stack: AsyncExitStack, *, exclusive: bool, searching: bool
) -> "SqliteStore | PostgresStore":
    """Return the store, open until the stack ends. Raises StoreError, also where something is missing in it."""
    store = store_of(settings, exclusive=exclusive)
    await store.open()
    stack.push_async_callback(store.close)
    if searching and not isinstance(store, SqliteStore):
        await store.index.open()
    if source := await store.facts.get(COPYING):
        raise StoreError(f"The database lacks a part of what is copied from {source}: run `broadsheet db copy` again.")
    await notice_put_back(store.facts)
    return store


async def _sources(
    settings: Settings, store: Store, topics: Mapping[str, Topic], turns: SharedTurns | None, stack: AsyncExitStack
) -> Sequence[Source]:
    # In threads: both read the machine's certificates.
    http = await asyncio.to_thread(_http, settings, turns)
    stack.push_async_callback(http.close)
    outside = await asyncio.to_thread(_http, settings, turns, guarded=True)
    stack.push_async_callback(outside.close)
    followed = [topics[name] for name in settings.topics if name in topics]
    requests = TopicRequests(store.items, store.workspaces, store.ledger, topics)
    return sources_of(settings, Parts(http, outside, followed, requests))


async def _model(settings: Settings, store: Store, stack: AsyncExitStack) -> LlmSummariser | None:
    if not settings.llm.enabled:
        return None
    patient = await asyncio.to_thread(_model_http, settings, settings.llm.base_url, settings.llm.timeout)
    stack.push_async_callback(patient.close)
    return _llm(settings, patient, store, Extractive())


async def _shared_database(store: "PostgresStore") -> SharedDatabase:
    """Return the open database as one of the processes on it has it. Raises StoreError."""
    from bot.store.postgres.clock import ServerClock
    from bot.store.postgres.migrations import SCHEMA

    clock, process = ServerClock(store.connections), new_process_id()
    await clock.open()
    return SharedDatabase(
        process,
        OpenedPlaces(store.facts, store.leases, process),
        store.lanes,
        store.lane_jobs,
        clock.now,
        clock.job(),
        SCHEMA,
        store.described,
        store.expect_usable,
        store.index.behind,
    )


def _with_platforms(context: HandlerContext, messengers: Mapping[str, Messenger], url: str) -> HandlerContext:
    """Return the context with what the platforms do for it that are there when it is asked: letters, and who sees what."""
    access = ChannelAccess(lambda platform: _visibility(messengers, platform))
    return replace(context, letters=Letters(lambda: _mailer(messengers), url), web_url=url, channel_access=access)


def _mailer(messengers: Mapping[str, Messenger]) -> Mailer | None:
    """Return who sends letters: the messenger of e-mail, while it is there."""
    found: object = messengers.get(EMAIL)
    return found if isinstance(found, Mailer) else None


def _visibility(messengers: Mapping[str, Messenger], platform: str) -> Visibility | None:
    """Return who tells which channels somebody may see: the platform's messenger, while it is there."""
    found: object = messengers.get(platform)
    return found if isinstance(found, Visibility) else None


def _fetcher(
    settings: Settings, store: Store, collector: Collector, sources: Sequence[Source], stack: AsyncExitStack
) -> Fetcher | None:
    """Return what fetches single items, None where the settings switch that off, or every source that could be asked."""
    lookups = [each for each in sources if isinstance(each, ItemLookup)] if settings.fetch_on_request else []
    if not lookups:
        return None
    fetcher = ItemFetcher(store.items, collector, lookups)
    stack.push_async_callback(fetcher.close)
    return fetcher


async def _embedder(settings: Settings, stack: AsyncExitStack) -> Embedder | None:
    """Return what makes vectors, nothing of it read yet; an endpoint's connections are closed with the stack."""
    chosen = settings.embeddings
    if chosen.use == "off":
        return None
    if not chosen.base_url:
        return LocalEmbedder(table_only=chosen.use == "fast")
    http = await asyncio.to_thread(_model_http, settings, chosen.base_url, chosen.timeout)
    stack.push_async_callback(http.close)
    key = chosen.api_key.get_secret_value()
    return RemoteEmbedder(http, base_url=chosen.base_url, model=chosen.model, dimensions=chosen.dimensions, api_key=key)


def _delivery_settings(settings: Settings) -> DeliverySettings:
    run = settings.run
    return DeliverySettings(catch_up=timedelta(hours=run.catch_up_hours), late=timedelta(minutes=run.late_minutes))


def _handler_context(
    settings: Settings,
    store: Store,
    previewer: Previewer,
    packs: Mapping[str, Topic],
    titles: Mapping[str, str],
    embedder: Embedder | None,
    fetcher: Fetcher | None,
) -> HandlerContext:
    return HandlerContext(
        store,
        previewer,
        packs,
        titles,
        gists,
        limits=_limits(settings),
        layouts=_layouts(settings),
        manage=settings.permissions.manage,
        window_hours=settings.digest.window_hours,
        zone=settings.zone,
        arxiv=settings.arxiv,
        embedder=embedder,
        fetcher=fetcher,
    )


def _limits(settings: Settings) -> Limits:
    digest = settings.digest
    return Limits(digest.entries, digest.repositories, timedelta(days=digest.max_age_days))


def _layouts(settings: Settings) -> Layouts:
    in_threads = {"slack": settings.slack.layout == "thread", "discord": settings.discord.threads}
    return Layouts(settings.digest.layout, {name: Layout.THREAD for name, threaded in in_threads.items() if threaded})


def _http(settings: Settings, turns: SharedTurns | None, *, guarded: bool = False) -> Http:
    contact = f" ({settings.contact})" if settings.contact else ""
    return Http(
        user_agent=f"Broadsheet/{__version__}{contact}",
        politeness=politeness_of(settings),
        guarded=guarded,
        allow=frozenset(settings.feed_guard.allow_hosts) if guarded else frozenset(),
        proxy=settings.proxy,
        turns=turns,
    )


def backups_of(settings: Settings) -> Backups | None:
    """Return the backups that the service makes, None when the settings name no folder for them."""
    run, ending = settings.run, "dump" if settings.database_address else "sqlite3"
    return Backups(run.backup_dir, timedelta(hours=run.backup_hours), run.backup_keep, ending) if run.backup_dir else None


def _model_http(settings: Settings, base_url: str, timeout: float) -> Http:
    """A model thinks longer than a source answers, and a question is paid for: its own patience, and no second asking."""
    patient = Politeness(seconds_between=0.0, connections=4, retries=0)
    host = urlsplit(base_url).netloc
    return Http(
        user_agent=f"Broadsheet/{__version__}",
        politeness={host: patient},
        timeout=timeout,
        deadline=timeout,
        proxy=settings.proxy,
    )


def _llm(settings: Settings, http: Http, store: Store, fallback: Summariser) -> LlmSummariser:
    llm = settings.llm
    return LlmSummariser(
        http,
        store.summaries,
        fallback,
        base_url=llm.base_url,
        model=llm.model,
        api_key=llm.api_key.get_secret_value(),
        daily_tokens=llm.daily_tokens,
        timeout=llm.timeout,
    )
