"""Broadsheet in a Slack of its own: the whole service on a database, real sockets, and a clock that is set."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from adapters.slack.connection.platform import SlackPlatform, opened
from adapters.slack.install.manifest import manifest
from bot.app import App, Service, built
from bot.models import Item
from bot.settings.chat import SlackSettings
from bot.settings.load import Settings
from tests.conftest import NOW
from tests.e2e.stage import ITEMS, NO_SOURCES, do_a_round
from tests.e2e.watches import kept
from tests.fakes import slack

WORKSPACE = "slack:T0BROAD"


@dataclass(slots=True)
class SlackDesk:
    """A running service, and the Slack that it is in."""

    app: App
    fake: slack.FakeSlack
    service: Service
    platform: SlackPlatform
    now: datetime

    async def round(self, now: datetime | None = None) -> None:
        """Do once what the service does by itself when something is due."""
        self.now = now or self.now
        await do_a_round(self.service)


def settings_for(fake: slack.FakeSlack, folder: Path, sources: Mapping[str, Any] = NO_SOURCES, **given: Any) -> Settings:
    """Settings with this Slack and no source but these."""
    section = {"bot_token": fake.bot_token, "app_token": fake.app_token, "api_url": fake.api_url} | given
    return Settings(database=folder / "b.sqlite3", slack=SlackSettings(**section), **sources)


@asynccontextmanager
async def sitting(
    folder: Path, *, items: Sequence[Item] = ITEMS, sources: Mapping[str, Any] = NO_SOURCES, **given: Any
) -> AsyncIterator[SlackDesk]:
    """Run the service in a new Slack, whose clock is the same, until the block ends; `given` are settings of [slack].

    The app there is as the manifest says: other scopes are refused, other events are not sent.
    """
    desk: SlackDesk | None = None

    def clock() -> datetime:
        return desk.now if desk else NOW

    switched = {
        name: value
        for name, value in given.items()
        if name in ("reactions", "link_previews", "join_channels", "agent", "workflow_steps")
    }
    asked = manifest(SlackSettings(**switched), socket=True, url="", name="Broadsheet")
    async with slack.running(tiers=False, clock=lambda: clock().timestamp(), manifest=asked) as fake:
        settings = settings_for(fake, folder, sources, **given)
        async with built(settings, exclusive=True) as app:
            await app.store.items.add(items, NOW)
            async with opened(settings.slack, app.platform_context(clock)) as platform:
                desk = SlackDesk(app, fake, await app.service(clock, [platform]), platform, NOW)
                async with kept(platform.watches):
                    await fake.connected()
                    yield desk
