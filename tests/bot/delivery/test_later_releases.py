"""A followed repository is posted for each of its releases, each once, whoever dies in between."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

from bot.models import DeliveryState, Item, Kind, Release
from tests.bot.deliveries import ROUND, Harness
from tests.bot.delivery.test_at_once import WORKSPACE, Service, collected, follows
from tests.conftest import NOW
from tests.fakes.transcript import BOTH, Crash, Steps

DAY = timedelta(days=1)
CODE = Item(
    key="github:lab/pages",
    kind=Kind.REPO,
    title="lab/pages",
    abstract="A cache in pages",
    published=NOW - 900 * DAY,
    updated=NOW,
    stars=900,
)
# The last release that is known on each day; a correction is no event.
DAYS = ("", "v1.0", "v1.0", "v2.0", "v2.0.1")


async def released(harness: Harness, number: int, tag: str) -> None:
    """Let a collection end that read what the repository has released, and brought a paper of another field."""
    now = harness.clock()
    release = Release(tag=tag, published=now) if tag else None
    await harness.store.items.add([replace(CODE, release=release, releases_read=now, updated=now)], now)
    await collected(harness, number, word="milk")


async def story(*deaths: int) -> tuple[Harness, int]:
    """Live through some days with processes that die after so many steps; return how many the last took."""
    harness = Harness(BOTH)
    await follows(harness)
    lives = [*(Steps(last) for last in deaths), Steps()]
    service = Service(harness, lives.pop(0))
    for number, tag in enumerate(DAYS, 1):
        await released(harness, number, tag)
        for _ in range(5):  # long enough to settle what a death left unclear
            try:
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


async def test_each_release_is_posted_once_whoever_dies_between_any_two_steps() -> None:
    _, steps = await story()
    assert steps > 20
    for last in range(steps + 1):
        harness, _ = await story(*([last] if last else []))
        past = await harness.store.digests.past(WORKSPACE, "C1", with_entries=True, limit=100)
        assert Counter(key for each in past for key in each.entries) == {CODE.key: 2}, last
        assert await kept(harness) == ["1.0.0", "2.0.0"], last
        rows = await harness.rows()
        assert {each.state for each in rows.values()} == {DeliveryState.DONE}, last
        assert [harness.chat.posted(each.id) for each in rows.values()] == [1, 1], last
