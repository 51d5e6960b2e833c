"""The fake platform fails as real ones do: what a test proves on it is worth as much as this."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.errors import Delayed, Reach, Refused, Rejected, Uncertain
from bot.models import Abilities, Delivery
from tests.conftest import NOW
from tests.fakes.looks import seek
from tests.fakes.patience import PATIENCE
from tests.fakes.platform import EVERYWHERE, PAGE, Behaviour, running
from tests.fakes.platform_messenger import PlatformMessenger

NONCE = Abilities(nonce_window=timedelta(minutes=2))
HISTORY = Abilities(finds=True)
ONE = Delivery(
    id="d1",
    occurrence=("s1", NOW.date(), 0),
    workspace="fake:T1",
    channel="C1",
    topic="kv",
    payload="Today",
    due=NOW,
    next_at=NOW,
)


async def test_a_message_is_committed_although_who_sent_it_is_gone() -> None:
    async with running(Behaviour(takes=(0.2, 0.2))) as platform:
        async with PlatformMessenger(platform.url, NONCE) as messenger:
            sending = asyncio.create_task(messenger.send(ONE))
            await platform.heard.wait()
            sending.cancel()
            with suppress(asyncio.CancelledError):
                await sending
        assert not platform.committed
        await platform.has_posted.wait()
    assert [each.marker for each in platform.committed] == ["d1"]


@pytest.mark.parametrize(
    "failing", [Behaviour(resets=1), Behaviour(halves=1), Behaviour(broken=1), Behaviour(stalls=1, stall=0.4)]
)
@pytest.mark.parametrize("commits", [0.0, 1.0])
async def test_a_lost_answer_may_mean_either(failing: Behaviour, commits: float) -> None:
    behaviour = replace(failing, commits=commits)
    async with running(behaviour) as platform:
        async with PlatformMessenger(platform.url, HISTORY, timeout=0.1 if failing.stalls else PATIENCE) as messenger:
            with pytest.raises(Uncertain):
                await messenger.send(ONE)
        async with asyncio.timeout(PATIENCE), PlatformMessenger(platform.url, HISTORY) as messenger:
            if commits:
                await platform.has_posted.wait()
            assert await seek(messenger, ONE) == ("m0" if commits else "")


async def test_a_nonce_gives_the_same_message_for_as_long_as_it_is_remembered() -> None:
    async with running(Behaviour(remembers=60)) as platform, PlatformMessenger(platform.url, NONCE) as messenger:
        assert [await messenger.send(ONE) for _ in range(2)] == ["m0", "m0"]
        platform.behaviour = Behaviour(remembers=0)
        assert await messenger.send(ONE) == "m1"


async def test_history_lags_and_may_be_closed() -> None:
    async with running(Behaviour(lag=60)) as platform, PlatformMessenger(platform.url, HISTORY) as messenger:
        number = await messenger.send(ONE)
        assert await seek(messenger, ONE) == ""
        platform.behaviour = Behaviour()
        assert await seek(messenger, ONE) == number
        platform.behaviour = Behaviour(readable=False)
        with pytest.raises(Refused):
            await seek(messenger, ONE)


async def test_what_is_asked_inside_a_retry_after_is_refused_and_counted() -> None:
    storm = Behaviour(all_limited=1.0, rests=(60.0, 60.0))
    async with running(storm) as platform, PlatformMessenger(platform.url, NONCE) as messenger:
        for channel in ("C1", "C2"):
            with pytest.raises(Delayed) as caught:
                await messenger.send(replace(ONE, channel=channel))
            assert caught.value.reach is Reach.PLATFORM
            assert caught.value.retry_after is not None
            assert 55 < caught.value.retry_after.total_seconds() <= 60
    assert (platform.counts["429"], platform.counts["inside"], platform.committed) == (2, 1, [])


async def test_no_more_is_taken_within_a_second_than_the_platform_says() -> None:
    async with running(Behaviour(per_second=3)) as platform, PlatformMessenger(platform.url, NONCE) as messenger:
        sent = [messenger.send(replace(ONE, id=f"d{number}")) for number in range(5)]
        answers = await asyncio.gather(*sent, return_exceptions=True)
    assert sorted(type(each).__name__ for each in answers) == ["Delayed", "Delayed", "str", "str", "str"]
    assert len(platform.committed) == 3


async def test_a_channel_that_is_gone_refuses() -> None:
    async with running(Behaviour(refused=frozenset({"C1"}))) as platform:
        async with PlatformMessenger(platform.url, NONCE) as messenger:
            with pytest.raises(Refused):
                await messenger.send(ONE)
            await messenger.tell("fake:T1", "U1", "gone")
    assert platform.told == [("U1", "gone")]


async def test_what_is_refused_for_no_known_reason_is_so_for_a_channel_or_for_everybody_for_as_long_as_it_is_told() -> None:
    async with running(Behaviour(odd={"C1": "Wrong Moon", "U1": PAGE})) as platform:
        async with PlatformMessenger(platform.url, HISTORY) as messenger:
            with pytest.raises(Rejected, match="Wrong Moon") as caught:
                await messenger.send(ONE)
            assert caught.value.failure == "status 400, Wrong Moon"
            with pytest.raises(Rejected):
                await seek(messenger, ONE)
            with pytest.raises(Delayed):
                await messenger.tell("fake:T1", "U1", "gone")
            assert await messenger.send(replace(ONE, id="d2", channel="C2")) == "m0"
            platform.behaviour = Behaviour(odd={EVERYWHERE: PAGE})
            with pytest.raises(Delayed) as shut:
                await messenger.send(replace(ONE, id="d3", channel="C2"))
            assert shut.value.reach is Reach.PLATFORM
            platform.behaviour = Behaviour()
            assert await messenger.send(ONE) == "m1"
    assert platform.counts["odd"] == 4


async def test_a_platform_that_is_not_there_has_posted_nothing() -> None:
    async with running(Behaviour()) as platform:
        pass
    async with PlatformMessenger(platform.url, NONCE) as messenger:
        with pytest.raises(Delayed):
            await messenger.send(ONE)
