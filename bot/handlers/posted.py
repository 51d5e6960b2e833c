"""What became of a channel's digests, as the ledger has it: the last of each subscription, and what went wrong lately."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from bot.handlers.context import HandlerContext
from bot.handlers.subscribed import title_of
from bot.handlers.times import local
from bot.models import Actor, Delivery, Field, Happening, Occurrence, ReplyEntry, State, Subscription, Topic
from bot.wording import counted, day_in_words

LATELY = timedelta(days=7)
_READ = 200  # occurrences, and deliveries, of a channel that are looked at
_TOLD = 5  # digests that went wrong that are told by name
_ON_PURPOSE = ("unsubscribed", "paused")  # how the reasons begin of what nobody wanted any more

_Place = tuple[str, date, int]


class _Kind(StrEnum):
    """What became of a digest; the words are those of the summary, in its order."""

    POSTED = "posted"
    EMPTY = "with nothing to post"
    WAITING = "waiting"
    UNKNOWN = "may have been posted or not"
    FAILED = "not posted"
    SKIPPED = "skipped"
    ENDED = "not wanted any more"


_TROUBLE = (_Kind.UNKNOWN, _Kind.FAILED, _Kind.SKIPPED)


@dataclass(frozen=True, slots=True)
class _Told:
    occurrence: Occurrence
    kind: _Kind
    text: str  # "posted", "was not posted: the channel is archived"


@dataclass(frozen=True, slots=True)
class Posted:
    """A channel's digests, the latest first."""

    told: Sequence[_Told]

    def last_of(self, subscription: Subscription) -> _Told | None:
        """Return the subscription's latest digest, None when there is none yet."""
        return next((each for each in self.told if each.occurrence.subscription == subscription.id), None)


async def posted_here(context: HandlerContext, actor: Actor) -> Posted:
    """Return what the ledger knows of the actor's channel."""
    found = await context.ledger.recent_occurrences(actor.workspace, channel=actor.channel, limit=_READ)
    parts: dict[_Place, list[Delivery]] = {}
    for each in await context.ledger.deliveries(actor.workspace, channel=actor.channel, limit=_READ):
        parts.setdefault(each.occurrence, []).append(each)
    return Posted([_told(each, parts.get((each.subscription, each.day, each.slot), ())) for each in found])


def _told(occurrence: Occurrence, parts: Sequence[Delivery]) -> _Told:
    reason = _because(occurrence.reason)
    match occurrence.state:
        case Happening.DUE:
            return _Told(occurrence, _Kind.WAITING, f"is being made{reason}")
        case Happening.EMPTY:
            return _Told(occurrence, _Kind.EMPTY, "there was nothing to post")
        case Happening.SKIPPED:
            return _Told(occurrence, _Kind.SKIPPED, f"was skipped{reason}")
    return _Told(occurrence, *_delivered(occurrence, {each.state: each for each in reversed(parts)}))


def _delivered(occurrence: Occurrence, parts: Mapping[State, Delivery]) -> tuple[_Kind, str]:
    """Tell the worst of a digest's parts."""
    if failed := parts.get(State.FAILED):
        return _Kind.FAILED, f"was not posted{_because(failed.reason)}"
    if unsure := parts.get(State.AMBIGUOUS):
        return _Kind.UNKNOWN, f"may have been posted or not{_because(unsure.reason.removeprefix('unknown: '))}"
    if ended := parts.get(State.EXPIRED):
        kind = _Kind.ENDED if ended.reason.startswith(_ON_PURPOSE) else _Kind.FAILED
        return kind, f"was not posted{_because(ended.reason)}"
    if waiting := parts.get(State.PENDING) or parts.get(State.SENDING):
        return _Kind.WAITING, f"waits to be posted{_because(waiting.reason)}"
    late = occurrence.late or any(each.late for each in parts.values())
    return _Kind.POSTED, "was posted late" if late else "was posted"


def _because(reason: str) -> str:
    return f": {reason.rstrip('.')}" if reason else ""


async def last_digest(posted: Posted, subscription: Subscription, now: datetime) -> str:
    """Return "Last digest: Wednesday 1 April at 09:00, was posted."; "" when the ledger knows of none."""
    last = posted.last_of(subscription)
    if last is None:
        return ""
    when = await _when(last.occurrence, subscription.schedule.zone, now)
    return f"Last digest: that of {when} {last.text}."


async def _when(occurrence: Occurrence, zone: str, now: datetime) -> str:
    at = await local(occurrence.due, zone)
    return f"{day_in_words(occurrence.day, now.date())} at {at:%H:%M}"


def summary(posted: Posted, where: str, now: datetime) -> Sequence[Field]:
    """Return how many digests of the last days came to what; nothing when there were none."""
    lately = _lately(posted, now)
    counts = Counter(each.kind for each in lately)
    late = sum(each.kind is _Kind.POSTED and each.occurrence.late for each in lately)
    said = [f"{counts[kind]} {kind}" for kind in _Kind if counts[kind]]
    if late:
        said[0] += f" ({late} late)"
    return (Field(f"Digests {where}, last {LATELY.days} days", ", ".join(said)),) if said else ()


def _lately(posted: Posted, now: datetime) -> list[_Told]:
    return [each for each in posted.told if now - each.occurrence.due < LATELY]


async def troubles(
    posted: Posted, subscriptions: Sequence[Subscription], topics: Mapping[str, Topic], now: datetime
) -> Sequence[ReplyEntry]:
    """Return the digests of the last days that were not posted, or may not have been, by name and with the reason."""
    zones = {each.id: each.schedule.zone for each in subscriptions}
    found = [each for each in _lately(posted, now) if each.kind in _TROUBLE]
    entries = []
    for each in found[:_TOLD]:
        due = each.occurrence
        when = await _when(due, zones.get(due.subscription, "UTC"), now)
        entries.append(ReplyEntry(title=f"{title_of(topics, due.topic)}, {when}", lines=(f"It {each.text}.",)))
    if len(found) > _TOLD:
        entries.append(ReplyEntry(title=f"{counted(len(found) - _TOLD, 'more digest')} with trouble before", lines=()))
    return entries


async def elsewhere(context: HandlerContext, actor: Actor, now: datetime) -> str:
    """Return a sentence on what went wrong lately in other channels of the workspace; "" when nothing did."""
    bad = await context.ledger.deliveries(actor.workspace, states=(State.FAILED, State.AMBIGUOUS), limit=_READ)
    places = {each.occurrence for each in bad if each.channel != actor.channel and now - each.due < LATELY}
    if not places:
        return ""
    verb = "was" if len(places) == 1 else "were"
    days = f"the last {LATELY.days} days"
    return f"In other channels, {counted(len(places), 'digest')} of {days} {verb} not posted, or may not have been."
