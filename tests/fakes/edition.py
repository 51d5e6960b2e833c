"""The edition of 14 June 2026: the items of one real day and the five that a digest of that day chose."""

import json
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from bot.models import Item

_FOLDER = Path(__file__).parents[1] / "payloads" / "edition-2026-06-14"


@cache
def items() -> tuple[Item, ...]:
    """The day's 15 papers and one repository, in the feed's order."""
    reader = TypeAdapter(Item)
    lines = (_FOLDER / "items.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(reader.validate_json(line) for line in lines)


@cache
def chosen() -> tuple[tuple[str, str], ...]:
    """The five that were chosen: (title, the paragraph written about it), in the digest's order."""
    entries = json.loads((_FOLDER / "expected.json").read_text(encoding="utf-8"))
    return tuple((entry["title"], entry["text"]) for entry in entries)
