"""How people write the words that are counted: a folded word is `cach`-like, a reader wants `caches` or `KV`."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from bot.models import Item
from bot.query.fold import BARRIER, indexed

_TRIMMED = ".,;:!?()[]{}\"'`*_~“”‘’«»…"


def spellings_in(items: Iterable[Item]) -> dict[str, str]:
    """Return for every folded word of the items the spelling that they use most; on a tie the one in small letters.

    A hyphenated word is the spelling of its joined form: `pre-training` of pretraining.
    """
    written: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        for spelling in _written(item):
            for word in _words(spelling):
                written[word][spelling] += 1
    return {word: _best(word, counts) for word, counts in written.items() if word != BARRIER}


def spelled(words: Sequence[str], item: Item) -> list[str]:
    """Return how the item writes each of some folded words; a word that is not in it as it is."""
    found: dict[str, Counter[str]] = {word: Counter() for word in words}
    for spelling in _written(item):
        for word in _words(spelling):
            if word in found:
                found[word][spelling] += 1
    return [_best(word, counts) if counts else word for word, counts in found.items()]


def spelled_in(words: Collection[str], texts: Iterable[str]) -> dict[str, str]:
    """Return how the texts write each of some folded words, as `spellings_in`; a word that none of them has is absent."""
    found: dict[str, Counter[str]] = {word: Counter() for word in words}
    for spelling in (spelling for text in texts for spelling in _chunks(text)):
        for word in _words(spelling):
            if word in found:
                found[word][spelling] += 1
    return {word: _best(word, counts) for word, counts in found.items() if counts}


def _written(item: Item) -> Iterator[str]:
    return _chunks(" ".join((item.title, item.abstract, *item.keywords)))


def _chunks(text: str) -> Iterator[str]:
    return (spelling for chunk in text.split() if (spelling := chunk.strip(_TRIMMED)))


@lru_cache(maxsize=65_536)  # the words of a day and of all that was marked; about 10 MB when it is full
def _words(spelling: str) -> tuple[str, ...]:
    return tuple(indexed(spelling).split())


def _best(word: str, counts: Counter[str]) -> str:
    # A part of a compound is told by a spelling of its own where there is one: `training`, not `pre-training`.
    alone = {spelling: count for spelling, count in counts.items() if _words(spelling) == (word,)} or counts
    best = min(alone, key=lambda spelling: (-alone[spelling], not spelling.islower(), len(spelling), spelling))
    # Where there is none, by its part: `Smith` of Kernel-Smith, `vllm` of an address.
    parts = () if _words(best) == (word,) else re.findall(r"\w+", best)
    return next((part for part in parts if _words(part) == (word,)), best)
