"""A search as it is carried out: its conditions, the same search otherwise, and why something was found by it. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from bot.errors import UsageError
from bot.models import And, Item, Not, Or, Query, Term, Tree
from bot.query import Folded, match, parse, place_of, unparse, unparse_tree
from bot.query.parse import LONGEST
from bot.rank.common_words import STOPWORDS

_PLACES = {
    "title": "in the title",
    "abstract": "in the abstract",
    "author": "among the authors",
    "org": "as an organisation",
    "topic": "as a topic",
}
_EXAMPLE = 'search "kv cache" has:code'
_TOLD = 3  # clauses that the line of an entry names


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search: best match first, over everything, unless it says otherwise."""

    query: Query

    @property
    def text(self) -> str:
        """The search as canonical text."""
        return unparse(self.query)

    @property
    def words(self) -> tuple[Term, ...]:
        """The bare words of the search, whatever its order."""
        return tuple(part for part in parts_of(self.query.tree) if isinstance(part, Term) and is_bare(part))

    @property
    def conditions(self) -> tuple[Tree, ...]:
        """What must hold besides: the filters of the search."""
        return tuple(part for part in parts_of(self.query.tree) if not is_bare(part) and part != And(()))

    @property
    def order(self) -> str:
        """The order in which it is answered: without a word there is no best match, and the newest come first."""
        return self.query.sort if self.words or self.query.sort != "best" else "new"

    def sorted(self, sort: str) -> str:
        """Return the text of the same search in another order, "" when it would be too long to be asked."""
        return _short(unparse(replace(self.query, sort=sort)))

    def with_any_word(self) -> str:
        """Return the text of a search for what has any of the words, newest first; "" with one word alone, and as above."""
        if len(self.words) < 2:
            return ""
        tree = And((Or(self.words), *self.conditions)) if self.conditions else Or(self.words)
        return _short(unparse(replace(self.query, tree=tree, sort="new")))

    def without_conditions(self) -> str:
        """Return the text of a search for the words alone; "" where there are no conditions, or no words, and as above."""
        if not self.words or not self.conditions:
            return ""
        return _short(unparse(replace(self.query, tree=And(self.words))))

    def conditions_in_words(self) -> tuple[str, ...]:
        """Return each condition as text that can be typed."""
        return tuple(unparse_tree(part, inside=And) for part in self.conditions)


def read_search(text: str) -> SearchQuery:
    """Return the search that the text says; raises UsageError when it is empty or no query."""
    if not text.strip():
        raise UsageError("What are you looking for?", hint=f"For example: *{_EXAMPLE}*")
    return SearchQuery(parse(text))


def why_found(tree: Tree, item: Item, now: datetime, *, close: bool = False) -> str:
    """Return where the item has the words, and which of several filters it satisfies: "in the title: kv; category is cs.DC".

    Of an item that is `close` to what the words mean, and has none of them as they stand, that is said first. Common words
    are not told, nor authors, who stand with every item; nor a filter that every item satisfies, which is told once for all.
    """
    folded, of_all = Folded(item), parts_of(tree)
    parts = [part for part in _holding(tree, folded, now) if not isinstance(part, Not) and not _says_little(part)]
    words = [word for part in parts for word in _either(part)]
    told = _places(words, folded)
    if close and not any(place_of(word, folded) for word in words if is_bare(word)):
        told.insert(0, "close in meaning")
    verdicts = [match(part, folded, now) for part in parts if not _either(part) and part not in of_all]
    told += dict.fromkeys(verdict.why for verdict in verdicts if verdict.matched)
    return "; ".join(told[:_TOLD]) + (f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else "")


def _holding(tree: Tree, folded: Folded, now: datetime) -> Iterator[Tree]:
    """Yield what must hold; of alternatives that are not words alone, those parts that hold."""
    for part in parts_of(tree):
        if not isinstance(part, Or) or _either(part):
            yield part
            continue
        for each in part.parts:
            if match(each, folded, now).matched:
                yield from _holding(each, folded, now)


def _either(part: Tree) -> tuple[Term, ...]:
    """Return the words of which one must stand in the item; () where anything else would do."""
    words = part.parts if isinstance(part, Or) else (part,)
    return tuple(word for word in words if isinstance(word, Term)) if all(isinstance(w, Term) for w in words) else ()


def _places(words: Iterable[Term], folded: Folded) -> list[str]:
    """Return the words by the text that has them, in the order of the texts."""
    found: dict[str, list[str]] = {}
    for word in words:
        text = f'"{word.text}"' if word.quoted else f"{word.text}{'*' if word.prefix else ''}"
        found.setdefault(place_of(word, folded), []).append(text)
    return [f"{told}: {', '.join(dict.fromkeys(found[place]))}" for place, told in _PLACES.items() if place in found]


def parts_of(tree: Tree) -> tuple[Tree, ...]:
    """Return what must hold, all of it."""
    return tree.parts if isinstance(tree, And) else (tree,)


def is_bare(part: Tree) -> bool:
    """Say whether it is a word that stands alone, outside of any field, quotation marks and parentheses."""
    return isinstance(part, Term) and not (part.field or part.quoted or part.prefix)


def _says_little(part: Tree) -> bool:
    if not isinstance(part, Term):
        return False
    return part.field == "author" or (is_bare(part) and part.text.casefold() in STOPWORDS)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else ""
