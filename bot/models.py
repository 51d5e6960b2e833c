"""The values that pass between the rooms. All of them are frozen; every time is aware and in UTC.

What a source sends is checked at the source's door; from there on a field that is unknown is empty ("" or ()) when it is
text and None when it is a number or a time, so that "no stars" and "stars unknown" stay apart.
"""

import dataclasses
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

# --- items ---------------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    """What an item is."""

    PAPER = "paper"
    REPO = "repo"
    POST = "post"


@dataclass(frozen=True, slots=True)
class Link:
    """Where a reader can go. `rel` is one of abstract, pdf, code, page, discussion, doi, post, model, video."""

    rel: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One paper, repository or post, known by one key however many sources saw it.

    `key` is `arxiv:2606.01234` (without version), `github:owner/name` (lower case), `doi:…` (lower case) or `url:…`
    (normalised). `aliases` are the other keys under which the same work was seen.
    """

    key: str
    kind: Kind
    title: str
    abstract: str = ""  # a paper's abstract, a repository's description, a post's text: readable Unicode, no markup
    authors: tuple[str, ...] = ()  # for a repository its owner
    org: str = ""
    categories: tuple[str, ...] = ()  # arXiv's, the primary one first
    keywords: tuple[str, ...] = ()  # GitHub topics, Hugging Face keywords, a feed's tags
    sources: tuple[str, ...] = ()  # arxiv, huggingface, github, feed:<name>; in the order in which they saw it
    links: tuple[Link, ...] = ()
    aliases: tuple[str, ...] = ()
    published: datetime | None = None  # version 1 of a paper; creation of a repository
    updated: datetime | None = None  # the latest version; the latest push
    appeared: datetime | None = None  # when its source showed it to the public: announced, picked, posted
    seen: datetime | None = None  # when we first stored it; set by the pipeline, never by a source
    announce: str = ""  # arXiv: new, cross, replace, replace-cross
    version: int = 0  # arXiv's; 0 when unknown
    comment: str = ""
    license: str = ""  # an SPDX id where it is known, else the licence's URL
    language: str = ""  # of a repository
    stars: int | None = None
    forks: int | None = None
    upvotes: int | None = None
    withdrawn: bool = False
    archived: bool = False
    fork: bool = False
    readme: str = ""  # the opening of a repository's README, as text
    repo: str = ""  # the key of a paper's repository, once joined
    paper: str = ""  # the key of a repository's paper, once joined


@dataclass(frozen=True, slots=True)
class Reading:
    """What the community signals of an item were on one day; at most one is kept per item and day, the last."""

    day: date
    stars: int | None = None
    forks: int | None = None
    upvotes: int | None = None


# --- sources -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One step of a collection: items, and how far the source has come with them.

    `watermark` is the source's own text, handed back to it next time; None leaves the stored one as it is. A source
    moves it only past what is in this batch or the ones before, so that a crash between two batches loses nothing.
    """

    items: tuple[Item, ...] = ()
    watermark: str | None = None
    skipped: int = 0  # entries that could not be read and were left out
    notes: tuple[str, ...] = ()  # sentences for the coverage footer
    partial: bool = False  # something that belongs here is missing, and a note says what
    done: int = 0  # for the progress bar: steps done, and how many there will be (0: unknown)
    total: int = 0


class Health(StrEnum):
    """How a source's last collection went."""

    OK = "ok"
    QUIET = "quiet"  # it answered and had nothing, and that is known to be right (weekend, holiday, not modified)
    PARTIAL = "partial"  # something of the day is missing
    DOWN = "down"  # SourceUnavailable
    CHANGED = "changed"  # SourceChanged
    NEVER = "never"  # not asked yet


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """What is remembered of a source between two collections."""

    name: str
    watermark: str = ""
    health: Health = Health.NEVER
    asked: datetime | None = None  # the last attempt
    answered: datetime | None = None  # the last attempt that was not DOWN or CHANGED
    told: datetime | None = None  # the collection that `health`, `items` and `note` speak of, while it was no failure
    failures: int = 0  # in a row
    rest_until: datetime | None = None  # not to be asked before
    items: int = 0  # read in the last collection that answered
    note: str = ""  # a sentence for the footer, "" when there is nothing to say


# --- the query language --------------------------------------------------------------------------------------------
# The tree that bot.query.parse makes; bot.query.match evaluates it on an item and each store compiles it for itself.


@dataclass(frozen=True, slots=True)
class Term:
    """A word, a quoted phrase, or (`prefix`) a word's beginning, anywhere or in one text field.

    `text` is as typed; `field` is "" for anywhere or a canonical text field: title, abstract, author, org, topic.
    """

    text: str
    field: str = ""
    prefix: bool = False
    quoted: bool = False
    position: int = dataclasses.field(default=0, compare=False)


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
    """One search result. `relevance` is larger for better; it is comparable within one search only."""

    item: Item
    relevance: float


@dataclass(frozen=True, slots=True)
class Page:
    """A page of search results, and whether there are more."""

    hits: tuple[Hit, ...]
    more: bool


# --- topics and ranking --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Interest:
    """A weighted clause of the query language: `KV cache`, `author:"Tri Dao"`. A negative weight speaks against."""

    clause: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A named interest of a workspace."""

    name: str  # lower case, digits and hyphens
    title: str
    description: str = ""
    query: Query = Query("")  # who enters
    interests: tuple[Interest, ...] = ()
    examples: tuple[str, ...] = ()  # item keys, or texts to be close to
    sources: tuple[str, ...] = ()  # empty: all
    min_score: float = 0.0
    repositories: tuple[str, ...] = ()  # GitHub search terms with qualifiers, as typed


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One named part of a score. `value` is what it adds to the total (parts sum to the score)."""

    name: str  # phrases, examples, community, freshness
    value: float
    why: str  # a clause for a person, "" when there is nothing to say: 'matches *KV cache* ×3'


@dataclass(frozen=True, slots=True)
class Ranked:
    """An item with its score in 0–1 for one topic and the parts that made it."""

    item: Item
    score: float
    parts: tuple[ScorePart, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """The parts in words, the largest first."""
        told = sorted((part for part in self.parts if part.why), key=lambda part: -part.value)
        return tuple(part.why for part in told)


# --- summaries -----------------------------------------------------------------------------------------------------

PARTS = ("Problem", "Method", "Evidence", "Why it matters")


@dataclass(frozen=True, slots=True)
class SummaryPart:
    """One of the four parts. `found` is False when the text does not say; `text` then says so.

    `quotes` are the sentences of the source text, word for word, on which the part rests.
    """

    name: str
    text: str
    found: bool = True
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """Problem, Method, Evidence, Why it matters; what was read for them and by what they were made."""

    parts: tuple[SummaryPart, ...]  # always the four of PARTS, in that order
    read: str  # "abstract", "description and README opening", …
    made_by: str  # "extractive", or the model's name
    note: str = ""  # for example why the extractive one stands in


# --- digests -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """One card of a digest: a ranked item, its summary, and its repository (or paper) when the two are joined."""

    ranked: Ranked
    summary: Summary
    partner: Item | None = None


@dataclass(frozen=True, slots=True)
class SourceReport:
    """One source's line in the coverage footer."""

    name: str  # for people: "arXiv"
    health: Health
    items: int  # of this source among those considered
    note: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was asked, seen, kept and dropped, and why. `seen == kept + sum of dropped` always holds."""

    sources: tuple[SourceReport, ...]
    seen: int
    kept: int
    dropped: tuple[tuple[str, int], ...] = ()  # (reason, how many), the reasons of bot.compose
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Digest:
    """What one occurrence says, for one topic."""

    topic: str  # the topic's name
    title: str
    day: date
    since: datetime  # items first seen from here …
    until: datetime  # … to here were considered
    entries: tuple[Entry, ...]
    coverage: Coverage
