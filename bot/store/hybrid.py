"""A search for words that is for their meaning too: what has the words, and what is near enough without them.

Everything but the bare words is as strict as ever: what is found by its meaning satisfies it too.
"""

import json
from dataclasses import replace
from functools import partial

import numpy as np
from sqlite_utils import Database

from bot.store.best import Scored, Span, find_best
from bot.store.compile import ALL, Condition, Where, all_of, to_where
from bot.store.fusion import BY_WORDS, WIDENED, fuse
from bot.store.meaning import Meaning
from bot.store.nearest import Close, Ids
from bot.store.words import Words

_TRIED = 400  # of the closest, before everything that satisfies a condition is looked up
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
    by_words = find_best(db, words, condition, everything, ahead=False)
    cosines = meaning.cosines(db, np.array([number for number, _ in by_words], np.int64))
    close = closest(db, condition, span.last, meaning)
    head = fuse(by_words, cosines, close, partial(meaning.alike, db))
    ids = {number for number, _ in head}
    page = [pair for pair in head if pair[0] not in span.without][span.offset : span.offset + span.limit]
    if len(page) == span.limit or len(by_words) < BY_WORDS:
        return page
    offset = max(0, span.offset - len(ids.difference(span.without)))
    tail = replace(span, limit=span.limit - len(page), offset=offset, without=tuple({*span.without, *ids}))
    return page + [(number, _BELOW + _TINY * score) for number, score in find_best(db, words, condition, tail)]


def closest(db: Database, condition: Condition, last: int | None, meaning: Meaning) -> Close:
    """Return the closest of what satisfies the condition, as far as they are near enough; ids above `last` came later."""
    bounds, limits = Span(0, last=last).bounds("items.id")
    strict = all_of([condition, *(Where(sql, (value,)) for sql, value in zip(bounds, limits, strict=True))])
    found = meaning.closest(db, _TRIED)
    if strict == ALL or not len(found.ids):
        return _first(found)
    kept = np.isin(found.ids, _satisfying(db, strict, found.ids))
    if kept.sum() < WIDENED and len(found.ids) == _TRIED:
        return meaning.closest(db, WIDENED, _satisfying(db, strict))
    return _first(Close(found.ids[kept], found.cosines[kept]))


def _first(found: Close) -> Close:
    return Close(found.ids[:WIDENED], found.cosines[:WIDENED])


def _satisfying(db: Database, condition: Condition, among: Ids | None = None) -> Ids:
    """Return the ids of the items for which the condition holds, of some alone where they are given.

    SQLite writes them as one text: a row for each would take three times as long.
    """
    within = [] if among is None else [Where("items.id in (select value from json_each(?))", (json.dumps(among.tolist()),))]
    sql, values = to_where(all_of([*within, condition])).select("group_concat(items.id)")
    text = db.execute(sql, values).fetchone()[0]
    return np.fromstring(text, np.int64, sep=",") if text else np.empty(0, np.int64)
