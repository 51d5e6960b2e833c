"""Which repositories enter digests, over days as they were recorded."""

import gzip
import json
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

from bot.collect.collector import Collector
from bot.digest import selection
from bot.digest.publisher import Publisher
from bot.models import Batch, Digest, DigestRequest, Item, Kind, Limits, Topic
from bot.query import parse
from bot.sources.registry import AUTHORITY
from bot.summarise.extractive import Extractive
from tests.fakes.scripted import Scripted
from tests.stores.memory import MemoryStore

RECORDED = json.loads(gzip.decompress((Path(__file__).parents[2] / "payloads/github/star-rankings.json.gz").read_bytes()))
TOPIC = Topic(name="all", title="All", query=parse("kind:repo"))
MANY = Limits(entries=50, repositories=50)
FAMOUS = 100_000  # stars


def listed(day: str) -> list[Item]:
    """The repositories as a search of that morning finds them."""
    return [
        Item(
            key=f"github:{name.lower()}",
            kind=Kind.REPO,
            title=name,
            abstract=RECORDED["about"][name][1],
            sources=("github",),
            stars=stars,
            forks=forks,
            published=datetime(2019, 1, 1, tzinfo=UTC),
            updated=datetime.fromisoformat(pushed),
        )
        for name, stars, forks, pushed in RECORDED["days"][day]
    ]


async def digests_of_the_days() -> dict[str, Digest]:
    store = MemoryStore()
    publisher, made = Publisher(store, Extractive(), {"github": "GitHub"}), {}
    for day in RECORDED["days"]:
        now = datetime.combine(datetime.fromisoformat(day), time(8), UTC)
        await Collector(store, AUTHORITY).collect([Scripted("github", Batch(items=tuple(listed(day))))], now)
        requests = [DigestRequest(TOPIC, "local", "local", MANY)]
        (made[day],) = await publisher.publish(requests, now + timedelta(hours=1), record=True)
    return made


async def test_over_twelve_days_what_rose_enters_once_and_what_is_famous_and_pushed_to_never() -> None:
    made = await digests_of_the_days()
    entered = [entry.ranked for digest in made.values() for entry in digest.entries]
    names = [each.item.title for each in entered]
    famous = {name for listing in RECORDED["days"].values() for name, stars, *_ in listing if stars > FAMOUS}

    assert len(famous) == 40
    assert len(names) == len(set(names)) == 12
    assert "Introduction-to-Autonomous-Robots/Introduction-to-Autonomous-Robots" not in names, "a textbook"
    assert famous.isdisjoint(names)
    assert all(any(reason.startswith("★ +") for reason in each.reasons) for each in entered)
    told = {each.item.title: each.reasons[0] for each in entered}
    assert told["apple/container"] == "★ +3,227 in 2 days"
    (first, *_) = made.values()
    assert (first.entries, dict(first.coverage.dropped)) == ((), {selection.NO_EVENT: 50})
