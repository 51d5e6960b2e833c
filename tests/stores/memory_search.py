"""How the memory store ranks: what a search finds, and what is closest to an item."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import isnan

import numpy as np

from bot.models import Hit, Item, Near, WordUse
from bot.models.vectors import Floats, unpack
from bot.query.fields import TEXT, text_of
from bot.query.fold import BARRIER, indexed
from bot.store.records import newness
from bot.store.rules.answers import QUARTER, answering, least, weights
from bot.store.rules.common_ground import as_cards
from bot.store.rules.fusion import WIDENED, Alike, fuse
from bot.store.rules.nearest import NOTHING, Close, Ids
from bot.store.rules.search_terms import Words, stem_of, stemmed
from bot.store.rules.spelling import commoner, may_be_a_slip, may_be_misspelt, misspelt_at_first, nearest, words_in
from bot.store.rules.titles import has_every, lift
from bot.store.sqlite.search.similar import asked, closest, told
from tests.stores.memory_vectors import MemoryVectors

_HAVING = 3  # points of a word that an item has


def similar(
    item: Item, others: Sequence[Item], number: int, limit: int, cosines: Mapping[str, float], enough: float
) -> list[Hit]:
    """Return those of the others whose texts are closest to the item's, of `number` that were ever stored.

    `cosines` say by key how close the others are by their meaning, as far as that is known, `enough` what is near.
    """
    about = asked(item)
    having = [(other, stems) for other in others if (stems := _tokens(other).intersection(about.telling))]
    counts = Counter(stem for _, stems in having for stem in stems)
    found = {stem: counts[stem] for stem in about.telling}
    near = [other for other in others if cosines.get(other.key, 0.0) >= enough]
    meant = {other: cosines.get(other.key) for other in (*(each for each, _ in having), *near)}
    hits = closest(about, about.idf(found, number), item, meant, len(others), enough)
    cards = as_cards(hits, {other.key: other for other in others}, limit)
    return told(about, about.rarity(found, number), item, cards)


def _tokens(item: Item) -> set[str]:
    """Return the words of the item's texts and their stems."""
    texts = tuple(text_of(item, field) for field in TEXT)
    return set(" ".join((*texts, *stemmed(texts))).split())


def telling(items: Sequence[Item], words: Words, last: int) -> list[float]:
    """Return what each of the words tells, of what was stored up to the number `last`."""
    having = [_points(item, words) for item in items]
    return weights([sum(points[at] > 0 for points in having) for at in range(len(words))], last)


def ranked(
    hits: Sequence[Hit],
    words: Words,
    tell: Sequence[float],
    numbers: Mapping[str, int],
    near: Near | None,
    vectors: MemoryVectors,
    now: datetime,
) -> list[Hit]:
    """Return the hits that are answers, the best first; with `near`, by that too, and what is near enough without words."""
    scored = [(numbers[hit.item.key], relevance(hit.item, words, tell)) for hit in hits]
    having = sorted((pair for pair in scored if pair[1]), key=lambda pair: -pair[1])
    whole = sum(score >= 2 * _HAVING * len(words) for _, score in having)
    few = [(number, -score) for number, score in scored if score < 0] if near is not None else []
    having = [*(pair for pair in having if pair[1] > 0), *few]
    items = {numbers[hit.item.key]: hit.item for hit in hits}
    cosines, found = np.full(len(having), np.nan, np.float32), NOTHING
    alike: Alike = _unlike
    if near is not None:
        nearest, (vector,) = vectors.nearest(near, numbers), unpack([near.vector])
        cosines = nearest.cosines(vector, np.array([number for number, _ in having], np.int64))
        kept = answering(cosines, whole, len(few), near.enough)
        having, cosines = [pair for pair, good in zip(having, kept, strict=True) if good], cosines[kept]
        ids, close = nearest.closest(vector, WIDENED, np.array(list(items), np.int64))
        found = Close(ids[close >= near.enough], close[close >= near.enough])
        alike = lambda first, some: nearest.cosines(nearest.together(first), some)  # noqa: E731 - two arguments handed on
    new = lambda ids: [newness(items[each])[0] for each in ids.tolist()]  # noqa: E731 - as above
    titles = [items[number].title for number, _ in having[:whole]]
    lifts = [lift(title, words) if has_every(title, words) else 0.0 for title in titles]
    order = fuse(having, whole, cosines, found, alike, new, now, lifts)
    return [Hit(items[number], score) for number, score in order]


def _unlike(_first: Ids, ids: Ids) -> Floats:
    return np.full(len(ids), np.nan, np.float32)


def cosines_of(
    others: Sequence[Item], numbers: Mapping[str, int], near: Near | None, vectors: MemoryVectors
) -> Mapping[str, float]:
    """Return how close each item is, by key, as far as that is known."""
    if near is None:
        return {}
    ids = np.array([numbers[other.key] for other in others], np.int64)
    found = vectors.nearest(near, numbers).cosines(unpack([near.vector])[0], ids).tolist()
    return {other.key: cosine for other, cosine in zip(others, found, strict=True) if not isnan(cosine)}


def relevance(item: Item, words: Words, tell: Sequence[float]) -> float:
    """Return the points of the words that the item has, twice as many when it has all; 0 where it is no answer by them.

    Below 0 are the points of what has less than half of the words, and a quarter.
    """
    points = _points(item, words)
    if not words or not all(words):
        return 0.0
    if all(points):
        return 2.0 * sum(points)
    told = sum(weight for weight, had in zip(tell, points, strict=True) if had)
    if not told or told < least(tell, QUARTER):
        return 0.0
    return float(sum(points)) * (1 if told >= least(tell) else -1)


def _points(item: Item, words: Words) -> list[int]:
    """Return 3 for each of the words that the item has, 1 more for its title, and 0 for one that it has not."""
    title, *rest = texts = tuple(text_of(item, field) for field in TEXT)
    text = f" {BARRIER} ".join(rest)
    stems = stemmed(texts)
    places = {False: (f" {title} {stems[0]} ", f" {text} {stems[1]} "), True: (f" {title} ", f" {text} ")}

    def score(ways: tuple[str, ...]) -> int:
        found = [[f" {way} " in place for place in places[" " in way]] for way in ways]
        return max((_HAVING + 1 if in_title else _HAVING if in_text else 0 for in_title, in_text in found), default=0)

    return list(map(score, words))


def use_of(items: Iterable[Item], word: str) -> WordUse:
    """Return how the word is used in the items."""
    folded = indexed(word).split()
    if len(folded) != 1:
        return WordUse(0)
    texts = [tuple(text_of(item, field) for field in TEXT) for item in items]
    counts = Counter(each for some in texts for each in words_in(some))
    stem = stem_of(folded[0])
    having = sum(stem in " ".join((*some, *stemmed(some))).split() for some in texts)
    others = misspelt_at_first(folded[0])
    near = [(each, count) for each, count in counts.items() if each[0] == folded[0][0] or each in others]
    names = sum(folded[0] in some[TEXT.index("author")].split() for some in texts)
    use = WordUse(counts.get(folded[0], having), names if folded[0] in counts else 0)
    if may_be_a_slip(folded[0], having, names):
        return replace(use, near=commoner(folded[0], having, near))
    if folded[0] in counts:
        return use
    if having or not may_be_misspelt(folded[0]):
        return WordUse(having)
    return WordUse(0, near=nearest(folded[0], near))
