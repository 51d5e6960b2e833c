"""R19: connections that hear people, and fall.

The service's own listeners, with slack-bolt, slack_sdk and discord.py, are connected to the Slack and the Discord of the
tests. Their sockets are cut, closed, silenced, asked to come back or told that their session is invalid; as one falls,
something is on its way that must be handled just once: in Slack an event that is sent again until it is acknowledged, in
Discord a command, which is told again where the session can be resumed, and is lost where it cannot. Each room is a
process of its own, since discord.py knows one Discord in a process.

    python -m benchmarks.soak.rows.drops slack|discord DROPS SEED [--short]
"""

import argparse
import asyncio
import json
import logging
import random
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic

from adapters.discord.install.command_tree import path
from adapters.slack.connection.socket_mode import TIMEOUTS
from benchmarks.soak.row import Row
from benchmarks.soak.scoreboard import ROOT, Ask
from bot.commands import ListTopics
from tests.e2e import discord_desk, slack_rooms
from tests.fakes import slack
from tests.fakes.discord.gateway import Gateway

_ROOMS = 10  # of each platform, at a time
_LIMIT = 60.0  # seconds
_IMPATIENT = 0.0001  # seconds for an acknowledgement: what was handled is then sent again
_AWAY = 3.0  # seconds for which nothing can be connected to
_LONGEST = 200.0  # seconds until a drop counts as never mended
_SILENT = ("silence", "deaf")  # a socket that is open and says nothing is noticed after so long as it is trusted


@dataclass(slots=True)
class Tally:
    """What came of so many drops."""

    drops: int = 0
    longest: dict[str, float] = field(default_factory=dict)  # by how it fell: seconds until somebody was heard again
    events: int = 0  # that are told again until they are acknowledged
    never: int = 0  # of those, not handled
    again: int = 0  # of all, handled more than once

    def fell(self, how: str, seconds: float) -> None:
        """Count a drop."""
        self.drops += 1
        self.longest[how] = max(seconds, self.longest.get(how, 0.0))


async def in_slack(drops: int, seed: int, *, short: bool) -> Tally:
    """Let Socket Mode fall so many times."""
    chance, tally = random.Random(seed), Tally()
    timeouts = slack_rooms.SHORT if short else TIMEOUTS
    with tempfile.TemporaryDirectory() as folder:
        async with slack.running(tiers=False) as fake, slack_rooms.service(Path(folder)) as app:
            fake.patience, fake.retries = 3.0, (0.5, 10.0, 70.0) if not short else (0.2, 1.0, 5.0)
            given = slack_rooms.settings(fake)
            async with slack_rooms.connected(app, given, timeouts=timeouts) as room:
                await fake.connected()
                sent: list[str] = []
                for number in range(drops):
                    await _falls_in_slack(fake, room, tally, chance, sent, number)
                await asyncio.sleep(sum(fake.retries) + 1)  # until the last of them was sent again for the last time
                handled = Counter(each for _, each, _ in room.gone)
    tally.events = len(sent)
    tally.never = sum(not handled[each] for each in sent)
    tally.again = sum(handled[each] > 1 for each in sent)
    return tally


async def _falls_in_slack(
    fake: slack.FakeSlack, room: slack_rooms.Room, tally: Tally, chance: random.Random, sent: list[str], number: int
) -> None:
    ways: dict[str, Callable[[], Awaitable[object]]] = {
        "reset": lambda: _now(fake.drop),
        "close": fake.link.close,
        "silence": lambda: _now(fake.silence),
        "refresh_requested": lambda: fake.disconnect("refresh_requested"),
        "warning": lambda: fake.disconnect("warning"),
        "down": lambda: _away_in_slack(fake),
    }
    how = list(ways)[number % len(ways)]
    known = len(fake.link.all)
    channel = f"C0DROP{number}"
    sent.append(channel)
    event = {"type": "channel_archive", "channel": channel, "user": fake.anna.id}
    patience, is_late = fake.patience, chance.random() < 0.5
    fake.patience = _IMPATIENT if is_late else patience
    telling = asyncio.create_task(fake.event(event))
    await asyncio.sleep(0)
    fake.patience = patience
    if is_late:  # it is handled, and its acknowledgement comes too late: it is sent again
        await room.until(lambda: channel in {each for _, each, _ in room.gone})
    else:
        await asyncio.sleep(chance.choice((0.0, chance.uniform(0, 0.02))))
    begun = monotonic()
    await ways[how]()
    await room.until(
        lambda: (
            len(fake.link.all) > known and any(not each.is_silent for each in fake.link.connections) and not room.trouble
        ),
        _LONGEST,
    )
    tally.fell(how, monotonic() - begun)
    await telling


async def _now(do: Callable[[], object]) -> None:
    do()


async def _away_in_slack(fake: slack.FakeSlack) -> None:
    fake.down = True
    fake.drop()
    await asyncio.sleep(_AWAY)
    fake.down = False


async def in_discord(drops: int, seed: int, *, short: bool) -> Tally:
    """Let the gateway fall so many times."""
    chance, tally = random.Random(seed), Tally()
    with tempfile.TemporaryDirectory() as folder:
        async with discord_desk.sitting(Path(folder)) as desk:
            resumable: list[int] = []
            for number in range(drops):
                await _falls_in_discord(desk, tally, chance, resumable, number, short=short)
            answered = Counter(
                int(call.part["interaction_id"]) for call in desk.fake.calls if call.path.endswith("/callback")
            )
    tally.events = len(resumable)
    tally.never = sum(not answered[each] for each in resumable)
    tally.again = sum(number > 1 for number in answered.values())
    return tally


async def _falls_in_discord(
    desk: discord_desk.DiscordDesk, tally: Tally, chance: random.Random, resumable: list[int], number: int, *, short: bool
) -> None:
    fake, gateway = desk.fake, desk.fake.gateway
    ways: dict[str, Callable[[], object]] = {
        "reset": gateway.drop,
        "close 4000": lambda: gateway.drop(4000),
        "reconnect": gateway.ask_to_reconnect,
        "deaf": lambda: setattr(gateway, "is_deaf", True),
        "invalid, to be resumed": lambda: gateway.invalidate(resumable=True),
        "invalid": gateway.invalidate,
        "forgotten": lambda: _dropped(gateway, gateway.forget),
        "down": lambda: _dropped(gateway, lambda: setattr(gateway, "is_down", True)),
    }
    if short:
        del ways["deaf"]
    how = list(ways)[number % len(ways)]
    before = (gateway.resumes, len(gateway.identifies))
    asked = await fake.slash(path(ListTopics.usage), user=desk.ben, channel=desk.papers, wait=None)
    if how not in ("invalid", "forgotten"):
        resumable.append(asked.id)
    await asyncio.sleep(chance.choice((0.0, 0.0, chance.uniform(0, 0.02))))
    begun = monotonic()
    ways[how]()
    if how == "down":
        await asyncio.sleep(_AWAY)
        gateway.is_down = False
    await _heard_anew(desk, before)
    gateway.is_deaf = False
    tally.fell(how, monotonic() - begun)
    again = await fake.slash(path(ListTopics.usage), user=desk.ben, channel=desk.papers, wait=None)
    resumable.append(again.id)
    await again.answered(_LONGEST)


def _dropped(gateway: Gateway, before: Callable[[], object]) -> None:
    before()
    gateway.drop()


async def _heard_anew(desk: discord_desk.DiscordDesk, before: tuple[int, int]) -> None:
    gateway = desk.fake.gateway
    async with asyncio.timeout(_LONGEST):
        while (gateway.resumes, len(gateway.identifies)) == before or not gateway.is_heard:  # noqa: ASYNC110 - another's count
            await asyncio.sleep(0.02)


# --- the row


async def room(platform: str, drops: int, seed: int, *, short: bool) -> Tally:
    """Let so many connections fall in a process of its own; `short`: with sockets that are trusted for three seconds."""
    arguments = ("-m", "benchmarks.soak.rows.drops", platform, str(drops), str(seed), *(("--short",) if short else ()))
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, stdout=PIPE)
    said, _ = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"A room of {platform} ended with {process.returncode}.")
    return Tally(**json.loads(said.splitlines()[-1]))


async def falling(ask: Ask) -> Row:
    """Let so many connections fall, half in Slack and half in Discord."""
    rooms = max(1, min(_ROOMS, ask.size // 10))
    short = ask.size < 20 * rooms
    asked = [
        room(platform, max(1, ask.size // 2 // rooms), ask.seed + number, short=short)
        for platform in ("slack", "discord")
        for number in range(rooms)
    ]
    found = await asyncio.gather(*asked)
    longest: dict[str, float] = {}
    for each in found:
        for how, seconds in each.longest.items():
            longest[how] = max(seconds, longest.get(how, 0.0))
    never, again = sum(each.never for each in found), sum(each.again for each in found)
    told = ", ".join(f"{how} {seconds:.1f} s" for how, seconds in sorted(longest.items(), key=lambda each: each[1]))
    measured = (
        f"{never} of {sum(each.events for each in found):,} never handled, {again} again; heard again after at most: {told}"
    )
    slow = [seconds for how, seconds in longest.items() if how not in _SILENT and seconds > _LIMIT]
    silent = [longest[how] for how in _SILENT if longest.get(how, 0.0) > 2 * _LIMIT]
    sizes = f"{sum(each.drops for each in found)} drops in {2 * rooms} rooms"
    target = (
        "reconnected < 60 s (a socket that says nothing: after the 60 s for which it is trusted), every event handled once"
    )
    return Row("Socket Mode and gateway fall", sizes, target, measured, not (never or again or slow or silent))


def main() -> None:
    """Be one room, and print its tally."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platform", choices=("slack", "discord"))
    parser.add_argument("drops", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--short", action="store_true", help="sockets that are trusted for three seconds")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    room = in_slack if given.platform == "slack" else in_discord
    print(json.dumps(asdict(asyncio.run(room(given.drops, given.seed, short=given.short)))))


if __name__ == "__main__":
    main()
