"""Items: papers, repositories and posts, however many sources saw them."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum


class Kind(StrEnum):
    """What an item is."""

    PAPER = "paper"
    REPO = "repo"
    POST = "post"


@dataclass(frozen=True, slots=True)
class Link:
    """Where a reader can go. `rel` is one of abstract, pdf, code, page, discussion, doi, post, model, video."""

    rel: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A version that a repository has published."""

    tag: str  # as it stands in the repository: "v2.1.0", "core==0.3.1"
    published: datetime
    name: str = ""
    prerelease: bool = False  # what its makers call one
    notes: str = ""  # the opening of what its makers say of it, as text; a list has a line for each of its points


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One paper, repository or post, known by one key however many sources saw it.

    `key` is `arxiv:2606.01234` (without version), `github:owner/name` (lower case), `doi:…` (lower case) or `url:…`
    (normalised). `aliases` are the other keys under which the same work was seen.
    """

    key: str
    kind: Kind
    title: str
    abstract: str = ""  # a paper's abstract, a repository's description, a post's text: readable Unicode, no markup
    authors: tuple[str, ...] = ()  # for a repository its owner
    org: str = ""
    categories: tuple[str, ...] = ()  # arXiv's, the primary one first
    keywords: tuple[str, ...] = ()  # GitHub topics, Hugging Face keywords, a feed's tags
    sources: tuple[str, ...] = ()  # arxiv, huggingface, github, feed:<name>; in the order in which they saw it
    links: tuple[Link, ...] = ()
    aliases: tuple[str, ...] = ()
    published: datetime | None = None  # version 1 of a paper; creation of a repository
    updated: datetime | None = None  # the latest version; the latest push
    appeared: datetime | None = None  # when its source showed it to the public: announced, picked, posted
    seen: datetime | None = None  # when we first stored it; set by the pipeline, never by a source
    announce: str = ""  # arXiv: new, cross, replace, replace-cross
    version: int = 0  # arXiv's; 0 when unknown
    comment: str = ""
    license: str = ""  # an SPDX id where it is known, else the licence's URL
    language: str = ""  # of a repository
    stars: int | None = None
    forks: int | None = None
    upvotes: int | None = None
    comments: int | None = None  # on its page at Hugging Face
    withdrawn: bool = False
    archived: bool = False
    fork: bool = False
    readme: str = ""  # the opening of a repository's README, as text
    release: Release | None = None  # the latest; a prerelease only where its newest ones all are
    releases_read: datetime | None = None  # when its releases were read last; without a release it had none then
    releases_confirmed: datetime | None = None  # when its source last said that they are as they were read
    repo: str = ""  # the key of a paper's repository, once joined
    paper: str = ""  # the key of a repository's paper, once joined

    def is_old(self, max_age: timedelta, now: datetime) -> bool:
        """Say whether it is no news any more. A paper's announcement counts, not its date alone; a repository is news
        whenever it is first seen.
        """
        when = self.appeared or self.published
        return self.kind is not Kind.REPO and when is not None and now - when > max_age


@dataclass(frozen=True, slots=True)
class Reading:
    """What the community signals of an item were on one day; at most one is kept per item and day, the last."""

    day: date
    stars: int | None = None
    forks: int | None = None
    upvotes: int | None = None
