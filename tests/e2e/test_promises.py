"""Where a post cannot work is said before one is promised, over real sockets; what was typed is one press away."""

from pathlib import Path

import pytest

from tests.e2e import discord_desk
from tests.e2e.discord_desk import DiscordDesk
from tests.fakes.discord import Channel, Kind, Permission

IN_THREADS = Permission.SEND_MESSAGES_IN_THREADS


async def subscriptions(desk: DiscordDesk) -> list[str]:
    return [each.topic for each in await desk.app.store.workspaces.subscriptions(desk.workspace)]


def asked_of(desk: DiscordDesk) -> set[str]:
    """Every request about a channel or a server; commands are registered in between, and answers given."""
    return {f"{each.method} {each.path}" for each in desk.fake.calls if "/channels" in each.path or "/guilds/{" in each.path}


def a_thread(desk: DiscordDesk) -> Channel:
    thread = Channel(desk.fake.new_id(), Kind.PUBLIC_THREAD, "reading", desk.guild, desk.papers, owner=desk.anna)
    desk.guild.channels[thread.id] = desk.fake.channels[thread.id] = thread
    desk.fake.dispatch("THREAD_CREATE", thread.shape(), guild=desk.guild)
    return thread


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

        asked = await fake.slash("digest subscribe", user=desk.anna, channel=desk.papers, options=given)

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
        form = await fake.slash("digest subscribe", user=desk.anna, channel=desk.papers)

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
        fake, thread = desk.fake, a_thread(desk)
        forum = fake.channel(desk.guild, "digests", kind=Kind.FORUM)
        voice = fake.channel(desk.guild, "talk", kind=Kind.VOICE)
        fake.let(desk.papers, may_not=Permission.SEND_MESSAGES)  # which a thread does not need
        for place, right, said in (
            (thread, IN_THREADS, "I need **Send Messages in Threads** in #reading."),
            (forum, IN_THREADS, "I need **Send Messages in Threads** in #digests."),
            (forum, Permission.SEND_MESSAGES, "I need **Send Messages** in #digests."),
            (voice, Permission.SEND_MESSAGES, "I need **Send Messages** in #talk."),
        ):
            ruling = place.parent if place.is_thread and place.parent else place
            fake.let(ruling, may_not=right)
            asked = await fake.slash("digest subscribe", topic="gpu-systems", user=desk.anna, channel=place)
            assert said in asked.text
            fake.let(ruling, may=right)
            asked = await fake.slash("digest subscribe", topic="gpu-systems", user=desk.anna, channel=place)
            assert "I need" not in asked.text
            await fake.slash("digest unsubscribe", topic="gpu-systems", user=desk.anna, channel=place)
        thread.locked = True
        fake.dispatch("THREAD_UPDATE", thread.shape(), guild=desk.guild)
        asked = await fake.slash("digest subscribe", topic="gpu-systems", user=desk.anna, channel=thread)
        assert "The thread is locked" in asked.text


async def test_in_discord_who_administers_and_a_conversation_with_us_need_nothing(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        private = fake.private(desk.ben)
        asked = await fake.slash("digest subscribe", topic="gpu-systems", user=desk.ben, channel=private)
        assert "I need" not in asked.text
        fake.let(desk.papers, may_not=Permission.SEND_MESSAGES)
        own = next(role for role in desk.guild.roles.values() if role.bot)
        own.permissions |= Permission.ADMINISTRATOR
        asked = await fake.slash("digest subscribe", topic="gpu-systems", user=desk.anna, channel=desk.papers)
        assert "I need" not in asked.text
        assert await subscriptions(desk) == ["gpu-systems"]


async def test_in_discord_a_pause_for_a_lost_permission_does_not_end_before_it_is_back(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        await fake.slash("digest subscribe", topic="gpu-systems", user=desk.anna, channel=desk.papers)
        await fake.slash("digest pause", topic="gpu-systems", user=desk.anna, channel=desk.papers)
        fake.let(desk.papers, may_not=Permission.SEND_MESSAGES)

        asked = await fake.slash("digest resume", topic="gpu-systems", user=desk.anna, channel=desk.papers)
        assert "is paused still" in asked.text
        (held,) = await desk.app.store.workspaces.subscriptions(desk.workspace)
        assert held.paused

        fake.let(desk.papers, may=Permission.SEND_MESSAGES)
        asked = await fake.click(asked.messages[0], "Resume", user=desk.anna)
        assert "goes on" in (await fake.posted(desk.papers, 3))[-1].text
        asked = await fake.slash("digest post", topic="gpu-systems", user=desk.anna, channel=desk.papers)
        assert "is not posted yet" not in asked.text
