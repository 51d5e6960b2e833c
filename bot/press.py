"""The round of publishing: rank → summarise → compose → save, per digest; and what becomes of single items in it."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot import compose
from bot.choosing import Choice, Knowledge, asks_for_score, choose, fate, filtering, news, try_on
from bot.models import And, Digest, Fate, Item, Order, Ranked, Summary, Topic, Trial
from bot.ports import Store, Summariser
from bot.query import matches
from bot.rank import Edition, rank
from bot.rank.lessons import lessons_of
from bot.windows import Picked, Window, Windows, fresh

# Summaries made at the same time; an LLM endpoint takes a few requests at once, extraction is bound by the processor.
AT_ONCE = 4

# At most so many items beside those that are scored, taken evenly from what else was seen: how rare a word is should be
# counted over a day's papers, not over those of one topic. Of a week of arXiv, no score of sixteen topics is then more than
# 0.01 from that among all papers of the week; alone it is up to 0.03, in small topics most.
BESIDE = 600

# Where a topic lets in more items, as the query `a` does, they are counted and so many of them are ranked: to index 8,000
# takes three seconds of a processor. The topics that come with Broadsheet let in 80 to 1,500 of a week of arXiv.
BROAD, OF_BROAD = 2_000, 1_000


class Publisher:
    """Makes digests from what is stored: bot.ports.Maker, and bot.ports.Press for who only wants to know."""

    def __init__(self, store: Store, summariser: Summariser, titles: Mapping[str, str]) -> None:
        """`titles` gives every source's name for people by its name: those that a coverage footer lists."""
        self._store = store
        self._summariser = summariser
        self._titles = titles
        self._windows = Windows(store)

    async def publish(self, orders: Sequence[Order], now: datetime, *, record: bool = False) -> list[Digest]:
        """Make the digests in their order; an item that stands in one is not repeated in the next of the same channel.

        With `record`, each is saved and its entries count as posted; without, it is a preview and nothing is changed.
        """
        digests = []
        shown: dict[tuple[str, str], set[str]] = {}
        windows: dict[tuple[datetime, timedelta], Window] = {}
        for order in orders:
            since, max_age = await self._since(order, now), order.limits.max_age
            if (since, max_age) not in windows:
                items = await self._windows.items(since, now)
                windows[since, max_age] = await self._windows.made(items, fresh(max_age, now), now)
            here = shown.setdefault((order.workspace, order.channel), set())
            digest = await self._digest(order, windows[since, max_age], here, since, now)
            if record:
                await self._store.save_digest(order.workspace, order.channel, digest, now)
            here.update(key for entry in digest.entries for key in _keys(entry.ranked.item, entry.partner))
            digests.append(digest)
        return digests

    async def preview(self, order: Order, now: datetime) -> Digest:
        """Return the order's digest as it would be made now, judged as of a few minutes ago at most."""
        since = await self._since(order, now)
        window = await self._window(order, await self._windows.items(since, now), now)
        return await self._digest(order, window, (), since, now)

    async def make(self, order: Order, now: datetime) -> Digest:
        """Return the order's digest to be posted: the one that a preview shows. Who posts it records it."""
        return await self.preview(order, now)

    async def explain(self, order: Order, item: Item, now: datetime) -> Fate:
        """Return what becomes of the item in the digest that would be made now, by the steps that make it.

        An item that has come to be known under another key is the item of the answer. One that was not first seen in the
        digest's time, or is not stored, is judged as if it had been; the reason is that it was not.
        """
        item = await self._known(item)
        since = await self._since(order, now)
        items = await self._windows.items(since, now)
        ours = next((each for each in items if each.key == item.key), None)
        if not ours:
            # What does not enter the topic needs no comparison with the others.
            items = (*items, item) if matches(order.topic.query.tree, item, now) else (item,)
        window = await self._window(order, items, now)
        choice = await self._choice(order, window, ())
        told = fate(order, ours or item, choice, since=since, now=window.edition.now)
        return told if ours else replace(told, reason=compose.NOT_IN_TIME, otherwise=told.reason)

    async def try_filter(self, order: Order, since: datetime, now: datetime, *, shown: int = 3) -> Trial:
        """Try the order's filter, and its topic's, on what was first seen since; `shown` items of either outcome.

        What was no news when it was first seen does not count as in the topic: no filter would have it posted. Only what
        enters is indexed, with some of the rest beside it: the scores are those of the digest to a hundredth. Of a topic
        that more than BROAD items enter, all are counted, and the best of OF_BROAD of them, taken evenly, are shown.
        """
        seen = await self._store.count(And(()), now, since=since)
        found = await self._store.matching(order.topic.query.tree, now, since=since)
        entered = await asyncio.to_thread(news, order, found, now)
        passed = await self._passed(order, entered, since, now) if len(entered) > BROAD else None
        tried = entered if passed is None else await asyncio.to_thread(_of_both, entered, passed)
        lately = await self._windows.items(now - order.window, now)
        window = await self._windows.kept("tried", tried, lambda items: Picked(items, _some(lately)), now)
        taught = await self._taught(order)
        trial = await window.work(lambda _, edition: try_on(order, seen, edition, taught, shown))
        return trial if passed is None else replace(trial, entered=len(entered), passed=len(passed))

    async def _passed(self, order: Order, entered: Sequence[Item], since: datetime, now: datetime) -> set[str] | None:
        """Return the keys of those that the filters let through, as the store finds them; None where a score decides."""
        tree = filtering(order)
        if asks_for_score(tree):
            return None
        found = await self._store.matching(And((order.topic.query.tree, tree)), now, since=since)
        return {item.key for item in found} & {item.key for item in entered}

    async def score(self, order: Order, items: Sequence[Item], now: datetime) -> Sequence[Ranked]:
        """Return those of the items that enter the order's topic, scored as for its digest, best first; no filter holds."""
        lately = await self._windows.items(now - order.window, now)
        window = await self._windows.kept("scored", items, lambda items: Picked(items, _some(lately)), now)
        taught = await self._taught(order)
        return await window.work(
            lambda _, edition: rank(edition, order.topic, examples=taught.examples, lessons=taught.lessons)
        )

    async def summary(self, item: Item, now: datetime) -> Summary:
        """Return the four parts of one item, as a digest would say them."""
        return await self._summariser.summarise(item, now)

    # --- when

    async def _since(self, order: Order, now: datetime) -> datetime:
        last = await self._store.last_digest(order.workspace, order.channel, order.topic.name) if order.since_last else None
        # A digest that ended after now, and a subscription that began then, were made by a clock that had run ahead.
        begins = now - order.window if last is None or last[1] > now else last[1]
        return begins if order.baseline is None or order.baseline > now else max(begins, order.baseline)

    async def _window(self, order: Order, items: Sequence[Item], now: datetime) -> Window:
        max_age = order.limits.max_age
        return await self._windows.kept(max_age, items, fresh(max_age, now), now)

    # --- what

    async def _digest(self, order: Order, window: Window, shown: Collection[str], since: datetime, now: datetime) -> Digest:
        choice = await self._choice(order, window, shown)
        summaries = await self._summaries([card.ranked.item for card in choice.cards], now)
        states = [(title, await self._store.source_state(name)) for name, title in self._asked(order.topic)]
        coverage = compose.coverage(window.items, choice.dropped, states, since=since, now=now)
        return compose.digest(order.topic, choice.cards, summaries, coverage=coverage, since=since, now=now)

    async def _choice(self, order: Order, window: Window, shown: Collection[str]) -> Choice:
        knowledge = await self._known_besides(order, window.edition, shown)
        return await window.work(lambda items, edition: choose(order, items, edition, knowledge))

    async def _known_besides(self, order: Order, edition: Edition, shown: Collection[str]) -> Knowledge:
        halves = {key for item in edition.items for key in (item.repo, item.paper) if key}
        posted = await self._store.posted(order.workspace, order.channel)
        return replace(
            await self._taught(order), posted=posted - set(shown), shown=shown, partners=await self._store.find(halves)
        )

    async def _taught(self, order: Order) -> Knowledge:
        """What the topic is told by its examples, and by what people said of items."""
        given = await self._store.feedback(order.workspace, order.topic.name)
        marked = await self._store.find({each.key for each in given})
        return Knowledge(examples=await self._examples(order.topic), lessons=lessons_of(given, marked))

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


def _some(items: Sequence[Item], most: int = BESIDE) -> Sequence[Item]:
    return items[:: len(items) // most + 1]


def _of_both(entered: Sequence[Item], passed: Collection[str]) -> Sequence[Item]:
    """Some of what passed and some of what did not, in their order."""
    halves = ([item for item in entered if (item.key in passed) is either] for either in (True, False))
    chosen = {item.key for half in halves for item in _some(half, OF_BROAD // 2)}
    return [item for item in entered if item.key in chosen]


def _keys(*items: Item | None) -> list[str]:
    return [key for item in items if item is not None for key in (item.key, *item.aliases)]
