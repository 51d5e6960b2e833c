"""The sources there are: a row each, with what others need to know of it and how it is made from the settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bot.errors import SettingsError, UsageError
from bot.http.client import Http, Politeness
from bot.models import Topic
from bot.ports.source import Source
from bot.settings.arxiv_categories import needed_categories
from bot.settings.sources import ArxivSettings, GitHubSettings, SourceSections
from bot.sources.arxiv.source import ArxivSource, politeness
from bot.sources.feeds.source import FeedSource
from bot.sources.github.source import GitHubSource
from bot.sources.huggingface.source import HuggingFaceSource


class Requests(Protocol):
    """What the topics that are subscribed somewhere ask of the sources, read anew each time."""

    async def searches(self) -> Sequence[str]:
        """Return searches for repositories, in GitHub's own search language."""
        ...

    async def categories(self) -> Sequence[str]:
        """Return arXiv categories that are needed."""
        ...

    async def papers(self) -> Sequence[str]:
        """Return arXiv identifiers of example papers that are not known yet."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What sources are made with: `guarded` is for addresses that a person typed, `topics` are those the settings follow."""

    http: Http
    guarded: Http
    topics: Sequence[Topic]
    requests: Requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One source. Of what two sources say of one work, that of the higher `authority` counts (a feed has 1).

    `name` stands in items, queries and topics, and names the section of the settings unless `section` does. `hosts` are
    those whose links are previewed; `politeness` says by host how it wants to be asked, where the default is not enough.
    """

    name: str
    title: str
    make: Callable[[Any, Parts], Source]  # from its section, or from one of a list of them
    section: str = ""
    authority: int = 1
    hosts: tuple[str, ...] = ()
    politeness: Callable[[Any], Mapping[str, Politeness]] = lambda section: {}


def _arxiv(section: ArxivSettings, parts: Parts) -> Source:
    examples = (each for topic in parts.topics for each in topic.examples if each.startswith("arxiv:"))
    papers = [each.removeprefix("arxiv:") for each in examples]
    followed = [each for topic in parts.topics for each in needed_categories(topic)]

    async def categories() -> Sequence[str]:
        return (*followed, *(await parts.requests.categories()))

    wanted = categories if section.follow_topics else None
    return ArxivSource(parts.http, section, papers=papers, requested=parts.requests.papers, wanted=wanted)


def _github(section: GitHubSettings, parts: Parts) -> Source:
    searches = [search for topic in parts.topics for search in topic.repositories]
    try:
        return GitHubSource(parts.http, section, searches=searches, requested=parts.requests.searches)
    except UsageError as error:
        raise SettingsError(f"A GitHub search or watch of the settings or of a topic cannot be used: {error}") from error


# The archive or the repository's host itself has the highest authority, before those who point at it.
REGISTRY = (
    Row(
        name="arxiv",
        title="arXiv",
        authority=3,
        hosts=("arxiv.org",),
        make=_arxiv,
        politeness=politeness,
    ),
    Row(
        name="huggingface",
        title="Hugging Face",
        authority=2,
        hosts=("huggingface.co",),
        make=lambda section, parts: HuggingFaceSource(parts.http, section),
    ),
    Row(name="github", title="GitHub", authority=3, hosts=("github.com",), make=_github),
    Row(name="feed", title="", section="feeds", make=lambda section, parts: FeedSource(parts.guarded, section)),
)

AUTHORITY = {row.name: row.authority for row in REGISTRY}
TITLES = {row.name: row.title for row in REGISTRY if row.title}
HOSTS = tuple(host for row in REGISTRY for host in row.hosts)


def sources_of(settings: SourceSections, parts: Parts) -> list[Source]:
    """Return the sources that the settings switch on, in the registry's order; raises SettingsError."""
    made = []
    for row in REGISTRY:
        section = getattr(settings, row.section or row.name)
        switched_on = section if isinstance(section, tuple) else [section] if section.enabled else []
        made += [row.make(each, parts) for each in switched_on]
    return made


def politeness_of(settings: SourceSections) -> dict[str, Politeness]:
    """Return how the sources' hosts want to be asked, by `host` or `host:port`."""
    found: dict[str, Politeness] = {}
    for row in REGISTRY:
        found.update(row.politeness(getattr(settings, row.section or row.name)))
    return found
