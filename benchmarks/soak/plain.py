"""The two plain strategies that most bots follow, on the same platform, with a table of their own; and none at all.

Mark-before writes "done" and then posts, with one blind retry when the connection breaks, as slack_sdk's default client
does. Mark-after posts until that went well and then writes "done". Both wait as a 429 asks them to.
"""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.soak.work import Strategy
from bot.errors import Delayed, Uncertain
from bot.models import Delivery
from bot.ports.messenger import Messenger


class Plain:
    """One of them, at work on its table."""

    def __init__(self, path: Path, messenger: Messenger, strategy: Strategy) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = full")
        self._db.execute("create table if not exists done (id text primary key)")
        self._messenger = messenger
        self._strategy = strategy

    async def post_all(self, deliveries: Sequence[Delivery], tasks: int) -> None:
        """Post what is not marked as done, so many at a time."""
        done = {number for (number,) in self._db.execute("select id from done")}
        left = iter([each for each in deliveries if each.id not in done])
        await asyncio.gather(*(self._work_through(left) for _ in range(tasks)))
        self._db.close()

    async def _work_through(self, left: Iterator[Delivery]) -> None:
        for each in left:
            if self._strategy is Strategy.MARK_BEFORE:
                self._mark(each)
            await self._post(each, tries=2 if self._strategy is Strategy.MARK_BEFORE else None)
            if self._strategy is Strategy.MARK_AFTER:
                self._mark(each)

    def _mark(self, delivery: Delivery) -> None:
        self._db.execute("insert into done (id) values (?)", [delivery.id])

    async def _post(self, delivery: Delivery, tries: int | None) -> None:
        while tries is None or tries > 0:
            try:
                await self._messenger.send(delivery)
            except Delayed as error:
                await asyncio.sleep(error.retry_after.total_seconds() if error.retry_after else 1)
            except Uncertain:
                tries = None if tries is None else tries - 1
            else:
                return
