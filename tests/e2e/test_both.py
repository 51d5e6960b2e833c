"""Slack and Discord in one process: one falls, the other goes on, and the fallen one returns without a restart."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from adapters.discord.connection import platform as discord_room
from adapters.discord.connection.platform import DiscordPlatform
from adapters.slack.connection import platform as slack_room
from adapters.slack.connection.platform import SlackPlatform
from bot.app import App, Service, built
from bot.digest.due import next_after
from bot.settings.load import Settings
from tests.conftest import NOW
from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import usual_addresses
from tests.e2e.slack_rooms import SHORT
from tests.e2e.stage import ITEMS, NEW, NO_SOURCES, about, do_a_round
from tests.e2e.watches import kept
from tests.fakes import discord, slack
from tests.fakes.discord import Channel, FakeDiscord, Fault, Permission, User
from tests.fakes.patience import PATIENCE
from tests.fakes.slack import FakeSlack

PATIENT = replace(SHORT, silence=PATIENCE)  # a busy machine is no silent Slack: the one that falls here closes its socket


@dataclass(slots=True)
class Both:
    """A service in both."""

    app: App
    service: Service
    slack: FakeSlack
    discord: FakeDiscord
    in_slack: SlackPlatform
    in_discord: DiscordPlatform
    papers: Channel
    anna: User
    now: datetime

    async def answered_in_slack(self) -> bool:
        return "search" in (await (await self.slack.command("help")).answer()).words

    async def answered_in_discord(self) -> bool:
        asked = await self.discord.slash("digest help", user=self.anna, channel=self.papers)
        return "search" in asked.text

    def posted(self) -> tuple[int, int]:
        """How many digests stand in Slack, and in Discord."""
        told = self.slack.messages(self.slack.general), self.discord.of_bot(self.papers)
        return sum(" seen · " in str(each.blocks) for each in told[0]), sum(" seen · " in each.text for each in told[1])

    async def next_digests(self, number: int) -> None:
        """Collect something new, and go on to when both digests are due."""
        await self.app.store.items.add(about(10 * number, NEW, self.now + timedelta(hours=1)), self.now)
        held = await self.app.store.workspaces.subscriptions(slack_desk.WORKSPACE)
        self.now = next_after(held[0].schedule, self.now)
        await do_a_round(self.service)

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():  # noqa: ASYNC110 - it may hang on anything
                await asyncio.sleep(0.02)


@asynccontextmanager
async def sitting(folder: Path) -> AsyncIterator[Both]:
    """Run a service in a new Slack and a new Discord until the block ends."""
    both: Both | None = None

    def clock() -> datetime:
        return both.now if both else NOW

    with usual_addresses():
        async with slack.running(tiers=False, clock=lambda: clock().timestamp()) as one, discord.running() as other:
            guild = other.guild("Lab")
            papers = other.channel(guild, "papers")
            anna = other.join(guild, other.user("Anna"), Permission.MANAGE_CHANNELS)
            settings = Settings(
                database=folder / "b.sqlite3",
                slack=slack_desk.settings_for(one, folder).slack,
                discord=discord_desk.settings_for(other, folder).discord,
                **NO_SOURCES,
            )
            async with (
                built(settings, exclusive=True) as app,
                slack_room.opened(settings.slack, app.platform_context(clock), timeouts=PATIENT) as first,
                discord_room.opened(settings.discord, app.platform_context(clock), timeouts=discord_desk.SOON) as second,
            ):
                await app.store.items.add(ITEMS, NOW)
                service = await app.service(clock, [first, second])
                both = Both(app, service, one, other, first, second, papers, anna, NOW)
                async with kept([*first.watches, *second.watches]):
                    await one.connected()
                    await other.gateway.heard()
                    yield both


async def test_one_platform_falls_the_other_goes_on_and_the_fallen_one_returns(tmp_path: Path) -> None:
    async with sitting(tmp_path) as both:
        line = "subscribe gpu-systems daily at 09:00 in UTC"
        await (await both.slack.command(line)).answer()
        given = {"topic": "gpu-systems", "days": "daily", "at": "09:00", "zone": "UTC"}
        await both.discord.slash("digest-manage subscribe", user=both.anna, channel=both.papers, options=given)
        await do_a_round(both.service)  # a tick sees the subscriptions before they are due

        both.discord.gateway.is_down = True
        both.discord.gateway.end_clients()  # ends the client: the next one finds nobody
        fallen = both.discord.befall(" ", fault=Fault.BROKEN, status=503, commits=False, times=10**9)
        await both.until(lambda: bool(both.in_discord.trouble(both.now)))
        await both.next_digests(1)
        assert both.posted() == (1, 0)
        assert await both.answered_in_slack()
        assert both.in_slack.trouble(both.now) == ""

        fallen.times, both.discord.gateway.is_down = 0, False
        await both.discord.gateway.heard()
        for _ in range(6):  # what became of the first try is looked for first
            both.now += timedelta(minutes=2)
            await do_a_round(both.service)
        assert both.posted() == (1, 1)
        assert await both.answered_in_discord()

        both.slack.down = True
        both.slack.drop()
        await both.until(lambda: bool(both.in_slack.trouble(both.now)))
        assert await both.answered_in_discord()
        await both.next_digests(2)
        assert both.posted() == (2, 2), "what is posted needs no socket"

        both.slack.down = False
        await both.slack.connected()
        assert await both.answered_in_slack()
        await both.until(lambda: not both.in_slack.trouble(both.now) + both.in_discord.trouble(both.now))
        assert (both.discord.wrong, both.discord.mentions, both.slack.mentions) == ([], [], [])
