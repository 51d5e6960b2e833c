"""From schedules to occurrences: what is due is written down before anything is made of it."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bot.delivery.context import DeliveryContext, DeliverySettings, destination
from bot.delivery.pausing import SubscriptionPauser
from bot.digest import due
from bot.digest.quiet_hours import deadline_of
from bot.errors import Reach, UsageError
from bot.models import Occurrence, OccurrenceState, Preferences, Refusal, Subscription
from bot.ports.facts import COLLECTED, OPENED_AT_ONCE, number_of_fact, time_of_fact
from bot.ports.ledger import Planned

log = logging.getLogger(__name__)

AT_ONCE = 500  # subscriptions that are read, and written down, at a time
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

    planned: Planned
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
        shown, context.latest.time = context.latest.time, None
        set_back = max(noticed, shown or noticed) - now
        if set_back > _SET_BACK:
            released = await context.ledger.release(now)
            log.warning("the clock was set back by %s; %d that waited for a time it had shown do not", set_back, released)
        if noticed - now > _REMEMBERED:
            await self._plan_anew(now)
        new = 0
        for _ in range(ROUNDS):
            batch = await context.ledger.subscriptions_due(now, limit=AT_ONCE)
            if not batch:  # a short one is not the last: rows that cannot be read are passed over
                await context.store.facts.set(_TICK, now.isoformat())
                break
            new += await self._open(batch, noticed, now)
        return new + await self._open_at_once(now)

    async def _open_at_once(self, now: datetime) -> int:
        """Write down an occurrence of each subscription that posts at once, where a collection ended that brought something.

        Its slot is the arrival at which it ends: whoever is stopped in between finds the same ones again.
        """
        facts, ledger = self._context.store.facts, self._context.ledger
        through = await number_of_fact(facts, COLLECTED)
        if through <= await number_of_fact(facts, OPENED_AT_ONCE):
            return 0
        subscriptions = await ledger.subscriptions_at_once(now)
        waiting = [each for each in subscriptions if (each.baseline_arrival or 0) < through]
        found = await asyncio.to_thread(lambda: [_at_once(each, through, now) for each in waiting])
        new = 0
        for start in range(0, len(found), AT_ONCE):
            new += await ledger.open_at_once(found[start : start + AT_ONCE])
        await facts.set(OPENED_AT_ONCE, str(through))
        return new

    async def _open(self, batch: Sequence[tuple[Subscription, datetime | None]], noticed: datetime, now: datetime) -> int:
        """Write down what is due of a batch, in one transaction; return how many were new."""
        settings = self._context.settings
        plans = await asyncio.to_thread(_plans, batch, noticed, now, settings)
        missed = {each.planned.subscription.workspace for each in plans if _is_missed(each.planned, now, settings)}
        if missed:
            settled = await self._context.store.workspaces.preferences_of(missed)
            plans = await asyncio.to_thread(_without_missed, plans, settled, now, settings)
        opened = await self._context.ledger.open_planned([each.planned for each in plans])
        await self._report_skipped([each.planned.found for each, new in zip(plans, opened, strict=True) if new], now)
        for each in plans:
            if each.problem:
                of = each.planned.subscription
                await self._pauser.pause(Refusal(of.workspace, of.channel, Reach.CHANNEL, each.problem, of.topic), now)
        return sum(opened)

    async def _report_skipped(self, opened: Sequence[Sequence[Occurrence]], now: datetime) -> None:
        """Log what is skipped; what no later digest makes up for is for the alerts too."""
        alerts = []
        for found in opened:
            for each in found:
                if each.state is OccurrenceState.SKIPPED:
                    log.warning("%s: the digest %s of %s: %s", each.channel, each.topic, each.day, each.reason)
            last = found[-1]
            if last.state is OccurrenceState.SKIPPED:
                text = f"The digest {last.topic} of {last.day} {destination(last.channel)} is skipped: {last.reason}."
                alerts.append((last.workspace, text))
        if alerts:
            await self._pauser.alert_all(alerts, now)

    async def _plan_anew(self, now: datetime) -> None:
        """Plan every subscription from now on: a clock that had run far ahead took all for planned until then.

        A smaller jump needs none of this: it left an occurrence for each day that it passed.
        """
        log.warning("the clock was set back by more than %d days; every schedule is planned anew", _REMEMBERED.days)
        everyone = [(each, None) for each in await self._context.ledger.every_subscription()]
        for start in range(0, len(everyone), AT_ONCE):
            await self._open(everyone[start : start + AT_ONCE], now, now)


def _at_once(subscription: Subscription, through: int, now: datetime) -> Occurrence:
    try:
        day = now.astimezone(due.zone_named(subscription.schedule.zone)).date()
    except UsageError:  # its plan pauses it
        day = now.date()
    return Occurrence(
        subscription=subscription.id,
        workspace=subscription.workspace,
        channel=subscription.channel,
        topic=subscription.topic,
        day=day,
        slot=through,
        due=now,
    )


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
        return _Plan(Planned(subscription, (), now + _LATER), f"{error} {error.hint}".strip())
    except Exception:
        # A damaged schedule must not keep everybody else's from being noticed.
        log.exception("the schedule of %s in %s cannot be worked out", subscription.topic, subscription.channel)
        return _Plan(Planned(subscription, (), now + _LATER))
    newest = len(dates) - 1
    found = (_occurrence(subscription, each, place == newest, now, settings) for place, each in enumerate(dates))
    return _Plan(Planned(subscription, tuple(found), coming))


def _is_missed(planned: Planned, now: datetime, settings: DeliverySettings) -> bool:
    """Say whether the newest is so late that it may be posted after quiet hours alone."""
    return bool(planned.found) and now - planned.found[-1].due > settings.catch_up


def _without_missed(
    plans: Sequence[_Plan], settled: Mapping[str, Preferences], now: datetime, settings: DeliverySettings
) -> list[_Plan]:
    """Return the plans, with what was noticed too late to be posted as skipped."""
    fresh = []
    for each in plans:
        of, found = each.planned.subscription, each.planned.found
        preferences = settled.get(of.workspace, Preferences())
        if _is_missed(each.planned, now, settings) and now > deadline_of(preferences, of, found[-1].due, settings.catch_up):
            reason = f"noticed too late: it was due at {found[-1].due.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
            skipped = replace(found[-1], state=OccurrenceState.SKIPPED, reason=reason)
            fresh.append(replace(each, planned=replace(each.planned, found=(*found[:-1], skipped))))
        else:
            fresh.append(each)
    return fresh


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
