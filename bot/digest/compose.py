"""Arrange the selected entries as one digest, and write its coverage footer. Pure.

Every item that was considered is either kept or dropped for exactly one reason, so that `seen == kept + dropped` can be
checked and the footer can say where everything went.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.digest.selection import REASONS, Card
from bot.models import (
    PARTS,
    Coverage,
    Digest,
    Entry,
    Health,
    Item,
    Kind,
    Ranked,
    ScorePart,
    SourceReport,
    SourceState,
    Summary,
    SummaryPart,
    Topic,
    Window,
)
from bot.wording import counted

# What speaks for an item in the topic's own terms; stars and freshness are no reasons of the team's.
_OF_THE_TOPIC = ("phrases", "examples", "feedback")
_STARS_GAINED = re.compile(r"[\d,]+ stars? in \d+ days?")
_, _, _EVIDENCE, _WHY = PARTS
_FOR_THE_TOPIC = "For your topic: "


def digest(
    topic: Topic,
    cards: Sequence[Card],
    summaries: Sequence[Summary],
    *,
    coverage: Coverage,
    window: Window,
    since: datetime,
    now: datetime,
) -> Digest:
    """Arrange the cards, with a summary each, as the topic's digest; see `for_the_topic`."""
    entries = tuple(
        Entry(card.ranked, for_the_topic(summary, card.ranked), card.partner)
        for card, summary in zip(cards, summaries, strict=True)
    )
    return Digest(topic.name, topic.title, now.date(), since, now, entries, coverage, window)


def for_the_topic(summary: Summary, ranked: Ranked) -> Summary:
    """Return the summary with what ranking knows, labelled as such, where the text does not say.

    Why it matters: the topic's own reasons, `For your topic: matches "KV cache" ×3; close to "Title" you liked.`; what else
    is known of a repository follows. A repository's evidence: the stars that it gained of late. Both parts stay ones that
    were not found; without a reason that speaks for the item nothing is changed.
    """
    speaking = (part for part in ranked.parts if part.value > 0 and part.name in _OF_THE_TOPIC)
    reasons = "; ".join(filter(None, map(_said_for, speaking)))
    gained = _gained(ranked) if ranked.item.kind is Kind.REPO else ""
    return replace(summary, parts=tuple(_completed(part, reasons, gained) for part in summary.parts))


def _completed(part: SummaryPart, reasons: str, gained: str) -> SummaryPart:
    if part.found:
        return part
    if part.name == _WHY and reasons:
        _, _, known = part.text.partition(". ")
        return replace(part, text=f"{_FOR_THE_TOPIC}{reasons}. {known}".rstrip())
    if part.name == _EVIDENCE and gained:
        return replace(part, text=f"{part.text} It gained {gained}.")
    return part


def _gained(ranked: Ranked) -> str:
    """`412 stars in 3 days`, as the community's reason says it; "" when that is not known."""
    found = (_STARS_GAINED.search(part.why) for part in ranked.parts if part.name == "community")
    return next((match.group() for match in found if match), "")


def _said_for(part: ScorePart) -> str:
    """The part's reason with its phrases in quotation marks, without what speaks against the item."""
    return re.sub(r"\*([^*\n]+)\*", r'"\1"', re.sub(r"(?:^|, )against \*.*", "", part.why))


def coverage(
    considered: Sequence[Item],
    dropped: Mapping[str, str],
    sources: Sequence[tuple[str, SourceState]],
    *,
    since: datetime,
    now: datetime,
) -> Coverage:
    """Count where everything went. `sources` are those that the topic asks, each with its name for people."""
    keys = {item.key for item in considered}
    counts = Counter(reason for key, reason in dropped.items() if key in keys)
    reports = tuple(_report(title, state, considered, now) for title, state in sources)
    notes = [f"late: covers {_span(now - since)}"] if now - since > timedelta(days=4) else []
    return Coverage(
        sources=reports,
        seen=len(keys),
        kept=len(keys) - counts.total(),
        dropped=tuple((reason, counts[reason]) for reason in REASONS if counts[reason]),
        notes=tuple(notes),
    )


# A source's state in words is enough of these for a reader; what it said, the status and the log tell.
_TROUBLED = (Health.PARTIAL, Health.DOWN, Health.CHANGED)


def _report(title: str, state: SourceState, considered: Sequence[Item], now: datetime) -> SourceReport:
    count = sum(state.name in item.sources for item in considered)
    notes = [] if state.health in _TROUBLED or not state.note else [state.note]
    if state.asked is not None and now - state.asked > timedelta(days=1):
        notes.insert(0, f"{title} was last asked {_span(now - state.asked)} ago")
    return SourceReport(title, state.health, count, "; ".join(notes))


def _span(span: timedelta) -> str:
    hours = round(span / timedelta(hours=1))
    return counted(hours, "hour") if hours < 48 else counted(round(hours / 24), "day")
