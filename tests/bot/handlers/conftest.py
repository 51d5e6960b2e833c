from datetime import datetime, timedelta

import pytest

from tests.bot.handlers.askers import PAPERS, Asker, Waiting, asker


@pytest.fixture
async def ada(now: datetime) -> Asker:
    """Ada, in a channel of a workspace that has just begun, two hours after five papers came in."""
    store = Waiting()
    await store.open()
    await store.items.add(PAPERS, now - timedelta(hours=2))
    return asker(store, now)
