"""A followed repository is posted for each of its releases, each once, whoever dies in between.

The collections bring the repository alone: nothing else comes in with which its releases could be told.
"""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import datetime, time, timedelta

import pytest

from bot.collect.collector import Collector
from bot.models import Batch, DeliveryState, Item, Kind, Preferences, Release
from bot.sources.registry import AUTHORITY
from tests.bot.deliveries import ROUND, Harness, change
from tests.bot.delivery.test_at_once import WORKSPACE, Service, follows
from tests.conftest import NOW, stride
from tests.fakes.scripted import Scripted
from tests.fakes.transcript import BOTH, Crash, Steps

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
CODE = Item(
    key="github:lab/pages",
    kind=Kind.REPO,
    title="lab/pages",
    abstract="A cache in pages",
    published=NOW - 900 * DAY,
    updated=NOW,
    stars=900,
)
SLOTS = replace(CODE, key="github:lab/slots", title="lab/slots", abstract="A cache in slots of fixed length")
# The last release that is known on each day; a correction is no event.
DAYS = ("", "v1.0", "v2.0", "v2.0.1")


async def read(service: Service, tag: str, at: datetime, *items: Item) -> None:
    """Let a collection end that read what the repositories have released then."""
    now, release = service.harness.clock(), Release(tag=tag, published=at) if tag else None
    found = tuple(replace(item, release=release, releases_read=now, updated=now) for item in items or (CODE,))
    source = Scripted("github", Batch(items=found, watermark=now.isoformat()))
    await Collector(service.context.store, AUTHORITY).collect([source], now)


async def story(*deaths: int) -> tuple[Harness, int]:
    """Live through some days with processes that die after so many steps; return how many the last took."""
    harness = Harness(BOTH)
    await follows(harness)
    lives = [*(Steps(last) for last in deaths), Steps()]
    service = Service(harness, lives.pop(0))
    for tag in DAYS:
        at = harness.clock()
        for _ in range(4):  # long enough to settle what a death left unclear; each reads the same
            try:
                await read(service, tag, at)
                await service.rounds(2)
            except Crash:
                harness.clock.advance(ROUND)
                service = Service(harness, lives.pop(0))
        harness.clock.advance(DAY)
    return harness, service.harness.chat.steps.taken


async def kept(harness: Harness) -> list[str]:
    """The releases that the channel was told, as they are kept."""
    found = await harness.store.digests.posted(WORKSPACE, "C1")
    return sorted(key.partition("@")[2] for key in found if key.partition("@")[2])


async def shown(harness: Harness) -> list[list[str]]:
    """The repositories of each message, the first message first."""
    past = await harness.store.digests.past(WORKSPACE, "C1", with_entries=True, limit=100)
    return [sorted(each.entries) for each in reversed(past)]


@pytest.mark.no_cover
@pytest.mark.parametrize("every", [7, pytest.param(stride(), marks=pytest.mark.long)])
async def test_each_release_is_posted_once_whoever_dies_between_any_two_steps(every: int) -> None:
    _, steps = await story()
    assert steps > 20
    for last in range(0, steps + 1, every):
        harness, _ = await story(*([last] if last else []))
        assert Counter(key for each in await shown(harness) for key in each) == {CODE.key: 2}, last
        assert await kept(harness) == ["1.0.0", "2.0.0"], last
        rows = await harness.rows()
        assert {each.state for each in rows.values()} == {DeliveryState.DONE}, last
        assert [harness.chat.posted(each.id) for each in rows.values()] == [1, 1], last


async def test_in_quiet_hours_releases_wait_and_come_in_one_message_at_their_end() -> None:
    harness = Harness()
    await follows(harness)
    quiet = Preferences(quiet_from=time(6), quiet_until=time(9))
    await harness.store.workspaces.save_preferences(WORKSPACE, quiet, change())
    service = Service(harness)
    await read(service, "", NOW, CODE, SLOTS)
    for each in (CODE, SLOTS):
        await read(service, "v1.0", harness.clock(), each)
        await service.rounds(3)
        harness.clock.advance(HOUR)
    assert await shown(harness) == []
    harness.clock.advance(NOW.replace(hour=9) - harness.clock() + ROUND)
    await service.rounds(3)
    assert await shown(harness) == [[CODE.key, SLOTS.key]]


async def test_a_release_after_the_last_message_of_the_day_comes_on_the_next_day() -> None:
    harness = Harness()
    await follows(harness)
    await harness.store.workspaces.save_preferences(WORKSPACE, Preferences(at_once_daily=1), change())
    service = Service(harness)
    await read(service, "", NOW, CODE, SLOTS)
    for each in (CODE, SLOTS):
        await read(service, "v1.0", harness.clock(), each)
        await service.rounds(3)
        harness.clock.advance(HOUR)
    assert await shown(harness) == [[CODE.key]]
    harness.clock.advance(DAY)
    await service.rounds(3)
    assert await shown(harness) == [[CODE.key], [SLOTS.key]]


async def test_two_processes_that_read_and_post_at_the_same_time_post_a_release_once() -> None:
    harness = Harness(BOTH)
    await follows(harness)
    services = [Service(harness), Service(harness)]
    for tag in DAYS:
        at = harness.clock()
        await asyncio.gather(*(read(each, tag, at) for each in services))
        for _ in range(3):
            await asyncio.gather(*(each.round() for each in services))
        harness.clock.advance(DAY)
    assert await shown(harness) == [[CODE.key], [CODE.key]]
    assert await kept(harness) == ["1.0.0", "2.0.0"]
    assert len(harness.chat.messages) == 2
