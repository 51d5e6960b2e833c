"""Arrange the selected entries as one digest, and write its coverage footer. Pure.

Every item that was considered is either kept or dropped for exactly one reason, so that `seen == kept + dropped` can be
checked and the footer can say where everything went.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from operator import attrgetter

from bot.digest.card import entry
from bot.digest.selection import REASONS, Card
from bot.models import (
    Coverage,
    Digest,
    Health,
    Item,
    SourceReport,
    SourceState,
    Summary,
    Topic,
    Window,
)
from bot.wording import counted


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
    """Arrange the cards, with a summary each, as the topic's digest. It computes: not on the event loop."""
    entries = tuple(entry(card.ranked, summary, card.partner) for card, summary in zip(cards, summaries, strict=True))
    return Digest(topic.name, topic.title, now.date(), since, now, entries, coverage, window)


def coverage(
    considered: Sequence[Item],
    dropped: Mapping[str, str],
    sources: Sequence[tuple[str, SourceState]],
    *,
    since: datetime,
    now: datetime,
) -> Coverage:
    """Count where everything went. `sources` are those that the topic asks, each with its name for people."""
    keys = set(map(attrgetter("key"), considered))
    counts = Counter(dropped[key] for key in keys & dropped.keys())
    seen_by = Counter(map(attrgetter("sources"), considered))
    reports = tuple(_report(title, state, seen_by, now) for title, state in sources)
    return Coverage(
        sources=reports,
        seen=len(keys),
        kept=len(keys) - counts.total(),
        dropped=tuple((reason, counts[reason]) for reason in REASONS if counts[reason]),
        span=f"covers {_span(now - since)}" if now - since > timedelta(days=4) else "",
    )


# A source's state in words is enough of these for a reader; what it said, the status and the log tell.
_LONGEST_NOTE = 80  # characters of it in a line that tells more
_TROUBLED = (Health.PARTIAL, Health.DOWN, Health.CHANGED)


def _report(title: str, state: SourceState, seen_by: Mapping[tuple[str, ...], int], now: datetime) -> SourceReport:
    """What a source said last explains, to who reads the digest, why it brought nothing; else it is of other times."""
    count = sum(items for sources, items in seen_by.items() if state.name in sources)
    said = "" if state.health in _TROUBLED else state.note
    unasked = state.asked is not None and now - state.asked > timedelta(days=1)
    stale = f"{title} was last asked {_span(now - state.asked)} ago" if unasked and state.asked else ""
    why = said.partition("; ")[0]
    silent = "" if count or "://" in why or len(why) > _LONGEST_NOTE else why
    note, of_digest = ("; ".join(filter(None, each)) for each in ((stale, said), (stale, silent)))
    return SourceReport(title, state.health, count, note, of_digest)


def _span(span: timedelta) -> str:
    hours = round(span / timedelta(hours=1))
    return counted(hours, "hour") if hours < 48 else counted(round(hours / 24), "day")
