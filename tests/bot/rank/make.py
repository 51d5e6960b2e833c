"""Items and topics for the tests of ranking."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from bot.models import Interest, Item, Kind, Topic
from bot.query import parse

NOW = datetime(2026, 6, 14, 9, 30, tzinfo=UTC)


def paper(title: str, abstract: str = "", **more: object) -> Item:
    """A paper of yesterday, its key made from the title."""
    fields: dict[str, object] = {"key": f"url:{title}", "published": NOW - timedelta(days=1), **more}
    return Item(kind=Kind.PAPER, title=title, abstract=abstract, **fields)  # type: ignore[arg-type]


def repo(name: str, description: str = "", **more: object) -> Item:
    """A repository."""
    return Item(key=f"github:{name.lower()}", kind=Kind.REPO, title=name, abstract=description, **more)  # type: ignore[arg-type]


def topic(query: str = "", *interests: str | tuple[str, float], sources: Sequence[str] = ()) -> Topic:
    """A topic; an interest without a weight has 1."""
    pairs = [(each, 1.0) if isinstance(each, str) else each for each in interests]
    weighed = tuple(Interest(clause, weight) for clause, weight in pairs)
    return Topic(name="t", title="T", query=parse(query), interests=weighed, sources=tuple(sources))
