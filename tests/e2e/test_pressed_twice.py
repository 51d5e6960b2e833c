"""A button pressed twice, one press after the other or both at once, in Slack and in Discord: it tells how it stands."""

import asyncio
from pathlib import Path

from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk
from tests.e2e.slack_desk import WORKSPACE, SlackDesk
from tests.fakes.discord import Message as DiscordMessage
from tests.fakes.slack import Message as SlackMessage

LINE = "subscribe gpu-systems daily at 09:00 in UTC"
GIVEN = {"topic": "gpu-systems", "days": "daily", "at": "09:00", "zone": "UTC"}


async def rows(desk: DiscordDesk | SlackDesk, workspace: str, person: str) -> tuple[int, int, int]:
    """How often more or less was said, how many items the person saved, and how many lines the audit has of it."""
    store = desk.app.store
    given = await store.people.feedback(workspace, "gpu-systems")
    saved = await store.people.saved(workspace, person)
    changes = await store.workspaces.changes(workspace, about="feedback gpu-systems", limit=99)
    return len(given), len(saved), len(changes)


async def test_in_discord_a_button_that_is_pressed_twice_takes_nothing_back(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.ben

        async def pressed(where: DiscordMessage, label: str) -> DiscordMessage:
            return (await fake.click(where, label, user=ben)).messages[0]

        found = await fake.slash("digest search", query="paging", user=ben, channel=desk.papers)
        await fake.slash("digest-manage subscribe", user=desk.anna, channel=desk.papers, options=GIVEN)
        card = found.messages[0]
        told = [(await pressed(card, label)).text for label in ("Save", "Save", "More like this", "More like this")]
        assert ["already" in each for each in told] == [False, True, False, True]
        assert await rows(desk, desk.workspace, str(ben.id)) == (1, 1, 1)

        removed = await pressed(await pressed(card, "Save"), "Unsave")
        assert "Not saved any more" in removed.text
        back = await pressed(await pressed(card, "More like this"), "Take back")
        assert "Taken back for GPU systems" in back.text
        assert await rows(desk, desk.workspace, str(ben.id)) == (0, 0, 2)

        for label in ("Save", "Less"):
            both = await asyncio.gather(*(fake.click(card, label, user=ben) for _ in range(2)))
            assert all(each.text and "on our side" not in each.text for each in both)
        assert await rows(desk, desk.workspace, str(ben.id)) == (1, 1, 3)
        assert (fake.wrong, fake.mentions) == ([], [])


async def test_in_slack_a_button_that_is_pressed_twice_takes_nothing_back(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, ben = desk.fake, desk.fake.ben

        async def pressed(where: SlackMessage, label: str) -> SlackMessage:
            return await (await fake.click(where, label, user=ben)).answer()

        await (await fake.command(LINE, channel=fake.general)).answer()
        found = await (await fake.command("search paging", user=ben, channel=fake.general)).answer()
        told = [(await pressed(found, label)).words for label in ("Save", "Save", "More like this", "More like this")]
        assert ["already" in each for each in told] == [False, True, False, True]
        assert await rows(desk, WORKSPACE, ben.id) == (1, 1, 1)

        saved = await pressed(found, "Save")
        await (await fake.click(saved, "Unsave", user=ben)).answer_with("Not saved any more")
        more = await pressed(found, "More like this")
        await (await fake.click(more, "Take back", user=ben)).answer_with("Taken back for GPU systems")
        assert await rows(desk, WORKSPACE, ben.id) == (0, 0, 2)

        for label in ("Save", "Less"):
            both = await asyncio.gather(*(fake.click(found, label, user=ben) for _ in range(2)))
            assert all("on our side" not in each.words for each in [await each.answer() for each in both])
        assert await rows(desk, WORKSPACE, ben.id) == (1, 1, 3)
        assert [(each.method, each.error) for each in fake.rejected] == []
