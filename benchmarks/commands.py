"""Whether asking is quick and cannot hurt: generated command lines through the parser and the handlers, on a full store.

    python -m benchmarks.commands --corpus FILE [--lines 100000] [--together 4000] [--week 8000] [--minutes M] [--papers N]

FILE is as `benchmarks.corpus` reads it, and is stored as `benchmarks.publishing` does it: the last `--week` papers were
first seen in the week before now. The lines are those of tests.bot.commands.lines, whose sorts and shares are printed. Each
must give a Reply whose buttons can be pressed, or a UsageError; any other exception is a failure, printed with its line, and
the exit status is then 1.

The lines are asked one after the other, five a second by the clock that the handlers are told, of a new team every five
thousand lines; a team has a topic of its own, two subscriptions, a digest posted, feedback and something saved. Before each
team a collection stores some papers of the week anew, so that the first who asks about a digest waits for the week to be
read and indexed again, as the first after any collection does: that line counts as any other. Then `--together` further
lines are asked by twenty people at once. Both times a ticker tells how long the event loop was kept. Processor time is that
of the whole process, all threads; of a line that is asked alone it is the line's. `--minutes` ends the first part early, and
what was asked until then is reported.
"""

import argparse
import asyncio
import contextlib
import gc
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from benchmarks import corpus
from benchmarks.loop_lag import Lag, watched
from benchmarks.publishing import NOW, stored
from bot.commands import Command, Filter, FilterAction, Search, parse
from bot.digest.publisher import Publisher
from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.handlers.handle import handle
from bot.models import Actor, Digest, DigestRequest, Item, Reply
from bot.settings.topic_packs import load_packs
from bot.summarise.extractive import Extractive
from bot.summarise.gist import gists
from tests.bot.commands.lines import SHARES, Line, World, lines

TEAM = 5000  # lines
STEP = timedelta(seconds=0.2)  # from one line to the next, for the handlers
AT_ONCE = 20
PATIENCE = 120  # seconds for twenty lines together; then they count as locked up
TOPIC, OTHER = "gpu-systems", "rag-search"  # of those that come with Broadsheet; a third one is the team's own
TITLES = {"arxiv": "arXiv", "github": "GitHub"}
SEEDS = (3, 4)  # of the lines asked alone, and of those asked together
COLLECTED = 20  # papers of the last week that a collection stores anew
MADE = (
    "topic create own (cache OR memory) inference",
    "subscribe own",
    f"subscribe {TOPIC} weekdays at 09:00 in Europe/Zurich filter -survey",
    "more 1",
    "save 2",
)


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a line."""

    line: Line
    kind: str  # the command, or why there was none
    outcome: str  # Reply, UsageError, or a failure
    wall: float  # milliseconds
    cpu: float


@dataclass(frozen=True, slots=True)
class Service:
    """What is asked: a context for handlers, and what a team has there."""

    handler_context: HandlerContext
    digest: Digest
    young: Sequence[str]  # keys of some papers of the last week

    async def collect(self, number: int) -> None:
        """Store some papers again, with as many upvotes more."""
        found = await self.handler_context.store.items.find(self.young)
        await self.handler_context.store.items.add([replace(item, upvotes=number) for item in found.values()], NOW)

    async def team(self, number: int) -> Actor:
        """Return somebody of a new team that has set things up."""
        actor = Actor(platform="slack", workspace=f"slack:T{number}", channel="C1", person="U1", may_administer=True)
        await self.handler_context.store.digests.save(actor.workspace, actor.channel, self.digest, NOW)
        for text in MADE:
            await handle(self.handler_context, parse(text), actor, NOW)
        return actor


async def ask(service: Service, line: Line, actor: Actor, now: datetime) -> Told:
    """Ask, and see that there is an answer."""
    kind, wall, cpu = "not read", time.perf_counter(), time.process_time()
    reply: Reply | None = None
    try:
        command = parse(line.text)
        kind = kind_of(command)
        reply = await handle(service.handler_context, command, actor, now)
        outcome = "Reply"
    except UsageError:
        outcome = "UsageError"
    except Exception as error:  # noqa: BLE001  any other is what is looked for
        outcome = f"{type(error).__name__}: {error}"
    times = (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000
    return Told(line, kind, outcome if reply is None else _pressed(reply), *times)


def kind_of(command: Command) -> str:
    """Return the command's words, with what makes it cheap or dear."""
    words = command.usage.words
    if isinstance(command, Search) and "topic-of" in command.query:
        return f"{words} topic-of:"
    if isinstance(command, Filter):
        return f"{words} {'show' if command.action is FilterAction.SHOW else 'test, set, …'}"
    return words


def _pressed(reply: Reply) -> str:
    """Say Reply when every button of it carries a command that can be read."""
    for button in (*reply.buttons, *(button for entry in reply.entries for button in entry.buttons)):
        try:
            parse(button.command)
        except UsageError as error:
            return f"a button that cannot be pressed: {button.command!r}: {error}"
    return "Reply"


async def alone(service: Service, every: Iterable[Line], minutes: float) -> list[Told]:
    """Ask one line after the other, for so many minutes at most."""
    told: list[Told] = []
    end = time.perf_counter() + minutes * 60
    for number, line in enumerate(every):
        if time.perf_counter() > end:
            break
        if number % TEAM == 0:
            actor = await service.team(number // TEAM)
            await service.collect(number // TEAM)
        told.append(await ask(service, line, actor, NOW + STEP * (number % TEAM)))
    return told


async def together(service: Service, every: Sequence[Line], _minutes: float) -> list[Told]:
    """Ask twenty lines at once, by twenty people of one team in one channel."""
    told: list[Told] = []
    actor = await service.team(-1)
    for at in range(0, len(every), AT_ONCE):
        now = NOW + STEP * at
        people = [replace(actor, person=f"U{number}") for number in range(AT_ONCE)]
        async with asyncio.timeout(PATIENCE):
            told += await asyncio.gather(
                *(ask(service, line, who, now) for line, who in zip(every[at:], people, strict=False))
            )
    return told


# --- what is asked


@asynccontextmanager
async def serving(path: Path, items: Sequence[Item], week: int) -> AsyncIterator[Service]:
    """Serve from a store of the items."""
    store = await stored(path, items, week)
    publisher, packs = Publisher(store, Extractive(), TITLES), load_packs()
    (digest,) = await publisher.publish([DigestRequest(packs[TOPIC], "made", "made")], NOW)
    try:
        yield Service(
            HandlerContext(store, publisher, packs, TITLES, gists),
            digest,
            [item.key for item in items[-COLLECTED:]],
        )
    finally:
        await store.close()


def world(items: Sequence[Item], week: int) -> World:
    """Return what lines may name: three topics, and some hundred items, half of them of the last week."""
    chance = random.Random(9)
    some = [*chance.sample(items[:-week], 400), *chance.sample(items[-week:], 400)]
    return World(("own", TOPIC, OTHER), [item.key for item in some], [item.title for item in some])


# --- what is told


def report(title: str, told: Sequence[Told], lag: Lag, seconds: float) -> int:
    """Print the figures; return how many lines failed."""
    print(f"\n{title}: {len(told):,} lines in {seconds:,.0f} s; milliseconds, processor time in brackets")
    heads = ("lines", "replies", "errors", "p50", "p95", "p99", "longest")
    print(f"{'':28}" + "".join(f"{head:>9}" if at < 3 else f"{head:>16}" for at, head in enumerate(heads)))
    for name in sorted({each.kind for each in told}):
        _row(name, [each for each in told if each.kind == name])
    for name in SHARES:
        _row(f"all {name} lines", [each for each in told if each.line.sort == name])
    _row("all that were read", [each for each in told if each.kind != "not read"])
    _row("all", told)
    _ticks("event loop: a tick of 10 ms came late by", lag.late)
    _ticks("  between two ticks the loop's own thread worked", lag.busy)
    failures = [each for each in told if each.outcome not in ("Reply", "UsageError")]
    print(f"failures: {len(failures)}")
    for each in failures[:20]:
        print(f"  {each.outcome[:200]}\n    of {each.line.text[:200]!r}")
    return len(failures)


def _ticks(what: str, values: Sequence[float]) -> None:
    print(
        f"{what} " + ", ".join(f"{name} {_at(values, at)}" for name, at in (("p50", 50), ("p99", 99), ("max", 100))) + " ms"
    )


def _row(name: str, told: Sequence[Told]) -> None:
    if told:
        count = Counter(each.outcome for each in told)
        walls, cpus = [each.wall for each in told], [each.cpu for each in told]
        cells = (f"{_at(walls, at)} ({_at(cpus, at)})" for at in (50, 95, 99, 100))
        print(
            f"{name:28}{len(told):9,}{count['Reply']:9,}{count['UsageError']:9,}" + "".join(f"{cell:>16}" for cell in cells)
        )


def _at(values: Sequence[float], percent: int) -> str:
    value = float(np.percentile(values, percent)) if values else 0.0
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


async def run(asked: argparse.Namespace, path: Path) -> int:
    """Ask all lines; return how many failed."""
    items = corpus.papers(asked.corpus, asked.papers)
    named = world(items, asked.week)
    failures = 0
    async with serving(path, items, asked.week) as service:
        number_of_papers = len(items)
        items.clear()  # a service does not hold them, and does not look through them for garbage
        gc.collect()
        gc.freeze()
        print(f"{number_of_papers:,} papers, {asked.week:,} of the last week; of a hundred lines are")
        print("  " + ", ".join(f"{share} {name}" for name, share in SHARES.items()))
        for title, way, number, seed in (
            ("one after the other", alone, asked.lines, SEEDS[0]),
            (f"{AT_ONCE} at once", together, asked.together, SEEDS[1]),
        ):
            start = time.perf_counter()
            async with watched() as lag:
                told = await way(service, list(lines(number, named, seed)), asked.minutes)
            failures += report(title, told, lag, time.perf_counter() - start)
    return failures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--together", type=int, default=4000)
    parser.add_argument("--week", type=int, default=8000)
    parser.add_argument("--papers", type=int, help="of the file, at most so many")
    parser.add_argument("--minutes", type=float, default=1e9)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(BrokenPipeError):
        failures = asyncio.run(run(asked, Path(folder) / "commands.db"))
        sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
