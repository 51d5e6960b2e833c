"""How much a search may cost, in counts of what SQLite does: the same query on the same items stops at the same place.

Two things cost. Every step of SQLite's virtual machine, of which a progress handler counts all. And the beginnings of
words, `a*`: FTS5 merges the lists of all words that begin so before it gives the first item, 0.1 ms for each page of its
index, and takes hardly a step meanwhile. How many pages that would be stands in the index's own directory. Measured in
docs/decisions/0040-bounded-effort.md.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlite_utils import Database

from bot.errors import UsageError
from bot.models import And, Label, Not, Or, Term, Tree
from bot.query.fields import spellings_of
from bot.store.rules.labels import label_token

_TERMS = 4  # so many words double what a step costs, as FTS5 goes through all their lists in one


@dataclass(frozen=True, slots=True)
class Effort:
    """What one search may cost at most: steps of a query without words, pages for beginnings of words, reads, and items.

    Reads are pages of the index's lists, as bot.store.sqlite.search.cost counts them. The items are those that are read and
    tried one by one where the query as it stands would pass a bound.
    """

    steps: int = 50_000_000
    pages: int = 1_000
    reads: int = 6_000
    items: int = 500
    few: int = 100_000  # items of which a search for words needs no such bound
    stretch: int = 16_000  # ids that are looked through at first, which costs little whatever is asked
    tick: int = 20_000  # steps between two looks, one to ten milliseconds: a look takes the interpreter's lock


class TooMuchEffort(Exception):  # noqa: N818 - what happened, as the other errors are named
    """The steps are used up."""


def too_wide() -> UsageError:
    """Return the error for a query that costs too much, and of which no part can be said."""
    return UsageError(
        "This query takes too much effort: too much would have to be looked through.",
        hint="Narrow it: longer beginnings of words than *a\\**, fewer alternatives.",
    )


@contextmanager
def bounded(db: Database, tree: Tree, effort: Effort) -> Iterator[None]:
    """Raise TooMuchEffort where what runs inside on this connection takes more steps than a query of this tree may."""
    terms = sum(isinstance(clause, Term) for clause in clauses(tree))
    left = effort.steps * _TERMS // (_TERMS + terms) // effort.tick

    def tick() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    db.conn.set_progress_handler(tick, effort.tick)
    try:
        yield
    except sqlite3.Error as error:
        if left < 0:
            raise TooMuchEffort from error
        raise
    finally:
        db.conn.set_progress_handler(None, 0)


def clauses(tree: Tree) -> Iterator[Tree]:
    """Give the clauses of the tree."""
    match tree:
        case Not(part):
            yield from clauses(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from clauses(part)
        case _:
            yield tree


def parts_of(tree: Tree) -> tuple[Tree, ...]:
    """Return what must hold, all of it."""
    return tree.parts if isinstance(tree, And) else (tree,)


def affordable(db: Database, tree: Tree, pages: int) -> Tree:
    """Return the tree without parts of it whose beginnings of words take more pages, the most costly left out first."""
    costs = {part: sum(_pages(db, each) for each in set(beginnings(part))) for part in parts_of(tree)}
    total = sum(costs.values())
    left_out: set[Tree] = set()
    for part in sorted(costs, key=lambda part: -costs[part]):
        if total <= pages:
            break
        left_out.add(part)
        total -= costs[part]
    return And(tuple(part for part in parts_of(tree) if part not in left_out)) if left_out else tree


def beginnings(tree: Tree) -> Iterator[str]:
    """Give the beginning of every token of the index that the tree asks for by its beginning."""
    for clause in clauses(tree):
        if isinstance(clause, Label) and clause.prefix:
            yield label_token(clause.field, clause.value)
        elif isinstance(clause, Term):
            yield from (way.tokens[-1] for way in spellings_of(clause) if way.prefix and way.tokens)


# The directory `words_idx` has, for each segment of the index, the first token of most of its pages and twice the page's
# number (fts5_index.c in SQLite's source). Tokens of the index itself begin with "0".
_PAGES = """
with recursive segments (id) as (
    select min(segid) from words_idx
    union all select (select min(segid) from words_idx where segid > id) from segments where id is not null
)
select coalesce(sum(
    coalesce(
        (select pgno from words_idx where segid = id and term > :after order by term limit 1),
        (select pgno + 2 from words_idx where segid = id order by term desc limit 1)
    ) / 2 - coalesce((select pgno from words_idx where segid = id and term <= :first order by term desc limit 1), 2) / 2
), 0) from segments where id is not null
"""


def _pages(db: Database, beginning: str) -> int:
    """Return how many pages of the index hold the lists of the tokens that begin so, at most one too many per segment."""
    first = f"0{beginning}".encode()
    return pages(db, first, first + b"\xff")


def pages(db: Database, first: bytes, after: bytes) -> int:
    """Return how many pages hold the lists of the tokens from the first up to the one after them."""
    return int(db.execute(_PAGES, {"first": first, "after": after}).fetchone()[0])
