"""What is said where Broadsheet is invited, in Slack and in Discord: once, with the form that subscribes, never again."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk
from tests.e2e.slack_desk import WORKSPACE, SlackDesk
from tests.fakes.discord import Permission
from tests.fakes.patience import PATIENCE
from tests.fakes.platform import Fault
from tests.fakes.slack.faults import Failure

HELLO = "Hello from Broadsheet"


async def settled(desk: SlackDesk) -> None:
    """Wait until what came before has been worked on."""
    await (await desk.fake.command("help")).answer()
    async with asyncio.timeout(PATIENCE):
        while "greeting a channel" in {each.get_name() for each in asyncio.all_tasks()}:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_channel_in_slack_is_greeted_once_and_its_button_opens_the_form(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        await fake.invite(fake.secret)
        (said,) = await fake.until(lambda: fake.messages(fake.secret))
        assert HELLO in said.words
        assert not said.shown_to
        assert said.labels == ["Subscribe"]
        fake.secret.members.add(ben.id)
        view = await (await fake.click(said, "Subscribe", user=ben)).view()
        assert view.title == "Subscribe a channel"
        assert view.values["channel|"]["channel"]["selected_conversation"] == fake.secret.id

        await fake.kick(fake.secret)
        await fake.invite(fake.secret)
        await settled(desk)
        assert len(fake.messages(fake.secret)) == 1
        assert [(each.method, each.error) for each in fake.rejected] == []


async def test_in_slack_nobody_is_greeted_where_the_app_is_in_use_or_joined_by_itself(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        await (await fake.command("subscribe gpu-systems", channel=fake.general)).answer()
        await fake.kick(fake.general)
        before = len(fake.messages(fake.general))
        await fake.invite(fake.general)
        await fake.joined_by_itself(fake.random)
        await settled(desk)
        assert len(fake.messages(fake.general)) == before
        assert not fake.messages(fake.random)


@pytest.mark.parametrize("commits", [True, False])
async def test_a_greeting_of_which_slack_does_not_say_whether_it_stands_is_not_posted_again(
    tmp_path: Path, commits: bool
) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        fake.fail("chat.postMessage", Failure(cut=Fault.RESET, commits=commits))
        await fake.invite(fake.secret)
        await settled(desk)
        await fake.invite(fake.secret)
        await settled(desk)
        assert len(fake.messages(fake.secret)) == int(commits)
        assert not await desk.app.store.workspaces.subscriptions(WORKSPACE)


async def invited(desk: DiscordDesk) -> None:
    """Invite it anew. In the seconds after a connection discord.py takes every server for one that was there before."""
    await desk.fake.slash("digest help", user=desk.anna, channel=desk.papers)
    async with asyncio.timeout(PATIENCE):
        while any("_delay_ready" in str(each.get_coro()) for each in asyncio.all_tasks()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    desk.fake.kick(desk.guild)
    desk.fake.invite(desk.guild)


async def discord_settled(desk: DiscordDesk) -> None:
    """Wait until what came before has been worked on."""
    await desk.fake.slash("digest help", user=desk.anna, channel=desk.papers)
    async with asyncio.timeout(PATIENCE):
        while "greeting a server" in {each.get_name() for each in asyncio.all_tasks()}:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_server_in_discord_is_greeted_once_where_it_says_who_came(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        desk.guild.system = fake.channel(desk.guild, "lobby")
        await invited(desk)
        (said,) = await fake.posted(desk.guild.system)
        assert HELLO in said.text
        opened = await fake.click(said, "Subscribe", user=desk.anna)
        assert opened.form is not None
        await invited(desk)
        await discord_settled(desk)
        assert len(fake.of_bot(desk.guild.system)) == 1
        assert (fake.wrong, fake.mentions) == ([], [])


async def test_an_invitation_in_the_first_seconds_after_a_connection_is_greeted_too(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        desk.guild.system = fake.channel(desk.guild, "lobby")
        await fake.slash("digest help", user=desk.anna, channel=desk.papers)
        assert any("_delay_ready" in str(each.get_coro()) for each in asyncio.all_tasks())
        assert not fake.of_bot(desk.guild.system)  # it was there long before
        fake.clock = lambda: desk.now
        fake.kick(desk.guild)
        fake.invite(desk.guild)
        (said,) = await fake.posted(desk.guild.system)
        assert HELLO in said.text
        fake.outage(desk.guild)
        fake.outage(desk.guild, over=True)
        await discord_settled(desk)
        assert len(fake.of_bot(desk.guild.system)) == 1


@pytest.mark.parametrize("why", ["no such channel", "may not write there", "in use"])
async def test_in_discord_nobody_is_greeted_where_it_may_not_be_or_the_app_is_in_use(tmp_path: Path, why: str) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        lobby = fake.channel(desk.guild, "lobby")
        desk.guild.system = None if why == "no such channel" else lobby
        if why == "may not write there":
            fake.let(lobby, may_not=Permission.SEND_MESSAGES)
        if why == "in use":
            await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, topic="gpu-systems")
        await invited(desk)
        await discord_settled(desk)
        assert not fake.of_bot(lobby)
        assert fake.wrong == []
