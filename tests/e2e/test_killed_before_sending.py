"""A channel with a daily and a weekly digest of a topic, and one of another topic, all due at the same minute, and one at
once for a collection that has just ended. Whoever makes and sends them is killed after each of its steps in turn, and the
next one opens the same database.
"""

import shutil
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.delivery import Deliverer, DeliveryContext, Preparer, Scheduler
from bot.digest.publisher import Publisher
from bot.digest.request import RequestBuilder
from bot.models import Abilities, DeliveryState, Limits, OccurrenceState, Schedule, Topic
from bot.ports.facts import COLLECTED
from bot.query import parse
from bot.store.sqlite.store import SqliteStore
from bot.summarise.extractive import Extractive
from tests.bot.deliveries import Harness, change, subscription
from tests.conftest import NOW, stride
from tests.fakes.transcript import BOTH, HISTORY, Crash, Fault, Stepped, Steps
from tests.fakes.works import paper

HOUR = timedelta(hours=1)
WORKSPACE, CHANNEL = "chat:T1", "C1"
TOPICS = {
    "kv": Topic(name="kv", title="KV cache", query=parse("cache"), min_score=0.0),
    "gpu": Topic(name="gpu", title="GPUs", query=parse("gpu OR cache"), min_score=0.0),
}
PAPERS = [
    paper(f"2603.{number:05}", title=f"{title} {' '.join(letter * 3 + str(number) for letter in 'bcdf')}", seen=NOW - HOUR)
    for number, title in enumerate(("A cache",) * 6 + ("A gpu",) * 3, start=1)
]
DEATHS = 400  # more than the steps of a life


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(folder / "b.db")
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
async def planned(tmp_path: Path) -> Path:
    """A database with nine papers, three digests of one channel that are due at the same minute, and one at once."""
    folder = tmp_path / "planned"
    folder.mkdir()
    async with opened(folder) as store:
        weekly = Schedule(at=NOW.time(), weekdays=(NOW.weekday(),))
        for made in (
            subscription(id="a", channel=CHANNEL, entries=2),
            subscription(id="b", channel=CHANNEL, entries=20, schedule=weekly),
            subscription(id="c", channel=CHANNEL, topic="gpu", entries=2),
            subscription(id="d", channel=CHANNEL, topic="gpu", entries=20, schedule=Schedule(weekdays=(), at_once=True)),
        ):
            await store.workspaces.save_subscription(made, change(), replaces=0)
        await store.items.add(PAPERS, NOW - HOUR)
        scheduler = Scheduler(DeliveryContext(store, store.ledger, {}, Harness().settings))
        assert await scheduler.tick(NOW - HOUR) == 0
        await store.facts.set(COLLECTED, str(await store.items.last_arrival()))
    return folder


async def lived(folder: Path, harness: Harness, steps: Steps) -> None:
    """Do rounds of the service on the database until all is settled; raises Crash where the process is killed before."""
    async with opened(folder) as opened_store:
        harness.chat.steps = steps
        store: Any = Stepped(opened_store, steps)
        context = DeliveryContext(store, store.ledger, {"chat": harness.chat}, harness.settings)
        publisher = Publisher(store, Extractive(), {"arxiv": "arXiv"})
        preparer = Preparer(context, publisher, RequestBuilder(store.workspaces, TOPICS, Limits(entries=2)))
        scheduler, deliverer = Scheduler(context), Deliverer(context, pause=harness.clock.pause)
        for _ in range(60):
            await scheduler.tick(harness.clock())
            await preparer.prepare_due(harness.clock())
            await harness.round(deliverer)
            rows = await opened_store.ledger.deliveries(WORKSPACE)
            if len(rows) == 4 and all(each.state is DeliveryState.DONE for each in rows):
                return
        raise AssertionError([(each.state, each.reason) for each in rows])


async def story(planned: Path, folder: Path, harness: Harness, *deaths: int) -> tuple[int, list[str]]:
    """Return how many steps the last process took, and what was posted, a message each."""
    shutil.copytree(planned, folder)
    for each in (*deaths, None):
        steps = Steps(each)
        try:
            await lived(folder, harness, steps)
            break
        except Crash:
            harness.clock.advance(timedelta(seconds=10))
    async with opened(folder) as store:
        found = await store.ledger.recent_occurrences(WORKSPACE)
        assert [each.state for each in found] == [OccurrenceState.MADE] * 4
    shutil.rmtree(folder)
    return steps.taken, [message.payload for message in harness.chat.messages]


def names(messages: list[str]) -> Counter[str]:
    return Counter(name for each in messages for name in each.split(": ")[1].split(", ")[:-1])


@pytest.mark.parametrize("abilities", [BOTH, HISTORY], ids=["both", "history"])
@pytest.mark.parametrize("fault", [Fault.NONE, Fault.LOST_ANSWER])
@pytest.mark.parametrize("every", [31, pytest.param(stride(), marks=pytest.mark.long)])
async def test_four_digests_of_one_channel_and_minute_are_posted_once_each_wherever_a_process_dies(
    planned: Path, tmp_path: Path, abilities: Abilities, fault: Fault, every: int
) -> None:
    def harness() -> Harness:
        return Harness(abilities, faults=[fault])

    steps, undisturbed = await story(planned, tmp_path / "0", harness())
    assert 60 < steps < DEATHS
    assert (len(undisturbed), sum(names(undisturbed).values())) == (4, len(PAPERS))
    for death in range(1, steps + 1, every):
        _, posted = await story(planned, tmp_path / str(death), harness(), death)
        assert len(posted) == 4, death
        assert names(posted) == names(undisturbed), death
