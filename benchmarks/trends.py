"""How long `trends` takes, and how long it keeps the event loop, beside the same work done in threads of the service.

    python -m benchmarks.trends --corpus papers.jsonl.xz [--corpus MORE …] [--items 100000] [--rounds 5]

The papers are stored. In each round are measured, one after the other: nothing; the rising terms of all that is stored,
counted in a thread; `trends` of everything, and of a topic, whose terms a process of its own counts; then the pictures of
these charts, drawn in threads, and as the chats have them drawn. Printed are seconds at the median and at most, and how
late ticks of 10 ms came: medians and 99th percentiles of all ticks, and the latest.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from adapters.chat.pictures import drawn_charts
from adapters.pictures.png import png
from benchmarks import corpus
from benchmarks.loop_lag import Lag, watched
from bot.digest.publisher import Publisher
from bot.handlers.context import HandlerContext
from bot.handlers.trends.trends import BEFORE, LATELY, TEXTS, charts_of
from bot.models import Chart, Item, Topic, When
from bot.query import parse
from bot.rank.trends import rising_terms
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from bot.summarise.gist import gists

SOME = Topic(name="inference", title="Inference", query=parse("gpu OR kernel OR inference OR attention"))


@dataclass
class Measured:
    """What was measured of one thing in all rounds."""

    seconds: list[float] = field(default_factory=list)
    lag: Lag = field(default_factory=Lag)

    async def take(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do it once, and note how long it took and what the loop's ticker saw."""
        begun = time.perf_counter()
        async with watched() as seen:
            await work()
        self.seconds.append(time.perf_counter() - begun)
        self.lag.late += seen.late
        self.lag.busy += seen.busy

    def told(self) -> str:
        """Return it in a line."""
        late, busy = np.array(self.lag.late), np.array(self.lag.busy)
        middle, most = np.percentile(late, (50, 99))
        return (
            f"{np.median(self.seconds):5.2f} s, {max(self.seconds):5.2f} at most   ticks late {middle:5.1f} ms, p99"
            f" {most:5.1f}, {late.max():5.1f} at most   busy p99 {np.percentile(busy, 99):4.1f}"
        )


async def measured(store: SqliteStore, newest: datetime, rounds: int) -> dict[str, Measured]:
    """Return what each took, by its name."""
    context = HandlerContext(store, Publisher(store, Extractive(), {}), {}, {"arxiv": "arXiv"}, gists)
    since = newest - LATELY
    sides = When("published", after=since, before=newest), When("published", after=since - BEFORE, before=since)
    texts = [await store.index.texts(each, newest, limit=TEXTS) for each in sides]
    charts: list[Chart] = []
    found: dict[str, Measured] = {}
    for number in range(rounds):
        now = newest + timedelta(hours=number)  # charts are kept for minutes

        async def asked(topic: Topic | None, now: datetime = now) -> None:
            charts[:] = (await charts_of(context, topic, now))[0]

        works: dict[str, Callable[[], Awaitable[object]]] = {
            "nothing": lambda: asyncio.sleep(2),
            "terms in a thread": lambda: asyncio.to_thread(rising_terms, texts[0], texts[1]),
            "trends": lambda: asked(None),
            "trends TOPIC": lambda: asked(SOME),
            "pictures in threads": lambda: asyncio.gather(*(asyncio.to_thread(png, each) for each in charts)),
            "pictures": lambda: drawn_charts(charts),
        }
        for name, work in works.items():
            await found.setdefault(name, Measured()).take(work)
    return found


async def run(papers: Sequence[Item], rounds: int) -> None:
    """Fill a store and measure."""
    with tempfile.TemporaryDirectory(prefix="trends-") as folder:
        store = SqliteStore(Path(folder) / "b.sqlite3")
        await store.open()
        try:
            newest = max(each.published for each in papers if each.published) + timedelta(days=1)
            await corpus.store_all(store, papers, newest)
            print(f"{len(papers):,} papers until {newest:%Y-%m-%d}")
            for name, each in (await measured(store, newest.astimezone(UTC), rounds)).items():
                print(f"  {name:20}{each.told()}")
        finally:
            await store.close()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, action="append")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    papers = [each for file in given.corpus for each in corpus.papers(file)]
    asyncio.run(run(papers[: given.items], given.rounds))


if __name__ == "__main__":
    main()
