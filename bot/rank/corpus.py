"""The words of a day's items, as numbers: where each stands, so that a phrase is found without reading any text again."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise

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


_NONE: tuple[Places, Places] = (np.empty(0, np.int32), np.empty(0, np.int32))


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
        # As lists: look-ups of plain numbers for every word asked about.
        self._ends: list[int] = np.searchsorted(tokens, numbers).tolist()
        # A word by itself is what is asked about most: its slots and counts are ready.
        runs = groups(tokens.astype(np.int64) * len(texts) + self.slots[self._places])
        self._slots: Places = self.slots[self._places[runs]]
        self._counts: Places = _steps(runs, len(self.row))
        self._runs: list[int] = np.searchsorted(tokens[runs], numbers).tolist()

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

    def find(self, spellings: Sequence[Spelling], field: str = "") -> tuple[Places, Places]:
        """Return the slots in which any of the spellings occurs, in their order, and how often it does.

        The spellings are ways to write one phrase, and an indexed text holds a hyphenated word both ways, once each: the
        count is that of the spelling that occurs most.
        """
        found = [each for each in map(self._count, spellings) if len(each[0])]
        slots, counts = found[0] if len(found) == 1 else _most(found)
        if field:
            here = slots % len(FIELDS) == FIELDS.index(field)
            slots, counts = slots[here], counts[here]
        return slots, counts

    def _count(self, spelling: Spelling) -> tuple[Places, Places]:
        ranges = [self._range(token, open_=False) for token in spelling.tokens]
        if spelling.prefix:
            ranges[-1] = self._range(spelling.tokens[-1], open_=True)
        elif len(ranges) == 1:
            part = slice(self._runs[ranges[0][0]], self._runs[ranges[0][1]])
            return self._slots[part], self._counts[part]
        return _tally(self.slots[self._begins(ranges)])

    def _begins(self, ranges: Sequence[tuple[int, int]]) -> Places:
        """Where tokens of these ranges follow one another, in order; looked for around the rarest of them."""
        sizes = [self._ends[high] - self._ends[low] for low, high in ranges]
        rarest = sizes.index(min(sizes))
        low, high = ranges[rarest]
        begins = self._places[self._ends[low] : self._ends[high]] - rarest
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


def _tally(slots: Places) -> tuple[Places, Places]:
    """Each slot once, in order, and how often it stood there; the places of a phrase are in order already."""
    begins = groups(slots)
    return slots[begins], _steps(begins, len(slots))


def _steps(begins: Ints, end: int) -> Places:
    """How long each run is, by where they begin and the last one ends."""
    edges: Ints = np.append(begins, end)
    return (edges[1:] - edges[:-1]).astype(np.int32)


def _most(found: Sequence[tuple[Places, Places]]) -> tuple[Places, Places]:
    if not found:
        return _NONE
    slots, where = np.unique(np.concatenate([each[0] for each in found]), return_inverse=True)
    counts = np.zeros(len(slots), np.int32)
    np.maximum.at(counts, where, np.concatenate([each[1] for each in found]))
    return slots, counts
