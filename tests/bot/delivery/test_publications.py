"""What is posted in an announcement channel is published to who follows it: surely, once, and whoever is stopped when."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.delivery import Deliverer
from bot.delivery.publications import STALE
from bot.errors import DeliveryError, Reach, Refused, Rejected
from bot.models import Delivery, Preferences
from tests.bot.deliveries import Harness, change
from tests.conftest import NOW
from tests.fakes.transcript import NEITHER, Crash, Fault, Steps, delivery

HOUR = timedelta(hours=1)
FOLLOWED = Preferences(publish=("C1",), alerts="C9")


async def opened(*posts: Delivery, preferences: Preferences = FOLLOWED) -> Harness:
    """A house in which these messages are due, and C1 publishes to who follows it."""
    harness = Harness()
    await harness.store.workspaces.save_preferences("chat:T1", preferences, change())
    await harness.plant(posts or [delivery(now=NOW, publishes=True)])
    return harness


async def go_on(harness: Harness, deliverer: Deliverer, rounds: int = 6) -> None:
    for _ in range(rounds):
        await harness.round(deliverer)
        await deliverer.publish_to_followers(harness.clock)


async def alerts(harness: Harness) -> list[str]:
    waiting = (await harness.store.outbox.notices()).get("chat:T1", ())
    return [each.text for each in waiting] + [text for *_, text in harness.chat.announced]


async def left(harness: Harness) -> int:
    return len(await harness.store.outbox.publications(harness.clock() + 10 * STALE))


async def test_what_is_posted_is_published_once_and_where_nobody_asked_for_it_never() -> None:
    harness = await opened(delivery(1, now=NOW, publishes=True), delivery(2, now=NOW))
    await go_on(harness, harness.deliverer())
    (posted,) = [each.id for each in harness.chat.messages if each.channel == "C1"]
    assert harness.chat.published == [posted]
    assert (await left(harness), await alerts(harness)) == (0, [])


async def test_of_whoever_is_stopped_between_any_two_steps_nothing_is_lost_and_nothing_posted_twice() -> None:
    harness = await opened()
    whole = Steps()
    await go_on(harness, harness.deliverer(whole))
    assert harness.chat.followed
    for last in range(whole.taken):
        harness = await opened()
        with pytest.raises(Crash):
            await go_on(harness, harness.deliverer(Steps(last)))
        harness.clock.advance(10 * harness.settings.lease)
        await go_on(harness, harness.deliverer())
        (posted,) = harness.chat.messages
        assert harness.chat.followed == {posted.id}, last
        assert await left(harness) == 0


@pytest.mark.parametrize("fault", [Fault.LOST_ANSWER, Fault.STUMBLED, Fault.LOST_REQUEST])
async def test_what_may_be_published_is_published_again(fault: Fault) -> None:
    harness = await opened()
    harness.chat.publishing = [fault]
    deliverer = harness.deliverer()
    await go_on(harness, deliverer, 4)
    harness.clock.advance(HOUR)
    await go_on(harness, deliverer, 2)
    assert len(harness.chat.published) == 2
    assert (harness.chat.followed, await left(harness)) == ({harness.chat.published[0]}, 0)
    assert len(harness.chat.messages) == 1


async def test_a_platform_that_asks_to_wait_is_waited_for_and_nothing_else_waits() -> None:
    harness = await opened(
        delivery(1, now=NOW, publishes=True), delivery(2, now=NOW, channel="C1", topic="gpu", publishes=True)
    )
    harness.chat.publishing = [Fault.RETRY_AFTER]
    await go_on(harness, harness.deliverer(), 3)
    assert len(harness.chat.messages) == 2, "both are posted"
    assert len(harness.chat.published) == 1, "and the channel waits as long as it is asked to"
    await go_on(harness, harness.deliverer(), 6)
    assert (len(harness.chat.followed), await left(harness)) == (2, 0)


def several(number: int, workspace: str = "chat:T1") -> list[Delivery]:
    """Return so many digests of one channel, a second apart; what is put off longest has the name that comes first."""
    made = [delivery(each, now=NOW + each * timedelta(seconds=1), publishes=True) for each in range(1, number + 1)]
    return [
        replace(each, id=f"{workspace[-1]}{number - place:03}", workspace=workspace, channel="C1", topic=f"t{place}")
        for place, each in enumerate(made)
    ]


async def test_what_a_limit_puts_off_is_published_in_the_order_in_which_it_was_posted() -> None:
    harness = await opened(*several(8))
    deliverer = harness.deliverer()
    harness.clock.advance(timedelta(seconds=9))
    for each in several(8):
        (row,) = [row for row in (await harness.rows()).values() if row.id == each.id]
        await deliverer.deliver(row, harness.clock)
        harness.clock.advance(timedelta(seconds=1))
    harness.chat.publishing = [Fault.NONE, Fault.RETRY_AFTER, Fault.RETRY_AFTER, Fault.NONE, Fault.NONE, Fault.RETRY_AFTER]
    for lives in range(40):
        if lives == 20:
            deliverer = harness.deliverer()
        await deliverer.publish_to_followers(harness.clock)
        harness.clock.advance(timedelta(seconds=10))
    posted = [each.id for each in harness.chat.messages]
    assert [*dict.fromkeys(harness.chat.published[::-1])][::-1] == posted
    assert len(harness.chat.published) == len(posted) + 3


async def test_a_channel_that_rests_with_many_waiting_keeps_no_other_waiting() -> None:
    harness = await opened(*several(120))
    await harness.store.workspaces.save_preferences("chat:T2", FOLLOWED, change("chat:T2"))
    harness.clock.advance(HOUR / 4)
    deliverer = harness.deliverer()
    for posted in (120, 121):
        while len(harness.chat.messages) < posted:
            await deliverer.deliver_due(harness.clock)
            harness.clock.advance(timedelta(seconds=1))
        await harness.plant(several(1, "chat:T2") if posted == 120 else [])
    harness.chat.publishing = [Fault.NONE, Fault.RETRY_AFTER]
    theirs = harness.chat.messages[-1].id
    await deliverer.publish_to_followers(harness.clock)
    assert theirs in harness.chat.followed


@pytest.mark.parametrize("error", [Refused("I may not post here."), Rejected("It cannot be.", failure="code 1")])
async def test_what_cannot_be_published_is_told_once_and_pauses_nothing(error: DeliveryError) -> None:
    harness = await opened()
    deliverer = harness.deliverer()
    await deliverer.deliver_due(harness.clock)
    harness.chat.closed["C1"] = error
    for _ in range(3):
        await deliverer.publish_to_followers(harness.clock)
    (told,) = await alerts(harness)
    assert told.startswith("The digest kv of 2026-04-01 for C1 was posted, and not published to who follows the channel: ")
    assert str(error) in told
    assert await left(harness) == 0
    (held,) = await harness.store.workspaces.subscriptions("chat:T1")
    assert not held.paused


async def test_what_keeps_us_out_of_everything_is_waited_out_and_after_a_day_it_is_no_news() -> None:
    harness = await opened()
    deliverer = harness.deliverer()
    await deliverer.deliver_due(harness.clock)
    harness.chat.closed["C1"] = Refused("The token was revoked.", reach=Reach.WORKSPACE)
    await deliverer.publish_to_followers(harness.clock)
    assert (await left(harness), await alerts(harness)) == (1, [])
    harness.clock.advance(STALE + HOUR)
    harness.chat.closed.clear()
    await deliverer.publish_to_followers(harness.clock)
    assert (harness.chat.followed, await left(harness)) == (set(), 0)
    assert "longer than a day" in (await alerts(harness))[0]


async def test_what_was_switched_off_meanwhile_is_not_published() -> None:
    harness = await opened()
    deliverer = harness.deliverer()
    await deliverer.deliver_due(harness.clock)
    await harness.store.workspaces.save_preferences("chat:T1", replace(FOLLOWED, publish=()), change())
    await deliverer.publish_to_followers(harness.clock)
    assert (harness.chat.published, await left(harness), await alerts(harness)) == ([], 0, [])


async def test_a_platform_that_is_not_connected_is_waited_for() -> None:
    harness = await opened()
    await harness.deliverer().deliver_due(harness.clock)
    context = replace(harness.context(), messengers={})
    await Deliverer(context, pause=harness.clock.pause).publish_to_followers(harness.clock)
    assert await left(harness) == 1
    harness.clock.advance(2 * HOUR)
    await harness.deliverer().publish_to_followers(harness.clock)
    assert await left(harness) == 0


async def test_what_is_found_to_be_posted_is_published() -> None:
    harness = await opened()
    harness.chat.faults = [Fault.LOST_ANSWER]
    deliverer = harness.deliverer()
    for _ in range(40):
        await go_on(harness, deliverer, 1)
    assert len(harness.chat.messages) == len(harness.chat.followed) == 1


async def test_what_was_never_posted_is_never_published() -> None:
    harness = await opened()
    harness.chat.abilities = NEITHER
    harness.chat.faults = [Fault.LOST_REQUEST] * 50
    for _ in range(20):
        await go_on(harness, harness.deliverer(), 1)
    assert (harness.chat.published, await left(harness)) == ([], 0)
