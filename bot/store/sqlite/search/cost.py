"""What it takes to look for a tree's words and labels in the index, in pages that are read, by how long their lists are.

The directory of the index says how many pages a token's list has. Times are of a million papers, where a list of nearly all
of them has 2,500 pages: 0.012 ms a page to go through a list once, twice as much where it must be told in which column a
word stands, thrice for a phrase, whose places are read too.
"""

from collections.abc import Sequence

from sqlite_utils import Database

from bot.models import And, Label, Not, Number, Or, Term, Tree, When
from bot.query.fields import spellings_of
from bot.store.rules.labels import label_token
from bot.store.rules.search_terms import Words
from bot.store.sqlite.ingest import last_id
from bot.store.sqlite.search.effort import clauses, pages
from bot.store.sqlite.search.window import Window

_WORD, _PHRASE = 2, 3  # how much more a page costs than of a list of labels
_MANY = 16  # words that make each page cost twice as much, as all are held against each other
_SKIPPED = 8  # pages of a longer list at most that are read for a page of the shortest beside it
_ROWS = 250  # rows of the items' table that cost as much as a page
_HELD = 4  # how much more it costs to keep what is found than to go through it


class Costs:
    """How many pages each list has, looked up once; all items are `items`."""

    def __init__(self, db: Database) -> None:
        self._db, self._pages = db, dict[str, int]()
        self.items = last_id(db)

    def of(self, tree: Tree) -> float:
        """Return what looking for the tree among all items takes. Beginnings of words are bounded elsewhere."""
        match tree:
            case Term():
                return sum(self._of_tokens(way.tokens) for way in spellings_of(tree) if not way.prefix)
            case Label(prefix=False):
                return self.list_of(label_token(tree.field, tree.value))
            case Not(part):
                return self.of(part)
            case And(parts):
                costs = [self.of(part) for part in parts]
                return _together(costs, [cost for part, cost in zip(parts, costs, strict=True) if _finds(part)])
            case Or(parts):
                return sum(map(self.of, parts))
            case _:
                return 0

    def whole(self, tree: Tree, window: Window | None = None) -> float:
        """Return what it takes in the window where what is found may have to be held against the items' table, too."""
        held = _is_tested(tree)
        every = self.items / _ROWS if held or not _finds(tree) else 0
        share = 1.0 if window is None else max(0, window.last - window.after) / max(1, self.items)
        words = sum(isinstance(clause, Term) for clause in clauses(tree))
        return share * (self.of(tree) * (_HELD if held else 1) + every) * (1 + words / _MANY)

    def of_ways(self, ways: Sequence[str]) -> float:
        """Return what looking for a word of a search takes, by the ways of bot.store.rules.search_terms."""
        return sum(_PHRASE * self._lists(way.split()) if " " in way else self.list_of(way) for way in ways)

    def of_words(self, words: Words, rest: Tree) -> float:
        """Return what looking for what has every word, and satisfies the rest, takes among all items."""
        costs = [self.of_ways(ways) for ways in words]
        beside = self.whole(rest) if _is_tested(rest) else self.of(rest)
        lists = _together([*costs, beside], [*costs, *([self.of(rest)] if _finds(rest) else [])])
        return lists * (1 + len(words) / _MANY)

    def list_of(self, token: str) -> int:
        """Return how many pages the token's list has."""
        if token not in self._pages:
            self._pages[token] = pages(self._db, f"0{token}".encode(), f"0{token}\0".encode())
        return self._pages[token]

    def _of_tokens(self, tokens: tuple[str, ...]) -> float:
        return (_WORD if len(tokens) < 2 else _PHRASE) * self._lists(tokens)

    def _lists(self, tokens: Sequence[str]) -> float:
        lists = [self.list_of(token) for token in tokens]
        return _together(lists, lists)


def _together(costs: list[float] | list[int], finding: list[float] | list[int]) -> float:
    """Return what lists cost that are gone through together: of the longer ones no more than the shortest needs."""
    most = _SKIPPED * min(finding, default=float("inf"))
    return sum(min(cost, most) for cost in costs)


def _finds(part: Tree) -> bool:
    """Say whether it is found by going through lists, and not by leaving out what they have, or by testing rows."""
    match part:
        case And(parts):
            return any(map(_finds, parts))
        case Or(parts):
            return all(map(_finds, parts))
        case _:
            return isinstance(part, Term | Label)


def _is_tested(tree: Tree) -> bool:
    match tree:
        case Number() | When():
            return True
        case Not(part):
            return _is_tested(part)
        case And(parts) | Or(parts):
            return any(map(_is_tested, parts))
        case _:
            return False
