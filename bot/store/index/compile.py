"""The query tree as a query of tantivy's.

The law: for every tree and every set of items it finds exactly the items that bot.query.match accepts, as FTS5 does.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime

from tantivy import FieldType, Occur, Query, Schema

from bot.models import And, Label, Not, Number, Or, Term, Tree, When
from bot.query.fields import TEXT, spellings_of
from bot.query.fold import Spelling
from bot.query.match import bounds
from bot.store.index.documents import BEGINNING, BEST, LABEL, LONGEST_BEGINNING, TITLE_STEM
from bot.store.records import micros
from bot.store.rules.labels import label_token

_FAR = 1 << 62  # beyond every number that is indexed


class Compiler:
    """Makes queries of one index's fields."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def tree(self, tree: Tree, now: datetime) -> Query:
        """Return the query that finds the items for which the tree holds at `now`."""
        match tree:
            case Term():
                ways = (way for way in spellings_of(tree) if way.tokens)
                return any_of(each for way in ways for each in self._way(tree.field, way))
            case Label():
                return self._token(LABEL, label_token(tree.field, tree.value), tree.prefix)
            case Number():
                return self._number(tree)
            case When():
                return self._when(tree, now)
            case Not():
                return all_of((), [self.tree(tree.part, now)])
            case And():
                holds = [self.tree(part, now) for part in tree.parts if not isinstance(part, Not)]
                return all_of(holds, [self.tree(part.part, now) for part in tree.parts if isinstance(part, Not)])
            case Or():
                return any_of(self.tree(part, now) for part in tree.parts)

    def way(self, words: str) -> Query:
        """Return the query for a stem, as a word of an item's texts or as the stem of one; or else for the phrase."""
        if " " not in words:
            return self._token(BEST, words)
        return any_of(self._phrase(field, words.split()) for field in TEXT)

    def titled(self, words: str) -> Query:
        """Return the query for a stem or a phrase in the title."""
        if " " in words:
            return self._phrase("title", words.split())
        return any_of([self._token("title", words), self._token(TITLE_STEM, words)])

    def in_title(self, token: str) -> Query:
        """Return the query for a word in the title as it is."""
        return self._token("title", token)

    def ids(self, numbers: Sequence[int]) -> Query:
        """Return the query for the items of these ids."""
        # Not term_set_query, which takes four times as long.
        return any_of(Query.term_query(self._schema, "id", number) for number in numbers)

    def between(self, field: str, low: int | None = None, high: int | None = None) -> Query:
        """Return the query for what has a number in the field, both bounds included."""
        low, high = (-_FAR if low is None else max(low, -_FAR)), (_FAR if high is None else min(high, _FAR))
        if low > high:
            return Query.empty_query()
        return Query.range_query(self._schema, field, FieldType.Integer, low, high)

    def _way(self, field: str, way: Spelling) -> list[Query]:
        if begins_shortly(field, way):
            return [self._token(BEGINNING, way.tokens[0])]
        return [self._phrase(each, way.tokens, way.prefix) for each in ((field,) if field else TEXT)]

    def _phrase(self, field: str, tokens: Sequence[str], prefix: bool = False) -> Query:
        if len(tokens) == 1:
            return self._token(field, tokens[0], prefix)
        if prefix:
            return Query.regex_phrase_query(self._schema, field, [*tokens[:-1], f"{tokens[-1]}.*"])
        return Query.phrase_query(self._schema, field, list(tokens))

    # Tokens are of [a-z0-9_], so a token is its own pattern.

    def _token(self, field: str, token: str, prefix: bool = False) -> Query:
        if prefix:
            # Not phrase_prefix_query, which looks at the first fifty words that begin so.
            return Query.regex_query(self._schema, field, f"{token}.*")
        return Query.term_query(self._schema, field, token)

    def _number(self, tree: Number) -> Query:
        if tree.field == "score":  # no item has a score of its own; ranking gives it one
            return Query.empty_query()
        low = None if tree.low is None else _up(tree.low, tree.above)
        high = None if tree.high is None else -_up(-tree.high, tree.below)
        return self.between(tree.field, low, high)

    def _when(self, tree: When, now: datetime) -> Query:
        first, before, last = bounds(tree, now)
        highest = [micros(before) - 1] if before is not None else []
        highest += [micros(last)] if last is not None else []
        return self.between(tree.field, None if first is None else micros(first), min(highest, default=None))


def begins_shortly(field: str, way: Spelling) -> bool:
    """Say whether the index has a list of all that has a word which begins so."""
    return way.prefix and not field and len(way.tokens) == 1 and len(way.tokens[0]) <= LONGEST_BEGINNING


def _up(bound: float, beyond: bool) -> int:
    """Return the least whole number that is not below the bound, or is above it."""
    if math.isinf(bound):
        return _FAR + 1 if bound > 0 else -_FAR
    return math.floor(bound) + 1 if beyond else math.ceil(bound)


def all_of(holds: Iterable[Query], fails: Iterable[Query] = ()) -> Query:
    """Return the query for what all of these find and none of those."""
    wanted = [(Occur.Must, each) for each in holds] or [(Occur.Must, Query.all_query())]
    unwanted = [(Occur.MustNot, each) for each in fails]
    return wanted[0][1] if len(wanted) == 1 and not unwanted else Query.boolean_query([*wanted, *unwanted])


def any_of(parts: Iterable[Query]) -> Query:
    """Return the query for what any of these finds."""
    queries = [(Occur.Should, each) for each in parts]
    if not queries:
        return Query.empty_query()
    return queries[0][1] if len(queries) == 1 else Query.boolean_query(queries)


def beside(query: Query) -> Query:
    """Return the query without a say in how well an item matches."""
    return Query.const_score_query(query, 0.0)
