"""A search for words that is for their meaning too: what has the words, and what is near enough without them.

Everything but the bare words is as strict as ever: what is found by its meaning satisfies it too.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from sqlite_utils import Database

from bot.store.rules.fusion import BY_WORDS, WIDENED, fuse
from bot.store.rules.nearest import NOTHING, Close, Ids
from bot.store.rules.search_terms import Words
from bot.store.sqlite.search.best import Scored, Span, find_best, find_both
from bot.store.sqlite.search.compile import ALL, Condition, Match
from bot.store.sqlite.search.ids import among, satisfying
from bot.store.sqlite.search.meaning import Meaning

_BELOW = -2.0  # every relevance of what is ordered by words alone, behind what is ordered by both: a cosine is -1 at least
_TINY = 1e-6


def find_hybrid(db: Database, words: Words, condition: Condition, span: Span, meaning: Meaning) -> Scored:
    """Return ids and relevance of what satisfies the condition and has one of the words, or is close, the best first.

    However a list is cut into pages, they are pages of one list: first what both orders put together, then what has the
    words and was not among the best by them.
    """
    if not all(words):
        return []
    everything = Span(BY_WORDS, last=span.last)
    whole, some, _ = find_both(db, words, condition, everything)
    by_words = whole + some
    cosines = meaning.cosines(db, np.array([number for number, _ in by_words], np.int64))
    close = closest(db, condition, span.last, meaning)
    head = fuse(by_words, len(whole), cosines, close, partial(meaning.alike, db))
    ids = {number for number, _ in head}
    page = [pair for pair in head if pair[0] not in span.without][span.offset : span.offset + span.limit]
    if len(page) == span.limit or len(by_words) < BY_WORDS:
        return page
    offset = max(0, span.offset - len(ids.difference(span.without)))
    tail = replace(span, limit=span.limit - len(page), offset=offset, without=tuple({*span.without, *ids}))
    return page + [(number, _BELOW + _TINY * score) for number, score in find_best(db, words, condition, tail)]


def closest(db: Database, condition: Condition, last: int | None, meaning: Meaning) -> Close:
    """Return the closest of what satisfies the condition, as far as they are near enough; ids above `last` came later.

    A condition takes away: what is left stands as it does without it.
    """
    if not meaning.finds:
        return NOTHING
    if isinstance(condition, Match) and not condition.negated:
        return meaning.closest(db, WIDENED, _until(last, satisfying(db, condition)))
    near, complete = meaning.all_near(db)
    ids = _until(last, near.ids)
    kept = np.isin(near.ids, ids if condition == ALL else among(db, condition, ids))
    if complete or kept.sum() >= WIDENED:
        return Close(near.ids[kept][:WIDENED], near.cosines[kept][:WIDENED])
    return meaning.closest(db, WIDENED, _until(last, satisfying(db, condition)))


def _until(last: int | None, ids: Ids) -> Ids:
    return ids if last is None else ids[ids <= last]
