"""Pauses the subscriptions whose digests cannot be posted, resumes them, and has their owners told, each once.

Whoever is to be told is only written down here, in a moment; bot.delivery.notices tells them, and bot.delivery.resuming
finds out what may go on. What was paused or resumed at a time is known by that time: whoever goes on with it after a death,
or beside another process, tells of the same.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.delivery.context import DeliveryContext
from bot.digest.resumption import begun_afresh
from bot.errors import Conflict, Reach, UsageError
from bot.models import Change, Delivery, Notice, Refusal, Subscription, is_mail
from bot.models.people import SERVICE
from bot.wording import some

log = logging.getLogger(__name__)

ALERTS_APART = timedelta(minutes=10)  # for one workspace: a thousand closed channels are one thing to mend
_TRIES = 5  # at changing a subscription that somebody else changes too
_POSTED = "posted as scheduled"


class SubscriptionPauser:
    """Pauses what a refusal holds for, and resumes it. Every method raises StoreError."""

    def __init__(self, context: DeliveryContext) -> None:
        self._context = context
        self._outbox = context.store.outbox

    # --- pausing

    async def pause_closed(self, workspace: str, channel: str, reason: str, now: datetime) -> None:
        """Pause what is subscribed where a platform tells that a channel, or with "" a workspace, was closed to us.

        Events come late, twice and in any order: the platform is asked first, where anything is posted. Where it shows no
        obstacle, or cannot tell now, nothing is paused; what cannot be posted is found out by the next digest.
        """
        self._context.obstacle_state.note_closed(workspace, channel, now)
        messenger = self._context.messenger(workspace, channel)
        here = await self._context.store.workspaces.subscriptions(workspace, channel=channel)
        if messenger is None or all(each.is_paused(now) for each in here):
            return
        try:
            async with asyncio.timeout(self._context.settings.timeout.total_seconds()):
                is_closed = bool(await messenger.obstacle(workspace, channel))
        except Exception as error:  # noqa: BLE001 - whatever went wrong, nothing is known
            log.info("whether %s in %s is closed cannot be told now: %r", channel or "everything", workspace, error)
            return
        if not is_closed:
            log.info("%s in %s is said to be closed, and is not", channel or "everything", workspace)
            return
        reach = Reach.CHANNEL if channel else Reach.WORKSPACE
        await self.pause(Refusal(workspace, channel, reach, reason), now)

    async def pause(self, refusal: Refusal, now: datetime) -> None:
        """Pause what a refusal holds for: every subscription of the channel, or of the whole workspace.

        The owner of each that this pauses is owed to be told once, and so are the alerts. Who is stopped in between leaves
        the rest to `apply_recorded`.
        """
        refusal = replace(refusal, at=refusal.at or now)
        await self.record_refusal(refusal)
        await self.apply(refusal, now)

    async def record_refusal(self, refusal: Refusal) -> None:
        """Keep a refusal, which is applied at the latest by `apply_recorded`."""
        await self._outbox.add_refusal(_of_all(refusal))

    async def apply(self, refusal: Refusal, now: datetime) -> None:
        """Pause what a recorded refusal holds for, and is not paused already."""
        async with self._turn(refusal.workspace):
            await self._apply(_of_all(refusal), now)

    async def apply_recorded(self, now: datetime) -> None:
        """Apply what is still recorded: whoever recorded it was stopped before it was applied."""
        for refusal in await self._outbox.refusals():
            async with self._turn(refusal.workspace):
                if refusal not in await self._outbox.refusals():  # who had the turn before has applied it
                    continue
                if not refusal.is_over:
                    await self._apply(refusal, now)
                elif refusal.at is None or abs(now - refusal.at) > self._context.settings.lease:
                    await self._tell_of_lifted(refusal, now)  # another process that was at it is not any more

    def _turn(self, workspace: str) -> asyncio.Lock:
        """Return what lets one thing be done in a workspace at a time, so that each owner is told of all at once."""
        return self._context.notice_state.pausing.setdefault(workspace, asyncio.Lock())

    async def _apply(self, refusal: Refusal, now: datetime) -> None:
        held = await self._context.store.workspaces.subscriptions(
            refusal.workspace, channel=refusal.channel, topic=refusal.topic
        )
        paused = [each for each in held if await self._pause_one(each, refusal, refusal.at or now)]
        self._context.obstacle_state.next_look = None
        notices = _to_owners(paused, lambda theirs: _paused_text(theirs, refusal.reason), now)
        if paused:
            notices += await self._alert_notices([(refusal.workspace, f"Paused: {_named(paused)}. {refusal.reason}")], now)
        await self._outbox.replace_refusal(refusal, notices)

    async def _pause_one(self, subscription: Subscription, refusal: Refusal, at: datetime) -> bool:
        """Pause one, unless somebody paused it; return whether it is paused for this refusal."""

        async def paused(there: Subscription) -> tuple[Subscription, Change] | None:
            if there.is_paused(at):
                return None
            held = there.held_back(None, at, refusal.reason)
            return held, _change(there, _POSTED, f"paused: {refusal.reason}", at)

        there = await self._altered(subscription, paused)
        return there is not None and _is_paused_for(there, refusal)

    # --- resuming

    async def lift(self, subscriptions: Sequence[Subscription], now: datetime) -> int:
        """Resume these, all of one workspace, as far as the pauses that were read still last; return how many.

        First it is kept that their owners are to be told: who is stopped in between leaves that to `apply_recorded`.
        """
        workspace = subscriptions[0].workspace
        async with self._turn(workspace):
            record = Refusal(workspace, "", Reach.WORKSPACE, "", at=now, is_over=True)
            await self._outbox.add_refusal(record)
            for each in subscriptions:
                await self._lift_one(each, now)
            return await self._tell_of_lifted(record, now)

    async def _lift_one(self, subscription: Subscription, now: datetime) -> None:
        async def lifted(there: Subscription) -> tuple[Subscription, Change] | None:
            if not there.is_held_by_service or there.paused_at != subscription.paused_at:
                return None
            fresh = (await begun_afresh(self._context.store, there, now)).lifted(now)
            return fresh, _change(there, f"{_POSTED} (paused: {there.paused_because})", _POSTED, now)

        try:
            await self._altered(subscription, lifted)
        except UsageError as error:  # its schedule cannot be worked out, for which it may have been paused
            log.info("the subscription of %s to %s stays paused: %s", subscription.channel, subscription.topic, error)

    async def _tell_of_lifted(self, record: Refusal, now: datetime) -> int:
        """Have the owners of what was resumed at the record's time told, each once; return how many these are."""
        held = await self._context.store.workspaces.subscriptions(record.workspace)
        lifted = [each for each in held if each.lifted_at is not None and each.lifted_at == record.at]
        notices = _to_owners(lifted, _lifted_text, now)
        if lifted:
            self._context.notice_state.alerted.pop(record.workspace, None)  # or what was told last were that it is paused
            notices += await self._alert_notices([(record.workspace, f"Goes on: {_named(lifted)}.")], now)
        await self._outbox.replace_refusal(record, notices)
        return len(lifted)

    async def tell_of_skipped(self, delivery: Delivery, reason: str, now: datetime) -> None:
        """Have the owner told that a digest was not posted, though nothing is paused: nobody would look for the gap."""
        place = {"channel": delivery.channel, "topic": delivery.topic}
        held = await self._context.store.workspaces.subscriptions(delivery.workspace, **place)
        held = [each for each in held if each.id == delivery.occurrence[0]]
        if notices := _to_owners(held, lambda found: _skipped_text(found, delivery, reason), now):
            await self._outbox.add_notices(notices)

    async def _altered(self, subscription: Subscription, alter: "_Alter") -> Subscription | None:
        """Change one, whatever else is changed on it meanwhile; return how it is then, None where it is gone."""
        workspaces = self._context.store.workspaces
        place = {"channel": subscription.channel, "topic": subscription.topic}
        there = None
        for _ in range(_TRIES):
            here = await workspaces.subscriptions(subscription.workspace, **place)
            there = next((each for each in here if each.id == subscription.id), None)
            altered = await alter(there) if there is not None else None
            if there is None or altered is None:
                return there
            try:
                return await workspaces.save_subscription(*altered, replaces=there.revision)
            except Conflict:
                continue
        log.warning("the subscription of %s to %s changes too often", subscription.channel, subscription.topic)
        return there

    # --- alerts

    async def alert(self, workspace: str, text: str, now: datetime) -> None:
        """Log it, and have it said in the workspace's channel for alerts, where one is settled and was not just told."""
        await self.alert_all([(workspace, text)], now)

    async def alert_all(self, alerts: Sequence[tuple[str, str]], now: datetime) -> None:
        """Do the same with many, each a workspace and a text, in one transaction."""
        if notices := await self._alert_notices(alerts, now):
            await self._outbox.add_notices(notices)

    async def _alert_notices(self, alerts: Sequence[tuple[str, str]], now: datetime) -> list[Notice]:
        settled = await self._context.store.workspaces.preferences_of({workspace for workspace, _ in alerts})
        alerted = self._context.notice_state.alerted
        notices = []
        for workspace, text in alerts:
            log.warning("%s: %s", workspace, text)
            channel = settled[workspace].alerts if workspace in settled else ""
            last = alerted.get(workspace)
            if channel and (last is None or not timedelta(0) <= now - last < ALERTS_APART):
                alerted[workspace] = now
                said = f"{text} *status* tells what else there is."
                notices.append(Notice(workspace, "", said, now, channel))
        return notices


_Alter = Callable[[Subscription], Awaitable[tuple[Subscription, Change] | None]]  # None: it stays as it is


def _of_all(refusal: Refusal) -> Refusal:
    """Return the refusal; one that holds for every channel names none, whichever it was met in."""
    return refusal if refusal.reach is Reach.CHANNEL else replace(refusal, channel="")


def _is_paused_for(subscription: Subscription, refusal: Refusal) -> bool:
    if not subscription.is_held_by_service or subscription.paused_because != refusal.reason:
        return False
    return refusal.at is None or subscription.paused_at == refusal.at


def _change(subscription: Subscription, before: str, after: str, now: datetime) -> Change:
    return Change(
        workspace=subscription.workspace,
        at=now,
        person=SERVICE,
        what=f"subscription {subscription.channel} {subscription.topic} {subscription.rhythm}",
        before=before,
        after=after,
    )


def _to_owners(
    subscriptions: Sequence[Subscription], text: Callable[[Sequence[Subscription]], str], now: datetime
) -> list[Notice]:
    """Return a notice for each owner, of all that are theirs."""
    owners = dict.fromkeys(each.made_by for each in subscriptions if each.made_by)
    theirs = {owner: [each for each in subscriptions if each.made_by == owner] for owner in owners}
    return [Notice(held[0].workspace, owner, text(held), now) for owner, held in theirs.items()]


def _named(subscriptions: Sequence[Subscription]) -> str:
    return some(list(dict.fromkeys(f"{each.topic} {_where(each)}" for each in subscriptions)))


def _where(subscription: Subscription) -> str:
    # An address is told to nobody here: what is owed to people is kept, and logged.
    return "by e-mail" if is_mail(subscription.channel) else f"in {subscription.channel}"


def _commands(word: str, subscriptions: Sequence[Subscription]) -> str:
    return some([f"*{word} {topic}*" for topic in dict.fromkeys(each.topic for each in subscriptions)])


def _paused_text(paused: Sequence[Subscription], reason: str) -> str:
    again = f"When that is mended, they go on by themselves. To try it at once, type {_commands('resume', paused)} there."
    if all(is_mail(each.channel) for each in paused):
        again = "They go on by themselves once the address is confirmed again: subscribe to them there anew."
    return f"The digests of {_named(paused)} are paused. {reason} {again}"


def _skipped_text(held: Sequence[Subscription], delivery: Delivery, reason: str) -> str:
    coming = "Nothing is paused: the next one is posted at its time."
    return f"The digest of {_named(held)} of {delivery.occurrence[1]} was not posted. {reason} {coming}"


def _lifted_text(lifted: Sequence[Subscription]) -> str:
    missed = "What was due in the pause is left out."
    if not all(is_mail(each.channel) for each in lifted):
        missed += f" To post what has come in since, type {_commands('post', lifted)} there."
    return f"The digests of {_named(lifted)} go on: as far as can be told, they can be posted again. {missed}"
