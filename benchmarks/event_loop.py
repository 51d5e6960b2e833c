"""How late a running service's event loop comes, beside a loop that does nothing in the same seconds.

    python -m benchmarks.event_loop --corpus FILE [--papers 2000] [--database FILE] [--seconds 10] [--where] [ROW …]

FILE is as `benchmarks.corpus` reads it. For each row the service is begun as `broadsheet run` does it, in a process of its
own with all its jobs, on a database of so many papers, or on a copy of the one that is given (with the index beside it).
Feeds, arXiv, Hugging Face and GitHub are a web server of this process that sends what a hostile one might; Slack and
Discord are those of the tests, in which twenty people give commands by the clock.

Two tickers of 10 ms run: one on the service's loop, one in a process that does nothing else. Told are, in milliseconds, how
late the ticks came on either at the 50th, 95th and 99th percentile and at most; how much of that the service's own threads
can have caused ("own": no more than the processor time that they used meanwhile, so other programs count little); and the
processor time that the loop's own thread used between two ticks ("busy"). The aim is a 99th percentile of 20 ms beside the
idle loop. `--where` tells what the threads were at when a tick was 15 ms late.
"""

import argparse
import asyncio
import itertools
import json
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpus
from benchmarks.acknowledge import PLATFORMS, Other, Waited
from benchmarks.hostile_answers import hostile_web
from bot.store.sqlite.store import SqliteStore, index_folder

AIM = 20.0  # milliseconds
QUICK = 20_000  # vectors that are taken away, for the row that makes them anew
COMMANDS = (
    'search "kv cache"',
    "show {key}",
    "search diffusion models sort:best",
    "list",
    "status",
    "help",
    "search cat:cs.LG published:30d",
    "search reinforcement learning from human feedback",
    "topic show gpu-systems",
    "help subscribe",
    "show {key}",
    "settings",
    "similar {key}",
)


@dataclass(frozen=True, slots=True)
class Row:
    """What the service does meanwhile."""

    works: tuple[str, ...] = ()  # of benchmarks.event_loop_service
    engine: str = "fts5"  # as the settings name it; so are the next two
    embeddings: str = "off"
    platform: str = ""  # in which commands are given
    unmade: bool = False  # whether the index beside the database, and some vectors, are to be made


ROWS: Mapping[str, Row] = {
    "nothing": Row(),
    "ingest": Row(("ingest",)),
    "ingest with tantivy": Row(("ingest",), "tantivy"),
    "index build": Row((), "tantivy", unmade=True),
    "quick vectors": Row(("search",), embeddings="fast", unmade=True),
    "vectors": Row(("search",), embeddings="on"),
    "hostile feeds": Row(("feeds",)),
    "slack": Row(platform="slack"),
    "discord": Row(platform="discord"),
    "slack with tantivy": Row(engine="tantivy", embeddings="fast", platform="slack"),
    "all": Row(("ingest", "feeds", "search"), "tantivy", "on", "slack", unmade=True),
}


# --- the database


@asynccontextmanager
async def database(given: argparse.Namespace) -> AsyncIterator[Path]:
    """Yield the path of a database of our own."""
    with tempfile.TemporaryDirectory(prefix="event-loop-", dir=given.folder) as folder:
        path = Path(folder) / "b.sqlite3"
        if given.database:
            await asyncio.to_thread(_copy, given.database, path)
        else:
            store = SqliteStore(path)
            await store.open()
            papers = await asyncio.to_thread(corpus.papers, Path(given.corpus), given.papers)
            await corpus.store_all(store, papers, datetime.now(UTC))
            await store.close()
        yield path


def _copy(source: Path, path: Path) -> None:
    shutil.copyfile(source, path)
    if index_folder(source).exists():
        shutil.copytree(index_folder(source), index_folder(path))


def _unmake(path: Path) -> None:
    """Take the index beside the database, and some vectors."""
    shutil.rmtree(index_folder(path), ignore_errors=True)
    connection = sqlite3.connect(path)
    try:
        with connection:
            connection.execute("delete from vectors where item in (select id from items order by id limit ?)", [QUICK])
    finally:
        connection.close()


def _keys(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return [key for (key,) in connection.execute("select key from items where kind = 'paper' order by id limit 200")]
    finally:
        connection.close()


# --- one row


async def measure(row: Row, path: Path, given: argparse.Namespace) -> Mapping[str, Any]:
    """Return what both tickers saw, and what was done meanwhile."""
    if row.unmade:
        await asyncio.to_thread(_unmake, path)
    keys = await asyncio.to_thread(_keys, path)
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(hostile_web())
        other = await stack.enter_async_context(PLATFORMS[row.platform].running()) if row.platform else None
        told = {
            "database": str(path),
            "corpus": given.corpus,
            "works": row.works,
            "engine": row.engine,
            "embeddings": row.embeddings,
            "where": given.where,
            "web": web,
            "platform": {row.platform: dict(other.settings)} if other else {},
        }
        service = await stack.enter_async_context(_beside("benchmarks.event_loop_service", json.dumps(told)))
        idle = await stack.enter_async_context(_beside("benchmarks.event_loop_service", "idle"))
        if other is not None:
            await other.connected()
        for each in (idle, service):
            await _say(each)
        waited = await _given(other, keys, given)
        for each in (idle, service):
            await _say(each)
        seen, nothing = [json.loads(await _line(each)) for each in (service, idle)]
    return {**seen, "idle": nothing["late"], "missed": waited.missed}


@asynccontextmanager
async def _beside(module: str, told: str) -> AsyncIterator[asyncio.subprocess.Process]:
    pipe = asyncio.subprocess.PIPE
    words = (sys.executable, "-m", module, told)
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, limit=2**26)
    try:
        if await _line(process) != "ready":
            raise SystemExit(f"{module} did not start")
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()


async def _line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


async def _say(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")
    await process.stdin.drain()


async def _given(other: Other | None, keys: Sequence[str], given: argparse.Namespace) -> Waited:
    """Give the commands by the clock, or let the time pass."""
    waited, tasks, begun = Waited(), set(), time.perf_counter()
    if other is None:
        await asyncio.sleep(given.seconds)
        return waited
    named = itertools.cycle(keys)
    for number, text in zip(range(int(given.rate * given.seconds)), itertools.cycle(COMMANDS)):
        await asyncio.sleep(max(0.0, begun + number / given.rate - time.perf_counter()))
        tasks.add(asyncio.create_task(other.give(text.format(key=next(named)), number, waited)))
    _, left = await asyncio.wait(tasks, timeout=15)
    for task in left:
        task.cancel()
    waited.missed += len(left)
    return waited


# --- the table


def told(name: str, seen: Mapping[str, Any]) -> str:
    """Return a row of the table."""
    late, own, busy = (np.percentile(seen[each], (50, 95, 99, 100)) for each in ("late", "own", "busy"))
    idle = np.percentile(seen["idle"], (50, 95, 99, 100))
    figures = [*late, *idle, own[2], own[3], busy[2], busy[3]]
    said = [seen["done"], f"processor {seen['used']:.1f} s, the loop's thread {sum(seen['busy']) / 1000:.1f}"]
    said += [f"{seen['missed']} commands missed"] if seen["missed"] else []
    return f"{name:20}" + "".join(f"{figure:8.1f}" for figure in figures) + "   " + "; ".join(filter(None, said))


HEAD = f"{'':20}" + "".join(
    f"{name:>8}"
    for name in ("p50", "p95", "p99", "most", "idle 50", "95", "99", "most", "own 99", "most", "busy 99", "most")
)


async def run(given: argparse.Namespace) -> None:
    """Measure the rows, and print them."""
    over: list[str] = []
    async with database(given) as path:
        print(HEAD, flush=True)
        for name in given.rows or ROWS:
            seen = await measure(ROWS[name], path, given)
            print(told(name, seen), flush=True)
            for line in seen["where"]:
                print(line)
            if np.percentile(seen["late"], 99) - np.percentile(seen["idle"], 99) > AIM:
                over.append(name)
    print(f"more than {AIM:g} ms beside the idle loop: {', '.join(over) or 'none'}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", required=True, help="papers, one JSON object per line")
    parser.add_argument("--papers", type=int, default=2000, help="so many of them are stored before")
    parser.add_argument("--database", type=Path, help="a database to copy instead")
    parser.add_argument("--folder", type=Path, help="where the copy is put")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=50.0, help="commands a second")
    parser.add_argument("--where", action="store_true", help="tell what held up the latest ticks")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"only these: {', '.join(ROWS)}")
    given = parser.parse_args(arguments)
    asyncio.run(run(given))


if __name__ == "__main__":
    main()
