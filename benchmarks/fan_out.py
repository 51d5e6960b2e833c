"""Many channels due at once: what it costs to notice them, to make their digests and to post them.

    python -m benchmarks.fan_out --corpus FILE [--channels 10000] [--workspaces 200] [--topics 4] [--days 1] [--paced 0]

FILE is as `benchmarks.corpus` reads it. Its last 1,200 papers are stored as if they had come in the last day, and every
channel is subscribed to one of a few of the topics that come with Broadsheet, in brief. First all is done one step after
another, for a platform that takes each message at once: the milliseconds of processor time that each channel costs, and how
often the digests were drawn. With `--paced`, so many of the channels are due again, and the steps run beside each other as
they do in the service, at Discord's rate: seconds until the first message and the last. The baseline is how long the rate
that is kept to takes for as many.
"""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.discord.render.digests import payloads
from benchmarks import corpus
from bot.delivery import Deliverer, DeliveryContext, Preparer, Scheduler
from bot.delivery.rate_limits import SHARE
from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.models import Abilities, Change, Delivery, Digest, Item, Layout, Schedule, Subscription, Topic
from bot.settings.topic_packs import load_packs
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from tests.fakes.transcript import Clock, Transcript
from tests.stores.counted import counted

DUE = datetime(2026, 4, 1, 7, tzinfo=UTC)
PAPERS = 1200
PER_SECOND = 50.0
_DAY = timedelta(days=1)


class Drawing(Transcript):
    """A platform that takes each message at once, and whose messages are drawn as Discord's."""

    def __init__(self, abilities: Abilities) -> None:
        super().__init__(Clock(DUE), abilities)
        self.drawn = 0
        self.times: list[float] = []

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        """Return the digest's messages as JSON."""
        self.drawn += 1
        return payloads(digest, layout=layout, late=late)

    async def send(self, delivery: Delivery) -> str:
        """Take it."""
        self.times.append(time.monotonic())
        return delivery.id


async def filled(path: Path, items: Sequence[Item], topics: Sequence[Topic], channels: int, workspaces: int) -> SqliteStore:
    """Return a store of the items, with the channels subscribed."""
    store = SqliteStore(path)
    await store.open()
    young = [replace(each, seen=DUE - _DAY / 2, appeared=DUE - _DAY) for each in items[-PAPERS:]]
    await corpus.store_all(store, young, DUE - _DAY / 2)
    for start in range(0, channels, 500):
        some = (_subscription(at, topics, workspaces) for at in range(start, min(start + 500, channels)))
        await asyncio.gather(*(store.workspaces.save_subscription(each, _change(each), replaces=0) for each in some))
    await Scheduler(DeliveryContext(store, store.ledger, {})).tick(DUE - timedelta(minutes=1))
    return store


def _subscription(at: int, topics: Sequence[Topic], workspaces: int) -> Subscription:
    return Subscription(
        id=f"s{at}",
        workspace=f"chat:T{at % workspaces}",
        channel=f"C{at}",
        topic=topics[at // workspaces % len(topics)].name,
        schedule=Schedule(at=DUE.time()),
        baseline=DUE - _DAY,
        made_by="U-ada",
        made_at=DUE - _DAY / 3,
    )


def _change(of: Subscription) -> Change:
    return Change(workspace=of.workspace, at=DUE - _DAY / 3, person="U-ada", what="a benchmark")


class Service:
    """What the service does by itself with a store, and what it asks of the store's ledger."""

    def __init__(self, store: SqliteStore, packs: dict[str, Topic], abilities: Abilities) -> None:
        self.calls: Counter[str] = Counter()
        self.chat = Drawing(abilities)
        self.context = DeliveryContext(store, counted(store.ledger, self.calls), {"chat": self.chat})
        publisher = Publisher(store, Extractive(), {"arxiv": "arXiv"})
        self.scheduler = Scheduler(self.context)
        self.preparer = Preparer(self.context, publisher, RequestBuilder(store.workspaces, packs))
        self.deliverer = Deliverer(self.context)


async def _timed(what: str, channels: int, doing: Awaitable[int]) -> None:
    began, wall = time.process_time(), time.monotonic()
    done = await doing
    used, wall = time.process_time() - began, time.monotonic() - wall
    each = 1000 * used / channels
    print(f"{what:10}{done:7,} done {used:8.2f} s of processor {each:7.2f} ms each {wall:8.1f} s by the clock")


async def one_after_another(service: Service, channels: int) -> None:
    """Print what each step costs by itself."""
    now = DUE + timedelta(seconds=1)
    await _timed("noticed", channels, service.scheduler.tick(now))
    await _timed("made", channels, service.preparer.prepare_due(now))

    async def delivered() -> int:
        done = 0
        while some := await service.deliverer.deliver_due(lambda: now):
            done += some
        return done

    await _timed("posted", channels, delivered())
    print(f"drawn {service.chat.drawn:,} times; calls of the ledger: {dict(sorted(service.calls.items()))}")


async def beside_each_other(service: Service, channels: int) -> None:
    """Print how long the first and the last message take at the platform's rate."""
    began, posted = time.monotonic(), len(service.chat.times)
    used = time.process_time()

    def clock() -> datetime:
        return DUE + timedelta(seconds=time.monotonic() - began)

    making = asyncio.create_task(_made(service, clock()))
    while len(service.chat.times) - posted < channels and time.monotonic() - began < channels:
        await service.deliverer.deliver_due(clock)
        await asyncio.sleep(0.25)
    await making
    times, used = service.chat.times[posted:], time.process_time() - used
    bound = channels / (SHARE * PER_SECOND)
    print(
        f"at {SHARE * PER_SECOND:.0f} a second: {len(times):,} posted, the first after {times[0] - began:.1f} s,"
        f" the last after {times[-1] - began:.1f} s, {(times[-1] - began) / bound:.2f} × the bound;"
        f" {used:.1f} s of processor"
    )


async def _made(service: Service, now: datetime) -> None:
    await service.scheduler.tick(now)
    await service.preparer.prepare_due(now)


async def run(given: argparse.Namespace, folder: Path) -> None:
    """Measure and print."""
    packs = load_packs()
    topics = list(packs.values())[: given.topics]
    items = corpus.papers(given.corpus)
    store = await filled(folder / "fan-out.db", items, topics, given.channels, given.workspaces)
    print(f"{given.channels:,} channels in {given.workspaces} workspaces, {len(topics)} topics, {PAPERS:,} papers of a day")
    await one_after_another(Service(store, packs, Abilities(finds=True)), given.channels)
    await store.close()
    if given.paced:
        paced = await filled(folder / "paced.db", items, topics, given.paced, given.workspaces)
        await beside_each_other(Service(paced, packs, Abilities(finds=True, per_second=PER_SECOND)), given.paced)
        await paced.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--channels", type=int, default=10_000)
    parser.add_argument("--workspaces", type=int, default=200)
    parser.add_argument("--topics", type=int, default=4)
    parser.add_argument("--paced", type=int, default=0, help="channels posted to at Discord's rate")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(parser.parse_args(), Path(folder)))


if __name__ == "__main__":
    main()
