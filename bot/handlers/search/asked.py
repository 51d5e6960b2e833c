"""What a search means, before it is carried out: plain words, misspelt ones, names, and what abbreviations stand for.

All of it changes the query, and the query alone: what is found by the changed one is found as by any other.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from bot.embed.shipped import is_word
from bot.handlers.context import HandlerContext
from bot.handlers.search.names import (
    as_written,
    author_and_subject,
    author_filter,
    author_meant,
    authors_meant,
    namesakes,
    unknown_name,
)
from bot.handlers.search.plain_words import may_be_a_name, read_plain
from bot.handlers.search.query import SearchQuery, is_bare, parts_of, read_search
from bot.handlers.wording.replies import excerpt
from bot.models import And, Term, Tree, WordUse
from bot.query import parse
from bot.query.fold import BARRIER, indexed

_LETTERS = re.compile(r"[^\W\d_]+")
_MOST_WORDS = 12  # of a search that are looked at: a pasted title or abstract is left as it is
_PAPERS_BY = re.compile(r"(?i)^(?:(?:papers?|works?|articles?|everything|anything)\s+)?by\s+")
_RUN = range(2, 7)  # words that one abbreviation may stand for
_HARDLY = 5000  # items to one that has a word: a correction to a rarer one takes more than its letters
_MEANT = 0.1  # of the items that have an abbreviation, those that say that it stands for this: otherwise it is another word


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as it is carried out, and what is said of how it came to be."""

    search: SearchQuery
    searched_for: str = ""  # what was corrected in it, in a sentence
    missing: str = ""  # who or which title is not here, without a full stop
    instead: str = "close by words"  # what is shown where something is missing

    @property
    def said(self) -> tuple[str, ...]:
        """What stands above the answer."""
        return tuple(filter(None, (self.missing and f"{self.missing}; {self.instead}:", self.searched_for)))

    @property
    def said_of_nothing(self) -> tuple[str, ...]:
        """What stands above the answer that there is nothing."""
        return tuple(filter(None, (self.missing and f"{self.missing}.", self.searched_for)))


async def as_typed(context: HandlerContext, text: str, now: datetime) -> Asked:
    """Return the search that the text asks for. Raises UsageError when it is empty or no query, StoreError."""
    search = read_search(text)
    if len(search.words) == len(parts_of(search.query.tree)) and not search.query.topic_of:
        if (of_names := await _by_names(context, search, text, now)) is not None:
            return of_names
        search, unknown = await _plain(context, search, text, now)
        if unknown:
            return await _by_nobody(context, search, unknown, now)
    search, told = await _corrected(context, search, now)
    if told and (named := await author_meant(context, search.query, now)) is not None:
        name = await as_written(context, named, now)
        named = SearchQuery(replace(named.query, tree=Term(name, "author", quoted=True)))
        return Asked(named, f"Searched for *{excerpt(name)}*: {told.partition(': ')[2]}")
    search, missing = await _without_missing(context, search, now)
    return Asked(await with_abbreviations(context, search), told, missing)


async def with_abbreviations(context: HandlerContext, search: SearchQuery) -> SearchQuery:
    """Return the search in which an abbreviation also is what it is spelt out as in what is stored, and the reverse."""
    words = search.words
    if not words or len(words) > _MOST_WORDS:
        return search
    folded = [indexed(word.text).partition(f" {BARRIER} ")[0] for word in words]  # `retrieval-augmented` is two words
    runs = {
        " ".join(folded[at : at + length]): range(at, at + length)
        for length in _RUN
        for at in range(len(words) - length + 1)
    }
    alone = {each: at for at, each in enumerate(folded)}
    standing = await context.store.index.stands_for([*alone, *runs])
    also: dict[int, list[str]] = {}
    for spelt, at in alone.items():
        if " " not in spelt and spelt in standing and await _is_meant(context, spelt, standing[spelt][0][1]):
            also.setdefault(at, []).append(standing[spelt][0][0])
    for spelt, places in runs.items():
        for place in places if spelt in standing else ():
            also.setdefault(place, []).append(standing[spelt][0][0])
    changed = {word: replace(word, also=tuple(also[at])) for at, word in enumerate(words) if at in also}
    return _with(search, changed) if changed else search


async def _is_meant(context: HandlerContext, short: str, items: int) -> bool:
    use = (await context.store.index.word_use([short]))[short]
    return items >= _MEANT * use.items


# --- plain words and names


async def _by_names(context: HandlerContext, search: SearchQuery, text: str, now: datetime) -> Asked | None:
    """Return the search for what one author wrote, or several, where the text is their names alone; None where not."""
    query = replace(search.query, text=text)
    if (named := await author_meant(context, query, now)) is not None:
        return Asked(named)
    names = _PAPERS_BY.sub("", text.strip())
    several = await authors_meant(context, replace(query, text=names), now)
    return None if several is None else Asked(*several)


async def _by_nobody(context: HandlerContext, search: SearchQuery, unknown: str, now: datetime) -> Asked:
    """Return what is searched for where nobody of that name is here: those of the same family name, or the words."""
    missing = f'Nobody of the name "{unknown}" is here'
    if " ".join(word.text for word in search.words) == unknown:
        family = unknown.split()[-1]
        if (others := await namesakes(context, search.query, family, now)) is not None:
            return Asked(others, missing=missing, instead=f"by others with the name {family}")
    return Asked(await with_abbreviations(context, search), missing=missing)


async def _plain(context: HandlerContext, search: SearchQuery, text: str, now: datetime) -> tuple[SearchQuery, str]:
    """Return the search without the frame of a question, and by whom; and a name that nobody has, where one is meant."""
    said = read_plain(text)
    by = await author_filter(context, said.name, now) if said.name else ""
    if said.name and not by:
        if said.framed and may_be_a_name(said.name) and said.name != said.name.lower():
            return _read(said.words or said.name, said.filters, search), excerpt(said.name)
        said = replace(said, words=f"{said.words} by {said.name}" if said.words else said.name)
    if said.words and not by and said.framed:
        framed = _read(said.words, said.filters, search)
        named = await author_meant(context, framed.query, now) or await author_and_subject(context, framed, now)
        return named or framed, ""
    if said.framed or by:
        return _read(said.words, (*said.filters, *filter(None, (by,))), search), ""
    if (named := await author_and_subject(context, search, now)) is not None:
        return named, ""
    return search, await unknown_name(context, search, text)


def _read(words: str, filters: Iterable[str], search: SearchQuery) -> SearchQuery:
    """Read the words and filters as a search, in the order that was asked for."""
    query = parse(" ".join(filter(None, (words, *filters))))
    return SearchQuery(replace(query, sort=search.query.sort))


async def _count(context: HandlerContext, tree: Tree, now: datetime) -> int:
    return await context.store.index.count(tree, now)


# --- spelling


async def _corrected(context: HandlerContext, search: SearchQuery, now: datetime) -> tuple[SearchQuery, str]:
    """Return the search with words that nothing has made the nearest that something has, and a sentence that says so.

    With words, too, that few have, where nothing has every word as typed and something has every one as corrected.
    """
    terms = [part for part in parts_of(search.query.tree) if isinstance(part, Term) and _may_be_corrected(part)]
    words = {word for term in terms for word in _LETTERS.findall(term.text.casefold())}
    if not words or len(words) > _MOST_WORDS:
        return search, ""
    use = await context.store.index.word_use(sorted(words))
    near = {word: use[word].near[0] for word in sorted(words) if use[word].near}
    near = {word: each for word, each in near.items() if not await asyncio.to_thread(is_word, word)}
    doubtful = await _doubtful(context, search, near, use, now)
    if doubtful and not await _is_borne_out(context, search, _spelt_as(search, near), now):
        near = {word: each for word, each in near.items() if word not in doubtful}
    if not near:
        return search, ""
    corrected = _spelt_as(search, near)
    said = " ".join(part.text for part in parts_of(corrected.query.tree) if isinstance(part, Term))
    none, few = (
        " or ".join(f'"{excerpt(word)}"' for word in near if bool(use[word].items) is some) for some in (False, True)
    )
    why = ", and ".join(filter(None, (none and f"nothing here has {none}", few and f"few here have {few}")))
    return corrected, f"Searched for *{excerpt(said)}*: {why}."


async def _doubtful(
    context: HandlerContext, search: SearchQuery, near: Mapping[str, str], use: Mapping[str, WordUse], now: datetime
) -> set[str]:
    """Return which corrections need to be borne out: of words that something has, and to words that hardly anything has."""
    if not near:
        return set()
    bare = {word for term in search.words for word in _LETTERS.findall(term.text.casefold())}
    least = await _count(context, And(()), now) / _HARDLY
    to = await context.store.index.word_use(sorted(set(near.values())))
    return {word for word, each in near.items() if use[word].items or (word in bare and to[each].items < least)}


async def _is_borne_out(context: HandlerContext, typed: SearchQuery, corrected: SearchQuery, now: datetime) -> bool:
    """Say whether something has all the words as corrected, and nothing has them as typed; not of one word alone."""
    if len(typed.words) < 2:
        return False
    before, after = [await _count(context, each.query.tree, now) for each in (typed, corrected)]
    return not before and after > 0


def _spelt_as(search: SearchQuery, near: Mapping[str, str]) -> SearchQuery:
    terms = [part for part in parts_of(search.query.tree) if isinstance(part, Term) and _may_be_corrected(part)]
    return _with(search, {term: replace(term, text=_respelt(term.text, near)) for term in terms})


def _may_be_corrected(term: Term) -> bool:
    return not term.prefix and (is_bare(term) or term.field in ("author", "title"))


def _respelt(text: str, near: Mapping[str, str]) -> str:
    return _LETTERS.sub(lambda found: near.get(found[0].casefold(), found[0]), text)


def _with(search: SearchQuery, changed: dict[Term, Term]) -> SearchQuery:
    parts = tuple(changed.get(part, part) if isinstance(part, Term) else part for part in parts_of(search.query.tree))
    tree = parts[0] if len(parts) == 1 else And(parts)
    return SearchQuery(replace(search.query, tree=tree))


# --- authors and titles that are not here


async def _without_missing(context: HandlerContext, search: SearchQuery, now: datetime) -> tuple[SearchQuery, str]:
    """Return the search with authors and titles that nothing has made words like any others, and what is missing."""
    named = [part for part in parts_of(search.query.tree) if isinstance(part, Term) and part.field in ("author", "title")]
    counts = await asyncio.gather(*(_count(context, term, now) for term in named))
    missing = [term for term, count in zip(named, counts, strict=True) if not count]
    if not missing:
        return search, ""
    parts = [each for part in parts_of(search.query.tree) for each in (_bare_words(part) if part in missing else (part,))]
    first = missing[0]
    quoted = f'"{excerpt(first.text)}"'
    told = f"Nobody of the name {quoted} is here" if first.field == "author" else f"No title here has {quoted}"
    return SearchQuery(replace(search.query, tree=And(tuple(parts)))), told


def _bare_words(part: Tree) -> tuple[Tree, ...]:
    """The words of a term, each by itself."""
    return parts_of(parse(" ".join(_LETTERS.findall(part.text.casefold()))).tree) if isinstance(part, Term) else (part,)
