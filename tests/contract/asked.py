"""Eighty queries as people type them, and what must come; see tests/payloads/queries/README.md."""

import gzip
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bot.models import Item
from bot.store.records import item_from_text

_FOLDER = Path(__file__).parents[1] / "payloads" / "queries"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A query and what is expected of its answer; keys are those of items."""

    kind: str
    query: str
    first: tuple[str, ...] = ()  # one of these is the first result
    five: tuple[str, ...] = ()  # all of these are among the first five
    author: str = ""  # who is meant: all results are theirs
    corrected: str = ""  # the words that are searched instead
    nothing: bool = False  # nothing answers it


@lru_cache
def asked() -> tuple[Asked, ...]:
    """Return the queries, in the file's order."""
    lines = (_FOLDER / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_asked(json.loads(line)) for line in lines)


def _asked(record: dict[str, Any]) -> Asked:
    first, five = (tuple(record.pop(name, ())) for name in ("first", "five"))
    return Asked(first=first, five=five, **record)


@lru_cache
def asked_items() -> tuple[Item, ...]:
    """Return the items among which they are asked."""
    return tuple(map(item_from_text, gzip.decompress((_FOLDER / "items.jsonl.gz").read_bytes()).decode().splitlines()))
