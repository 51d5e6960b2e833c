"""Slack's connection on a store of its own, with what it pauses noted instead of paused."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet

from adapters.slack.connection.platform import SlackPlatform, opened
from adapters.slack.connection.socket_mode import SocketTimeouts
from bot.app import App, built
from bot.service.platforms import Cluster, PlatformContext
from bot.settings.chat import SlackSettings
from bot.settings.load import Settings
from bot.settings.sections import ROLES, Role
from tests.e2e.stage import NO_SOURCES
from tests.e2e.watches import kept
from tests.fakes import slack
from tests.fakes.patience import PATIENCE

KEY = Fernet.generate_key().decode()
SHORT = SocketTimeouts(opening=30.0, silence=3.0, gap=1.0, ping=0.2, look=0.05)
PUBLIC = "https://digest.example.org"


@dataclass(slots=True)
class Clock:
    """The time, which a test moves on."""

    ahead: timedelta = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@dataclass(slots=True)
class Room:
    """What is connected."""

    platform: SlackPlatform
    line: PlatformContext
    clock: Clock
    gone: list[tuple[str, str, str]] = field(default_factory=list)
    open_again: list[tuple[str, str]] = field(default_factory=list)

    @property
    def trouble(self) -> str:
        return self.platform.trouble(self.clock())

    @property
    def url(self) -> str:
        """Where the HTTP server answers."""
        assert self.platform.address is not None
        host, port = self.platform.address
        return f"http://{host}:{port}"

    async def until(self, claim: Any, within: float = PATIENCE) -> None:
        """Wait until the claim holds."""
        async with asyncio.timeout(within):
            while not claim():  # noqa: ASYNC110 - it may hang on anything
                await asyncio.sleep(0.02)


def settings(fake: slack.FakeSlack, **given: Any) -> SlackSettings:
    """Socket Mode in one workspace, unless said otherwise."""
    usual = {"bot_token": fake.bot_token, "app_token": fake.app_token, "api_url": fake.api_url}
    return SlackSettings(**(usual | given))


def by_oauth(fake: slack.FakeSlack, **given: Any) -> SlackSettings:
    """HTTP, and installations by OAuth."""
    usual = {
        "mode": "http",
        "bot_token": "",
        "signing_secret": fake.signing_secret,
        "client_id": fake.client_id,
        "client_secret": fake.client_secret,
        "encryption_keys": KEY,
        "public_url": PUBLIC,
        "port": 0,
    }
    return settings(fake, **(usual | given))


@asynccontextmanager
async def service(folder: Path) -> AsyncIterator[App]:
    """The core on a database, without a source."""
    async with built(Settings(database=folder / "b.sqlite3", **NO_SOURCES)) as app:
        yield app


@asynccontextmanager
async def connected(
    app: App,
    given: SlackSettings,
    *,
    watched: bool = True,
    clock: Clock | None = None,
    timeouts: SocketTimeouts = SHORT,
    cluster: Cluster | None = None,
    roles: Collection[Role] = ROLES,
) -> AsyncIterator[Room]:
    """Connect as the service does, and begin a watch again that ends; with a cluster as one of several processes."""
    clock = clock or Clock()
    gone: list[tuple[str, str, str]] = []
    open_again: list[tuple[str, str]] = []

    async def noted(workspace: str, channel: str, why: str) -> None:
        gone.append((workspace, channel, why))

    def noted_open(workspace: str, channel: str) -> None:
        open_again.append((workspace, channel))

    line = replace(
        app.platform_context(clock), channel_closed=noted, channel_opened=noted_open, cluster=cluster, roles=roles
    )
    async with opened(given, line, timeouts=timeouts) as platform:
        async with kept(platform.watches if watched else ()):
            yield Room(platform, line, clock, gone, open_again)
