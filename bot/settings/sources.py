"""What may stand in the sections of the sources, with its default."""

from datetime import date
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator

from bot.settings.sections import Section, Url

# arXiv's terms: one request every three seconds over all of one's machines (info.arxiv.org/help/api/tou.html).
ARXIV_SECONDS = 3.0


class ArxivSettings(Section):
    """Which announcements to read."""

    enabled: bool = True
    categories: tuple[str, ...] = ("cs.AI", "cs.AR", "cs.CL", "cs.CV", "cs.DC", "cs.LG", "cs.OS", "cs.PF", "cs.PL", "cs.SE")
    follow_topics: bool = True
    kinds: tuple[Literal["new", "cross", "replace", "replace-cross"], ...] = ("new", "cross")
    holidays: tuple[date, ...] = ()
    backfill_days: int = Field(default=0, ge=0, le=365)
    seconds_between: float = Field(default=ARXIV_SECONDS, ge=0, le=3600)
    feed_url: Url = "https://rss.arxiv.org/atom"
    api_url: Url = "https://export.arxiv.org/api/query"
    oai_url: Url = "https://oaipmh.arxiv.org/oai"

    @model_validator(mode="after")
    def _keeps_the_terms(self) -> "ArxivSettings":
        hosts = (urlsplit(url).hostname or "" for url in (self.feed_url, self.api_url, self.oai_url))
        if self.seconds_between < ARXIV_SECONDS and any(host.endswith("arxiv.org") for host in hosts):
            raise ValueError(
                f"seconds_between must be at least {ARXIV_SECONDS:g} for arxiv.org: its terms of use ask for it"
            )
        return self


class HuggingFaceSettings(Section):
    """Daily Papers."""

    enabled: bool = True
    token: SecretStr = SecretStr("")
    reread_days: int = Field(default=3, ge=0, le=14)
    backfill_days: int = Field(default=0, ge=0, le=365)
    base_url: Url = "https://huggingface.co"


class GitHubSettings(Section):
    """Which repositories to look for, besides those that the followed topics search."""

    enabled: bool = True
    token: SecretStr = SecretStr("")
    searches: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    min_stars: int = Field(default=0, ge=0)
    archived: bool = False
    forks: bool = False
    readmes: int = Field(default=20, ge=0, le=1000)
    releases: int = Field(default=20, ge=0, le=1000)
    base_url: Url = "https://api.github.com"


class FeedSettings(Section):
    """One RSS, Atom or JSON feed."""

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    url: Url
    title: str = ""


def _named_once(feeds: tuple[FeedSettings, ...]) -> tuple[FeedSettings, ...]:
    names = [feed.name for feed in feeds]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f'two feeds are named "{twice}"; give each a name of its own')
    return feeds


Feeds = Annotated[tuple[FeedSettings, ...], AfterValidator(_named_once)]


class SourceSections(BaseModel):
    """The sources' part of the settings. A section has its source's name, but for the list of feeds."""

    arxiv: ArxivSettings = ArxivSettings()
    huggingface: HuggingFaceSettings = HuggingFaceSettings()
    github: GitHubSettings = GitHubSettings()
    feeds: Feeds = ()


# What a topic may name as a source; `feed` is any of the feeds, feed:NAME one of them.
SOURCES = (*(name for name in SourceSections.model_fields if name != "feeds"), "feed")
