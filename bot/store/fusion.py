"""One list of what has the words of a search and of what is close to it in meaning. Pure, and shared by every store.

An item counts by its cosine with the search and by how well it has the words, beside the item that has them best. Measured
against standardised scores, whose mean and spread depend on what else is stored: docs/decisions/0028-hybrid-search.md.
"""

import numpy as np

from bot.store.nearest import Close, Ids
from bot.vectors import Floats

WORDS = 0.35  # what the best match by words counts, where the closest of all could count 1; chosen by measuring
WIDENED = 200  # items at most that are found by their meaning alone
BY_WORDS = 500  # items, the best by their words, that are put in order by both; the others follow by their words

Scored = list[tuple[int, float]]  # id and relevance, larger for better


def fuse(words: Scored, cosines: Floats, close: Close) -> Scored:
    """Return ids and relevance of both, the best first.

    `words` are what has the words, with larger numbers for better; `cosines` are theirs, nan where there is no vector: such
    an item counts as the mean of the others, so that it stands where its words put it.
    """
    ids = np.array([number for number, _ in words], np.int64)
    by_words = np.array([score for _, score in words])
    known = np.isfinite(cosines)
    usual = float(cosines[known].mean()) if known.any() else 0.0
    meant = np.where(known, cosines, usual)
    shares = by_words / by_words.max() if len(ids) and by_words.max() > 0 else np.zeros(len(ids))
    new = ~np.isin(close.ids, ids)
    every: Ids = np.concatenate([ids, close.ids[new]])
    scores = np.concatenate([meant + WORDS * shares, close.cosines[new]]).astype(np.float64)
    order = np.lexsort((-every, -scores))
    return list(zip(every[order].tolist(), scores[order].tolist(), strict=True))
