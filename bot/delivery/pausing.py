"""Pauses the subscriptions whose digests cannot be posted, and has their owners told, each once, and nobody else.

Whoever is to be told is only written down here, in a moment; bot.delivery.notices tells them.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.delivery.context import DeliveryContext
from bot.errors import Conflict, Reach
from bot.models import Change, Notice, Refusal, Subscription
from bot.wording import some

log = logging.getLogger(__name__)

ALERTS_APART = timedelta(minutes=10)  # for one workspace: a thousand closed channels are one thing to mend
_TRIES = 5  # at changing a subscription that somebody else changes too
_BY = "broadsheet"  # who the audit names


class SubscriptionPauser:
    """Pauses what a refusal holds for. Every method raises StoreError."""

    def __init__(self, context: DeliveryContext) -> None:
        self._context = context
        self._outbox = context.store.outbox

    async def pause(self, refusal: Refusal, now: datetime) -> None:
        """Pause what a refusal holds for: every subscription of the channel, or of the whole workspace.

        The owner of each that this pauses is owed to be told once, and so are the alerts. Who is stopped in between leaves
        the rest to `apply_recorded`.
        """
        await self.record_refusal(refusal)
        await self.apply(refusal, now)

    async def record_refusal(self, refusal: Refusal) -> None:
        """Keep a refusal, which is applied at the latest by `apply_recorded`."""
        refusal = _of_all(refusal)
        self._context.notice_state.recorded.add(refusal)
        await self._outbox.add_refusal(refusal)

    async def apply(self, refusal: Refusal, now: datetime) -> None:
        """Pause what a recorded refusal holds for, and is not paused already."""
        async with self._turn(refusal):
            await self._apply(_of_all(refusal), now, again=False)

    async def apply_recorded(self, now: datetime) -> None:
        """Apply what is still recorded: whoever recorded it was stopped before it was applied."""
        for refusal in await self._outbox.refusals():
            async with self._turn(refusal):
                if refusal in await self._outbox.refusals():  # still: who had the turn before may have applied it
                    ours = refusal in self._context.notice_state.recorded
                    await self._apply(refusal, now, again=not ours)

    def _turn(self, refusal: Refusal) -> asyncio.Lock:
        """Return what lets one refusal of a workspace be applied at a time, so that each owner is told of all at once."""
        return self._context.notice_state.pausing.setdefault(refusal.workspace, asyncio.Lock())

    async def _apply(self, refusal: Refusal, now: datetime, *, again: bool) -> None:
        """Pause what it holds for; `again`: some may be paused already, and nobody told of them."""
        self._context.notice_state.recorded.discard(refusal)  # who is stopped from here on may have paused some
        held = await self._context.store.workspaces.subscriptions(
            refusal.workspace, channel=refusal.channel, topic=refusal.topic
        )
        paused = [each for each in held if await self._pause_one(each, refusal.reason, now, again=again)]
        await self._outbox.replace_refusal(refusal, await self._notices(paused, refusal.reason, now))

    async def _notices(self, paused: Sequence[Subscription], reason: str, now: datetime) -> list[Notice]:
        """Return what the owners are to be told, each once, and the alerts."""
        if not paused:
            return []
        owners = dict.fromkeys(each.made_by for each in paused if each.made_by)
        notices = [_notice(owner, [each for each in paused if each.made_by == owner], reason, now) for owner in owners]
        what = some([f"{each.topic} in {each.channel}" for each in paused])
        return notices + await self._alert_notices([(paused[0].workspace, f"Paused: {what}. {reason}")], now)

    async def _pause_one(self, subscription: Subscription, reason: str, now: datetime, *, again: bool) -> bool:
        """Pause one, whatever else is changed on it meanwhile; return whether it was this call that did.

        With `again`, one that is paused for that reason already counts too.
        """
        store = self._context.store
        for _ in range(_TRIES):
            here = await store.workspaces.subscriptions(
                subscription.workspace, channel=subscription.channel, topic=subscription.topic
            )
            there = next((each for each in here if each.id == subscription.id), None)
            if there is None or (there.paused and there.paused_until is None):
                return again and there is not None and there.paused_because == reason
            held = there.held_back(None, now, reason)
            try:
                await store.workspaces.save_subscription(held, _change(there, reason, now), replaces=there.revision)
            except Conflict:
                continue
            return True
        log.warning("the subscription of %s to %s changes too often to be paused", subscription.channel, subscription.topic)
        return False

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


def _of_all(refusal: Refusal) -> Refusal:
    """Return the refusal; one that holds for every channel names none, whichever it was met in."""
    return refusal if refusal.reach is Reach.CHANNEL else replace(refusal, channel="")


def _change(subscription: Subscription, reason: str, now: datetime) -> Change:
    return Change(
        workspace=subscription.workspace,
        at=now,
        person=_BY,
        what=f"subscription {subscription.channel} {subscription.topic}",
        before="posted as scheduled",
        after=f"paused: {reason}",
    )


def _notice(owner: str, paused: Sequence[Subscription], reason: str, now: datetime) -> Notice:
    what = some([f"{each.topic} in {each.channel}" for each in paused])
    again = some([f"*resume {topic}*" for topic in dict.fromkeys(each.topic for each in paused)])
    text = f"The digests of {what} are paused. {reason} When that is mended, {again} there posts them again."
    return Notice(paused[0].workspace, owner, text, now)
