"""What somebody installs for themselves in Discord: search, show and Find similar, in a workspace of their own."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.discord_desk import DiscordDesk, sitting
from tests.e2e.shared_desk import workspaces
from tests.fakes.discord import Channel, Guild, User
from tests.fakes.discord.actions import NotOfferedError


def elsewhere(desk: DiscordDesk, *people: User) -> Channel:
    """Return a channel of a server in which the bot is not."""
    guild: Guild = desk.fake.guild("Elsewhere")
    channel = desk.fake.channel(guild, "talk")
    for each in people:
        desk.fake.join(guild, each)
    desk.fake.kick(guild)
    return channel


async def test_it_works_in_a_server_without_the_bot_and_keeps_what_is_ones_own_apart(tmp_path: Path) -> None:
    async with sitting(tmp_path, user_install=True) as desk:
        fake, ben, anna = desk.fake, desk.ben, desk.anna
        talk = elsewhere(desk, ben, anna)
        fake.install(ben)
        found = await fake.slash("papers search", query="paging", user=ben, channel=talk)
        assert "Paging the KV cache" in found.text
        assert all(each.is_private for each in found.messages)
        card = await fake.slash("papers show", item="2603.00001", user=ben, channel=talk)
        assert "Paging the KV cache" in card.text
        kept = await fake.click(card.messages[0], "Save", user=ben)
        assert "aved" in kept.text
        linked = fake.write(talk, anna, "https://arxiv.org/abs/2603.00002")
        close = await fake.menu("Find similar papers", linked, user=ben)
        assert close.text

        directly = await fake.slash("digest saved", user=ben, channel=fake.private(ben))
        assert "Paging the KV cache" in directly.text, "a person's own workspace is that of their conversation with us"
        in_server = await fake.slash("digest saved", user=ben, channel=desk.papers)
        assert "Paging the KV cache" not in in_server.text, "and not that of a server"
        of_anna = await fake.slash("digest saved", user=anna, channel=fake.private(anna))
        assert "Paging the KV cache" not in of_anna.text
        assert await asyncio.to_thread(workspaces, tmp_path / "b.sqlite3") == {f"discord:@{ben.id}"}
        with pytest.raises(NotOfferedError):
            await fake.slash("papers search", query="paging", user=anna, channel=talk)
        with pytest.raises(NotOfferedError):
            await fake.slash("digest search", query="paging", user=ben, channel=talk)
        assert (fake.wrong, fake.mentions) == ([], [])


async def test_where_a_server_has_the_bot_its_own_commands_act_in_its_workspace(tmp_path: Path) -> None:
    async with sitting(tmp_path, user_install=True) as desk:
        fake, ben = desk.fake, desk.ben
        fake.install(ben)
        mine = await fake.slash("papers show", item="2603.00001", user=ben, channel=desk.papers)
        await fake.click(mine.messages[0], "Save", user=ben)
        linked = fake.write(desk.papers, ben, "https://arxiv.org/abs/2603.00002")
        both = await fake.menu("Find similar papers", linked, user=ben)  # offered by the server, and by ben
        (select,) = both.messages[0].selects
        chosen = await fake.choose(both.messages[0], select["options"][0]["label"], user=ben)
        await fake.click(chosen.messages[0], "Save", user=ben)
        in_server = await fake.slash("digest saved", user=ben, channel=desk.papers)
        assert "Paging the KV cache" not in in_server.text
        assert "1." in in_server.text.replace("\\", "")
        assert await asyncio.to_thread(workspaces, tmp_path / "b.sqlite3") == {f"discord:@{ben.id}", desk.workspace}


async def test_it_works_in_a_conversation_of_others_and_promises_no_post_there(tmp_path: Path) -> None:
    async with sitting(tmp_path, user_install=True) as desk:
        fake = desk.fake
        fake.install(desk.ben)
        group = fake.group()
        found = await fake.slash("papers search", query="paging", user=desk.ben, channel=group)
        assert "Paging the KV cache" in found.text
        assert (fake.wrong, fake.mentions) == ([], [])


async def test_elsewhere_every_hint_is_what_can_be_given_there(tmp_path: Path) -> None:
    async with sitting(tmp_path, user_install=True) as desk:
        fake, ben = desk.fake, desk.ben
        talk = elsewhere(desk, ben)
        fake.install(ben)
        found = await fake.slash("papers search", query="paging", user=ben, channel=talk)
        assert "follow" not in found.text, "what can only be given in a server that has the bot"
        nothing = await fake.slash("papers search", query="zymurgy", user=ben, channel=talk)
        wrong = await fake.slash("papers search", query="stars:>many", user=ben, channel=talk)
        led = await fake.click(wrong.messages[0], "Help on search", user=ben)
        card = await fake.slash("papers show", item="2603.00001", user=ben, channel=talk)
        kept = await fake.click(card.messages[0], "Save", user=ben)
        every = (found, nothing, wrong, led, card, kept)
        assert all("</digest" not in each.text for each in every)
        assert "</papers search:" in led.text
        all_there_is = await fake.click(led.messages[0], "What you can ask", user=ben)
        assert "`/digest list`" in all_there_is.text
        assert "in a message to me directly" in all_there_is.text

        directly = await fake.slash("papers search", query="paging", user=ben, channel=fake.private(ben))
        assert "</digest" in directly.text, "there the others are offered, too"
        assert (fake.wrong, fake.mentions) == ([], [])


async def test_without_the_setting_nothing_is_offered_to_a_person(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        desk.fake.install(desk.ben)
        talk = elsewhere(desk, desk.ben)
        assert desk.fake.offered(desk.ben, talk) == []
