from datetime import datetime, timedelta

import pytest

from tests.bot.handlers.desks import PAPERS, Seat, Waiting, seat


@pytest.fixture
async def ada(now: datetime) -> Seat:
    """Ada, in a channel of a workspace that has just begun, two hours after five papers came in."""
    store = Waiting()
    await store.open()
    await store.add(PAPERS, now - timedelta(hours=2))
    return seat(store, now)
