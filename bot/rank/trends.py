"""Which words and phrases rose: those that more of the newest texts have than of the texts before. Pure.

Each text counts once for a term, however often it says it. Whether a term rose at all is asked of the log-likelihood ratio
G² of T. Dunning, "Accurate Methods for the Statistics of Surprise and Coincidence", Computational Linguistics 19 (1993): it
holds for rare terms too, and for those that nobody wrote before. What rose is ordered by how many times as common it is now
at least: the lower end of the 95 % interval of the ratio of the shares (D. Katz and others, "Obtaining Confidence Intervals
for the Risk Ratio in Cohort Studies", Biometrics 34 (1978), with half a text added to each count). By G² alone words of
style would lead, which half of all texts have and a few more now.
"""

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import repeat
from typing import TypeVar

import numpy as np

from bot.query.fold import tokens
from bot.rank.common_words import STOPWORDS, table
from bot.rank.spelling import spelled_in
from bot.rank.weights import TABLE_COUNTS

LEAST = 5  # of the newest texts that have a term: fewer are no trend
SURELY = 15.13  # of G²: one in ten thousand terms that did not rise gets so far (chi-squared, one degree of freedom)
_SIDE = 1.96  # standard errors to either end of the interval
_COMMON = 100  # papers to one that has a word
_ONE_SIGN = 2  # underscores of a word that is one character outside ASCII
_ENDS = re.compile(r"[.,;:!?()\[\]{}\"“”—]+(?:\s|$)|[(\[{“\n]|\s[–-]\s")  # of a run of words
_SAME = 0.7  # of the texts with a word, those that have it within a phrase: then the phrase tells it


@dataclass(frozen=True, slots=True)
class RisingTerm:
    """A word or phrase as people write it, in how many texts of either side it stands, and how surely it rose."""

    term: str
    lately: int
    before: int
    least: float  # so many times as common as before it is at least


Text = tuple[str, str]  # title and abstract
_Words = tuple[str, ...]
T = TypeVar("T")


def rising_terms(lately: Sequence[Text], before: Sequence[Text], most: int = 10) -> list[RisingTerm]:
    """Return the terms that rose, those that rose most first; those that stand in much the same texts are told once.

    A term has one to three words, none of them a number or one that says nothing about a subject.
    """
    read = list(map(_read, lately))
    having = list(map(set, read))
    common = [word for word, count in _counts(having).items() if count >= LEAST and _tells(word)]
    numbers = {word: number for number, word in enumerate(common, start=1)}
    counts, earlier = _term_counts(read, numbers), _term_counts(map(_read, before), numbers)
    terms = {_words_of(term, common): term for term, count in counts.items() if count >= LEAST}
    now = {words: counts[term] for words, term in terms.items() if _may_rise(words)}
    then = {words: earlier.get(terms[words], 0) for words in now}
    rose = [
        (ratio_at_least(count, len(lately), then[words], len(before)), words)
        for words, count in now.items()
        if surprise(count, len(lately), then[words], len(before)) >= SURELY
    ]
    chosen = _distinct(sorted(rose, key=lambda each: (-each[0], each[1])), now)[:most]
    wanted = {word for _, words in chosen for word in words}
    written = spelled_in(wanted, (" ".join(text) for text, of in zip(lately, having, strict=True) if of & wanted))
    return [
        RisingTerm(" ".join(written.get(word, word) for word in words), now[words], then[words], least)
        for least, words in chosen
    ]


def surprise(lately: int, of_lately: int, before: int, of_before: int) -> float:
    """Return G² of a term that so many texts of either side have, 0 where its share is no larger lately."""
    if lately * of_before <= before * of_lately:
        return 0.0
    having, of = lately + before, of_lately + of_before
    cells = (
        (lately, of_lately * having / of),
        (before, of_before * having / of),
        (of_lately - lately, of_lately * (of - having) / of),
        (of_before - before, of_before * (of - having) / of),
    )
    return 2 * sum(found * math.log(found / expected) for found, expected in cells if found)


def ratio_at_least(lately: int, of_lately: int, before: int, of_before: int) -> float:
    """Return how many times as large as before the share is lately, at least, in 39 cases of 40."""
    now, then = (lately + 0.5) / (of_lately + 0.5), (before + 0.5) / (of_before + 0.5)
    error = 1 / (lately + 0.5) - 1 / (of_lately + 0.5) + 1 / (before + 0.5) - 1 / (of_before + 0.5)
    return math.exp(math.log(now / then) - _SIDE * math.sqrt(error))


def _read(text: Text) -> list[str]:
    """Return the folded words of a text; where a phrase ends, between them a number, which is of none."""
    return tokens(_ENDS.sub(" 0 ", " 0 ".join(text)))


def _counts(sets: Iterable[Collection[T]]) -> Counter[T]:
    counts = Counter[T]()
    for each in sets:
        counts.update(each)
    return counts


def _term_counts(texts: Iterable[Sequence[str]], numbers: Mapping[str, int]) -> dict[int, int]:
    """Return in how many of the texts each term stands of one to three of the numbered words.

    A term is a number, its words the digits from 1 on. With two million words it would not fit: they are those that stand
    in LEAST of some thousand texts.
    """
    base, flat, lengths = len(numbers) + 1, list[int](), list[int]()
    for words in texts:
        flat += map(numbers.get, words, repeat(0))
        flat.append(0)  # no phrase goes on into the next text
        lengths.append(len(words) + 1)
    one = np.array(flat, np.int64)
    two = np.where((one[:-1] > 0) & (one[1:] > 0), one[:-1] * base + one[1:], 0)
    three = np.where((two[:-1] > 0) & (one[2:] > 0), two[:-1] * base + one[2:], 0)
    of = np.repeat(np.arange(len(lengths)), lengths)
    every, of = np.concatenate((one, two, three)), np.concatenate((of, of[1:], of[2:]))
    terms, at = np.unique(every[every > 0], return_inverse=True)
    once = np.unique(of[every > 0] * len(terms) + at)  # however often a text says it
    counts = np.bincount(once % max(1, len(terms)), minlength=len(terms))
    return dict(zip(terms.tolist(), counts.tolist(), strict=True))


def _words_of(term: int, numbered: Sequence[str]) -> _Words:
    """Return the words of a term, of which the first has the number 1."""
    base, words = len(numbered) + 1, list[str]()
    while term:
        term, number = divmod(term, base)
        words.append(numbered[number - 1])
    return tuple(reversed(words))


def _may_rise(term: _Words) -> bool:
    """Say whether it can tell a subject: a word by itself that one in a hundred papers has tells none."""
    return len(term) > 1 or table().get(term[0], 0.0) < TABLE_COUNTS / _COMMON


def _tells(word: str) -> bool:
    """Say whether a folded word can be of a term: one letter alone, or one sign of a script without spaces, is none."""
    if word in STOPWORDS or word.isdigit():
        return False
    return word.count("_") > _ONE_SIGN if "_" in word else len(word) > 1


def _distinct(surest: Sequence[tuple[float, _Words]], counts: Mapping[_Words, int]) -> list[tuple[float, _Words]]:
    """Return the terms without those that another one tells: a phrase tells its words where most of their texts have it."""
    told: list[tuple[float, _Words]] = []
    for least, words in surest:
        near = next((at for at, (_, other) in enumerate(told) if _tell_the_same(words, other, counts)), None)
        if near is None:
            told.append((least, words))
        elif len(words) > len(told[near][1]) and counts[words] >= _SAME * counts[told[near][1]]:
            told[near] = (told[near][0], words)
    return told


def _tell_the_same(words: _Words, told: _Words, counts: Mapping[_Words, int]) -> bool:
    """Say whether what is told has words of the term, but for a word of a phrase that mostly stands without the phrase."""
    if set(words).isdisjoint(told):
        return False
    return not (len(words) < len(told) and counts[told] < _SAME * counts[words])


# --- as a program


def question(lately: Iterable[Text], before: Iterable[Text], most: int = 10) -> Iterator[bytes]:
    """Yield what the program is given to return `rising_terms` of these."""
    yield b"%d\n" % most
    for side in (lately, before):
        yield from (json.dumps(text).encode() + b"\n" for text in side)
        yield b"\n"


def answer(asked: Iterable[bytes]) -> bytes:
    """Return what the program says when it is asked that, line by line."""
    lines = iter(asked)
    most = int(next(lines))
    lately, before = (list(_texts(lines)) for _ in range(2))
    return json.dumps([astuple(each) for each in rising_terms(lately, before, most)]).encode()


def _texts(lines: Iterator[bytes]) -> Iterator[Text]:
    for line in lines:
        if not line.strip():
            return
        title, abstract = json.loads(line)
        yield title, abstract


def terms_in(said: bytes) -> list[RisingTerm]:
    """Return the terms that the program said."""
    return [RisingTerm(*each) for each in json.loads(said)]


if __name__ == "__main__":
    sys.stdout.buffer.write(answer(sys.stdin.buffer))
