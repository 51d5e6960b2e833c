"""What the role model reads in a sentence: its words, two and three in a row, where it stands, and the words around it.

Each clue is a number, the bucket of a table into which it is hashed (Weinberger et al., "Feature hashing for large scale
multitask learning", 2009): no list of words is kept, and a word that was never seen costs nothing.
"""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

BUCKETS = 1 << 17

Buckets = npt.NDArray[np.int64]
_Hashes = npt.NDArray[np.uint64]

_TOKEN = re.compile(r"[^\W\d_]+(?:['’][a-z]+)?|\d+(?:[.,]\d+)*|[^\w\s]|_")
_BEGIN, _END, _NUMBER = "<s>", "</s>", "0"
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio: neighbours land far apart
_SALT = 0x9E3779B1  # the same for 32 bits
_WORD, _PAIR, _TRIPLE, _STANDS, _AROUND, _AROUND_PAIR = 1, 2, 3, 55, 100, 200  # what keeps the kinds of clues apart
_OPENING, _MIDDLE = 0.4, 0.7  # of the way through the text


def clues(sentences: Sequence[str]) -> tuple[Buckets, Buckets]:
    """Return the clues of all sentences, those of one after those of another, and where those of each begin.

    A clue that a sentence shows twice stands there once; every sentence has some.
    """
    words = [[_hashed(_BEGIN), *(_hashed(token) for token in tokens(sentence)), _hashed(_END)] for sentence in sentences]
    lengths = np.array([len(hashes) for hashes in words])
    owner = np.repeat(np.arange(len(words)), lengths)
    found = _shown(np.array([one for hashes in words for one in hashes], dtype=np.uint64), owner, len(words))
    found.append(_standing(lengths - 2))
    keys = np.unique(
        np.concatenate([whose * BUCKETS + (code % np.uint64(BUCKETS)).astype(np.int64) for code, whose in found])
    )
    return keys % BUCKETS, np.searchsorted(keys, np.arange(len(words)) * BUCKETS)


def tokens(sentence: str) -> list[str]:
    """Return the words and marks of a sentence in lower case; every number is the same one."""
    return [_NUMBER if token[0].isdigit() else token for token in _TOKEN.findall(sentence.lower())]


@lru_cache(maxsize=1 << 16)
def _hashed(word: str) -> int:
    return zlib.crc32(word.encode())


def _mixed(codes: _Hashes, salt: int) -> _Hashes:
    spread: _Hashes = (codes ^ np.uint64(salt * _SALT)) * _SPREAD
    return spread ^ (spread >> np.uint64(29))


def _shown(hashes: _Hashes, owner: Buckets, count: int) -> list[tuple[_Hashes, Buckets]]:
    """Codes and whose they are: of each sentence's own words, and of those of the sentence before and after."""
    inside = np.ones(len(hashes), dtype=np.bool_)
    inside[np.flatnonzero(np.diff(owner, prepend=-1))] = inside[np.flatnonzero(np.diff(owner, append=-1))] = False
    every = _mixed(hashes, _WORD)
    words, whose = every[inside], owner[inside]
    pairs = _mixed(every[:-1] * np.uint64(3) + hashes[1:], _PAIR)
    triples = _mixed(pairs[:-1] * np.uint64(5) + hashes[2:], _TRIPLE)
    paired, tripled = owner[:-1] == owner[1:], owner[:-2] == owner[2:]
    pairs_of = owner[:-1][paired]
    places = np.array([_hashed(_place(at, count)) % 1_000_003 + 7 for at in range(count)], dtype=np.uint64)
    placed = _mixed(words ^ (places[whose] * np.uint64(_SALT)), 0)
    found = [(words, whose), (pairs[paired], pairs_of), (triples[tripled], owner[:-2][tripled]), (placed, whose)]
    for step in (-1, 1):
        found.append(_lent(words, whose - step, _AROUND + step, count))
        found.append(_lent(pairs[paired], pairs_of - step, _AROUND_PAIR + step, count))
    return found


def _lent(codes: _Hashes, to: Buckets, salt: int, count: int) -> tuple[_Hashes, Buckets]:
    there = (to >= 0) & (to < count)
    return _mixed(codes[there], salt), to[there]


def _standing(lengths: Buckets) -> tuple[_Hashes, Buckets]:
    """Where each sentence stands, and how long it is."""
    count = len(lengths)
    codes = [_hashed(fact) for at, length in enumerate(lengths) for fact in _facts(at, count, int(length))]
    of_each = len(codes) // max(1, count)
    return _mixed(np.array(codes, dtype=np.uint64), _STANDS), np.repeat(np.arange(count), of_each)


@lru_cache(maxsize=1 << 12)
def _facts(at: int, count: int, length: int) -> tuple[str, ...]:
    """Names of what is so: each of its two ends has its own count, since "third" and "last but one" say different things."""
    after = count - 1 - at
    return (
        "any",
        f"place {_place(at, count)}",
        f"from the start {min(at, 9)}",
        f"from the end {min(after, 9)}",
        f"of {min(count, 15)}",
        f"tenth {10 * at // max(1, count - 1)}",
        f"length {min(length // 5, 12)}",
        f"{min(at, 6)} of {min(count, 12)}",
        "none before" if at == 0 else "some before",
        "none after" if after == 0 else "some after",
    )


def _place(at: int, count: int) -> str:
    if at == 0:
        return "first"
    if at == count - 1:
        return "last"
    if at == 1:
        return "second"
    way = at / (count - 1)
    return "opening" if way < _OPENING else "middle" if way < _MIDDLE else "closing"
