"""A database in memory with items in it, made by the store's own functions."""

from collections.abc import Sequence
from datetime import datetime

from sqlite_utils import Database

from bot.models import Item
from bot.store import ingest
from bot.store.schema import migrate


def indexed(items: Sequence[Item], now: datetime) -> Database:
    """Return the database."""
    db = Database(memory=True)
    migrate(db)
    for part in ingest.chunks(items, now):
        ingest.write_chunk(db, ingest.make_ready(part), now.date())
    return db
