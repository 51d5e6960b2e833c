"""The words of a day's items, as numbers: where each stands, so that a phrase is found without reading any text again."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bot.models import Item
from bot.query.fields import read_of, text_of
from bot.query.fold import BARRIER, Spelling

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]  # half the memory, where very many are kept

FIELDS = ("title", "abstract", "author", "org", "topic")

_STEP = 500  # texts
_PAST = "\U0010ffff"  # sorts behind every token's ending


Asked = tuple[Sequence[Spelling], str]  # the ways to write a phrase, and the field in which alone it counts, "" for all


class Found(NamedTuple):
    """Where phrases occur: phrase by phrase, by their numbers, the slots in their order, and how often it does there."""

    phrases: Ints
    slots: Places
    counts: Places


class Corpus:
    """All texts of the items in one row of tokens, and for every token its places in it.

    Tokens are numbered in the order of the alphabet: a word's beginning is a range of numbers, and nothing depends on the
    order in which the items came. A slot is one text field of one item: `item * len(FIELDS) + field`.
    """

    def __init__(self, items: Sequence[Item], before: "Corpus | None" = None) -> None:
        """Index the items; the texts of those that stand in the corpus of `before` as they are now are not folded again.

        It is done in steps, of a few milliseconds each, between which other threads have their turn.
        """
        self._items = tuple(items)
        texts = [text for item in items for text in ((before and before.texts(item)) or _folded(item))]
        self.lengths: Ints = np.array([len(text) - 1 for text in texts], np.int64)
        self.slots: Places = np.repeat(np.arange(len(texts), dtype=np.int32), self.lengths + 1)
        words: set[str] = set()
        for text in texts:
            words.update(text)
        self.words = sorted(words)
        self.numbers = {word: number for number, word in enumerate(self.words)}
        self.row: Places = np.concatenate([np.empty(0, np.int32), *self._numbered(texts)])
        self._places: Places = np.argsort(self.row, kind="stable").astype(np.int32)
        tokens = self.row[self._places]
        numbers = np.arange(len(self.words) + 1)
        self._tokens_until: Ints = np.searchsorted(tokens, numbers)  # how many of the row come before a token, in its order
        # A word by itself is what is asked about most: its slots and counts are ready.
        runs = groups(tokens.astype(np.int64) * len(texts) + self.slots[self._places])
        self._slots: Places = self.slots[self._places[runs]]
        self._counts: Places = _steps(runs, len(self.row))
        self._runs: Ints = np.searchsorted(tokens[runs], numbers)

    def _numbered(self, texts: Sequence[Sequence[str]]) -> Iterator[Places]:
        for at in range(0, len(texts), _STEP):
            row = chain.from_iterable(texts[at : at + _STEP])
            yield np.fromiter(map(self.numbers.__getitem__, row), np.int32)

    @cached_property
    def _edges(self) -> list[int]:
        """Where each text begins, and the last one ends."""
        return [0, *np.cumsum(self.lengths + 1).tolist()]

    @cached_property
    def _standing(self) -> dict[str, int]:
        return {item.key: place for place, item in enumerate(self._items)}

    def texts(self, item: Item) -> list[list[str]] | None:
        """Return the words of each field of an item, None where the corpus does not have it as it is."""
        place = self._standing.get(item.key)
        if place is None or read_of(self._items[place]) != read_of(item):
            return None
        edges = self._edges[place * len(FIELDS) : (place + 1) * len(FIELDS) + 1]
        return [[self.words[number] for number in self.row[start:end].tolist()] for start, end in pairwise(edges)]

    def find(self, asked: Sequence[Asked]) -> Found:
        """Return where phrases occur, and how often there.

        The spellings of a phrase are ways to write it, and an indexed text holds a hyphenated word both ways, once each: the
        count is that of the spelling that occurs most.
        """
        words: list[tuple[int, int]] = []
        sequences: dict[int, list[tuple[int, ...]]] = {}  # by how many tokens they have, each behind its phrase's number
        found = []
        for phrase, (spellings, _) in enumerate(asked):
            for spelling in spellings:
                numbers = [self.numbers.get(token, -1) for token in spelling.tokens]
                if spelling.prefix:
                    found.append(self._beginning(phrase, spelling))
                elif -1 in numbers:
                    continue
                elif len(numbers) == 1:
                    words.append((phrase, numbers[0]))
                else:
                    sequences.setdefault(len(numbers), []).append((phrase, *numbers))
        found += [self._words(words)] if words else []
        found += [self._sequences(np.array(rows)) for rows in sequences.values()]
        return self._within(asked, _most(found, len(self.lengths)))

    def _within(self, asked: Sequence[Asked], found: Found) -> Found:
        """What was found in the fields that were asked for."""
        if not any(field for _, field in asked):
            return found
        fields = np.array([FIELDS.index(field) if field else -1 for _, field in asked])[found.phrases]
        here = (fields < 0) | (found.slots % len(FIELDS) == fields)
        return Found(found.phrases[here], found.slots[here], found.counts[here])

    def _words(self, asked: Sequence[tuple[int, int]]) -> Found:
        """Where tokens stand, each the one of a phrase."""
        phrases, tokens = np.array(asked).T
        starts, sizes = self._runs[tokens], self._runs[tokens + 1] - self._runs[tokens]
        places = spread(starts, sizes)
        return Found(np.repeat(phrases, sizes), self._slots[places], self._counts[places])

    def _sequences(self, asked: Ints) -> Found:
        """Where tokens follow one another, in rows behind their phrase's number; looked for around the rarest of each."""
        phrases, tokens = asked[:, 0], asked[:, 1:]
        sizes = self._tokens_until[tokens + 1] - self._tokens_until[tokens]
        rarest = sizes.argmin(axis=1)
        every = np.arange(len(asked))
        rows = np.repeat(every, sizes[every, rarest])
        begins = self._places[spread(self._tokens_until[tokens[every, rarest]], sizes[every, rarest])] - rarest[rows]
        for step in range(tokens.shape[1]):
            # What reaches over an end of the row meets the barrier at its beginning.
            here = self.row.take(begins + step, mode="wrap") == tokens[rows, step]
            begins, rows = begins[here], rows[here]
        slots, counts, first = _tally(self.slots[begins], rows * len(self.lengths))
        return Found(phrases[rows[first]], slots, counts)

    def _beginning(self, phrase: int, spelling: Spelling) -> Found:
        """Where the tokens follow one another, the last of them as a word's beginning."""
        ranges = [self._range(token, open_=False) for token in spelling.tokens[:-1]]
        begins = self._begins([*ranges, self._range(spelling.tokens[-1], open_=True)])
        slots, counts, _ = _tally(self.slots[begins], np.zeros(len(begins), np.int64))
        return Found(np.full(len(slots), phrase), slots, counts)

    def _begins(self, ranges: Sequence[tuple[int, int]]) -> Places:
        """Where tokens of these ranges follow one another, in order; looked for around the rarest of them."""
        sizes = [int(self._tokens_until[high] - self._tokens_until[low]) for low, high in ranges]
        rarest = sizes.index(min(sizes))
        low, high = ranges[rarest]
        begins = self._places[self._tokens_until[low] : self._tokens_until[high]] - rarest
        if high > low + 1:
            begins = np.sort(begins)
        for step, (low, high) in enumerate(ranges):
            if step != rarest:
                # What reaches over an end of the row meets the barrier at its beginning.
                here = self.row.take(begins + step, mode="wrap")
                begins = begins[here == low] if high == low + 1 else begins[(here >= low) & (here < high)]
        return begins

    def _range(self, token: str, *, open_: bool) -> tuple[int, int]:
        """The numbers of the tokens that are this one, or that begin with it; an empty range when there is none."""
        if open_:
            return bisect_left(self.words, token), bisect_left(self.words, token + _PAST)
        number = self.numbers.get(token)
        return (0, 0) if number is None else (number, number + 1)


def _folded(item: Item) -> list[list[str]]:
    """The words of each field, behind a barrier."""
    return [[BARRIER, *text_of(item, field).split()] for field in FIELDS]


def groups(numbers: Ints | Places) -> Ints:
    """Return where each run of equal numbers begins; `numbers` are in order."""
    changes = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=changes[1:])
    begins: Ints = changes.nonzero()[0]
    return begins


def spread(starts: Ints, sizes: Ints) -> Ints:
    """Return the numbers of ranges one after another: so many, of which each begins at its start."""
    places: Ints = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    places += np.arange(len(places))
    return places


def _tally(slots: Places, offsets: Ints) -> tuple[Places, Places, Ints]:
    """Each slot once for each offset, how often it stood there, and where first; both together are in order already."""
    begins = groups(offsets + slots)
    return slots[begins], _steps(begins, len(slots)), begins


def _steps(begins: Ints, end: int) -> Places:
    """How long each run is, by where they begin and the last one ends."""
    edges: Ints = np.append(begins, end)
    return (edges[1:] - edges[:-1]).astype(np.int32)


def _most(found: Sequence[Found], slots: int) -> Found:
    """All that was found in the order of phrases and slots, of which there are so many; each pair with its largest count."""
    if not found:
        return Found(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
    phrases, where, counts = (np.concatenate(each) for each in zip(*found, strict=True))
    keys = phrases * slots + where
    order = np.argsort(keys, kind="stable")
    begins = groups(keys[order])
    if not len(begins):
        return Found(phrases, where, counts)
    first = order[begins]
    return Found(phrases[first], where[first], np.maximum.reduceat(counts[order], begins))
