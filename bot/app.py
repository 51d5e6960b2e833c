"""Builds every part from the settings; the only file that sees them all."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from bot import __version__
from bot.errors import SettingsError, UsageError
from bot.handlers.desk import Desk
from bot.handlers.lookup import order_of, subscription_here, topic_named
from bot.http import Http, Politeness
from bot.models import Actor, Limits, Order, Topic
from bot.pipeline import Collector
from bot.ports import Job, Press, Source, Store, Summariser
from bot.press import Publisher
from bot.settings import Settings
from bot.sources.arxiv import ArxivSource
from bot.sources.feeds import FeedSource
from bot.sources.github import GitHubSource
from bot.sources.huggingface import HuggingFaceSource
from bot.store.sqlite import SqliteStore
from bot.summarise.extractive import Extractive
from bot.summarise.llm import LlmSummariser
from bot.topics import load_packs

log = logging.getLogger(__name__)

LOCAL = "local"  # the workspace and the channel of the terminal
HEARTBEAT = timedelta(minutes=1)
PRUNE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class App:
    """The service's parts, ready to use."""

    settings: Settings
    store: Store
    sources: Sequence[Source]
    topics: Mapping[str, Topic]
    collector: Collector
    publisher: Publisher
    desk: Desk
    model: LlmSummariser | None = None  # where the settings switch one on

    def sources_named(self, names: Sequence[str]) -> Sequence[Source]:
        """Return the sources of these names, all of them for none; raises UsageError for a name that is not there."""
        known = {source.name: source for source in self.sources}
        for name in names:
            if name not in known:
                raise UsageError(f'There is no source "{name}" in the settings. There are: {", ".join(known)}.')
        return [known[name] for name in dict.fromkeys(names)] if names else self.sources

    def terminal(self, person: str = LOCAL) -> Actor:
        """Return who asks in the terminal."""
        return Actor(platform="terminal", workspace=LOCAL, channel=LOCAL, person=person, may_administer=True)

    async def followed(self) -> Sequence[str]:
        """Return the names of the topics that are subscribed in the terminal; without any, those in the settings."""
        subscribed = await self.store.subscriptions(LOCAL, channel=LOCAL)
        return [each.topic for each in subscribed if not each.paused] or self.settings.topics

    async def order(self, name: str, *, entries: int | None = None, window: timedelta | None = None) -> Order:
        """Return what the terminal orders for the topic of that name, as it is subscribed there, but for what is given here.

        It may show what is older than the subscription: nothing of it is posted anywhere. Raises UsageError for a name
        that is not there.
        """
        topic, actor = await topic_named(self.desk, LOCAL, name), self.terminal()
        order = await order_of(self.desk, actor, topic, await subscription_here(self.desk, actor, topic.name))
        limits = replace(order.limits, entries=entries or order.limits.entries)
        return replace(order, limits=limits, window=window or order.window, since_last=window is None, baseline=None)

    def jobs(self, clock: Callable[[], datetime]) -> Sequence[Job]:
        """Return what the service does by itself: collect, show that it lives, drop what is too old."""

        async def collect() -> None:
            for each in await self.collector.collect(self.sources, clock()):
                log.info("%s: %d read, %d new. %s", each.title, each.read, each.fresh, each.state.note)

        async def beat() -> None:
            await self.store.set_fact("heartbeat", clock().isoformat())

        async def prune() -> None:
            keep, now = self.settings.keep, clock()
            before = now - timedelta(days=keep.items_days), (now - timedelta(days=keep.readings_days)).date()
            dropped = await self.store.prune(items_before=before[0], readings_before=before[1], now=now)
            log.info("pruned: %s", dict(dropped))

        return (
            Job("heartbeat", HEARTBEAT, beat, at_once=True),
            Job("collect", timedelta(minutes=self.settings.run.collect_minutes), collect, at_once=True),
            Job("prune", PRUNE, prune),
        )


@asynccontextmanager
async def built(settings: Settings, *, exclusive: bool = False) -> AsyncIterator[App]:
    """Build the service on an open database; everything is closed when the block ends.

    `exclusive` keeps a second writing service away. Raises SettingsError and StoreError.
    """
    topics = await asyncio.to_thread(load_packs, settings.topics_dir)
    async with AsyncExitStack() as stack:
        store = SqliteStore(settings.database_path, exclusive=exclusive)
        await store.open()
        stack.push_async_callback(store.close)
        # In threads: both read the machine's certificates.
        http = await asyncio.to_thread(_http, settings)
        stack.push_async_callback(http.close)
        outside = await asyncio.to_thread(_http, settings, guarded=True)
        stack.push_async_callback(outside.close)
        sources = _sources(settings, topics, http, outside)
        titles = {source.name: source.title for source in sources}
        model: LlmSummariser | None = None
        if settings.llm.enabled:
            patient = await asyncio.to_thread(_model_http, settings)
            stack.push_async_callback(patient.close)
            model = _llm(settings, patient, store, Extractive())
        publisher = Publisher(store, model or Extractive(), titles)
        desk = _desk(settings, store, publisher, topics, titles)
        yield App(settings, store, sources, topics, Collector(store), publisher, desk, model)


def _desk(settings: Settings, store: Store, press: Press, packs: Mapping[str, Topic], titles: Mapping[str, str]) -> Desk:
    return Desk(
        store,
        press,
        packs,
        titles,
        limits=_limits(settings),
        manage=settings.permissions.manage,
        window_hours=settings.digest.window_hours,
    )


def _limits(settings: Settings) -> Limits:
    digest = settings.digest
    return Limits(digest.entries, digest.repositories, timedelta(days=digest.max_age_days))


def _http(settings: Settings, *, guarded: bool = False) -> Http:
    arxiv = Politeness(seconds_between=settings.arxiv.seconds_between, connections=1, retries=2)
    hosts = (settings.arxiv.feed_url, settings.arxiv.api_url, settings.arxiv.oai_url)
    contact = f" ({settings.contact})" if settings.contact else ""
    return Http(
        user_agent=f"Broadsheet/{__version__}{contact}",
        politeness={urlsplit(url).netloc: arxiv for url in hosts},
        guarded=guarded,
        allow=frozenset(settings.feed_guard.allow_hosts) if guarded else frozenset(),
        proxy=settings.proxy,
    )


def _sources(settings: Settings, topics: Mapping[str, Topic], http: Http, outside: Http) -> list[Source]:
    found: list[Source] = []
    if (arxiv := settings.arxiv).enabled:
        found.append(
            ArxivSource(
                http,
                categories=arxiv.categories,
                feed_url=arxiv.feed_url,
                api_url=arxiv.api_url,
                oai_url=arxiv.oai_url,
                kinds=arxiv.kinds,
                holidays=arxiv.holidays,
                backfill_days=arxiv.backfill_days,
                papers=_example_papers(settings, topics),
            )
        )
    if (hf := settings.huggingface).enabled:
        found.append(
            HuggingFaceSource(
                http,
                base_url=hf.base_url,
                token=hf.token.get_secret_value(),
                reread_days=hf.reread_days,
                backfill_days=hf.backfill_days,
            )
        )
    if settings.github.enabled:
        found.append(_github(settings, topics, http))
    found += [FeedSource(outside, name=feed.name, url=feed.url, title=feed.title) for feed in settings.feeds]
    return found


def _github(settings: Settings, topics: Mapping[str, Topic], http: Http) -> GitHubSource:
    github = settings.github
    try:
        return GitHubSource(
            http,
            base_url=github.base_url,
            token=github.token.get_secret_value(),
            searches=_searches(settings, topics),
            watch=github.watch,
            min_stars=github.min_stars,
            archived=github.archived,
            forks=github.forks,
        )
    except UsageError as error:
        raise SettingsError(f"A GitHub search or watch of the settings or of a topic cannot be used: {error}") from error


def _example_papers(settings: Settings, topics: Mapping[str, Topic]) -> tuple[str, ...]:
    """Return the arXiv identifiers among the examples of the topics that are followed."""
    examples = (each for name in settings.topics if name in topics for each in topics[name].examples)
    return tuple(each.removeprefix("arxiv:") for each in examples if each.startswith("arxiv:"))


def _searches(settings: Settings, topics: Mapping[str, Topic]) -> tuple[str, ...]:
    """Return the repository searches of the topics that are followed and of the settings, each once."""
    of_topics = (text for name in settings.topics if name in topics for text in topics[name].repositories)
    return tuple(dict.fromkeys((*of_topics, *settings.github.searches)))


def _model_http(settings: Settings) -> Http:
    """A model thinks longer than a source answers, and a question is paid for: its own patience, and no second asking."""
    patient = Politeness(seconds_between=0.0, connections=4, retries=0)
    host = urlsplit(settings.llm.base_url).netloc
    return Http(
        user_agent=f"Broadsheet/{__version__}",
        politeness={host: patient},
        timeout=settings.llm.timeout,
        deadline=settings.llm.timeout,
        proxy=settings.proxy,
    )


def _llm(settings: Settings, http: Http, store: Store, fallback: Summariser) -> LlmSummariser:
    llm = settings.llm
    return LlmSummariser(
        http,
        store,
        fallback,
        base_url=llm.base_url,
        model=llm.model,
        api_key=llm.api_key.get_secret_value(),
        daily_tokens=llm.daily_tokens,
        timeout=llm.timeout,
    )
