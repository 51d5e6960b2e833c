"""When subscriptions are due and posted, and until when they are paused, in the words of their own zone.

Zone files lie on disk, so each of these works it out in a thread. All raise UsageError for a zone that does not exist any
more, and for a schedule that no day fits; the sentence says what to do.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from bot.commands import Subscribe, write
from bot.digest import due
from bot.digest.quiet_hours import after_quiet
from bot.errors import UsageError
from bot.handlers.context import HandlerContext
from bot.models import Schedule, Subscription, is_mail
from bot.wording import span_in_words, time_in_words

MOMENT = timedelta(seconds=1)  # a pause that ends when a digest is due does not hold it back


@dataclass(frozen=True, slots=True)
class Timetable:
    """A schedule, as it stands at one moment."""

    words: str  # "on weekdays at 09:00 (Europe/Zurich)"
    next: datetime | None  # in the schedule's zone; None: whenever something comes in


async def timetable(schedule: Schedule, now: datetime) -> Timetable:
    """Return the schedule in words, and when it is due next after `now`."""
    return await asyncio.to_thread(_timetable, schedule, now)


async def count_due(schedule: Schedule, after: datetime, until: datetime) -> int:
    """Return how often the schedule is due later than `after` and before `until`."""
    return await asyncio.to_thread(_count_due, schedule, after, until)


async def today(zone: str, now: datetime) -> date:
    """Return the date in the zone."""
    return (await asyncio.to_thread(lambda: now.astimezone(due.zone_named(zone)))).date()


async def start_of_day(day: date, zone: str) -> datetime:
    """Return the instant, in UTC, at which the day begins in the zone."""
    return await asyncio.to_thread(_start_of, day, zone)


async def in_zone(instant: datetime, zone: str) -> datetime:
    """Return the instant in the zone; in UTC when the zone is not known any more."""
    return await asyncio.to_thread(_local, instant, zone)


def _timetable(schedule: Schedule, now: datetime) -> Timetable:
    zone = due.zone_named(schedule.zone)
    coming = due.next_after(schedule, now)
    return Timetable(due.describe(schedule), None if schedule.at_once else coming.astimezone(zone))


def _count_due(schedule: Schedule, after: datetime, until: datetime) -> int:
    return sum(each.at < until for each in due.occurrences(schedule, after, until))


def _start_of(day: date, zone: str) -> datetime:
    return due.instant(day, time(0), due.zone_named(zone))


def _local(instant: datetime, zone: str) -> datetime:
    try:
        return instant.astimezone(due.zone_named(zone))
    except UsageError:
        return instant.astimezone(UTC)


# --- of a subscription


def moment_in_words(moment: datetime | None, now: datetime) -> str:
    """Return "Thursday 2 April at 09:00, in 1 day 2 hours"; the wall time is the moment's own.

    None, as a `Timetable` has it, is told in words too.
    """
    if moment is None:
        return "as soon as something that fits has come in"
    return f"{time_in_words(moment, now)}, in {span_in_words(moment - now)}"


async def next_due(subscription: Subscription, now: datetime) -> Timetable:
    """Return when the subscription is due next, after its pause; raises UsageError that says what to do instead."""
    paused_until = subscription.paused_until if subscription.paused else None
    try:
        return await timetable(subscription.schedule, max(now, paused_until - MOMENT) if paused_until else now)
    except UsageError as error:
        hint = f"*subscribe {subscription.topic} in Europe/Zurich* gives it that one, for example."
        raise UsageError(str(error), hint=hint) from error


async def posted_next(context: HandlerContext, subscription: Subscription, now: datetime) -> Timetable:
    """Return when the subscription's next digest is posted, in the schedule's zone: when it is due, or after quiet hours.

    Raises UsageError as `next_due` does.
    """
    due = await next_due(subscription, now)
    if due.next is None:
        return due
    preferences = await context.store.workspaces.preferences(subscription.workspace)
    posted = await after_quiet(preferences, subscription, due.next)
    return Timetable(due.words, posted.astimezone(due.next.tzinfo))


async def pause_in_words(subscription: Subscription, now: datetime) -> str:
    """Return "Paused until Monday 6 April (Europe/Zurich)" and why, "" when it is not paused.

    Of an address it names the command as it is typed there: who tells it elsewhere has the address named in it.
    """
    if not subscription.is_paused(now):
        return ""
    zone, until = subscription.schedule.zone, subscription.paused_until
    ending = f"until {moment_in_words(await in_zone(until, zone), now)}" if until else "until somebody resumes it"
    because = f": {subscription.paused_because.rstrip('.')}" if subscription.paused_because else ""
    if subscription.is_held_by_service:
        if is_mail(subscription.channel):
            return f"Paused by Broadsheet{because}. {goes_on_by_mail(subscription.topic)}"
        return f"Paused by Broadsheet{because}. When that is mended, it goes on by itself"
    return f"Paused {ending}{because}"


def goes_on_by_mail(topic: str) -> str:
    """Return what lets a digest go on that is paused because nothing more is sent to its address."""
    return f"It goes on once the address is confirmed again: *{write(Subscribe(topic=topic))}*"
