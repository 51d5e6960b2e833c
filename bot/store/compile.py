"""The query tree as SQL.

The law: for every tree and every set of items the condition holds for exactly the items that bot.query.match accepts.
tests/contract/test_query_agreement.py holds the two against each other.

Words and labels become one expression of FTS5's own language where they stand together, because FTS5 intersects its lists
faster than SQL joins them. Only tokens of [a-z0-9_] in quotes enter that expression, never a person's text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from bot.models import And, Label, Not, Number, Or, Term, Tree, When
from bot.query.fields import spellings_of
from bot.query.fold import Spelling
from bot.query.match import bounds
from bot.store.records import micros

# FTS5's parser has a stack of 100 entries (fts5parse.y) and a level of brackets takes three; deeper trees become subqueries.
_DEEPEST = 24
LABELS = {"category": "c", "source": "s", "kind": "k", "language": "l", "license": "r", "has": "h", "id": "i"}
_LONGEST_LABEL = 3000  # characters; encoded at most 8 bytes each, below FTS5's token limit of 32768 bytes
_ODD = re.compile("[^a-z0-9]")


@dataclass(frozen=True, slots=True)
class Match:
    """Items that an FTS5 expression finds; with `negated` those that it does not."""

    expression: str
    depth: int = 1
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Where:
    """Items for which a condition on `items` holds; it is never NULL."""

    sql: str
    values: tuple[float | int | str, ...] = ()


Condition = Match | Where
ALL = Where("1")
NONE = Where("0")


def compile_tree(tree: Tree, now: datetime) -> Condition:
    """Return the condition for which the tree holds at `now`."""
    match tree:
        case Term():
            return any_of_spellings(spellings_of(tree), (tree.field,) if tree.field else ())
        case Label():
            return Match(_quoted(label_token(tree.field, tree.value)) + ("*" if tree.prefix else ""))
        case Number():
            return _number(tree)
        case When():
            return _when(tree, now)
        case Not():
            return negate(compile_tree(tree.part, now))
        case And():
            return all_of([compile_tree(part, now) for part in tree.parts])
        case Or():
            return any_of([compile_tree(part, now) for part in tree.parts])


def any_of_spellings(found: Iterable[Spelling], fields: Sequence[str] = ()) -> Condition:
    """Return the condition that a text has one of the spellings, anywhere or in some fields."""
    phrases = [_quoted(" ".join(spelling.tokens)) + ("*" if spelling.prefix else "") for spelling in found]
    if not phrases:
        return NONE
    either = f"({' OR '.join(phrases)})" if len(phrases) > 1 else phrases[0]
    return Match(f"{{{' '.join(fields)}}} : {either}" if fields else either)


@lru_cache(maxsize=10_000)
def label_token(field: str, value: str) -> str:
    """Return a label as one token, which no text can hold: `_l`, the field's letter, and the value spelt in [a-z0-9_].

    A value begins with another exactly when their tokens do, so that `cat:cs.*` is a prefix here too.
    """
    spelt = _ODD.sub(lambda odd: f"_{ord(odd[0]):x}_", value[:_LONGEST_LABEL])
    return f"_l{LABELS[field]}_{spelt}"


def negate(condition: Condition) -> Condition:
    """Return the condition that holds where this one does not."""
    if isinstance(condition, Match):
        return Match(condition.expression, condition.depth, not condition.negated)
    if condition in (ALL, NONE):
        return NONE if condition == ALL else ALL
    return Where(f"not ({condition.sql})", condition.values)


def all_of(conditions: Sequence[Condition]) -> Condition:
    """Return the condition that all of these hold, its FTS5 parts made one expression."""
    matches = [part for part in conditions if isinstance(part, Match)]
    merged = [_merge([part for part in matches if part.depth < _DEEPEST])]
    deep = [to_where(part) for part in matches if part.depth >= _DEEPEST]
    wheres = [part for part in conditions if isinstance(part, Where) and part != ALL]
    rest = [part for part in merged if part is not None]
    if NONE in wheres:
        return NONE
    if len(rest) == 1 and not wheres and not deep:
        return rest[0]
    every = [*map(to_where, rest), *deep, *wheres]
    if not every:
        return ALL
    return Where(" and ".join(f"({part.sql})" for part in every), tuple(value for part in every for value in part.values))


def any_of(conditions: Sequence[Condition]) -> Condition:
    """Return the condition that at least one of these holds."""
    return negate(all_of([negate(part) for part in conditions]))


def _merge(matches: Sequence[Match]) -> Match | None:
    if len(matches) < 2:
        return matches[0] if matches else None
    depth = 1 + max(match.depth for match in matches)
    wanted = " AND ".join(f"({match.expression})" for match in matches if not match.negated)
    unwanted = " OR ".join(f"({match.expression})" for match in matches if match.negated)
    if not wanted:
        return Match(unwanted, depth, negated=True)
    return Match(f"({wanted}) NOT ({unwanted})" if unwanted else wanted, depth + bool(unwanted))


def to_where(condition: Condition) -> Where:
    """Return the condition as SQL on `items`."""
    if isinstance(condition, Where):
        return condition
    inside = "not in" if condition.negated else "in"
    return Where(f"items.id {inside} (select rowid from words where words match ?)", (condition.expression,))


def _quoted(token: str) -> str:
    return f'"{token}"'


def _number(tree: Number) -> Condition:
    if tree.field == "score":  # no item has a score of its own; ranking gives it one
        return NONE
    low = (f"items.{tree.field} {'>' if tree.above else '>='} ?", tree.low)
    high = (f"items.{tree.field} {'<' if tree.below else '<='} ?", tree.high)
    bounds = [(sql, value) for sql, value in (low, high) if value is not None]
    return _known(tree.field, [sql for sql, _ in bounds], tuple(value for _, value in bounds))


def _when(tree: When, now: datetime) -> Condition:
    first, before, last = bounds(tree, now)
    limits = [(sql, time) for sql, time in ((">=", first), ("<", before), ("<=", last)) if time is not None]
    tests = [f"items.{tree.field} {sql} ?" for sql, _ in limits]
    return _known(tree.field, tests, tuple(micros(time) for _, time in limits))


def _known(field: str, bounds: list[str], values: tuple[float | int, ...]) -> Where:
    """Return the condition that the field is known and within the bounds; without the first part it could be NULL."""
    return Where(" and ".join([f"items.{field} is not null", *bounds]), values)
