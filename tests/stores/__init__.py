"""The stores that tests run on."""

from bot.store.postgres.store import PostgresStore
from bot.store.sqlite.store import SqliteStore
from tests.stores.memory import MemoryStore

AnyStore = MemoryStore | SqliteStore | PostgresStore
