"""What the publisher is asked for, and what it tells of single items."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.models.digests import Limits
from bot.models.items import Item
from bot.models.people import Rhythm
from bot.models.queries import Query
from bot.models.topics import Ranked, Topic


@dataclass(frozen=True, slots=True)
class DigestRequest:
    """What a digest is asked for: a topic, for a channel of a workspace, with its filter and limits."""

    topic: Topic
    workspace: str
    channel: str
    limits: Limits = Limits()
    filter: Query = Query("")  # the subscription's; the topic's own holds besides
    min_score: float | None = None  # instead of the topic's
    window: timedelta = timedelta(hours=48)
    since_last: bool = True  # begin where the channel's last digest of the topic ended, rather than one window ago
    baseline: datetime | None = None  # nothing that came in before; where it lies ahead, by a pause, it does not hold yet
    baseline_arrival: int | None = None  # the last arrival that came in before; None: to be found by the time
    made_arrival: int = 0  # the last that came in before the subscription was made: no baseline found by time is before it
    # Where the channel had no digest of the topic since the baseline, begin one window ago, if that is before it.
    reach_back: bool = False
    through: int | None = None  # look no further than this arrival; None: up to the last
    subscription: str = ""  # the id of the one that it is for; "": of none
    rhythm: Rhythm | None = None  # of that one; None: whatever digests of the topic the channel had


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOutcome:
    """What becomes of one item in the next digest of a request, by the very steps that make the digest."""

    item: Item
    reason: str  # "" when it would be in it, else one of bot.digest.selection.REASONS or NOT_IN_TIME
    otherwise: str = ""  # of an item that is not in its time the reason if it were; so is the rest: place, clause, instead
    since: datetime  # for people: the digest looks at what came in from here on
    ranked: Ranked | None = None  # with the parts of its score, when it enters the topic
    place: int | None = None  # from 1, among all that enter the topic, best first
    clause: str = ""  # in words: of the filter that stopped it, else of the topic's query that let it in or kept it out
    instead: Item | None = None  # the better near twin, or the other half of its card, which leads
    least: float = 0.0  # the score that an entry needs
    carried: datetime | None = None  # of what fell to the cap of an earlier digest and is looked at again: when it first did


@dataclass(frozen=True, slots=True)
class TestedItem:
    """An item that a filter was tried on."""

    ranked: Ranked
    passes: bool
    clause: str  # the clause that decided, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterTest:
    """A filter tried on the items of a span that enter the topic."""

    seen: int  # items first seen in the span
    entered: int  # of them, in the topic
    passed: int  # of those, through the filter
    through: tuple[TestedItem, ...]  # the best that pass
    stopped: tuple[TestedItem, ...]  # the best that do not
