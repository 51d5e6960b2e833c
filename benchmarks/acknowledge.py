"""How soon a chat platform is answered while the service is busy: commands by the clock, beside a collection.

    python -m benchmarks.acknowledge --corpus FILE [--seconds 60] [--rate 50] [--papers N] [--platform discord]

FILE is as `benchmarks.corpus` reads it. The service runs in a process of its own, with its database in a new folder, and
collects the papers of the file over and over through the collector's real path, as fast as that goes. Beside it runs the
platform of the tests, on real sockets, in this process: twenty people give so many commands a second, by the clock and not
one after the other, so that a late answer makes the next no later. What is measured is, in milliseconds, how long each
command waits for its acknowledgement (in Discord: the note that an answer is coming), and for its first answer; both
platforms give three seconds for the one. The target is a 99th percentile below 500 ms.

"Loop kept" is the processor time that the service's event loop used at a stretch: what a command waits for at least when the
machine has nothing else to do, whatever it has to do now. `--idle` leaves the collection out, for comparison.
"""

import argparse
import asyncio
import itertools
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpus
from benchmarks.loop_lag import watched
from bot.app import App, built
from bot.commands import parse
from bot.models import Batch, Item, SourceState
from bot.service.platforms import Platform
from bot.settings.chat import DiscordSettings, SlackSettings
from bot.settings.load import Settings
from bot.settings.sources import ArxivSettings, GitHubSettings, HuggingFaceSettings

PEOPLE = 20
TARGET = 500  # milliseconds
LIMIT = 3  # seconds that a platform waits for the acknowledgement
PATIENCE = 60  # seconds for answers that are still to come when the last command was given
BATCH = 500  # papers, as a page of arXiv's archive has them
# What people ask, by turns: the quick and the slow. Each is said by the next person.
COMMANDS = (
    'search "kv cache"',
    "list",
    "search diffusion models sort:best",
    "topics",
    "status",
    "search cat:cs.LG published:30d",
    "help subscribe",
    "saved",
    "subscribe gpu-systems weekdays at 09:00 in Europe/Zurich",
    "topic show gpu-systems",
    "filter gpu-systems",
    "search reinforcement learning from human feedback",
    "settings",
    "profile gpu-systems",
    "help",
)


# --- the service, in its own process


class Archive:
    """bot.ports.source.Source: the papers of a file, page by page."""

    name, title = "arxiv", "arXiv"

    def __init__(self, papers: Sequence[Item]) -> None:
        self.stored = 0
        self.papers = papers

    async def collect(self, state: SourceState, now: datetime) -> AsyncGenerator[Batch, None]:
        """Yield the papers."""
        for at in range(0, len(self.papers), BATCH):
            page = tuple(self.papers[at : at + BATCH])
            yield Batch(items=page)
            self.stored += len(page)

    def next_ask(self, state: SourceState, now: datetime, every: timedelta) -> datetime:
        """Return at once."""
        return now

    async def check(self, now: datetime) -> str:
        """Return that all is well."""
        return "It is there."


async def serve(given: Mapping[str, Any]) -> None:
    """Run the service until standard input ends, and print what was collected meanwhile, and how the loop was kept."""
    off: dict[str, Any] = {
        "arxiv": ArxivSettings(enabled=False),
        "huggingface": HuggingFaceSettings(enabled=False),
        "github": GitHubSettings(enabled=False),
    }
    settings = Settings(database=Path(given["folder"]) / "b.sqlite3", **off)
    archive = Archive(await asyncio.to_thread(corpus.papers, Path(given["corpus"]), given["papers"] or None))
    async with built(settings, exclusive=True) as app:
        await app.store.items.add(archive.papers[:BATCH], _now())
        async with PLATFORMS[given["platform"]].opened(given["settings"], app) as platform:
            going = [watch.run() for watch in platform.watches]
            tasks = [asyncio.ensure_future(each) for each in going]
            tasks += [] if given["idle"] else [asyncio.create_task(_collecting(app, archive))]
            print("ready", flush=True)
            async with watched() as lag:
                await asyncio.to_thread(sys.stdin.read)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps({"stored": archive.stored, "busy": lag.busy}), flush=True)


async def _collecting(app: App, archive: Archive) -> None:
    while True:
        await app.collector.collect([archive], _now(), force=True)


def _now() -> datetime:
    return datetime.now(UTC)


# --- the platforms


@dataclass(slots=True)
class Waited:
    """What each command waited, in milliseconds."""

    acknowledged: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    missed: int = 0  # not acknowledged in time, or not answered at all


@dataclass(frozen=True, slots=True)
class Kind:
    """A platform: how it is opened in the service, and what is done on its other side."""

    opened: Callable[[Mapping[str, Any], App], AbstractAsyncContextManager[Platform]]
    running: Callable[[], AbstractAsyncContextManager["Other"]]


@dataclass(frozen=True, slots=True)
class Other:
    """The platform's own side: what the service needs to find it, and how a person gives a command."""

    settings: Mapping[str, Any]
    connected: Callable[[], Any]
    give: Callable[[str, int, Waited], Any]


@asynccontextmanager
async def slack_opened(given: Mapping[str, Any], app: App) -> AsyncIterator[Platform]:
    """Connect the service to the Slack of the tests."""
    from adapters.slack.connection.platform import opened

    async with opened(SlackSettings(**given), app.platform_context(_now)) as platform:
        yield platform


@asynccontextmanager
async def slack_running() -> AsyncIterator[Other]:
    """Run the Slack of the tests."""
    from tests.fakes import slack

    async with slack.running(tiers=False) as fake:
        people = [fake.add_person(f"U0BEN{number}", f"ben{number}") for number in range(PEOPLE)]

        async def give(text: str, number: int, waited: Waited) -> None:
            begun = time.perf_counter()
            try:
                asked = await fake.command(text, user=people[number % PEOPLE], channel=fake.general)
                waited.acknowledged.append(asked.seconds * 1000)
                await asked.answer(within=PATIENCE)
                waited.answered.append((time.perf_counter() - begun) * 1000)
            except (AssertionError, TimeoutError):
                waited.missed += 1

        found = {"bot_token": fake.bot_token, "app_token": fake.app_token, "api_url": fake.api_url}
        yield Other(found, lambda: fake.connected(within=60), give)


@asynccontextmanager
async def discord_opened(given: Mapping[str, Any], app: App) -> AsyncIterator[Platform]:
    """Connect the service to the Discord of the tests."""
    from adapters.discord.connection.platform import opened

    async with opened(DiscordSettings(**given), app.platform_context(_now)) as platform:
        yield platform


@asynccontextmanager
async def discord_running() -> AsyncIterator[Other]:
    """Run the Discord of the tests."""
    from tests.adapters.discord.asked import values_of
    from tests.fakes import discord

    async with discord.running() as fake:
        guild = fake.guild("Lab")
        papers = fake.channel(guild, "papers")
        rights = discord.Permission.MANAGE_CHANNELS
        people = [fake.join(guild, fake.user(f"Ben {number}"), rights) for number in range(PEOPLE)]

        async def give(text: str, number: int, waited: Waited) -> None:
            begun, command = time.perf_counter(), parse(text)
            line, user = f"digest {command.usage.words}", people[number % PEOPLE]
            try:
                asked = await fake.slash(line, user=user, channel=papers, wait=None, options=values_of(command))
                await asked.replied(LIMIT)
                waited.acknowledged.append((asked.first_after or LIMIT) * 1000)
                await asked.answered(PATIENCE)
                waited.answered.append((time.perf_counter() - begun) * 1000)
            except TimeoutError:
                waited.missed += 1

        async def connected() -> None:
            await fake.gateway.heard(60)

        addresses = {"api_url": fake.api_url, "gateway_url": fake.gateway_url, "cdn_url": fake.cdn_url}
        yield Other({"token": fake.token, **addresses}, connected, give)


PLATFORMS = {"slack": Kind(slack_opened, slack_running), "discord": Kind(discord_opened, discord_running)}


# --- the clock


async def measure(given: argparse.Namespace) -> int:
    """Give the commands and print what they waited; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        async with PLATFORMS[given.platform].running() as other:
            told = {
                **{name: getattr(given, name) for name in ("platform", "papers", "idle", "corpus")},
                "folder": folder,
                "settings": dict(other.settings),
            }
            async with served(told) as service:
                await other.connected()
                waited = await _given(other, given.rate, given.seconds)
            ended = await _ended(service)
    return _report(given, waited, ended)


@asynccontextmanager
async def served(told: Mapping[str, Any]) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the service in a process of its own; it ends with the block."""
    pipe = asyncio.subprocess.PIPE
    words = (sys.executable, "-m", "benchmarks.acknowledge", "--serve", json.dumps(told))
    service = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
    assert service.stdin is not None
    assert service.stdout is not None
    try:
        ready = await service.stdout.readline()
        if ready.strip() != b"ready":
            raise SystemExit("the service did not start")
        yield service
    finally:
        service.stdin.close()


async def _ended(service: asyncio.subprocess.Process) -> Mapping[str, Any]:
    assert service.stdout is not None
    said = await service.stdout.read()
    await service.wait()
    ended: Mapping[str, Any] = json.loads(said)
    return ended


async def _given(other: Other, rate: float, seconds: float) -> Waited:
    """Give so many commands a second, each at its own instant, whatever became of those before."""
    waited, tasks, begun = Waited(), set(), time.perf_counter()
    for number, text in zip(range(int(rate * seconds)), itertools.cycle(COMMANDS)):
        await asyncio.sleep(max(0.0, begun + number / rate - time.perf_counter()))
        tasks.add(asyncio.create_task(other.give(text, number, waited)))
    await asyncio.wait(tasks)
    return waited


def _report(given: argparse.Namespace, waited: Waited, ended: Mapping[str, Any]) -> int:
    collected = "nothing was collected" if given.idle else f"{ended['stored']:,} papers were stored meanwhile"
    print(f"{given.platform}: {given.rate:g} commands a second for {given.seconds:g} s; {collected}; ms")
    print(f"{'':14}{'p50':>9}{'p95':>9}{'p99':>9}{'most':>9}")
    measured = {"acknowledged": waited.acknowledged, "first answer": waited.answered, "loop kept": ended["busy"]}
    for name, values in measured.items():
        figures = np.percentile(values, (50, 95, 99, 100)) if values else (float("nan"),) * 4
        print(f"{name:14}" + "".join(f"{figure:9.1f}" for figure in figures))
    print(f"{waited.missed} were not acknowledged within three seconds, or not answered")
    good = not waited.missed and bool(waited.acknowledged) and np.percentile(waited.acknowledged, 99) < TARGET
    return 0 if good else 1


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or be the service that is measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.acknowledge", description=__doc__)
    parser.add_argument("--corpus", help="papers, one JSON object per line")
    parser.add_argument("--papers", type=int, default=0, help="only so many of them; 0: all")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=50.0, help="commands a second")
    parser.add_argument("--platform", choices=sorted(PLATFORMS), default="slack")
    parser.add_argument("--idle", action="store_true", help="collect nothing meanwhile")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve:
        asyncio.run(serve(json.loads(given.serve)))
        return
    if not given.corpus:
        parser.error("--corpus is needed")
    sys.exit(asyncio.run(measure(given)))


if __name__ == "__main__":
    main()
