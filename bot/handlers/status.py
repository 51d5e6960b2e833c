"""How the service stands here: the last and next digests, the sources, what is paused, what went wrong lately."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.commands import ListSubscriptions, Resume, Status
from bot.embed.backfill import in_words
from bot.errors import UsageError
from bot.handlers.addresses.places import known_addresses, own_addresses
from bot.handlers.context import HandlerContext, handles
from bot.handlers.subscriptions.times import in_zone, moment_in_words, pause_in_words, posted_next
from bot.handlers.wording.elsewhere import told_elsewhere
from bot.handlers.wording.failures import in_one_line
from bot.handlers.wording.replies import button, preview_button, title_of, unsubscribe_button
from bot.handlers.wording.subscriptions import naming
from bot.models import (
    Actor,
    Delivery,
    DeliveryState,
    Field,
    Health,
    Occurrence,
    OccurrenceState,
    ProcessState,
    Reply,
    ReplyEntry,
    SourceState,
    Subscription,
    Topic,
    is_mail,
)
from bot.models.deliveries import MAYBE_TWICE, OccurrenceKey
from bot.ports.facts import HEARTBEAT, time_of_fact
from bot.wording import counted, day_in_words, listed, span_in_words

_LATELY = timedelta(days=7)
_LOOKED_AT = 200  # occurrences, and deliveries, of a channel that are looked at
_NAMED = 5  # digests that went wrong that are told by name
_ON_PURPOSE = ("unsubscribed", "paused")  # how the reasons begin of what nobody wanted any more


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
class DigestState:
    """What became of one digest."""

    occurrence: Occurrence
    kind: _Kind
    text: str  # "posted", "was not posted: the channel is archived"


_HEALTH = {
    Health.OK: "well",
    Health.QUIET: "well, with nothing new",
    Health.PARTIAL: "a part is missing",
    Health.DOWN: "did not answer",
    Health.CHANGED: "answers in an unknown form",
    Health.NEVER: "not asked yet",
}
_SILENT = timedelta(minutes=10)  # the service shows every few seconds that it lives


@handles(Status)
async def status(context: HandlerContext, command: Status, actor: Actor, now: datetime) -> Reply:
    """Tell this channel's last and next digests, the sources with their health, and what is paused and why.

    Where nobody else reads, one's own by e-mail stand beside the channel's, as in a list; administrators are told that mails
    wait, and why. Of no channel, as where an application shows its own page, it tells of all together, but of mails to
    others only administrators.
    """
    everywhere = await context.store.workspaces.subscriptions(actor.workspace)
    here = [each for each in everywhere if each.channel == actor.channel]
    elsewhere = [each for each in everywhere if each.channel != actor.channel and not is_mail(each.channel)]
    topics = await context.topics(actor.workspace)
    digests = await digests_here(context, actor)
    if not actor.channel:
        known = await known_addresses(context, actor)
        digests = [each for each in digests if not is_mail(each.occurrence.channel) or each.occurrence.channel in known]
    own = await _by_mail(context, everywhere, topics, actor, now)
    held = sum(each.is_paused(now) for each in elsewhere)
    where = "in other channels" if actor.channel else "in all"
    others = f"{counted(len(elsewhere), 'subscription')} {where}" + (f", {held} of them paused" if held else "")
    begins = "*subscribe TOPIC weekdays at 09:00* begins it, *topics* lists what there is."
    beginning = f"Nothing is subscribed {actor.here} yet. {begins}"
    return Reply(
        title="Status",
        text=(
            *(() if here or own or not actor.channel else (beginning,)),
            *((f"{others}.",) if elsewhere else ()),
            *filter(None, (await _trouble_elsewhere(context, actor, now) if actor.channel else "",)),
            *(await _mails_waiting(context, actor) if actor.may_administer else ()),
            *await silence(context, now),
        ),
        entries=(
            *[await _subscription(context, each, topics, digests, now) for each in here],
            *own,
            *await _troubles(digests, here, topics, now),
        ),
        fields=(
            *_digest_counts(digests, actor.here if actor.channel else "of all channels", now),
            *[await _source(context, name, title, now) for name, title in context.source_titles.items()],
            await _counts(context),
            *await _vectors(context),
            *(await _processes(context, now) if actor.platform == "terminal" else ()),
        ),
        buttons=(button("All subscriptions", ListSubscriptions(everywhere=True)),) if elsewhere else (),
    )


async def _subscription(
    context: HandlerContext, each: Subscription, topics: Mapping[str, Topic], digests: Sequence[DigestState], now: datetime
) -> ReplyEntry:
    named = await naming(context, each)
    name = f"{title_of(topics, each.topic)} ({each.topic}){f', {named[1]}' if named[1] else ''}"
    lines = [await _last_digest(digests, each, now) or await _last_recorded(context, each, now)]
    lines += await _where_everything_went(context, each)
    if each.topic not in topics:
        lines.append("Its topic is not there any more: nothing is posted for it.")
        return ReplyEntry(title=name, lines=tuple(lines), buttons=(unsubscribe_button(*named),))
    try:
        coming = await posted_next(context, each, now)
        lines.append(f"Next digest: {moment_in_words(coming.next, now)}.")
    except UsageError as error:
        lines.append(f"It cannot be posted: {in_one_line(error)}")
    buttons = [preview_button(each.topic)]
    if each.is_paused(now):
        said_again = _because(each.paused_because)  # why it is paused is mostly why its last digest was not posted
        lines = [lines[0].replace(said_again, ""), f"{await pause_in_words(each, now)}."]
        buttons.append(button("Resume", Resume(*named)))
    return ReplyEntry(title=name, lines=tuple(lines), buttons=tuple(buttons))


async def _by_mail(
    context: HandlerContext, everywhere: Sequence[Subscription], topics: Mapping[str, Topic], actor: Actor, now: datetime
) -> list[ReplyEntry]:
    """Tell of the person's own digests by e-mail, where nobody else reads; its commands and buttons are for the address."""
    entries: list[ReplyEntry] = []
    for channel, address in (await own_addresses(context, actor)).items():
        there = replace(actor, channel=channel, place=address)
        digests = await digests_here(context, there)
        for each in everywhere:
            if each.channel == channel:
                entry = await _subscription(context, each, topics, digests, now)
                titled = replace(entry, title=f"by e-mail to {address}: {entry.title}")
                entries += told_elsewhere(Reply(title="", entries=(titled,)), there).entries
    return entries


async def _mails_waiting(context: HandlerContext, actor: Actor) -> tuple[str, ...]:
    """Say how many mails of the workspace wait and what for, which is mostly the relay; nothing where none does."""
    found = await context.store.ledger.deliveries(actor.workspace, states=(DeliveryState.PENDING,), limit=_LOOKED_AT)
    why = Counter(each.reason for each in found if is_mail(each.channel) and each.reason)
    if not why:
        return ()
    count = why.total()
    return (f"{counted(count, 'mail')} {'waits' if count == 1 else 'wait'} to be sent{_because(why.most_common(1)[0][0])}.",)


async def _last_recorded(context: HandlerContext, each: Subscription, now: datetime) -> str:
    """Tell of the last digest that was kept for the channel, where none of this subscription was due yet."""
    last = await context.store.digests.last(each.workspace, each.channel, each.topic, each.rhythm)
    return f"Last digest: {day_in_words(last[0], now.date())}." if last else "No digest was posted yet."


async def _where_everything_went(context: HandlerContext, each: Subscription) -> list[str]:
    """Tell of the last digest that was kept how many it looked at, and why it left out the others."""
    place = (each.workspace, each.channel)
    past = await context.store.digests.past(*place, topic=each.topic, rhythm=each.rhythm, limit=1)
    if not past or not past[0].seen:
        return []
    reasons = listed([f"{count:,} {reason}" for reason, count in past[0].dropped])
    beginning = "After the last collection it" if each.schedule.at_once else "It"
    return [f"{beginning} kept {past[0].kept:,} of {past[0].seen:,}{f': {reasons}' if reasons else ''}."]


async def _source(context: HandlerContext, name: str, title: str, now: datetime) -> Field:
    """Return a source's health in words, with its last answer: "well; 412 items, 2 hours ago"."""
    state = await context.store.source_states.get(name)
    said = [_HEALTH[state.health], *_answered(state, now), *((state.note.rstrip("."),) if state.note else ())]
    if state.rest_until is not None and state.rest_until > now:
        said.append(f"asked again in {span_in_words(state.rest_until - now)}")
    return Field(title, "; ".join(said))


def _answered(state: SourceState, now: datetime) -> tuple[str, ...]:
    if state.answered is None:
        return ()
    ago = "just now" if now - state.answered < timedelta(minutes=1) else f"{span_in_words(now - state.answered)} ago"
    return (f"{counted(state.items, 'item')}, {ago}" if state.items else f"last answered {ago}",)


async def _counts(context: HandlerContext) -> Field:
    numbers = await context.store.items.counts()
    said = (("papers", "paper"), ("repos", "repository"), ("posts", "post"))
    return Field("Collected", ", ".join(counted(numbers[name], thing) for name, thing in said))


async def _vectors(context: HandlerContext) -> tuple[Field, ...]:
    """Say how far what was collected can be found by its meaning, while that is not all of it."""
    if context.embedder is None:
        return ()
    embedded = await context.store.vectors.embedded(context.embedder.space)
    return (Field("Meanings", in_words(embedded)),) if embedded.quick or embedded.lacking else ()


async def _processes(context: HandlerContext, now: datetime) -> list[Field]:
    """Tell the operator which processes work on the database, where several may: what for, and when each was heard of."""
    return [Field(each.id, _process(each, now)) for each in await context.store.processes.every()]


def _process(each: ProcessState, now: datetime) -> str:
    """Return a process in words: "clock, make; version 1.2; a sign of life just now; search 3 changes behind"."""
    silent = now - each.beat
    beat = "a sign of life just now" if silent < timedelta(minutes=1) else f"silent for {span_in_words(silent)}"
    said = [", ".join(each.roles), f"version {each.version}", beat]
    if changes := each.figures.get("behind_changes"):
        said.append(f"search {counted(int(changes), 'change')} behind")
    return "; ".join(said)


async def silence(context: HandlerContext, now: datetime) -> tuple[str, ...]:
    """Say so when the service has shown no sign of life for a while: then nothing is collected or posted."""
    beat = await time_of_fact(context.store.facts, HEARTBEAT)
    if beat is None:
        return ("The service has not run yet: nothing is collected or posted until it does.",)
    if (silent := now - beat) < _SILENT:
        return ()
    return (f"The service gave its last sign of life {span_in_words(silent)} ago: nothing is collected or posted.",)


# --- what became of digests


async def digests_here(context: HandlerContext, actor: Actor) -> list[DigestState]:
    """Return what became of the digests of the actor's channel, as the ledger knows it, the latest first."""
    found = await context.store.ledger.recent_occurrences(actor.workspace, channel=actor.channel, limit=_LOOKED_AT)
    parts: dict[OccurrenceKey, list[Delivery]] = {}
    for each in await context.store.ledger.deliveries(actor.workspace, channel=actor.channel, limit=_LOOKED_AT):
        parts.setdefault(each.key, []).append(each)
    return [_state_of(each, parts.get(each.key, ())) for each in found]


def _state_of(occurrence: Occurrence, parts: Sequence[Delivery]) -> DigestState:
    reason = _because(occurrence.reason)
    match occurrence.state:
        case OccurrenceState.DUE:
            return DigestState(occurrence, _Kind.WAITING, f"is being made{reason}")
        case OccurrenceState.EMPTY:
            return DigestState(occurrence, _Kind.EMPTY, "there was nothing to post")
        case OccurrenceState.SKIPPED:
            return DigestState(occurrence, _Kind.SKIPPED, f"was skipped{reason}")
    return DigestState(occurrence, *_delivered(occurrence, {each.state: each for each in reversed(parts)}))


def _delivered(occurrence: Occurrence, parts: Mapping[DeliveryState, Delivery]) -> tuple[_Kind, str]:
    """Tell the worst of a digest's parts."""
    if failed := parts.get(DeliveryState.FAILED):
        return _Kind.FAILED, f"was not posted{_because(failed.reason)}"
    if unsure := parts.get(DeliveryState.AMBIGUOUS):
        return _Kind.UNKNOWN, f"may have been posted or not{_because(unsure.reason.removeprefix('unknown: '))}"
    if ended := parts.get(DeliveryState.EXPIRED):
        kind = _Kind.ENDED if ended.reason.startswith(_ON_PURPOSE) else _Kind.FAILED
        return kind, f"was not posted{_because(ended.reason)}"
    if waiting := parts.get(DeliveryState.PENDING) or parts.get(DeliveryState.SENDING):
        return _Kind.WAITING, f"waits to be posted{_because(waiting.reason)}"
    late = occurrence.late or any(each.late for each in parts.values())
    twice = ", maybe twice" if any(each.reason == MAYBE_TWICE for each in parts.values()) else ""
    return _Kind.POSTED, ("was posted late" if late else "was posted") + twice


def _because(reason: str) -> str:
    return f": {reason.rstrip('.')}" if reason else ""


async def _last_digest(digests: Sequence[DigestState], subscription: Subscription, now: datetime) -> str:
    """Return "Last digest: Wednesday 1 April at 09:00, was posted."; "" when the ledger knows of none."""
    last = next((each for each in digests if each.occurrence.subscription == subscription.id), None)
    if last is None:
        return ""
    when = await _when(last.occurrence, subscription.schedule.zone, now)
    return f"Last digest: that of {when} {last.text}."


async def _when(occurrence: Occurrence, zone: str, now: datetime) -> str:
    at = await in_zone(occurrence.due, zone)
    return f"{day_in_words(occurrence.day, now.date())} at {at:%H:%M}"


def _digest_counts(digests: Sequence[DigestState], where: str, now: datetime) -> Sequence[Field]:
    """Return how many digests of the last days came to what; nothing when there were none."""
    lately = _lately(digests, now)
    counts = Counter(each.kind for each in lately)
    late = sum(each.kind is _Kind.POSTED and each.occurrence.late for each in lately)
    said = [f"{counts[kind]} {kind}" for kind in _Kind if counts[kind]]
    if late:
        said[0] += f" ({late} late)"
    return (Field(f"Digests {where}, last {_LATELY.days} days", ", ".join(said)),) if said else ()


def _lately(digests: Sequence[DigestState], now: datetime) -> list[DigestState]:
    return [each for each in digests if now - each.occurrence.due < _LATELY]


async def _troubles(
    digests: Sequence[DigestState], subscriptions: Sequence[Subscription], topics: Mapping[str, Topic], now: datetime
) -> Sequence[ReplyEntry]:
    """Return the digests of the last days that were not posted, or may not have been, by name and with the reason.

    The last one of each subscription is told of with that.
    """
    zones = {each.id: each.schedule.zone for each in subscriptions}
    last = {each.occurrence.subscription: each for each in reversed(digests) if each.occurrence.subscription in zones}
    found = [each for each in _lately(digests, now) if each.kind in _TROUBLE and each not in last.values()]
    entries = []
    for each in found[:_NAMED]:
        due = each.occurrence
        when = await _when(due, zones.get(due.subscription, "UTC"), now)
        entries.append(ReplyEntry(title=f"{title_of(topics, due.topic)}, {when}", lines=(f"It {each.text}.",)))
    if len(found) > _NAMED:
        entries.append(ReplyEntry(title=f"{counted(len(found) - _NAMED, 'more digest')} with trouble before", lines=()))
    return entries


async def _trouble_elsewhere(context: HandlerContext, actor: Actor, now: datetime) -> str:
    """Return a sentence on what went wrong lately in other channels of the workspace; "" when nothing did."""
    bad = await context.store.ledger.deliveries(
        actor.workspace, states=(DeliveryState.FAILED, DeliveryState.AMBIGUOUS), limit=_LOOKED_AT
    )
    others = [each for each in bad if each.channel != actor.channel and not is_mail(each.channel)]
    places = {each.occurrence for each in others if now - each.due < _LATELY}
    if not places:
        return ""
    verb = "was" if len(places) == 1 else "were"
    days = f"the last {_LATELY.days} days"
    return f"In other channels, {counted(len(places), 'digest')} of {days} {verb} not posted, or may not have been."
