"""Looks for a message through as many pages as it takes."""

from dataclasses import replace

from bot.models import Delivery
from bot.ports.messenger import Messenger

MOST = 100


async def seek(messenger: Messenger, delivery: Delivery) -> str:
    """Return the delivery's message, "" when it is surely not there; fails when that is not known after a hundred looks."""
    look = await messenger.find(delivery)
    looks = 1
    while not look.is_proof:
        assert looks < MOST
        look = await messenger.find(replace(delivery, cursor=look.cursor))
        looks += 1
    return look.message
