"""The first digest at once: offered by the answer to a subscription, pressed, and posted once whatever comes between."""

import re
from datetime import timedelta
from pathlib import Path

from tests.conftest import NOW
from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk
from tests.e2e.slack_desk import WORKSPACE, SlackDesk
from tests.e2e.stage import NEW, OLD, about
from tests.fakes.discord import Fault
from tests.fakes.slack import Failure

LINE = "subscribe gpu-systems daily at 09:00 in UTC top 3"  # a digest of one message
GIVEN = {"topic": "gpu-systems", "days": "daily", "at": "09:00", "zone": "UTC", "entries": 3}
DUE = NOW.replace(hour=9)
MINUTE = timedelta(minutes=1)
_TITLES = re.compile("|".join(map(re.escape, (*OLD, *NEW))))


def titles(text: str) -> list[str]:
    """The papers that a digest shows, in their order, each once."""
    return list(dict.fromkeys(_TITLES.findall(text)))


def digests_in_slack(desk: SlackDesk) -> list[str]:
    """What each digest says."""
    found = desk.fake.messages(desk.fake.general)
    return [str(each.blocks) for each in found if (each.metadata or {}).get("event_type")]


def digests_in_discord(desk: DiscordDesk) -> list[str]:
    """What each digest says."""
    return [each.text for each in desk.fake.of_bot(desk.papers) if " seen · " in each.text]


async def test_in_slack_the_first_digest_is_posted_once_and_the_regular_one_goes_on_from_there(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, general = desk.fake, desk.fake.general
        subscribed = await (await fake.command(LINE, channel=general)).answer()
        assert "The best of the last 2 days: post now?" in subscribed.words
        await desk.round()
        assert digests_in_slack(desk) == [], "nothing is posted by itself"

        told = await (await fake.click(subscribed, "Post now")).answer()
        assert "GPU systems is posted now" in told.text
        fake.fail("chat.postMessage", Failure(cut=Fault.RESET, commits=True))
        for minutes in range(6):  # what became of the lost answer is looked for first
            await desk.round(NOW + minutes * MINUTE)
        (first,) = digests_in_slack(desk)
        assert set(titles(first)) <= set(OLD)
        assert titles(first)

        again = await (await fake.click(subscribed, "Post now")).answer()
        assert "was asked for today already" in again.text
        assert "was posted" in again.words
        await desk.app.store.items.add(about(11, NEW, NOW + timedelta(hours=1)), NOW + timedelta(hours=1))
        await desk.round(DUE)
        _, regular = digests_in_slack(desk)
        assert sorted(titles(regular)) == sorted(NEW), "all that came in since, and nothing of before"
        assert fake.mentions == []


async def test_in_discord_it_is_posted_once_though_the_service_dies_after_every_step(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake, papers, anna = desk.fake, desk.papers, desk.anna
        await fake.slash("digest-manage subscribe", user=anna, channel=papers, options=GIVEN)
        (subscribed,) = await fake.posted(papers)
        assert "The best of the last 2 days: post now?" in subscribed.text
        await desk.round()
        refused = await fake.click(subscribed, "Post now", user=desk.ben)
        assert "Only administrators" in refused.text
        asked = await fake.click(subscribed, "Post now", user=anna)
        assert "GPU systems is posted now" in asked.text

        async with discord_desk.restarted(desk) as opened:  # it was opened, and not made
            fake.befall("POST /channels", fault=Fault.RESET, commits=True)
            await opened.round(NOW + MINUTE)
        async with discord_desk.restarted(opened) as unknown:  # it was posted, and nobody knows
            again = await fake.click(subscribed, "Post now", user=anna)
            assert "was asked for today already" in again.text
            for minutes in range(2, 8):
                await unknown.round(NOW + minutes * MINUTE)
            (first,) = digests_in_discord(unknown)
            assert set(titles(first)) <= set(OLD)
            assert titles(first)

            again = await fake.click(subscribed, "Post now", user=anna)
            assert "was posted" in again.text
            await unknown.app.store.items.add(about(11, NEW, NOW + timedelta(hours=1)), NOW + timedelta(hours=1))
            await unknown.round(DUE)
            _, regular = digests_in_discord(unknown)
            assert sorted(titles(regular)) == sorted(NEW), "all that came in since, and nothing of before"
        assert (fake.wrong, fake.mentions) == ([], [])


async def test_while_nothing_is_stored_nothing_is_offered_and_both_say_so_alike(tmp_path: Path) -> None:
    (tmp_path / "slack").mkdir()
    (tmp_path / "discord").mkdir()
    async with slack_desk.sitting(tmp_path / "slack", items=()) as slack:
        told = await (await slack.fake.command(LINE, channel=slack.fake.general)).answer()
        assert "Nothing came in during the last 2 days yet." in told.words
        assert "Post now" not in told.labels
        asked = await (await slack.fake.command("post gpu-systems", channel=slack.fake.general)).answer()
        assert "Nothing of GPU systems to post now" in asked.text
        assert await slack.app.store.ledger.recent_occurrences(WORKSPACE) == []
    async with discord_desk.sitting(tmp_path / "discord", items=()) as discord:
        fake, anna, papers = discord.fake, discord.anna, discord.papers
        await fake.slash("digest-manage subscribe", user=anna, channel=papers, options=GIVEN)
        (posted,) = await fake.posted(papers)
        assert "Nothing came in during the last 2 days yet." in posted.text
        assert "Post now" not in [each.get("label") for each in posted.buttons]
        answered = await fake.slash("digest-manage post", topic="gpu-systems", user=anna, channel=papers)
        assert "Nothing of GPU systems to post now" in answered.text
