"""The SQLite store's tables asked at once, on a connection that a test holds."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from sqlite_utils import Database

from bot.store.sqlite.connections import Connections

T = TypeVar("T")


class Direct(Connections):
    """One connection, and no thread."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def read(self, job: Callable[[Database], T]) -> T:
        return job(self._db)

    async def read_long(self, job: Callable[[Database], T]) -> T:
        return job(self._db)


def answer(asked: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns that waits for nothing."""
    try:
        asked.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    raise AssertionError("it waits for something")
