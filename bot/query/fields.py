"""The one table of what a query can ask of an item, and how each answer is read off the item.

The parser, the matcher, every store's index, the help and docs/query-language.md all go by it: a new field is one entry
here and one branch in the function of its kind.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.models import Item, Term
from bot.query.fold import Spelling, indexed, normalised, spellings

LabelValue = tuple[str, str]  # the field, and the value as it is compared

_SUGGESTED = ("category", "source", "language", "license")
_LONGEST = 100  # characters; a longer value is no name, and no list of suggestions can show it


class Takes(StrEnum):
    """What kind of value a field takes."""

    TEXT = "text"  # a word, a "phrase", or a word's beginning*
    LABEL = "label"  # one of a set of names; folded, and matched whole or by prefix
    NUMBER = "number"
    DATE = "date"
    DIRECTIVE = "directive"  # no condition: it says how a search is answered


@dataclass(frozen=True, slots=True)
class QueryField:
    """One field of the language. `values` are all that it takes, when the set is closed; `also` are other words for them."""

    name: str
    takes: Takes
    help: str
    example: str
    short: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    also: tuple[tuple[str, str], ...] = ()


_SOURCES = (("hf", "huggingface"), ("gh", "github"))  # what people also write for a source; its own name needs no entry
_KINDS = (("papers", "paper"), ("repos", "repo"), ("repository", "repo"), ("repositories", "repo"), ("posts", "post"))
_LANGUAGES = (
    ("cpp", "c++"),
    ("csharp", "c#"),
    ("py", "python"),
    ("js", "javascript"),
    ("ts", "typescript"),
    ("golang", "go"),
)
_SORTS = (("newest", "new"), ("date", "new"), ("relevance", "best"), ("votes", "upvotes"))

_TEXTS = (
    QueryField(
        "title", Takes.TEXT, "the title of a paper or post, the name of a repository", 'title:"sparse attention"', ("ti",)
    ),
    QueryField(
        "abstract",
        Takes.TEXT,
        "the abstract of a paper, the description and README opening of a repository, the text of a post",
        "abstract:quantisation",
        ("abs", "description"),
    ),
    QueryField("author", Takes.TEXT, "an author; for a repository its owner", 'author:"Tri Dao"', ("au", "owner")),
    QueryField("org", Takes.TEXT, "the organisation behind it", "org:nvidia"),
    QueryField(
        "topic", Takes.TEXT, "a GitHub topic, or a keyword of its source", "topic:kv-cache", ("keyword", "kw", "tag")
    ),
)
_LABELS = (
    QueryField(
        "category",
        Takes.LABEL,
        "an arXiv category, its archive, or a beginning with an asterisk",
        "category:cs.DC",
        ("cat",),
    ),
    QueryField(
        "source",
        Takes.LABEL,
        "the source that showed it, for example arxiv, github, feed or feed:NAME",
        "source:arxiv",
        also=_SOURCES,
    ),
    QueryField("kind", Takes.LABEL, "what it is", "kind:repo", ("type",), ("paper", "repo", "post"), _KINDS),
    QueryField("language", Takes.LABEL, "the main language of a repository", "language:C++", ("lang",), also=_LANGUAGES),
    QueryField("license", Takes.LABEL, "the licence, as its SPDX identifier", "license:apache-2.0", ("licence",)),
    QueryField(
        "has",
        Takes.LABEL,
        "what comes with it; summary is a text to summarise",
        "has:code",
        (),
        ("code", "pdf", "summary"),
    ),
    QueryField("id", Takes.LABEL, "one item by its key or its number; an arXiv version is ignored", "id:2606.01234"),
)
_NUMBERS = (
    QueryField("stars", Takes.NUMBER, "stars of the repository", "stars:>500", ("star",)),
    QueryField("forks", Takes.NUMBER, "forks of the repository", "forks:10..50", ("fork",)),
    QueryField("upvotes", Takes.NUMBER, "upvotes on Hugging Face", "upvotes:>=20", ("votes", "likes")),
    QueryField(
        "score", Takes.NUMBER, "the score for the topic, from 0 to 1; unknown in a search without a topic", "score:>0.4"
    ),
)
_DATES = (
    QueryField(
        "published",
        Takes.DATE,
        "when it first appeared; for a repository its creation",
        "published:7d",
        ("submitted", "created"),
    ),
    QueryField(
        "updated",
        Takes.DATE,
        "when it last changed: the latest version, the latest push",
        "updated:>=2026-06-01",
        ("pushed",),
    ),
)
_DIRECTIVES = (
    QueryField(
        "sort", Takes.DIRECTIVE, "the order of a search", "sort:new", (), ("best", "new", "stars", "upvotes"), _SORTS
    ),
    QueryField("topic-of", Takes.DIRECTIVE, "rank a search as this topic would", "topic-of:gpu-systems", ("topicof",)),
)

FIELDS: tuple[QueryField, ...] = (*_TEXTS, *_LABELS, *_NUMBERS, *_DATES, *_DIRECTIVES)
TEXT = tuple(field.name for field in _TEXTS)
LABEL = tuple(field.name for field in _LABELS)
NUMBER = tuple(field.name for field in _NUMBERS)
DATE = tuple(field.name for field in _DATES)

BY_NAME: dict[str, QueryField] = {name: field for field in FIELDS for name in (field.name, *field.short)}


# --- reading an item -----------------------------------------------------------------------------------------------

_TEXT_OF: dict[str, Callable[[Item], tuple[str, ...]]] = {
    "title": lambda item: (item.title,),
    "abstract": lambda item: (item.abstract, item.readme),
    "author": lambda item: item.authors,
    "org": lambda item: (item.org,),
    "topic": lambda item: item.keywords,
}


def text_of(item: Item, field: str) -> str:
    """Return the item's text in a field of TEXT as `bot.query.fold.indexed` writes it, "" when there is none."""
    return indexed(*_TEXT_OF[field](item))


def read_of(item: Item) -> tuple[tuple[str, ...], ...]:
    """Return all that `text_of` reads: items of which it is the same have the same texts."""
    return tuple(read(item) for read in _TEXT_OF.values())


def labels_of(item: Item, field: str) -> tuple[str, ...]:
    """Return the item's folded values in a field of LABEL, each once; () when it has none."""
    return tuple(dict.fromkeys(filter(None, _LABELS_OF[field](item))))


def number_of(item: Item, field: str) -> float | None:
    """Return the item's number in a field of NUMBER, None when it is not known; a score is never the item's own."""
    return None if field == "score" else _NUMBER_OF[field](item)


def date_of(item: Item, field: str) -> datetime | None:
    """Return the item's time in a field of DATE, None when it is not known.

    Where a source tells no date of publication it is the day on which it showed the item; where none of a change, that
    of publication: so `published:7d` also finds what has just been announced.
    """
    published = item.published or item.appeared
    return published if field == "published" else item.updated or published


_NUMBER_OF: dict[str, Callable[[Item], int | None]] = {
    "stars": lambda item: item.stars,
    "forks": lambda item: item.forks,
    "upvotes": lambda item: item.upvotes,
}


def _categories(item: Item) -> list[str]:
    """Return each category, and the archive that it belongs to: cs beside cs.lg."""
    return [part for category in map(fold_label, item.categories) for part in (category, category.partition(".")[0])]


def _sources(item: Item) -> list[str]:
    """Return each source, and for `feed:name` also `feed`."""
    return [part for source in map(fold_label, item.sources) for part in (source, source.partition(":")[0])]


def _has(item: Item) -> list[str]:
    rels = {link.rel for link in item.links}
    found = {
        "code": item.kind == "repo" or bool(item.repo) or "code" in rels,
        "pdf": "pdf" in rels,
        "summary": bool(item.abstract.strip() or item.readme.strip()),
    }
    return [name for name, held in found.items() if held]


def _ids(item: Item) -> list[str]:
    keys = [key.casefold() for key in (item.key, *item.aliases)]
    return [*keys, *(key.partition(":")[2] for key in keys)]


_LABELS_OF: dict[str, Callable[[Item], list[str]]] = {
    "category": _categories,
    "source": _sources,
    "kind": lambda item: [item.kind.value],
    "language": lambda item: [fold_label(item.language)],
    "license": lambda item: [fold_label(item.license)],
    "has": _has,
    "id": _ids,
}


# --- reading what was typed ----------------------------------------------------------------------------------------

_ARXIV_PAGE = re.compile(
    r"(?:https?://)?(?:[a-z]+\.)?(?:arxiv\.org/(?:abs|pdf|html)|(?:huggingface|hf)\.co/papers)/(\S+?)(?:\.pdf)?/?"
)
_REPOSITORY_PAGE = re.compile(r"(?:https?://)?(?:www\.)?github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?")
_VERSIONED = re.compile(r"((?:arxiv:)?\s*(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7}))(?:v\d{1,3})?")


def values_of(item: Item) -> tuple[LabelValue, ...]:
    """Return the values that are suggested while a person types, each once: the item's labels, and its keywords of `topic`.

    A value that is too long to be a name is left out.
    """
    labels = [(field, value) for field in _SUGGESTED for value in labels_of(item, field)]
    keywords = [("topic", fold_label(keyword)) for keyword in item.keywords]
    return tuple(
        pair for pair in dict.fromkeys([*labels, *keywords]) if 0 < len(pair[1]) <= _LONGEST and pair[1].isprintable()
    )


def fold_label(value: str) -> str:
    """Return a label as it is compared: without case and accents, single spaces; signs stay (c++, cs.lg, apache-2.0)."""
    return " ".join(normalised(value).split())


def fold_id(value: str) -> str:
    """Return a typed identifier as `labels_of(item, "id")` writes it: `arXiv:2606.01234v2` or its page is 2606.01234."""
    value = value.strip().casefold()
    for page in (_ARXIV_PAGE, _REPOSITORY_PAGE):
        if match := page.fullmatch(value):
            value = match[1]
    if match := _VERSIONED.fullmatch(value):
        value = re.sub(r"\.[a-z]{2}/", "/", match[1].removeprefix("arxiv:").strip())  # math.gt/0309136 is math/0309136
    return value


def label_value(field: QueryField, value: str) -> str:
    """Return a typed label as it is compared, the words people also write for it (hf, repository) replaced."""
    folded = fold_id(value) if field.name == "id" else fold_label(value)
    return dict(field.also).get(folded, folded)


def spellings_of(term: Term) -> tuple[Spelling, ...]:
    """Return the token sequences that a term stands for, in `author` also `Dao, Tri` turned round; () matches nothing.

    What stands for it besides is among them.
    """
    found = spellings(term.text, prefix=term.prefix)
    if term.also:
        found = tuple(dict.fromkeys([*found, *(way for other in term.also for way in spellings(other))]))
    last, comma, first = term.text.partition(",")
    if term.field == "author" and comma and not term.prefix:
        found = tuple(dict.fromkeys([*found, *spellings(f"{first} {last}")]))
    return found
