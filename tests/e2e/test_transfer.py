"""Somebody left: in both chats a colleague takes over what that person subscribed, and gives it back."""

import asyncio
from pathlib import Path

from tests.e2e import discord_desk, slack_desk
from tests.fakes.discord import Permission
from tests.fakes.patience import PATIENCE


async def test_in_slack_subscriptions_are_taken_over_and_given_back(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        await (await fake.command("subscribe gpu-systems weekdays at 09:00", user=fake.ben)).answer()

        whose = await (await fake.command("transfer")).answer()
        assert whose.shown_to == fake.anna.id
        taken = await (await fake.click(whose, "Take over")).answer()
        assert "1 subscription is yours now" in taken.words
        (held,) = await desk.app.store.workspaces.subscriptions(slack_desk.WORKSPACE)
        assert held.made_by == fake.anna.id

        await fake.click(taken, "Undo")
        await fake.until(lambda: [each for each in fake.messages(fake.general) if "is taken back" in each.words])
        (held,) = await desk.app.store.workspaces.subscriptions(slack_desk.WORKSPACE)
        assert held.made_by == fake.ben.id


async def told(desk: discord_desk.DiscordDesk, text: str) -> None:
    """Wait until it stands in the channel."""
    async with asyncio.timeout(PATIENCE):
        while not any(text in each.text for each in desk.fake.of_bot(desk.papers)):  # noqa: ASYNC110 - it sets no event
            await asyncio.sleep(0.02)


async def test_in_discord_the_person_who_is_chosen_takes_over(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake = desk.fake
        cleo = fake.join(desk.guild, fake.user("Cleo"), Permission.MANAGE_CHANNELS)
        for user in (desk.anna, cleo):
            topic = "gpu-systems" if user is desk.anna else "llm-agents"
            await fake.slash("digest-manage subscribe", topic=topic, user=user, channel=desk.papers)

        asked = await fake.slash("digest-manage transfer", user=cleo, channel=desk.papers)
        await fake.click(asked.messages[0], "Take over", user=cleo)
        await told(desk, "1 subscription is yours now")
        await fake.slash("digest-manage transfer", topic="gpu-systems", to=desk.anna, user=cleo, channel=desk.papers)
        await told(desk, f"1 subscription is of <@{desk.anna.id}> now")
        held = await desk.app.store.workspaces.subscriptions(desk.workspace)
        assert {each.topic: each.made_by for each in held} == {"gpu-systems": str(desk.anna.id), "llm-agents": str(cleo.id)}
