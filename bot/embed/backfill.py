"""Giving every item its vector: the newest first, a long backlog quickly at first and better later.

What was done stands in the store, so that whoever is stopped goes on where it was. Between two batches others get their
turn: a collection's new items, and whoever else wants the processor.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.errors import EmbeddingUnavailable
from bot.models import Item
from bot.models.vectors import pack, text_of_item
from bot.ports.store import Store
from bot.ports.vectors import Embedded, Embedder

log = logging.getLogger(__name__)

BACKLOG = 2000  # items without a vector; the shipped model takes about three minutes for as many
_SOME = 200  # items; the shipped model takes about a quarter of a minute
_BATCH = 16  # items; one to two seconds of the shipped model on one core
_LARGEST = 256  # items of one transaction, however quickly their vectors are made; the table takes a tenth of a second
_SOON = 0.5  # seconds; twice a batch that took less still leaves others their turn
_TOLD = 1000  # items between two lines in the log
_RETRY = timedelta(minutes=5)  # after an endpoint gave nothing and did not say when it will

Progress = Callable[[Embedded], None]


@dataclass(frozen=True, slots=True)
class Step:
    """What was done at once: how many items, and whether quickly."""

    items: int
    quick: bool


class VectorBackfill:
    """Fills the store with vectors. `quick` says that the embedder has a quicker way, of the same space.

    `seconds` is a clock that never goes back: batches grow as long as they take little time.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        quick: bool,
        backlog: int = BACKLOG,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._quick = quick
        self._backlog = backlog
        self._seconds = seconds
        self._stopped = False
        self._finished = ""  # what the store held when nothing was left to do
        self._not_before: datetime | None = None

    def stop(self) -> None:
        """Begin nothing further."""
        self._stopped = True

    async def run(self, clock: Callable[[], datetime]) -> None:
        """Do all there is to do, resting between two batches for half as long as they take. Looks first, and costs
        nothing while nothing changed. An endpoint that gives no vectors is asked again later.
        """
        if self._finished == await self._mark() or (self._not_before is not None and clock() < self._not_before):
            return
        try:
            await self.fill(rest=0.5)
        except EmbeddingUnavailable as error:
            wait = error.retry_after or _RETRY
            self._not_before = clock() + wait
            log.warning("embed: %s Trying again in %d s.", error, wait.total_seconds())

    async def fill_some(self, progress: Progress) -> Embedded:
        """Embed the newest items, as few as a person who collects may wait for; otherwise as `fill`."""
        return await self.fill(most=_SOME, progress=progress)

    async def fill(
        self, *, most: int | None = None, rest: float = 0.0, progress: Progress = lambda embedded: None
    ) -> Embedded:
        """Embed until nothing is left, or `most` items in the slower way, and return how far the store is filled.

        `rest` is how long it rests after each batch, in times of what the batch took. Raises EmbeddingUnavailable and
        StoreError; what was done before stays.
        """
        done = told = 0
        hurried, batch = False, _BATCH
        while not self._stopped:
            began, mark, state = self._seconds(), await self._mark(), await self._state()
            progress(state)
            hurried = self._quick and (state.lacking > self._backlog or (hurried and state.lacking > 0))
            step = await self._step(hurried=hurried, most=batch if most is None else min(batch, most - done))
            if step is None:
                self._finished = mark if most is None else ""
                break
            done += 0 if step.quick else step.items
            told += step.items
            if told >= _TOLD:
                log.info("embed: %s", in_words(state))
                told = 0
            took = self._seconds() - began
            batch = batch if step.quick else _next_batch(batch, took)
            await asyncio.sleep(rest * took)
        return await self._state()

    async def _step(self, *, hurried: bool, most: int) -> Step | None:
        """Embed a few items without a vector, quickly when hurried; where there are none, a few with a quick one."""
        space = self._embedder.space
        if hurried and (items := await self._store.vectors.lacking(space, limit=_LARGEST)):
            return await self._embed(items, quick=True)
        if most < 1:
            return None
        items = await self._store.vectors.lacking(space, limit=most)
        items = items or await self._store.vectors.lacking(space, limit=most, better=True)
        return await self._embed(items, quick=False) if items else None

    async def _embed(self, items: Sequence[Item], *, quick: bool) -> Step:
        rows = await self._embedder.embed([text_of_item(item) for item in items], quick=quick)
        await self._store.vectors.save(self._embedder.space, items, pack(rows), quick=quick)
        return Step(len(items), quick)

    async def _state(self) -> Embedded:
        return await self._store.vectors.embedded(self._embedder.space)

    async def _mark(self) -> str:
        return f"{await self._store.items.mark()} {await self._store.vectors.mark(self._embedder.space)}"


def _next_batch(batch: int, took: float) -> int:
    """Return how many items come next: more after a batch that took little time, fewer after a long one."""
    if took < _SOON:
        return min(2 * batch, _LARGEST)
    return max(batch // 2, _BATCH) if took > 4 * _SOON else batch


def in_words(embedded: Embedded) -> str:
    """Return "3,000 of 54,000 items have a vector, 2,000 of them a quick one"."""
    having = embedded.whole + embedded.quick
    quick = f", {embedded.quick:,} of them a quick one" if embedded.quick else ""
    return f"{having:,} of {having + embedded.lacking:,} items have a vector{quick}"
