"""Where a post cannot work is said before one is promised, over real sockets; what was typed is one press away."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk
from tests.e2e.slack_desk import WORKSPACE
from tests.fakes.discord import Kind, Permission
from tests.fakes.patience import PATIENCE
from tests.fakes.slack import Failure
from tests.fakes.slack import Kind as SlackKind

IN_THREADS = Permission.SEND_MESSAGES_IN_THREADS


async def subscriptions(desk: DiscordDesk) -> list[str]:
    return [each.topic for each in await desk.app.store.workspaces.subscriptions(desk.workspace)]


async def held_by(desk: DiscordDesk) -> None:
    """Wait until something is subscribed: what is pressed is answered before it is done."""
    async with asyncio.timeout(PATIENCE):
        while not await subscriptions(desk):  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)


def asked_of(desk: DiscordDesk) -> set[str]:
    """Every request about a channel or a server; commands are registered in between, and answers given."""
    return {f"{each.method} {each.path}" for each in desk.fake.calls if "/channels" in each.path or "/guilds/{" in each.path}


@pytest.mark.parametrize(
    ("right", "said"),
    [
        (Permission.SEND_MESSAGES, "I need *Send Messages* in #papers."),
        (Permission.VIEW_CHANNEL, "I need *View Channel* and *Send Messages* in #papers."),
    ],
)
async def test_in_discord_what_is_missing_is_said_before_a_subscription_is_confirmed(
    tmp_path: Path, right: Permission, said: str
) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        fake.let(desk.papers, may_not=right)
        given = {"topic": "gpu-systems", "at": "08:30", "entries": 4}

        asked = await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, options=given)

        assert "is not subscribed yet" in asked.text
        assert said.replace("*", "**") in asked.text
        assert asked.messages[0].is_private
        assert await subscriptions(desk) == []
        assert asked_of(desk) == set(), "Discord says our permissions with every interaction"

        again = await fake.click(asked.messages[0], "Subscribe", user=desk.anna)
        assert "is not subscribed yet" in again.text, "not mended yet"
        fake.let(desk.papers, may=right)
        await fake.click(again.messages[0], "Subscribe", user=desk.anna)
        await fake.posted(desk.papers)
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        assert (held.entries, f"{held.schedule.at:%H:%M}") == (4, "08:30")
        assert (fake.wrong, fake.mentions) == ([], [])


async def test_in_discord_a_form_is_not_confirmed_either(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        fake.let(desk.papers, may_not=Permission.SEND_MESSAGES)
        form = await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers)

        sent = await fake.submit(form, {"topic": "gpu-systems", "numbers": "top 3", "filter": "-survey"})

        assert "I need **Send Messages** in #papers." in sent.text
        assert await subscriptions(desk) == []
        fake.let(desk.papers, may=Permission.SEND_MESSAGES)
        await fake.click(sent.messages[0], "Subscribe", user=desk.anna)
        await fake.posted(desk.papers)
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        assert (held.entries, held.filter.text) == (3, "-survey")


async def test_in_discord_each_kind_of_channel_has_its_own_needs(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake, thread = desk.fake, desk.fake.thread(desk.papers, "reading")
        forum = fake.channel(desk.guild, "digests", kind=Kind.FORUM)
        voice, other = fake.channel(desk.guild, "talk", kind=Kind.VOICE), fake.channel(desk.guild, "general")
        fake.let(desk.papers, may_not=Permission.SEND_MESSAGES)  # which a thread does not need
        for place, right, said in (
            (thread, IN_THREADS, "I need **Send Messages in Threads** in #reading."),
            (forum, IN_THREADS, "I need **Send Messages in Threads** in #digests."),
            (forum, Permission.SEND_MESSAGES, "I need **Send Messages** in #digests."),
            (voice, Permission.SEND_MESSAGES, "I need **Send Messages** in #talk."),
        ):
            ruling = place.parent if place.is_thread and place.parent else place
            fake.let(ruling, may_not=right)
            there = {"topic": "gpu-systems", "channel": place}
            asked = await fake.slash("digest-manage subscribe", user=desk.anna, channel=other, options=there)
            assert said in asked.text
            fake.let(ruling, may=right)
            asked = await fake.slash("digest-manage subscribe", user=desk.anna, channel=other, options=there)
            assert "I need" not in asked.text
            await fake.slash("digest-manage unsubscribe", user=desk.anna, channel=other, options=there)
        thread.locked = True
        fake.dispatch("THREAD_UPDATE", thread.shape(), guild=desk.guild)
        asked = await fake.slash("digest-manage subscribe", topic="gpu-systems", user=desk.anna, channel=thread)
        assert "The thread is locked" in asked.text


async def test_in_discord_who_administers_and_a_conversation_with_us_need_nothing(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        private = fake.private(desk.ben)
        asked = await fake.slash("digest-manage subscribe", topic="gpu-systems", user=desk.ben, channel=private)
        assert "I need" not in asked.text
        fake.let(desk.papers, may_not=Permission.SEND_MESSAGES)
        own = next(role for role in desk.guild.roles.values() if role.bot)
        own.permissions |= Permission.ADMINISTRATOR
        asked = await fake.slash("digest-manage subscribe", topic="gpu-systems", user=desk.anna, channel=desk.papers)
        assert "I need" not in asked.text
        assert await subscriptions(desk) == ["gpu-systems"]


async def test_in_discord_a_pause_for_a_lost_permission_does_not_end_before_it_is_back(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        await fake.slash("digest-manage subscribe", topic="gpu-systems", user=desk.anna, channel=desk.papers)
        await fake.slash("digest-manage pause", topic="gpu-systems", user=desk.anna, channel=desk.papers)
        fake.let(desk.papers, may_not=Permission.SEND_MESSAGES)

        asked = await fake.slash("digest-manage resume", topic="gpu-systems", user=desk.anna, channel=desk.papers)
        assert "is still paused" in asked.text
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        assert held.paused

        fake.let(desk.papers, may=Permission.SEND_MESSAGES)
        asked = await fake.click(asked.messages[0], "Resume", user=desk.anna)
        assert "goes on" in (await fake.posted(desk.papers, 3))[-1].text
        asked = await fake.slash("digest-manage post", topic="gpu-systems", user=desk.anna, channel=desk.papers)
        assert "is not posted yet" not in asked.text


async def test_in_discord_a_forum_that_needs_tags_asks_which_one_and_every_digest_has_it(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        forum = fake.channel(desk.guild, "digests", Kind.FORUM, tags=("news", "reading list"), tag_required=True)
        given = {"topic": "gpu-systems", "days": "daily", "at": "09:00", "zone": "UTC", "entries": 3}

        in_forum = {"channel": forum}
        asked = await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, options=given | in_forum)
        assert "Each post in this forum needs a tag" in asked.text
        assert [each["label"] for each in asked.messages[0].buttons[:2]] == ["news", "reading list"]
        assert await subscriptions(desk) == []

        await fake.click(asked.messages[0], "reading list", user=desk.anna)
        await held_by(desk)
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        assert (held.tag, held.entries) == ("reading list", 3)
        fewer = {"topic": "gpu-systems", "entries": 2} | in_forum
        again = await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, options=fewer)
        assert "needs a tag" not in again.text, "it is known"

        await desk.app.store.items.add(desk.fresh(), desk.now + timedelta(minutes=5))
        await desk.round()
        await desk.round(desk.due(held))
        (post,) = [each for each in fake.channels.values() if each.parent is forum]
        assert [forum.tags[each] for each in post.applied] == ["reading list"]
        assert (fake.wrong, fake.mentions) == ([], [])


async def test_in_discord_a_forum_asks_in_forms_too_and_not_where_a_tag_has_the_topics_name(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        forum = fake.channel(desk.guild, "digests", Kind.FORUM, tags=("news",), tag_required=True)
        form = await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, options={"channel": forum})
        sent = await fake.submit(form, {"topic": "gpu-systems", "numbers": "top 3"})
        assert sent.messages[0].buttons[0]["label"] == "news"
        await fake.click(sent.messages[0], "news", user=desk.anna)
        await held_by(desk)
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        assert (held.tag, held.entries) == ("news", 3)

        other = fake.channel(desk.guild, "gpus", Kind.FORUM, tags=("GPU Systems", "news"), tag_required=True)
        given = {"topic": "gpu-systems", "channel": other}
        asked = await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, options=given)
        assert "needs a tag" not in asked.text
        asked = await fake.slash(
            "digest-manage subscribe", user=desk.anna, channel=desk.papers, options=given | {"tag": "old"}
        )
        assert "The forum has no such tag" in asked.text
        bare = fake.channel(desk.guild, "bare", Kind.FORUM, tag_required=True)
        given = {"topic": "gpu-systems", "channel": bare}
        asked = await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, options=given)
        assert "The forum has no tags that Broadsheet may give" in asked.text
        other.moderated = {*other.tags}
        fake.dispatch("CHANNEL_UPDATE", other.shape(), guild=desk.guild)
        given = {"topic": "gpu-systems", "channel": other}
        asked = await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, options=given)
        assert "not for moderators alone" in asked.text
        asked = await fake.slash(
            "digest-manage subscribe", topic="gpu-systems", tag="news", user=desk.anna, channel=desk.papers
        )
        assert "Only the posts of a forum" in asked.text


# --- Slack


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("secret", "it is private and Broadsheet is not in it. Invite the app to the channel with /invite @Broadsheet."),
        ("old", "The channel is archived: unarchive it, or subscribe in another one."),
        ("others", "Broadsheet cannot write in a direct message of others"),
        ("random", ""),  # which the app joins by itself
        ("general", ""),
        ("own", ""),
    ],
)
async def test_in_slack_what_is_in_the_way_is_said_before_a_subscription_is_confirmed(
    tmp_path: Path, place: str, said: str
) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        others = fake.add_channel("D0OTHERS", "others", joined=False, kind=SlackKind.IM)
        known = {"others": others, "own": fake.direct(ben)}
        channel = known.get(place) or getattr(fake, place)

        told = await (await fake.command("subscribe gpu-systems weekdays top 4", user=ben, channel=channel)).answer()

        held = await desk.app.store.workspaces.subscriptions(WORKSPACE)
        assert bool(held) is not bool(said)
        if said:
            assert "is not subscribed yet" in told.words
            assert said in told.words
            assert told.shown_to == ben.id
        assert [(each.method, each.error) for each in fake.rejected] == []


async def test_in_slack_what_was_typed_is_one_press_away_when_the_app_was_invited(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben
        told = await (await fake.command("subscribe gpu-systems top 4", user=ben, channel=fake.secret)).answer()
        fake.secret.members.add(fake.team.app_user.id)
        await (await fake.click(told, "Subscribe", user=ben)).answer()
        (held,) = await desk.app.store.workspaces.subscriptions(WORKSPACE)
        assert (held.channel, held.entries) == (fake.secret.id, 4)


async def test_in_slack_not_to_know_stands_in_nobodys_way(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        fake.fail("conversations.info", Failure(error="internal_error"), times=9)
        told = await (await fake.command("subscribe gpu-systems", channel=fake.general)).answer()
        assert "Subscribed to GPU systems" in told.words
