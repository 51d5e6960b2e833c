"""What is close to a text: the cosine of two TF-IDF vectors over stems, for some items that share its telling words.

Where vectors of their meaning are known, their cosine counts as well, for the closest by either.

A stem counts (1 + log tf) · idf, in a title more. Of the asked text, the idf of its telling words is that of the store, as
their lists of items are read anyway; all else goes by how common words are in papers at large, so that an item's vector
depends on the item alone. docs/decisions/0016-similar-and-suggestions.md has the measurements.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import isnan, log, sqrt

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from bot.models import Hit, Item
from bot.models.vectors import README
from bot.query.fold import BARRIER, indexed
from bot.rank.common_words import STOPWORDS, table
from bot.rank.weights import TABLE_COUNTS, TITLE_TIMES
from bot.store.records import item_from_text, newness
from bot.store.rules.search_terms import stem_of
from bot.store.sqlite.ingest import last_id
from bot.store.sqlite.search.compile import having
from bot.store.sqlite.search.meaning import Meaning

TELLING = 60  # stems of a text that are looked for: about all of an abstract but its commonest words
KEPT = 100  # items that are read and measured, 0.3 ms each; nine tenths of the very closest are among them
MEANING = 0.65  # what the meaning counts beside the words; docs/decisions/0028-hybrid-search.md
_MOST = 80_000  # entries of the index that are read, 0.2 µs each
_TITLE = "{title title_stem}"
_MOST_STEMS = 200_000  # in the memo, about 20 MB; then it starts afresh
_MOST_TIMES = 100  # a word counts no more however often it stands there
_LOGS = (0.0, *(log(count) for count in range(1, _MOST_TIMES + 1)))


@dataclass(frozen=True, slots=True)
class Asked:
    """A text that others are to be close to."""

    weights: Mapping[str, float]  # 1 + log tf of every stem
    telling: tuple[str, ...]  # the stems that say most about it, the most telling first

    def idf(self, found: Mapping[str, int], number: int) -> dict[str, float]:
        """Return every stem's idf, for those that were looked for by how many of the store's items have them."""
        return {stem: idf(found[stem], number) if stem in found else _rarity(stem) for stem in self.weights}


def idf(having: int, number: int) -> float:
    """Return the idf of what so many of a number of items have, as in bot.rank.vectors."""
    return 1 + log((1 + number) / (1 + having))


def asked(item: Item) -> Asked:
    """Return what is asked for with an item."""
    weights = _weights(item)
    order = sorted(weights, key=lambda stem: (-weights[stem] * _rarity(stem), stem))
    return Asked(weights, tuple(order[:TELLING]))


def closest(
    about: Asked, rarity: Mapping[str, float], item: Item, others: Mapping[Item, float | None], limit: int
) -> list[Hit]:
    """Return the closest of the others, itself left out under whatever name; `rarity` is the idf of the asked stems.

    The others come with the cosine of what they mean and what the item means, None where that is not known: such an item
    counts as the mean of those where it is.
    """
    names = {item.key, *item.aliases}
    vector = {stem: weight * rarity[stem] for stem, weight in about.weights.items()}
    length = _length(vector.values())
    meant = [cosine for cosine in others.values() if cosine is not None]
    usual = sum(meant) / len(meant) if meant else None
    hits = [
        Hit(other, _closeness(_cosine(vector, length, other), usual if cosine is None else cosine))
        for other, cosine in others.items()
        if names.isdisjoint((other.key, *other.aliases))
    ]
    ordered = sorted((hit for hit in hits if hit.relevance), key=lambda hit: newness(hit.item), reverse=True)
    return sorted(ordered, key=lambda hit: -hit.relevance)[: max(0, limit)]


def _closeness(by_words: float, meant: float | None) -> float:
    return by_words if meant is None else (1 - MEANING) * by_words + MEANING * min(1.0, max(0.0, meant))


def similar(db: Database, item: Item, limit: int, meaning: Meaning | None = None) -> list[Hit]:
    """Return the items that are closest to this one."""
    about = asked(item)
    number = last_id(db)
    points = np.zeros(number + 1)
    found: dict[str, int] = {}
    for stem in about.telling:
        ids = having(db, f'"{stem}"')
        found[stem] = len(ids)
        share = about.weights[stem] * idf(found[stem], number) * _rarity(stem)
        points[ids] += share
        points[having(db, f'{_TITLE} : "{stem}"')] += share  # a title says what the text is about, and says it again
        if sum(found.values()) > _MOST:
            break
    kept = _highest(points, max(KEPT, limit) + 1)  # the item itself may be among them
    cosines = _cosines(db, kept, max(KEPT, limit) + 1, meaning)
    rows = db.execute(
        "select id, data from records where id in (select value from json_each(?))", [json.dumps(list(cosines))]
    )
    others = {item_from_text(data): cosines[number] for number, data in rows.fetchall()}
    return closest(about, about.idf(found, number), item, others, limit)


def _cosines(db: Database, kept: Sequence[int], most: int, meaning: Meaning | None) -> dict[int, float | None]:
    """Return those kept and, of what is close by its meaning, as many; each with its cosine, where it has a vector."""
    if meaning is None:
        return dict.fromkeys(kept)
    close = meaning.closest(db, most)
    of_kept = meaning.cosines(db, np.array(kept, np.int64)).tolist()
    known = {number: None if isnan(cosine) else cosine for number, cosine in zip(kept, of_kept, strict=True)}
    return {**known, **dict(zip(close.ids.tolist(), close.cosines.tolist(), strict=True))}


def _highest(points: NDArray[np.float64], number: int) -> list[int]:
    """Return the ids with the most points, of those that have any; of equal ones the latest."""
    some = np.flatnonzero(points)
    if len(some) > number:
        some = some[points[some] >= np.partition(points[some], -number)[-number]]
    order = np.lexsort((-some, -points[some]))[:number]
    kept: list[int] = some[order].tolist()
    return kept


def _cosine(vector: Mapping[str, float], length: float, other: Item) -> float:
    weights, rarities, rarest = _weights(other), _rarities(), _rarest()
    own = {stem: weight * rarities.get(stem, rarest) for stem, weight in weights.items()}
    shared = sum(vector[stem] * own[stem] for stem in sorted(vector.keys() & own.keys()))
    return min(1.0, shared / (length * _length(own.values()))) if shared else 0.0


def _length(weights: Iterable[float]) -> float:
    return sqrt(sum(weight * weight for weight in weights))


def _weights(item: Item) -> dict[str, float]:
    """Return 1 + log tf of every stem that says something about the item's subject; in the title it counts more."""
    counts = Counter(map(_STEMS.__getitem__, indexed(item.abstract, item.readme[:README], *item.keywords).split()))
    for stem in map(_STEMS.__getitem__, indexed(item.title).split()):
        counts[stem] += 1 + TITLE_TIMES
    counts.pop("", None)
    return {stem: 1 + _LOGS[min(count, _MOST_TIMES)] for stem, count in counts.items()}


class _Telling(dict[str, str]):
    """The stem of each token that says something about a text's subject, otherwise ""."""

    def __missing__(self, token: str) -> str:
        if len(self) >= _MOST_STEMS:
            self.clear()
        silent = token in STOPWORDS or token == BARRIER or token.isdigit()
        self[token] = stem = "" if silent else stem_of(token)
        return stem


_STEMS = _Telling()


def _rarity(stem: str) -> float:
    """Return the idf of a stem in papers at large."""
    return _rarities().get(stem, _rarest())


@cache
def _rarities() -> dict[str, float]:
    """The commonest word of a stem speaks for it."""
    papers: dict[str, float] = {}
    for word, number in table().items():
        stem = stem_of(word)
        papers[stem] = max(number, papers.get(stem, 0.0))
    return {stem: 1 + log(TABLE_COUNTS / number) for stem, number in papers.items()}


@cache
def _rarest() -> float:
    return max(_rarities().values())
