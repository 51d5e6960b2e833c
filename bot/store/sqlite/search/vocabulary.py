"""The words that the stored items have: how many have one, which are near to one that none has, what stands for what."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlite_utils import Database

from bot.models import WordUse
from bot.query.fold import indexed
from bot.store.rules.search_terms import stem_of
from bot.store.rules.spelling import commoner, lengths, may_be_a_slip, may_be_misspelt, misspelt_at_first, nearest
from bot.store.sqlite.ingest import SPELT, last_id
from bot.store.sqlite.search.compile import way

_FEW_AMONG = 400_000  # items, of which a word has so few that it is hardly one: 1, of twice as many 2
_STANDING = 3  # that one text may stand for
# The plus keeps SQLite from walking through all that texts stand for, the commonest first, until it meets these.
STANDING_SQL = (
    "select value, items from labels where field = ? and value >= ? and value < ? order by +items desc, value limit ?"
)


def use_of(db: Database, word: str) -> WordUse:
    """Return how the word is used."""
    folded = indexed(word).split()
    if len(folded) != 1:
        return WordUse(0)
    row = db.execute("select items, names from vocabulary where word = ?", folded).fetchone()
    if row is not None and not may_be_a_slip(folded[0], *row):
        return WordUse(*row)
    having = _having(db, folded[0])
    use = WordUse(*row) if row is not None else WordUse(having)
    if may_be_a_slip(folded[0], having, use.names):
        return replace(use, near=commoner(folded[0], having, _candidates(db, folded[0])))
    if having or not may_be_misspelt(folded[0]):
        return use
    return WordUse(0, near=nearest(folded[0], _candidates(db, folded[0])))


def _having(db: Database, word: str) -> int:
    """Return how many items have the word in whatever inflection."""
    stem = way(stem_of(word)).expression
    return int(db.execute("select count(*) from words where words match ?", [stem]).fetchone()[0])


def _candidates(db: Database, word: str) -> list[tuple[str, int]]:
    """Return words of about its length: those with its first letter, and those that it may be but for that.

    Of very many items those are left out that hardly any has: most of them are slips themselves.
    """
    near, after, least = lengths(word), chr(ord(word[0]) + 1), 1 + last_id(db) // _FEW_AMONG
    sql = "select word, items from vocabulary where word >= ? and word < ? and items >= ? and length(word) between ? and ?"
    begun = db.execute(sql, [word[0], after, least, near[0], near[-1]]).fetchall()
    sql = "select word, items from vocabulary where word in (select value from json_each(?))"
    others = db.execute(sql, [json.dumps(misspelt_at_first(word))]).fetchall()
    return list(dict.fromkeys([*begun, *others]))


def stands_for(db: Database, spelt: Sequence[str]) -> Mapping[str, Sequence[tuple[str, int]]]:
    """Return what each of these texts stands for, the commonest first."""
    found = {each: db.execute(STANDING_SQL, [SPELT, f"{each}=", f"{each}>", _STANDING]).fetchall() for each in spelt}
    return {each: [(value[len(each) + 1 :], items) for value, items in rows] for each, rows in found.items() if rows}
