"""What Discord offers while somebody types, and mentions in what they typed: over real sockets, and in time."""

from pathlib import Path
from typing import Any

from tests.e2e.discord_desk import DiscordDesk, sitting
from tests.fakes.discord import Channel, Kind, Permission, User
from tests.fakes.discord.permissions import NONE

SUBSCRIBE, PAUSE = "digest-manage subscribe", "digest-manage pause"


async def completed(
    desk: DiscordDesk, line: str, option: str, typed: str, user: User | None = None, **given: Any
) -> list[str]:
    """What is offered to Anna, or the user, in #papers."""
    who = user or desk.anna
    found = await desk.fake.autocomplete(line, option, typed, user=who, channel=desk.papers, options=given)
    return [each["value"] for each in found]


async def test_times_days_settings_and_authors_are_completed(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        await desk.fake.slash("digest settings", name="zone", value="Asia/Tokyo", user=desk.anna, channel=desk.papers)
        found = await desk.fake.autocomplete(SUBSCRIBE, "at", "9", user=desk.anna, channel=desk.papers)
        assert found[0] == {"name": "09:00 (Asia/Tokyo)", "value": "09:00"}
        assert await completed(desk, PAUSE, "until", "2w") == ["2026-04-15"]
        assert (await completed(desk, "digest settings", "value", "", name="layout"))[:2] == ["brief", "thread"]
        assert (await completed(desk, "digest search", "query", "category:"))[:1]
        await desk.app.store.items.add(desk.fresh(), desk.now)
        (author,) = {each.authors[0] for each in desk.fresh()}
        assert f'author:"{author}"' in await completed(desk, "digest-manage follow", "what", author[:4])
        assert desk.fake.wrong == []


async def test_what_is_offered_is_that_of_the_channel_which_is_chosen(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        forum = fake.channel(desk.guild, "digests", Kind.FORUM)
        forum.tags = {4201: "GPU", 4202: "Agents"}
        secret = fake.channel(desk.guild, "secret")
        secret.overwrites[desk.ben.id] = (NONE, Permission.VIEW_CHANNEL)
        for channel in (forum, secret):
            fake.dispatch("CHANNEL_UPDATE", channel.shape(), guild=desk.guild)

        async def subscribed(channel: Channel, topic: str) -> None:
            options = {"topic": topic, "channel": channel}
            await fake.slash(SUBSCRIBE, user=desk.anna, channel=desk.papers, options=options)

        assert await completed(desk, SUBSCRIBE, "tag", "") == [], "of a text channel"
        assert await completed(desk, SUBSCRIBE, "tag", "", channel=forum) == ["GPU", "Agents"]
        assert await completed(desk, SUBSCRIBE, "tag", "ag", channel=forum) == ["Agents"]
        await subscribed(secret, "llm-agents")
        await subscribed(desk.papers, "gpu-systems")
        assert await completed(desk, PAUSE, "topic", "") == ["gpu-systems"]
        assert await completed(desk, PAUSE, "topic", "", channel=secret) == ["llm-agents"]
        assert fake.wrong == []


async def test_a_mention_in_a_text_is_read_as_what_it_says(tmp_path: Path) -> None:
    async with sitting(tmp_path) as desk:
        fake = desk.fake
        secret = fake.channel(desk.guild, "secret")
        secret.overwrites[desk.ben.id] = (NONE, Permission.VIEW_CHANNEL)
        fake.dispatch("CHANNEL_UPDATE", secret.shape(), guild=desk.guild)

        async def found(query: str) -> str:
            return (await fake.slash("digest search", query=query, user=desk.ben, channel=desk.papers)).text

        async def named(mention: str) -> str:
            return (await found(f"{mention} zymurgy")).replace("\u200b", "")

        assert "#papers" in (await found(f"<#{desk.papers.id}> zymurgy"))
        assert f"@{desk.ben.name}" in await named(f"<@{desk.ben.id}>")
        assert f"@{desk.anna.name}" in await named(f"<@{desk.anna.id}>"), (
            "we keep no list of members: Discord says who it is"
        )
        eve = fake.join(desk.guild, fake.user("Eve"))
        desk.guild.members[eve.id].nick = "Dr Eve"
        assert "@Dr Eve" in await named(f"<@!{eve.id}>")
        stranger = fake.user("Nobody")
        assert str(stranger.id) in await named(f"<@{stranger.id}>"), "who is not known stays as it was sent"
        assert "secret" not in await found(f"<#{secret.id}> zymurgy"), "what one may not see stays as it was sent"

        told = await fake.slash(
            "digest settings", name="alerts", value=f"<#{desk.papers.id}>", user=desk.anna, channel=desk.papers
        )
        assert "Settled" in told.text
        held = await desk.app.store.workspaces.preferences(desk.workspace)
        assert held.alerts == str(desk.papers.id)
        for name in ("activity", "layout"):  # not of a channel, and no channel switches the first on
            told = await fake.slash(
                "digest settings", name=name, value=f"<#{desk.papers.id}>", user=desk.anna, channel=desk.papers
            )
            assert "That did not work" in told.text
        assert await desk.app.store.workspaces.preferences(desk.workspace) == held
        assert (fake.wrong, fake.mentions) == ([], [])
