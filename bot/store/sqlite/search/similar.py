"""What is close to a text: BM25 of the words that it shares with some items, and the cosine of what both mean.

The items are those with most of its telling words and, where vectors are known, those closest in meaning. BM25 (S. Robertson
et al., "Okapi at TREC-3", 1994) is taken as a share of what the asked text itself would get, so that 1 is the same text. Of
the asked text, how rare its telling words are is counted in the store, as their lists of items are read anyway, and with
them some papers at large; all else goes by how common words are in papers at large.

docs/decisions/0016-similar-and-suggestions.md tells how items are found, and 0072-similar-by-words-and-meaning.md there how
they are put in order and from where on nothing is called similar.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp, inf, isnan, log
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from bot.models import Hit, Item
from bot.models.vectors import README
from bot.query.fold import BARRIER, indexed
from bot.rank.common_words import STOPWORDS, table
from bot.rank.weights import TABLE_COUNTS, TITLE_TIMES
from bot.store.records import item_from_text, newness
from bot.store.rules.common_ground import apart, as_cards, shared
from bot.store.rules.halves import half_named
from bot.store.rules.search_terms import stem_of
from bot.store.sqlite.ingest import ids_of, last_id
from bot.store.sqlite.items import hydrate
from bot.store.sqlite.search.compile import having
from bot.store.sqlite.search.meaning import Meaning

TELLING = 60  # stems of a text that are looked for: about all of an abstract but its commonest words
KEPT = 100  # items that are read and measured, 0.3 ms each; nine tenths of the very closest are among them
WORDS = 1.5  # what the words count beside the cosine of the meaning; decision 0072 has the measurements of these six
# From where on something is called similar: the share of the words, where these alone can be compared, or together with a
# cosine that is near; and how far above what is near a cosine suffices by itself: a repository's one line shares few words.
CLOSE_BY_WORDS = 0.18
CLOSE_IN_MEANING = 0.18
BESIDE = 0.8  # of that bar suffices beside one that reaches it
AT_LARGE = 1000  # papers at large that are counted with the store's items: a few items don't tell which words are common
_SATURATION = 1.2  # k1 of BM25: how soon a word that stands there once more counts less
_LENGTH = 0.75  # b of BM25: how much a long text's words count less
_USUAL_LENGTH = 110  # stems of a short abstract, the title's counted as often as they count
_LEAST = 0.05  # of a word that every item has: two items alone in a store are compared too
_KNOWN_WELL = 1000  # items from which on the store knows which words are common
_MOST = 80_000  # entries of the index that are read, 0.2 µs each
_TITLE = "{title title_stem}"
_MOST_STEMS = 200_000  # in the memo, about 20 MB; then it starts afresh
_MOST_TIMES = 100  # a word counts no more however often it stands there
_LOGS = (0.0, *(log(count) for count in range(1, _MOST_TIMES + 1)))
# Some tens of milliseconds of the interpreter, which one thread has at a time: several that want it keep it from the event
# loop for longer, and are no sooner done. What SQLite and numpy do goes on side by side.
_COMPUTING = Lock()
_SPARE = 5  # hits beyond the limit, in case that some are the other halves of others


@dataclass(frozen=True, slots=True)
class Asked:
    """A text that others are to be close to."""

    weights: Mapping[str, float]  # 1 + log tf of every stem
    telling: tuple[str, ...]  # the stems that say most about it, the most telling first

    def idf(self, found: Mapping[str, int], number: int) -> dict[str, float]:
        """Return every stem's idf, for those that were looked for by how many of the store's items have them."""
        return {stem: _expected(stem, found[stem], number) if stem in found else _rarity(stem) for stem in self.weights}

    def rarity(self, found: Mapping[str, int], number: int) -> dict[str, float]:
        """Return by how rare its stems are that this text can be told from others: at large, and in a store of some size."""
        known = {stem: idf(having, number) for stem, having in found.items()} if number >= _KNOWN_WELL else {}
        return {stem: min(known.get(stem, inf), _rarity(stem)) for stem in self.weights}


def idf(having: int, number: int) -> float:
    """Return the idf of what so many of a number of items have, as in bot.rank.vectors."""
    return 1 + log((1 + number) / (1 + having))


def _expected(stem: str, having: int, number: int) -> float:
    """Return the idf of a stem that so many of a number of items have, `AT_LARGE` papers at large counted with them.

    It is the mean of what both say (the posterior of a beta distribution, or Dirichlet smoothing): nearly that of papers at
    large in a store of ten items, which are all on one subject, and that of the store where it has tens of thousands.
    """
    return 1 + log((1 + number + AT_LARGE) / (1 + having + AT_LARGE * exp(1 - _rarity(stem))))


def asked(item: Item) -> Asked:
    """Return what is asked for with an item."""
    weights = {stem: 1 + _LOGS[min(count, _MOST_TIMES)] for stem, count in _counts(item).items()}
    order = sorted(weights, key=lambda stem: (-weights[stem] * _rarity(stem), stem))
    return Asked(weights, tuple(order[:TELLING]))


def closest(
    about: Asked,
    rarity: Mapping[str, float],
    item: Item,
    others: Mapping[Item, float | None],
    limit: int,
    enough: float = inf,
) -> list[Hit]:
    """Return the closest of the others that are close; `rarity` is the idf of the asked stems.

    The item itself is left out under whatever name, and with it its other half and what is the same under another key; of
    others that are the same, the first stays. The others come with the cosine of what they mean and what the item means,
    None where that is not known: such an item counts as the mean of those where it is. `enough` is from where on a cosine
    says that texts are near, above 1 where nobody knows: then it orders, and words alone decide who is called similar.
    """
    vector = {stem: weight * max(_LEAST, rarity[stem] - 1) for stem, weight in about.weights.items()}
    whole = _matched(vector, item)
    meant = [cosine for cosine in others.values() if cosine is not None]
    usual = sum(meant) / len(meant) if meant else None
    hits: list[Hit] = []
    reached: dict[str, float] = {}
    for other, known in others.items():
        words = min(1.0, _matched(vector, other) / whole) if whole else 0.0
        cosine = usual if known is None else min(1.0, max(0.0, known))
        reached[other.key] = _share_of_bar(words, cosine, enough)
        if reached[other.key] >= BESIDE:
            hits.append(Hit(other, _relevance(words, cosine)))
    ordered = sorted(hits, key=lambda hit: newness(hit.item), reverse=True)
    kept = apart(item, sorted(ordered, key=lambda hit: -hit.relevance))
    return kept[: max(0, limit)] if any(reached[hit.item.key] >= 1 for hit in kept) else []


def _share_of_bar(words: float, cosine: float | None, enough: float) -> float:
    """Return how much there is of what is needed to be called similar, 1 where it is reached."""
    if cosine is None or enough > 1:
        return words / CLOSE_BY_WORDS
    by_both = _relevance(words, cosine) / _relevance(CLOSE_BY_WORDS, enough)
    return max(by_both, float(cosine >= enough + CLOSE_IN_MEANING))


def _relevance(words: float, cosine: float | None) -> float:
    return words if cosine is None else (WORDS * words + cosine) / (WORDS + 1)


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
    texts = rows.fetchall()
    enough = meaning.near.enough if meaning is not None else inf
    with _COMPUTING:
        others = {item_from_text(data): cosines[number] for number, data in texts}
        hits = closest(about, about.idf(found, number), item, others, limit + _SPARE if limit > 0 else 0, enough)
    halves = _halves(db, hits)
    with _COMPUTING:
        return told(about, about.rarity(found, number), item, as_cards(hits, halves, limit))


def _halves(db: Database, hits: Sequence[Hit]) -> dict[str, Item]:
    """Return the other halves that the hits name, by key."""
    items = hydrate(db, list(ids_of(db, list(filter(None, (half_named(hit.item) for hit in hits)))).values()))
    return {item.key: item for item in items.values()}


def told(about: Asked, rarity: Mapping[str, float], item: Item, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with the words and phrases that each shares with the item."""
    kept = {stem: rarity[stem] for stem in about.weights}
    both = shared(item, [hit.item for hit in hits], kept, _STEMS.__getitem__)
    return [replace(hit, shared=phrases) for hit, phrases in zip(hits, both, strict=True)]


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


def _matched(vector: Mapping[str, float], other: Item) -> float:
    """Return BM25 of the other's text for the asked stems with their weights."""
    counts = _counts(other)
    length = 1 - _LENGTH + _LENGTH * sum(counts.values()) / _USUAL_LENGTH
    return sum(
        vector[stem] * counts[stem] * (_SATURATION + 1) / (counts[stem] + _SATURATION * length)
        for stem in sorted(vector.keys() & counts.keys())
    )


def _counts(item: Item) -> Counter[str]:
    """Return how often every stem stands there that says something about the item's subject; in the title it counts more."""
    counts = Counter(map(_STEMS.__getitem__, indexed(item.abstract, item.readme[:README], *item.keywords).split()))
    for stem in map(_STEMS.__getitem__, indexed(item.title).split()):
        counts[stem] += 1 + TITLE_TIMES
    counts.pop("", None)
    return counts


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
