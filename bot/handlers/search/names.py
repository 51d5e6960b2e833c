"""Who is meant by the words of a search: an author alone, several, or one beside a subject."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.handlers.context import HandlerContext
from bot.handlers.search.plain_words import may_be_a_name
from bot.handlers.search.query import SearchQuery, parts_of
from bot.handlers.wording.replies import excerpt
from bot.models import And, Or, Query, Term, Tree, WordUse
from bot.query.fold import indexed
from bot.rank.common_words import STOPWORDS

_INITIALS = 50  # items of authors with a family name, among whom one with an initial is looked for
_MOSTLY = 0.5  # of the items that have a word, or a phrase, those by an author of that name: then it is a name
_NAMELY = 0.8  # the same of each word of a name that nobody here has,
_SURELY = 0.95  # and of one that is not written as a name
_AND = re.compile(r"\s*(?:[,;&]|\band\b)\s*", re.IGNORECASE)
_SEVERAL = range(2, 5)  # names that a search may consist of
_LENGTHS = (3, 2)  # words of a name that stands before or behind a subject


async def author_meant(context: HandlerContext, query: Query, now: datetime) -> SearchQuery | None:
    """Return the search for what an author of that name wrote, where the words are a name alone; None where not."""
    name = _turned_round(query.text) or " ".join(word.text for word in SearchQuery(query).words)
    author = await _author(context, name, now)
    return None if author is None else SearchQuery(replace(query, tree=author))


async def authors_meant(context: HandlerContext, query: Query, now: datetime) -> tuple[SearchQuery, str] | None:
    """Return the search for what several authors wrote together, where the text names them and nothing else; None where not.

    Where nothing is by all of them it is for what any of them wrote, and a sentence says so.
    """
    names = [part for part in _AND.split(query.text.strip()) if part]
    if len(names) not in _SEVERAL or not all(map(may_be_a_name, names)):
        return None
    use = await _use(context, " ".join(names).split())
    if not all(_is_namely(use[word], _NAMELY if " " not in name else _MOSTLY) for name in names for word in name.split()):
        return None
    authors = [author for name in names if (author := await _author(context, name, now)) is not None]
    if len(authors) < len(names):
        return None
    both = And(tuple(authors))
    if await _count(context, both, now):
        return SearchQuery(replace(query, tree=both)), ""
    told = f"Nothing here is by {'both' if len(names) == 2 else 'all of them'}: searched for what any of them wrote."
    return SearchQuery(replace(query, tree=Or(tuple(authors)))), told


async def author_and_subject(context: HandlerContext, search: SearchQuery, now: datetime) -> SearchQuery | None:
    """Return the search for a subject by an author, where the words begin or end with a name; None where they do not.

    And where nothing of theirs has the words: then the name was another's, or no name.
    """
    words = search.words
    ends = [(words[:length], words[length:]) for length in _LENGTHS if len(words) > length]
    ends += [(words[-length:], words[:-length]) for length in _LENGTHS if len(words) > length]
    near = {word.text for name, _ in ends for word in name}
    use = await _use(context, sorted(near)) if near else {}
    for name, subject in ends:
        if not all(_is_namely(use[word.text], _MOSTLY) for word in name):
            continue
        author = await _author(context, " ".join(word.text for word in name), now)
        if author is None:
            continue
        query = replace(search.query, tree=And((*subject, author)))
        if (await context.store.index.search(query, now, limit=1)).hits:
            return SearchQuery(query)
    return None


async def author_filter(context: HandlerContext, name: str, now: datetime) -> str:
    """Return the filter for an author of that name, or an organisation; "" where there is none."""
    if not may_be_a_name(name):
        return ""
    name = await _in_full(context, name, now)
    use = await _use(context, name.split())
    fields = ("author", "org") if " " in name or _is_namely(use[name], _MOSTLY) else ("org",)  # "learning from all"
    counts = [await _count(context, Term(name, field, quoted=True), now) for field in fields]
    return next((f'{field}:"{name}"' for field, count in zip(fields, counts, strict=True) if count), "")


async def as_written(context: HandlerContext, named: SearchQuery, now: datetime) -> str:
    """Return the name of the author that is searched for as the newest item writes it."""
    (term,) = (part for part in parts_of(named.query.tree) if isinstance(part, Term))
    page = await context.store.index.search(Query("", term, "new"), now, limit=1)
    wanted = indexed(term.text)
    return next((each for hit in page.hits for each in hit.item.authors if indexed(each) == wanted), term.text)


async def unknown_name(context: HandlerContext, search: SearchQuery, text: str) -> str:
    """Return the text where every word is a name, surely where it is not written as one; otherwise "".

    Nothing has them together: that was a name here.
    """
    words = [word.text for word in search.words]
    if not (2 <= len(words) <= 3) or not may_be_a_name(text):
        return ""
    share = _NAMELY if all(word[:1].isupper() for word in words) else _SURELY
    use = await _use(context, words)
    return excerpt(" ".join(words)) if all(_is_namely(use[word], share) for word in words) else ""


async def namesakes(context: HandlerContext, query: Query, family: str, now: datetime) -> SearchQuery | None:
    """Return the search for what others of a family name wrote; None where there is nobody."""
    author = Term(family, "author", quoted=True)
    return SearchQuery(replace(query, tree=author)) if await _count(context, author, now) else None


async def _author(context: HandlerContext, name: str, now: datetime) -> Term | None:
    """Return the author of that name, where it is one of who wrote most of what has it; None where not."""
    if not may_be_a_name(name) or all(word.casefold() in STOPWORDS for word in name.split()):
        return None
    name = await _in_full(context, name, now)
    author = Term(name, "author", quoted=True)
    by, all_ = await asyncio.gather(_count(context, author, now), _count(context, Term(name, quoted=True), now))
    return author if by and by >= _MOSTLY * all_ else None


async def _in_full(context: HandlerContext, name: str, now: datetime) -> str:
    """Return the name of the author whom "Y. LeCun" means, the one that most items have; any other name as it is."""
    first, _, last = name.partition(" ")
    if len(first.rstrip(".")) != 1 or not last or await _count(context, Term(name, "author", quoted=True), now):
        return name
    page = await context.store.index.search(Query("", Term(last, "author", quoted=True), "new"), now, limit=_INITIALS)
    names = [each for hit in page.hits for each in hit.item.authors if f" {indexed(each)}".endswith(f" {indexed(last)}")]
    meant = Counter(each for each in names if indexed(each)[:1] == indexed(first)[:1])
    return meant.most_common(1)[0][0] if meant else name


def _turned_round(text: str) -> str:
    """Return "Tri Dao" for "Dao, Tri", "" for what is not written so."""
    last, _, first = (part.strip() for part in text.partition(","))
    return f"{first} {last}" if may_be_a_name(first) and may_be_a_name(last) else ""


async def _use(context: HandlerContext, words: Sequence[str]) -> Mapping[str, WordUse]:
    """Return how each of these words is used, an initial without its full stop."""
    use = await context.store.index.word_use([word.rstrip(".") for word in words])
    return {word: use[word.rstrip(".")] for word in words}


def _is_namely(use: WordUse, share: float) -> bool:
    return use.items > 0 and use.names >= share * use.items


async def _count(context: HandlerContext, tree: Tree, now: datetime) -> int:
    return await context.store.index.count(tree, now)
