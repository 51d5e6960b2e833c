"""Slack's connection on a store of its own, with what it pauses noted instead of paused."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet

from adapters.slack.connect import SlackPlatform, opened
from adapters.slack.sockets import Patience
from bot.app import App, built
from bot.platforms import Line
from bot.ports import Watch
from bot.settings import Settings
from bot.settings_chat import SlackSettings
from bot.settings_sections import ArxivSettings, GitHubSettings, HuggingFaceSettings
from tests.fakes import slack

log = logging.getLogger(__name__)

KEY = Fernet.generate_key().decode()
SHORT = Patience(opening=5.0, silence=1.0, gap=0.3, ping=0.2, look=0.05)
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
    line: Line
    clock: Clock
    gone: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def trouble(self) -> str:
        return self.platform.trouble(self.clock())

    @property
    def url(self) -> str:
        """Where the HTTP server answers."""
        assert self.platform.address is not None
        host, port = self.platform.address
        return f"http://{host}:{port}"

    async def until(self, claim: Any, within: float = 20.0) -> None:
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
    off: dict[str, Any] = {
        "arxiv": ArxivSettings(enabled=False),
        "huggingface": HuggingFaceSettings(enabled=False),
        "github": GitHubSettings(enabled=False),
    }
    async with built(Settings(database=folder / "b.sqlite3", **off)) as app:
        yield app


@asynccontextmanager
async def connected(
    app: App, given: SlackSettings, *, watched: bool = True, clock: Clock | None = None
) -> AsyncIterator[Room]:
    """Connect as the service does, and begin a watch again that ends."""
    clock = clock or Clock()
    gone: list[tuple[str, str, str]] = []

    async def noted(workspace: str, channel: str, why: str) -> None:
        gone.append((workspace, channel, why))

    usual = app.line(clock)
    line = Line(usual.desk, usual.chats, clock, noted)
    async with opened(given, line, patience=SHORT) as platform:
        async with running(platform.watches if watched else ()):
            yield Room(platform, line, clock, gone)


@asynccontextmanager
async def running(watches: Sequence[Watch]) -> AsyncIterator[None]:
    """Keep the watches going until the block ends."""
    tasks = [asyncio.create_task(_kept(watch)) for watch in watches]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks)


async def _kept(watch: Watch) -> None:
    while True:
        try:
            await watch.run()
        except Exception as error:
            log.warning("%s ended: %s", watch.name, error)
        await asyncio.sleep(0.05)
