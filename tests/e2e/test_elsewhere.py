"""A channel that is named in a command given in another one: reached, managed by who may there, and never revealed.

BROADSHEET_TRANSCRIPT names a file to which is written how a forum is subscribed.
"""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

from adapters.discord.install.command_tree import tree
from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk, Transcript, restarted
from tests.e2e.slack_desk import WORKSPACE
from tests.fakes.discord import Asked, Channel, Doing, Kind, Permission
from tests.fakes.discord.permissions import NONE

SUBSCRIBE = "digest-manage subscribe"


def digests(desk: DiscordDesk, forum: Channel) -> list[Channel]:
    """The posts of a forum."""
    return [each for each in desk.fake.channels.values() if each.parent is forum]


async def given(desk: DiscordDesk, line: str, place: Channel, **options: Any) -> Asked:
    """What Anna is told in #papers of a command for another channel."""
    return await desk.fake.slash(line, user=desk.anna, channel=desk.papers, options=options | {"channel": place})


async def test_a_forum_is_subscribed_from_a_text_channel_and_each_digest_is_a_post_once(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        forum, said = fake.channel(desk.guild, "digests", Kind.FORUM), Transcript()
        asked = await given(desk, SUBSCRIBE, forum, topic="gpu-systems", days="daily", at="09:00", zone="UTC", entries=3)
        line = f"/{SUBSCRIBE} topic:gpu-systems days:daily at:09:00 zone:UTC entries:3 channel:#digests"
        said.asked("Anna, in #papers", line, asked)
        assert "will be posted in #digests every day at 09:00" in asked.text
        assert asked.messages[0].is_private, "not everybody here sees that channel"
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        assert held.channel == str(forum.id)
        nothing = await fake.slash("digest list", user=desk.anna, channel=desk.papers)
        assert "Nothing is subscribed in this channel" in nothing.text
        assert "1 subscription in #digests" in (await given(desk, "digest list", forum)).text

        paused = await fake.click(asked.messages[0], "Pause", user=desk.anna)
        assert "is paused" in paused.text, "what follows is for that channel too"
        said.asked("Anna", "Pause", paused)
        resumed = await given(desk, "digest-manage resume", forum, topic="gpu-systems")
        said.asked("Anna, in #papers", "/digest-manage resume topic:gpu-systems channel:#digests", resumed)
        assert "goes on" in resumed.text

        await desk.app.store.items.add(desk.fresh(), desk.now + timedelta(minutes=5))
        await desk.round()
        await desk.round(desk.due(held))
        (post,) = digests(desk, forum)
        assert post.name.startswith("GPU systems")
        (digest,) = post.messages.values()
        said.posted(digest, f"#digests, the post “{post.name}”")
        for line, options in (("digest why", {"item": "1"}), ("digest more", {"item": "2"})):
            told = await fake.slash(line, options=options, user=desk.ben, channel=post)
            said.asked("Ben, in the post", f"/{line} item:{options['item']}", told)
        said.write()
        async with restarted(desk) as again:
            await again.round()
            await again.round(again.now + timedelta(hours=1))
        assert digests(desk, forum) == [post], "nothing twice"
        assert fake.of_bot(desk.papers) == [], "nothing of it in the channel where it was asked for"
        assert (fake.wrong, fake.mentions) == ([], [])


async def test_below_a_digest_commands_are_about_that_digest(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.ben
        forum = fake.channel(desk.guild, "digests", Kind.FORUM)
        await given(desk, SUBSCRIBE, forum, topic="gpu-systems", days="daily", at="09:00", zone="UTC", entries=3)
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        posts: list[Channel] = []
        for day in ("3", "4"):
            await desk.app.store.items.add(desk.fresh(day), desk.now + timedelta(minutes=5))
            await desk.round()
            await desk.round(desk.due(held))
            posts += [each for each in digests(desk, forum) if each not in posts]
        assert len(posts) == 2
        first = await told_of_numbers(desk, posts[0], (1, 3))
        second = await told_of_numbers(desk, posts[1], (1, 3))
        assert first.isdisjoint(second), "each post has the numbers of its own digest"

        why = await fake.slash("digest why", item="1", user=ben, channel=posts[0])
        assert "Posted" in why.text
        assert "For GPU systems" in why.text
        more = await fake.slash("digest more", item="3", user=ben, channel=posts[0])
        assert "More like this in GPU systems" in more.text
        (digest, *_) = posts[0].messages.values()
        opened = await fake.choose(digest, digest.selects[0]["options"][0]["label"], user=ben)
        pressed = await fake.click(opened.messages[0], "Why", user=ben)
        assert "Posted" in pressed.text, "and so it is below its card"
        assert (fake.wrong, fake.mentions) == ([], [])


async def told_of_numbers(desk: DiscordDesk, post: Channel, numbers: tuple[int, ...]) -> set[str]:
    """The titles that the numbers mean in the post."""
    asked = [await desk.fake.slash("digest show", item=str(each), user=desk.ben, channel=post) for each in numbers]
    return {re.findall(r"arxiv.org/abs/([\d.]+)", each.text)[0] for each in asked}


async def test_a_form_opened_for_a_forum_subscribes_the_forum(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        forum = desk.fake.channel(desk.guild, "digests", Kind.FORUM)
        form = await given(desk, SUBSCRIBE, forum)
        assert form.form is not None
        assert form.form["title"].endswith("in #digests")
        sent = await desk.fake.submit(form, {"topic": "gpu-systems", "numbers": "top 3"})
        assert "will be posted in #digests" in sent.text
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        assert (held.channel, held.entries) == (str(forum.id), 3)


async def test_who_may_manage_is_asked_of_the_channel_that_is_named(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.ben
        his = fake.channel(desk.guild, "bens")
        his.overwrites[ben.id] = (Permission.MANAGE_CHANNELS, NONE)
        desk.papers.overwrites[ben.id] = (Permission.MANAGE_CHANNELS, NONE)
        other = fake.channel(desk.guild, "others")
        for channel in (his, desk.papers):
            fake.dispatch("CHANNEL_UPDATE", channel.shape(), guild=desk.guild)
        refused = await fake.slash(
            SUBSCRIBE, user=ben, channel=desk.papers, options={"topic": "gpu-systems", "channel": other}
        )
        assert "Only administrators" in refused.text
        taken = await fake.slash(SUBSCRIBE, user=ben, channel=desk.papers, options={"topic": "gpu-systems", "channel": his})
        assert "will be posted in #bens" in taken.text


async def test_where_anyone_manages_one_must_be_able_to_write_there(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path, manage="anyone") as desk:
        news = desk.fake.channel(desk.guild, "news", Kind.ANNOUNCEMENT)
        news.overwrites[desk.ben.id] = (NONE, Permission.SEND_MESSAGES)
        desk.fake.dispatch("CHANNEL_UPDATE", news.shape(), guild=desk.guild)
        options = {"topic": "gpu-systems", "channel": news}
        refused = await desk.fake.slash(SUBSCRIBE, user=desk.ben, channel=desk.papers, options=options)
        assert "Only administrators" in refused.text


async def test_a_channel_that_one_does_not_see_is_told_as_one_that_is_not_there(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.ben
        secret = fake.channel(desk.guild, "secret")
        secret.overwrites[ben.id] = (NONE, Permission.VIEW_CHANNEL)
        fake.dispatch("CHANNEL_UPDATE", secret.shape(), guild=desk.guild)
        await given(desk, SUBSCRIBE, secret, topic="gpu-systems")

        async def listed(number: int) -> str:
            option = {"name": "channel", "type": 7, "value": str(number)}
            usual = await fake.slash("digest list", user=ben, channel=desk.papers)
            data = {**usual.data, "options": [{"name": "list", "type": 1, "options": [option]}]}
            asked = await fake.ask(Doing.COMMAND, data, user=ben, channel=desk.papers)
            await asked.answered()
            return asked.text.replace(str(number), "NUMBER")

        assert "secret" not in await listed(secret.id)
        assert await listed(secret.id) == await listed(4711)


async def test_in_slack_a_channel_is_named_in_words_and_a_private_one_only_by_its_members(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, anna, ben, general = desk.fake, desk.fake.anna, desk.fake.ben, desk.fake.general
        fake.secret.members.discard(ben.id)
        await fake.invite(fake.secret)
        line = f"subscribe gpu-systems top 3 in #{fake.secret.name}"
        told = await (await fake.command(line, user=anna, channel=general)).answer()
        assert f"will be posted in #{fake.secret.name}" in told.words
        (held,) = await desk.app.store.workspaces.subscriptions(WORKSPACE)
        assert held.channel == fake.secret.id
        assert fake.messages(general) == [], "shown to who asked alone"
        await (await fake.click(told, "Pause", user=anna)).answer()
        listed = await (await fake.command(f"list in #{fake.secret.name}", user=anna, channel=general)).answer()
        assert "Paused" in listed.words
        names = (fake.secret.name, "nowhere")
        hidden, absent = [
            await (await fake.command(f"list in #{name}", user=ben, channel=general)).answer() for name in names
        ]
        assert "that you can see" in absent.words
        assert hidden.words.replace(names[0], names[1]) == absent.words


async def test_discord_speaks_of_servers(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        for line, options in (
            ("digest list", {"all": True}),
            ("digest history", {}),
            ("digest settings", {}),
            ("digest topic list", {}),
        ):
            told = await fake.slash(line, options=options, user=desk.anna, channel=desk.papers)
            assert "workspace" not in told.text.lower(), line
        assert "this server" in (await fake.slash("digest settings", user=desk.anna, channel=desk.papers)).text


def test_no_command_in_discord_is_described_by_a_workspace() -> None:
    assert "workspace" not in json.dumps(tree()).lower()
