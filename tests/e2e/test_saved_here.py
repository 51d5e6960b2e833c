"""What people save in a channel is listed there with counts and links, alike in Slack and Discord, over real sockets."""

from datetime import timedelta
from pathlib import Path

from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk
from tests.e2e.slack_desk import WORKSPACE
from tests.e2e.stage import NEW
from tests.e2e.test_slack_menus import posted
from tests.fakes.discord import Channel, Kind, Message, Permission
from tests.fakes.discord.permissions import NONE

SAVED_IN_BOTH = ("2 saved, the last on Wednesday 1 April", "See the post")
COUNTS = "saved here lists to everybody in this channel"


async def digest_in(desk: DiscordDesk, channel: Channel, layout: str) -> list[Message]:
    """Return what is posted to the channel of the next digest, cards in its thread behind it."""
    given = {"topic": "gpu-systems", "days": "daily", "at": "09:00", "zone": "UTC", "entries": 3, "layout": layout}
    line = "digest-manage subscribe"
    await desk.fake.slash(line, user=desk.anna, channel=desk.papers, options=given | {"channel": channel})
    (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace, channel=str(channel.id))
    await desk.app.store.items.add(desk.fresh(), desk.now + timedelta(minutes=5))
    due = desk.due(held)
    for minutes in range(-1, 5):
        await desk.round(due + timedelta(minutes=minutes))
    threads = [each for each in desk.fake.channels.values() if each.parent is channel]
    digest = [each for each in desk.fake.of_bot(channel) if each.selects]
    return [*digest, *(each for thread in threads for each in desk.fake.of_bot(thread))]


async def test_in_slack_a_channel_lists_what_was_saved_in_it_and_the_home_tab_counts_nowhere(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, anna, ben, general = desk.fake, desk.fake.anna, desk.fake.ben, desk.fake.general
        refused = await (await fake.command("saved here", user=ben, channel=general)).answer()
        assert "/digest settings activity on" in refused.words
        digest, first, *_ = await posted(desk, "thread")
        before = await (await fake.click(first, "Save", user=ben)).answer()
        assert COUNTS not in before.words
        await (await fake.command("settings activity on", user=anna, channel=general)).answer()

        for person in (anna, ben):
            told = await (await fake.click(first, "Save", user=person)).answer()
            assert COUNTS in told.words
        await (await fake.command(f"save {NEW[0]}", user=ben, channel=fake.direct(ben))).answer()

        listed = await (await fake.command("saved here", user=anna, channel=general)).answer()
        assert listed.shown_to == anna.id
        assert "1 item saved in this channel" in listed.words
        assert all(each in listed.words for each in SAVED_IN_BOTH)
        where = (await desk.app.store.people.saved_in(WORKSPACE, general.id))[0].link
        assert where.endswith(f"p{first.ts.replace('.', '')}?thread_ts={digest.ts}&cid={general.id}")
        assert where in str(listed.blocks)
        for person in (anna, ben):
            assert person.id not in str(listed.blocks), "counts, no names"

        direct = await (await fake.command("saved here", user=ben, channel=fake.direct(ben))).answer()
        assert "There is no channel here" in direct.words
        other = await (await fake.command("saved here", user=ben, channel=fake.random)).answer()
        assert "Nothing was saved in this channel yet" in other.words
        await fake.open_home(ben)
        home = await fake.until(lambda: fake.home(ben))
        window = await (await fake.click(home, "Save", user=ben)).view()
        assert COUNTS not in window.words
        assert "saved in a channel" in (await (await fake.click(listed, "markdown", user=anna)).answer()).words.lower()
        assert ([(each.method, each.error) for each in fake.rejected], fake.mentions) == ([], [])


async def test_a_private_channel_of_slack_lists_for_its_members_alone(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, anna, ben = desk.fake, desk.fake.anna, desk.fake.ben
        fake.secret.members.discard(ben.id)
        await fake.invite(fake.secret)
        await (await fake.command("settings activity on", user=anna, channel=fake.secret)).answer()
        await (await fake.command("save 2603.00002", user=anna, channel=fake.secret)).answer()
        mine = await (await fake.command(f"saved in #{fake.secret.name}", user=anna, channel=fake.general)).answer()
        assert "1 saved, on" in mine.words
        theirs = await (await fake.command(f"saved in #{fake.secret.name}", user=ben, channel=fake.general)).answer()
        assert "that you can see" in theirs.words
        here = await (await fake.command("saved here", user=ben, channel=fake.general)).answer()
        assert "Nothing was saved in this channel yet" in here.words


async def test_in_discord_a_channel_lists_what_was_saved_in_it_and_in_its_threads(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake, papers, anna, ben = desk.fake, desk.papers, desk.anna, desk.ben
        refused = await fake.slash("digest saved", user=ben, channel=papers, options={"here": True})
        assert "settings" in refused.text
        assert "this server" in refused.text
        await fake.slash("digest settings", user=anna, channel=papers, options={"name": "activity", "value": "on"})
        _, first, *_ = await digest_in(desk, papers, "thread")
        assert first.channel.parent is papers

        for person in (anna, ben):
            assert "counts" in (await fake.click(first, "Save", user=person)).text

        for place in (papers, first.channel):
            listed = await fake.slash("digest saved", user=ben, channel=place, options={"here": True})
            assert listed.messages[0].is_private
            assert "1 item saved in this channel" in listed.text
            assert SAVED_IN_BOTH[0] in listed.text
            address = f"https://discord.com/channels/{desk.guild.id}/{first.channel.id}/{first.id}"
            assert f"[See the post](<{address}>)" in listed.text
            assert str(anna.id) not in listed.text
        assert (fake.wrong, fake.mentions) == ([], [])


async def test_of_a_forum_all_posts_count_and_of_a_closed_channel_nobody_else_is_told(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake, anna, ben = desk.fake, desk.anna, desk.ben
        await fake.slash("digest settings", user=anna, channel=desk.papers, options={"name": "activity", "value": "on"})
        forum = fake.channel(desk.guild, "digests", Kind.FORUM)
        (post, *_) = await digest_in(desk, forum, "brief")
        asked = await fake.slash("digest save", user=ben, channel=post.channel, options={"item": "2604.30001"})
        assert "counts" in asked.text
        listed = await fake.slash("digest saved", user=ben, channel=desk.papers, options={"channel": forum})
        assert "1 item saved in #digests" in listed.text
        assert f"/{post.channel.id}/" in listed.text

        closed = fake.channel(desk.guild, "board")
        closed.overwrites[ben.id] = (NONE, Permission.VIEW_CHANNEL)
        await fake.slash("digest save", user=anna, channel=closed, options={"item": "2603.00002"})
        here = await fake.slash("digest saved", user=ben, channel=desk.papers, options={"here": True})
        assert "Nothing was saved in this channel yet" in here.text
        theirs = await fake.slash("digest saved", user=ben, channel=desk.papers, options={"format": "bibtex", "here": True})
        assert "Nothing was saved in this channel yet" in theirs.text
        assert fake.wrong == []


async def test_what_a_person_installed_for_themselves_has_no_channels_list(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path, user_install=True) as desk:
        fake, ben = desk.fake, desk.ben
        fake.install(ben)
        told = await fake.slash("digest saved", user=ben, channel=fake.private(ben), options={"here": True})
        assert "There is no channel here" in told.text
