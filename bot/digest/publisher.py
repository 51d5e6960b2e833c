"""The round of publishing: rank → summarise → compose → save, per digest; and what becomes of single items in it."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.digest import compose
from bot.digest.recent_items import IndexedItems, RecentItems
from bot.digest.selection import SelectionContext, choose, fate, placed, rank_together, try_on
from bot.digest.topic_vectors import TopicVectors
from bot.models import Digest, DigestRequest, FilterTest, Item, ItemOutcome, Ranked, Summary, Topic
from bot.ports.store import Store, Summariser
from bot.ports.vectors import Embedder
from bot.rank import Candidates, all_items
from bot.rank.lessons import lessons_of

# Summaries made at the same time; an LLM endpoint takes a few requests at once, extraction is bound by the processor.
AT_ONCE = 4


class Publisher:
    """Makes digests from what is stored, as bot.ports.store.DigestMaker, and previews them, as bot.ports.store.Previewer."""

    def __init__(
        self, store: Store, summariser: Summariser, titles: Mapping[str, str], embedder: Embedder | None = None
    ) -> None:
        """`titles` gives every source's name for people by its name: those that a coverage footer lists.

        Without an embedder items are near to others by their words alone.
        """
        self._store = store
        self._summariser = summariser
        self._titles = titles
        self._windows = RecentItems(store, space=embedder.space if embedder else "")
        self._meanings = TopicVectors(store, embedder)

    async def publish(self, orders: Sequence[DigestRequest], now: datetime, *, record: bool = False) -> list[Digest]:
        """Make the digests in their order; an item that stands in one is not repeated in the next of the same channel.

        With `record`, each is saved and its entries count as posted; without, it is a preview and nothing is changed.
        """
        digests = []
        shown: dict[tuple[str, str], set[str]] = {}
        for order in orders:
            since = await self._since(order, now)
            stock = await self._stock(order, since, now, exact=True)
            here = shown.setdefault((order.workspace, order.channel), set())
            digest = await self._digest(order, stock, here, since, now)
            if record:
                await self._store.save_digest(order.workspace, order.channel, digest, now)
            here.update(key for entry in digest.entries for key in _keys(entry.ranked.item, entry.partner))
            digests.append(digest)
        return digests

    async def preview(self, order: DigestRequest, now: datetime) -> Digest:
        """Return the order's digest as it would be made now, ages and paces as of a few minutes ago at most."""
        since = await self._since(order, now)
        return await self._digest(order, await self._stock(order, since, now), (), since, now)

    async def make(self, order: DigestRequest, now: datetime) -> Digest:
        """Return the order's digest to be posted: the one that a preview shows. Who posts it records it."""
        return await self.preview(order, now)

    async def explain(self, order: DigestRequest, item: Item, now: datetime) -> ItemOutcome:
        """Return what becomes of the item in the digest that would be made now, by the steps that make it.

        An item that has come to be known under another key is the item of the answer. One that was not first seen in the
        digest's time, or is not stored, is judged as if it had been; the reason is that it was not.
        """
        item = await self._known(item)
        since = await self._since(order, now)
        stock = await self._stock(order, since, now)
        span = stock.span(since, now)
        ours = next((each for each in span.items if each.key == item.key), None)
        judged = span if ours else await self._with(stock, span, item)
        knowledge = await self._known_besides(order, stock, ())

        def judge() -> ItemOutcome:
            told = fate(order, ours or item, choose(order, judged, knowledge), since=since, now=stock.edition.now)
            return told if judged.edition is stock.edition else placed(told, order, span, knowledge)

        told = await stock.work(judge)
        return told if ours else replace(told, reason=compose.NOT_IN_TIME, otherwise=told.reason)

    async def try_filter(self, order: DigestRequest, since: datetime, now: datetime, *, shown: int = 3) -> FilterTest:
        """Try the order's filter, and its topic's, on what was first seen since; `shown` items of either outcome.

        What was no news when it was first seen does not count as in the topic: no filter would have it posted.
        """
        stock = await self._stock(order, since, now)
        span, taught = stock.span(since, now), await self._taught(order)
        return await stock.work(lambda: try_on(order, span, taught, shown))

    async def score(
        self, order: DigestRequest, items: Sequence[Item], now: datetime, *, first: int = 0, last: int | None = None
    ) -> Sequence[Ranked]:
        """Return those of the items that enter the order's topic, scored as for its digest, best first; no filter holds.

        Those from the `first` rank to before the `last` have reasons.
        """
        stock = await self._stock(order, now - order.window, now)
        strangers = [item for item in items if not stock.holds(item)]
        spans = [stock.only(items), all_items(await self._windows.beside(stock, strangers))]
        taught = await self._taught(order)
        return await stock.work(lambda: rank_together(order, spans, taught, slice(first, last)))

    async def summary(self, item: Item, now: datetime) -> Summary:
        """Return the four parts of one item, as a digest would say them."""
        return await self._summariser.summarise(item, now)

    # --- when

    async def _since(self, order: DigestRequest, now: datetime) -> datetime:
        begins = await self._since_last(order, now) if order.since_last else now - order.window
        return begins if order.baseline is None or order.baseline > now else max(begins, order.baseline)

    async def _since_last(self, order: DigestRequest, now: datetime) -> datetime:
        """Return where the last digest ended, or, where one was dropped since, that one began: as far back as news goes."""
        place = (order.workspace, order.channel, order.topic.name)
        last, dropped = await self._store.last_digest(*place), await self._store.unposted_since(*place)
        # A digest that ended after now, and a subscription that began then, were made by a clock that had run ahead.
        begins = now - order.window if last is None or last[1] > now else last[1]
        return begins if dropped is None else min(begins, max(dropped, now - order.limits.max_age))

    async def _stock(self, order: DigestRequest, since: datetime, now: datetime, *, exact: bool = False) -> IndexedItems:
        return await self._windows.stock(since, order.limits.max_age, now, exact=exact)

    # --- what

    async def _digest(
        self, order: DigestRequest, stock: IndexedItems, shown: Collection[str], since: datetime, now: datetime
    ) -> Digest:
        span = stock.span(since, now)
        knowledge = await self._known_besides(order, stock, shown)
        choice = await stock.work(lambda: choose(order, span, knowledge))
        summaries = await self._summaries([card.ranked.item for card in choice.cards], now)
        states = [(title, await self._store.source_state(name)) for name, title in self._asked(order.topic)]
        coverage = compose.coverage(span.items, choice.dropped, states, since=since, now=now)
        return compose.digest(order.topic, choice.cards, summaries, coverage=coverage, since=since, now=now)

    async def _with(self, stock: IndexedItems, span: Candidates, item: Item) -> Candidates:
        """The span with another item in it; by itself, where the index does not hold it."""
        if stock.holds(item):
            return Candidates((*span.items, item), span.edition, span.among | stock.only([item]).among)
        return all_items(await self._windows.beside(stock, [item]))

    async def _known_besides(self, order: DigestRequest, stock: IndexedItems, shown: Collection[str]) -> SelectionContext:
        posted = await self._store.posted(order.workspace, order.channel)
        return replace(await self._taught(order), posted=posted - set(shown), shown=shown, partners=stock.halves)

    async def _taught(self, order: DigestRequest) -> SelectionContext:
        """What the topic is told by its examples, and by what people said of items."""
        given = await self._store.feedback(order.workspace, order.topic.name)
        marked = await self._store.find({each.key for each in given})
        examples, lessons = await self._examples(order.topic), lessons_of(given, marked)
        items = [*(each for each in examples if isinstance(each, Item)), *(each.item for each in lessons)]
        texts = [each for each in examples if isinstance(each, str)]
        return SelectionContext(examples=examples, lessons=lessons, vectors=await self._meanings.vectors(items, texts))

    def _asked(self, topic: Topic) -> list[tuple[str, str]]:
        wanted = topic.sources
        return [
            (name, title) for name, title in self._titles.items() if not wanted or {name, name.split(":")[0]} & set(wanted)
        ]

    async def _examples(self, topic: Topic) -> list[Item | str]:
        """An example that is a key of a known item becomes that item; a text stays a text; an unknown key helps nobody."""
        known = await self._store.find(topic.examples)
        return [known.get(each, each) for each in topic.examples if each in known or " " in each]

    async def _known(self, item: Item) -> Item:
        names = (item.key, *item.aliases)
        known = await self._store.find(names)
        return next((known[name] for name in names if name in known), item)

    async def _summaries(self, items: Sequence[Item], now: datetime) -> list[Summary]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(item: Item) -> Summary:
            async with gate:
                return await self._summariser.summarise(item, now)

        return list(await asyncio.gather(*map(one, items)))


def _keys(*items: Item | None) -> list[str]:
    return [key for item in items if item is not None for key in (item.key, *item.aliases)]
