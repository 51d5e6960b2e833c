"""The round of collecting: fetch → normalise → dedupe → store, per source.

bot.digest.publisher has the other half, publishing.
"""

import asyncio
import logging
import random
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.collect import dedupe
from bot.errors import BotError, SourceChanged, SourceError, SourceUnavailable, StoreError
from bot.models import And, Batch, Health, Item, Query, SourceState, Term, Tree
from bot.ports.facts import COLLECTED
from bot.ports.source import Source
from bot.ports.store import Store
from bot.rank.events import is_newly_released
from bot.wording import counted

log = logging.getLogger(__name__)

# How long a source that failed is left alone when it did not say: doubled with every failure in a row, up to the cap.
FIRST_REST = timedelta(minutes=5)
LONGEST_REST = timedelta(hours=4)

# How long what a collection said stands, when later ones of the day bring nothing; a little less than a day, so that
# tomorrow's first collection speaks for itself.
A_DAY = timedelta(hours=20)

# How often a batch is folded because another process stored some of the same items meanwhile. Before each further time it
# waits by chance, for up to twice as long as before: so that several, who would all begin again at once, find their turns.
TRIES = 10
_FIRST_WAIT, _LONGEST_WAIT = 0.01, 0.3  # seconds

# Arrivals among which a work is looked for by its title: more than others store before a search index has followed.
_LATEST = 1000


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one source's collection is: steps done of how many (0: unknown), and items read so far."""

    source: str
    done: int
    total: int
    items: int


@dataclass(frozen=True, slots=True)
class Collected:
    """What one source's collection came to. `asked` is False when the source was resting and was left alone."""

    state: SourceState
    title: str
    read: int
    fresh: int
    asked: bool = True
    error: SourceError | None = None


class Collector:
    """Runs collections of sources into one store."""

    def __init__(self, store: Store, authority: dedupe.Authority) -> None:
        self._store = store
        self._authority = authority
        # Two sources of ours may bring the same paper at once. That none writes over what the other wrote is the store's to
        # see to, as with another process; here the second one waits, folds once, and finds a twin that has another name.
        self._merging = asyncio.Lock()

    async def collect(
        self,
        sources: Sequence[Source],
        now: datetime,
        *,
        force: bool = False,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> list[Collected]:
        """Collect from every source at once; one that fails never stops the others.

        A source that is resting after a failure is skipped unless `force`. Raises StoreError, which ends the round.
        """
        rounds = [asyncio.ensure_future(self._one(source, now, force, progress)) for source in sources]
        try:
            return list(await asyncio.gather(*rounds))
        finally:
            for each in rounds:
                each.cancel()
            await asyncio.gather(*rounds, return_exceptions=True)

    async def store(self, items: Sequence[Item], now: datetime) -> int:
        """Store items as a collection would that brought them now; return how many were new. Raises StoreError."""
        return await self._take_in(Batch(items=tuple(items)), "", now)

    async def _one(self, source: Source, now: datetime, force: bool, progress: Callable[[Progress], None]) -> Collected:
        state = await self._store.source_states.get(source.name)
        if _rests(state, now) and not force:
            return Collected(state, source.title, 0, 0, asked=False)
        tally = _Tally()
        error: SourceError | None = None
        try:
            # Closed here also when storing fails: left to the garbage collector, a source would end its requests late.
            async with aclosing(source.collect(state, now)) as batches:
                async for batch in batches:
                    tally.add(batch, await self._take_in(batch, source.name, now))
                    progress(Progress(source.title, batch.done, batch.total, tally.read))
        except SourceError as failure:
            error = failure
        except BotError:
            raise
        except Exception as failure:
            # Nothing that a source sends may end the round; what we did not foresee is logged whole and named in brief.
            reference = secrets.token_hex(4)
            log.exception("collecting from %s failed [%s]", source.name, reference)
            error = SourceChanged(f"unexpected {type(failure).__name__} while reading it; see the log at {reference}")
        state = _after(await self._store.source_states.get(source.name), tally, error, now)
        await self._store.source_states.save(state)
        await self._note_collected()
        return Collected(state, source.title, tally.read, tally.fresh, error=error)

    async def _note_collected(self) -> None:
        """Note the last arrival. What is posted at once looks as far as this: what a collection brings comes together.

        Where something has arrived since it was read, another process may have noted more: it is noted again, so that the
        last of several to do so never leaves less than another one noted.
        """
        noted = -1
        while (last := await self._store.items.last_arrival()) != noted:
            await self._store.facts.set(COLLECTED, str(last))
            noted = last

    async def _take_in(self, batch: Batch, name: str, now: datetime) -> int:
        """Store the batch and move the watermark in one transaction; return how many items were new."""
        async with self._merging:
            for attempt in range(TRIES):
                if attempt:
                    await asyncio.sleep(random.uniform(0, min(_FIRST_WAIT * 2**attempt, _LONGEST_WAIT)))
                fresh = await self._fold_in(batch, name, now)
                if fresh is not None:
                    return fresh
        raise StoreError("Other processes keep changing the same items; what was not stored is collected the next time.")

    async def _fold_in(self, batch: Batch, name: str, now: datetime) -> int | None:
        """Return how many items were new; None, and nothing is stored, when another process changed what was read."""
        state = None
        if batch.watermark is not None:
            # What another process makes of the state meanwhile is lost: it has stored what its watermark says it read, and
            # that is read once more.
            state = replace(await self._store.source_states.get(name), watermark=batch.watermark)
        if not batch.items and state is None:
            return 0
        names = {key for item in batch.items for key in dedupe.names(item)}
        known = dict(await self._store.items.find(names))
        incoming = await self._with_twins(batch.items, known, now)
        read = dict.fromkeys(names) | known
        merged = await asyncio.to_thread(dedupe.fold_in, incoming, known, self._authority)
        # What is posted at once ends at an arrival, and a release of what is stored has none.
        happened = any(is_newly_released(item, known.get(item.key), now) for item in merged.items)
        added = await self._store.items.add(
            merged.items, now, retired=merged.retired, state=state, known=read, happened=happened
        )
        return merged.fresh if added else None

    async def _with_twins(self, items: Sequence[Item], known: dict[str, Item], now: datetime) -> list[Item]:
        """Give a feed's entry the key of the stored paper with the same title and author, where there is one.

        The search index may be behind what other processes store: what it finds is read anew, and what came last is looked
        at besides.
        """
        wanted = dedupe.twins_to_look_for(items, known, self._authority)
        latest = await self._latest_by_title() if wanted else {}
        twins: dict[str, Item] = {}
        for item in wanted:
            found = [*latest.get(dedupe.title_words(item), ()), *await self._titled_so(item, now)]
            twin = next((each for each in found if dedupe.same_work(each, item)), None)
            if twin is not None:
                known[twin.key] = twin
                twins[item.key] = replace(item, aliases=(*item.aliases, twin.key))
        return [twins.get(item.key, item) for item in items]

    async def _latest_by_title(self) -> Mapping[tuple[str, ...], Sequence[Item]]:
        arrived = await self._store.items.arrived(await self._store.items.last_arrival() - _LATEST)
        return await asyncio.to_thread(dedupe.by_title, [item for _, item in arrived])

    async def _titled_so(self, item: Item, now: datetime) -> Sequence[Item]:
        """Return the items that the search index finds by the title, as they are stored now."""
        title: Tree = Term(item.title, field="title", quoted=True)
        page = await self._store.index.search(Query(item.title, And((title,)), sort="new"), now, limit=5)
        keys = [hit.item.key for hit in page.hits]
        stored = await self._store.items.find(keys)
        return [stored[key] for key in keys if key in stored]


class _Tally:
    """What a collection has brought so far."""

    def __init__(self) -> None:
        self.read = self.fresh = self.skipped = 0
        self.partial = False
        self.notes: dict[str, None] = {}

    def add(self, batch: Batch, fresh: int) -> None:
        self.read += len(batch.items)
        self.fresh += fresh
        self.skipped += batch.skipped
        self.partial = self.partial or batch.partial
        self.notes.update(dict.fromkeys(batch.notes))

    def note(self) -> str:
        unread = f"{counted(self.skipped, 'entry')} could not be read"
        return "; ".join((*self.notes, *([unread] if self.skipped else [])))


def _after(state: SourceState, tally: _Tally, error: SourceError | None, now: datetime) -> SourceState:
    """The source's state after a collection that ended with or without an error."""
    if error is None:
        if not tally.read and not tally.partial and _is_fresh(state, now):
            # Asked again on the same day and nothing new: what the day's collection said (a gap, a catch-up) still holds.
            return replace(state, asked=now, answered=now, failures=0, rest_until=None)
        health = Health.PARTIAL if tally.partial or tally.skipped else Health.OK if tally.read else Health.QUIET
        return replace(
            state,
            health=health,
            asked=now,
            answered=now,
            failures=0,
            rest_until=None,
            told=now,
            items=tally.read,
            note=tally.note(),
        )
    asked_to_wait = error.retry_after if isinstance(error, SourceUnavailable) else None
    rest = asked_to_wait or min(FIRST_REST * 2**state.failures, LONGEST_REST)
    return replace(
        state,
        health=Health.CHANGED if isinstance(error, SourceChanged) else Health.DOWN,
        asked=now,
        failures=state.failures + 1,
        rest_until=now + rest,
        note=str(error).rstrip("."),
    )


def _is_fresh(state: SourceState, now: datetime) -> bool:
    said = state.told is not None and timedelta(0) <= now - state.told < A_DAY
    return said and state.health in (Health.OK, Health.PARTIAL)


def _rests(state: SourceState, now: datetime) -> bool:
    """Tell whether the source is to be left alone; what a clock wrote that had run ahead binds nobody."""
    asked_already = state.asked is None or state.asked <= now
    return asked_already and state.rest_until is not None and now < state.rest_until
