"""The items of one day, indexed once for all topics; and which of them a digest looks at."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache

import numpy as np

from bot.models import Item, Kind, Reading, ScorePart, Tree
from bot.query.parse import parse
from bot.rank import signals
from bot.rank.clauses import Claims, Clause, ClauseRow, Clauses, Phrase, WeightedMatches
from bot.rank.common_words import Background, with_day
from bot.rank.corpus import Corpus, Floats, Ints, Places
from bot.rank.events import Event, events
from bot.rank.meaning import NO_VECTORS, Embeddings, Vector
from bot.rank.vectors import TfidfVectors
from bot.rank.weights import COMMUNITY, DIGITS, FRESHNESS, TELL, TELL_BOTH, TWIN, TWIN_BOTH

# Numbers that are remembered of what topics asked for, 8 bytes each: clauses in all, and how close all items are to
# examples. Then it starts afresh.
_MOST_OF_CLAUSES, _MOST_CLOSE = 4_000_000, 600_000
# Where so many times fewer items than all are to be compared with a text, they are, one by one; else all are at once.
_FEW = 24
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Texts:
    """What is known of the texts of items: it depends on no time. With a `host`, words are as rare as they are there."""

    def __init__(self, every: Sequence[Item], host: "_Texts | None" = None, before: "_Texts | None" = None) -> None:
        self.every = tuple(every)  # candidates first, then those that are only known
        self.corpus: Corpus = Corpus(self.every, before.corpus if before else None)
        self.vectors: TfidfVectors = TfidfVectors(self.corpus, host.vectors if host else None)
        self.numbers: Mapping[str, int] = _numbers(self.every)  # by key and alias
        self.host = host

    @cached_property
    def background(self) -> Background:
        """How common words are, at large and here."""
        return self.host.background if self.host else with_day(self.vectors.counts(), len(self.every))

    @cached_property
    def by_source(self) -> Mapping[str, Claims]:
        """Which items each source saw, by its name; `feed` stands for every feed."""
        found: dict[str, Claims] = {}
        for number, item in enumerate(self.every):
            for name in {part for source in item.sources for part in (source, source.partition(":")[0])}:
                found.setdefault(name, np.zeros(len(self.every), bool))[number] = True
        return found

    @cached_property
    def papers(self) -> Mapping[str, int]:
        """The paper of each repository that one names, by the repository's key: of several the newest."""
        oldest_first = np.argsort(-self.places).tolist()
        return {self.every[number].repo: number for number in oldest_first if self.every[number].repo}

    @cached_property
    def places(self) -> Ints:
        """Where each item stands among those of the same score: the newer first, then by key."""
        return _places(self.every)


class ItemIndex:
    """The candidates of a day with everything that does not depend on a topic.

    `readings` are the items' by key, as the store gives them. `extra` are items that are no candidates but known: they make
    the counting of rare words steadier on a small day, and examples among them need not be read again. `before` is another
    index, of which the texts that both have are taken over. `vectors` are the items' by key, as bot.models.vectors packs
    them: an item without one is near to others by its words alone. `measured` says that they are of another model than ours.

    Building one takes about 0.3 ms per item of processor time, half of that where its text is taken over, and 11 kB are held
    of each; keep it off the event loop. What it works out for one topic it remembers for the next, within bounds. Not to be
    used by two threads at once.
    """

    _embeddings: Embeddings | None  # of the items, and
    _hosts: Embeddings | None  # of those that these stand beside

    def __init__(
        self,
        items: Sequence[Item],
        readings: Mapping[str, Sequence[Reading]],
        now: datetime,
        extra: Sequence[Item] = (),
        before: "ItemIndex | None" = None,
        vectors: Mapping[str, bytes] = NO_VECTORS,
        *,
        measured: bool = False,
    ) -> None:
        ours = {item.key for item in items}
        every = (*items, *{item.key: item for item in extra if item.key not in ours}.values())
        self._enter(_Texts(every, before=before._texts if before else None), len(items), readings, now)
        self._embeddings = _embeddings(every, vectors, measured=measured)

    def at(self, now: datetime, readings: Mapping[str, Sequence[Reading]]) -> "ItemIndex":
        """Return the same items at another time; nothing of their texts is read again."""
        other = ItemIndex.__new__(ItemIndex)
        other._enter(self._texts, len(self.items), readings, now)
        other._clauses, other._close, other._embeddings = self._clauses.at(now), self._close.copy(), self._embeddings
        other._same = self._same.copy()
        return other

    def with_vectors(self, vectors: Mapping[str, bytes], *, measured: bool = False) -> "ItemIndex":
        """Return the same items at the same time with other vectors."""
        other = copy(self)
        other._clauses, other._read, other._parts, other._close = self._clauses.at(self.now), {}, self._parts.copy(), {}
        other._same = {}
        other._embeddings = _embeddings(self._texts.every, vectors, measured=measured)
        return other

    def beside(
        self,
        items: Sequence[Item],
        readings: Mapping[str, Sequence[Reading]],
        vectors: Mapping[str, bytes] = NO_VECTORS,
    ) -> "ItemIndex":
        """Return other items, as they would be among these: words are as rare, and votes as many, as they are here."""
        other = ItemIndex.__new__(ItemIndex)
        other._enter(_Texts(items, self._texts), len(items), readings, self.now, self._day)
        if self._embeddings is not None:
            other._embeddings = self._embeddings.beside([item.key for item in items], vectors)
            other._hosts = self._embeddings
        return other

    def _enter(
        self,
        texts: _Texts,
        count: int,
        readings: Mapping[str, Sequence[Reading]],
        now: datetime,
        day: signals.DayScale | None = None,
    ) -> None:
        self._texts = texts
        self.items: tuple[Item, ...] = texts.every[:count]
        self.now = now
        self._signals = [signals.community_signals(item, readings.get(item.key, ()), now) for item in self.items]
        self._day = day or signals.day_scale(self._signals)
        pairs = zip(self.items, self._signals, strict=True)
        self._community = [
            round(COMMUNITY * signals.community_value(item, found, self._day), DIGITS) for item, found in pairs
        ]
        self._events = {
            number: events(item, readings.get(item.key, ()), now, self._paper_of(item))
            for number, item in enumerate(self.items)
            if item.kind is Kind.REPO
        }
        self._freshness = [
            round(FRESHNESS * signals.freshness_value(item, self.events(number), now), DIGITS)
            for number, item in enumerate(self.items)
        ]
        self.by_itself: Floats = np.array(self._community) + np.array(self._freshness)
        self._parts: dict[int, tuple[ScorePart, ...]] = {}
        self._embeddings = None
        self._hosts = None
        self._forget()

    def _paper_of(self, item: Item) -> Item | None:
        """The paper of the repository, where it is known here: one that names it, else the one that it names."""
        for texts in filter(None, (self._texts, self._texts.host)):
            number = texts.papers.get(item.key, texts.numbers.get(item.paper))
            if number is not None:
                return texts.every[number]
        return None

    def _forget(self) -> None:
        self._clauses = Clauses(self.items, self._texts.corpus, self.now)
        self._read: dict[str | Tree, Clause] = {}
        self._close: dict[tuple[str | Item, bytes | None], Floats] = {}
        self._same: dict[int, Floats] = {}

    @property
    def places(self) -> Ints:
        """Where each item stands among those of the same score: the newer first, then by key."""
        return self._texts.places

    def admits(self, tree: Tree, scores: Floats | None = None) -> Claims:
        """Return for every item, in the order of `items`, whether the tree holds; the same as bot.query.matches says.

        `scores` are what `score:` asks about, nan where an item has none.
        """
        if self._clauses.size > _MOST_OF_CLAUSES:
            self._forget()
        return self._clauses.matching(tree, scores)

    def clause(self, clause: str | Tree) -> Clause:
        """Return a clause, as text or as a tree, with the items for which it holds; a bad text raises UsageError."""
        found = self._read.get(clause)
        if found is None:
            tree = tree_of(clause) if isinstance(clause, str) else clause
            found = self._read[clause] = self._clauses.look_up(tree)
            self._clauses.size += 2 * len(found.items)
        return found

    def look_up(self, phrases: Iterable[Phrase]) -> None:
        """Look up phrases of many topics together, ahead of what will ask for them."""
        if self._clauses.size > _MOST_OF_CLAUSES:
            self._forget()
        self._clauses.look_up_phrases(phrases)

    def having(self, phrases: Sequence[Phrase]) -> Claims:
        """Return for every item whether it has any of the phrases."""
        return self._clauses.having(phrases)

    def weigh_clauses(self, rows: Sequence[ClauseRow]) -> WeightedMatches:
        """Return how strongly the clauses of some topics, a row for each, hold for the items."""
        return WeightedMatches(rows, self._clauses, len(self.items))

    def parts(self, number: int) -> tuple[ScorePart, ...]:
        """Return the parts of an item's score that are the same for every topic; they add up to `by_itself`."""
        if number not in self._parts:
            item, happened = self.items[number], self.events(number)
            community = signals.community_reason(item, self._signals[number], happened)
            self._parts[number] = (
                ScorePart("community", self._community[number], community),
                ScorePart("freshness", self._freshness[number], signals.freshness_reason(item, happened, self.now)),
            )
        return self._parts[number]

    def events(self, number: int) -> tuple[Event, ...]:
        """Return what happened of late to the repository at this place; () of what is none."""
        return self._events.get(number, ())

    def is_news(self, number: int) -> bool:
        """Say whether the item is news: what is no repository is, and a repository to which something happened of late."""
        return number not in self._events or bool(self._events[number])

    def number(self, key: str) -> int | None:
        """Return the place of the candidate with this key or alias in `items`, None when there is none."""
        number = self._texts.numbers.get(key)
        return number if number is not None and number < len(self.items) else None

    def knows(self, key: str) -> bool:
        """Say whether the key or alias belongs to an item of the index, candidate or extra."""
        return key in self._texts.numbers or (self._texts.host is not None and key in self._texts.host.numbers)

    def from_sources(self, wanted: Collection[str]) -> Claims:
        """Return for every item whether one of the sources saw it; `feed` stands for every feed."""
        claims = np.zeros(len(self.items), bool)
        for name in wanted:
            claims |= self._texts.by_source.get(name, claims)[: len(self.items)]
        return claims

    def closeness(self, example: Item | str, packed: bytes | None = None) -> Floats:
        """Return how close every item is to the example, as a cosine; 0 for the example itself.

        A text that is the key of an item known here stands for that item. `packed` is the vector of an example that is not
        known here. Where both have one, closeness is as bot.rank.meaning says.
        """
        found = self._close.get((example, packed))
        if found is None:
            if len(self._close) * len(self.items) >= _MOST_CLOSE:
                self._close.clear()
            found = self._close[example, packed] = self._measure(example, packed)
        return found

    def compares(self) -> bool:
        """Say whether any item has a vector, by which texts are compared."""
        return self._embeddings is not None and bool(self._embeddings.known.any())

    def closeness_of(self, rows: Sequence[Ints]) -> Callable[[int, Item | str, bytes | None], Floats]:
        """Return what gives, as `closeness` does, how close the items of one of the rows are, which have their places."""
        few = [not self.compares() and len(row) * _FEW < len(self.items) for row in rows]
        among = self._texts.vectors.among([row if is_few else row[:0] for row, is_few in zip(rows, few, strict=True)])

        def close(row: int, example: Item | str, packed: bytes | None) -> Floats:
            if not few[row]:
                return self.closeness(example, packed)[rows[row]]
            known, direction = self._of_example(example)
            found = among.closeness(row, direction)
            for number in known:
                found[rows[row] == number] = 0.0
            return found

        return close

    def sameness(self, number: int) -> Floats:
        """Return how much every item says what the candidate at this place says: from 1 on they are near twins."""
        found = self._same.get(number)
        if found is None:
            if len(self._same) * len(self.items) >= _MOST_CLOSE:
                self._same.clear()
            found = self._same[number] = self._measure_sameness(number)
        return found

    def _measure_sameness(self, number: int) -> Floats:
        vectors, embeddings = self._texts.vectors, self._embeddings
        words = vectors.closeness(vectors.of_item(number))
        vector = embeddings.of_item(number) if embeddings else None
        if vector is None or embeddings is None:
            return words[: len(self.items)] / TWIN
        both = (words + embeddings.cosines([vector])[0]) / 2
        return np.where(embeddings.known, both / TWIN_BOTH, words / TWIN)[: len(self.items)]

    def reason_threshold(self, example: Item | str, packed: bytes | None = None) -> Floats:
        """Return for every item from which closeness on it may be told that it is close to the example."""
        return np.where(self.compared(example, packed), TELL_BOTH, TELL)

    def reason_threshold_of(self, number: int, example: Item | str, packed: bytes | None = None) -> float:
        """Return the same of one item."""
        return TELL_BOTH if self.compares() and bool(self.compared(example, packed)[number]) else TELL

    def compared(self, example: Item | str, packed: bytes | None = None) -> Claims:
        """Return for every item whether closeness to the example is measured by vectors too."""
        if self._embeddings is None or self.vector(example, packed) is None:
            return np.zeros(len(self.items), bool)
        known: Claims = self._embeddings.known[: len(self.items)]
        return known

    def vector(self, example: Item | str, packed: bytes | None = None) -> Vector | None:
        """Return the vector of an item, or of a text, that is known here, else the one that is given; None without any."""
        for texts, embeddings in ((self._texts, self._embeddings), (self._texts.host, self._hosts)):
            numbers = [texts.numbers[name] for name in _names(example) if name in texts.numbers] if texts else []
            if numbers and embeddings and (found := embeddings.of_item(numbers[0])):
                return found
        return self._embeddings.read(packed) if self._embeddings and packed else None

    def cosines(self, vectors: Sequence[Vector]) -> tuple[Floats, Claims]:
        """Return the cosine of each of these vectors, of which there is one, with every item's, and which items have one."""
        count = len(self.items)
        if self._embeddings is None:
            return np.zeros((len(vectors), count)), np.zeros(count, bool)
        return self._embeddings.cosines(vectors)[:, :count], self._embeddings.known[:count]

    @property
    def background(self) -> Background:
        """How common words are, at large and here."""
        return self._texts.background

    def weigh(self, weights: Mapping[str, float]) -> Floats:
        """Return for every item the sum of the weights, by folded word, times how much the item has of the words."""
        vectors = self._texts.vectors
        return vectors.closeness(vectors.of_weights(weights))[: len(self.items)]

    def shares(self, weights: Mapping[str, float]) -> Callable[[int], list[tuple[float, str]]]:
        """Return what tells of an item, by its place, how much each of its words adds to that sum."""
        vectors = self._texts.vectors
        direction = vectors.dense(weights)
        return lambda number: vectors.shares(number, direction)

    def _measure(self, example: Item | str, packed: bytes | None) -> Floats:
        numbers, direction = self._of_example(example)
        words = self._texts.vectors.closeness(direction)
        close = self._fused(
            words, self.vector(example, packed), to_text=isinstance(example, str) and not self.knows(example)
        )
        close[[number for number in numbers if number < len(self.items)]] = 0.0
        return close

    def _of_example(self, example: Item | str) -> tuple[list[int], tuple[Ints | Places, Floats]]:
        """The places at which the example is known here, and the direction of its words."""
        vectors, known = self._texts.vectors, self._texts.numbers
        numbers = [known[name] for name in _names(example) if name in known]
        return numbers, vectors.of_item(numbers[0]) if numbers else self._direction(example)

    def _fused(self, words: Floats, vector: Vector | None, *, to_text: bool = False) -> Floats:
        """How close the items are by words, and by the vector where there is one."""
        if vector is not None and self._embeddings is not None:
            words = self._embeddings.fused(words, vector, to_text=to_text)
        return words[: len(self.items)]

    def _direction(self, example: Item | str) -> tuple[Ints, Floats]:
        """The direction of the words of an example that is not among the items."""
        host = self._texts.host
        if host and isinstance(example, str) and example in host.numbers:
            example = host.every[host.numbers[example]]
        if isinstance(example, str):
            return self._texts.vectors.of_text("", example)
        return self._texts.vectors.of_text(example.title, " ".join((example.abstract, *example.keywords)))


@lru_cache(maxsize=1 << 16)
def tree_of(clause: str) -> Tree:
    """Return the tree of a clause, as `parse` does; topics share clauses: each is parsed once in the life of the service."""
    return parse(clause).tree


def _numbers(items: Sequence[Item]) -> dict[str, int]:
    """The place of every key and alias: a key before another item's alias, an alias of two items that of the first key."""
    order = sorted(range(len(items)), key=lambda number: items[number].key, reverse=True)
    numbers = {alias: number for number in order for alias in items[number].aliases}
    return numbers | {items[number].key: number for number in order}


def _names(example: Item | str) -> tuple[str, ...]:
    return (example,) if isinstance(example, str) else (example.key, *example.aliases)


def _embeddings(items: Sequence[Item], vectors: Mapping[str, bytes], *, measured: bool) -> Embeddings | None:
    return Embeddings([item.key for item in items], vectors, measured=measured) if vectors else None


def _places(items: Sequence[Item]) -> Ints:
    """Where each item stands among those of the same score: the newer first, then by key."""

    def standing(number: int) -> tuple[float, str]:
        when = signals.readable_since(items[number])
        return (-(when - _EPOCH).total_seconds() if when else float("inf"), items[number].key)

    places = np.empty(len(items), np.int64)
    places[sorted(range(len(items)), key=standing)] = np.arange(len(items))
    return places


@dataclass(frozen=True)
class Candidates:
    """The items of a digest's time, and the index in which they are ranked.

    The index may hold others; `among` says of each item of it whether it is one of the time. What was no news when it was
    first seen is not in it.
    """

    items: Sequence[Item]  # the newest first
    index: ItemIndex
    among: Claims

    @cached_property
    def is_indexed(self) -> Mapping[str, bool]:
        """By the key of each of the items whether the index has it."""
        return {item.key: self.index.number(item.key) is not None for item in self.items}


def all_items(index: ItemIndex) -> Candidates:
    """Return all items of an index."""
    return Candidates(index.items, index, np.ones(len(index.items), bool))
