"""Short ways to write an item in a test: only what matters there is named."""

from datetime import UTC, datetime
from typing import Any

from bot.models import Item, Kind, Link

DAY = datetime(2026, 3, 31, tzinfo=UTC)


def paper(number: str = "2603.00001", **given: Any) -> Item:
    """A paper as arXiv's announcement gives it."""
    values: dict[str, Any] = {
        "key": f"arxiv:{number}",
        "kind": Kind.PAPER,
        "title": f"Paper {number}",
        "abstract": "We present a method. It is fast.",
        "authors": ("Ada Lovelace", "Alan Turing"),
        "categories": ("cs.LG",),
        "sources": ("arxiv",),
        "links": (Link("abstract", f"https://arxiv.org/abs/{number}"),),
        "published": DAY,
        "appeared": DAY,
    }
    return Item(**values | given)


def repo(name: str = "owner/name", **given: Any) -> Item:
    """A repository as GitHub's search gives it."""
    values: dict[str, Any] = {
        "key": f"github:{name.lower()}",
        "kind": Kind.REPO,
        "title": name,
        "abstract": "A fast thing.",
        "authors": (name.split("/")[0],),
        "sources": ("github",),
        "links": (Link("code", f"https://github.com/{name}"),),
        "language": "Python",
        "stars": 100,
        "forks": 10,
    }
    return Item(**values | given)


def post(slug: str = "news", **given: Any) -> Item:
    """An entry of a lab's feed."""
    values: dict[str, Any] = {
        "key": f"url:https://lab.example/{slug}",
        "kind": Kind.POST,
        "title": f"The lab's {slug}",
        "abstract": "The lab has news.",
        "authors": ("Grace Hopper",),
        "sources": ("feed:lab",),
        "links": (Link("post", f"https://lab.example/{slug}"),),
        "published": DAY,
        "appeared": DAY,
    }
    return Item(**values | given)
