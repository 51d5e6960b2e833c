"""A digest in an announcement channel of Discord is published to who follows it, where the channel's setting says so."""

from datetime import timedelta
from pathlib import Path

from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk, restarted
from tests.fakes.discord import Channel, Fault, Kind, Message
from tests.fakes.discord.things import CROSSPOSTED

CROSSPOST = "POST /channels/{channel_id}/messages/{message_id}/crosspost"
ON, OFF = ({"name": "publish", "value": value} for value in ("here", "off"))


async def subscribed(desk: DiscordDesk, *channels: Channel) -> None:
    """Have a digest due in each channel each day, and something to post in it."""
    given = {"topic": "gpu-systems", "days": "daily", "at": "09:00", "zone": "UTC", "entries": 3}
    for each in channels:
        options = given | {"channel": each}
        await desk.fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, options=options)
    await desk.app.store.items.add(desk.fresh(), desk.now + timedelta(minutes=5))
    await desk.round()


async def digests(desk: DiscordDesk, news: Channel) -> list[Message]:
    """Let the digest become due, and return what stands in the channel then."""
    (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace, channel=str(news.id))
    await desk.round(desk.due(held))
    return [each for each in desk.fake.of_bot(news) if each.selects]


async def test_a_digest_is_published_where_that_is_settled_and_nowhere_else(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake, anna = desk.fake, desk.anna
        news, quiet = (fake.channel(desk.guild, name, Kind.ANNOUNCEMENT) for name in ("news", "quiet"))
        settled = await fake.slash("digest settings", user=anna, channel=news, options=ON)
        assert "This channel." in settled.text
        here = await fake.slash("digest settings", user=anna, channel=desk.papers, options=ON)
        assert "Discord publishes only from announcement channels, and #papers is none." in here.text
        await subscribed(desk, news, quiet)
        (message,) = await digests(desk, news)
        (other,) = [each for each in fake.of_bot(quiet) if each.selects]
        assert message.flags & CROSSPOSTED
        assert not other.flags & CROSSPOSTED
        await desk.round(desk.now + timedelta(minutes=1))
        assert (fake.counts["crossposted"], fake.wrong, fake.mentions) == (1, [], [])
        undone = await fake.click(settled.messages[0], "Undo", user=anna)
        assert "In no channel." in undone.text


async def test_it_is_settled_from_another_channel_for_one_that_is_named(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        news = fake.channel(desk.guild, "news", Kind.ANNOUNCEMENT)
        told = await fake.slash("digest settings", user=desk.anna, channel=desk.papers, options=ON | {"channel": news})
        assert "Settled" in told.text
        (settled,) = (await desk.app.store.workspaces.preferences(desk.workspace)).publish
        assert settled == str(news.id)
        refused = await fake.slash("digest settings", user=desk.ben, channel=news, options=OFF)
        assert "Only administrators" in refused.text


async def test_of_a_service_that_is_stopped_between_posting_and_publishing_the_next_one_publishes(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        news = fake.channel(desk.guild, "news", Kind.ANNOUNCEMENT)
        await fake.slash("digest settings", user=desk.anna, channel=news, options=ON)
        await subscribed(desk, news)
        fake.befall(CROSSPOST, fault=Fault.RESET, commits=False)
        (message,) = await digests(desk, news)
        assert not message.flags & CROSSPOSTED
        async with restarted(desk) as again:
            fake.befall(CROSSPOST, fault=Fault.RESET, commits=True)  # it is published, and nobody hears of it
            await again.round(again.now + timedelta(hours=1))
            assert message.flags & CROSSPOSTED
            for _ in range(2):
                await again.round(again.now + timedelta(hours=1))
            assert await again.app.store.outbox.publications(again.now + timedelta(days=9)) == []
        assert (fake.counts["crossposted"], len([each for each in fake.of_bot(news) if each.selects])) == (1, 1)
        assert fake.wrong == []


async def test_slack_says_that_it_has_no_such_channels(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        told = await (await fake.command("settings publish here", user=fake.anna, channel=fake.general)).answer()
        assert "Only an announcement channel in Discord has followers" in told.words
        shown = await (await fake.command("settings", user=fake.anna, channel=fake.general)).answer()
        assert "publish" not in shown.words
