"""One list of what has the words of a search and of what is close to it in meaning. Pure, and shared by every store.

An item counts by its cosine with the search, by how well it has the words beside the item that has them best, by whether
it has all of them, by its title where that was typed, by how close it is to what then comes first, and a little by how new
it is. Measured against standardised
scores, whose mean and spread depend on what else is stored: docs/decisions/0028-hybrid-search.md.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import numpy as np

from bot.models.vectors import Floats
from bot.store.rules.nearest import Close, Ids

# What counts beside the cosine with the search itself; chosen by measuring.
WORDS = 0.4  # the share of the best match by words
EVERY = 0.2  # having all of them
FIRST = 0.3  # the cosine with what the first items mean together: J. J. Rocchio's feedback, 1971, with nobody asked
FIRST_ITEMS = 3
NEW = 0.06  # being of today; half of it after a year: as much as one or two places among good matches
_HALF = timedelta(days=365)
BY_WORDS_ALONE = 1.0  # having all of the words, where no meaning is known: before everything that lacks one
WIDENED = 200  # items at most that are found by their meaning alone
BY_WORDS = 200  # items, the best by their words, that are put in order by both; the others follow by their words

Scored = list[tuple[int, float]]  # id and relevance, larger for better
Alike = Callable[[Ids, Ids], Floats]
New = Callable[[Ids], Sequence[datetime]]


def fuse(
    words: Scored,
    whole: int,
    cosines: Floats,
    close: Close,
    alike: Alike,
    new: New,
    now: datetime,
    lifts: Sequence[float] = (),
) -> Scored:
    """Return ids and relevance of both, the best first.

    `words` are what has the words, with larger numbers for better; the first `whole` of them have every word. `cosines` are
    theirs, nan where there is no vector: such an item counts as the mean of the others, so that it stands where its words
    put it. `alike` gives the cosines of some items with what others mean together, nan as well; `new` when they appeared.
    `lifts` are what the first of the words' items are lifted by for their titles, as bot.store.rules.titles has it.
    """
    ids = np.array([number for number, _ in words], np.int64)
    by_words = np.array([score for _, score in words])
    shares = by_words / by_words.max() if len(ids) and by_words.max() > 0 else np.zeros(len(ids))
    fresh = ~np.isin(close.ids, ids)
    every: Ids = np.concatenate([ids, close.ids[fresh]])
    known = np.concatenate([cosines, close.cosines[fresh]])
    scores = _filled(known)
    scores[: len(ids)] += WORDS * shares
    scores[:whole] += EVERY if np.isfinite(known).any() else BY_WORDS_ALONE
    scores[: len(lifts)] += np.array(lifts)
    if len(every):
        first = every[np.lexsort((-every, -scores))][:FIRST_ITEMS]
        scores += FIRST * _filled(alike(first, every))
        scores += NEW * np.array([_newness(when, now) for when in new(every)])
    order = np.lexsort((-every, -scores))
    return list(zip(every[order].tolist(), scores[order].tolist(), strict=True))


def _newness(when: datetime, now: datetime) -> float:
    """Return 1 for what is of now or later, half of it after a year, a quarter after two."""
    return float(0.5 ** max(0.0, (now - when) / _HALF))


def _filled(cosines: Floats) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the cosines with the mean of those that are known where one is not; 0 where none is."""
    known = np.isfinite(cosines)
    return np.where(known, cosines, cosines[known].mean() if known.any() else 0.0).astype(np.float64)
