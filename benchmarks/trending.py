"""How long `trending` takes beside the default search, both as commands, in turn in the same run.

    python -m benchmarks.trending --corpus papers.jsonl.xz [--rounds 200]

All papers of the corpus are stored. A third of them have upvotes, and 2,000 repositories stand beside them; of each
repository, and of each paper of the last week, what was counted is read on seven days. In each round a search by words of a
title (best first, without a vector, another one in each), `trending`, `trending papers` and `trending repos` are asked one
after the other. Printed are milliseconds at the median, the 95th and 99th percentile, and how many times those of the search
each takes: by the clock, and of the processor in all threads, which other programs hardly change.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from benchmarks import corpus
from benchmarks.search import queries
from bot.commands import Command, parse
from bot.digest.publisher import Publisher
from bot.handlers.context import HandlerContext
from bot.handlers.handle import handle
from bot.models import Actor, Item, Kind, Link
from bot.rank.trending import DAYS
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from bot.summarise.gist import gists

NOW = datetime(2026, 4, 1, 7, tzinfo=UTC)
REPOSITORIES = 2000
ASKED = ("trending", "trending papers", "trending repos")
_ADA = Actor(platform="local", workspace="local", channel="terminal", person="ada")


def repository(number: int, chance: random.Random) -> Item:
    """Return a repository of the last month, with stars."""
    made = NOW - timedelta(days=chance.uniform(0, 30))
    return Item(
        key=f"github:lab{number}/kit",
        kind=Kind.REPO,
        title=f"lab{number}/kit",
        abstract="Kernels for serving language models.",
        sources=("github",),
        links=(Link("page", f"https://github.com/lab{number}/kit"),),
        published=made,
        seen=made,
        stars=int(chance.paretovariate(1) * 20),
    )


async def fill(store: SqliteStore, papers: Sequence[Item]) -> None:
    """Store the papers and repositories, and what is counted of them on each of seven days."""
    chance = random.Random(11)
    voted = [replace(each, upvotes=int(chance.paretovariate(1))) if chance.random() < 1 / 3 else each for each in papers]
    await corpus.store_all(store, voted, NOW - DAYS)
    young = [each for each in voted if each.published and each.published > NOW - DAYS and each.upvotes]
    counted = [*young, *(repository(number, chance) for number in range(REPOSITORIES))]
    for day in range(DAYS.days, -1, -1):
        counted = [_counted_again(each, chance) for each in counted]
        await corpus.store_all(store, counted, NOW - timedelta(days=day))
    print(f"{len(papers):,} papers, {len(young):,} of the last week with upvotes, {REPOSITORIES:,} repositories")


def _counted_again(item: Item, chance: random.Random) -> Item:
    more = int(chance.paretovariate(1)) - 1
    return (
        replace(item, stars=item.stars + more)
        if item.stars is not None
        else replace(item, upvotes=(item.upvotes or 0) + more)
    )


Times = dict[str, list[tuple[float, float]]]  # by the clock, and of the processor


async def measured(store: SqliteStore, papers: Sequence[Item], rounds: int) -> Times:
    """Return the milliseconds of each command, round by round; the first round warms the caches and does not count."""
    context = HandlerContext(store, Publisher(store, Extractive(), {}), {}, {}, gists)
    times: Times = {"search": [], **{each: [] for each in ASKED}}
    for number, words in enumerate(queries(papers, rounds + 1)):
        for name, command in (("search", parse(f"search {words}")), *((each, parse(each)) for each in ASKED)):
            taken = await _time(context, command)
            times[name] += [taken] if number else []
    return times


async def _time(context: HandlerContext, command: Command) -> tuple[float, float]:
    begin, used = time.perf_counter(), time.process_time()
    await handle(context, command, _ADA, NOW)
    return 1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - used)


def tell(times: Times) -> None:
    """Print the percentiles, and the ratios to the search's."""
    for at, what in enumerate(("by the clock", "of the processor")):
        print(what)
        base = np.percentile([each[at] for each in times["search"]], (50, 95, 99))
        for name, some in times.items():
            found = np.percentile([each[at] for each in some], (50, 95, 99))
            ratios = "".join(f"{ratio:8.2f}" for ratio in found / base)
            print(f"  {name:18}" + "".join(f"{value:8.1f}" for value in found) + f"   times the search's {ratios}")


async def run(papers: Sequence[Item], rounds: int) -> None:
    """Fill a store and measure."""
    with tempfile.TemporaryDirectory(prefix="trending-") as folder:
        store = SqliteStore(Path(folder) / "b.sqlite3")
        await store.open()
        try:
            await fill(store, papers)
            tell(await measured(store, papers, rounds))
        finally:
            await store.close()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trending", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    asyncio.run(run(corpus.papers(given.corpus), given.rounds))


if __name__ == "__main__":
    main()
