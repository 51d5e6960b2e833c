"""From schedules to occurrences: what is due is written down before anything is made of it."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bot.delivery.context import DeliveryContext, DeliverySettings
from bot.delivery.outbox import Refusal
from bot.delivery.pausing import SubscriptionPauser
from bot.digest import due
from bot.digest.quiet_hours import deadline
from bot.errors import Reach, UsageError
from bot.models import Occurrence, OccurrenceState, Subscription
from bot.ports.facts import time_of_fact

log = logging.getLogger(__name__)

AT_ONCE = 500  # subscriptions that are read at a time
ROUNDS = 100  # of reading; what is left waits for the next tick
# Nothing is skipped row by row that was due longer ago: the ledger keeps occurrences for 40 days.
_REMEMBERED = timedelta(days=35)
_MOMENT = timedelta(microseconds=1)
_SET_BACK = timedelta(minutes=1)  # by less than this nobody waits for long
_TICK = "last tick"  # the fact that says until when everything due was noticed
_LATER = timedelta(hours=1)  # a schedule that cannot be worked out is asked again then


@dataclass(frozen=True, slots=True)
class _Plan:
    """What of a subscription is due, and when it is due next; or why nobody can tell."""

    found: tuple[Occurrence, ...]
    next: datetime
    problem: str = ""


class Scheduler:
    """Notices what is due. `tick` may be called any number of times, by any process, at any moment."""

    def __init__(self, context: DeliveryContext) -> None:
        self._context = context
        self._pauser = SubscriptionPauser(context)

    async def tick(self, now: datetime) -> int:
        """Write down every occurrence that is due by now; return how many were new. Raises StoreError."""
        context = self._context
        noticed = await time_of_fact(context.store.facts, _TICK) or now
        if noticed - now > _SET_BACK:
            released = await context.ledger.release(now)
            log.warning(
                "the clock was set back by %s; %d that waited for a time it had shown do not", noticed - now, released
            )
        if noticed - now > _REMEMBERED:
            await self._plan_anew(now)
        new = 0
        for _ in range(ROUNDS):
            batch = await context.ledger.subscriptions_due(now, limit=AT_ONCE)
            plans = await asyncio.to_thread(_plans, batch, noticed, now, context.settings)
            for (subscription, _), plan in zip(batch, plans, strict=True):
                new += await self._open(subscription, plan, now)
            if not batch:  # a short one is not the last: rows that cannot be read are passed over
                await context.store.facts.set(_TICK, now.isoformat())
                break
        return new

    async def _skipped_if_late(self, each: Occurrence, subscription: Subscription, now: datetime) -> Occurrence:
        """Return the occurrence, skipped where it was noticed too late to be posted."""
        catch_up = self._context.settings.catch_up
        if each.state is not OccurrenceState.DUE or now - each.due <= catch_up:
            return each
        preferences = await self._context.store.workspaces.preferences(each.workspace)
        if now <= await deadline(preferences, subscription, each.due, catch_up):
            return each
        reason = f"noticed too late: it was due at {each.due.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        return replace(each, state=OccurrenceState.SKIPPED, reason=reason)

    async def _report_skipped(self, found: Sequence[Occurrence], now: datetime) -> None:
        """Log what is skipped; what no later digest makes up for is for the alerts too."""
        skipped = [each for each in found if each.state is OccurrenceState.SKIPPED]
        for each in skipped:
            log.warning("%s: the digest %s of %s: %s", each.channel, each.topic, each.day, each.reason)
        if skipped and skipped[-1] is found[-1]:
            each = skipped[-1]
            text = f"The digest {each.topic} of {each.day} for {each.channel} is skipped: {each.reason}."
            await self._pauser.alert(each.workspace, text, now)

    async def _plan_anew(self, now: datetime) -> None:
        """Plan every subscription from now on: a clock that had run far ahead took all for planned until then.

        A smaller jump needs none of this: it left an occurrence for each day that it passed.
        """
        log.warning("the clock was set back by more than %d days; every schedule is planned anew", _REMEMBERED.days)
        everyone = [(each, None) for each in await self._context.ledger.every_subscription()]
        plans = await asyncio.to_thread(_plans, everyone, now, now, self._context.settings)
        for (subscription, _), plan in zip(everyone, plans, strict=True):
            await self._open(subscription, plan, now)

    async def _open(self, subscription: Subscription, plan: _Plan, now: datetime) -> int:
        found = [await self._skipped_if_late(each, subscription, now) for each in plan.found]
        new = await self._context.ledger.open_occurrences(found, subscription, plan.next)
        if new:
            await self._report_skipped(found, now)
        if plan.problem:
            refusal = Refusal(subscription.workspace, subscription.channel, Reach.CHANNEL, plan.problem, subscription.topic)
            await self._pauser.pause(refusal, now)
        return new


def _plans(
    batch: Sequence[tuple[Subscription, datetime | None]], noticed: datetime, now: datetime, settings: DeliverySettings
) -> list[_Plan]:
    return [_plan(subscription, known, noticed, now, settings) for subscription, known in batch]


def _plan(
    subscription: Subscription, known: datetime | None, noticed: datetime, now: datetime, settings: DeliverySettings
) -> _Plan:
    """Work out what is due since `known`; for a subscription that is new or was changed, since all was noticed."""
    begins = _begins(subscription, known, noticed, now)
    try:
        dates = list(due.occurrences(subscription.schedule, begins - _MOMENT, now))
        coming = due.next_after(subscription.schedule, now)
    except UsageError as error:
        return _Plan((), now + _LATER, f"{error} {error.hint}".strip())
    except Exception:
        # A damaged schedule must not keep everybody else's from being noticed.
        log.exception("the schedule of %s in %s cannot be worked out", subscription.topic, subscription.channel)
        return _Plan((), now + _LATER)
    newest = len(dates) - 1
    found = (_occurrence(subscription, each, place == newest, now, settings) for place, each in enumerate(dates))
    return _Plan(tuple(found), coming)


def _begins(subscription: Subscription, known: datetime | None, noticed: datetime, now: datetime) -> datetime:
    """Return from when on something may be due: not before the subscription was made, nor while it was paused.

    A change between a due date and the tick that would notice it must not lose that date, so the stored next one does not
    bound it; that a day is never posted twice is the ledger's to keep.
    """
    made = subscription.made_at if subscription.made_at is not None and subscription.made_at <= now else None
    resumed = subscription.paused_until if subscription.paused else None
    return max(known or noticed + _MOMENT, now - _REMEMBERED, *(each for each in (made, resumed) if each is not None))


def _occurrence(
    subscription: Subscription, date: due.DueDate, newest: bool, now: datetime, settings: DeliverySettings
) -> Occurrence:
    age = now - date.at
    if not newest:
        state, reason = OccurrenceState.SKIPPED, "overtaken by a later digest, which was due too when it was noticed"
    else:
        state, reason = OccurrenceState.DUE, ""
    return Occurrence(
        subscription=subscription.id,
        workspace=subscription.workspace,
        channel=subscription.channel,
        topic=subscription.topic,
        day=date.day,
        slot=date.slot,
        due=date.at,
        state=state,
        late=age > settings.late,
        reason=reason,
    )
