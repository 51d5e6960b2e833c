"""Real papers as Items for the benchmarks: a file of JSON lines, plain or packed with gzip or xz.

Each line holds at least `id`, `title` and `abstract`; `authors` is a list or a text with commas, `categories` a list, and a
date `first_seen` or `created`. Such files are made from arXiv's public metadata (CC0).
"""

import gzip
import json
import lzma
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from bot.models import Item, Kind, Link
from bot.ports.store import Store


def rows(path: Path, limit: int | None = None) -> list[dict[str, Any]]:
    """Return the records of the file as they are, at most `limit`."""
    return list(islice(_lines(path), limit))


def papers(path: Path, limit: int | None = None) -> list[Item]:
    """Return the papers of the file as the arXiv source would make them, at most `limit`."""
    return [paper(row) for row in rows(path, limit)]


def paper(row: dict[str, Any]) -> Item:
    """Return the record as the arXiv source would make it."""
    authors = row["authors"]
    day = datetime.fromisoformat(row.get("first_seen") or row["created"]).replace(tzinfo=UTC)
    return Item(
        key=f"arxiv:{row['id']}",
        kind=Kind.PAPER,
        title=row["title"],
        abstract=row["abstract"],
        authors=tuple(authors if isinstance(authors, list) else authors.split(", ")),
        categories=tuple(row["categories"]),
        sources=("arxiv",),
        links=(Link("abstract", f"https://arxiv.org/abs/{row['id']}"), Link("pdf", f"https://arxiv.org/pdf/{row['id']}")),
        published=day,
        appeared=day,
        seen=day,
        comment=row.get("comment") or "",
    )


async def store_all(store: Store, items: Iterable[Item], now: datetime) -> None:
    """Store the items as a collection does, some thousands at a time."""
    left = iter(items)
    while some := list(islice(left, 2000)):
        await store.items.add(some, now)


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".xz":
        return lzma.LZMAFile(path)
    return cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with _opened(path) as file:
        for line in file:
            yield json.loads(line)
