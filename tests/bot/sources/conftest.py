"""What every source's tests ask through."""

from collections.abc import AsyncIterator

import pytest

from bot.http.client import Http, Politeness
from tests.fakes.web import Web


@pytest.fixture
async def http(web: Web) -> AsyncIterator[Http]:
    """A door that never waits and never asks twice."""
    quick = Politeness(seconds_between=0, connections=1, retries=0)
    client = Http(user_agent="Broadsheet/test", timeout=60, politeness={web.url.removeprefix("http://"): quick})
    yield client
    await client.close()
