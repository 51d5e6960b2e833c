"""R10: generated command lines, given by people in the Slack and the Discord of the tests to a service in its own process.

The lines are those of tests.bot.commands.lines: any characters of Unicode, 4,000 of them, scraps of FTS5 and SQL,
mentions, half-typed and mutated commands, and what people mean. Slack takes every line; Discord those that can be entered
there. Twenty people give theirs at a time, each the next when the last is answered. An answer that says that something
went wrong counts as unhandled. The papers are the corpus's, or the tests' own.
"""

import asyncio
import itertools
import json
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adapters.discord.install.command_tree import path
from benchmarks import acknowledge, corpus
from benchmarks.soak.row import Row
from benchmarks.soak.scoreboard import Ask
from bot.commands import parse
from bot.errors import UsageError
from tests.adapters.discord.asked import values_of
from tests.bot.commands.lines import LONGEST, World, lines
from tests.fakes import discord, edition, slack
from tests.fakes.discord import NotOfferedError

_TOPICS = ("own", "gpu-systems", "rag-search")
_PAPERS = 20_000  # of a corpus
_AT_ONCE = 20
_BATCH = 400  # commands, after which the platform forgets what was said
_LIMIT = 3.0  # seconds
_MOST = 0.5
_PATIENCE = 60.0
_MADE = ("topic create own (cache OR memory) inference", "subscribe own", "subscribe gpu-systems weekdays at 09:00")
_WRONG = "went wrong"  # the answer to what nobody foresaw: adapters and handlers say it so


@dataclass(slots=True)
class Tally:
    """What came of the commands."""

    given: int = 0
    waited: list[float] = field(default_factory=list)  # seconds until each was acknowledged
    wrong: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def fault(self, what: str, line: str) -> None:
        """Count a command that went wrong."""
        self.wrong[what] += 1
        if len(self.examples) < 5:
            self.examples.append(f"{what}: {line[:120]!r}")


Give = Callable[[str, int, Tally], Awaitable[None]]


async def fuzzed(ask: Ask) -> Row:
    """Give so many commands, half of them in each chat."""
    with tempfile.TemporaryDirectory() as folder:
        papers = await asyncio.to_thread(_papers, ask, Path(folder))
        world, many = World(_TOPICS, *_named(papers)), len(papers.read_bytes().splitlines())
        found = {
            platform: await _given(platform, papers, world, ask.size // 2, ask.seed) for platform in ("slack", "discord")
        }
    told, kept = [], True
    for platform, each in found.items():
        p50, p99, most = np.percentile(each.waited, (50, 99, 100)) if each.waited else (0.0, 9.9, 9.9)
        told.append(
            f"{platform}: acknowledged in {1000 * p50:.0f} ms (p50), {1000 * p99:.0f} (p99), {1000 * most:.0f} (longest)"
        )
        kept = kept and not each.wrong and most < _LIMIT and p99 < _MOST
    wrong = sum((each.wrong for each in found.values()), Counter[str]())
    measured = f"{wrong.total()} unhandled or unanswered; " + "; ".join(told)
    measured += "".join(f"; {each}" for tally in found.values() for each in tally.examples[:3])
    sizes = f"{sum(each.given for each in found.values()):,} commands over {many:,} papers"
    return Row("command fuzz", sizes, "0 unhandled, ack < 3 s always (p99 < 500 ms)", measured, kept)


def _papers(ask: Ask, folder: Path) -> Path:
    """Return a file of papers as benchmarks.corpus reads it."""
    path = folder / "papers.jsonl"
    if ask.corpus:
        rows: list[dict[str, Any]] = corpus.rows(ask.corpus, _PAPERS)
    else:
        items = enumerate(itertools.islice(itertools.cycle(edition.items()), 200))
        rows = [
            {
                "id": f"2606.{number:05}",
                "title": f"{item.title} {number}",
                "abstract": item.abstract,
                "authors": list(item.authors),
                "categories": ["cs.LG"],
                "created": "2026-06-14",
            }
            for number, item in items
        ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def _named(papers: Path) -> tuple[list[str], list[str]]:
    some = corpus.papers(papers, 400)
    return [each.key for each in some], [each.title for each in some]


async def _given(platform: str, papers: Path, world: World, number: int, seed: int) -> Tally:
    tally = Tally()
    told = {"platform": platform, "papers": 0, "idle": True, "corpus": str(papers)}
    with tempfile.TemporaryDirectory() as folder:
        async with PLATFORMS[platform]() as (settings, connected, give, forget):
            async with acknowledge.served({**told, "folder": folder, "settings": settings}):
                await connected()
                for text in _MADE:
                    await give(text, 0, tally)
                stream = enumerate(_lines(platform, number, world, seed))
                while batch := list(itertools.islice(stream, _BATCH)):
                    await _at_once(iter(batch), give, tally)
                    forget()
    return tally


async def _at_once(batch: Iterator[tuple[int, str]], give: Give, tally: Tally) -> None:
    async def person() -> None:
        for number, text in batch:
            await give(text, number, tally)

    async with asyncio.TaskGroup() as people:
        for _ in range(_AT_ONCE):
            people.create_task(person())


def _lines(platform: str, number: int, world: World, seed: int) -> Iterator[str]:
    """Yield so many lines; for Discord only such as are commands."""
    endless = itertools.chain.from_iterable(lines(1000, world, seed * 1000 + at) for at in itertools.count())
    texts = (each.text for each in endless)
    usable = texts if platform == "slack" else filter(_is_command, texts)
    yield from itertools.islice(usable, number)


def _is_command(text: str) -> bool:
    try:
        parse(text)
    except UsageError:
        return False
    return True


# --- the chats


@asynccontextmanager
async def _slack() -> Any:
    async with slack.running(tiers=False) as fake:
        people = [fake.add_person(f"U0SOAK{number}", f"person{number}") for number in range(_AT_ONCE)]

        async def give(text: str, number: int, tally: Tally) -> None:
            tally.given += 1
            try:
                # Half a character cannot be sent by anybody.
                sent = text.encode("utf-8", "replace").decode()[:LONGEST]
                asked = await fake.command(sent, user=people[number % _AT_ONCE])
                tally.waited.append(asked.seconds)
                await fake.until(lambda: asked.answers or _opened(fake, asked.trigger), _PATIENCE)
                if any(_WRONG in each.words for each in asked.answers):
                    tally.fault("unhandled", text)
            except (AssertionError, TimeoutError) as error:
                tally.fault(f"no answer ({type(error).__name__})", text)

        def forget() -> None:
            fake.world.history.clear()
            fake.world.views.clear()
            fake.web_api.asked.clear()
            for channel in fake.team.channels.values():
                channel.messages.clear()

        found = {"bot_token": fake.bot_token, "app_token": fake.app_token, "api_url": fake.api_url}
        yield found, lambda: fake.connected(within=60), give, forget


def _opened(fake: slack.FakeSlack, trigger: str) -> bool:
    return any(each.opened_by == trigger for each in fake.world.views.values())


@asynccontextmanager
async def _discord() -> Any:
    async with discord.running() as fake:
        guild = fake.guild("Lab")
        papers = fake.channel(guild, "papers")
        rights = discord.Permission.MANAGE_CHANNELS
        people = [fake.join(guild, fake.user(f"Person {number}"), rights) for number in range(_AT_ONCE)]

        async def give(text: str, number: int, tally: Tally) -> None:
            command = parse(text)
            try:
                line, user = path(command.usage), people[number % _AT_ONCE]
                asked = await fake.slash(line, user=user, channel=papers, wait=None, options=values_of(command))
            except (NotOfferedError, ValueError, KeyError):
                return  # Discord's own program does not let anybody enter it
            tally.given += 1
            try:
                await asked.replied(_PATIENCE)
                tally.waited.append(asked.first_after or _PATIENCE)
                await asked.answered(_PATIENCE)
                if _WRONG in asked.text:
                    tally.fault("unhandled", text)
            except TimeoutError:
                tally.fault("no answer", text)

        def forget() -> None:
            fake.calls.clear()
            fake.asked.clear()
            fake.committed.clear()
            papers.messages.clear()
            for session in fake.gateway.sessions.values():
                del session.events[:-1]

        async def connected() -> None:
            await fake.gateway.heard(60)

        addresses = {"api_url": fake.api_url, "gateway_url": fake.gateway_url, "cdn_url": fake.cdn_url}
        yield {"token": fake.token, **addresses}, connected, give, forget


PLATFORMS: Mapping[str, Any] = {"slack": _slack, "discord": _discord}
