"""A corpus of any size made from real papers, for what must be measured on more papers than are at hand.

    python -m benchmarks.resample --corpus papers.jsonl.xz --size 1000000 [--seed 1] > million.jsonl

Each line is a record as benchmarks.corpus reads it. The same file, size and seed give the same bytes; what is held is the
real papers alone, whatever the size.

- Texts: a paper's length, categories and number of authors are those of a real one. Its words are runs of that one and of
  two others that share a telling word of its title, joined where they have a word in common: pairs of words are real ones,
  words that go together are found together, and no abstract is that of a real paper or of another one.
- Vocabulary: a larger real collection has words that the smaller one has not (Heaps' law: V grows as N**b), and resampling
  alone would not. So words that few papers have are spelt anew, the same within one paper, as word number r of an endless
  list of which word r is used in proportion to r**(-1/b) (Zipf's law). b is what the real papers show from their half to
  their whole, and where the list begins is solved for, so that as many papers as the real ones have as many of those words.
  Authors of few papers likewise.
- Dates: a history longer, and days fuller, each by the square root of how much larger the corpus is, with the real rhythm of
  days, up to the last real day: a million papers from 54,002 of a year are 4.3 times as many a day for 4.5 years, which is
  about what arXiv announces in all.
"""

import argparse
import contextlib
import json
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpus

RARE_WORD = 10  # in so many papers or fewer: may be spelt anew
RARE_AUTHOR = 2
_WORD = re.compile(r"[^\W\d_]+")  # letters alone: numbers do not grow so
_RUN = 5  # words, the mean of what is copied beyond the first two before the next join
_AGAIN = 0.2  # how often a rare word is one that the paper has: three papers' words are more than one's by so much
_TELLING = range(2, 300)  # titles that have a word: enough to find another paper, few enough to say what it is about
_WEEK = timedelta(weeks=1)
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Tail:
    """The ranks of rare things of an endless list: rank r is drawn in proportion to r**(-1 / growth), from `first` on."""

    first: float
    growth: float

    def rank(self, chance: random.Random) -> int:
        """Return a rank by chance."""
        power = -1 / (1 / self.growth - 1)
        return int(self.first * (1 - chance.random()) ** power) % 2**62

    def distinct(self, draws: int) -> float:
        """Return how many different ranks that many draws are expected to give."""
        # The integral over ranks of the chance that one is drawn, at the middles of steps of 1 % of a rank.
        edges = self.first * np.exp(np.arange(0, 60, 0.01))
        above = (edges / self.first) ** (1 - 1 / self.growth)
        widths = np.diff(edges)
        return float((widths * -np.expm1(draws * np.diff(above) / widths)).sum())


def fitted(seen: Sequence[Iterable[str]], rare: int) -> tuple[frozenset[str], Tail]:
    """Return what occurs in `rare` of the sets or fewer, and the tail that has as many in as many draws."""
    papers = Counter(each for one in seen for each in set(one))
    few = frozenset(each for each, number in papers.items() if number <= rare)
    half = len({each for one in seen[::2] for each in one})
    growth = min(0.95, max(0.3, math.log2(max(1, len(papers)) / max(1, half))))
    draws = sum(papers[each] for each in few)
    low, high = 1e-3, float(max(2, 10 * len(few)))
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if Tail(middle, growth).distinct(draws) < len(few) else (low, middle)
    return few, Tail(low, growth)


class Pool:
    """The real papers, as what new ones are made of."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = sorted(rows, key=_day)
        self.days = [date.fromisoformat(_day(row)) for row in self.rows]
        self.titles = [[sys.intern(word) for word in row["title"].split()] for row in self.rows]
        self.texts = [[sys.intern(word) for word in row["abstract"].split()] for row in self.rows]
        self.authors = [_authors(row) for row in self.rows]
        words = [_words(title, text) for title, text in zip(self.titles, self.texts, strict=True)]
        self.rare_words, self.words = fitted(words, RARE_WORD)
        self.rare_authors, self.names = fitted(self.authors, RARE_AUTHOR)
        self._spelt = sorted(self.rare_words)
        self._people = sorted({name for names in self.authors for name in names})
        self._titled = _postings(self.titles)
        self._alike = _grouped(self.rows)
        self.coin = lru_cache(1 << 16)(self._coin)
        self.rare = lru_cache(1 << 18)(self._rare)

    def beside(self, at: int, chance: random.Random) -> tuple[int, int]:
        """Return two papers that share a telling word of the title, or else the first category, with the one at `at`."""
        telling = [each for each in _words(self.titles[at]) if len(self._titled[each]) in _TELLING]
        near = self._titled[chance.choice(telling)] if telling else self._alike[_primary(self.rows[at])]
        others = [each for each in near if each != at] or [at]
        return chance.choice(others), chance.choice(others)

    def name(self, rank: int) -> str:
        """Return an author's name: given names of one, the family name of another."""
        one, other = _two(rank, len(self._people))
        given = self._people[one].rpartition(" ")[0] or self._people[one]
        return f"{given} {self._people[other].rpartition(' ')[2]}"

    def _coin(self, rank: int) -> str:
        """Return a word: the first half of one rare word and the second of another."""
        one, other = (self._spelt[at] for at in _two(rank, len(self._spelt)))
        return one[: (len(one) + 1) // 2] + other[len(other) // 2 :]

    def _rare(self, token: str) -> tuple[str, ...]:
        """Return the rare words of a token as they are spelt in it."""
        return tuple(word for word in _WORD.findall(token) if word.lower() in self.rare_words)


@dataclass(frozen=True)
class Paper:
    """One new paper in the making: the real ones it is made of, the first of them the pattern, and its chance."""

    pool: Pool
    sources: tuple[int, ...]
    chance: random.Random
    spelt: dict[str, str]

    def title(self) -> str:
        """Return the beginning of the pattern's title and the end of another's, as long as the pattern's."""
        own, other = (self.pool.titles[at] for at in self.sources[:2])
        cut = self.chance.randint(1, max(1, len(own) - 1))
        return " ".join(map(self._respelt, own[:cut] + other[max(0, len(other) - len(own) + cut) :]))

    def abstract(self) -> str:
        """Return runs of the abstracts, joined at words they share, about as long as the pattern's."""
        texts = [self.pool.texts[at] for at in self.sources]
        length = len(texts[0])
        source: Sequence[str] = texts[0]
        at = 0
        made: list[str] = []
        while len(made) < length:
            run = source[at : at + 2 + int(self.chance.expovariate(1 / _RUN))]
            made += run
            source, at = self._joined(source, at + len(run), texts)
        return " ".join(map(self._respelt, _ended(made, length)))

    def authors(self) -> list[str]:
        """Return the pattern's authors, those of few papers under other names."""
        return [self._person(name) for name in self.pool.authors[self.sources[0]]]

    def _joined(self, source: Sequence[str], at: int, texts: Sequence[Sequence[str]]) -> tuple[Sequence[str], int]:
        """Return where to go on: behind the same word in another text, or in the same text where no other has it."""
        others = [text for text in texts if text is not source] or [source]
        other = self.chance.choice(others)
        begin = self.chance.randrange(len(other))
        if at >= len(source):
            return other, begin
        for text, behind in ((other, begin), (other, 0), (others[0], 0), (others[-1], 0)):
            with contextlib.suppress(ValueError):
                return text, text.index(source[at - 1], behind) + 1
        return source, at

    def _respelt(self, token: str) -> str:
        for word in self.pool.rare(token):
            new = self._spelling(word.lower())
            token = token.replace(word, new.upper() if word.isupper() else new.title() if word[0].isupper() else new)
        return token

    def _spelling(self, word: str) -> str:
        if word not in self.spelt:
            again = self.spelt and self.chance.random() < _AGAIN
            known = list(self.spelt.values())
            self.spelt[word] = self.chance.choice(known) if again else self.pool.coin(self.pool.words.rank(self.chance))
        return self.spelt[word]

    def _person(self, name: str) -> str:
        return self.pool.name(self.pool.names.rank(self.chance)) if name in self.pool.rare_authors else name


def papers(rows: Sequence[Row], size: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Return `size` new records made of the real ones, oldest first, one at a time.

    Raises ValueError where no record has an abstract.
    """
    pool = Pool([row for row in rows if row["abstract"].strip()])
    if not pool.rows:
        raise ValueError("No paper has an abstract.")
    chance = random.Random(f"{seed} {size}")
    month, number = "", 0
    for day in _days(pool.days, size):
        number = number + 1 if f"{day:%y%m}" == month else 1
        month = f"{day:%y%m}"
        at = chance.randrange(len(pool.rows))
        paper = Paper(pool, (at, *pool.beside(at, chance)), chance, {})
        row = pool.rows[at]
        yield {
            "id": f"{month}.{number:05}",
            "title": paper.title(),
            "abstract": paper.abstract(),
            "authors": paper.authors(),
            "categories": row["categories"],
            "comment": row.get("comment"),
            "first_seen": day.isoformat(),
        }


def _days(days: Sequence[date], size: int) -> Iterator[date]:
    """Return `size` days in order, of as many turns of the real history as the square root of how much larger it is."""
    period = max(1, math.ceil(((days[-1] - days[0]).days + 1) / 7)) * _WEEK
    turns = math.sqrt(size / len(days))
    for at in range(size):
        back = turns * (1 - (at + 1) / size)  # turns before the last day
        turn = math.floor(back)
        yield days[min(len(days) - 1, int((1 - (back - turn)) * len(days)))] - turn * period


def _ended(made: list[str], length: int) -> list[str]:
    """Return the words cut at the end of the sentence nearest to the length, or there, with a full stop."""
    near = (at for off in range(8) for at in (length - off, length + off) if 0 < at <= len(made))
    end = next((at for at in near if made[at - 1].endswith((".", "!", "?"))), 0)
    return made[:end] if end else [*made[: length - 1], made[length - 1].rstrip(",;:") + "."]


def _two(rank: int, number: int) -> tuple[int, int]:
    """Return two numbers below `number`, as if by chance but the same for each rank (splitmix64, Steele et al. 2014)."""
    mixed = (rank * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) % 2**64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    mixed ^= mixed >> 31
    return mixed % number, mixed // number % number


def _words(*texts: Iterable[str]) -> list[str]:
    return [word for text in texts for word in _WORD.findall(" ".join(text).lower())]


def _postings(titles: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Return by word the numbers of the titles that have it."""
    found: dict[str, list[int]] = {}
    for at, title in enumerate(titles):
        for word in dict.fromkeys(_words(title)):
            found.setdefault(sys.intern(word), []).append(at)
    return found


def _grouped(rows: Sequence[Row]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        found.setdefault(_primary(row), []).append(at)
    return found


def _primary(row: Row) -> str:
    return next(iter(row["categories"]), "")


def _day(row: Row) -> str:
    return str(row.get("first_seen") or row["created"])[:10]


def _authors(row: Row) -> list[str]:
    names: list[str] | str = row["authors"]
    return names if isinstance(names, list) else names.split(", ")


def main(write: Callable[[str], object] = sys.stdout.write) -> None:
    """Write the records, one JSON object per line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    for row in papers(corpus.rows(asked.corpus), asked.size, asked.seed):
        write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
