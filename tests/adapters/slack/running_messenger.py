"""Slack's Messenger on a fake Slack."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import SecretStr

from adapters.slack.client.api import Clients, new_session
from adapters.slack.send import SlackMessenger
from bot.settings.chat import SlackSettings
from tests.conftest import NOW
from tests.fakes import slack
from tests.stores.memory import MemoryStore


@dataclass(frozen=True)
class Room:
    """A Slack, what posts in it, and where what the buttons have no room for is kept."""

    fake: slack.FakeSlack
    messenger: SlackMessenger
    chats: MemoryStore


@asynccontextmanager
async def posting(*, join_channels: bool = True, api_url: str = "") -> AsyncIterator[Room]:
    """Run a Slack that counts no requests, and a Messenger for it, or for what is at another address."""
    async with slack.running(tiers=False) as fake, new_session() as session:
        settings = SlackSettings(bot_token=SecretStr(fake.bot_token), api_url=api_url or fake.api_url)
        chats = MemoryStore()
        clients = Clients(settings, session, lambda: NOW)
        yield Room(fake, SlackMessenger(clients, join_channels=join_channels, chats=chats.chats), chats)
