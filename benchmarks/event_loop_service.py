"""The service that benchmarks.event_loop measures, in its own process; or, with `idle`, one that does nothing.

It says "ready", begins to measure with the first line of standard input, and prints what it saw after the second.
"""

import asyncio
import gc
import itertools
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, cast

from adapters.cli.platforms import opened
from benchmarks import corpus
from benchmarks.acknowledge import BATCH, Archive
from benchmarks.loop_lag import Lag, watched
from bot.app import App, built
from bot.commands import parse
from bot.errors import BotError
from bot.handlers.handle import handle
from bot.models import Item
from bot.service.runner import LocalRunner, settled
from bot.settings.load import Settings

PAPERS = 20 * BATCH  # that are collected again and again
LATE = 0.015  # seconds after which it is looked what goes on
_LOOK = 0.003
_TOLD = 12
_DEEP = 7  # frames
_WAITING = (
    "futures/thread.py",
    "asyncio/unix_events.py",
    *(f"python3.{n}/{name}.py" for n in range(11, 16) for name in ("selectors", "threading")),
)


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Return the settings of the service."""
    url, off = given["web"]["url"], cast("Any", {"enabled": False})
    said: dict[str, Any] = {
        "database": given["database"],
        "fetch_on_request": False,
        "search": {"engine": given["engine"]},
        "embeddings": {"use": given["embeddings"]},
        "feed_guard": {"allow_hosts": [given["web"]["host"]]},
        **given["platform"],
    }
    if "feeds" not in given["works"]:
        return Settings(**said, arxiv=off, huggingface=off, github=off)
    said["feeds"] = [{"name": name, "url": f"{url}/{name}"} for name in given["web"]["feeds"]]
    said["arxiv"] = {**dict.fromkeys(("feed_url", "api_url", "oai_url"), f"{url}/arxiv"), "seconds_between": 0}
    said["huggingface"], said["github"] = {"base_url": url}, {"base_url": url, "searches": ["a"]}
    return Settings(**said)


async def serve(given: Mapping[str, Any]) -> None:
    """Run the service, and beside it the works."""
    done: Counter[str] = Counter()
    async with built(settings_of(given), exclusive=True) as app, _running(app):
        papers = await asyncio.to_thread(corpus.papers, Path(given["corpus"]), PAPERS) if "ingest" in given["works"] else []
        works: dict[str, Callable[[App, Counter[str]], Coroutine[Any, Any, None]]] = {
            "ingest": partial(_ingest, papers),
            "feeds": _collect,
            "search": _search,
        }
        lines = _lines()
        await lines()
        used = time.process_time()
        with _watching_garbage(done):
            tasks = [asyncio.create_task(works[name](app, done)) for name in given["works"]]
            async with watched() as lag:
                with _looking(lag, asleep=not given["where"]) as where:
                    await lines()
            for task in tasks:
                task.cancel()
            failed = [each for each in await asyncio.gather(*tasks, return_exceptions=True) if isinstance(each, Exception)]
            if failed:
                raise failed[0]
            used = time.process_time() - used
    _print(lag, used, ", ".join(f"{number:,} {name}" for name, number in done.items()), where)


async def idle() -> None:
    """Do nothing but tick."""
    lines = _lines()
    await lines()
    async with watched() as lag:
        await lines()
    _print(lag, 0.0, "", Counter())


def _print(lag: Lag, used: float, done: str, where: Counter[str]) -> None:
    lines = [f"    {number:4} × {what}" for what, number in where.most_common(_TOLD)]
    print(json.dumps(asdict(lag) | {"used": used, "done": done, "where": lines}), flush=True)


def _lines() -> Any:
    print("ready", flush=True)
    return lambda: asyncio.to_thread(sys.stdin.readline)


@asynccontextmanager
async def _running(app: App) -> AsyncIterator[None]:
    """As `broadsheet run` does it."""
    runner = LocalRunner()
    async with opened(app.settings, app.platform_context(_now), app.messengers) as found:
        service = await app.service(_now, found.platforms, found.pending)
        with settled():
            running = asyncio.create_task(runner.run(service.jobs, service.watches))
            try:
                yield
            finally:
                runner.stop()
                await running


# --- what is done meanwhile


async def _ingest(papers: Sequence[Item], app: App, done: Counter[str]) -> None:
    """Collect papers over and over, each time under other identifiers."""
    for number in itertools.count():
        for at in range(0, len(papers), BATCH):
            some = [replace(each, key=f"{each.key}-{number}", seen=None) for each in papers[at : at + BATCH]]
            await app.collector.collect([Archive(some)], _now(), force=True)
            done["stored"] += len(some)


async def _collect(app: App, done: Counter[str]) -> None:
    """Collect from all sources over and over."""
    while True:
        for each in await app.collector.collect(app.sources, _now(), force=True):
            done["answers"] += 1
            if each.error is None:
                done["read"] += each.read


async def _search(app: App, done: Counter[str]) -> None:
    """Search by words and meaning, twice a second."""
    asked = parse("search reinforcement learning from human feedback")
    while True:
        try:
            await handle(app.handler_context, asked, app.terminal(), _now())
            done["searches"] += 1
        except BotError:
            done["failed"] += 1
        await asyncio.sleep(0.5)


def _now() -> datetime:
    return datetime.now(UTC)


# --- where the time goes


@contextmanager
def _watching_garbage(done: Counter[str]) -> Iterator[None]:
    """Note how long the longest collection of garbage took, in milliseconds."""
    begun = 0.0

    def note(phase: str, info: Mapping[str, int]) -> None:
        nonlocal begun
        if phase == "start":
            begun = time.perf_counter()
        else:
            done["ms of gc at most"] = max(done["ms of gc at most"], round((time.perf_counter() - begun) * 1000))

    gc.callbacks.append(note)
    try:
        yield
    finally:
        gc.callbacks.remove(note)


@contextmanager
def _looking(lag: Lag, *, asleep: bool) -> Iterator[Counter[str]]:
    """Count what the threads are at while a tick is late."""
    seen: Counter[str] = Counter()
    over = threading.Event()
    loop = threading.get_ident()

    def look() -> None:
        told = 0.0
        while not over.wait(_LOOK):
            if told != lag.due and time.perf_counter() - lag.due > LATE:
                told = lag.due
                for thread, frame in sys._current_frames().items():
                    if thread != threading.get_ident() and (said := _at(frame)):
                        seen["loop: " + said if thread == loop else "thread: " + said] += 1

    watcher = threading.Thread(target=look, daemon=True)
    if not asleep:
        watcher.start()
    try:
        yield seen
    finally:
        over.set()


def _at(frame: FrameType | None) -> str:
    """Return where a thread is, innermost first; nothing of one that waits."""
    told: list[str] = []
    while frame is not None and len(told) < _DEEP:
        code = frame.f_code
        told.append(f"{'/'.join(Path(code.co_filename).parts[-2:])}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return "" if told[0].startswith(_WAITING) else " < ".join(told)


if __name__ == "__main__":
    asyncio.run(idle() if sys.argv[1] == "idle" else serve(json.loads(sys.argv[1])))
