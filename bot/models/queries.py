"""The query language as a tree, and what a search finds.

bot.query.parse makes the tree; bot.query.match evaluates it on an item and each store compiles it for itself.
"""

import dataclasses
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.models.items import Item


@dataclass(frozen=True, slots=True)
class Term:
    """A word, a quoted phrase, or (`prefix`) a word's beginning, anywhere or in one text field.

    `text` is as typed; `field` is "" for anywhere or a canonical text field: title, abstract, author, org, topic. `also` is
    what stands for it besides, such as what an abbreviation is spelt out as; nobody types it.
    """

    text: str
    field: str = ""
    prefix: bool = False
    quoted: bool = False
    position: int = dataclasses.field(default=0, compare=False)
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Label:
    """A field with a closed form: category, source, kind, language, license, has, id. `*` at the end matches a prefix."""

    field: str
    value: str  # folded as bot.query.fields folds the item's own
    prefix: bool = False
    position: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    """`low <= field <= high`, either end open when None: stars, forks, upvotes, score. An unknown number never matches."""

    field: str
    low: float | None = None
    high: float | None = None
    above: bool = False  # low itself excluded
    below: bool = False  # high itself excluded
    position: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class When:
    """`after <= field < before`, either end open when None: published, updated. An unknown time never matches.

    Ages (`7d`) are turned into instants when they are evaluated: `age_low`/`age_high` in days, against `now`.
    """

    field: str
    after: datetime | None = None
    before: datetime | None = None
    youngest: float | None = None  # at least so many days old
    oldest: float | None = None  # at most so many days old
    position: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """Matches what `part` does not."""

    part: "Tree"


@dataclass(frozen=True, slots=True)
class And:
    """Matches what all parts match; with no parts, everything."""

    parts: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Matches what any part matches; with no parts, nothing."""

    parts: tuple["Tree", ...]


Tree = Term | Label | Number | When | Not | And | Or


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: the tree, and the search directives that stood beside it."""

    text: str  # as typed
    tree: Tree = And(())
    sort: str = "best"  # best, new, stars, upvotes
    topic_of: str = ""  # the topic whose ranking is asked for, "" for none


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result. `relevance` is larger for better; it is comparable within one search only.

    `other` is the other half of a paper and its repository, where both are one result. `shared` are the words and phrases
    that what was found similar and what it is similar to both have, and few others: the most telling first.
    """

    item: Item
    relevance: float
    other: Item | None = None
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WordUse:
    """How many items have a word, in whatever inflection, and how many an author of that name.

    Of a word that none has, `near` are the nearest of those that some have, the nearest first. Of a longer one that very few
    have, in no inflection and not as a name, they are those one fault away that a hundred times as many have.
    """

    items: int
    names: int = 0
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Near:
    """What found items are to be close to in meaning: a packed vector (bot.models.vectors), and the space it lies in.

    `enough` is the cosine from which on an item is found by its meaning alone: spaces differ in it. Above 1, none is.
    """

    space: str
    vector: bytes
    enough: float


@dataclass(frozen=True, slots=True)
class Behind:
    """How far an index is behind the items: how many arrivals it has not looked at, and since when it had all of them.

    With `is_being_made` it never had all of them, and answers from what it has.
    """

    arrivals: int
    span: timedelta
    is_being_made: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A page of search results, and whether there are more.

    `mark` says what the store held when it was asked. Handed back with a later `offset`, it gives further pages of the same
    list: what was stored in between is left out, so that nothing is shown twice or skipped.

    `examined` is 0 for a whole answer. Of a query that takes too much effort it is how many items alone were looked at, the
    first ones in the order of the search or those that were stored last: what else it would find is not known.

    `total` is how many items the query finds, None where that is not known. No more than COUNTED are counted: COUNTED + 1
    says that there are more. `about` says that the number is close to that of the results, and need not be it.

    `behind` is given where the index lacks so much that whoever asks is to know it.
    """

    hits: tuple[Hit, ...]
    more: bool
    mark: str = ""
    examined: int = 0
    total: int | None = None
    about: bool = False
    behind: Behind | None = None


COUNTED = 1000  # items of a search that are counted; a tenth of a millisecond
