"""Single items that a person names and nobody has collected: fetched once, when they are asked for, and stored like others.

Only a source's own interface is asked, for a key: no address that somebody typed is ever requested.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TypeVar

from bot.collect.collector import Collector
from bot.errors import SourceChanged, SourceError, SourceUnavailable, UsageError
from bot.models import Item
from bot.ports.items import Items
from bot.ports.source import ItemLookup
from bot.wording import counted, span_in_words

Value = TypeVar("Value")

log = logging.getLogger(__name__)

SECONDS = 10.0  # for which the sources are waited for, their turn included
FURTHER = 3.0  # seconds for which the others are waited for once one has the item
AN_HOUR = 3600.0
PER_HOUR = 30  # of one person; GitHub answers 60 in an hour without a token, for collections too
MISSING = 600.0  # seconds for which what the sources did not know is not asked for again
_REMEMBERED = 1000  # keys and people


class ItemFetcher:
    """Asks sources for single items: bot.ports.source.Fetcher. `clock` counts seconds."""

    def __init__(
        self,
        items: Items,
        collector: Collector,
        lookups: Sequence[ItemLookup],
        *,
        seconds: float = SECONDS,
        further: float = FURTHER,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask these sources; what the first of several says decides whether there is such an item."""
        self._items, self._collector, self._lookups = items, collector, tuple(lookups)
        self._seconds, self._further, self._clock = seconds, further, clock
        self._tasks: dict[str, asyncio.Task[Item | None]] = {}  # under way, by key
        self._people: set[str] = set()  # for whom something is under way
        self._asked: dict[str, deque[float]] = {}  # when each person asked
        self._missing: dict[str, float] = {}  # when the sources said that they do not know it
        self._rests: dict[str, float] = {}  # until when a source asked to be left alone

    def sources_of(self, key: str) -> Sequence[str]:
        """As in the port."""
        return tuple(each.title for each in self._lookups if each.has_keys_like(key))

    async def fetch(self, key: str, person: str, now: datetime) -> Item | None:
        """As in the port; who asks for what is being fetched already gets the same answer."""
        if self._clock() - self._missing.get(key, -MISSING) < MISSING:
            return None
        with self._turn(person):
            task = self._tasks.get(key) or self._started(key, now)
            return await asyncio.shield(task)

    async def close(self) -> None:
        """Give up what is under way."""
        tasks = [*self._tasks.values()]
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def _turn(self, person: str) -> Iterator[None]:
        """Let each person have one thing fetched at a time, and so many in an hour. Raises UsageError."""
        if person in self._people:
            raise UsageError("What you asked for before is still being fetched.", hint="Ask again when its answer is here.")
        now, asked = self._clock(), self._asked.pop(person, deque())
        while asked and now - asked[0] > AN_HOUR:
            asked.popleft()
        _remember(self._asked, person, asked)
        if len(asked) >= PER_HOUR:
            wait = span_in_words(timedelta(seconds=AN_HOUR - (now - asked[0]) + 60))
            raise UsageError(
                f"You had {counted(PER_HOUR, 'item')} fetched within an hour; the services that are asked want no more.",
                hint=f"Ask for this one in {wait}; what is known here is shown at any time.",
            )
        asked.append(now)
        self._people.add(person)
        try:
            yield
        finally:
            self._people.discard(person)

    def _started(self, key: str, now: datetime) -> asyncio.Task[Item | None]:
        task = asyncio.create_task(self._fetched(key, now), name=f"fetching {key}")
        self._tasks[key] = task

        def ended(done: asyncio.Task[Item | None]) -> None:
            self._tasks.pop(key, None)
            if not done.cancelled():
                done.exception()  # whoever waited for it may have gone

        task.add_done_callback(ended)
        return task

    async def _fetched(self, key: str, now: datetime) -> Item | None:
        known = (await self._items.find([key])).get(key)
        if known is not None:
            return known
        items = await self._answered(key)
        if not items:
            _remember(self._missing, key, self._clock())
            return None
        await self._collector.store(items, now)
        return (await self._items.find([key])).get(key)

    async def _answered(self, key: str) -> Sequence[Item]:
        """Return what the sources say of the key in time, the first one's answer first; raises SourceError."""
        asked = [each for each in self._lookups if each.has_keys_like(key)]
        asking = [asyncio.ensure_future(self._ask(each, key)) for each in asked]
        try:
            await self._wait(asking, key)
            outcomes = [self._outcome(lookup, task) for lookup, task in zip(asked, asking, strict=True)]
        finally:
            for each in asking:
                each.cancel()
            await asyncio.gather(*asking, return_exceptions=True)
        found = [item for outcome in outcomes if not isinstance(outcome, SourceError) for item in outcome]
        if _has(found, key):
            return found
        if isinstance(outcomes[0], SourceError):
            raise outcomes[0]
        return ()

    async def _wait(self, asking: "Sequence[asyncio.Future[Sequence[Item]]]", key: str) -> None:
        """Wait until all have answered, not for long once one has the item."""
        loop, waiting = asyncio.get_running_loop(), set(asking)
        end = loop.time() + self._seconds
        while waiting and (left := end - loop.time()) > 0:
            done, waiting = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if any(each.exception() is None and _has(each.result(), key) for each in done):
                end = min(end, loop.time() + self._further)

    async def _ask(self, lookup: ItemLookup, key: str) -> Sequence[Item]:
        left = self._rests.get(lookup.title, 0.0) - self._clock()
        if left > 0:
            raise SourceUnavailable(f"{lookup.title} is left alone for now", retry_after=timedelta(seconds=left))
        return await lookup.look_up(key)

    def _outcome(self, lookup: ItemLookup, task: "asyncio.Future[Sequence[Item]]") -> Sequence[Item] | SourceError:
        """Return what the source said, or its failure in a sentence for who asked."""
        if not task.done():
            log.warning("a single item was not had of %s in time", lookup.title)
            return SourceUnavailable(f"{lookup.title} did not answer within {self._seconds:g} seconds.")
        error = task.exception()
        if error is None:
            return task.result()
        if not isinstance(error, SourceError):
            raise error
        log.warning("a single item was not had: %s", error)
        if isinstance(error, SourceUnavailable) and error.retry_after is not None:
            self._rests[lookup.title] = self._clock() + error.retry_after.total_seconds()
        return _in_words(lookup.title, error)


def _has(items: Sequence[Item], key: str) -> bool:
    return any(key in (item.key, *item.aliases) for item in items)


def _in_words(title: str, error: SourceError) -> SourceError:
    """Return the failure as a sentence that names no address: that is the operator's affair, and stands in the log."""
    said: SourceError
    if isinstance(error, SourceChanged):
        said = SourceChanged(f"{title} answered in a way that Broadsheet does not understand; the log says how.")
    elif not isinstance(error, SourceUnavailable):
        said = SourceUnavailable(f"{title} does not answer as it should.")
    elif error.fault is not None:
        said = SourceUnavailable(f"{title} could not be reached: {error.fault.value}.", fault=error.fault)
    elif error.retry_after is not None:
        wait = span_in_words(error.retry_after)
        said = SourceUnavailable(
            f"{title} takes no more requests for now; ask again in {wait}.", retry_after=error.retry_after
        )
    else:
        said = SourceUnavailable(f"{title} does not answer as it should just now.")
    said.__cause__ = error
    return said


def _remember(known: dict[str, Value], name: str, value: Value) -> None:
    """Keep the value as the latest, and of all others the newest."""
    known[name] = value
    while len(known) > _REMEMBERED:
        del known[next(iter(known))]
