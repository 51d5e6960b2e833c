"""What stands in an announcement channel is published to who follows it: by discord.py, over real sockets."""

from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.discord.send import DiscordMessenger
from bot.errors import Delayed, DeliveryError, Refused, Rejected, Uncertain
from bot.models import Layout
from tests.adapters.discord.test_edit import fake, guild, messenger, standing
from tests.fakes.discord import Channel, FakeDiscord, Fault, Guild, Kind, Permission
from tests.fakes.discord.things import CROSSPOSTED

__all__ = ["fake", "guild", "messenger"]


@pytest.fixture
def news(fake: FakeDiscord, guild: Guild) -> Channel:
    return fake.channel(guild, "news", Kind.ANNOUNCEMENT)


async def test_a_message_is_published_and_once_more_is_no_fault(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger, news: Channel
) -> None:
    (posted,) = await standing(messenger, guild, news)
    for _ in range(2):
        await messenger.publish(posted)
    (message,) = news.messages.values()
    assert message.flags & CROSSPOSTED
    assert (fake.counts["crossposted"], fake.wrong) == (1, [])


async def test_cards_in_the_thread_are_not_what_is_followed_and_what_was_deleted_needs_nothing(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger, news: Channel
) -> None:
    first, *cards = await standing(messenger, guild, news, Layout.THREAD)
    assert cards
    for each in cards:
        await messenger.publish(each)
    assert fake.counts["crossposted"] == 0
    fake.delete_message(news.messages[int(first.message)])
    await messenger.publish(first)
    await messenger.publish(replace(first, message="deleted"))
    assert (fake.counts["crossposted"], fake.wrong) == (0, [])


async def test_a_channel_that_nobody_can_follow_publishes_nothing(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger
) -> None:
    (posted,) = await standing(messenger, guild, fake.channel(guild, "papers"))
    with pytest.raises(Rejected, match="no announcement channel"):
        await messenger.publish(posted)


async def test_ten_are_published_in_an_hour_and_then_discord_says_how_long_to_wait(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger, news: Channel
) -> None:
    (posted,) = await standing(messenger, guild, news)
    for _ in range(10):
        await messenger.publish(posted)
    with pytest.raises(Delayed) as caught:
        await messenger.publish(posted)
    assert caught.value.retry_after is not None
    assert timedelta(minutes=50) < caught.value.retry_after <= timedelta(hours=1)
    other = fake.channel(guild, "other news", Kind.ANNOUNCEMENT)
    (elsewhere,) = await standing(messenger, guild, other)
    await messenger.publish(elsewhere)
    assert fake.counts["crossposted"] == 2


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"fault": Fault.RESET, "commits": True}, Uncertain),
        ({"fault": Fault.BROKEN}, Uncertain),
        ({"code": 50013}, Refused),
        ({"code": 50068, "status": 400}, Rejected),
        ({"fault": Fault.LIMITED, "retry_after": 30}, Delayed),
    ],
)
async def test_every_failure_says_what_it_means(
    fake: FakeDiscord,
    guild: Guild,
    messenger: DiscordMessenger,
    news: Channel,
    how: dict[str, object],
    error: type[DeliveryError],
) -> None:
    (posted,) = await standing(messenger, guild, news)
    fake.befall("POST /channels/{channel_id}/messages/{message_id}/crosspost", **how)
    with pytest.raises(error, match=r"\.$"):
        await messenger.publish(posted)
    if how.get("fault") is Fault.RESET:
        await messenger.publish(posted)
        assert fake.counts["crossposted"] == 1


async def test_the_fake_lets_nobody_publish_who_may_not_write(
    fake: FakeDiscord, guild: Guild, messenger: DiscordMessenger, news: Channel
) -> None:
    (posted,) = await standing(messenger, guild, news)
    fake.let(news, may_not=Permission.SEND_MESSAGES)
    with pytest.raises(Refused, match="Send Messages"):
        await messenger.publish(posted)
