"""How fast one day's papers are ranked for many topics.

    python -m benchmarks.rank --corpus FILE [--topics 10000] [--items 1200]

FILE is as `benchmarks.corpus` reads it. The day is the last items of it. The topics are made, by a fixed draw, of the words
and word pairs that stand in at least five of its titles, of its authors and of its papers: a query, 5 to 15 weighted
interests and, for every second one, up to three papers as examples. The baseline asks
`bot.query.matches` about every clause and every item and adds up the weights; it runs on a few of the topics and its time
for all is extrapolated. Topics are ranked a thousand together, and one by one. Two days are ranked, because a service parses
its topics once, and the second again with a vector for every paper: drawn ones, since the time does not depend on what they
say. The last line compares with the baseline.
"""

import argparse
import gc
import random
import re
import resource
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.corpus import papers
from bot.models import Interest, Item, Ranked, Topic
from bot.models.vectors import pack
from bot.query import Folded, matches, parse
from bot.rank import ItemIndex, TopicInputs, rank, score
from bot.rank.common_words import STOPWORDS

_SEED = 2026
_SAMPLE = 20  # topics on which the baseline runs
_TOP = 10  # a digest shows seven, and some give way
_BATCH = 1000  # topics that are ranked together
_KNOWN = 5  # titles
_SIZE = 384  # numbers of a vector, as the shipped model's
_WORD = re.compile(r"[a-z][a-z-]{2,}")


@dataclass(frozen=True, slots=True)
class TopicAsked:
    """A topic with its examples looked up."""

    topic: Topic
    examples: tuple[Item, ...]


class Draw:
    """Draws what topics are made of."""

    def __init__(self, items: Sequence[Item], seed: int = _SEED) -> None:
        counts = Counter(phrase for item in items for phrase in _phrases(item.title))
        self._phrases = [phrase for phrase, count in counts.items() if count >= _KNOWN]
        self._items = items
        self._random = random.Random(seed)

    def order(self, number: int) -> TopicAsked:
        """Return a topic, every second one with examples."""
        query = self._clause(3, 8)
        if self._random.random() < 0.3:
            query = f"({query}) -{self._random.choice(('survey', 'review', 'medical'))}"
        interests = tuple(self._interest() for _ in range(self._random.randint(5, 15)))
        examples = self._random.sample(self._items, self._random.randint(1, 3)) if number % 2 else ()
        return TopicAsked(Topic(name=f"topic-{number}", title="", query=parse(query), interests=interests), tuple(examples))

    def _interest(self) -> Interest:
        kind = self._random.random()
        if kind < 0.05:
            name = re.sub(r"[^\w ]", " ", " ".join(self._random.choice(self._items).authors[:1]))
            return Interest(f'author:"{name.strip() or "nobody"}"', 2.0)
        weight = self._random.choice((0.5, 1.0, 1.5, 2.0, 3.0)) * (-1 if kind < 0.15 else 1)
        return Interest(self._clause(2, 3) if kind < 0.35 else self._clause(1, 1), weight)

    def _clause(self, least: int, most: int) -> str:
        phrases = self._random.choices(self._phrases, k=self._random.randint(least, most))
        return " OR ".join(f'"{phrase}"' for phrase in phrases)


def _phrases(title: str) -> list[str]:
    """The title's words and pairs of neighbours that say something, each once."""
    words = [word if word not in STOPWORDS else "" for word in _WORD.findall(title.lower())]
    return list(dict.fromkeys([*filter(None, words), *(f"{a} {b}" for a, b in pairwise(words) if a and b)]))


def plainly(items: Sequence[Folded], order: TopicAsked, index: ItemIndex) -> list[tuple[float, str]]:
    """Rank as one would at first: every clause asked of every item."""
    interests = [(parse(each.clause).tree, each.weight) for each in order.topic.interests]
    admitted = (item for item in items if matches(order.topic.query.tree, item, index.now))
    return sorted(
        (-sum(weight for tree, weight in interests if matches(tree, item, index.now)), item.item.key) for item in admitted
    )


@dataclass(frozen=True, slots=True)
class Day:
    """The papers of a day, ranked in one of several ways."""

    items: Sequence[Item]
    now: datetime
    vectors: Mapping[str, bytes] = field(default_factory=dict)

    def index(self) -> tuple[ItemIndex, float]:
        """Return the index, and the seconds that it took."""
        start = process_time()
        index = ItemIndex(self.items, {}, self.now, vectors=self.vectors)
        return index, process_time() - start

    def ranked(self, asked: Sequence[TopicAsked], *, at_once: int, reasons: bool = True) -> tuple[float, int]:
        """Return the seconds and the entries of ranking so many of the topics at once, in an index of its own."""
        index, _ = self.index()
        inputs = [TopicInputs(each.topic, each.examples, vectors=self.vectors) for each in asked]
        start, entries = process_time(), 0
        for at in range(0, len(inputs), at_once):
            for scored in score(index, inputs[at : at + at_once]):
                first = range(len(scored.numbers))[:_TOP]
                entries += len(scored.with_reasons(first) if reasons else scored.without_reasons(_TOP))
        return process_time() - start, entries


def drawn(items: Sequence[Item]) -> Mapping[str, bytes]:
    """Return a vector for each of the items."""
    rows = np.random.default_rng(_SEED).normal(size=(len(items), _SIZE)).astype(np.float32)
    return dict(zip([item.key for item in items], pack(rows), strict=True))


def compare(ranked: Sequence[Ranked], plain: Sequence[tuple[float, str]]) -> tuple[bool, float]:
    """Say whether the same items were admitted, and how much of the plain order's first ten is in ours."""
    ours = [each.item.key for each in ranked]
    first = {key for _, key in plain[:10]}
    return set(ours) == {key for _, key in plain}, len(first & set(ours[:10])) / max(len(first), 1)


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="papers as JSON lines, plain, .gz or .xz")
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--items", type=int, default=1_200)
    arguments = parser.parse_args()
    items = papers(arguments.corpus)
    draw = Draw(items)
    asked = [draw.order(number) for number in range(arguments.topics)]
    day = items[-arguments.items :]
    now = max(item.seen for item in day if item.seen) + timedelta(hours=8)

    gc.freeze()  # no service holds the corpus, so the collector is not to look through it again and again
    held = megabytes()
    first, _ = Day(items[-2 * arguments.items : -arguments.items], now - timedelta(days=1)).ranked(asked, at_once=_BATCH)
    ranked = Day(day, now)
    bare, entries = ranked.ranked(asked, at_once=_BATCH, reasons=False)
    ours, _ = ranked.ranked(asked, at_once=_BATCH)
    took = megabytes() - held
    alone, _ = ranked.ranked(asked, at_once=1)
    vectors = drawn(list({item.key: item for order in asked for item in (*order.examples, *day)}.values()))
    meant, _ = Day(day, now, vectors).ranked(asked, at_once=_BATCH)
    (index, built), (_, told) = ranked.index(), Day(day, now, vectors).index()
    sample = asked[:: max(len(asked) // _SAMPLE, 1)][:_SAMPLE]
    start = process_time()
    folded = [Folded(item) for item in day]
    plain = [plainly(folded, order, index) for order in sample]
    slow = (process_time() - start) / len(sample) * len(asked)
    compared = [
        compare(rank(index, TopicAsked(order.topic, ()).topic), found) for order, found in zip(sample, plain, strict=True)
    ]

    print(f"{len(day):,} papers, {len(asked):,} topics, the first {_TOP} of each: {entries:,} entries")
    print(f"index of the day            {built:8.2f} s")
    print(f"together, the first day     {first:8.2f} s   {1000 * first / len(asked):.2f} ms a topic, its clauses parsed")
    print(f"together, no reasons        {bare:8.2f} s   {1000 * bare / len(asked):.2f} ms a topic")
    print(f"together, with reasons      {ours:8.2f} s   {1000 * ours / len(asked):.2f} ms a topic")
    print(
        f"one by one, with reasons    {alone:8.2f} s   {1000 * alone / len(asked):.2f} ms a topic, {alone / ours:.2f} times"
    )
    print(f"memory, of the first three  {took:8.0f} MB   beside the corpus and the topics")
    print(f"index, with vectors         {told:8.2f} s")
    print(
        f"together, with vectors      {meant:8.2f} s   {1000 * meant / len(asked):.2f} ms a topic, {meant / ours:.2f} times"
    )
    print(f"clause by clause            {slow:8.2f} s   extrapolated from {len(sample)} topics, no examples, no reasons")
    same, overlap = sum(same for same, _ in compared), sum(share for _, share in compared) / len(compared)
    print(f"same items admitted: {same} of {len(compared)} topics; of the plain first ten, {overlap:.0%} are in ours")


def megabytes() -> float:
    """Return the most memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
