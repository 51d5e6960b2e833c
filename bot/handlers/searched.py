"""What a search asks for once its defaults are filled in, and the same search asked otherwise. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.errors import UsageError
from bot.models import And, Item, Label, Not, Or, Query, Term, Tree, When
from bot.query import Folded, match, parse, unparse
from bot.query.lexis import TYPED
from bot.query.parse import LONGEST
from bot.rank.stopwords import STOPWORDS

WINDOW = timedelta(days=90)  # a search that sets no time looks back so far: fast at any size, and what is asked for most
_EXAMPLE = 'search "kv cache" has:code'
# `sort:best` reads as the default does. Outside of quotation marks it can only be the directive: elsewhere it is refused.
_SAYS_BEST = re.compile(r'(?i)(?:^|[\s")])sort:\s*"?(?:best|relevance)\b')
_QUOTED = re.compile(r'(?i)(?<!sort:)"[^"]*"')
_WITHIN = Or((When("published", oldest=float(WINDOW.days)), Label("kind", "repo")))
_TOLD = 3  # clauses that the line of an entry names
_SAY_NOTHING = STOPWORDS | {"does"}  # every word that a search for the best match leaves out, and more


@dataclass(frozen=True, slots=True)
class Searched:
    """A search as it is carried out: newest first and in the last 90 days, unless it says otherwise."""

    said: Query  # as it was asked, its sort filled in
    windowed: bool

    @property
    def query(self) -> Query:
        """The query for the store."""
        return replace(self.said, tree=_also(self.said.tree, _WITHIN)) if self.windowed else self.said

    @property
    def text(self) -> str:
        """The search as canonical text, which says its sort."""
        return _written(self.said, self.said.sort)

    def sorted(self, sort: str) -> str:
        """Return the text of the same search in another order, "" when it would be too long to be asked."""
        return _short(_written(self.said, sort))

    def of_all_time(self, sort: str = "") -> str:
        """Return the text of the same search over everything, in its own order or another; "" as above."""
        everything = replace(self.said, tree=_also(self.said.tree, When("published")))
        return _short(_written(everything, sort or self.said.sort))


def read_search(text: str) -> Searched:
    """Return the search that the text says; raises UsageError when it is empty or no query."""
    if not text.strip():
        raise UsageError("What are you looking for?", hint=f"For example: *{_EXAMPLE}*")
    query = parse(text)
    if query.sort == "best" and not _SAYS_BEST.search(_QUOTED.sub('""', text.translate(TYPED))):
        query = replace(query, sort="new")
    return Searched(query, windowed=not any(map(_sets_time, _clauses(query.tree))) and not _is_of_repositories(query.tree))


def why_found(tree: Tree, item: Item, now: datetime, *, close: bool = False) -> str:
    """Return which clauses of the query the item satisfies: 'title has "kv cache"; category is cs.DC'.

    Of an item that is `close` to what the words mean, and has none of them as they stand, that is said first.
    """
    folded = Folded(item)
    parts = [part for part in _parts(tree) if not isinstance(part, Not)]
    verdicts = [match(part, folded, now) for part in parts]
    told = list(dict.fromkeys(verdict.why for verdict in verdicts if verdict.matched))
    if close and not any(verdict.matched for part, verdict in zip(parts, verdicts, strict=True) if _is_bare(part)):
        told.insert(0, "close in meaning")
    return "; ".join(told[:_TOLD]) + (f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else "")


def has_several_words(tree: Tree) -> bool:
    """Say whether a search for the best match would take the query's words as alternatives."""
    return sum(isinstance(part, Term) and not (part.field or part.quoted) for part in _parts(tree)) > 1


def newest_of_any(query: Query) -> Query | None:
    """Return a search for the newest item that has one of the query's telling words, of a search for the best match.

    What it finds, the query finds too; the query may find more: it takes words by their stems. None without such words.
    """
    if query.sort != "best":
        return None
    words = [part for part in _parts(query.tree) if _is_bare(part)]
    telling = tuple(part for part in words if isinstance(part, Term) and part.text.casefold() not in _SAY_NOTHING)
    rest = tuple(part for part in _parts(query.tree) if part not in words)
    return replace(query, sort="new", tree=And((*rest, Or(telling)))) if telling else None


def _is_bare(part: Tree) -> bool:
    return isinstance(part, Term) and not (part.field or part.quoted or part.prefix)


def _parts(tree: Tree) -> tuple[Tree, ...]:
    return tree.parts if isinstance(tree, And) else (tree,)


def _also(tree: Tree, further: Tree) -> Tree:
    return And((*_parts(tree), further))


def _clauses(tree: Tree) -> Iterator[Tree]:
    match tree:
        case Not(part):
            yield from _clauses(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _clauses(part)
        case _:
            yield tree


def _sets_time(clause: Tree) -> bool:
    return isinstance(clause, When) or (isinstance(clause, Label) and clause.field == "id")


def _is_of_repositories(tree: Tree) -> bool:
    return Label("kind", "repo") in _parts(tree)


def _written(query: Query, sort: str) -> str:
    """The query with its sort, also the one that a text need not say."""
    body = unparse(replace(query, sort="new", topic_of="")).removesuffix("sort:new")
    return f"{body}sort:{sort}" + (f" topic-of:{query.topic_of}" if query.topic_of else "")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else ""
