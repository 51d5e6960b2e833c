"""How tall Slack's Home tab is: that of a member in three channels with seven subscriptions, drawn by headless Chromium.

    python -m benchmarks.heights.home [--pictures FOLDER]

The whole service runs against a Slack on this machine. What it posts there is of the recorded day of `broadsheet demo`. The
view that it publishes is measured at 1,000 CSS pixels, as a laptop shows it beside the list of channels, at 700, and at 390
on a phone; with how many blocks it has, and the bytes of its JSON.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from adapters.cli.demo.recorded_run import run_demo
from benchmarks.heights.chromium import DESKTOP, PHONE, Column, heights, picture
from benchmarks.heights.slack import STYLE, block
from bot.models import Item
from tests.conftest import NOW
from tests.e2e.slack_desk import SlackDesk, sitting
from tests.fakes.slack.state import Person, View

LAPTOP = 1000  # of 1,440 by 900, less the sidebars
WIDTHS = (LAPTOP, DESKTOP, PHONE)
_WHERE = {
    "general": ("gpu-systems weekdays at 09:00 in Europe/Zurich", "llm-agents daily at 09:00 in UTC", "databases weekly"),
    "random": ("vision-language daily at 10:00 in UTC", "robotics daily at 10:00 in UTC", "gpu-systems weekly"),
    "secret": ("llm-agents weekly",),
}
_TOPICS = ("gpu-systems", "llm-agents", "vision-language", "databases", "robotics")
_STYLE = f"{STYLE}\n.home {{ padding: 16px 20px }} .phone .home {{ padding: 12px }} .home .blocks {{ max-width: 760px }}"


def drawn(view: View) -> str:
    """Return a Home tab as HTML."""
    return f"<div class='home'><div class='blocks'>{''.join(map(block, view.blocks))}</div></div>"


def _items() -> Sequence[Item]:
    """Return what the recorded day's digests show."""
    digests = run_demo(shown=False, topics=_TOPICS, entries=7)
    found = {each.ranked.item.key: each.ranked.item for digest in digests for each in digest.entries}
    return list(found.values())


async def homes(items: Sequence[Item]) -> list[View]:
    """Return the Home tabs of a member and of an administrator."""
    with tempfile.TemporaryDirectory(prefix="homes-") as folder:
        async with sitting(Path(folder), items=()) as desk:
            ben = desk.fake.ben
            desk.fake.secret.members.add(ben.id)
            await desk.fake.invite(desk.fake.secret)
            for place, said in _WHERE.items():
                for each in said:
                    channel = getattr(desk.fake, place)
                    await (await desk.fake.command(f"subscribe {each}", user=ben, channel=channel)).answer()
            await _days(desk, items)
            for item in items[:4]:
                await (await desk.fake.command(f"save {item.key}", user=ben)).answer()
            return [await _opened(desk, each) for each in (ben, desk.fake.anna)]


async def _days(desk: SlackDesk, items: Sequence[Item]) -> None:
    """Let digests be posted until each daily one is."""
    await desk.round()
    await desk.app.store.items.add(items, NOW + timedelta(minutes=10))
    for hours in range(1, 26):
        await desk.round(NOW + timedelta(hours=hours, seconds=5))
        await desk.round(NOW + timedelta(hours=hours, seconds=9))


async def _opened(desk: SlackDesk, person: Person) -> View:
    await desk.fake.open_home(person)
    shown = await desk.fake.until(lambda: desk.fake.home(person))
    assert shown is not None
    return shown


def main() -> None:
    """Measure, and draw where a folder is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.heights.home", description=__doc__)
    parser.add_argument("--pictures", type=Path, help="the folder into which pictures are written")
    given = parser.parse_args()
    views = asyncio.run(homes(_items()))
    for name, view in zip(("member", "administrator"), views, strict=True):
        tall = heights(_STYLE, [Column(drawn(view), width) for width in WIDTHS])
        said = ", ".join(f"{height:,} px at {width}" for height, width in zip(tall, WIDTHS, strict=True))
        print(f"{name:14} {said}; {len(view.blocks)} blocks, {len(json.dumps(view.blocks)):,} bytes")
        for width in WIDTHS if given.pictures else ():
            given.pictures.mkdir(parents=True, exist_ok=True)
            picture(_STYLE, Column(drawn(view), width), given.pictures / f"home-{name}-{width}.png")


if __name__ == "__main__":
    main()
