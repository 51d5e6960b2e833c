"""The round: the only file that knows the order of the verbs.

collect: fetch → normalise → dedupe → store, per source. publish: rank → summarise → compose → save, per digest.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot import compose, dedupe
from bot.errors import BotError, SourceChanged, SourceError, SourceUnavailable
from bot.models import (
    And,
    Batch,
    Digest,
    Health,
    Item,
    Order,
    Query,
    SourceState,
    Summary,
    Term,
    Topic,
    Tree,
)
from bot.ports import Source, Store, Summariser
from bot.query import Folded, matches
from bot.rank import Edition, diversify, rank

log = logging.getLogger(__name__)

# How long a source that failed is left alone when it did not say: doubled with every failure in a row, up to the cap.
FIRST_REST = timedelta(minutes=5)
LONGEST_REST = timedelta(hours=4)

# How long what a collection said stands, when later ones of the day bring nothing; a little less than a day, so that
# tomorrow's first collection speaks for itself.
A_DAY = timedelta(hours=20)

# Summaries made at the same time; an LLM endpoint takes a few requests at once, extraction is bound by the processor.
AT_ONCE = 4


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

    def __init__(self, store: Store) -> None:
        self._store = store
        # Looking up what is known and writing what it became is one step: two sources may bring the same paper at once.
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

    async def _one(self, source: Source, now: datetime, force: bool, progress: Callable[[Progress], None]) -> Collected:
        state = await self._store.source_state(source.name)
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
        state = _after(await self._store.source_state(source.name), tally, error, now)
        await self._store.save_source_state(state)
        return Collected(state, source.title, tally.read, tally.fresh, error=error)

    async def _take_in(self, batch: Batch, name: str, now: datetime) -> int:
        """Store the batch and move the watermark in one transaction; return how many items were new."""
        async with self._merging:
            state = None
            if batch.watermark is not None:
                state = replace(await self._store.source_state(name), watermark=batch.watermark)
            if not batch.items and state is None:
                return 0
            known = dict(await self._store.find({key for item in batch.items for key in dedupe.names(item)}))
            incoming = await self._with_twins(batch.items, known, now)
            merged = await asyncio.to_thread(dedupe.fold_in, incoming, known)
            await self._store.add(merged.items, now, retired=merged.retired, state=state)
            return merged.fresh

    async def _with_twins(self, items: Sequence[Item], known: dict[str, Item], now: datetime) -> list[Item]:
        """Give a feed's entry the key of the stored paper with the same title and author, where there is one."""
        twins: dict[str, Item] = {}
        for item in dedupe.twins_to_look_for(items, known):
            title: Tree = Term(item.title, field="title", quoted=True)
            page = await self._store.search(Query(item.title, And((title,)), sort="new"), now, limit=5)
            twin = next((hit.item for hit in page.hits if dedupe.same_work(hit.item, item)), None)
            if twin is not None:
                known[twin.key] = twin
                twins[item.key] = replace(item, aliases=(*item.aliases, twin.key))
        return [twins.get(item.key, item) for item in items]


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
        unread = f"{self.skipped} {'entry' if self.skipped == 1 else 'entries'} could not be read"
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


# --- publish -------------------------------------------------------------------------------------------------------


class Publisher:
    """Makes digests from what is stored."""

    def __init__(self, store: Store, summariser: Summariser, titles: Mapping[str, str]) -> None:
        """`titles` gives every source's name for people by its name: those that a coverage footer lists."""
        self._store = store
        self._summariser = summariser
        self._titles = titles

    async def publish(self, orders: Sequence[Order], now: datetime, *, record: bool = False) -> list[Digest]:
        """Make the digests in their order; an item that stands in one is not repeated in the next of the same channel.

        With `record`, each is saved and its entries count as posted; without, it is a preview and nothing is changed.
        """
        digests = []
        shown: dict[tuple[str, str], set[str]] = {}
        windows: dict[tuple[datetime, timedelta], _Window] = {}
        for order in orders:
            since, max_age = await self._since(order, now), order.limits.max_age
            if (since, max_age) not in windows:
                windows[since, max_age] = await self._window(since, max_age, now)
            here = shown.setdefault((order.workspace, order.channel), set())
            digest = await self._digest(order, windows[since, max_age], here, since, now)
            if record:
                await self._store.save_digest(order.workspace, order.channel, digest, now)
            here.update(key for entry in digest.entries for key in _keys(entry.ranked.item, entry.partner))
            digests.append(digest)
        return digests

    async def _since(self, order: Order, now: datetime) -> datetime:
        last = await self._store.last_digest(order.workspace, order.channel, order.topic.name) if order.since_last else None
        # One that ended after now was made by a clock that had run ahead.
        return now - order.window if last is None or last[1] > now else last[1]

    async def _window(self, since: datetime, max_age: timedelta, now: datetime) -> "_Window":
        # Until a moment past now: what was stored at `now` itself belongs to it.
        items = await self._store.items_since(since, now + timedelta(microseconds=1))
        fresh = [item for item in items if not compose.is_old(item, max_age, now)]
        readings = await self._store.readings([item.key for item in fresh], (now - timedelta(days=30)).date())
        return _Window(items, await asyncio.to_thread(Edition, fresh, readings, now))

    async def _digest(
        self, order: Order, window: "_Window", shown: Collection[str], since: datetime, now: datetime
    ) -> Digest:
        posted = await self._store.posted(order.workspace, order.channel) - set(shown)
        examples = await self._examples(order.topic)
        others = await self._partners(window.edition.items)
        choice = await asyncio.to_thread(_choose, order, window, (posted, shown), examples, others, now)
        summaries = await self._summaries([card.ranked.item for card in choice.cards], now)
        states = [(title, await self._store.source_state(name)) for name, title in self._asked(order.topic)]
        coverage = compose.coverage(window.items, choice.dropped, states, since=since, now=now)
        return compose.digest(order.topic, choice.cards, summaries, coverage=coverage, since=since, now=now)

    def _asked(self, topic: Topic) -> list[tuple[str, str]]:
        wanted = topic.sources
        return [
            (name, title) for name, title in self._titles.items() if not wanted or {name, name.split(":")[0]} & set(wanted)
        ]

    async def _examples(self, topic: Topic) -> list[Item | str]:
        """An example that is a key of a known item becomes that item; a text stays a text; an unknown key helps nobody."""
        known = await self._store.find(topic.examples)
        return [known.get(each, each) for each in topic.examples if each in known or " " in each]

    async def _partners(self, items: Sequence[Item]) -> Mapping[str, Item]:
        return await self._store.find({key for item in items for key in (item.repo, item.paper) if key})

    async def _summaries(self, items: Sequence[Item], now: datetime) -> list[Summary]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(item: Item) -> Summary:
            async with gate:
                return await self._summariser.summarise(item, now)

        return list(await asyncio.gather(*map(one, items)))


@dataclass(frozen=True, slots=True)
class _Window:
    """What a digest looks at: everything first seen in its time, and the index of what is not too old to be news.

    After a long gap most of it is too old: that is only counted.
    """

    items: Sequence[Item]
    edition: Edition


def _choose(
    order: Order,
    window: _Window,
    before: tuple[Collection[str], Collection[str]],
    examples: Sequence[Item | str],
    others: Mapping[str, Item],
    now: datetime,
) -> compose.Choice:
    """Give every item of the window a place in the digest or the one reason why it has none.

    `before` are the keys that were posted, and those that another digest made with this one shows.
    """
    posted, shown = before
    dropped: dict[str, str] = {}
    for item in window.items:
        if reason := compose.turned_away(item, order.topic, posted=posted, shown=shown, limits=order.limits, now=now):
            dropped[item.key] = reason
    ranked = [each for each in rank(window.edition, order.topic, examples=examples) if each.item.key not in dropped]
    dropped |= {item.key: compose.QUERY for item in window.items} | dropped
    for each in ranked:
        dropped.pop(each.item.key)
    passed = []
    for each in ranked:
        if not matches(order.filter.tree, Folded(each.item), now, each.score):
            dropped[each.item.key] = compose.FILTER
        elif each.score < order.topic.min_score:
            dropped[each.item.key] = compose.SCORE
        else:
            passed.append(each)
    cards, joined = compose.pair(passed, others)
    varied, twins = _diversified(window.edition, cards)
    kept, capped = compose.cap(varied, order.limits)
    return compose.Choice(tuple(kept), dropped | joined | twins | capped)


def _diversified(edition: Edition, cards: Sequence[compose.Card]) -> tuple[list[compose.Card], dict[str, str]]:
    """Let near twins of better cards give way."""
    chosen = diversify(edition, [card.ranked for card in cards])
    kept = {each.item.key for each in chosen.kept}
    twins = {each.ranked.item.key: compose.TWIN for each in chosen.dropped}
    return [card for card in cards if card.ranked.item.key in kept], twins


def _keys(item: Item, partner: Item | None) -> tuple[str, ...]:
    return (item.key, *item.aliases, *((partner.key,) if partner is not None else ()))
