"""The values that pass between the rooms. All of them are frozen; every time is aware and in UTC.

What a source sends is checked at the source's door; from there on a field that is unknown is empty ("" or ()) when it is
text and None when it is a number or a time, so that "no stars" and "stars unknown" stay apart.
"""

from bot.models.deliveries import (
    FOREVER,
    ON_REQUEST,
    Abilities,
    Delivery,
    DeliveryState,
    Method,
    Occurrence,
    OccurrenceState,
    Rate,
)
from bot.models.digests import (
    MOST_ENTRIES,
    PARTS,
    Coverage,
    Digest,
    Entry,
    Limits,
    Posting,
    SourceReport,
    Summary,
    SummaryPart,
)
from bot.models.items import Item, Kind, Link, Reading, Release
from bot.models.people import EVERY_DAY, Actor, Change, Feedback, Installation, Preferences, Saved, Schedule, Subscription
from bot.models.queries import And, Hit, Label, Near, Not, Number, Or, Page, Query, Term, Tree, When
from bot.models.replies import Attachment, Button, Field, Reply, ReplyEntry, Suggestion, text_key
from bot.models.requests import DigestRequest, FilterTest, ItemOutcome, TestedItem
from bot.models.sources import Batch, Health, SourceState
from bot.models.topics import LONGEST_TITLE, MOST_WEIGHT, Interest, Ranked, ScorePart, Topic

__all__ = [
    "EVERY_DAY",
    "FOREVER",
    "LONGEST_TITLE",
    "MOST_ENTRIES",
    "MOST_WEIGHT",
    "ON_REQUEST",
    "PARTS",
    "Abilities",
    "Actor",
    "And",
    "Attachment",
    "Batch",
    "Button",
    "Change",
    "Coverage",
    "Delivery",
    "DeliveryState",
    "Digest",
    "DigestRequest",
    "Entry",
    "Feedback",
    "Field",
    "FilterTest",
    "Health",
    "Hit",
    "Installation",
    "Interest",
    "Item",
    "ItemOutcome",
    "Kind",
    "Label",
    "Limits",
    "Link",
    "Method",
    "Near",
    "Not",
    "Number",
    "Occurrence",
    "OccurrenceState",
    "Or",
    "Page",
    "Posting",
    "Preferences",
    "Query",
    "Ranked",
    "Rate",
    "Reading",
    "Release",
    "Reply",
    "ReplyEntry",
    "Saved",
    "Schedule",
    "ScorePart",
    "SourceReport",
    "SourceState",
    "Subscription",
    "Suggestion",
    "Summary",
    "SummaryPart",
    "Term",
    "TestedItem",
    "Topic",
    "Tree",
    "When",
    "text_key",
]
