"""A database in memory with items in it, made by the store's own functions."""

from collections.abc import Sequence
from datetime import datetime

from sqlite_utils import Database

from bot.models import Item
from bot.store.sqlite import ingest
from bot.store.sqlite.migrations import migrate


def indexed(items: Sequence[Item], now: datetime) -> Database:
    """Return the database."""
    db = Database(memory=True)
    migrate(db)
    known = ingest.known(db, [item.key for item in items])
    ingest.write(db, map(ingest.make_ready, ingest.chunks(items, now)), known, now.date())
    return db
