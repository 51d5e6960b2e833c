"""About a hundred real papers and repositories as Items, chosen for what is odd in them; see tests/payloads/README.md.

And plain ones, for what only their number has to tell apart.
"""

import gzip
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from bot.models import Item, Kind
from bot.store.records import item_from_text
from tests.conftest import NOW

_FILE = Path(__file__).parents[1] / "payloads" / "records.jsonl.gz"


@lru_cache
def records() -> tuple[Item, ...]:
    """Return the items, in the file's order."""
    return tuple(map(item_from_text, gzip.decompress(_FILE.read_bytes()).decode().splitlines()))


def paper(number: int = 1, **changes: object) -> Item:
    """A plain paper of yesterday."""
    plain = Item(
        key=f"arxiv:2604.{number:05}",
        kind=Kind.PAPER,
        title=f"Paper {number}",
        published=NOW - timedelta(days=1),
        seen=NOW,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]
