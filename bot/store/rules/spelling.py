"""The words that a store knows, and which of them is nearest to one that it does not. Pure, and shared by every store.

The distance is F. J. Damerau's of 1964 in its restricted form: a letter more, less or other, or two that changed places,
count one each, and no stretch is edited twice. It is worked out for all candidates at once, a column of the table each.
"""

import re
import string
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from bot.store.rules.search_terms import stem_of

NEAR = 3  # words that are offered at most
_SHORTEST = 4  # letters of a word that may be misspelt: of shorter ones every other word is near
_TOLD_APART = 6  # letters: a shorter word has its own letters in another order at most, as `stove` is no `store`
_TWO_FROM = 8  # letters of a word from which on it may have two faults
_RARE = 5  # items at most that have a word which may be another one misspelt: a title may have a slip, too
_TIMES = 100  # as many items have the word that it then may be
_LONGEST = 24  # letters of what is a word rather than data
_WORD = re.compile(rf"[a-z]{{2,{_LONGEST}}}", re.ASCII)


def words_in(folded: Iterable[str]) -> set[str]:
    """Return the words of some folded texts, without what has figures, signs or another script in it."""
    return set(filter(is_word, set(" ".join(folded).split())))


def is_word(token: str) -> bool:
    """Say whether a folded token is a word rather than data."""
    return _WORD.fullmatch(token) is not None


def may_be_misspelt(word: str) -> bool:
    """Say whether a folded word is one that can be told from its neighbours at all."""
    return len(word) >= _SHORTEST and _WORD.fullmatch(word) is not None


def faults(word: str) -> int:
    """Return how many faults a word of this length may have."""
    return 1 if len(word) < _TWO_FROM else 2


def lengths(word: str) -> range:
    """Return the lengths of the words that can be near."""
    return range(max(_SHORTEST - 1, len(word) - faults(word)), len(word) + faults(word) + 1)


def nearest(word: str, known: Collection[tuple[str, int]]) -> tuple[str, ...]:
    """Return the nearest of the known words, which come with how many items have them.

    Of equal ones those with all its letters come first, then the commonest.
    """
    fitting = [(each, items) for each, items in known if len(each) in lengths(word)]
    if not fitting:
        return ()
    apart = distances(word, [each for each, _ in fitting])
    near = [
        (int(far), _has_other_letters(word, each), -items, each)
        for far, (each, items) in zip(apart, fitting, strict=True)
        if 0 < far <= faults(word) and (len(word) >= _TOLD_APART or sorted(each) == sorted(word))
    ]
    return tuple(each for *_, each in sorted(near)[:NEAR])


def may_be_a_slip(word: str, having: int, names: int) -> bool:
    """Say whether a folded word that some items have may yet be another one, misspelt in those items, too.

    `having` is how many items have it in whatever inflection. Names are rare as they are, and among shorter words rare ones
    have common neighbours that they are not: *suture* is no *future*.
    """
    return 0 < having <= _RARE and not names and len(word) >= _TWO_FROM and may_be_misspelt(word)


def commoner(word: str, having: int, known: Collection[tuple[str, int]]) -> tuple[str, ...]:
    """Return those of the known words that one that few items have may be, the nearest first: one fault, another stem."""
    far_more = [(each, items) for each, items in known if items >= _TIMES * having]
    near = nearest(word, far_more)
    if not near:
        return ()
    stem = stem_of(word)
    return tuple(each for each, far in zip(near, distances(word, near), strict=True) if far == 1 and stem_of(each) != stem)


def _has_other_letters(word: str, other: str) -> bool:
    """Say whether the word has a letter that the other has not: one that is left out or misplaced is the likelier slip."""
    return bool(Counter(word) - Counter(other))


def misspelt_at_first(word: str) -> list[str]:
    """Return what the word may be where its first letters are wrong; words that begin as it does are looked for by that."""
    letters = string.ascii_lowercase
    return [
        *(letter + word[1:] for letter in letters),
        *(letter + word for letter in letters),
        word[1:],
        word[1::-1] + word[2:],
    ]


def distances(word: str, others: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """Return how many faults lie between the word and each of the others, all of them ASCII."""
    width, typed = max(map(len, others)), word.encode()
    letters = np.ascontiguousarray(np.array(others, f"S{width}").view(np.uint8).reshape(len(others), width).T)
    ends = np.array([len(other) for other in others])
    before, last = None, [np.full(len(others), place, np.int8) for place in range(width + 1)]
    found: np.ndarray[tuple[int], np.dtype[np.int8]] = np.zeros(len(others), np.int8)
    for at, letter in enumerate(typed, 1):
        row = [np.full(len(others), at, np.int8)]
        for place in range(1, width + 1):
            best = np.minimum(last[place], row[place - 1]) + np.int8(1)
            best = np.minimum(best, last[place - 1] + (letters[place - 1] != letter))
            if before is not None and place > 1:
                changed = (letters[place - 2] == letter) & (letters[place - 1] == typed[at - 2])
                best = np.where(changed, np.minimum(best, before[place - 2] + np.int8(1)), best)
            row.append(best)
        before, last = last, row
    for place in range(width + 1):
        found[ends == place] = last[place][ends == place]
    return found
