"""Ten mornings of six topics, every digest printed as the terminal prints it, to be read: what a team is sent in two weeks.

    python -m benchmarks.ten_days --data FOLDER [--packs gpu-systems databases] [--layout brief|full] [--vectors FOLDER]

FOLDER holds `big-corpus/arxiv-recent-2025-03_2026-03.jsonl.xz`, `hf/daily/*.json.gz` and
`github/ranking/daily_2026-06-09_2026-07-30.tar.xz`, as `benchmarks.build_recordings` names their makers. Every weekday of
March 2026 is collected as of 08:30 UTC, by the collector, into a store as it is run with: the papers that arXiv announced,
those that Hugging Face listed, and the most starred repositories. At 09:00 each topic's digest is published to a channel of
its own and recorded, and the next day begins where it ended. Judged days (`benchmarks.quality.digests`) are left out.

The star rankings are of the summer after: each is taken as if it were of 100 days before, so that repositories have readings
from three days before the first morning on. They know of no creation and no release: what can happen to a repository here
is that its stars jump, and that its paper is announced.
"""

import argparse
import asyncio
import csv
import gzip
import io
import json
import re
import statistics
import sys
import tarfile
import tempfile
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import numpy as np
from rich.console import Console

from adapters.cli.render.digest import DigestView
from adapters.words import facts
from benchmarks import corpus
from benchmarks.build_recordings import repository
from benchmarks.quality.digests import DAYS as JUDGED
from benchmarks.quality.embedding import Embedding
from bot.collect.collector import Collector
from bot.digest.card import MOST_WORDS
from bot.digest.publisher import Publisher
from bot.embed.shipped import LocalEmbedder
from bot.models import Batch, Digest, DigestRequest, Entry, Item, Kind, Layout, SourceState, Topic
from bot.models.vectors import Floats, pack, text_of_item
from bot.ports.vectors import Embedder
from bot.rank import description_text
from bot.settings.topic_packs import load_packs
from bot.sources.github.repositories import read_search
from bot.sources.huggingface.daily_papers import read_day
from bot.sources.markup.tex import readable
from bot.sources.registry import AUTHORITY, TITLES
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from bot.summarise.short_gist import LONGEST

PACKS = ("gpu-systems", "llm-agents", "databases", "diffusion", "rag-search", "robotics")
FIRST, MORNINGS = date(2026, 3, 4), 10
SHIFT = timedelta(days=100)  # from a day of the rankings to the day that it stands for
BEFORE = 3  # days before the first morning on which the rankings are read
COLLECTED, PUBLISHED = time(8, 30, tzinfo=UTC), time(9, tzinfo=UTC)
WIDTH = 80  # columns
THIN = 2  # entries
_ENOUGH = 100_000  # items that may be without a vector


@dataclass(frozen=True, slots=True)
class Recorded:
    """A source that answers each day what is recorded of it: bot.ports.source.Source."""

    name: str
    days: Mapping[date, tuple[Item, ...]]

    @property
    def title(self) -> str:
        """Its name for people."""
        return TITLES[self.name]

    async def collect(self, state: SourceState, now: datetime) -> AsyncGenerator[Batch, None]:
        """Yield the day's items at once."""
        yield Batch(items=self.days.get(now.date(), ()))

    def next_ask(self, state: SourceState, now: datetime, every: timedelta) -> datetime:
        """Return now: it is asked by hand."""
        return now

    async def check(self, now: datetime) -> str:
        """Return that it is recorded."""
        return "recorded"


@dataclass(slots=True)
class Kept:
    """An embedder that makes the vector of a topic's text once: bot.ports.vectors.Embedder."""

    embedding: Embedding
    rows: dict[str, Floats] = field(default_factory=dict)

    @property
    def space(self) -> str:
        """The space of its vectors."""
        return self.embedding.space

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        return self.embedding.embedder.size

    @property
    def enough(self) -> float:
        """The cosine from which on a text is found by its meaning alone."""
        return self.embedding.embedder.enough

    async def embed(self, texts: Sequence[str], *, quick: bool = False) -> Floats:
        """Return one row per text."""
        new = [text for text in dict.fromkeys(texts) if text not in self.rows]
        self.rows |= dict(zip(new, await self.embedding.texts(new, quick=quick), strict=True))
        return np.stack([self.rows[text] for text in texts]) if texts else np.zeros((0, self.size), np.float32)


# --- what is recorded


def mornings(days: int = MORNINGS) -> list[date]:
    """Return the days on which digests are published."""
    judged = {date.fromisoformat(day) for some in JUDGED.values() for day in some}
    weekdays = (FIRST + timedelta(days=ahead) for ahead in range(4 * days))
    return [day for day in weekdays if day.weekday() < 5 and day not in judged][:days]


def sources(data: Path, days: Sequence[date]) -> tuple[Recorded, ...]:
    """Return the three sources with what is recorded of them on the days."""
    return (
        Recorded("arxiv", arxiv(data / "big-corpus" / "arxiv-recent-2025-03_2026-03.jsonl.xz", days)),
        Recorded("huggingface", {day: huggingface(data / "hf" / "daily" / f"{day}.json.gz", day) for day in days}),
        Recorded("github", github(data / "github" / "ranking" / "daily_2026-06-09_2026-07-30.tar.xz", days)),
    )


def arxiv(file: Path, days: Sequence[date]) -> dict[date, tuple[Item, ...]]:
    """Return the papers that were first seen on each of the days."""
    found: dict[date, list[Item]] = {day: [] for day in days}
    for item in corpus.papers(file):
        if item.appeared and item.appeared.date() in found:
            text = replace(item, title=readable(item.title), abstract=readable(item.abstract), seen=None, announce="new")
            found[item.appeared.date()].append(text)
    return {day: tuple(items) for day, items in found.items()}


def huggingface(file: Path, day: date) -> tuple[Item, ...]:
    """Return the papers and repositories that Hugging Face listed for the day, nothing where it is not recorded."""
    return read_day(json.loads(gzip.decompress(file.read_bytes())), day).items if file.exists() else ()


def github(file: Path, days: Sequence[date]) -> dict[date, tuple[Item, ...]]:
    """Return the repositories of the rankings that stand for the days, and for those just before the first."""
    wanted = [*(days[0] - timedelta(days=ago) for ago in range(BEFORE, 0, -1)), *days] if days else []
    with tarfile.open(file) as archive:
        names = {member.name.rpartition("/")[2]: member for member in archive.getmembers()}
        return {day: _ranked(archive, names[f"github-ranking-{day + SHIFT}.csv"]) for day in wanted}


def _ranked(archive: tarfile.TarFile, member: tarfile.TarInfo) -> tuple[Item, ...]:
    content = archive.extractfile(member)
    assert content is not None
    rows = list(csv.DictReader(io.TextIOWrapper(content, encoding="utf-8")))
    items = read_search({"total_count": len(rows), "items": [repository(row) for row in rows]}).items
    return tuple(replace(item, updated=item.updated - SHIFT if item.updated else None) for item in items)


# --- what is sent


async def sent(
    given: Sequence[Recorded], days: Sequence[date], topics: Sequence[Topic], embedding: Embedding | None, path: Path
) -> AsyncGenerator[Digest, None]:
    """Yield each topic's digest of each morning."""
    store = SqliteStore(path)
    await store.open()
    collector = Collector(store, AUTHORITY)
    embedder: Embedder | None = await _prepared(topics, embedding) if embedding else None
    publisher = Publisher(store, Extractive(), {each.name: each.title for each in given}, embedder)
    for day in sorted({*days, *(day for each in given for day in each.days)}):
        now = datetime.combine(day, COLLECTED)
        await collector.collect(given, now)
        if embedding:
            await _embed(store, embedding, quick=day < days[0])
        if day in days:
            requests = [DigestRequest(topic, "local", topic.name) for topic in topics]
            for digest in await publisher.publish(requests, datetime.combine(day, PUBLISHED), record=True):
                yield digest
    await store.close()


async def _prepared(topics: Sequence[Topic], embedding: Embedding) -> Kept:
    """An embedder that knows the topics' texts already: a digest waits a few seconds for them at most."""
    made = Kept(embedding)
    for topic in topics:
        await made.embed([*filter(None, [description_text(topic)]), *topic.examples])
    return made


async def _embed(store: SqliteStore, embedding: Embedding, *, quick: bool) -> None:
    """Give everything that is stored its vector; what comes before the first morning is a backlog, made the quick way."""
    items = await store.vectors.lacking(embedding.space, limit=_ENOUGH)
    rows = await embedding.texts([text_of_item(item) for item in items], quick=quick)
    if items:
        await store.vectors.save(embedding.space, items, pack(rows), quick=quick)


# --- what is counted


def words(entry: Entry) -> int:
    """Return how many words an entry has in the brief: title, gist and facts."""
    return len(f"{entry.ranked.item.title} {entry.gist} {' '.join(facts(entry))}".split())


def card_words(entry: Entry) -> int:
    """Return how many words of a card are counted: all but title and byline."""
    parts = (f"{part.name} {part.text}" for part in entry.card)
    why = f"Why here {entry.why_here}" if entry.why_here else ""
    return len(" ".join((entry.gist, *parts, why)).split())


def repeats(digests: Sequence[Digest]) -> int:
    """Return how often a channel had a work again: under any key that it goes by, or under the same title."""
    count, seen = 0, dict[str, set[str]]()
    for digest in digests:
        before = seen.setdefault(digest.topic, set())
        for entry in digest.entries:
            names = {name for item in (entry.ranked.item, entry.partner) if item for name in _names(item)}
            count += bool(names & before)
            before |= names
    return count


def _names(item: Item) -> tuple[str, ...]:
    return (item.key, *item.aliases, re.sub(r"\W+", " ", item.title).casefold().strip())


def row(digests: Sequence[Digest]) -> Iterator[str]:
    """Yield what is counted of some digests, in the order of HEADINGS."""
    entries = [entry for digest in digests for entry in digest.entries]
    lengths, cards = ([count(entry) for entry in entries] or [0] for count in (words, card_words))
    gists = [len(entry.gist.split()) for entry in entries]
    carried = {each.key for digest in digests for each in digest.carried}
    later = sum(
        entry.ranked.item.key in {each.key for each in digest.carried} for digest in digests for entry in digest.entries
    )
    repos = sum(entry.ranked.item.kind is Kind.REPO for entry in entries)
    yield str(len(entries))
    yield f"{sum(len(digest.entries) <= THIN for digest in digests)}, {sum(not digest.entries for digest in digests)}"
    yield f"{statistics.median(lengths):.0f}, {max(lengths)}"
    yield f"{gists.count(0)}, {sum(count > LONGEST for count in gists)}"
    yield f"{statistics.median(cards):.0f}, {max(cards)}"
    yield f"{len(carried)}, {later}"
    yield str(repos)
    yield str(sum(len(digest.left_out) for digest in digests))
    yield str(repeats(digests))


HEADINGS = (
    "topic",
    "entries",
    f"days of {THIN} or fewer, empty",
    "words an entry: median, most",
    f"gists missing, over {LONGEST} words",
    f"words a card: median, most (of {MOST_WORDS})",
    "carried on, posted later",
    "repositories",
    "more on topic",
    "repeats",
)


def table(digests: Sequence[Digest]) -> Iterator[str]:
    """Yield a table in Markdown, a row for each topic and one for all."""
    yield f"| {' | '.join(HEADINGS)} |"
    yield f"|{'---|' * len(HEADINGS)}"
    for topic in dict.fromkeys(digest.topic for digest in digests):
        yield f"| {topic} | {' | '.join(row([digest for digest in digests if digest.topic == topic]))} |"
    yield f"| all | {' | '.join(row(digests))} |"


async def show(data: Path, names: Sequence[str], layout: Layout, embedding: Embedding | None) -> None:
    """Print every digest, then the table."""
    packs, days, console = load_packs(), mornings(), Console(width=WIDTH, highlight=False)
    digests = []
    with tempfile.TemporaryDirectory() as folder:
        async for digest in sent(
            sources(data, days), days, [packs[name] for name in names], embedding, Path(folder) / "days.db"
        ):
            console.print(DigestView(digest, layout))
            sys.stdout.flush()
            digests.append(digest)
    print("\n".join(("", *table(digests))))


def main() -> None:
    """Read what is asked for, and show it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--packs", nargs="+", default=PACKS)
    parser.add_argument("--layout", choices=(Layout.BRIEF.value, Layout.FULL.value), default=Layout.BRIEF.value)
    parser.add_argument("--vectors", type=Path, help="a folder that keeps vectors between runs")
    asked = parser.parse_args()
    asyncio.run(show(asked.data, asked.packs, Layout(asked.layout), Embedding(LocalEmbedder(), asked.vectors)))


if __name__ == "__main__":
    main()
