"""Choose and arrange the entries of one digest, and write its coverage footer. Pure.

Every item that was considered is either kept or dropped for exactly one reason, so that `seen == kept + dropped` can be
checked and the footer can say where everything went.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.models import (
    PARTS,
    Coverage,
    Digest,
    Entry,
    Health,
    Item,
    Kind,
    Limits,
    Ranked,
    ScorePart,
    SourceReport,
    SourceState,
    Summary,
    SummaryPart,
    Topic,
)
from bot.wording import counted

# Why an item is not in the digest, in the order in which the rules are asked; the footer names them in these words.
OLD = "too old"
WITHDRAWN = "withdrawn"
POSTED = "already posted"
SHOWN = "in a digest above"  # of the same hour and channel, for another topic
SOURCE = "from a source the topic leaves out"
QUERY = "outside the topic"
FILTER = "filtered out"
SCORE = "below the score"
JOINED = "on one card with another"
TWIN = "near twins"
CAP = "over the cap"
REASONS = (OLD, WITHDRAWN, POSTED, SHOWN, SOURCE, QUERY, FILTER, SCORE, JOINED, TWIN, CAP)

# What speaks for an item in the topic's own terms; stars and freshness are no reasons of the team's.
_OF_THE_TOPIC = ("phrases", "examples", "feedback")
_STARS_GAINED = re.compile(r"[\d,]+ stars? in \d+ days?")
_, _, _EVIDENCE, _WHY = PARTS
_FOR_THE_TOPIC = "For your topic: "

# Why the next digest does not even look at an item; no footer says so, for none counts what it has not seen.
NOT_IN_TIME = "not in its time"


@dataclass(frozen=True, slots=True)
class Card:
    """A chosen item and its other half, which is shown on the same card."""

    ranked: Ranked
    partner: Item | None = None


def turned_away(
    item: Item, topic: Topic, *, posted: Collection[str], shown: Collection[str], limits: Limits, now: datetime
) -> str:
    """Return why the item is not to be ranked for the topic at all, "" when it is.

    `posted` are the keys that the channel was sent before, `shown` those that stand in another digest made with this one.
    """
    if is_old(item, limits.max_age, now):
        return OLD
    if item.withdrawn:
        return WITHDRAWN
    for before, reason in ((posted, POSTED), (shown, SHOWN)):
        if before and stands_in(item, before):
            return reason
    if topic.sources and not any(
        source.split(":")[0] in topic.sources or source in topic.sources for source in item.sources
    ):
        return SOURCE
    return ""


def stands_in(item: Item, keys: Collection[str]) -> bool:
    """Say whether the work is among the keys, under its own or another that it went by."""
    return item.key in keys or (bool(item.aliases) and any(alias in keys for alias in item.aliases))


def pair(ranked: Sequence[Ranked], known: Mapping[str, Item]) -> tuple[list[Card], dict[str, Item]]:
    """Put a paper and its repository on one card: the better-placed half leads.

    Return the cards, and for the key of each other half the item that leads. `known` holds the other halves by key, ranked
    or not; one repository goes with one paper only.
    """
    cards: list[Card] = []
    joined: dict[str, Item] = {}
    leading: set[str] = set()
    for entry in ranked:
        item = entry.item
        if item.key in joined:
            continue
        partner = known.get(item.repo or item.paper)
        if partner is not None and (
            partner.key in joined or partner.key in leading or partner.kind is item.kind or partner.withdrawn
        ):
            partner = None
        cards.append(Card(entry, partner))
        leading.add(item.key)
        if partner is not None:
            joined[partner.key] = item
    return cards, joined


def cap(cards: Sequence[Card], limits: Limits) -> tuple[list[Card], dict[str, str]]:
    """Keep the first cards that the limits allow."""
    fits = room(limits)
    kept: list[Card] = []
    dropped: dict[str, str] = {}
    for card in cards:
        if fits(card):
            kept.append(card)
        else:
            dropped[card.ranked.item.key] = CAP
    return kept, dropped


def room(limits: Limits) -> Callable[[Card], bool]:
    """Return what says of card after card whether there is room for it; repositories that stand alone have a limit too."""
    entries = repositories = 0

    def fits(card: Card) -> bool:
        nonlocal entries, repositories
        alone = card.ranked.item.kind is Kind.REPO and card.partner is None
        if entries >= limits.entries or (alone and repositories >= limits.repositories):
            return False
        entries += 1
        repositories += alone
        return True

    return fits


def digest(
    topic: Topic,
    cards: Sequence[Card],
    summaries: Sequence[Summary],
    *,
    coverage: Coverage,
    since: datetime,
    now: datetime,
) -> Digest:
    """Arrange the cards, with a summary each, as the topic's digest; see `for_the_topic`."""
    entries = tuple(
        Entry(card.ranked, for_the_topic(summary, card.ranked), card.partner)
        for card, summary in zip(cards, summaries, strict=True)
    )
    return Digest(topic.name, topic.title, now.date(), since, now, entries, coverage)


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


def _report(title: str, state: SourceState, considered: Sequence[Item], now: datetime) -> SourceReport:
    count = sum(state.name in item.sources for item in considered)
    note = state.note
    if state.asked is not None and now - state.asked > timedelta(days=1):
        note = f"last asked {_span(now - state.asked)} ago" + (f"; {note}" if note else "")
    if state.health in (Health.DOWN, Health.CHANGED) and state.answered is not None:
        note = f"{note} (last answered {_span(now - state.answered)} ago)"
    return SourceReport(title, state.health, count, note)


def is_old(item: Item, max_age: timedelta, now: datetime) -> bool:
    """A repository is never too old: it is news when it is first seen. A paper's announcement counts, not its date alone."""
    if item.kind is Kind.REPO:
        return False
    when = item.appeared or item.published
    return when is not None and now - when > max_age


def _span(span: timedelta) -> str:
    hours = round(span / timedelta(hours=1))
    return counted(hours, "hour") if hours < 48 else counted(round(hours / 24), "day")
