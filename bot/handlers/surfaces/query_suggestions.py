"""The last word of a query completed: names of fields, and the values that stored items have."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from bot.handlers.context import HandlerContext
from bot.models import And, Item, Label, Query, Suggestion, Term, Topic
from bot.query import FIELDS, QueryField, Takes, unparse_tree
from bot.query.fields import BY_NAME, fold_label
from bot.query.fold import says_something
from bot.query.parse import LONGEST, TYPED, stands_bare
from bot.wording import counted

MOST = 25  # choices of one autocomplete list on Discord; Slack's external selects take 100
_COUNTED = frozenset({"category", "source", "language", "license", "topic"})  # fields whose values the store counts
_NAMES: Mapping[str, Callable[[Item], tuple[str, ...]]] = {  # fields whose values are names, which no store counts
    "author": lambda item: item.authors,
    "org": lambda item: (item.org,),
}
_LOOKED_AT = 50  # items, the newest of those with such a name
_FEWEST = 2  # characters of a name's beginning that are looked for
_GUESSED = ("category", "language", "topic")  # fields of which a bare word may be a value
_GUESSES = 4  # values of each

# A last word: the signs of negation before it, a field's name with its colon, and what there is of the value.
_WORD = re.compile(r'([-!]*)(?:([A-Za-z][A-Za-z_-]*):)?("?)([^"]*)', re.DOTALL)
_UNSAYABLE = re.compile('[",*]')  # in a label
_ARXIV = re.compile(r"([a-z-]+)\.([a-z]{2})")
# For fields that take any number or date, what most people ask for.
_USUAL: Mapping[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(("stars", "forks"), ((">100", "more than 100"), (">1000", "more than 1,000"), ("10..100", "10 to 100"))),
    "upvotes": ((">5", "more than 5"), (">20", "more than 20"), (">50", "more than 50")),
    "score": ((">0.3", "more than 0.3"), (">0.5", "more than 0.5"), (">0.7", "more than 0.7")),
    **dict.fromkeys(
        ("published", "updated"),
        (
            ("1d", "the last day"),
            ("7d", "the last week"),
            ("30d", "the last month"),
            ("90d", "three months"),
            ("1y", "a year"),
        ),
    ),
}


async def complete_query(
    context: HandlerContext, typed: str, topics: Mapping[str, Topic], now: datetime
) -> Sequence[Suggestion]:
    """Return the query with its last word completed in the ways that are likeliest; nothing where there is none."""
    text = typed.translate(TYPED)
    start = _start(text)
    found = _WORD.fullmatch(text, start)
    if found is None or len(text) > LONGEST:
        return ()
    signs, name, quote, value = found.groups()
    head = text[:start] + signs
    known = BY_NAME.get((name or "").lower())
    if name and known:
        clauses = await _values(context, known, value, topics, now)
    elif name or quote:
        return ()
    else:
        clauses = [*_names(value), *await _guesses(context, value)]
    whole = (Suggestion(head + clause, label) for clause, label in clauses)
    return [each for each in whole if len(each.value) <= LONGEST][:MOST]


def _start(text: str) -> int:
    """Return where the last word begins; one in quotation marks that are still open begins before them."""
    opened = text.count('"') % 2
    upto = text.rfind('"') if opened else len(text)
    before = re.search(r'[^\s()"]*\Z', text[:upto])
    return before.start() if before else upto


Clause = tuple[str, str]  # as it is put in, and as it is shown


def _names(beginning: str) -> list[Clause]:
    """Return the fields whose name, or another word for it, begins so."""
    start = beginning.lower()
    fields = [field for field in FIELDS if any(name.startswith(start) for name in (field.name, *field.short))]
    fields.sort(key=lambda field: not field.name.startswith(start))
    return [(f"{field.name}:", f"{field.name}: {field.help}") for field in fields]


async def _guesses(context: HandlerContext, beginning: str) -> list[Clause]:
    """Return values that begin as a bare word does, as clauses of their fields."""
    if len(beginning) < 2:
        return []
    return [clause for field in _GUESSED for clause in (await _counted(context, BY_NAME[field], beginning))[:_GUESSES]]


async def _values(
    context: HandlerContext, field: QueryField, beginning: str, topics: Mapping[str, Topic], now: datetime
) -> list[Clause]:
    start = fold_label(beginning)
    if field.name in _NAMES:
        return [(clause, clause) for clause in await names_beginning(context, field.name, beginning, now)]
    if field.name in _COUNTED:
        return await _counted(context, field, beginning)
    if field.values:
        also = {value for word, value in field.also if start and word.startswith(start)}
        return [_plain(field, value) for value in field.values if value.startswith(start) or value in also]
    if field.name == "topic-of":
        return [
            (f"topic-of:{name}", f"topic-of:{name}: {topic.title}")
            for name, topic in topics.items()
            if name.startswith(start)
        ]
    usual = _USUAL.get(field.name, ())
    return [(f"{field.name}:{value}", f"{field.name}:{value}: {told}") for value, told in usual if value.startswith(start)]


async def names_beginning(context: HandlerContext, field: str, beginning: str, now: datetime) -> list[str]:
    """Return clauses that ask for an author, or an organisation, of whose name words begin so; the most frequent first.

    They are those of the newest items that have such a name.
    """
    words = re.findall(r"\w+", fold_label(beginning))
    if len("".join(words)) < _FEWEST:
        return []
    terms = (*(Term(word, field) for word in words[:-1]), Term(words[-1], field, prefix=True))
    page = await context.store.index.search(Query("", And(terms), sort="new"), now, limit=_LOOKED_AT)
    names = Counter(name for hit in page.hits for name in _NAMES[field](hit.item) if _begin(words, name))
    clauses = dict.fromkeys(_clause(BY_NAME[field], name) for name, _ in names.most_common(MOST))
    return [clause for clause in clauses if clause]


def _begin(words: Sequence[str], name: str) -> bool:
    """Say whether each of these begins a word of the name."""
    of_name = re.findall(r"\w+", fold_label(name))
    return all(any(word.startswith(each) for word in of_name) for each in words)


async def _counted(context: HandlerContext, field: QueryField, beginning: str) -> list[Clause]:
    """Return the values that stored items have, the commonest first, and the sources that have shown nothing yet."""
    start = dict(field.also).get(fold_label(beginning), beginning)
    numbers = dict(await context.store.index.values(field.name, start, limit=2 * MOST))
    if field.name == "source":
        numbers |= {
            name: 0
            for name in map(fold_label, context.source_titles)
            if name.startswith(fold_label(start)) and name not in numbers
        }
    clauses = ((_clause(field, value), number) for value, number in numbers.items())
    return [(clause, f"{clause} ({counted(number, 'item')})") for clause, number in clauses if clause]


def _plain(field: QueryField, value: str) -> Clause:
    return f"{field.name}:{value}", f"{field.name}:{value}"


def _clause(field: QueryField, value: str) -> str:
    """Return the clause that asks for a value; "" for one that the language cannot say."""
    if field.takes is Takes.TEXT:
        value = value.translate(TYPED)
        term = Term(value, field.name, quoted=not stands_bare(value, field.name))
        return unparse_tree(term) if says_something(value) else ""
    if _UNSAYABLE.search(value) or value.translate(TYPED) != value or value in dict(field.also):
        return ""
    if field.name == "category":
        value = _as_arxiv(value)
    return unparse_tree(Label(field.name, value))


def _as_arxiv(category: str) -> str:
    """Return a folded category as arXiv writes it: cs.LG and astro-ph.CO, but cond-mat.str-el."""
    found = _ARXIV.fullmatch(category)
    return f"{found[1]}.{found[2].upper()}" if found else category
