"""Summaries, and the digests that hold them."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from bot.models.items import Item
from bot.models.sources import Health
from bot.models.topics import Ranked

PARTS = ("Problem", "Method", "Evidence", "Why it matters")


READING_SPEED = 230  # words a minute; Brysbaert, "How many words do we read per minute?", 2019, has 238 for prose
MOST_ENTRIES = 50  # of a digest: beyond it nobody reads, and no message takes it


class Layout(StrEnum):
    """How a digest stands in its channel."""

    BRIEF = "brief"  # a line or two for each entry
    THREAD = "thread"  # the brief, and each entry in full in its thread
    FULL = "full"  # each entry in full


@dataclass(frozen=True, slots=True)
class SummaryPart:
    """One of the four parts. `found` is False where none was found; `text` is then empty, or says what could not be read or
    what else is known. It never says that the text is silent.

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


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a digest: a ranked item, its summary, and its repository (or paper) when the two are joined.

    What is shown of it is made by `bot.digest.card`: the gist of at most 18 words, the parts as its card shows them, and
    why it is here in two reasons. Each may be empty.
    """

    ranked: Ranked
    summary: Summary
    partner: Item | None = None
    gist: str = ""
    card: tuple[SummaryPart, ...] = ()
    why_here: str = ""


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What became of one source, for a digest."""

    name: str  # for people: "arXiv"
    health: Health
    items: int  # of this source among those considered
    note: str = ""  # what it said last, of whatever time
    of_digest: str = ""  # what of it concerns the digest's own time


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was asked, seen, kept and dropped, and why. `seen == kept + sum of dropped` always holds."""

    sources: tuple[SourceReport, ...]
    seen: int
    kept: int
    dropped: tuple[tuple[str, int], ...] = ()  # (reason, how many), the reasons of bot.digest.selection
    notes: tuple[str, ...] = ()
    span: str = ""  # how much it covers, where that is more than usual: "covers 5 days"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in the order in which items were stored: just behind one arrival. The time is for people."""

    arrival: int
    time: datetime


@dataclass(frozen=True, slots=True)
class Window:
    """The arrivals that a digest looks at: those later than `after`, up to `through`.

    The rest is for who saves the digest. `follows`: how far the channel's digests of the topic had looked when this one was
    made. `makes_up`: the number of the last digest dropped unposted whose arrivals it looks at again; 0: of none.
    """

    after: int = 0
    through: int = 0
    follows: int = 0
    makes_up: int = 0


@dataclass(frozen=True, slots=True)
class Unposted:
    """What the digests of a channel and topic looked at that were dropped unposted, for the next one to look at again."""

    begins: Position  # where the earliest of them began
    number: int  # of the one that was dropped last; grows with each that is


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One work that is on topic and has no place in a digest: over the cap, a near twin, or close below what it asks for."""

    key: str
    reason: str  # of bot.digest.selection
    place: int  # from 1, among the cards that are on topic, best first
    score: float
    relevance: float = 0.0
    other: str = ""  # the key of the other half of its card
    since: datetime | None = None  # of what is over the cap: when a digest first left it out so
    arrival: int = 0


@dataclass(frozen=True, slots=True)
class Digest:
    """What one occurrence says, for one topic."""

    topic: str  # the topic's name
    title: str
    day: date
    since: datetime  # for people: from when …
    until: datetime  # … to when; what was considered, the window says
    entries: tuple[Entry, ...]
    coverage: Coverage
    window: Window = Window()
    subscription: str = ""  # the id of the one that it is for; "": of none
    rhythm: str = ""  # of that one, a Rhythm
    tag: str = ""  # as the subscription says, for who renders it
    is_for_list: bool = False  # of readers by e-mail: what one of them did by a link would be everybody's
    news: str = ""  # a sentence of ours that the channel is told once, commands between *asterisks*; "": none
    left_out: tuple[LeftOut, ...] = ()  # what else is on topic, the best first and of these so many as are listed
    others: int = 0  # how many works that is, those that are not listed too; 0: as many as are listed
    is_preview: bool = False  # shown to one who asked, and not kept
    above: int = 0  # cards that had all that is asked for: those kept, over the cap, and near twins
    cap: int = 0  # entries that it might hold
    min_score: float = 0.0  # the relevance that an entry needed
    carried: tuple[
        LeftOut, ...
    ] = ()  # what earlier ones left out over the cap, by its key of now; without a reason: news of before
    again: tuple[str, ...] = ()  # keys of repositories that the channel had been posted, for an event of before

    @property
    def minutes(self) -> int:
        """How long its cards take to read, their titles counted: at least one minute."""
        told = (
            text
            for entry in self.entries
            for text in (entry.ranked.item.title, entry.gist, *(part.text for part in entry.card), entry.why_here)
        )
        return max(1, -(-sum(len(text.split()) for text in told) // READING_SPEED))


@dataclass(frozen=True, slots=True)
class PastDigest:
    """What is remembered of a saved digest: what it showed, and what it left out."""

    topic: str  # the topic's name
    title: str
    day: date
    saved: datetime
    entries: tuple[str, ...]  # the keys of those that led its cards, in their order
    left_out: tuple[LeftOut, ...] = ()
    others: int = 0
    above: int = 0
    cap: int = 0
    min_score: float = 0.0
    seen: int = 0
    kept: int = 0
    dropped: tuple[tuple[str, int], ...] = ()  # (reason, how many)
    rhythm: str = ""  # of the subscription that it was for, a Rhythm; "": that is not known
    gists: tuple[str, ...] = ()  # of the entries, "" where that is not known

    def gist_of(self, key: str) -> str:
        """Return the gist that was posted of an entry, "" where that is not known."""
        return dict(zip(self.entries, self.gists, strict=False)).get(key, "")

    @property
    def numbered(self) -> tuple[str, ...]:
        """The keys in the order of their numbers, from 1: of the entries, and on of what was left out."""
        return (*self.entries, *(each.key for each in self.left_out))


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a digest may hold: entries in all, repositories among them, and the age of what is still news."""

    entries: int = 7
    repositories: int = 1
    max_age: timedelta = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Posting:
    """That an item was posted to a channel."""

    key: str
    topic: str  # of the digest it stood in
    day: date
    at: datetime
    score: float | None = None  # it had then; None when that is not known any more
    subscription: str = ""  # for which it was posted; "": that is not known
