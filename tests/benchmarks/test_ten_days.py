"""Ten mornings: what is recorded of a day is read, nothing is sent twice, and what is counted is what stands there."""

import csv
import gzip
import io
import json
import lzma
import tarfile
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from benchmarks import ten_days
from bot.digest.card import entry
from bot.models import Coverage, Digest, Item, LeftOut, Ranked, Summary, Topic
from bot.query import parse
from tests.fakes.works import paper

DAYS = ten_days.mornings(2)
CACHES = Topic(name="caches", title="Caches", query=parse("cache"))
ABSTRACT = "We present Tidy, a cache that predicts its own size. Tidy reduces misses by 31% on five machines."
OTHER = "Readers return what they borrow late. A cache of loans tells librarians of 9,000 volumes which shelf to empty."


def put(folder: Path, day: date, number: int, *, stars: int) -> None:
    """Record a day: a paper of arXiv, another of Hugging Face, and a repository with so many stars."""
    hf = {
        "id": f"2603.1000{number}",
        "title": f"Which works of the library nobody borrows, volume {number}",
        "summary": OTHER,
        "upvotes": 7,
    }
    (folder / "hf" / "daily").mkdir(parents=True, exist_ok=True)
    (folder / "hf" / "daily" / f"{day}.json.gz").write_bytes(gzip.compress(json.dumps([{"paper": hf}]).encode()))
    rows = io.StringIO()
    names = ["repo_name", "stars", "forks", "language", "repo_url", "username", "issues", "last_commit", "description"]
    values = ("tidy", stars, 1, "C", "https://github.com/ada/tidy", "ada", 0, f"{day}T00:00:00Z", "A cache")
    csv.writer(rows).writerows([names, values])
    content = rows.getvalue().encode()
    with tarfile.open(folder / "rankings.tar", "a") as archive:
        member = tarfile.TarInfo(f"./github-ranking-{day + ten_days.SHIFT}.csv")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))


def record(folder: Path) -> None:
    """Record two mornings, and the days before on which the rankings are read."""
    lines = [
        {"id": f"2603.0000{number}", "title": f"Tidy {number}: a cache of size {number}", "abstract": ABSTRACT}
        | {"authors": ["Ada L"], "categories": ["cs.OS"], "first_seen": str(day)}
        for number, day in enumerate(DAYS)
    ]
    (folder / "big-corpus").mkdir()
    with lzma.open(folder / "big-corpus" / "arxiv-recent-2025-03_2026-03.jsonl.xz", "wt") as file:
        file.write("\n".join(map(json.dumps, lines)))
    for ago in range(ten_days.BEFORE, 0, -1):
        put(folder, DAYS[0] - timedelta(days=ago), 9, stars=1000)
    for number, day in enumerate(DAYS):
        put(folder, day, number, stars=1000 + 300 * number)
    (folder / "github" / "ranking").mkdir(parents=True)
    target = folder / "github" / "ranking" / "daily_2026-06-09_2026-07-30.tar.xz"
    target.write_bytes(lzma.compress((folder / "rankings.tar").read_bytes()))


async def test_each_morning_has_the_papers_of_its_day_and_a_repository_when_its_stars_jump(tmp_path: Path) -> None:
    record(tmp_path)
    given = ten_days.sources(tmp_path, DAYS)
    digests = [each async for each in ten_days.sent(given, DAYS, [CACHES], None, tmp_path / "days.db")]
    keys = [{each.ranked.item.key for each in digest.entries} for digest in digests]
    assert keys == [
        {"arxiv:2603.00000", "arxiv:2603.10000"},
        {"arxiv:2603.00001", "arxiv:2603.10001", "github:ada/tidy"},
    ]
    assert ten_days.repeats(digests) == 0
    assert [line.split(" | ")[:2] for line in ten_days.table(digests) if "---" not in line] == [
        ["| topic", "entries"],
        ["| caches", "5"],
        ["| all", "5"],
    ]


async def test_what_fell_to_the_cap_and_is_posted_on_the_next_morning_is_counted(tmp_path: Path) -> None:
    record(tmp_path)
    given = ten_days.sources(tmp_path, DAYS)
    digests = [each async for each in ten_days.sent(given, DAYS, [CACHES], None, tmp_path / "days.db")]
    first, second = digests
    left = LeftOut(second.entries[0].ranked.item.key, "over the cap", 8, 0.5)
    assert "| 1, 1 |" in [*ten_days.table([first, replace(second, carried=(left,))])][-1]
    assert "| 1, 0 |" in [*ten_days.table([replace(first, carried=(left,)), second])][-1]


def test_mornings_are_weekdays_that_nobody_judged() -> None:
    days = ten_days.mornings()
    assert (len(days), days[0]) == (10, date(2026, 3, 4))
    assert not {date(2026, 3, 10), date(2026, 3, 17)} & set(days)
    assert all(day.weekday() < 5 for day in days)


def test_a_work_that_comes_again_under_another_key_is_a_repeat() -> None:
    first = paper("2603.00001", title="A cache that sizes itself")
    renamed = replace(first, key="doi:10.1/x", title="A Cache That Sizes Itself.")
    assert ten_days.repeats([digest_of("caches", first), digest_of("caches", renamed)]) == 1
    assert ten_days.repeats([digest_of("caches", first), digest_of("others", renamed)]) == 0


def digest_of(topic: str, *items: Item) -> Digest:
    """A digest of the items."""
    now = datetime(2026, 3, 4, 9, tzinfo=UTC)
    made = tuple(entry(Ranked(item, 0.5, ()), Summary((), "abstract", "extractive")) for item in items)
    return Digest(topic, topic, now.date(), now, now, made, Coverage((), len(items), len(items)))
