"""What was posted by earlier versions keeps working: recorded buttons and menus, pressed one after the other.

tests/payloads/README.md says how they were recorded. None is ever taken away: a channel's messages stay for years.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.commands import parse, write
from tests.conftest import NOW
from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk
from tests.fakes.discord.things import V2, Message

FOLDER = Path(__file__).parents[1] / "payloads" / "posted"
PREPARED = ("topic create kernels cuda OR gpu", "subscribe gpu-systems daily at 09:00 in UTC")
BROKEN = "went wrong on our side"
ROWS = 12  # of parts in a message
DEAD = "That button does nothing now"


def recorded(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["slack.jsonl", "discord.jsonl"])
def test_what_a_recorded_button_carries_means_the_same_command(name: str) -> None:
    carried = [row for row in recorded(name) if "command" in row]
    assert len(carried) > 30
    for row in carried:
        text = row.get("kept") or row.get("value") or row["custom_id"].partition("c:")[2]
        assert write(parse(text)) == row["command"]


def test_recorded_commands_are_read_and_written_as_they_were() -> None:
    lines = (FOLDER / "commands.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert len(lines) == 160
    assert [write(parse(line)) for line in lines] == lines


async def test_slack_buttons_of_earlier_messages_are_answered(tmp_path: Path) -> None:
    async with slack_desk.sitting(tmp_path) as desk:
        fake, ben, general = desk.fake, desk.fake.ben, desk.fake.general
        client = AsyncWebClient(token=fake.bot_token, base_url=fake.api_url)
        rows = [row for row in recorded("slack.jsonl") if row["surface"] == "message"]
        await desk.app.store.chats.keep_texts(slack_desk.WORKSPACE, [row["kept"] for row in rows if "kept" in row], NOW)
        for line in PREPARED:
            await (await fake.command(line, user=ben, channel=general)).answer()
        pressed = 0
        for number, row in enumerate(rows):
            label = f"button {number}"
            button = {"type": "button", "text": {"type": "plain_text", "text": label}, "action_id": row["action_id"]}
            button |= {"value": row["value"]} if "value" in row else {}
            blocks = [{"type": "actions", "block_id": row["block_id"], "elements": [button]}]
            await client.chat_postMessage(channel=general.id, text="posted before", blocks=blocks)
            message = next(each for each in reversed(fake.messages(general)) if label in each.labels)
            asked = await fake.click(message, label, user=ben)
            if row["action_id"].startswith("form:"):
                assert (await asked.view()).blocks, row
            else:
                answer = await asked.answer()
                assert answer.words.strip(), row
                assert BROKEN not in answer.words, row
                assert DEAD not in answer.words, row
            pressed += 1
        assert pressed > 40


async def test_discord_buttons_and_menus_of_earlier_messages_are_answered(tmp_path: Path) -> None:
    async with discord_desk.sitting(tmp_path) as desk:
        fake, anna, papers = desk.fake, desk.anna, desk.papers
        rows = sorted(recorded("discord.jsonl"), key=lambda row: "form" not in row)  # before what they are about is deleted
        await desk.app.store.chats.keep_texts(desk.workspace, [row["kept"] for row in rows if "kept" in row], NOW)
        await fake.slash("digest-manage topic create", name="serving", query="cuda OR gpu", user=anna, channel=papers)
        await fake.slash("digest-manage subscribe", topic="gpu-systems", user=anna, channel=papers)
        async with aiohttp.ClientSession(headers={"Authorization": f"Bot {fake.token}"}) as session:
            for begin in range(0, len(rows), ROWS):
                some = rows[begin : begin + ROWS]
                number = await _post(session, f"{fake.api_url}/channels/{papers.id}/messages", some)
                for row in some:
                    await _pressed(desk, papers.messages[number], row)
        assert len(rows) == 45


async def _post(session: aiohttp.ClientSession, url: str, rows: Sequence[dict[str, Any]]) -> int:
    """Post a message with the recorded parts, as the bot; return its number."""
    parts: list[dict[str, Any]] = [
        {"type": 2, "style": 2, "label": "a button", "custom_id": row["custom_id"]}
        for row in rows
        if row["kind"] == "button"
    ]
    options = [{"label": row["custom_id"], "value": row["custom_id"]} for row in rows if row["kind"] != "button"]
    if options:
        parts.append({"type": 3, "custom_id": "s:choice", "options": options})
    body = {
        "flags": V2,
        "components": [{"type": 10, "content": "posted before"}, *({"type": 1, "components": [part]} for part in parts)],
    }
    async with session.post(url, json=body) as answer:
        assert answer.status == 200, await answer.text()
        return int((await answer.json())["id"])


async def _pressed(desk: DiscordDesk, message: Message, row: dict[str, Any]) -> None:
    """Press the button, or choose the option, and hold the answer against what was recorded."""
    if row["kind"] == "button":
        asked = await desk.fake.click(message, row["custom_id"], user=desk.anna)
    else:
        asked = await desk.fake.choose(message, row["custom_id"], user=desk.anna)
    await asked.answered()
    if row.get("form", ["", "", "kept"])[2] == "":
        assert asked.form is not None, row
    elif asked.form is None:
        assert asked.text.strip(), row
        assert BROKEN not in asked.text, row
        assert "form" in row or DEAD not in asked.text, row
