"""A Slack app without a Slack: what needs no answer of Slack's can be tried without one."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

import pytest
from cryptography.fernet import Fernet
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.oauth.installation_store import Installation

from adapters.slack.client.api import Clients, new_session
from adapters.slack.connection.platform import built_app
from adapters.slack.install.encryption import TokenCipher
from adapters.slack.install.installations import Installations
from bot.settings.chat import SlackSettings
from tests.stores.memory import MemoryStore


@dataclass(slots=True)
class Room:
    """The app as it is built, installed in T0BROAD; nothing that it does leaves the process."""

    store: MemoryStore
    clients: Clients
    app: AsyncApp


@pytest.fixture
async def room(now: datetime) -> AsyncIterator[Room]:
    store = MemoryStore()
    installations = Installations(store.chats, TokenCipher(Fernet.generate_key().decode()), lambda: now)
    await installations.save(Installation(team_id="T0BROAD", bot_token="xoxb-1", bot_user_id="U0BOT", user_id="U0ANNA"))
    settings = SlackSettings(api_url="http://127.0.0.1:9/api", client_id="1.2")  # port 9: nobody is there
    async with new_session() as session:
        clients = Clients(settings, session, lambda: now, installations)
        yield Room(store, clients, built_app(clients))
