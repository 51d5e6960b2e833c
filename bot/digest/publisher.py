"""Makes digests, each in one walk: recent items → selection → summaries → composing; and explains single items."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

from bot.digest import compose
from bot.digest.left_out import MOST, left_out, still_candidates
from bot.digest.recent_items import IndexedItems, RecentItems
from bot.digest.request import stored_since
from bot.digest.selection import (
    NOT_IN_TIME,
    QUERY,
    SOURCE,
    SelectionContext,
    ToSelect,
    is_posted,
    least,
    outcome,
    rank_together,
    select,
    stands_in,
    try_filters,
    with_place,
)
from bot.digest.topic_vectors import TopicVectors
from bot.models import (
    Digest,
    DigestRequest,
    FilterTest,
    Item,
    ItemOutcome,
    LeftOut,
    Position,
    Ranked,
    Summary,
    Topic,
    Window,
)
from bot.ports.store import Store
from bot.ports.summaries import Summariser
from bot.ports.vectors import Embedder
from bot.rank import Candidates, all_items, description_text
from bot.rank.events import LATELY
from bot.rank.feedback import marked_items
from bot.wording import counted

# Summaries made at the same time; an LLM endpoint takes a few requests at once, extraction is bound by the processor.
AT_ONCE = 4


class _Considered(NamedTuple):
    """What a digest looks at, and by what it is judged."""

    context: SelectionContext
    indexed: IndexedItems
    candidates: Candidates
    still: Mapping[str, LeftOut]  # what fell to the cap of earlier digests and is a candidate still, by key
    carried: frozenset[str]  # the keys of those of them that did not arrive in the window
    happened: frozenset[str]  # the keys of repositories that arrived before, to which something happened


class Publisher:
    """Makes digests from what is stored, and previews them: bot.ports.digests.DigestMaker and Previewer."""

    def __init__(
        self, store: Store, summariser: Summariser, titles: Mapping[str, str], embedder: Embedder | None = None
    ) -> None:
        """`titles` gives every source's name for people by its name: those that a coverage footer lists.

        Without an embedder items are near to others by their words alone.
        """
        self._store = store
        self._summariser = summariser
        self._titles = titles
        self._recent_items = RecentItems(store.items, store.vectors, space=embedder.space if embedder else "")
        self._topic_vectors = TopicVectors(store.vectors, embedder)

    async def publish(self, requests: Sequence[DigestRequest], now: datetime, *, record: bool = False) -> list[Digest]:
        """Make the digests in their order; an item that stands in one is not repeated in the next of the same channel.

        With `record`, each is saved and its entries count as posted; without, it is a preview and nothing is changed.
        """
        digests = []
        shown: dict[tuple[str, str], set[str]] = {}
        for request in requests:
            here = shown.setdefault((request.workspace, request.channel), set())
            digest = await self._digest(request, here, now, exact=True)
            if record:
                await self._store.digests.save(request.workspace, request.channel, digest, now)
            here.update(key for entry in digest.entries for key in _keys(entry.ranked.item, entry.partner))
            digests.append(digest)
        return digests

    async def preview(self, request: DigestRequest, now: datetime) -> Digest:
        """Return the request's digest as it would be made now, ages and paces as of a few minutes ago at most."""
        return await self._digest(request, (), now)

    async def make(self, request: DigestRequest, now: datetime) -> Digest:
        """Return the request's digest to be posted: the one that a preview shows. Who posts it records it."""
        return await self.preview(request, now)

    async def explain(self, request: DigestRequest, item: Item, now: datetime) -> ItemOutcome:
        """Return what becomes of the item in the digest that would be made now, by the steps that make it.

        An item that has come to be known under another key is the item of the answer. One that did not arrive in the
        digest's window, or is not stored, is judged as if it had; the reason is that it did not.
        """
        window, since = await self._window(request, now)
        item = await self._as_stored(item)
        context, indexed, candidates, still, carried, _ = await self._considered(request, window, (), now)
        ours = next((each for each in candidates.items if each.key == item.key), None)
        judged = candidates if ours else await self._candidates_with(indexed, candidates, item)

        def judge() -> ItemOutcome:
            found = outcome(request, ours or item, select(request, judged, context), since=since, now=indexed.index.now)
            return found if judged.index is indexed.index else with_place(found, request, candidates, context)

        found = await indexed.in_thread(judge)
        if ours is None:
            return replace(found, reason=NOT_IN_TIME, otherwise=found.reason)
        return replace(found, carried=still[ours.key].since) if ours.key in carried else found

    async def try_filter(self, request: DigestRequest, since: datetime, now: datetime, *, shown: int = 3) -> FilterTest:
        """Try the request's filter, and its topic's, on what was first seen since; `shown` items of either outcome.

        What was no news when it was first seen does not count as in the topic: no filter would have it posted.
        """
        window = await self._window_since(since, now)
        indexed = await self._indexed_items(request, window, now)
        candidates, context = indexed.candidates(window), await self._topic_context(request)
        return await indexed.in_thread(lambda: try_filters(request, candidates, context, shown))

    async def score(
        self, request: DigestRequest, items: Sequence[Item], now: datetime, *, first: int = 0, last: int | None = None
    ) -> Sequence[Ranked]:
        """Return those of the items that enter the request's topic, scored as for its digest, best first; no filter holds.

        Those from the `first` rank to before the `last` have reasons.
        """
        indexed = await self._indexed_items(request, await self._window_since(now - request.window, now), now)
        strangers = [item for item in items if not indexed.contains(item)]
        groups = [indexed.only(items), all_items(await self._recent_items.beside(indexed, strangers))]
        context = await self._topic_context(request)
        return await indexed.in_thread(lambda: rank_together(request, groups, context, slice(first, last)))

    async def summary(self, item: Item, now: datetime) -> Summary:
        """Return the four parts of one item, as a digest would say them."""
        return await self._summariser.summarise(item, now)

    # --- when

    async def _window(self, request: DigestRequest, now: datetime) -> tuple[Window, datetime]:
        """Return the arrivals that the digest looks at, and for people when they begin.

        The last arrival is read first, and once: what is stored from then on is left to the next digest.
        """
        last = await self._store.items.last_arrival()
        through = last if request.through is None else min(last, request.through)
        place = (request.workspace, request.channel, request.topic.name, request.rhythm)
        # Before what was posted is read: what is dropped in between is looked at once more, and not lost.
        dropped, latest = await self._store.digests.unposted(*place), await self._store.digests.last(*place)
        ended = latest[1] if latest else None
        begins = await self._begins(request, ended, dropped.begins if dropped else None, now)
        window = Window(
            after=min(begins.arrival, through),
            through=through,
            follows=ended.arrival if ended else 0,
            makes_up=dropped.number if dropped else 0,
        )
        return window, min(begins.time, now)

    async def _begins(
        self, request: DigestRequest, ended: Position | None, dropped: Position | None, now: datetime
    ) -> Position:
        """Return where the digest begins: where the last one ended, but not before its baseline; or where a dropped one did.

        `ended` is where the channel's last digest of the topic did, `dropped` where one began that was dropped since.
        What that looked at is left out by no later baseline, which a pause may have set, but by that of the subscription.
        """
        if not request.since_last:
            ended, dropped = await self._position(now - request.window, now), None
        baseline = await self._baseline(request, ended, now)
        if baseline is None:
            return min(filter(None, (ended, dropped)), default=None) or await self._position(now - request.window, now)
        begins = max(ended, baseline) if ended else baseline
        if request.reach_back and begins == baseline:
            begins = min(baseline, await self._position(now - request.window, now))
        return min(begins, replace(dropped, arrival=max(dropped.arrival, request.made_arrival))) if dropped else begins

    async def _baseline(self, request: DigestRequest, ended: Position | None, now: datetime) -> Position | None:
        """Return where the request's baseline lies, None where it has none that holds.

        One that is but a time, set by a pause that was to end after it, holds for the first digest after that.
        """
        time = request.baseline
        if time is None or request.baseline_arrival is not None:
            return None if time is None else Position(request.baseline_arrival or 0, time)
        if time > now or (ended is not None and ended.time >= time):
            return None
        found = await stored_since(self._store.items, time, now)
        return replace(found, arrival=max(found.arrival, request.made_arrival))

    async def _position(self, time: datetime, now: datetime) -> Position:
        """Return where what was first seen from then on begins."""
        return Position(await self._store.items.arrival_before(time, now), time)

    async def _window_since(self, since: datetime, now: datetime) -> Window:
        """Return the arrivals since then."""
        through = await self._store.items.last_arrival()
        return Window((await self._position(since, now)).arrival, through)

    async def _indexed_items(self, request: DigestRequest, window: Window, now: datetime) -> IndexedItems:
        return await self._recent_items.indexed(window.after, request.limits.max_age, now)

    # --- what

    async def _digest(self, request: DigestRequest, shown: Collection[str], now: datetime, *, exact: bool = False) -> Digest:
        window, since = await self._window(request, now)
        considered = await self._considered(request, window, shown, now, exact=exact)
        context, indexed, candidates, still, carried, happened = considered
        selection = await indexed.select(ToSelect(request, candidates, context))
        summaries = await self._summaries([card.ranked.item for card in selection.cards], now)
        states = [(title, await self._store.source_states.get(name)) for name, title in self._asked(request.topic)]
        # What happened to a repository outside the topic is counted nowhere: each digest of a week would see it.
        apart = {key for key in happened if selection.dropped.get(key) in (QUERY, SOURCE)}
        looked_at = [item for item in candidates.items if item.key not in apart] if apart else candidates.items
        coverage = compose.coverage(looked_at, selection.dropped, states, since=since, now=now)
        notes = (*coverage.notes, *_by_words_alone(request.topic, context, candidates, indexed))
        made = await asyncio.to_thread(
            partial(compose.digest, coverage=replace(coverage, notes=notes), window=window, since=since, now=now),
            request.topic,
            selection.cards,
            summaries,
        )
        # What happened to a repository comes after the window: what looks at it again need not go back to its arrival.
        arrivals = {**indexed.arrivals, **dict.fromkeys(happened, window.through + 1)}
        moved = [each.ranked for each in made.entries if each.ranked.item.key in happened]
        others = left_out(request, selection, arrivals, still, now)
        return replace(
            made,
            subscription=request.subscription,
            rhythm=request.rhythm or "",
            again=tuple(each.key for each in _items(made) if stands_in(each, context.posted)),
            left_out=others[:MOST],
            others=len(others),
            above=len(selection.passed),
            cap=request.limits.entries,
            min_score=least(request),
            carried=(
                *(replace(still[key], key=key) for key in sorted(carried)),
                *(LeftOut(each.item.key, "", 0, each.score, arrival=window.through + 1) for each in moved),
            ),
        )

    async def _considered(
        self, request: DigestRequest, window: Window, shown: Collection[str], now: datetime, *, exact: bool = False
    ) -> _Considered:
        """Return what the digest looks at: what arrived in its window, is carried on, or had something happen to it."""
        still, begin = await self._still_candidates(request, window, now)
        indexed = await self._recent_items.indexed(begin, request.limits.max_age, now, exact=exact)
        context = await self._context(request, indexed, shown)
        found = filter(None, map(indexed.item, still))
        carried = frozenset(
            item.key for item in found if not is_posted(item, context.posted, now) and not indexed.arrived_in(item, window)
        )
        moved = indexed.happened_to(window, _told_from(request, now)) if request.since_last else ()
        fresh = (item for item in moved if not is_posted(item, context.posted, now))
        happened = frozenset(item.key for item in fresh if item.key not in carried)
        return _Considered(context, indexed, indexed.candidates(window, carried | happened), still, carried, happened)

    async def _still_candidates(
        self, request: DigestRequest, window: Window, now: datetime
    ) -> tuple[Mapping[str, LeftOut], int]:
        """Return what fell to the cap of earlier digests, by the key that it has now, and after which arrival all begins.

        Nothing fell where a span is asked for. What has become one with another since has that one's arrival.
        """
        if not request.since_last:
            return {}, window.after
        digests, topic = self._store.digests, request.topic.name
        past = await digests.past(request.workspace, request.channel, topic=topic, rhythm=request.rhythm)
        left = still_candidates(past, request.baseline, now, made_arrival=request.made_arrival)
        known = await self._store.items.find(left) if left else {}
        begins = [window.after, *(each.arrival - 1 for each in left.values())]
        seen = [item.seen for key, item in known.items() if item.key != key and item.seen]
        if seen:
            begins.append(await self._store.items.arrival_before(min(seen), now))
        return {known[key].key: each for key, each in left.items() if key in known}, min(begins)

    async def _candidates_with(self, indexed: IndexedItems, candidates: Candidates, item: Item) -> Candidates:
        """Return the candidates with another item; that alone, where the index does not hold it."""
        if indexed.contains(item):
            return Candidates((*candidates.items, item), candidates.index, candidates.among | indexed.only([item]).among)
        return all_items(await self._recent_items.beside(indexed, [item]))

    async def _context(self, request: DigestRequest, indexed: IndexedItems, shown: Collection[str]) -> SelectionContext:
        posted = await self._store.digests.posted(request.workspace, request.channel)
        return replace(
            await self._topic_context(request), posted=posted - set(shown), shown=shown, partners=indexed.partners
        )

    async def _topic_context(self, request: DigestRequest) -> SelectionContext:
        """Return what the topic's description and examples, and what people said of items, say of it."""
        given = await self._store.people.feedback(request.workspace, request.topic.name)
        known = await self._store.items.find({each.key for each in given})
        examples, marked = await self._examples(request.topic), marked_items(given, known)
        items = [*(each for each in examples if isinstance(each, Item)), *(each.item for each in marked)]
        texts = [*filter(None, [description_text(request.topic)]), *(each for each in examples if isinstance(each, str))]
        return SelectionContext(examples=examples, marked=marked, vectors=await self._topic_vectors.vectors(items, texts))

    def _asked(self, topic: Topic) -> list[tuple[str, str]]:
        wanted = topic.sources
        return [
            (name, title) for name, title in self._titles.items() if not wanted or {name, name.split(":")[0]} & set(wanted)
        ]

    async def _examples(self, topic: Topic) -> list[Item | str]:
        """Return for a known item's key the item, and a text as it is; an unknown key helps nobody."""
        known = await self._store.items.find(topic.examples)
        return [known.get(each, each) for each in topic.examples if each in known or " " in each]

    async def _as_stored(self, item: Item) -> Item:
        names = (item.key, *item.aliases)
        known = await self._store.items.find(names)
        return next((known[name] for name in names if name in known), item)

    async def _summaries(self, items: Sequence[Item], now: datetime) -> list[Summary]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(item: Item) -> Summary:
            async with gate:
                return await self._summariser.summarise(item, now)

        return list(await asyncio.gather(*map(one, items)))


def _told_from(request: DigestRequest, now: datetime) -> datetime:
    """Return from when on things that happened are told: nothing from before a subscription was made, or a pause ended."""
    holds = request.baseline is not None and request.baseline <= now and not request.reach_back
    return request.baseline if holds and request.baseline else now - LATELY


def _by_words_alone(topic: Topic, context: SelectionContext, candidates: Candidates, indexed: IndexedItems) -> Iterator[str]:
    """Say what had no vector where others were compared by theirs."""
    compared = {each.key if isinstance(each, Item) else each for each in context.examples}
    compared |= {each.item.key for each in context.marked}
    description = description_text(topic)
    if not ((compared or description) and indexed.vectors_mark):
        return
    if description and description not in context.vectors:
        yield "the topic's description was compared by words alone: no vector could be had in time"
    if missing := len(compared - context.vectors.keys()):
        was = "was" if missing == 1 else "were"
        yield f"{counted(missing, 'example')} {was} compared by words alone: no vector could be had in time"
    if lacking := sum(item.key in indexed.lacking for item in candidates.items):
        was = "was" if lacking == 1 else "were"
        yield f"{counted(lacking, 'item')} had no vector yet and {was} compared by words alone"


def _items(digest: Digest) -> Iterator[Item]:
    return (entry.ranked.item for entry in digest.entries)


def _keys(*items: Item | None) -> list[str]:
    return [key for item in items if item is not None for key in (item.key, *item.aliases)]
