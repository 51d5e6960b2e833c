"""How quick the pages of the archive are, beside a file of the same size, and what they cost the service.

    python -m benchmarks.web [--items 100000] [--topics 10] [--days 60] [--rounds 5] [--seconds 2] [PAGE …]

Items of made words are stored, and digests of seven of them for each topic and day. The pages are served as the service does
it, and in the same process a file as long as each page, by the same server. Another process asks for the file and for the
page by turns, two requests at a time, each on a connection of its own: for the page as one that is read again, and at
addresses that differ, so that it is made for each request (what is held of its parts is held). Printed are, as medians
of the rounds: the page's requests a second as a part of the file's, both ways, its time to the first byte as a multiple of
the file's, and 99th percentiles of how long the event loop was kept: processor time of its own thread between two ticks, and
how late the tick was in milliseconds, whoever had the processor: beside the file, the page read again, and the page made for
each request. The published dates of the items are those of a year.

At the end messages are delivered to a platform that takes each at once: alone, beside requests for the file and for the
front page without a pause, and as many as one address is let through; printed is the rate beside each as a part of the rate
alone.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import accumulate, count
from pathlib import Path
from typing import Any, cast

import numpy as np
from aiohttp import web

from adapters import http_server
from adapters.rate_limit import RateLimit
from adapters.web.server import serving
from adapters.web.site.addresses import card_path, day_path, item_path
from adapters.web.site.visitors import BY_ADDRESS
from benchmarks import corpus
from benchmarks.loop_lag import Lag, watched
from bot.digest.publisher import Publisher
from bot.handlers.archive.channel_access import ChannelAccess
from bot.handlers.context import HandlerContext
from bot.handlers.links import LinkSigner, SignedSession
from bot.models import Change, Digest, Item, Preferences
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from bot.summarise.gist import gists
from tests.adapters.web.browser import Rooms
from tests.bot.deliveries import Harness
from tests.conftest import NOW
from tests.fakes.digests import GPU
from tests.fakes.transcript import delivery
from tests.fakes.works import paper
from tests.stores.memory import MemoryStore

WORKSPACE, CHANNEL = "slack:T1", "C1"
TOGETHER = 2  # requests at a time
ENTRIES = 7  # of a digest
DELIVERIES = 100  # of a round
UNBOUNDED = 1e9  # requests a minute

_NUMBERS = count()  # of addresses that differ


@dataclass(frozen=True, slots=True)
class Asked:
    """What the other process got."""

    rate: float  # answers a second
    first_byte: float  # milliseconds, the median
    size: int  # bytes of a body


class Client:
    """Another process that asks."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def ask(
        self, port: int, path: str, cookie: str, seconds: float, *, anew: bool = False, most: float = UNBOUNDED
    ) -> Asked:
        """Ask for so long, and return what came of it; `anew` at another address each time, at `most` so often a minute."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([port, path, cookie, seconds, anew, most]).encode() + b"\n")
        return Asked(*json.loads(await self._process.stdout.readline()))


# --- what asks


async def answered() -> None:
    """Do what is asked for on standard input."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        port, path, cookie, seconds, anew, most = json.loads(line)
        numbers = (f"{'&' if '?' in path else '?'}n={next(_NUMBERS)}" if anew else "" for _ in count())
        heads = (f"GET {path}{n} HTTP/1.1\r\nHost: x\r\nCookie: broadsheet={cookie}\r\n\r\n".encode() for n in numbers)
        end, firsts, sizes = time.perf_counter() + seconds, list[float](), list[int]()
        begun = time.perf_counter()
        await asyncio.gather(*(_one_by_one(port, heads, end, 60 * TOGETHER / most, firsts, sizes) for _ in range(TOGETHER)))
        rate = len(firsts) / (time.perf_counter() - begun)
        print(json.dumps([rate, statistics.median(firsts), sizes[0]]), flush=True)


async def _one_by_one(
    port: int, heads: Iterator[bytes], end: float, pause: float, firsts: list[float], sizes: list[int]
) -> None:
    while not firsts or time.perf_counter() < end:
        start, head = time.perf_counter(), next(heads)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)
        got = await reader.read(1)
        firsts.append((time.perf_counter() - start) * 1000)
        got += await reader.read()
        writer.close()
        if b" 200 " not in got[:20]:
            raise SystemExit(f"not answered: {head[:80]!r}: {got[:80]!r}")
        sizes.append(len(got.partition(b"\r\n\r\n")[2]))
        await asyncio.sleep(max(0.0, start + pause - time.perf_counter()))


# --- what is served


def items(count: int) -> list[Item]:
    """Return papers of made words, some of which are frequent and most are not."""
    chance = random.Random(5)
    words = ["".join(chance.choices("aeioulnrstkmp", k=chance.randint(3, 9))) for _ in range(20_000)]
    often = [*accumulate(1 / (at + 5) for at in range(len(words)))]

    def text(length: int) -> str:
        return " ".join(chance.choices(words, cum_weights=often, k=length)).capitalize() + "."

    return [
        paper(
            f"{2000 + at // 9999}.{at % 9999 + 1:05}",
            title=text(9),
            abstract=" ".join(text(20) for _ in range(7)),
            published=NOW - timedelta(days=at % 365, hours=1),
        )
        for at in range(count)
    ]


async def filled(store: SqliteStore, found: Sequence[Item], topics: int, days: int) -> None:
    """Store the items, and digests of them."""
    await corpus.store_all(store, found, NOW)
    at = 0
    for back in range(days):
        for number in range(topics):
            entries = [
                replace(GPU.entries[each % len(GPU.entries)], partner=None, ranked=_ranked(each, found[at + each]))
                for each in range(ENTRIES)
            ]
            at = (at + ENTRIES) % (len(found) - ENTRIES)
            await store.digests.save(WORKSPACE, CHANNEL, _digest(number, back, entries), NOW - timedelta(days=back))
    line = Change(workspace=WORKSPACE, at=NOW, person="U1", what="settings web")
    await store.workspaces.save_preferences(WORKSPACE, Preferences(public=(CHANNEL,)), line)


def _ranked(number: int, item: Item) -> Any:
    return replace(GPU.entries[number % len(GPU.entries)].ranked, item=item)


def _digest(number: int, back: int, entries: Sequence[Any]) -> Digest:
    day = (NOW - timedelta(days=back)).date()
    return replace(GPU, topic=f"t{number}", title=f"Topic {number}", day=day, entries=tuple(entries))


def paths(found: Sequence[Item], slug: str) -> dict[str, str]:
    """Return the pages by what they are called."""
    today = NOW.date()
    return {
        "front": "/",
        "topics": "/topics",
        "topic": "/t/t1",
        "day": day_path("t1", today),
        "item": item_path(found[8].key),
        "search": "/search?q=" + found[8].title.split()[0].lower(),
        "saved": "/saved",
        "public front": f"/w/{slug}/",
        "public day": f"/w/{slug}{day_path('t1', today)}",
        "public item": f"/w/{slug}{item_path(found[8].key)}",
        "public feed": f"/w/{slug}/feeds/topics/t1.atom",
        "public picture": f"/w/{slug}{card_path(item_path(found[8].key))}",
        "trends": "/trends",
    }


def file_served(folder: Path) -> web.Application:
    """Return what serves the files of the folder."""

    async def file(request: web.Request) -> web.StreamResponse:
        return web.FileResponse(folder / request.match_info["size"])

    application = web.Application()
    application.router.add_get(r"/{size:\d+}", file)
    return application


# --- what is measured


@dataclass(slots=True)
class Measured:
    """What is asked, and where."""

    client: Client
    folder: Path
    file_port: int
    page_port: int
    cookie: str
    rounds: int
    seconds: float

    async def page(self, name: str, path: str) -> None:
        """Print how quick a page is beside a file of its size."""
        first = await self.client.ask(self.page_port, path, self.cookie, 0)
        await self.file(first.size)
        rates, anew, firsts = list[float](), list[float](), list[float]()
        lags = Lag(), Lag(), Lag()
        for _ in range(self.rounds):
            static = await self._ask(lags[0], self.file_port, f"/{first.size}", "")
            asked = await self._ask(lags[1], self.page_port, path, self.cookie)
            made = await self._ask(lags[2], self.page_port, path, self.cookie, anew=True)
            rates.append(asked.rate / static.rate)
            anew.append(made.rate / static.rate)
            firsts.append(asked.first_byte / static.first_byte)
        busy = np.percentile(lags[1].busy + lags[2].busy, 99)
        late = ", ".join(f"{np.percentile(each.late, 99):.0f}" for each in lags)
        print(
            f"{name:15} {first.size / 1024:4.0f} KiB  {statistics.median(rates):5.2f} of the file's rate,"
            f" {statistics.median(anew):5.2f} made each time   first byte {statistics.median(firsts):5.1f} times"
            f"   loop p99 {busy:4.1f} ms busy; late {late}",
            flush=True,
        )

    async def _ask(self, lag: Lag, port: int, path: str, cookie: str, *, anew: bool = False) -> Asked:
        """Have it asked for, and add to the lag what the loop's ticker saw."""
        async with watched() as seen:
            asked = await self.client.ask(port, path, cookie, self.seconds, anew=anew)
        lag.busy += seen.busy
        lag.late += seen.late
        return asked

    async def file(self, size: int) -> None:
        """Make a file of that size."""
        await asyncio.to_thread((self.folder / str(size)).write_bytes, bytes(size))

    async def posting(self, store: SqliteStore) -> None:
        """Print how many messages are delivered beside each."""
        front = await self.client.ask(self.page_port, "/", self.cookie, 0)
        let_through = f"the front page at the {BY_ADDRESS} a minute that one address is given"
        rates: dict[str, list[float]] = {"alone": [], "the file": [], "the front page": [], let_through: []}
        await self.file(front.size)
        beside = {
            "the file": (self.file_port, f"/{front.size}", UNBOUNDED),
            "the front page": (self.page_port, "/", UNBOUNDED),
            let_through: (self.page_port, "/", BY_ADDRESS),
        }
        for at in range(self.rounds):
            turned = [*rates.items()][at % len(rates) :] + [*rates.items()][: at % len(rates)]
            for number, (name, found) in enumerate(turned):
                asking = None
                if name in beside:
                    port, path, most = beside[name]
                    asking = asyncio.create_task(self.client.ask(port, path, self.cookie, 2 * self.seconds, most=most))
                found.append(await _delivered(store, (at * len(rates) + number) * DELIVERIES))
                if asking is not None:
                    await asking
        alone = statistics.median(rates.pop("alone"))
        for name, found in rates.items():
            part = statistics.median(found) / alone
            print(f"delivered beside requests for {name}: {part:.2f} of the rate alone ({alone:.0f}/s)")


async def _delivered(store: SqliteStore, first: int) -> float:
    """Deliver some messages, and return how many a second that was."""
    harness = Harness(store=cast(MemoryStore, store))
    await harness.plant([delivery(first + each + 1, now=NOW) for each in range(DELIVERIES)])
    deliverer, start = harness.deliverer(), time.perf_counter()
    while len(harness.chat.calls) < DELIVERIES:
        await deliverer.deliver_due(harness.clock)
        harness.clock.advance(timedelta(seconds=10))
    return DELIVERIES / (time.perf_counter() - start)


async def measure(given: argparse.Namespace) -> None:
    """Fill a store, serve it, and measure each page."""
    with tempfile.TemporaryDirectory() as name:
        store = SqliteStore(Path(name) / "archive.db")
        await store.open()
        found = await asyncio.to_thread(items, given.items)
        await filled(store, found, given.topics, given.days)
        signer = LinkSigner(bytes(32), "http://127.0.0.1")
        access = ChannelAccess({"slack": Rooms({CHANNEL}, {CHANNEL})}.get)
        publisher = Publisher(store, Extractive(), {"arxiv": "arXiv"})
        context = HandlerContext(store, publisher, {}, {"arxiv": "arXiv"}, gists, channel_access=access, web_url=signer.base)
        cookie = signer.session(SignedSession(WORKSPACE, CHANNEL, "U1", 0), "a", NOW)
        limits = [RateLimit(UNBOUNDED) for _ in range(3)]
        pages = serving(
            context, signer, lambda: NOW, "127.0.0.1", 0, by_address=limits[0], by_feed=limits[1], by_session=limits[2]
        )
        folder = Path(name) / "files"
        await asyncio.to_thread(folder.mkdir)
        files = http_server.serving(file_served(folder), "127.0.0.1", 0, str)
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchmarks.web", "--ask", stdin=pipe, stdout=pipe
        )
        async with pages as (_, page_port), files as (_, file_port):
            told = Measured(Client(process), folder, file_port, page_port, cookie, given.rounds, given.seconds)
            print(f"{given.items} items, {given.topics * given.days} digests of {ENTRIES} entries", flush=True)
            for page, path in paths(found, signer.slug(WORKSPACE)).items():
                if not given.pages or page in given.pages:
                    await told.page(page, path)
            if not given.pages or "posting" in given.pages:
                await told.posting(store)
        process.kill()
        await process.wait()
        await store.close()


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--ask", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("pages", nargs="*", help="only these, or posting")
    given = parser.parse_args()
    asyncio.run(answered() if given.ask else measure(given))


if __name__ == "__main__":
    main()
