"""Giving every item its vector: the newest first, a long backlog quickly at first and better later.

What was done stands in the store, so that whoever is stopped goes on where it was. Between two batches others get their
turn: a collection's new items, and whoever else wants the processor.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
_LOOKED_UP = 8  # batches; what is new meanwhile waits for so many
_SOON = 0.5  # seconds; twice a batch that took less still leaves others their turn
_TOLD = 1000  # items between two lines in the log
_RETRY = timedelta(minutes=5)  # after an endpoint gave nothing and did not say when it will

Progress = Callable[[Embedded], None]


@dataclass(frozen=True, slots=True)
class _Ahead:
    """Items that are next, whether they get quick vectors, and whether they have these and get better ones."""

    items: Sequence[Item]
    quick: bool = False
    better: bool = False

    def split(self, number: int) -> tuple[Sequence[Item], "_Ahead"]:
        """Return so many of them, and what is left."""
        return self.items[:number], replace(self, items=self.items[number:])

    def after(self, state: Embedded, kept: int) -> Embedded:
        """Return how far the space is filled when so many of them were kept."""
        whole, quick = state.whole + (0 if self.quick else kept), state.quick + (kept if self.quick else 0)
        lacking = state.lacking - (0 if self.better else kept)
        return Embedded(whole, quick - (kept if self.better else 0), max(0, lacking))


_NOTHING = _Ahead(())


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
        hurried, batch, state, ahead = False, _BATCH, Embedded(0, 0, 0), _NOTHING
        while not self._stopped:
            began, mark = self._seconds(), ""
            if len(ahead.items) < (_LARGEST if ahead.quick else batch):
                mark, state = await self._mark(), await self._state()
                hurried = self._quick and (state.lacking > self._backlog or (hurried and state.lacking > 0))
                ahead = await self._ahead(hurried=hurried, batch=batch, left=None if most is None else most - done)
            progress(state)
            if not ahead.items:
                self._finished = mark if most is None else ""
                break
            items, ahead = ahead.split(_LARGEST if ahead.quick else batch)
            state = ahead.after(state, await self._embed(items, quick=ahead.quick))
            done += 0 if ahead.quick else len(items)
            told += len(items)
            if told >= _TOLD:
                log.info("embed: %s", in_words(state))
                told = 0
            took = self._seconds() - began
            batch = batch if ahead.quick else _next_batch(batch, took)
            await asyncio.sleep(rest * took)
        return await self._state()

    async def _ahead(self, *, hurried: bool, batch: int, left: int | None) -> "_Ahead":
        """Look up items without a vector, for quick ones when hurried; where there are none, some with a quick one.

        Among many items that takes as long as a batch, so several batches are looked up at once.
        """
        space = self._embedder.space
        if hurried and (items := await self._store.vectors.lacking(space, limit=_LOOKED_UP * _LARGEST)):
            return _Ahead(items, quick=True)
        limit = _LOOKED_UP * batch if left is None else min(_LOOKED_UP * batch, left)
        if limit < 1:
            return _NOTHING
        if items := await self._store.vectors.lacking(space, limit=limit):
            return _Ahead(items)
        return _Ahead(await self._store.vectors.lacking(space, limit=limit, better=True), better=True)

    async def _embed(self, items: Sequence[Item], *, quick: bool) -> int:
        """Return how many were kept."""
        rows = await self._embedder.embed([text_of_item(item) for item in items], quick=quick)
        return await self._store.vectors.save(self._embedder.space, items, pack(rows), quick=quick)

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
