"""How much of tantivy's index a query would go through, in microseconds of a processor, before it is asked.

Four things cost: the words that a beginning stands for, the lists of words, the places of words in the items that have all
words of a phrase, and numbers, which are looked through for all items. What each costs was measured with 151,002 to
1,000,000 papers; how many there are of each stands in the index, so the same query on the same items costs the same.
"""

from collections.abc import Iterable
from functools import lru_cache

from tantivy import Searcher

from bot.models import And, Label, Not, Or, Term, Tree
from bot.query.fields import TEXT, spellings_of
from bot.query.fold import Spelling
from bot.store.index.compile import begins_shortly
from bot.store.index.documents import BEGINNING, LABEL
from bot.store.rules.labels import label_token
from bot.store.rules.search_terms import is_bare

MOST = 200_000.0  # microseconds
_WORD = 3.0  # that begins so: to look it up twice, here and for the query
_LISTED = 0.0075  # item in the list of a word
_PLACED = 0.15  # item of which the places of words are held against each other
_NUMBERED = 0.001  # item whose number is looked at
_EXPANDED = 16_000  # words that the last word of a phrase may stand for: tantivy fails at 16,384
_MANY = 100_000  # items among which all words that begin with a letter or two are too many to be counted
_FEW_LETTERS = 2
_FEW_SIGNS = 4  # of an id behind its kind, as in `arxiv:2504`


class Effort:
    """What queries would cost in an index as it is now. Raises what tantivy does."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher, self._items = searcher, int(searcher.num_docs)
        self._begun = lru_cache(maxsize=256)(self._count_begun)

    def affordable(self, tree: Tree, most: float = MOST) -> Tree:
        """Return the tree without parts of it that cost more together, the most costly left out first.

        What stays is all that must hold of a tree but those parts. Words that stand alone are never left out: however many
        they are, what has all of them is found in the time of the rarest.
        """
        parts = tree.parts if isinstance(tree, And) else (tree,)
        costs = {part: 0.0 if is_bare(part) else self.of(part, most) for part in parts}
        total, left_out = sum(costs.values()), set[Tree]()
        for part in sorted(costs, key=lambda part: -costs[part]):
            if total <= most:
                break
            left_out.add(part)
            total -= costs[part]
        return And(tuple(part for part in parts if part not in left_out)) if left_out else tree

    def of(self, tree: Tree, most: float = MOST) -> float:
        """Return what the tree costs; some of it, but more than `most`, where it costs more than that."""
        match tree:
            case Term():
                ways = [way for way in spellings_of(tree) if way.tokens]
                return self._sum((self._way(tree.field, way) for way in ways), most)
            case Label(prefix=True):
                if self._items > _MANY and tree.field == "id" and _begins_many_ids(tree.value):
                    return most + 1
                return self._beginning(LABEL, label_token(tree.field, tree.value))
            case Label():
                return _LISTED * self._having(LABEL, label_token(tree.field, tree.value))
            case Not(part):
                return self.of(part, most)
            case And(parts) | Or(parts):
                return self._sum((self.of(part, most) for part in parts), most)
            case _:
                return _NUMBERED * self._items

    def _sum(self, costs: Iterable[float], most: float) -> float:
        total = 0.0
        for cost in costs:
            total += cost
            if total > most:
                break
        return total

    def _way(self, field: str, way: Spelling) -> float:
        if begins_shortly(field, way):
            return _LISTED * self._having(BEGINNING, way.tokens[0])
        return sum(self._in_field(each, way) for each in ((field,) if field else TEXT))

    def _in_field(self, field: str, way: Spelling) -> float:
        *before, last = way.tokens
        begun = self._beginning(field, last) if way.prefix else 0.0
        if not before:
            return begun if way.prefix else _LISTED * self._having(field, last)
        if way.prefix and self._words_begun(field, last) > _EXPANDED:
            return MOST + begun
        rarest = min(self._having(field, token) for token in (before if way.prefix else way.tokens))
        return begun + _PLACED * rarest

    def _beginning(self, field: str, beginning: str) -> float:
        if field == "abstract" and len(beginning) <= _FEW_LETTERS and self._items > _MANY:
            return MOST + 1
        words, listed = self._begun(field, beginning)
        return _WORD * words + _LISTED * listed

    def _words_begun(self, field: str, beginning: str) -> int:
        return self._begun(field, beginning)[0]

    def _count_begun(self, field: str, beginning: str) -> tuple[int, int]:
        """Return how many words begin so, and how long their lists are together."""
        words = self._searcher.terms_with_prefix(field, beginning, limit=int(MOST / _WORD))
        return len(words), sum(items for _, items in words)

    def _having(self, field: str, token: str) -> int:
        return int(self._searcher.doc_freq(field, token))


def _begins_many_ids(beginning: str) -> bool:
    kind, _, rest = beginning.rpartition(":")
    return kind in ("", "arxiv") and (len(rest) < _FEW_SIGNS or "arxiv".startswith(rest))
