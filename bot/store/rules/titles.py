"""How much an item is lifted by its title, where that is what was typed, or begins so. Pure, and shared by every store.

Who types a title wants that paper, and many others say its words more often: docs/decisions/0075-titles.md.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from bot.query.fold import indexed, tokens
from bot.store.rules.search_terms import STOPWORDS, Words, stem_of, stems

# What each is worth beside the parts of bot.store.rules.fusion; chosen by measuring. Of these, the first that holds.
NAME = 0.5  # the search is the title, or all of it before a colon or another break
BEGINNING = 0.2  # the title begins with the search
WITHIN = 0.1  # the search stands in the title
_LEAST = 2  # words of the title that say something: fewer are a subject, which many titles begin with
_LONGEST = 4  # tokens that may be written as one word, as in Multi-SWE-bench-mini
_BREAK = re.compile(r"[:?!;]\s|\s[-–—|]\s|[:?!.]$")


def lift(title: str, words: Words) -> float:
    """Return what an item grows by in relevance for its title, which has every word as `has_every` says.

    It is 0 where they do not stand side by side. The words are those of `split`. They count in their order, by their stems;
    function words, in the title as in the search, do not.
    """
    sought, told = [_forms(ways) for ways in words], _telling(title)
    starts = [at for at, token in enumerate(told) if sought and sought[0].may_begin(token)]
    ends = {at: end for at in starts if (end := _end(told, at, sought)) - at >= _LEAST}
    if 0 not in ends:
        return WITHIN if ends else 0.0
    return NAME if ends[0] == len(_telling(_BREAK.split(title, maxsplit=1)[0])) else BEGINNING


def has_every(title: str, words: Words) -> bool:
    """Say whether a title has every word, as an index of it has."""
    folded = indexed(title)
    padded = f" {folded} {stems(folded)} "
    return bool(words) and all(any(f" {way} " in padded for way in ways) for ways in words)


def _telling(title: str) -> list[str]:
    found = tokens(title)
    return [token for token in found if token not in STOPWORDS] or found


class _Forms(NamedTuple):
    """The stems of the ways of a word, each written as one, and what they begin with, themselves among it."""

    stems: frozenset[str]
    beginnings: frozenset[str]

    def may_begin(self, token: str) -> bool:
        """Say whether the word may begin with this token of a title."""
        return token in self.beginnings or stem_of(token) in self.stems


@lru_cache(maxsize=1_000)
def _forms(ways: tuple[str, ...]) -> _Forms:
    found = frozenset(stem_of(way.replace(" ", "")) if " " in way else way for way in ways)
    return _Forms(found, frozenset(form[:length] for form in found for length in range(1, len(form) + 1)))


def _end(told: Sequence[str], at: int, sought: Sequence[_Forms]) -> int:
    """Return where the words end that begin at this place of a title, 0 where they do not stand there."""
    for forms in sought:
        at = _after(told, at, forms)
        if not at:
            break
    return at if sought else 0


def _after(told: Sequence[str], at: int, forms: _Forms) -> int:
    """Return where a word ends that begins at this place, and may be written as several there; 0 where it does not."""
    if at >= len(told):
        return 0
    if stem_of(told[at]) in forms.stems:
        return at + 1
    if told[at] not in forms.beginnings:
        return 0
    return next((end for end in range(at + 2, at + _LONGEST + 1) if stem_of("".join(told[at:end])) in forms.stems), 0)
