"""Whoever lists the sources lists those of the registry."""

from collections.abc import Sequence

import pytest

from adapters import words
from bot.errors import SettingsError
from bot.http.client import Http
from bot.models import Topic
from bot.query.fields import BY_NAME
from bot.settings.load import Settings
from bot.settings.sources import (
    SOURCES,
    ArxivSettings,
    FeedSettings,
    GitHubSettings,
    HuggingFaceSettings,
    SourceSections,
)
from bot.sources.registry import HOSTS, REGISTRY, Parts, politeness_of, sources_of

TOPIC = Topic(name="gpu", title="GPU", repositories=("topic:cuda",), examples=("arxiv:2603.00001", "Some words."))


class NoRequests:
    async def searches(self) -> Sequence[str]:
        return ()

    async def categories(self) -> Sequence[str]:
        return ()

    async def papers(self) -> Sequence[str]:
        return ()


def parts(http: Http, *topics: Topic) -> Parts:
    return Parts(http, http, topics, NoRequests())


def test_every_row_has_its_section_of_the_settings_and_every_section_its_row() -> None:
    assert [row.section or row.name for row in REGISTRY] == list(SourceSections.model_fields)
    assert [row.name for row in REGISTRY] == list(SOURCES)


def test_every_source_but_feeds_has_a_title_that_the_renderers_show() -> None:
    assert {words.source_name(row.name) for row in REGISTRY} == {*(row.title for row in REGISTRY if row.title), "feed"}


def test_no_two_rows_share_a_name_a_title_or_a_host() -> None:
    assert len({row.name for row in REGISTRY}) == len({row.title for row in REGISTRY}) == len(REGISTRY)
    assert len(set(HOSTS)) == len(HOSTS)


def test_another_word_for_a_source_in_a_query_is_no_sources_own_and_leads_to_one() -> None:
    for word, name in BY_NAME["source"].also:
        assert word not in SOURCES
        assert name in SOURCES


async def test_each_source_is_named_as_in_its_row(http: Http) -> None:
    settings = Settings(feeds=(FeedSettings(name="lab", url="https://lab.example/feed", title="The Lab"),))
    made = sources_of(settings, parts(http, TOPIC))
    assert [source.name.partition(":")[0] for source in made] == [row.name for row in REGISTRY]
    assert [source.title for source in made] == [row.title or "The Lab" for row in REGISTRY]


async def test_what_is_switched_off_is_not_made(http: Http) -> None:
    settings = SourceSections(
        arxiv=ArxivSettings(enabled=False), huggingface=HuggingFaceSettings(enabled=False), github=GitHubSettings()
    )
    made = {source.name for source in sources_of(settings, parts(http))}
    assert "github" in made
    assert made.isdisjoint({"arxiv", "huggingface"})


async def test_a_followed_topics_search_that_github_would_not_take_is_an_error_of_the_settings(http: Http) -> None:
    broken = Topic(name="gpu", title="GPU", repositories=("strs:>5",))
    with pytest.raises(SettingsError, match="A GitHub search or watch of the settings or of a topic cannot be used"):
        sources_of(SourceSections(), parts(http, broken))


def test_arxivs_hosts_share_one_pace() -> None:
    found = politeness_of(SourceSections())
    assert sorted(found) == ["export.arxiv.org", "oaipmh.arxiv.org", "rss.arxiv.org"]
    assert len(set(found.values())) == 1
