"""The items, the search and the vectors in dictionaries."""

import asyncio
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

from bot.models import Hit, Item, Kind, Near, Page, Query, Reading, SourceState, Tree, WordUse
from bot.models.queries import COUNTED
from bot.ports.items import NOTHING_READ, ItemChange, Making
from bot.query.fields import date_of, fold_label, values_of
from bot.query.match import Folded, matches
from bot.store.records import newness
from bot.store.rules.abbreviations import abbreviations_in
from bot.store.rules.halves import Card, together
from bot.store.rules.pages import UNCOUNTED, ShownLists, read_mark
from bot.store.rules.search_terms import split
from bot.store.sqlite.ingest import index_entry
from tests.stores.memory_search import cosines_of, ranked, similar, telling, use_of
from tests.stores.memory_vectors import MemoryVectors


class MemorySourceStates:
    """bot.ports.source.SourceStates."""

    def __init__(self) -> None:
        self._states: dict[str, SourceState] = {}

    async def get(self, name: str) -> SourceState:
        """Return what is remembered of the source."""
        return self._states.get(name, SourceState(name=name))

    async def save(self, state: SourceState) -> None:
        """Remember it."""
        self._states[state.name] = state


class MemoryItems:
    """bot.ports.items.Items. `known` may be looked at, and is changed here alone."""

    def __init__(self, states: MemorySourceStates) -> None:
        self.known: dict[str, Item] = {}
        self.numbers: dict[str, int] = {}  # of each item, in the order in which they were first stored
        self.vectors = MemoryVectors(self.known, self.numbers)
        self.last = 0
        self._states = states
        self._changes = 0
        self._log: list[int] = [0]  # arrivals of items that were stored or dropped
        self._aliases: dict[str, str] = {}
        self._readings: dict[str, dict[date, Reading]] = {}

    async def find(self, keys: Collection[str]) -> Mapping[str, Item]:
        known = ((key, self.known.get(key) or self.known.get(self._aliases.get(key, ""))) for key in keys)
        return {key: item for key, item in known if item is not None}

    def heir(self, key: str) -> str:
        """Return the key that an item has now that had another; "" of any other key."""
        heir = self._aliases.get(key, "")
        return heir if heir in self.known and key not in self.known else ""

    async def add(
        self,
        items: Sequence[Item],
        now: datetime,
        *,
        retired: Collection[str] = (),
        state: SourceState | None = None,
        known: Mapping[str, Item | None] = NOTHING_READ,
        happened: bool = False,
    ) -> bool:
        if await self.find(known) != {name: item for name, item in known.items() if item is not None}:
            return False
        fresh = {item.key: replace(item, seen=item.seen or now) for item in items}
        heirs = {alias: item.key for item in fresh.values() for alias in item.aliases}
        for key in sorted(set(retired) - fresh.keys()):
            self.drop(key, heirs.get(key))
        for item in fresh.values():
            self._put(item, now)
        self.last += happened
        if state is not None:
            await self._states.save(state)
        return True

    def _put(self, item: Item, now: datetime) -> None:
        self._changes += 1
        self._forget_aliases(item.key)
        self.vectors.forget(item.key, item)
        if item.key not in self.known:
            self.last += 1
            self.numbers[item.key] = self.last
        self._log.append(self.numbers[item.key])
        self.known[item.key] = item
        self._aliases.update(dict.fromkeys(item.aliases, item.key))
        day = now.astimezone(UTC).date()
        reading = Reading(day, item.stars, item.forks, item.upvotes)
        if reading != Reading(day):
            self._readings.setdefault(item.key, {})[reading.day] = reading

    def drop(self, key: str, heir: str | None) -> None:
        self._changes += 1
        self._forget_aliases(key)
        self.vectors.forget(key)
        self.known.pop(key, None)
        if (number := self.numbers.pop(key, None)) is not None:
            self._log.append(number)
        left = self._readings.pop(key, {})
        if heir is not None and left:
            self._readings[heir] = {**left, **self._readings.get(heir, {})}

    def _forget_aliases(self, key: str) -> None:
        for alias in self.known[key].aliases if key in self.known else ():
            if self._aliases.get(alias) == key:
                del self._aliases[alias]

    async def last_arrival(self) -> int:
        return self.last

    async def arrived(self, after: int, through: int | None = None) -> Sequence[tuple[int, Item]]:
        last = self.last if through is None else through
        within = ((self.numbers[key], item) for key, item in self.known.items() if after < self.numbers[key] <= last)
        return sorted(within, key=lambda each: (_seen(each[1]), newness(each[1])), reverse=True)

    async def repositories(self, pushed: datetime, through: int) -> Sequence[tuple[int, Item]]:
        within = ((self.numbers[key], item) for key, item in self.known.items() if self.numbers[key] <= through)
        repositories = (each for each in within if each[1].kind is Kind.REPO)
        found = [each for each in repositories if (at := date_of(each[1], "updated")) is not None and at >= pushed]
        return sorted(found, key=lambda each: -each[0])

    async def arrival_before(self, since: datetime, until: datetime) -> int:
        within = (self.numbers[key] for key, item in self.known.items() if since <= _seen(item) <= until)
        return min(within, default=self.last + 1) - 1

    async def mark(self) -> str:
        """Return how often items or readings were changed."""
        return str(self._changes)

    async def last_change(self) -> int:
        return len(self._log)

    async def changes(self, after: int, *, limit: int) -> Sequence[ItemChange] | None:
        if not 0 < after <= len(self._log):
            return None
        items = {self.numbers[key]: item for key, item in self.known.items()}
        return [
            ItemChange(after + 1 + at, item, items.get(item)) for at, item in enumerate(self._log[after : after + limit])
        ]

    async def readings(self, keys: Collection[str], since: date) -> Mapping[str, Sequence[Reading]]:
        kept = {key: [reading for reading in self._readings.get(key, {}).values() if reading.day >= since] for key in keys}
        return {key: sorted(some, key=lambda reading: reading.day) for key, some in kept.items() if some}

    def prune(
        self, held: Collection[str], items_before: datetime, readings_before: date, now: datetime
    ) -> tuple[list[str], int]:
        """Drop old items that nobody holds, and old readings; return the keys of the former, the number of the latter."""
        young = (self.numbers[key] for key, item in self.known.items() if items_before <= _seen(item) <= now)
        first = min(young, default=self.last + 1)
        old = [item for key, item in self.known.items() if _seen(item) < items_before and self.numbers[key] < first]
        gone = [item.key for item in old if not {item.key, *self._own_aliases(item)}.intersection(held)]
        self._changes += 1
        before = self.count_readings()
        for key in gone:
            self.drop(key, None)
        for days in self._readings.values():
            for day in [day for day in days if day < readings_before]:
                del days[day]
        return gone, before - self.count_readings()

    async def counts(self) -> Mapping[str, int]:
        kinds = [item.kind for item in self.known.values()]
        return {"items": len(kinds), **{f"{kind}s": kinds.count(kind) for kind in Kind}}

    def count_readings(self) -> int:
        return sum(map(len, self._readings.values()))

    def _own_aliases(self, item: Item) -> list[str]:
        """The aliases under which the item is found: not those that are another item's key, or lead to another."""
        return [each for each in item.aliases if each not in self.known and self._aliases.get(each) == item.key]


class MemoryIndex:
    """bot.ports.items.SearchIndex."""

    def __init__(self, items: MemoryItems) -> None:
        self._items = items
        self._lists = ShownLists[str]()

    async def search(
        self,
        query: Query,
        now: datetime,
        *,
        limit: int = 10,
        offset: int = 0,
        mark: str = "",
        near: Near | None = None,
        cards: bool = False,
    ) -> Page:
        last = read_mark(mark, self._items.last)
        space = near.space if near is not None else ""
        shown = self._lists.shown(query, mark, cards=cards, space=space) if mark else ()
        total = self._lists.total(query, mark, cards=cards, space=space) if mark else UNCOUNTED
        known = {key for key, _ in shown}
        found = [pair for pair in self._matching(query, now, last, near) if pair[0] not in known]
        if total[0] is None:
            total = (min(COUNTED + 1, len(found) + len(shown)), False)
        begun = shown[offset : offset + limit + 1]
        rest = self._results(found, query, now, last, known, cards)[max(0, offset - len(shown)) :]
        further = rest[: max(0, limit + 1 - len(begun))]
        results = [*self._results(begun[:limit], query, now, last, (), cards), *further[: max(0, limit - len(begun))]]
        names = [*begun, *((key, card.relevance) for key, card in further)][:limit]
        self._lists.keep(query, str(last), offset, names, cards=cards, space=space, total=total)
        hits = tuple(Hit(card.lead, card.relevance, card.other) for _, card in results)
        return Page(hits, more=len(begun) + len(further) > limit, mark=str(last), total=total[0], about=total[1])

    def _results(
        self,
        found: Sequence[tuple[str, float]],
        query: Query,
        now: datetime,
        last: int,
        shown: Collection[str],
        cards: bool,
    ) -> list[tuple[str, Card]]:
        items = {key: item for key, item in self._items.known.items() if self._items.numbers[key] <= last}
        if not cards:
            return [(key, Card(items[key], relevance)) for key, relevance in found if key in items]
        conditions = split(query.tree)[1] if query.sort == "best" else query.tree
        halves = {key: key for key in items}
        return together(found, items, halves, lambda item: matches(conditions, item, now), shown)

    def _matching(self, query: Query, now: datetime, last: int, near: Near | None) -> list[tuple[str, float]]:
        words, rest = split(query.tree) if query.sort == "best" else ((), query.tree)
        known = (item for item in self._items.known.values() if self._items.numbers[item.key] <= last)
        ordered = sorted(known, key=newness, reverse=True)
        hits = [Hit(item, 0.0) for item in ordered if matches(rest, Folded(item), now)]
        if words:
            meant = near if all(words) else None
            tell = telling(ordered, words, last)
            hits = ranked(hits, words, tell, self._items.numbers, meant, self._items.vectors, now)
        if query.sort in ("stars", "upvotes"):
            hits.sort(key=lambda hit: -(_number(hit.item, query.sort)))
        return [(hit.item.key, hit.relevance) for hit in hits]

    async def similar(self, item: Item, now: datetime, *, limit: int = 10, near: Near | None = None) -> Sequence[Hit]:
        others = tuple(self._items.known.values())
        cosines = cosines_of(others, self._items.numbers, near, self._items.vectors)
        return await asyncio.to_thread(
            similar, item, others, self._items.last, limit, cosines, near.enough if near else math.inf
        )

    async def values(self, field: str, beginning: str, *, limit: int = 25) -> Sequence[tuple[str, int]]:
        start = fold_label(beginning)
        every = Counter(pair for item in self._items.known.values() for pair in values_of(item))
        begun = ((value, number) for (name, value), number in every.items() if name == field and value.startswith(start))
        return sorted(begun, key=lambda pair: (-pair[1], pair[0]))[: max(0, limit)]

    async def word_use(self, words: Sequence[str]) -> Mapping[str, WordUse]:
        return {word: use_of(self._items.known.values(), word) for word in words}

    async def stands_for(self, spelt: Sequence[str]) -> Mapping[str, Sequence[tuple[str, int]]]:
        pairs = [pair for item in self._items.known.values() for pair in abbreviations_in(item)]
        counts = Counter(each for pair in pairs for each in (pair, pair[::-1]))
        found = {
            each: sorted(((to, number) for (one, to), number in counts.items() if one == each), key=lambda to: (-to[1], to))
            for each in spelt
        }
        return {each: standing[:3] for each, standing in found.items() if standing}

    async def count(self, tree: Tree, now: datetime, *, since: datetime | None = None) -> int:
        young = (item for item in self._items.known.values() if since is None or _seen(item) >= since)
        return sum(matches(tree, Folded(item), now) for item in young)

    async def matching(self, tree: Tree, now: datetime, *, since: datetime) -> Sequence[Item]:
        found = (item for item in self._items.known.values() if _seen(item) >= since and matches(tree, Folded(item), now))
        return sorted(found, key=lambda item: (_seen(item), newness(item)), reverse=True)

    async def months(self, tree: Tree, now: datetime) -> Mapping[date, int]:
        days = (date_of(item, "published") for item in self._items.known.values() if matches(tree, Folded(item), now))
        return Counter(day.astimezone(UTC).date().replace(day=1) for day in days if day is not None)

    async def texts(self, tree: Tree, now: datetime, *, limit: int) -> Sequence[tuple[str, str]]:
        found = [item for item in self._items.known.values() if matches(tree, Folded(item), now)]
        found.sort(key=lambda item: (index_entry(item).fingerprint(), self._items.numbers[item.key]))
        return [(item.title, item.abstract) for item in found[:limit]]

    async def making(self) -> Making | None:
        return None


def _seen(item: Item) -> datetime:
    assert item.seen is not None
    return item.seen


def _number(item: Item, name: str) -> float:
    value = item.stars if name == "stars" else item.upvotes
    return -1 if value is None else value
