"""About a hundred real papers and repositories as Items, chosen for what is odd in them; see tests/payloads/README.md."""

import gzip
from functools import lru_cache
from pathlib import Path

from bot.models import Item
from bot.store.records import item_from_text

_FILE = Path(__file__).parents[1] / "payloads" / "records.jsonl.gz"


@lru_cache
def records() -> tuple[Item, ...]:
    """Return the items, in the file's order."""
    return tuple(map(item_from_text, gzip.decompress(_FILE.read_bytes()).decode().splitlines()))
