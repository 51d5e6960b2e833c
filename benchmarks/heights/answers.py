"""What is answered in the chats, drawn by headless Chromium, and how tall it is.

    python -m benchmarks.heights.answers [slack] [discord] [--pictures FOLDER] [--line "search kv cache"]

The whole service runs in a Slack and in a Discord of the tests, on the demo's recorded day, and is given each line as one
gives it there: in Slack behind /digest, in Discord by the options of its command. Of each answer: its messages, how tall
they are together at 700 and 390 CSS pixels. With `--pictures`, each is drawn into the folder.
"""

import argparse
import asyncio
import base64
import json
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from adapters.cli.demo.recorded_run import settings_for
from adapters.cli.demo.replay import replay
from adapters.discord.install.command_tree import path
from benchmarks.heights import discord, slack
from benchmarks.heights.chromium import DESKTOP, PHONE, Column, heights, picture
from benchmarks.heights.drawing import Drawing, Json
from bot.app import App
from bot.commands import Command, read
from tests.conftest import NOW
from tests.e2e import discord_desk, slack_desk
from tests.fakes.discord import Message

WIDTHS = (DESKTOP, PHONE)
TOPICS = ("gpu-systems", "llm-agents")
LINES = (
    "help",
    "help all",
    "help search",
    "help subscribe",
    "help subscriptions",
    "help query",
    "search kv cache",
    "search stars:>many",
    "subscribe gpu-systems at 25:00",
    "show 2603.28458",
    "show 2603.28458 abstract",
    "similar 2603.28458",
    "why 2603.28458 for gpu-systems",
    "trending",
    "trends gpu-systems",
    'follow "kv cache"',
    "subscribe gpu-systems weekdays at 09:00",
    "list",
    "topics",
    "topic show gpu-systems",
    "filter gpu-systems test has:code -survey",
    "save 2603.28458",
    "saved",
    "settings",
    "status",
    "unfollow nothing-here",
)

Ask = Callable[[str], Awaitable[Sequence[Json]]]


async def _collected(app: App) -> None:
    await app.collector.collect(app.sources, NOW)


def _sources(url: str, folder: Path) -> Mapping[str, Any]:
    given = settings_for(url, folder, TOPICS)
    names = ("topics", "arxiv", "huggingface", "github", "embeddings", "fetch_on_request")
    return {name: getattr(given, name) for name in names}


async def in_slack(url: str, folder: Path, lines: Sequence[str]) -> list[Sequence[Json]]:
    """Return the messages that answer each line in Slack."""
    found: list[Sequence[Json]] = []
    async with slack_desk.sitting(folder, items=(), sources=_sources(url, folder)) as desk:
        await _collected(desk.app)
        for line in lines:
            before = len(desk.fake.files)
            asked = await desk.fake.command(line, user=desk.fake.anna)
            await asked.answer()
            await _ended()
            said: list[Json] = [{"text": each.text, "blocks": list(each.blocks)} for each in asked.answers if each.blocks]
            found.append([*said, *map(_sent_picture, desk.fake.files[before:])])
    return found


def _sent_picture(file: Json) -> Json:
    """Return a file that came as a direct message, as a message with its title and picture."""
    title = {"type": "context", "elements": [{"type": "plain_text", "text": file["title"]}]}
    picture = {"type": "image", "image_url": _shown(file["content"]), "alt_text": file["alt_txt"]}
    return {"text": file["title"], "blocks": [title, picture]}


def _shown(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


async def in_discord(url: str, folder: Path, lines: Sequence[str]) -> list[Sequence[Json]]:
    """Return the messages that answer each line in Discord; none for what cannot be given by options."""
    found: list[Sequence[Json]] = []
    async with discord_desk.sitting(folder, items=(), sources=_sources(url, folder)) as desk:
        await _collected(desk.app)
        for line in lines:
            command, values = _by_option(line)
            messages: Sequence[Message] = ()
            if command:
                asked = await desk.fake.slash(command, user=desk.anna, channel=desk.papers, options=values)
                # What everybody may read follows when who asked has been told that it does.
                await asked.until(lambda each: any(one.components for one in each.messages))
                await _ended()
                messages = asked.messages
            found.append([{"content": each.content, "components": _with_pictures(each)} for each in messages])
    return found


def _with_pictures(message: Message) -> Any:
    """Return the message's components, in which the files stand that they show."""
    said = json.dumps(message.components)
    for name, content in message.files.items():
        said = re.sub(
            rf'"attachment://{re.escape(name)}"|"[^"]*/{re.escape(name)}(?:\?[^"]*)?"', f'"{_shown(content)}"', said
        )
    return json.loads(said)


async def _ended() -> None:
    """Wait until all messages of the answer are sent."""
    while any(task.get_name().startswith("answering") for task in asyncio.all_tasks()):  # noqa: ASYNC110 - tasks tell nobody
        await asyncio.sleep(0.005)


def _by_option(line: str) -> tuple[str, Mapping[str, Any]]:
    asked = read(line)
    if isinstance(asked, Command):
        return path(asked.usage), asked.by_option()
    return _SLIPS.get(line, ("", {}))


# What is given by options as it stands here, since no command is read from it.
_SLIPS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "search stars:>many": ("digest search", {"query": "stars:>many"}),
    "subscribe gpu-systems at 25:00": ("digest-manage subscribe", {"topic": "gpu-systems", "at": "25:00"}),
}
CHATS: Mapping[str, tuple[Drawing, Callable[[str, Path, Sequence[str]], Awaitable[list[Sequence[Json]]]]]] = {
    "slack": (slack.SLACK, in_slack),
    "discord": (discord.DISCORD, in_discord),
}


async def answers(name: str, lines: Sequence[str]) -> list[Sequence[Json]]:
    """Return the messages that answer each line in the chat of that name."""
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        async with replay() as url:
            return await CHATS[name][1](url, Path(folder), lines)


def tell(name: str, lines: Sequence[str], found: Sequence[Sequence[Json]]) -> None:
    """Print how many messages answer each line, and how tall they are."""
    drawing = CHATS[name][0]
    columns = [Column("".join(map(drawing.drawn, bodies)), width) for bodies in found for width in WIDTHS]
    tall = iter(heights(drawing.style, columns))
    print(f"\n{name}: messages, pixels at {' and '.join(map(str, WIDTHS))}")
    for line, bodies in zip(lines, found, strict=True):
        print(f"  {line:44} {len(bodies):2}" + "".join(f"{next(tall):8,}" for _ in WIDTHS))


def draw(name: str, line: str, bodies: Sequence[Json], folder: Path) -> None:
    """Write a picture of what answers the line, for each width."""
    drawing, file = CHATS[name][0], re.sub(r"\W+", "-", line).strip("-")
    for width in WIDTHS if bodies else ():
        picture(drawing.style, Column("".join(map(drawing.drawn, bodies)), width), folder / f"{name}-{file}-{width}.png")


def main() -> None:
    """Ask, measure, and draw where a folder is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.heights.answers", description=__doc__)
    parser.add_argument("--pictures", type=Path, help="the folder into which pictures are written")
    parser.add_argument("--line", action="append", help="only this one")
    parser.add_argument("platforms", nargs="*", help=f"only these: {', '.join(CHATS)}")
    given = parser.parse_args()
    if shutil.which("chromium") is None:
        print("left out: chromium is not installed")
        return
    lines = given.line or LINES
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    for name in given.platforms or CHATS:
        found = asyncio.run(answers(name, lines))
        tell(name, lines, found)
        for line, bodies in zip(lines, found, strict=True) if given.pictures else ():
            draw(name, line, bodies, given.pictures)


if __name__ == "__main__":
    main()
