"""When a workspace wants nothing posted, and how much a day, at once too. The zone files are read in a thread."""

import asyncio
from datetime import UTC, datetime, time, timedelta

from bot.digest.due import instant, zone_named
from bot.errors import UsageError
from bot.models import USUAL_AT_ONCE, Preferences, Rhythm, Subscription
from bot.ports.digests import Digests

_DAY = timedelta(days=1)
_AHEAD = timedelta(minutes=1)  # the clock of another process, or of this one before it was set back


async def after_quiet(preferences: Preferences, subscription: Subscription, at: datetime) -> datetime:
    """Return `at`, or when the quiet hours in which it lies are over, in UTC."""
    if not _has_quiet_hours(preferences):
        return at
    return await asyncio.to_thread(_after_quiet, preferences, subscription, at)


def _has_quiet_hours(preferences: Preferences) -> bool:
    begin, end = preferences.quiet_from, preferences.quiet_until
    return begin is not None and end is not None and begin != end


def _after_quiet(preferences: Preferences, subscription: Subscription, at: datetime) -> datetime:
    begin, end = preferences.quiet_from, preferences.quiet_until
    if begin is None or end is None or begin == end:
        return at
    return _after(begin, end, preferences.zone or subscription.schedule.zone, at)


async def deadline(preferences: Preferences, subscription: Subscription, due: datetime, catch_up: timedelta) -> datetime:
    """Do as `deadline_of`, in a thread where a zone file is read for it."""
    if not _has_quiet_hours(preferences):
        return due + catch_up
    return await asyncio.to_thread(deadline_of, preferences, subscription, due, catch_up)


def deadline_of(preferences: Preferences, subscription: Subscription, due: datetime, catch_up: timedelta) -> datetime:
    """Return until when a digest that was due may be posted, in UTC.

    The window begins when it was due, or when the quiet hours end in which it was; one that ends within quiet hours is
    given another at their end. So what could not be posted before long quiet hours began is posted after them.
    """
    ends = _after_quiet(preferences, subscription, due) + catch_up
    resumed = _after_quiet(preferences, subscription, ends)
    return ends if resumed == ends else resumed + catch_up


def _after(begin: time, end: time, name: str, at: datetime) -> datetime:
    try:
        zone = zone_named(name)
    except UsageError:
        return at
    here = at.astimezone(zone)
    for day in (here.date() - _DAY, here.date()):
        ends = day if begin < end else day + _DAY  # over midnight
        if instant(day, begin, zone) <= at < (over := instant(ends, end, zone)):
            return over
    return at


async def left_today(digests: Digests, preferences: Preferences, subscription: Subscription, now: datetime) -> int | None:
    """Return how many entries the channel may still be posted today, over all its digests; None: as many as there are.

    The day is the one of `preferences.zone`, else of the schedule's.
    """
    most = preferences.daily_entries
    if most is None:
        return None
    workspace, channel = subscription.workspace, subscription.channel
    midnight = await asyncio.to_thread(_midnight, preferences.zone or subscription.schedule.zone, now)
    keys = await digests.posted(workspace, channel)
    # The other half of an entry's card was not ranked for itself and has no score.
    today = {
        each.key
        for each in await digests.postings(workspace, channel, keys)
        if midnight <= each.at <= now and each.score is not None
    }
    return max(0, most - len(today))


def _midnight(name: str, now: datetime) -> datetime:
    try:
        zone = zone_named(name)
    except UsageError:
        return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return instant(now.astimezone(zone).date(), time(0), zone)


async def after_most_at_once(
    digests: Digests, preferences: Preferences, subscription: Subscription, now: datetime
) -> datetime:
    """Return `now`, or when the next day begins where the channel was posted as much at once today as it may be.

    What was posted while a clock ran ahead, of whatever day, does not count.
    """
    most = preferences.at_once_daily or USUAL_AT_ONCE
    midnight = await asyncio.to_thread(_midnight, preferences.zone or subscription.schedule.zone, now)
    place = (subscription.workspace, subscription.channel)
    past = await digests.past(*place, rhythm=Rhythm.AT_ONCE, with_entries=True, saved_by=now + _AHEAD, limit=most)
    today = [each for each in past if each.saved >= midnight and each.rhythm == Rhythm.AT_ONCE]
    return now if len(today) < most else await tomorrow(preferences, subscription, now)


async def tomorrow(preferences: Preferences, subscription: Subscription, now: datetime) -> datetime:
    """Return when the next day begins, in UTC: of `preferences.zone`, else of the schedule's."""
    return await asyncio.to_thread(_next_midnight, preferences.zone or subscription.schedule.zone, now)


def _next_midnight(name: str, now: datetime) -> datetime:
    try:
        zone = zone_named(name)
    except UsageError:
        return _midnight(name, now) + _DAY
    return instant(now.astimezone(zone).date() + _DAY, time(0), zone)
