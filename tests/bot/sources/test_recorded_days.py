"""Reads whole days as they were recorded: the small copies, or every file of the folder BROADSHEET_TEST_HF_DAYS."""

import gzip
import json
import os
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from bot.models import Item, Kind
from bot.sources.huggingface.daily_papers import Day, read_day

COPIES = Path(__file__).parents[2] / "payloads" / "huggingface"
FOLDER = Path(os.environ.get("BROADSHEET_TEST_HF_DAYS") or COPIES)  # at import: no test sees the variable
FILES = sorted(FOLDER.glob("*.json.gz"))


def read(path: Path) -> tuple[Day, int]:
    recorded = json.loads(gzip.decompress(path.read_bytes()))
    return read_day(recorded, date.fromisoformat(path.name[:10])), len(recorded)


def fields_of(item: Item) -> list[str]:
    told = ["abstract", "authors", "org", "keywords", "published", "appeared", "upvotes", "stars"]
    return [name for name in told if getattr(item, name) not in (None, "", ())] + [
        f"link to {link.rel}" for link in item.links
    ]


@pytest.mark.parametrize("path", FILES, ids=[path.name[:10] for path in FILES])
def test_a_recorded_day_is_read_whole(path: Path) -> None:
    day, recorded = read(path)
    papers = [item for item in day.items if item.kind is Kind.PAPER]
    assert (day.entries, day.skipped, len(papers)) == (recorded, 0, recorded)
    assert not day.notes
    for paper in papers:
        assert paper.abstract
        assert paper.authors
        assert paper.upvotes is not None
        assert paper.published
        assert paper.appeared
        assert paper.appeared.date() == date.fromisoformat(path.name[:10])
        assert {"abstract", "discussion"} <= {link.rel for link in paper.links}
        assert "\n" not in paper.title + paper.abstract


def test_the_fields_of_every_month_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    months: dict[str, Counter[str]] = {}
    for path in FILES:
        for item in read(path)[0].items:
            count = months.setdefault(path.name[:7], Counter())
            count.update([f"{item.kind}s", *(f"{item.kind}.{name}" for name in fields_of(item))])
    with capsys.disabled():
        for month, count in months.items() if FOLDER != COPIES else ():
            print(month, dict(sorted(count.items())))
    total = sum(months.values(), Counter())
    assert total["papers"] == total["paper.abstract"] == total["paper.upvotes"] > 0
    assert total["repos"] == total["repo.stars"] > 0
