"""From where on a subscription looks at items when its pause ends, whoever ends it."""

import asyncio
from dataclasses import replace
from datetime import datetime

from bot.digest import due
from bot.digest.request import stored_since
from bot.models import Position, Schedule, Subscription
from bot.ports.store import Store


async def begun_afresh(store: Store, subscription: Subscription, now: datetime) -> Subscription:
    """Let it begin at the last time at which a digest was due, unless it is younger than that, or was not paused then.

    What the digest of that time did not look at is not left out; nor is, whatever the baseline, what a dropped one did.
    Raises UsageError for a schedule that cannot be worked out.
    """
    made = subscription.made_at or min(subscription.baseline, now)
    latest = await last_due(subscription.schedule, now)
    was_paused = subscription.paused_at is None or subscription.paused_at < latest
    if not was_paused and subscription.baseline_arrival is not None:
        return subscription
    if (made >= latest or not was_paused) and subscription.made_arrival is not None:
        return replace(subscription, baseline=made, baseline_arrival=subscription.made_arrival)
    begins = max(made, latest)
    last = await store.digests.last(subscription.workspace, subscription.channel, subscription.topic, subscription.rhythm)
    found = await stored_since(store.items, begins, now)
    if last and last[1].time >= begins:
        found = min(found, last[1])
    begin = max(found, Position(subscription.made_arrival or 0, made))
    return replace(subscription, baseline=begin.time, baseline_arrival=begin.arrival)


async def last_due(schedule: Schedule, until: datetime) -> datetime:
    """Return the latest instant, in UTC, not later than `until` at which the schedule was due; raises UsageError."""
    return await asyncio.to_thread(_last_due, schedule, until)  # zone files lie on disk


def _last_due(schedule: Schedule, until: datetime) -> datetime:
    if schedule.at_once:
        return until
    due.next_after(schedule, until)  # for its error: a schedule that no day fits has no last day either
    return list(due.occurrences(schedule, until - due.LONGEST, until))[-1].at
