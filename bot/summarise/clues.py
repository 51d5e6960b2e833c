"""What the role model reads of a sentence: its words, as places in a list, and where it stands in the text."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]

BETWEEN, UNKNOWN = 0, 1  # places in the list of words that no word has
NUMBER = "0"  # stands for every number
LONGEST = 60  # words of a sentence that are read

_TOKEN = re.compile(r"[^\W\d_]+(?:['’][a-z]+)?|\d+(?:[.,]\d+)*|[^\w\s]|_")
_FIRST, _LAST, _COUNT, _TENTHS = 10, 10, 15, 11  # how many of each kind of fact there are
FACTS = _FIRST + _LAST + _COUNT + _TENTHS + 2


def tokens(sentence: str) -> list[str]:
    """Return the words and marks of a sentence in lower case; every number is the same one."""
    return [NUMBER if token[0].isdigit() else token for token in _TOKEN.findall(sentence.lower())]


def numbered(sentences: Sequence[str], words: Mapping[str, int]) -> tuple[Places, Places]:
    """Return the places of all words, with BETWEEN before, between and after the sentences, and how many each sentence has.

    A sentence without any word has one that is not known.
    """
    read = [[words.get(token, UNKNOWN) for token in tokens(sentence)[:LONGEST]] or [UNKNOWN] for sentence in sentences]
    places = [place for sentence in read for place in (BETWEEN, *sentence)]
    return np.array([*places, BETWEEN]), np.array([len(sentence) for sentence in read])


def standing(lengths: Places) -> Floats:
    """Return where each sentence stands: one row of FACTS per sentence, given the number of words of each."""
    return np.array([_facts(at, len(lengths), int(length)) for at, length in enumerate(lengths)], dtype=np.float32)


@lru_cache(maxsize=1 << 12)
def _facts(at: int, count: int, length: int) -> tuple[float, ...]:
    """Each end of the text has its own count, since "third" and "last but one" say different things."""
    way = at / max(1, count - 1)
    facts = [0.0] * FACTS
    facts[min(at, _FIRST - 1)] = 1.0
    facts[_FIRST + min(count - 1 - at, _LAST - 1)] = 1.0
    facts[_FIRST + _LAST + min(count, _COUNT) - 1] = 1.0
    facts[_FIRST + _LAST + _COUNT + int((_TENTHS - 1) * way)] = 1.0
    facts[-2:] = way, length / LONGEST * 2
    return tuple(facts)
