"""Verbs that people know from other tools, and what each of them asks for here. Pure.

They are no commands of their own: each is read as a command that is there, or leads to one.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.commands.declaration import Command, Usage
from bot.commands.finding import Search, Show, names_one
from bot.commands.service import Feeds, Help
from bot.commands.words import Words, item_text, query_text
from bot.errors import UsageError

_FRAME = re.compile(
    r"(?:(?:papers?|articles?|repos|repositories|works?|research|news) )?(?:(?:on|about|for|in|of|regarding) )?",
    re.IGNORECASE,
)
_BY = re.compile(r'(?:by|from) ([^\W\d_][^\d_":()]*)', re.IGNORECASE)
LATEST = "published:7d"  # what is the latest where nothing else is said


@dataclass(frozen=True, slots=True)
class Borrowed:
    """What a verb stands for: a command that is there, and how its words are read.

    `read` returns None for words that were not meant as one, such as `abstract reasoning`; it raises UsageError.
    """

    usage: Usage
    example: str
    read: Callable[[Words], Command | None]


def _searched(terms: str, alone: str) -> Callable[[Words], Command]:
    """Return what makes a search of the words with these terms, or of others where there are no words."""

    def search(words: Words) -> Command:
        query = query_text(words.rest())
        query = query[_FRAME.match(query).end() :]  # type: ignore[union-attr] # it matches nothing, too
        if (by := _BY.fullmatch(query)) is not None:
            query = f'author:"{by[1]}"'
        return Search(f"{query} {terms}".strip() if query else alone)

    return search


def _by_author(words: Words) -> Command:
    name = query_text(words.rest()).replace('"', "").strip()
    if not name:
        raise words.fault('A search for an author needs a name: write for example *search author:"Tri Dao"*.')
    return Search(f'author:"{name}"')


def _abstract(words: Words) -> Command | None:
    item = item_text(words.rest())
    return Show(item, abstract=True) if names_one(item) else None


def _cited(words: Words) -> Command | None:
    item = item_text(words.rest())
    if not item:
        raise words.fault("An entry for a bibliography needs an item: write for example *show bibtex 2606.01234*.")
    return Show(item, bibtex=True)


def _feed(words: Words) -> Command | None:
    begin = words.at
    try:
        return Feeds.read(words)
    except UsageError:  # `feed forward networks`
        words.at = begin
        return None


_PAPERS = Borrowed(Search.usage, "papers kv cache", _searched("kind:paper", f"kind:paper {LATEST} sort:new"))
_REPOSITORIES = Borrowed(Search.usage, "repos vector database", _searched("kind:repo", f"kind:repo {LATEST} sort:new"))
_NEWEST = Borrowed(Search.usage, "latest kv cache", _searched("sort:new", f"{LATEST} sort:new"))
_AUTHORS = Borrowed(Search.usage, "author Tri Dao", _by_author)
_CITATION = Borrowed(Show.usage, "cite 2606.01234", _cited)
_GREETED = Borrowed(Help.usage, "hello", lambda words: None if words.peek() else Help())

BORROWED: Mapping[str, Borrowed] = {
    "abstract": Borrowed(Show.usage, "abstract 2606.01234", _abstract),
    "cite": _CITATION,
    "bibtex": _CITATION,
    "papers": _PAPERS,
    "paper": _PAPERS,
    "repos": _REPOSITORIES,
    "repositories": _REPOSITORIES,
    "latest": _NEWEST,
    "new": _NEWEST,
    "newest": _NEWEST,
    "author": _AUTHORS,
    "authors": _AUTHORS,
    "feed": Borrowed(Feeds.usage, "feed gpu-systems", _feed),
    "hello": _GREETED,
    "hi": _GREETED,
}


def borrowed(words: Words) -> Command | None:
    """Return the command that a verb of another tool asks for; None where the words begin with none. Raises UsageError."""
    first = words.next()
    known = BORROWED.get(first.option) if first is not None else None
    return known.read(words) if known is not None else None
