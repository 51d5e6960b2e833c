"""Who may take a delivery, what may be recorded of it, and for how long: shared by every store, so that all answer alike."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from bot.errors import Conflict
from bot.models import (
    FOREVER,
    OVERTAKEN,
    Delivery,
    DeliveryState,
    Digest,
    Occurrence,
    OccurrenceState,
    Publication,
    StandingMessage,
)
from bot.rank.events import AS_EVENT, posted_names

UNSUBSCRIBED = "unsubscribed"
OPEN = (DeliveryState.PENDING, DeliveryState.SENDING, DeliveryState.AMBIGUOUS)  # what may still become something else
_ENDED = (DeliveryState.FAILED, DeliveryState.EXPIRED)
# No two occurrences of one schedule are further apart than 35 days (bot.digest.due): what is kept for longer keeps none from
# being posted twice, and nobody asks for the status of a digest of the month before last.
KEPT = timedelta(days=40)
# What was to be posted at once and came to nothing is told of nowhere, and its arrivals are looked at no more.
KEPT_AT_ONCE = timedelta(days=3)
EDIT_WAITS = timedelta(days=1)  # no edit is put off for longer but by a clock that had run ahead
HELD_BACK = timedelta(days=1)  # nor is a publication
HELD = timedelta(minutes=10)  # nobody holds anything for so long: a lease lasts for a minute


def claimed(stored: Delivery | None, given: Delivery, now: datetime, lease: timedelta) -> Delivery | None:
    """Return the stored delivery as one that the claimer holds, or None when it may not be taken.

    That is when it is not as it was given, when it is settled, or when somebody's lease still runs.
    Where a lease ran out it may have been posted since it was last looked for: it is looked for from the beginning.
    Whether it says that it is late is kept as given: that is known then of what is found later. It is `unbegun` where
    that is given and no earlier try can have begun.
    """
    if stored is None or (stored.token, stored.state) != (given.token, given.state) or not _may_be_taken(stored, now):
        return None
    return replace(
        stored,
        state=DeliveryState.SENDING,
        token=stored.token + 1,
        lease_until=now + lease,
        first_try=stored.first_try or now,
        last_try=now,
        attempts=stored.attempts + 1,
        late=given.late,
        cursor="" if stored.state is DeliveryState.SENDING else stored.cursor,
        unbegun=given.unbegun and (stored.state is DeliveryState.PENDING or stored.unbegun),
    )


def _may_be_taken(stored: Delivery, now: datetime) -> bool:
    if stored.state is DeliveryState.SENDING:
        return ran_out(stored, now)
    return stored.state in OPEN


def ran_out(delivery: Delivery, now: datetime) -> bool:
    """Say whether nobody holds a delivery any more that is being sent."""
    return delivery.lease_until is None or delivery.lease_until <= now


def begun(stored: Delivery | None, given: Delivery) -> Delivery | None:
    """Return what is to be stored when a claimer begins to send the delivery, or None when the claimer holds it no more."""
    if stored is None or stored.state is not DeliveryState.SENDING or stored.token != given.token:
        return None
    return replace(stored, unbegun=False)


def recorded(stored: Delivery | None, given: Delivery, *, wanted: bool) -> Delivery | None:
    """Return what is to be stored when a claimer records the delivery, or None when the claimer holds it no more.

    What it says and whose it is stays as it was stored; what is settled says nothing more.
    Unless its subscription is still `wanted`, it does not wait again.
    """
    if stored is None or stored.state is not DeliveryState.SENDING or stored.token != given.token:
        return None
    fresh = replace(
        stored,
        state=given.state,
        next_at=given.next_at,
        lease_until=given.lease_until,
        first_try=given.first_try,
        last_try=given.last_try,
        attempts=given.attempts,
        message=given.message,
        link=given.link,
        thread=given.thread,
        reason=given.reason,
        late=given.late,
        cursor=given.cursor,
        unbegun=False,
    )
    return _told(fresh) if wanted or given.state is not DeliveryState.PENDING else expired(fresh, UNSUBSCRIBED)


def _told(delivery: Delivery) -> Delivery:
    """Return the delivery without what it says, where it is settled: nobody will ever say it again."""
    return delivery if delivery.state in OPEN else replace(delivery, payload="", if_late="")


def standing(stored: Delivery, recorded: Delivery, until: datetime | None) -> StandingMessage | None:
    """Return a delivery as the message that may be edited until then; None where it is not posted, or lists nothing."""
    keys = stored.listed
    if until is None or not keys or recorded.state is not DeliveryState.DONE:
        return None
    posted = replace(recorded, payload=stored.payload, if_late=stored.if_late)
    since = recorded.made_at or recorded.due
    return StandingMessage(delivery=posted, keys=keys, since=since, until=until, next_at=since)


def publication(recorded: Delivery) -> Publication | None:
    """Return what is to be published of what was recorded; None where nothing is."""
    if not recorded.publishes or recorded.state is not DeliveryState.DONE:
        return None
    at = recorded.last_try or recorded.due
    return Publication(delivery=recorded, since=at, next_at=at)


def expired(delivery: Delivery, reason: str) -> Delivery:
    """Return the delivery as one that will never be sent."""
    return _told(replace(delivery, state=DeliveryState.EXPIRED, reason=reason, lease_until=None))


def is_undone(recorded: Delivery, given: Delivery, *, unposted: bool) -> bool:
    """Say whether a digest ends with what was recorded, without anything of it having been posted.

    What was given to wait again was surely not posted either.
    """
    return recorded.part == 1 and recorded.state in _ENDED and (unposted or given.state is DeliveryState.PENDING)


def ended_at(dropped: Delivery) -> datetime:
    """Return when, about, a delivery ended whose digest was dropped."""
    return dropped.last_try or dropped.made_at or dropped.due


def expect_latest(digest: Digest, reach: int) -> None:
    """Raise Conflict unless the channel's digests of the topic look as far as they did when this one was made."""
    if digest.window.follows != reach:
        raise Conflict("Another digest of the topic was made, or taken back, at the same time; this one is made anew.")


def taken_over(digest: Digest) -> list[str]:
    """Return the keys of entries that lie before the digest's window, or were looked at before: the other names too."""
    again, carried = digest.window.makes_up > 0, {each.key for each in digest.carried}
    shown = [entry.ranked.item for entry in digest.entries if again or entry.ranked.item.key in carried]
    return [name for item in shown for name in posted_names(item, is_again=item.key in digest.again)]


def under_heirs(names: Collection[str], heirs: Mapping[str, str]) -> set[str]:
    """Return the names, and those under which the same is posted since items were renamed: what these are called by now.

    `heirs` are the keys that items have now, by those that they had. A release is known under its repository's.
    """
    found = set(names)
    for name in names:
        own, _, version = name.partition(AS_EVENT)
        if name in heirs:
            found.add(heirs[name])
        elif own in heirs:
            found.add(f"{heirs[own]}{AS_EVENT}{version}")
    return found


def begins_again(after: int, carried: Mapping[str, int], standing: Collection[str]) -> int:
    """Return after which arrival the next digest looks, of a dropped one that looked at those later than `after`.

    `carried` are the arrivals, by key, of what it showed that was carried on from before. What fell to the cap of a digest
    that still stands, `standing`, is carried on again; the rest no other digest would come back to.
    """
    return min([after, *(arrival - 1 for key, arrival in carried.items() if key not in standing)])


def expect_unposted(posted: Collection[str]) -> None:
    """Raise Conflict where another digest has posted what this one took over; no window tells the two apart."""
    if posted:
        raise Conflict("Another digest has posted what this one was to show; this one is made anew.")


def released(waiting: Delivery, now: datetime) -> Delivery:
    """Return the delivery as one whose turn is now, the same where it does not wait for a later time."""
    if waiting.state is DeliveryState.SENDING and waiting.lease_until is not None and waiting.lease_until > now + HELD:
        return replace(waiting, lease_until=now)
    if waiting.state in (DeliveryState.PENDING, DeliveryState.AMBIGUOUS) and now < waiting.next_at < FOREVER:
        return replace(waiting, next_at=now)
    return waiting


def after(recorded: Delivery, later: Collection[Delivery]) -> list[Delivery]:
    """Return what becomes of the later parts of a digest now that one part is recorded: those of them that change.

    They hang on part one's message. The next one, which waited for ever, has its turn now. They end with a part that will
    never be posted, in the same transaction: otherwise who is stopped between the two would leave them waiting for ever.
    """
    waiting = [each for each in later if each.state is DeliveryState.PENDING and each.part > recorded.part]
    if recorded.state in _ENDED:
        return [expired(each, recorded.reason) for each in waiting]
    if recorded.state is DeliveryState.DONE:
        fresh = ((each, _let_come(each, recorded)) for each in waiting)
        return [after for before, after in fresh if after != before]
    return []


def _let_come(waiting: Delivery, done: Delivery) -> Delivery:
    thread = done.message if done.part == 1 else waiting.thread
    if waiting.part > done.part + 1 or waiting.next_at != FOREVER:
        return replace(waiting, thread=thread)
    return replace(waiting, thread=thread, next_at=done.last_try or done.due)


def overtaken(waiting: Occurrence) -> Occurrence:
    """Return an occurrence as one whose arrivals a later one looks at."""
    return replace(waiting, state=OccurrenceState.SKIPPED, reason=OVERTAKEN, next_at=None)


def came_to_nothing(each: Occurrence) -> bool:
    """Say whether it is of what is posted at once, and had nothing to post or was overtaken."""
    skipped = each.state is OccurrenceState.SKIPPED and each.reason == OVERTAKEN
    return each.is_at_once and (each.state is OccurrenceState.EMPTY or skipped)


def closed(stored: Occurrence | None, given: Occurrence) -> Occurrence | None:
    """Return what is to be stored of an occurrence that somebody closes or puts off, None when it is no longer due."""
    if stored is None or stored.state is not OccurrenceState.DUE:
        return None
    return replace(
        stored,
        state=given.state,
        late=given.late,
        reason=given.reason,
        attempts=given.attempts,
        next_at=given.next_at,
    )
